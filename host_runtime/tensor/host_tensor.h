// SPDX-License-Identifier: Apache-2.0
//
// The payload of values of the type "!tfrt_tensor.tensor": programs have one type for all
// tensors of this host, and which layout it is shows only when there is one.
//
//   host tensor { layout, dense | coo | string | scalar | foreign }
//
// Kernels that need one layout ask, and refuse the others by name; printing and sending
// take all.
//
// Life: made with the tensor inside, whose life it shares.
//
// Thread rule: thread-compatible (caller synchronises); reading is thread-safe.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_TENSOR_HOST_TENSOR_H_
#define TFRT_HOST_RUNTIME_TENSOR_HOST_TENSOR_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/coo_host_tensor.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "host_runtime/tensor/scalar_host_tensor.h"
#include "host_runtime/tensor/string_host_tensor.h"

TFRT_API_BEGIN

// The numbers are part of the encoding (tensor_codec.h).
typedef enum tfrt_tensor_layout_e {
  TFRT_TENSOR_LAYOUT_DENSE = 0,
  TFRT_TENSOR_LAYOUT_COO = 1,
  TFRT_TENSOR_LAYOUT_STRING = 2,
  TFRT_TENSOR_LAYOUT_SCALAR = 3,
  TFRT_TENSOR_LAYOUT_FOREIGN = 4,  // never encoded
} tfrt_tensor_layout_t;

// A tensor of a type that a kernel library has brought (tensor_type.h).
typedef struct tfrt_foreign_tensor_s {
  const struct tfrt_tensor_type_s* type;  // static
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  void* data;  // the library's
} tfrt_foreign_tensor_t;

typedef struct tfrt_host_tensor_s {
  tfrt_tensor_layout_t layout;
  union {
    tfrt_dense_host_tensor_t dense;
    tfrt_coo_host_tensor_t coo;
    tfrt_string_host_tensor_t string;
    tfrt_scalar_host_tensor_t scalar;
    tfrt_foreign_tensor_t foreign;
  };
} tfrt_host_tensor_t;

// The name of |layout| as tensors print it, e.g. "DenseHostTensor"; "foreign tensor" for those of
// libraries. Static. Thread-safe.
const char* tfrt_tensor_layout_name(tfrt_tensor_layout_t layout);

// The shape, and the element type, of |tensor|. Lives as long as |tensor|. Thread-safe.
const tfrt_shape_t* tfrt_host_tensor_shape(const tfrt_host_tensor_t* tensor);
tfrt_dtype_t tfrt_host_tensor_dtype(const tfrt_host_tensor_t* tensor);

// Gives back what |tensor| holds. Thread-compatible.
void tfrt_host_tensor_deinitialize(tfrt_host_tensor_t* tensor);

// Appends |tensor| as TFRT prints it; see the layouts. Thread-safe, as |out| is.
void tfrt_host_tensor_print(const tfrt_host_tensor_t* tensor, tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_HOST_TENSOR_H_
