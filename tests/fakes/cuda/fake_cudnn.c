// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's cuDNN: calls are ops of the fake's streams, which compute on the host. A
// descriptor that is used before it was set, or left behind, is a defect, and so is all that the
// fake driver knows of.
#include "tests/fakes/cuda/fake_cudnn.h"

#include <string.h>

// Descriptors are of no context.
struct tfrt_cudnn_tensor_s {
  tfrt_fake_library_t base;
  bool is_set;
  tfrt_dnn_tensor_t form;
};
struct tfrt_cudnn_filter_s {
  tfrt_fake_library_t base;
  bool is_set;
  tfrt_dnn_filter_t form;
};
struct tfrt_cudnn_pooling_s {
  tfrt_fake_library_t base;
  bool is_set;
  tfrt_dnn_pooling_t form;
};
struct tfrt_cudnn_convolution_s {
  tfrt_fake_library_t base;
  bool is_set;
  tfrt_dnn_convolution_t form;
};

struct tfrt_cudnn_activation_s {
  tfrt_fake_library_t base;
  bool is_set;
  tfrt_dnn_activation_t form;
};

// The library's symbols, as the real one has them.
#define FAKE_ENTRY(name, type, parameters) TFRT_EXPORT type cudnn##name parameters;
TFRT_CUDNN_ENTRIES(FAKE_ENTRY)
#undef FAKE_ENTRY

const tfrt_fake_library_errors_t tfrt_fake_cudnn_errors = {FAKE_NOT_INITIALIZED, FAKE_BAD_PARAM,
                                                           FAKE_EXECUTION_FAILED};

const char* cudnnGetErrorString(tfrt_cudnn_status_t status) {
  if (status == FAKE_BAD_PARAM) return "CUDNN_STATUS_BAD_PARAM";
  if (status == FAKE_NOT_INITIALIZED) return "CUDNN_STATUS_NOT_INITIALIZED";
  if (status == FAKE_NOT_SUPPORTED) return "CUDNN_STATUS_NOT_SUPPORTED";
  return status == FAKE_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                         : "CUDNN_STATUS_INTERNAL_ERROR";
}

// --- Handles -----------------------------------------------------------------------------

tfrt_cudnn_status_t cudnnCreate(tfrt_cudnn_handle_t* out_handle) {
  int error = tfrt_fake_library_begin("cudnnCreate", &tfrt_fake_cudnn_errors, NULL);
  if (!error) *out_handle = tfrt_fake_library_create(sizeof(**out_handle), true);
  return tfrt_fake_end(error);
}

// The handle goes even on a broken context.
tfrt_cudnn_status_t cudnnDestroy(tfrt_cudnn_handle_t handle) {
  int error = tfrt_fake_library_begin("cudnnDestroy", &tfrt_fake_cudnn_errors, &handle->base);
  if (error == FAKE_NOT_INITIALIZED) return tfrt_fake_end(error);
  tfrt_fake_library_destroy(&handle->base, sizeof(*handle));
  return tfrt_fake_end(error);
}

tfrt_cudnn_status_t cudnnSetStream(tfrt_cudnn_handle_t handle, tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_library_begin("cudnnSetStream", &tfrt_fake_cudnn_errors, &handle->base);
  if (!error) error = tfrt_fake_library_set_stream(&handle->base, stream, &tfrt_fake_cudnn_errors);
  return tfrt_fake_end(error);
}

// --- Descriptors -------------------------------------------------------------------------

static int fake_create(const char* name, size_t size, void** out_descriptor) {
  int error = tfrt_fake_begin(name);
  if (!error) *out_descriptor = tfrt_fake_library_create(size, false);
  return tfrt_fake_end(error);
}

static int fake_destroy(const char* name, tfrt_fake_library_t* descriptor, size_t size) {
  int error = tfrt_fake_begin(name);
  if (!error && tfrt_fake_is_handle(&tfrt_fake.libraries, &descriptor->link, "descriptor")) {
    tfrt_fake_library_destroy(descriptor, size);
  }
  return tfrt_fake_end(error);
}

