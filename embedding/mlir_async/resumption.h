// SPDX-License-Identifier: Apache-2.0
//
// Coroutines that may go on, and the threads that resume them. A settled object gives its waiters
// to the list of the thread that settled it; the outermost resumption on that thread goes through
// the list in a loop. So chains of any length need no stack, and nothing that could run is ever
// stuck under a frame that waits: before a thread blocks, it gives its list to the pool.
//
//   settle --> collected (newest first) --> ready: first -> ... -> last
//                                              ^                    |
//                                              `-- resume <---------'  until it is empty
//
// Thread rule: thread-safe; a list is its thread's own.
// Failure rule: the process ends with a message when memory is out, or the pool can't be made.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_RESUMPTION_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_RESUMPTION_H_

#include "embedding/mlir_async/slot_pool.h"
#include "host_runtime/async/async_value.h"

typedef void (*tfrt_mlir_resume_fn_t)(void* frame);

// Resumes |frame| on a thread of the pool. Thread-safe.
void tfrt_mlir_resume_in_pool(void* frame, tfrt_mlir_resume_fn_t resume);

// Resumes |frame| when |value| is resolved: on this thread if it is, else on the one that resolves
// it, which calls tfrt_mlir_resume_collected() then. |value| lives until then. Thread-safe.
void tfrt_mlir_resume_when_resolved(tfrt_async_value_t* value, void* frame,
                                    tfrt_mlir_resume_fn_t resume);

// Resumes what has waited for values that this thread has resolved; does nothing inside of a
// resumption, which does it afterwards. Thread-safe.
void tfrt_mlir_resume_collected(void);

// Returns when |value| is resolved. The other coroutines that this thread was to
// resume run in the pool, which loses no thread by this. Thread-safe.
void tfrt_mlir_block_until_resolved(tfrt_async_value_t* value);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_RESUMPTION_H_
