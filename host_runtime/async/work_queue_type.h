// SPDX-License-Identifier: Apache-2.0
//
// Work queues by name: the way from the text of a flag to a queue, for the queues that are
// built in and for those that somebody adds.
//
//   "mstd:4,64"  -->  type "mstd", arguments "4,64"  -->  queue
//   NAME[:ARGUMENTS]
//
//   s                             runs tasks in the thread that waits (inline_work_queue.h)
//   mstd[:THREADS[,BLOCKING]]     threads that steal from each other (thread_pool_work_queue.h)
//
// Life: a type is registered once per process, by a main or by the `set_up` of a kernel library,
// and stays; queues are made of it any number of times.
//
// Thread rule: everything is thread-safe.
// Failure rule: an unknown name is INVALID_ARGUMENT with the names that there are; arguments that
// a type can't read are its own error, with how they are written.
#ifndef TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_TYPE_H_
#define TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_TYPE_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/choice.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

// Options that a caller may set for any queue; a type ignores those that it can't follow.
typedef struct tfrt_work_queue_settings_s {
  bool pin_threads;  // bind each compute thread to a processor
} tfrt_work_queue_settings_t;

typedef struct tfrt_work_queue_type_s {
  tfrt_choice_t choice;  // its name, and how its arguments are written
  // Sets |*out_queue| to a new queue (+1). |arguments| is what stands behind the colon, "" if
  // there is none. INVALID_ARGUMENT if they make no sense.
  tfrt_status_t (*create)(const char* arguments, const tfrt_work_queue_settings_t* settings,
                          tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue);
} tfrt_work_queue_type_t;

// Registers |type|, which must be static. The same again is fine; ALREADY_EXISTS if there is
// another of that name, RESOURCE_EXHAUSTED if the table is full. Thread-safe.
tfrt_status_t tfrt_work_queue_type_register(const tfrt_work_queue_type_t* type) TFRT_MUST_USE;

// Sets |*out_queue| to a new queue (+1) that |text| names. |settings| may be NULL. Errors: see
// above, and those of the type. Thread-safe.
tfrt_status_t tfrt_work_queue_create_by_name(const char* text,
                                             const tfrt_work_queue_settings_t* settings,
                                             tfrt_allocator_t allocator,
                                             tfrt_work_queue_t** out_queue) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_TYPE_H_