// A descriptor's creation and end.
#define FAKE_DESCRIPTOR(name, type)                                                           \
  tfrt_cudnn_status_t cudnnCreate##name##Descriptor(type* out_descriptor) {                   \
    void* descriptor = NULL;                                                                  \
    int error =                                                                               \
        fake_create("cudnnCreate" #name "Descriptor", sizeof(**out_descriptor), &descriptor); \
    *out_descriptor = descriptor;                                                             \
    return error;                                                                             \
  }                                                                                           \
  tfrt_cudnn_status_t cudnnDestroy##name##Descriptor(type descriptor) {                       \
    return fake_destroy("cudnnDestroy" #name "Descriptor", &descriptor->base,                 \
                        sizeof(*descriptor));                                                 \
  }

FAKE_DESCRIPTOR(Tensor, tfrt_cudnn_tensor_t)
FAKE_DESCRIPTOR(Filter, tfrt_cudnn_filter_t)
FAKE_DESCRIPTOR(Pooling, tfrt_cudnn_pooling_t)
FAKE_DESCRIPTOR(Convolution, tfrt_cudnn_convolution_t)
FAKE_DESCRIPTOR(Activation, tfrt_cudnn_activation_t)

tfrt_dtype_t tfrt_fake_cudnn_dtype(int type) {
  switch (type) {
    case TFRT_CUDNN_DATA_FLOAT:
      return TFRT_DTYPE_F32;
    case TFRT_CUDNN_DATA_DOUBLE:
      return TFRT_DTYPE_F64;
    case TFRT_CUDNN_DATA_HALF:
      return TFRT_DTYPE_F16;
    case TFRT_CUDNN_DATA_INT8:
      return TFRT_DTYPE_I8;
    case TFRT_CUDNN_DATA_INT32:
      return TFRT_DTYPE_I32;
    default:
      return type == TFRT_CUDNN_DATA_BFLOAT16 ? TFRT_DTYPE_BF16 : TFRT_DTYPE_INVALID;
  }
}

// Ends a call that sets a descriptor, whose description made sense unless |status| (consumed).
static int fake_end_set(int error, tfrt_status_t status, bool* out_is_set) {
  if (!error && status) {
    tfrt_fake_defect("cuDNN: %s", tfrt_status_message(status));
    error = FAKE_BAD_PARAM;
  }
  tfrt_status_release(status);
  *out_is_set = !error;
  return tfrt_fake_end(error);
}

tfrt_cudnn_status_t cudnnSetTensorNdDescriptor(tfrt_cudnn_tensor_t tensor, int type, int rank,
                                               const int* sizes, const int* steps) {
  int error = tfrt_fake_begin("cudnnSetTensorNdDescriptor");
  tensor->form = (tfrt_dnn_tensor_t){.dtype = tfrt_fake_cudnn_dtype(type), .rank = (uint32_t)rank};
  memcpy(tensor->form.sizes, sizes, (size_t)rank * sizeof(int));
  memcpy(tensor->form.steps, steps, (size_t)rank * sizeof(int));
  return fake_end_set(error, tfrt_dnn_tensor_check(&tensor->form), &tensor->is_set);
}

tfrt_cudnn_status_t cudnnSetFilterNdDescriptor(tfrt_cudnn_filter_t filter, int type, int format,
                                               int rank, const int* sizes) {
  int error = tfrt_fake_begin("cudnnSetFilterNdDescriptor");
  filter->form = (tfrt_dnn_filter_t){.dtype = tfrt_fake_cudnn_dtype(type),
                                     .has_channels_last = format == TFRT_CUDNN_CHANNELS_LAST,
                                     .rank = (uint32_t)rank};
  memcpy(filter->form.sizes, sizes, (size_t)rank * sizeof(int));
  return fake_end_set(error, tfrt_dnn_filter_check(&filter->form), &filter->is_set);
}

