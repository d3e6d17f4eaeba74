// SPDX-License-Identifier: Apache-2.0
//
// One run of an operation of neural networks: what it gets and where its results go. Operations
// work out the shapes of their results from the operands of each run, so a program may have any
// shapes, and the same program runs with others the next time.
//
//   inputs, attributes --> tfrt_nn_op_fn_t --> results
//
// Semantics are those of the ONNX operators of the same name, as of opset 20: numpy's
// broadcasting, negative axes, empty tensors, NaN.
//
// Thread rule: a call belongs to the thread that runs it.
// Failure rule: INVALID_ARGUMENT that names what doesn't fit; RESOURCE_EXHAUSTED. Then the caller
// gives back those results that were made.
#ifndef TFRT_KERNELS_NN_MATH_OP_CALL_H_
#define TFRT_KERNELS_NN_MATH_OP_CALL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "kernels/nn/math/kept.h"

// No operation takes more inputs by position (variadic ones take any number of one kind).
#define TFRT_NN_MAX_POSITIONS 16

typedef struct tfrt_nn_call_s {
  const tfrt_kernel_descriptor_t* op;
  const void* const* attributes;                  // as in a kernel frame
  const tfrt_dense_host_tensor_t* const* inputs;  // NULL: an optional one that is not there
  uint32_t input_count;
  uint32_t result_count;
  tfrt_dense_host_tensor_t* results;  // zeroed
  tfrt_allocator_t allocator;         // for results and scratch memory
  tfrt_nn_place_t* place;             // of the op in its program; NULL: nothing can be kept
  uint32_t unique_inputs;  // bit i: nobody else has input i, whose memory may become a result's
} tfrt_nn_call_t;

typedef tfrt_status_t (*tfrt_nn_op_fn_t)(const tfrt_nn_call_t* call);

// Whole numbers of an attribute or a tensor, such as axes or a shape.
typedef struct tfrt_nn_numbers_s {
  uint32_t count;
  int64_t values[2 * TFRT_SHAPE_MAX_RANK];
} tfrt_nn_numbers_t;

// Input |index|, or NULL if it is not there. Thread-safe.
static inline const tfrt_dense_host_tensor_t* tfrt_nn_input(const tfrt_nn_call_t* call,
                                                            uint32_t index) {
  return index < call->input_count ? call->inputs[index] : NULL;
}

// The attribute |name| of |call|, whose op has one of that name and kind. Thread-safe.
int64_t tfrt_nn_i64(const tfrt_nn_call_t* call, const char* name);
float tfrt_nn_f32(const tfrt_nn_call_t* call, const char* name);
tfrt_string_view_t tfrt_nn_string(const tfrt_nn_call_t* call, const char* name);
bool tfrt_nn_string_is(const tfrt_nn_call_t* call, const char* name, const char* value);
tfrt_dtype_t tfrt_nn_dtype(const tfrt_nn_call_t* call, const char* name);

// Sets |*out_numbers| to the array |name|. INVALID_ARGUMENT if it is too long. Thread-safe.
tfrt_status_t tfrt_nn_numbers(const tfrt_nn_call_t* call, const char* name,
                              tfrt_nn_numbers_t* out_numbers) TFRT_MUST_USE;

// The floats of the array |name|, and their number. Thread-safe.
const float* tfrt_nn_floats(const tfrt_nn_call_t* call, const char* name, uint32_t* out_count);

// Sets |*out_numbers| to the elements of |tensor|, i32 or i64, with at most one axis.
// INVALID_ARGUMENT otherwise. Thread-safe.
tfrt_status_t tfrt_nn_read_numbers(const tfrt_nn_call_t* call,
                                   const tfrt_dense_host_tensor_t* tensor,
                                   tfrt_nn_numbers_t* out_numbers) TFRT_MUST_USE;

// Sets |*out_axis| to |axis| counted from the front, for |rank| axes. INVALID_ARGUMENT if there is
// no such axis. Thread-safe.
tfrt_status_t tfrt_nn_axis(const tfrt_nn_call_t* call, int64_t axis, uint32_t rank,
                           uint32_t* out_axis) TFRT_MUST_USE;

// Makes result |index| of |call| a tensor whose elements are undefined, with the good shape of
// |rank| and |dims|, or |shape|. Results that the caller doesn't want are not made: check
// |result_count|.
tfrt_status_t tfrt_nn_make(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                           const tfrt_shape_t* shape) TFRT_MUST_USE;
tfrt_status_t tfrt_nn_make_dims(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                                const int64_t* dims, uint32_t rank) TFRT_MUST_USE;

// Makes result |index| another tensor on the buffer of |tensor|, with |shape| (NULL: its own),
// which has as many elements. Thread-compatible.
tfrt_status_t tfrt_nn_alias(const tfrt_nn_call_t* call, uint32_t index,
                            const tfrt_dense_host_tensor_t* tensor, const tfrt_shape_t* shape)
    TFRT_MUST_USE;

// True if result 0, of |dtype| and |shape|, may be written where input |index| is: each element is
// read before it is written. Thread-safe.
bool tfrt_nn_can_reuse(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                       const tfrt_shape_t* shape);

// Where the elements of input or result |index| are. Thread-safe.
static inline const void* tfrt_nn_input_data(const tfrt_nn_call_t* call, uint32_t index) {
  return tfrt_dense_host_tensor_data(call->inputs[index]);
}
static inline void* tfrt_nn_result_data(const tfrt_nn_call_t* call, uint32_t index) {
  return tfrt_dense_host_tensor_data(&call->results[index]);
}

// INVALID_ARGUMENT that begins with the op's name. Thread-safe.
tfrt_status_t tfrt_nn_error(const tfrt_nn_call_t* call, const char* format, ...) TFRT_PRINTF(2, 3)
    TFRT_MUST_USE;

// The error for an element type that the op is not made for: UNIMPLEMENTED, upon which the caller
// may try again with floats of another width. Thread-safe.
tfrt_status_t tfrt_nn_dtype_error(const tfrt_nn_call_t* call, tfrt_dtype_t dtype) TFRT_MUST_USE;

// OK if input |index| is there and of |dtype|; UNIMPLEMENTED if it is a float of 16 bits.
// Thread-safe.
tfrt_status_t tfrt_nn_check_dtype(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype)
    TFRT_MUST_USE;

// True for f32 and f64. Thread-safe.
static inline bool tfrt_nn_is_float(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F64;
}

#endif  // TFRT_KERNELS_NN_MATH_OP_CALL_H_
