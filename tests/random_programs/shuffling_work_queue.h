// SPDX-License-Identifier: Apache-2.0
//
// A work queue without threads that runs its tasks in an order that its seed says: any of those
// that threads could bring about, as far as tasks are whole. Sometimes a task runs before its adder
// goes on, as if another thread had been faster.
//
//   add_task --> [t5 t2 t9] --some of them, now and then--> run, inside of add_task
//                    \--any one--> run, inside of await and quiesce
//
// A failure happens again with the same seed. A value that nothing can resolve any more, for which
// threads would wait for ever, ends the process with a message.
//
// Life:
//  1. Created.
//  2. Given a seed whenever a run begins.
//  3. Released, when quiescent.
//
// Thread rule: one thread only. Failure rule: creation gives NULL when memory is out.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_SHUFFLING_WORK_QUEUE_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_SHUFFLING_WORK_QUEUE_H_

#include <stdint.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"

// A new queue (+1), or NULL. Thread-safe.
tfrt_work_queue_t* tfrt_shuffling_work_queue_create(tfrt_allocator_t allocator);

// Starts the order of |queue|, which is such a one and quiescent, at |seed|. Queue's thread only.
void tfrt_shuffling_work_queue_set_seed(tfrt_work_queue_t* queue, uint64_t seed);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_SHUFFLING_WORK_QUEUE_H_