tfrt_cudnn_status_t cudnnSetPoolingNdDescriptor(tfrt_cudnn_pooling_t pooling, int mode,
                                                int nan_propagation, int space, const int* window,
                                                const int* padding, const int* steps) {
  int error = tfrt_fake_begin("cudnnSetPoolingNdDescriptor");
  pooling->form = (tfrt_dnn_pooling_t){.mode = (tfrt_dnn_pooling_mode_t)mode,
                                       .propagates_nan = nan_propagation != 0,
                                       .space = (uint32_t)space};
  memcpy(pooling->form.window, window, (size_t)space * sizeof(int));
  memcpy(pooling->form.padding, padding, (size_t)space * sizeof(int));
  memcpy(pooling->form.steps, steps, (size_t)space * sizeof(int));
  return fake_end_set(error, tfrt_dnn_pooling_check(&pooling->form), &pooling->is_set);
}

tfrt_cudnn_status_t cudnnSetConvolutionNdDescriptor(tfrt_cudnn_convolution_t convolution, int space,
                                                    const int* padding, const int* steps,
                                                    const int* dilation, int mode,
                                                    int compute_type) {
  int error = tfrt_fake_begin("cudnnSetConvolutionNdDescriptor");
  convolution->form =
      (tfrt_dnn_convolution_t){.compute = tfrt_fake_cudnn_dtype(compute_type),
                               .is_cross_correlation = mode == TFRT_CUDNN_CROSS_CORRELATION,
                               .space = (uint32_t)space};
  memcpy(convolution->form.padding, padding, (size_t)space * sizeof(int));
  memcpy(convolution->form.steps, steps, (size_t)space * sizeof(int));
  memcpy(convolution->form.dilation, dilation, (size_t)space * sizeof(int));
  return fake_end_set(error, tfrt_dnn_convolution_check(&convolution->form), &convolution->is_set);
}

tfrt_cudnn_status_t cudnnSetConvolutionMathType(tfrt_cudnn_convolution_t convolution, int math) {
  int error = tfrt_fake_begin("cudnnSetConvolutionMathType");
  if (!error && (math < 0 || math > 3 || !convolution->is_set)) error = FAKE_BAD_PARAM;
  return tfrt_fake_end(error);
}

tfrt_cudnn_status_t cudnnSetActivationDescriptor(tfrt_cudnn_activation_t activation, int mode,
                                                 int nan_propagation, double coefficient) {
  int error = tfrt_fake_begin("cudnnSetActivationDescriptor");
  activation->form = (tfrt_dnn_activation_t){.mode = (tfrt_dnn_activation_mode_t)mode,
                                             .propagates_nan = nan_propagation != 0,
                                             .coefficient = coefficient};
  return fake_end_set(error, NULL, &activation->is_set);
}

// --- Memory ------------------------------------------------------------------------------

// Tensor |data| of |tensor|, which |call| touches.
static tfrt_dnn_memory_t fake_tensor(tfrt_fake_library_call_t* call, tfrt_cudnn_tensor_t tensor,
                                     const void* data) {
  size_t elements = 1;
  if (!tensor->is_set) tfrt_fake_library_refuse(call, "a tensor that nobody has described");
  for (uint32_t i = 0; i < tensor->form.rank; ++i) {
    elements += (size_t)(tensor->form.sizes[i] - 1) * (size_t)tensor->form.steps[i];
  }
  tfrt_fake_library_touch(call, data, elements * tfrt_dtype_size(tensor->form.dtype));
  return (tfrt_dnn_memory_t){.address = (tfrt_device_address_t)(uintptr_t)data};
}

