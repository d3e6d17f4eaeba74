// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/host_tensor.h"

#include "host_runtime/tensor/tensor_type.h"

const char* tfrt_tensor_layout_name(tfrt_tensor_layout_t layout) {
  switch (layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      return "CooHostTensor";
    case TFRT_TENSOR_LAYOUT_STRING:
      return "StringHostTensor";
    case TFRT_TENSOR_LAYOUT_SCALAR:
      return "ScalarHostTensor";
    case TFRT_TENSOR_LAYOUT_FOREIGN:
      return "foreign tensor";
    default:
      return "DenseHostTensor";
  }
}

const tfrt_shape_t* tfrt_host_tensor_shape(const tfrt_host_tensor_t* tensor) {
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      return &tensor->coo.shape;
    case TFRT_TENSOR_LAYOUT_STRING:
      return &tensor->string.shape;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      return &tensor->scalar.shape;
    case TFRT_TENSOR_LAYOUT_FOREIGN:
      return &tensor->foreign.shape;
    default:
      return &tensor->dense.shape;
  }
}

tfrt_dtype_t tfrt_host_tensor_dtype(const tfrt_host_tensor_t* tensor) {
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      return tensor->coo.dtype;
    case TFRT_TENSOR_LAYOUT_STRING:
      return TFRT_DTYPE_STRING;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      return tensor->scalar.dtype;
    case TFRT_TENSOR_LAYOUT_FOREIGN:
      return tensor->foreign.dtype;
    default:
      return tensor->dense.dtype;
  }
}

void tfrt_host_tensor_deinitialize(tfrt_host_tensor_t* tensor) {
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      tfrt_coo_host_tensor_deinitialize(&tensor->coo);
      break;
    case TFRT_TENSOR_LAYOUT_STRING:
      tfrt_string_host_tensor_deinitialize(&tensor->string);
      break;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      break;
    case TFRT_TENSOR_LAYOUT_FOREIGN:
      tensor->foreign.type->destroy(&tensor->foreign);
      break;
    default:
      tfrt_dense_host_tensor_deinitialize(&tensor->dense);
      break;
  }
}

void tfrt_host_tensor_print(const tfrt_host_tensor_t* tensor, tfrt_string_builder_t* out) {
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      tfrt_coo_host_tensor_print(&tensor->coo, out);
      break;
    case TFRT_TENSOR_LAYOUT_STRING:
      tfrt_string_host_tensor_print(&tensor->string, out);
      break;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      tfrt_scalar_host_tensor_print(&tensor->scalar, out);
      break;
    case TFRT_TENSOR_LAYOUT_FOREIGN:
      tensor->foreign.type->print(&tensor->foreign, out);
      break;
    default:
      tfrt_dense_host_tensor_print(&tensor->dense, out);
      break;
  }
}
