// SPDX-License-Identifier: Apache-2.0
//
// The memory that values are in, for programs that are watched for races (race_watch.h): the rooms
// that own types say it for their payloads.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_MEMORY_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_MEMORY_H_

#include "host_runtime/async/type.h"

TFRT_API_BEGIN

// The address that stands for the memory of |payload|, equal for all values that share it; NULL:
// it has none.
typedef const void* (*tfrt_race_memory_fn_t)(const void* payload);

// Lets |memory| say of all values of |type| which memory they are in. Before programs run.
// Thread-safe.
void tfrt_race_watch_set_memory(tfrt_type_id_t type, tfrt_race_memory_fn_t memory);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_MEMORY_H_
