// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of cuDNN that this project uses, as cuda_api.h has them for the
// driver: the forms that cuDNN 8 and 9 have.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/vendor_library.h.
#ifndef TFRT_DEVICES_CUDA_CUDNN_API_H_
#define TFRT_DEVICES_CUDA_CUDNN_API_H_

#include "devices/cuda/cuda_api.h"

typedef int tfrt_cudnn_status_t;
typedef struct tfrt_cudnn_handle_s* tfrt_cudnn_handle_t;
typedef struct tfrt_cudnn_tensor_s* tfrt_cudnn_tensor_t;
typedef struct tfrt_cudnn_filter_s* tfrt_cudnn_filter_t;
typedef struct tfrt_cudnn_pooling_s* tfrt_cudnn_pooling_t;
typedef struct tfrt_cudnn_convolution_s* tfrt_cudnn_convolution_t;
typedef struct tfrt_cudnn_activation_s* tfrt_cudnn_activation_t;

// The numbers of the library's interface that are used here. Those of pooling's modes, of
// activations and of the maths are those of devices/device_dnn.h.
enum tfrt_cudnn_number_e {
  TFRT_CUDNN_SUCCESS = 0,

  TFRT_CUDNN_DATA_FLOAT = 0,
  TFRT_CUDNN_DATA_DOUBLE = 1,
  TFRT_CUDNN_DATA_HALF = 2,
  TFRT_CUDNN_DATA_INT8 = 3,
  TFRT_CUDNN_DATA_INT32 = 4,
  TFRT_CUDNN_DATA_BFLOAT16 = 9,

  TFRT_CUDNN_CHANNELS_FIRST = 0,
  TFRT_CUDNN_CHANNELS_LAST = 1,
  TFRT_CUDNN_CONVOLUTION = 0,
  TFRT_CUDNN_CROSS_CORRELATION = 1,
};

