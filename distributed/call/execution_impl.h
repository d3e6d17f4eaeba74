// SPDX-License-Identifier: Apache-2.0
//
// The inside of an execution, for its three sources.
//
//   execution.c            its life, its results, its end, its cancel
//   execution_arguments.c  the values that it is given
//   execution_run.c        the function, from the program that has it to its results
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_CALL_EXECUTION_IMPL_H_
#define TFRT_DISTRIBUTED_CALL_EXECUTION_IMPL_H_

#include "distributed/call/execution.h"

// The error (+1) of one whose deadline has passed.
tfrt_status_t tfrt_execution_too_late(const tfrt_execution_t* execution);

// The results are |results| (consumed).
void tfrt_execution_set_results(tfrt_execution_t* execution, tfrt_async_value_t* const* results);

// The owner's part of the scope is over: everything was started. A call may be over as soon as its
// results are there. Then this critical section already knows it, and one message tells the results
// and the end. It is written here if the execution |is_alone|, else when the lock is opened, as
// others may be at work in the same critical section.
void tfrt_execution_end_start(tfrt_execution_t* execution, bool is_alone);

#endif  // TFRT_DISTRIBUTED_CALL_EXECUTION_IMPL_H_
