// SPDX-License-Identifier: Apache-2.0
//
// The epilogue of a primitive: what follows for each element of its result, before that is written.
//
//   result = activation(product + bias + what the target holds already)
//
// Thread rule: thread-safe. Failure rule: the library's own results.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EPILOGUE_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EPILOGUE_H_

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

// A function of each element of the result.
typedef enum tfrt_onednn_activation_e {
  TFRT_ONEDNN_ACTIVATION_NONE = 0,
  TFRT_ONEDNN_ACTIVATION_RELU,  // of a slope |alpha| below 0
  TFRT_ONEDNN_ACTIVATION_CLIP,  // to |alpha| to |beta|
  TFRT_ONEDNN_ACTIVATION_SIGMOID,
  TFRT_ONEDNN_ACTIVATION_SWISH,  // x * sigmoid(alpha * x)
  TFRT_ONEDNN_ACTIVATION_HARD_SWISH,
  TFRT_ONEDNN_ACTIVATION_TANH,
  TFRT_ONEDNN_ACTIVATION_GELU_ERF,
  TFRT_ONEDNN_ACTIVATION_GELU_TANH,
} tfrt_onednn_activation_t;

// Filled in from all zeros.
typedef struct tfrt_onednn_epilogue_s {
  bool adds;  // the result is added to what the target holds already
  tfrt_onednn_activation_t activation;
  float alpha;
  float beta;
} tfrt_onednn_epilogue_t;

// Sets |*out_attributes| to those of a primitive with |epilogue|, whose scratch memory its user
// gives; the caller destroys them. Thread-safe.
dnnl_status_t tfrt_onednn_epilogue_attributes(const tfrt_onednn_epilogue_t* epilogue,
                                              dnnl_primitive_attr_t* out_attributes);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EPILOGUE_H_
