// SPDX-License-Identifier: Apache-2.0
//
// The built-in function that prints a line: (text, after) -> chain. It runs on the job's
// sink, the client; its result is available when the line is out.
//
//   text, after --both here--> print(rank, text) --> chain
//
// Life: started in the place of a program's function; ends as that does.
//
// Thread rule: needs the node's lock; the job's print function is called without it.
// Failure rule: an argument that is an error is the result.
#ifndef TFRT_DISTRIBUTED_SERVICE_PRINTING_H_
#define TFRT_DISTRIBUTED_SERVICE_PRINTING_H_

#include "distributed/call/execution.h"

// Runs |execution|, which has two arguments and one result, for the host |rank|.
void tfrt_printing_start(tfrt_execution_t* execution, uint32_t rank);

#endif  // TFRT_DISTRIBUTED_SERVICE_PRINTING_H_
