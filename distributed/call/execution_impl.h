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

// The owner's part of the scope is over: everything was started. Of a call that is over as soon as
// its results are there, that is known in this critical section, and one message tells it all: here
// if it |is_alone|, else, as others may be at work in the same one, when the lock is opened.
void tfrt_execution_end_start(tfrt_execution_t* execution, bool is_alone);

#endif  // TFRT_DISTRIBUTED_CALL_EXECUTION_IMPL_H_