static tfrt_dnn_memory_t fake_filter(tfrt_fake_library_call_t* call, tfrt_cudnn_filter_t filter,
                                     const void* data) {
  size_t elements = 1;
  if (!filter->is_set) tfrt_fake_library_refuse(call, "a filter that nobody has described");
  for (uint32_t i = 0; i < filter->form.rank; ++i) elements *= (size_t)filter->form.sizes[i];
  tfrt_fake_library_touch(call, data, elements * tfrt_dtype_size(filter->form.dtype));
  return (tfrt_dnn_memory_t){.address = (tfrt_device_address_t)(uintptr_t)data};
}

// The number at |number|, which goes with elements of |dtype|.
static double fake_number(const void* number, tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_F64 ? *(const double*)number : (double)*(const float*)number;
}

// --- Pooling -----------------------------------------------------------------------------

tfrt_cudnn_status_t cudnnPoolingForward(tfrt_cudnn_handle_t handle, tfrt_cudnn_pooling_t pooling,
                                        const void* alpha, tfrt_cudnn_tensor_t x_form,
                                        const void* x, const void* beta, tfrt_cudnn_tensor_t y_form,
                                        void* y) {
  tfrt_fake_library_call_t call =
      tfrt_fake_library_call("cudnnPoolingForward", &tfrt_fake_cudnn_errors, &handle->base);
  tfrt_cpu_dnn_call_t work = {
      .kind = TFRT_CPU_DNN_POOL,
      .pool = {.pooling = pooling->form,
               .alpha = (float)fake_number(alpha, x_form->form.dtype),
               .x_form = x_form->form,
               .x = fake_tensor(&call, x_form, x),
               .beta = (float)fake_number(beta, x_form->form.dtype),
               .y_form = y_form->form,
               .y = fake_tensor(&call, y_form, y)},
  };
  return tfrt_fake_library_end(&call, tfrt_cpu_dnn_run, &work, sizeof(work));
}

tfrt_cudnn_status_t cudnnPoolingBackward(tfrt_cudnn_handle_t handle, tfrt_cudnn_pooling_t pooling,
                                         const void* alpha, tfrt_cudnn_tensor_t y_form,
                                         const void* y, tfrt_cudnn_tensor_t dy_form, const void* dy,
                                         tfrt_cudnn_tensor_t x_form, const void* x,
                                         const void* beta, tfrt_cudnn_tensor_t dx_form, void* dx) {
  tfrt_fake_library_call_t call =
      tfrt_fake_library_call("cudnnPoolingBackward", &tfrt_fake_cudnn_errors, &handle->base);
  tfrt_cpu_dnn_call_t work = {
      .kind = TFRT_CPU_DNN_UNPOOL,
      .unpool = {.pooling = pooling->form,
                 .alpha = (float)fake_number(alpha, x_form->form.dtype),
                 .y_form = y_form->form,
                 .y = fake_tensor(&call, y_form, y),
                 .dy_form = dy_form->form,
                 .dy = fake_tensor(&call, dy_form, dy),
                 .x_form = x_form->form,
                 .x = fake_tensor(&call, x_form, x),
                 .beta = (float)fake_number(beta, x_form->form.dtype),
                 .dx_form = dx_form->form,
                 .dx = fake_tensor(&call, dx_form, dx)},
  };
  return tfrt_fake_library_end(&call, tfrt_cpu_dnn_run, &work, sizeof(work));
}

// --- Convolution -------------------------------------------------------------------------

static int fake_workspace(const char* name, tfrt_cudnn_handle_t handle, int algorithm,
                          size_t* size) {
  int error = tfrt_fake_library_begin(name, &tfrt_fake_cudnn_errors, &handle->base);
  *size = (size_t)algorithm * FAKE_WORKSPACE_SIZE;
  return tfrt_fake_end(error);
}

tfrt_cudnn_status_t cudnnGetConvolutionForwardWorkspaceSize(
    tfrt_cudnn_handle_t handle, tfrt_cudnn_tensor_t x_form, tfrt_cudnn_filter_t w_form,
    tfrt_cudnn_convolution_t convolution, tfrt_cudnn_tensor_t y_form, int algorithm, size_t* size) {
  (void)x_form;
  (void)w_form;
  (void)convolution;
  (void)y_form;
  return fake_workspace("cudnnGetConvolutionForwardWorkspaceSize", handle, algorithm, size);
}