// The table: X(entry point without its "cudnn", what it returns, parameters).
#define TFRT_CUDNN_ENTRIES(X)                                                                      \
  X(GetErrorString, const char*, (tfrt_cudnn_status_t status))                                     \
  X(Create, tfrt_cudnn_status_t, (tfrt_cudnn_handle_t * handle))                                   \
  X(Destroy, tfrt_cudnn_status_t, (tfrt_cudnn_handle_t handle))                                    \
  X(SetStream, tfrt_cudnn_status_t,                                                                \
    (tfrt_cudnn_handle_t handle, tfrt_cuda_stream_handle_t stream))                                \
  X(CreateTensorDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_tensor_t * tensor))                   \
  X(SetTensorNdDescriptor, tfrt_cudnn_status_t,                                                    \
    (tfrt_cudnn_tensor_t tensor, int type, int rank, const int* sizes, const int* steps))          \
  X(DestroyTensorDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_tensor_t tensor))                    \
  X(CreateFilterDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_filter_t * filter))                   \
  X(SetFilterNdDescriptor, tfrt_cudnn_status_t,                                                    \
    (tfrt_cudnn_filter_t filter, int type, int format, int rank, const int* sizes))                \
  X(DestroyFilterDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_filter_t filter))                    \
  X(CreatePoolingDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_pooling_t * pooling))                \
  X(SetPoolingNdDescriptor, tfrt_cudnn_status_t,                                                   \
    (tfrt_cudnn_pooling_t pooling, int mode, int nan_propagation, int space, const int* window,    \
     const int* padding, const int* steps))                                                        \
  X(DestroyPoolingDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_pooling_t pooling))                 \
  X(CreateConvolutionDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_convolution_t * convolution))    \
  X(SetConvolutionNdDescriptor, tfrt_cudnn_status_t,                                               \
    (tfrt_cudnn_convolution_t convolution, int space, const int* padding, const int* steps,        \
     const int* dilation, int mode, int compute_type))                                             \
  X(SetConvolutionMathType, tfrt_cudnn_status_t, (tfrt_cudnn_convolution_t convolution, int math)) \
  X(DestroyConvolutionDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_convolution_t convolution))     \
  X(CreateActivationDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_activation_t * activation))       \
  X(SetActivationDescriptor, tfrt_cudnn_status_t,                                                  \
    (tfrt_cudnn_activation_t activation, int mode, int nan_propagation, double coefficient))       \
  X(DestroyActivationDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_activation_t activation))        \
  X(PoolingForward, tfrt_cudnn_status_t,                                                           \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_pooling_t pooling, const void* alpha,                  \
     tfrt_cudnn_tensor_t x_form, const void* x, const void* beta, tfrt_cudnn_tensor_t y_form,      \
     void* y))                                                                                     \
  X(PoolingBackward, tfrt_cudnn_status_t,                                                          \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_pooling_t pooling, const void* alpha,                  \
     tfrt_cudnn_tensor_t y_form, const void* y, tfrt_cudnn_tensor_t dy_form, const void* dy,       \
     tfrt_cudnn_tensor_t x_form, const void* x, const void* beta, tfrt_cudnn_tensor_t dx_form,     \
     void* dx))                                                                                    \
  X(GetConvolutionForwardWorkspaceSize, tfrt_cudnn_status_t,                                       \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_tensor_t x_form, tfrt_cudnn_filter_t w_form,           \
     tfrt_cudnn_convolution_t convolution, tfrt_cudnn_tensor_t y_form, int algorithm,              \
     size_t* size))                                                                                \
  X(GetConvolutionBackwardDataWorkspaceSize, tfrt_cudnn_status_t,                                  \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_filter_t w_form, tfrt_cudnn_tensor_t dy_form,          \
     tfrt_cudnn_convolution_t convolution, tfrt_cudnn_tensor_t dx_form, int algorithm,             \
     size_t* size))                                                                                \
  X(GetConvolutionBackwardFilterWorkspaceSize, tfrt_cudnn_status_t,                                \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_tensor_t x_form, tfrt_cudnn_tensor_t dy_form,          \
     tfrt_cudnn_convolution_t convolution, tfrt_cudnn_filter_t dw_form, int algorithm,             \
     size_t* size))                                                                                \
  X(ConvolutionForward, tfrt_cudnn_status_t,                                                       \
    (tfrt_cudnn_handle_t handle, const void* alpha, tfrt_cudnn_tensor_t x_form, const void* x,     \
     tfrt_cudnn_filter_t w_form, const void* w, tfrt_cudnn_convolution_t convolution,              \
     int algorithm, void* workspace, size_t workspace_size, const void* beta,                      \
     tfrt_cudnn_tensor_t y_form, void* y))                                                         \
  X(ConvolutionBiasActivationForward, tfrt_cudnn_status_t,                                         \
    (tfrt_cudnn_handle_t handle, const void* alpha, tfrt_cudnn_tensor_t x_form, const void* x,     \
     tfrt_cudnn_filter_t w_form, const void* w, tfrt_cudnn_convolution_t convolution,              \
     int algorithm, void* workspace, size_t workspace_size, const void* beta,                      \
     tfrt_cudnn_tensor_t z_form, const void* z, tfrt_cudnn_tensor_t bias_form, const void* bias,   \
     tfrt_cudnn_activation_t activation, tfrt_cudnn_tensor_t y_form, void* y))                     \
  X(ConvolutionBackwardData, tfrt_cudnn_status_t,                                                  \
    (tfrt_cudnn_handle_t handle, const void* alpha, tfrt_cudnn_filter_t w_form, const void* w,     \
     tfrt_cudnn_tensor_t dy_form, const void* dy, tfrt_cudnn_convolution_t convolution,            \
     int algorithm, void* workspace, size_t workspace_size, const void* beta,                      \
     tfrt_cudnn_tensor_t dx_form, void* dx))                                                       \
  X(ConvolutionBackwardFilter, tfrt_cudnn_status_t,                                                \
    (tfrt_cudnn_handle_t handle, const void* alpha, tfrt_cudnn_tensor_t x_form, const void* x,     \
     tfrt_cudnn_tensor_t dy_form, const void* dy, tfrt_cudnn_convolution_t convolution,            \
     int algorithm, void* workspace, size_t workspace_size, const void* beta,                      \
     tfrt_cudnn_filter_t dw_form, void* dw))

typedef struct tfrt_cudnn_api_s {
#define TFRT_CUDNN_MEMBER(name, type, parameters) type(*name) parameters;
  TFRT_CUDNN_ENTRIES(TFRT_CUDNN_MEMBER)
#undef TFRT_CUDNN_MEMBER
} tfrt_cudnn_api_t;

#endif  // TFRT_DEVICES_CUDA_CUDNN_API_H_
