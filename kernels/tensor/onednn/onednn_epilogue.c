// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_epilogue.h"

#include "kernels/tensor/onednn/onednn_library.h"

static dnnl_status_t append_activation(const tfrt_onednn_epilogue_t* epilogue,
                                       dnnl_post_ops_t operations) {
  static const dnnl_alg_kind_t kinds[] = {
      [TFRT_ONEDNN_ACTIVATION_RELU] = dnnl_eltwise_relu,
      [TFRT_ONEDNN_ACTIVATION_CLIP] = dnnl_eltwise_clip,
      [TFRT_ONEDNN_ACTIVATION_SIGMOID] = dnnl_eltwise_logistic,
      [TFRT_ONEDNN_ACTIVATION_SWISH] = dnnl_eltwise_swish,
      [TFRT_ONEDNN_ACTIVATION_HARD_SWISH] = dnnl_eltwise_hardswish,
      [TFRT_ONEDNN_ACTIVATION_TANH] = dnnl_eltwise_tanh,
      [TFRT_ONEDNN_ACTIVATION_GELU_ERF] = dnnl_eltwise_gelu_erf,
      [TFRT_ONEDNN_ACTIVATION_GELU_TANH] = dnnl_eltwise_gelu_tanh,
  };
  if (epilogue->activation == TFRT_ONEDNN_ACTIVATION_NONE) return dnnl_success;
  return tfrt_onednn()->dnnl_post_ops_append_eltwise(operations, 1.0f, kinds[epilogue->activation],
                                                     epilogue->alpha, epilogue->beta);
}

dnnl_status_t tfrt_onednn_epilogue_attributes(const tfrt_onednn_epilogue_t* epilogue,
                                              dnnl_primitive_attr_t* out_attributes) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  dnnl_post_ops_t operations = NULL;
  dnnl_status_t result = library->dnnl_primitive_attr_create(out_attributes);
  if (result != dnnl_success) return result;
  result =
      library->dnnl_primitive_attr_set_scratchpad_mode(*out_attributes, dnnl_scratchpad_mode_user);
  if (result == dnnl_success) result = library->dnnl_post_ops_create(&operations);
  if (result == dnnl_success && epilogue->adds) {
    result = library->dnnl_post_ops_append_sum(operations, 1.0f);
  }
  if (result == dnnl_success) result = append_activation(epilogue, operations);
  if (result == dnnl_success) {
    result = library->dnnl_primitive_attr_set_post_ops(*out_attributes, operations);
  }
  if (operations) library->dnnl_post_ops_destroy(operations);
  if (result != dnnl_success) library->dnnl_primitive_attr_destroy(*out_attributes);
  return result;
}