tfrt_cudnn_status_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    tfrt_cudnn_handle_t handle, tfrt_cudnn_filter_t w_form, tfrt_cudnn_tensor_t dy_form,
    tfrt_cudnn_convolution_t convolution, tfrt_cudnn_tensor_t dx_form, int algorithm,
    size_t* size) {
  (void)w_form;
  (void)dy_form;
  (void)convolution;
  (void)dx_form;
  return fake_workspace("cudnnGetConvolutionBackwardDataWorkspaceSize", handle, algorithm, size);
}

tfrt_cudnn_status_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    tfrt_cudnn_handle_t handle, tfrt_cudnn_tensor_t x_form, tfrt_cudnn_tensor_t dy_form,
    tfrt_cudnn_convolution_t convolution, tfrt_cudnn_filter_t dw_form, int algorithm,
    size_t* size) {
  (void)x_form;
  (void)dy_form;
  (void)convolution;
  (void)dw_form;
  return fake_workspace("cudnnGetConvolutionBackwardFilterWorkspaceSize", handle, algorithm, size);
}

// The fields that all three convolutions share.
typedef struct fake_convolution_s {
  tfrt_cudnn_handle_t handle;
  tfrt_cudnn_tensor_t x_form;
  const void* x;
  tfrt_cudnn_filter_t w_form;
  const void* w;
  tfrt_cudnn_tensor_t y_form;
  const void* y;
  tfrt_cudnn_convolution_t convolution;
  void* workspace;
  size_t workspace_size;
  const void* alpha;
  const void* beta;
} fake_convolution_t;

// The convolution |c| in |direction|; adds to |call| the memory that it touches.
static tfrt_dnn_convolve_t fake_convolution(tfrt_fake_library_call_t* call,
                                            tfrt_dnn_direction_t direction,
                                            const fake_convolution_t* c) {
  if (!c->convolution->is_set) {
    tfrt_fake_library_refuse(call, "a convolution that nobody has described");
  }
  tfrt_fake_library_touch(call, c->workspace, c->workspace_size);
  return (tfrt_dnn_convolve_t){.direction = direction,
                               .convolution = c->convolution->form,
                               .x_form = c->x_form->form,
                               .x = fake_tensor(call, c->x_form, c->x),
                               .w_form = c->w_form->form,
                               .w = fake_filter(call, c->w_form, c->w),
                               .y_form = c->y_form->form,
                               .y = fake_tensor(call, c->y_form, c->y)};
}

static int fake_convolve(const char* name, tfrt_dnn_direction_t direction,
                         const fake_convolution_t* c) {
  tfrt_fake_library_call_t call =
      tfrt_fake_library_call(name, &tfrt_fake_cudnn_errors, &c->handle->base);
  if (fake_number(c->alpha, c->x_form->form.dtype) != 1 ||
      fake_number(c->beta, c->x_form->form.dtype) != 0) {
    tfrt_fake_library_refuse(&call, "a convolution that is scaled");
  }
  tfrt_cpu_dnn_call_t work = {.kind = TFRT_CPU_DNN_CONVOLVE,
                              .convolve = fake_convolution(&call, direction, c)};
  return tfrt_fake_library_end(&call, tfrt_cpu_dnn_run, &work, sizeof(work));
}

tfrt_cudnn_status_t cudnnConvolutionForward(tfrt_cudnn_handle_t handle, const void* alpha,
                                            tfrt_cudnn_tensor_t x_form, const void* x,
                                            tfrt_cudnn_filter_t w_form, const void* w,
                                            tfrt_cudnn_convolution_t convolution, int algorithm,
                                            void* workspace, size_t workspace_size,
                                            const void* beta, tfrt_cudnn_tensor_t y_form, void* y) {
  (void)algorithm;
  fake_convolution_t c = {handle, x_form,      x,         w_form,         w,     y_form,
                          y,      convolution, workspace, workspace_size, alpha, beta};
  return fake_convolve("cudnnConvolutionForward", TFRT_DNN_FORWARD, &c);
}

