// SPDX-License-Identifier: Apache-2.0
//
// Values that are here with all of their parts, so that they may be kept longer than their job.
// Every element of a list is here, at any depth. None is a placeholder for another host's value, as
// placeholders belong to the job.
//
//   list --> element: placeholder --> i32      whole: list --> element: i32
//        `-> element: placeholder --> error               `-> element: error
//
// Thread rule: thread-safe; takes the node's lock, by asking for payloads.
// Failure rule: what can't be had is an error in its place.
#ifndef TFRT_DISTRIBUTED_VALUE_WHOLE_VALUE_H_
#define TFRT_DISTRIBUTED_VALUE_WHOLE_VALUE_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/allocator.h"

// Returns a value (+1) that will be |value| (taken) as soon as that and all of its elements are
// here; it is asked for. |allocator| outlives it. Never NULL. Thread-safe.
tfrt_async_value_t* tfrt_whole_value_take(tfrt_async_value_t* value, tfrt_allocator_t allocator)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_VALUE_WHOLE_VALUE_H_
