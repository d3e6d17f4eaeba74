// SPDX-License-Identifier: Apache-2.0
//
// A tensor of strings in this host's memory. The strings lie one behind the other in one
// buffer, behind a table of where each ends, so that they travel in one piece. They may
// hold any bytes, and don't change once they are there.
//
//   buffer:  end[0] .. end[count - 1] | bytes of string 0 | bytes of string 1 | ...
//            count x u64, from the first byte of string 0
//
// Life:
//  1. Initialised with copies of strings; or with room for bytes that come from outside,
//     which are checked when they are there.
//  2. Read. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises); reading is thread-safe.
// Failure rule: INVALID_ARGUMENT with the shape, or RESOURCE_EXHAUSTED; what fails leaves
// an empty struct that needs no deinitialisation.
#ifndef TFRT_HOST_RUNTIME_TENSOR_STRING_HOST_TENSOR_H_
#define TFRT_HOST_RUNTIME_TENSOR_STRING_HOST_TENSOR_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/host_buffer.h"
#include "host_runtime/tensor/shape.h"

TFRT_API_BEGIN

// The most strings that are printed.
#define TFRT_STRING_HOST_TENSOR_PRINT_LIMIT 16

typedef struct tfrt_string_host_tensor_s {
  tfrt_shape_t shape;
  tfrt_host_buffer_t* buffer;  // +1
} tfrt_string_host_tensor_t;

// Makes |*out_tensor| the |count| strings at |strings|, which are copied. INVALID_ARGUMENT
// if |shape| (which may be unbounded) has another number of elements. Thread-compatible.
tfrt_status_t tfrt_string_host_tensor_initialize(const tfrt_shape_t* shape,
                                                 const tfrt_string_view_t* strings, size_t count,
                                                 tfrt_allocator_t allocator,
                                                 tfrt_string_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Makes |*out_tensor| a tensor whose table and strings take |size| bytes, which the caller
// fills in. INVALID_ARGUMENT if not even the table has room. Thread-compatible.
tfrt_status_t tfrt_string_host_tensor_initialize_empty(const tfrt_shape_t* shape, size_t size,
                                                       tfrt_allocator_t allocator,
                                                       tfrt_string_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Releases the buffer of |tensor|, which may be an empty struct. Thread-compatible.
void tfrt_string_host_tensor_deinitialize(tfrt_string_host_tensor_t* tensor);

// OK if the table of |tensor| is one: the ends don't fall, and the last one is that of the
// buffer. Thread-safe.
tfrt_status_t tfrt_string_host_tensor_check(const tfrt_string_host_tensor_t* tensor) TFRT_MUST_USE;

// String |index| of |tensor|, which was checked; lives as long as that. Thread-safe.
tfrt_string_view_t tfrt_string_host_tensor_element(const tfrt_string_host_tensor_t* tensor,
                                                   int64_t index);

// Appends |tensor| as TFRT prints it, at most 16 strings of it:
//   StringHostTensor shape = [2], values = ["string", "tensor"]
// Thread-safe, as |out| is.
void tfrt_string_host_tensor_print(const tfrt_string_host_tensor_t* tensor,
                                   tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_STRING_HOST_TENSOR_H_
