// SPDX-License-Identifier: Apache-2.0
//
// A sparse tensor in this host's memory, as a list of coordinates (COO): which elements are
// not 0, and what they are. All of it lies in one buffer, so that it travels in one piece.
//
//   buffer:  index[0][0] .. index[0][rank - 1] | ... | index[count - 1][..] | value[0] ..
//            count * rank x i64                                            | count values
//
// Coordinates are counted in one of two ways. Files have the usual one: coordinate j is
// below the length of axis j. Tensors made from dense ones have TFRT's: an element's place
// in row-major order is split up with the lengths in *reverse* order, so for the shape
// [3, 2] the coordinates run from [0, 0] to [1, 2]. Both say the same elements, and
// whatever reads a tensor asks which it is.
//
// Life:
//  1. Initialised with room for a number of elements, or from a dense tensor.
//  2. Filled in by its maker, and checked where the coordinates come from outside.
//  3. Read; it does not change any more. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises); reading is thread-safe.
// Failure rule: INVALID_ARGUMENT with the shape, or RESOURCE_EXHAUSTED; what fails leaves
// an empty struct that needs no deinitialisation.
#ifndef TFRT_HOST_RUNTIME_TENSOR_COO_HOST_TENSOR_H_
#define TFRT_HOST_RUNTIME_TENSOR_COO_HOST_TENSOR_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/dense_host_tensor.h"

TFRT_API_BEGIN

typedef struct tfrt_coo_host_tensor_s {
  tfrt_dtype_t dtype;
  bool reversed;  // the coordinates are counted with the lengths in reverse order
  tfrt_shape_t shape;
  int64_t count;               // of elements that are listed
  tfrt_host_buffer_t* buffer;  // +1
} tfrt_coo_host_tensor_t;

// Sets |*out_size| to the bytes that |count| listed elements take. INVALID_ARGUMENT if the
// dtype has no bytes, |count| is negative or the size overflows. Thread-safe.
tfrt_status_t tfrt_coo_host_tensor_compute_size(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                int64_t count, size_t* out_size) TFRT_MUST_USE;

// Makes |*out_tensor| a tensor with room for |count| elements, which are undefined, and
// with coordinates that are counted as usual. Thread-compatible.
tfrt_status_t tfrt_coo_host_tensor_initialize(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                              int64_t count, tfrt_allocator_t allocator,
                                              tfrt_coo_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Makes |*out_tensor| the elements of |dense|, a tensor of numbers, that are not 0, with
// coordinates as TFRT counts them. Thread-compatible.
tfrt_status_t tfrt_coo_host_tensor_initialize_from_dense(const tfrt_dense_host_tensor_t* dense,
                                                         tfrt_allocator_t allocator,
                                                         tfrt_coo_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Releases the buffer of |tensor|, which may be an empty struct. Thread-compatible.
void tfrt_coo_host_tensor_deinitialize(tfrt_coo_host_tensor_t* tensor);

// Where the coordinates, and the values, are. Live as long as the tensor. Thread-safe.
int64_t* tfrt_coo_host_tensor_indices(const tfrt_coo_host_tensor_t* tensor);
void* tfrt_coo_host_tensor_values(const tfrt_coo_host_tensor_t* tensor);

// Sets |out_index|, with room for as many as there are axes, to the coordinates of listed
// element |element|, counted in the usual way. |tensor| was checked. Thread-safe.
void tfrt_coo_host_tensor_index(const tfrt_coo_host_tensor_t* tensor, int64_t element,
                                int64_t* out_index);

// OK if all coordinates lie in the shape; else INVALID_ARGUMENT that names the first one
// that doesn't. Thread-safe.
tfrt_status_t tfrt_coo_host_tensor_check(const tfrt_coo_host_tensor_t* tensor) TFRT_MUST_USE;

// Makes |*out_dense| the whole tensor, with 0 where |tensor|, which was checked, lists
// nothing; of an element that is listed twice, the last one counts. Thread-compatible.
tfrt_status_t tfrt_coo_host_tensor_to_dense(const tfrt_coo_host_tensor_t* tensor,
                                            tfrt_allocator_t allocator,
                                            tfrt_dense_host_tensor_t* out_dense) TFRT_MUST_USE;

// Returns true if |a| and |b| have the same dtype and shape, and list equal elements in the
// same order. Both were checked. Thread-safe.
bool tfrt_coo_host_tensor_equal(const tfrt_coo_host_tensor_t* a, const tfrt_coo_host_tensor_t* b);

// Appends |tensor| as TFRT prints it, all of it, with a newline of its own:
//   CooHostTensor dtype = f32, shape = [2, 2], indices = [0, 1], values = [1.000000e+00]
// Thread-safe, as |out| is.
void tfrt_coo_host_tensor_print(const tfrt_coo_host_tensor_t* tensor, tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_COO_HOST_TENSOR_H_
