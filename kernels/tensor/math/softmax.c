// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/softmax.h"

#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/nan_keeping.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_primitive.h"

static dnnl_status_t describe(const tfrt_onednn_key_t* key, const_dnnl_primitive_attr_t attributes,
                              dnnl_engine_t engine, dnnl_primitive_desc_t* out_description) {
  dnnl_memory_desc_t data;
  dnnl_status_t result = tfrt_onednn_describe_memory(key->source, 2, &data);
  dnnl_softmax_desc_t operation;
  if (result == dnnl_success) {
    result =
        tfrt_onednn()->dnnl_softmax_forward_desc_init(&operation, dnnl_forward_inference, &data, 1);
  }
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_primitive_desc_create(out_description, &operation, attributes, engine,
                                                   NULL);
}

tfrt_status_t tfrt_tensor_softmax(const tfrt_dense_host_tensor_t* x, tfrt_allocator_t allocator,
                                  tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  if (x->shape.rank == 0) return tfrt_check_axis(x, 0, "the input of softmax");
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, x->shape.rank, "the input of softmax"));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &x->shape, allocator, out_result));
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  if (count == 0) return NULL;
  // All axes but the last one are one long axis to the library.
  tfrt_onednn_key_t key = {.kind = TFRT_ONEDNN_SOFTMAX};
  key.source[1] = x->shape.dims[x->shape.rank - 1];
  key.source[0] = count / key.source[1];
  const tfrt_onednn_input_t input = {DNNL_ARG_SRC, tfrt_dense_host_tensor_data(x)};
  tfrt_status_t status = tfrt_onednn_run(&key, describe, &input, 1, allocator,
                                         tfrt_dense_host_tensor_data(out_result));
  if (status) {
    tfrt_dense_host_tensor_deinitialize(out_result);
    return status;
  }
  tfrt_softmax_keep_nan(key.source[0], key.source[1], tfrt_dense_host_tensor_data(x),
                        tfrt_dense_host_tensor_data(out_result));
  return NULL;
}