tfrt_cudnn_status_t cudnnConvolutionBackwardData(tfrt_cudnn_handle_t handle, const void* alpha,
                                                 tfrt_cudnn_filter_t w_form, const void* w,
                                                 tfrt_cudnn_tensor_t dy_form, const void* dy,
                                                 tfrt_cudnn_convolution_t convolution,
                                                 int algorithm, void* workspace,
                                                 size_t workspace_size, const void* beta,
                                                 tfrt_cudnn_tensor_t dx_form, void* dx) {
  (void)algorithm;
  fake_convolution_t c = {handle, dx_form,     dx,        w_form,         w,     dy_form,
                          dy,     convolution, workspace, workspace_size, alpha, beta};
  return fake_convolve("cudnnConvolutionBackwardData", TFRT_DNN_BACKWARD_DATA, &c);
}

tfrt_cudnn_status_t cudnnConvolutionBackwardFilter(tfrt_cudnn_handle_t handle, const void* alpha,
                                                   tfrt_cudnn_tensor_t x_form, const void* x,
                                                   tfrt_cudnn_tensor_t dy_form, const void* dy,
                                                   tfrt_cudnn_convolution_t convolution,
                                                   int algorithm, void* workspace,
                                                   size_t workspace_size, const void* beta,
                                                   tfrt_cudnn_filter_t dw_form, void* dw) {
  (void)algorithm;
  fake_convolution_t c = {handle, x_form,      x,         dw_form,        dw,    dy_form,
                          dy,     convolution, workspace, workspace_size, alpha, beta};
  return fake_convolve("cudnnConvolutionBackwardFilter", TFRT_DNN_BACKWARD_FILTER, &c);
}

tfrt_cudnn_status_t cudnnConvolutionBiasActivationForward(
    tfrt_cudnn_handle_t handle, const void* alpha, tfrt_cudnn_tensor_t x_form, const void* x,
    tfrt_cudnn_filter_t w_form, const void* w, tfrt_cudnn_convolution_t convolution, int algorithm,
    void* workspace, size_t workspace_size, const void* beta, tfrt_cudnn_tensor_t z_form,
    const void* z, tfrt_cudnn_tensor_t bias_form, const void* bias,
    tfrt_cudnn_activation_t activation, tfrt_cudnn_tensor_t y_form, void* y) {
  (void)algorithm;
  tfrt_fake_library_call_t call = tfrt_fake_library_call("cudnnConvolutionBiasActivationForward",
                                                         &tfrt_fake_cudnn_errors, &handle->base);
  fake_convolution_t c = {handle, x_form,      x,         w_form,         w,     y_form,
                          y,      convolution, workspace, workspace_size, alpha, beta};
  if (!activation->is_set ||
      (activation->form.mode != TFRT_DNN_RELU && activation->form.mode != TFRT_DNN_IDENTITY)) {
    tfrt_fake_library_refuse(&call, "an activation that doesn't go with a convolution");
  }
  tfrt_cpu_dnn_call_t work = {
      .kind = TFRT_CPU_DNN_FUSE,
      .fuse = {.convolve = fake_convolution(&call, TFRT_DNN_FORWARD, &c),
               .alpha = fake_number(alpha, x_form->form.dtype),
               .beta = fake_number(beta, x_form->form.dtype),
               .z_form = z_form->form,
               .z = fake_tensor(&call, z_form, z),
               .bias_form = bias_form->form,
               .bias = fake_tensor(&call, bias_form, bias),
               .activation = activation->form},
  };
  return tfrt_fake_library_end(&call, tfrt_cpu_dnn_run, &work, sizeof(work));
}
