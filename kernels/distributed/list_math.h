// SPDX-License-Identifier: Apache-2.0
//
// One value out of the values of a list: their sum, or one tensor behind the other.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT that names the first element that doesn't fit;
// RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_DISTRIBUTED_LIST_MATH_H_
#define TFRT_KERNELS_DISTRIBUTED_LIST_MATH_H_

#include "host_runtime/async/async_value.h"

// Sets |*out_result| (+1) to a value made of |count| |elements|: concrete, available, no
// errors, at least one.
typedef tfrt_status_t (*tfrt_list_math_fn_t)(tfrt_async_value_t* const* elements, uint32_t count,
                                             tfrt_allocator_t allocator,
                                             tfrt_async_value_t** out_result);

// The sum of numbers of one builtin type, or of tensors of one dtype and shape. Thread-safe.
tfrt_status_t tfrt_list_sum(tfrt_async_value_t* const* elements, uint32_t count,
                            tfrt_allocator_t allocator, tfrt_async_value_t** out_result)
    TFRT_MUST_USE;

// Tensors of one dtype and one shape, but for axis 0, as one tensor. Thread-safe.
tfrt_status_t tfrt_list_concat(tfrt_async_value_t* const* elements, uint32_t count,
                               tfrt_allocator_t allocator, tfrt_async_value_t** out_result)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DISTRIBUTED_LIST_MATH_H_
