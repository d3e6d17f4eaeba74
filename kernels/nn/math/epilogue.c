// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/epilogue.h"

#include <math.h>
#include <string.h>

#include "kernels/nn/math/fast_math.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/wide_loops.h"

static const char* const names[] = {
    [TFRT_ONEDNN_ACTIVATION_NONE] = "none",
    [TFRT_ONEDNN_ACTIVATION_RELU] = "relu",
    [TFRT_ONEDNN_ACTIVATION_CLIP] = "clip",
    [TFRT_ONEDNN_ACTIVATION_SIGMOID] = "sigmoid",
    [TFRT_ONEDNN_ACTIVATION_SWISH] = "silu",
    [TFRT_ONEDNN_ACTIVATION_HARD_SWISH] = "hard_swish",
    [TFRT_ONEDNN_ACTIVATION_TANH] = "tanh",
    [TFRT_ONEDNN_ACTIVATION_GELU_ERF] = "gelu",
    [TFRT_ONEDNN_ACTIVATION_GELU_TANH] = "gelu_tanh",
};

static tfrt_status_t read_activation(const tfrt_nn_call_t* call,
                                     tfrt_onednn_activation_t* out_activation) {
  tfrt_string_view_t name = tfrt_nn_string(call, "activation");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(names[i]))) continue;
    *out_activation = (tfrt_onednn_activation_t)i;
    return NULL;
  }
  // One with a slope of its own is the same function.
  *out_activation = TFRT_ONEDNN_ACTIVATION_RELU;
  if (tfrt_string_view_equal(name, tfrt_string_view_of("leaky_relu"))) return NULL;
  return tfrt_nn_error(call, "there is no activation '%.*s'", (int)name.size, name.data);
}

tfrt_status_t tfrt_nn_epilogue_read(const tfrt_nn_call_t* call,
                                    tfrt_onednn_epilogue_t* out_epilogue) {
  TFRT_RETURN_IF_ERROR(read_activation(call, &out_epilogue->activation));
  if (out_epilogue->activation == TFRT_ONEDNN_ACTIVATION_NONE) return NULL;
  out_epilogue->alpha = tfrt_nn_f32(call, "alpha");
  out_epilogue->beta = tfrt_nn_f32(call, "beta");
  return NULL;
}

tfrt_status_t tfrt_nn_epilogue_make(const tfrt_nn_call_t* call, const tfrt_shape_t* shape,
                                    tfrt_onednn_epilogue_t* epilogue, bool* out_is_plain) {
  const tfrt_dense_host_tensor_t* summand = tfrt_nn_input(call, 3);
  *out_is_plain = !summand || tfrt_shape_equal(&summand->shape, shape);
  if (summand) TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 3, TFRT_DTYPE_F32));
  if (!*out_is_plain) return NULL;
  epilogue->adds = summand != NULL;
  if (tfrt_nn_can_reuse(call, 3, TFRT_DTYPE_F32, shape)) {
    return tfrt_nn_alias(call, 0, summand, NULL);
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_F32, shape));
  size_t size = tfrt_dense_host_tensor_size(&call->results[0]);
  if (summand && size > 0) {
    memcpy(tfrt_nn_result_data(call, 0), tfrt_dense_host_tensor_data(summand), size);
  }
  return NULL;
}

TFRT_ALWAYS_INLINE float apply(tfrt_onednn_activation_t activation, float alpha, float beta,
                               float x) {
  switch (activation) {
    case TFRT_ONEDNN_ACTIVATION_RELU:
      return x < 0 ? alpha * x : x;
    case TFRT_ONEDNN_ACTIVATION_CLIP:
      return x < alpha ? alpha : x > beta ? beta : x;
    case TFRT_ONEDNN_ACTIVATION_SIGMOID:
      return 1.0f / (1.0f + tfrt_nn_expf(-x));
    case TFRT_ONEDNN_ACTIVATION_SWISH:
      return x / (1.0f + tfrt_nn_expf(-alpha * x));
    case TFRT_ONEDNN_ACTIVATION_HARD_SWISH:
      return x * fminf(fmaxf(x * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
    case TFRT_ONEDNN_ACTIVATION_TANH:
      return tfrt_nn_tanhf(x);
    case TFRT_ONEDNN_ACTIVATION_GELU_ERF:
      return 0.5f * x * (1.0f + tfrt_nn_erff(x * 0.70710678f));
    case TFRT_ONEDNN_ACTIVATION_GELU_TANH:
      return tfrt_nn_gelu_tanhf(x);
    case TFRT_ONEDNN_ACTIVATION_NONE:
      break;
  }
  return x;
}

// A loop for each function, which the compiler makes one of vectors.
#define APPLY_TO_ALL(activation)                                             \
  case activation:                                                           \
    for (int64_t i = 0; i < count; ++i) {                                    \
      data[i] = apply(activation, epilogue->alpha, epilogue->beta, data[i]); \
    }                                                                        \
    break;

TFRT_ALWAYS_INLINE void apply_to_all_loop(const tfrt_onednn_epilogue_t* epilogue,
                                          float* restrict data, int64_t count) {
  switch (epilogue->activation) {
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_RELU)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_CLIP)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_SIGMOID)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_SWISH)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_HARD_SWISH)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_TANH)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_GELU_ERF)
    APPLY_TO_ALL(TFRT_ONEDNN_ACTIVATION_GELU_TANH)
    case TFRT_ONEDNN_ACTIVATION_NONE:
      break;
  }
}

TFRT_NN_WIDE_FUNCTION(apply_to_all,
                      (const tfrt_onednn_epilogue_t* epilogue, float* data, int64_t count),
                      (epilogue, data, count))

void tfrt_nn_epilogue_apply(const tfrt_onednn_epilogue_t* epilogue, float* data, int64_t count) {
  apply_to_all(epilogue, data, count);
}

tfrt_status_t tfrt_nn_epilogue_stretch(const tfrt_nn_call_t* call,
                                       const tfrt_dense_host_tensor_t* product,
                                       const tfrt_onednn_epilogue_t* epilogue) {
  const tfrt_dense_host_tensor_t* inputs[2] = {product, call->inputs[3]};
  tfrt_nn_call_t sum = *call;
  sum.inputs = inputs;
  sum.input_count = 2;
  sum.unique_inputs = 0;
  TFRT_RETURN_IF_ERROR(tfrt_nn_add(&sum));
  tfrt_nn_epilogue_apply(epilogue, tfrt_nn_result_data(call, 0),
                         tfrt_dense_host_tensor_element_count(&call->results[0]));
  return NULL;
}
