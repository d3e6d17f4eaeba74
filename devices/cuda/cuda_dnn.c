// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks by cuDNN. One handle per object, as for linear algebra; the library's
// own descriptors are made of ours for each call, and go with it: calls copy what they need.
#include "devices/cuda/cuda_dnn.h"

// --- The library -------------------------------------------------------------------------

static const tfrt_vendor_entry_t entries[] = {
#define TFRT_CUDNN_ENTRY(name, type, parameters) {"cudnn" #name, offsetof(tfrt_cudnn_api_t, name)},
    TFRT_CUDNN_ENTRIES(TFRT_CUDNN_ENTRY)
#undef TFRT_CUDNN_ENTRY
};

const char* const tfrt_cuda_dnn_names[] = {"libcudnn.so.9", "libcudnn.so.8"};
const size_t tfrt_cuda_dnn_name_count = TFRT_ARRAY_SIZE(tfrt_cuda_dnn_names);

static const tfrt_vendor_library_t library = {
    .title = "cuDNN",
    .names = tfrt_cuda_dnn_names,
    .name_count = TFRT_ARRAY_SIZE(tfrt_cuda_dnn_names),
    .fix =
        "install cuDNN 8 or 9 for the driver's version of CUDA, or add its folder to "
        "LD_LIBRARY_PATH",
    .entries = entries,
    .entry_count = TFRT_ARRAY_SIZE(entries),
};

// Sets |*out_api| to the library's entry points, which live as long as the platform.
static tfrt_status_t cuda_dnn_open(tfrt_cuda_platform_t* platform,
                                   const tfrt_cudnn_api_t** out_api) {
  *out_api = &platform->cudnn;
  return tfrt_cuda_platform_open(platform, &library, TFRT_CUDA_CUDNN, &platform->cudnn);
}

// Versions have different numbers for their errors, but the same names.
tfrt_status_t tfrt_cuda_dnn_status(const tfrt_cudnn_api_t* api, const tfrt_device_t* device,
                                   tfrt_cudnn_status_t result, const char* call) {
  if (result == TFRT_CUDNN_SUCCESS) return NULL;
  const char* name = api->GetErrorString(result);
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s: %s failed: %s (%d)", device->name, call,
                            name ? name : "unknown error", result);
}

// --- Descriptors -------------------------------------------------------------------------

// One call with the descriptors that it needs; those that it doesn't are NULL.
typedef struct tfrt_cuda_dnn_call_s {
  tfrt_cuda_dnn_t* dnn;
  tfrt_status_t status;  // +1, of what failed first
  tfrt_cudnn_tensor_t tensors[4];
  tfrt_cudnn_filter_t filter;
  tfrt_cudnn_pooling_t pooling;
  tfrt_cudnn_convolution_t convolution;
  tfrt_cudnn_activation_t activation;
} tfrt_cuda_dnn_call_t;

// Notes that |name| gave |result|, unless something has failed already.
static void cuda_dnn_note(tfrt_cuda_dnn_call_t* call, tfrt_cudnn_status_t result,
                          const char* name) {
  if (call->status) return;
  call->status = tfrt_cuda_dnn_status(call->dnn->api, call->dnn->base.device, result, name);
}

int tfrt_cuda_dnn_type(tfrt_dtype_t dtype) {
  if (dtype == TFRT_DTYPE_F64) return TFRT_CUDNN_DATA_DOUBLE;
  if (dtype == TFRT_DTYPE_F32) return TFRT_CUDNN_DATA_FLOAT;
  if (dtype == TFRT_DTYPE_I8) return TFRT_CUDNN_DATA_INT8;
  if (dtype == TFRT_DTYPE_I32) return TFRT_CUDNN_DATA_INT32;
  return dtype == TFRT_DTYPE_F16 ? TFRT_CUDNN_DATA_HALF : TFRT_CUDNN_DATA_BFLOAT16;
}

// Makes tensor |index| of |call| look like |form|.
static void cuda_dnn_add_tensor(tfrt_cuda_dnn_call_t* call, int index,
                                const tfrt_dnn_tensor_t* form) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  if (call->status) return;
  cuda_dnn_note(call, api->CreateTensorDescriptor(&call->tensors[index]),
                "cudnnCreateTensorDescriptor");
  if (call->status) return;
  cuda_dnn_note(call,
                api->SetTensorNdDescriptor(call->tensors[index], tfrt_cuda_dnn_type(form->dtype),
                                           (int)form->rank, form->sizes, form->steps),
                "cudnnSetTensorNdDescriptor");
}

static void cuda_dnn_add_filter(tfrt_cuda_dnn_call_t* call, const tfrt_dnn_filter_t* form) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  if (call->status) return;
  cuda_dnn_note(call, api->CreateFilterDescriptor(&call->filter), "cudnnCreateFilterDescriptor");
  if (call->status) return;
  int format = form->has_channels_last ? TFRT_CUDNN_CHANNELS_LAST : TFRT_CUDNN_CHANNELS_FIRST;
  cuda_dnn_note(call,
                api->SetFilterNdDescriptor(call->filter, tfrt_cuda_dnn_type(form->dtype), format,
                                           (int)form->rank, form->sizes),
                "cudnnSetFilterNdDescriptor");
}

static void cuda_dnn_add_pooling(tfrt_cuda_dnn_call_t* call, const tfrt_dnn_pooling_t* form) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  if (call->status) return;
  cuda_dnn_note(call, api->CreatePoolingDescriptor(&call->pooling), "cudnnCreatePoolingDescriptor");
  if (call->status) return;
  cuda_dnn_note(
      call,
      api->SetPoolingNdDescriptor(call->pooling, (int)form->mode, form->propagates_nan,
                                  (int)form->space, form->window, form->padding, form->steps),
      "cudnnSetPoolingNdDescriptor");
}

static void cuda_dnn_add_convolution(tfrt_cuda_dnn_call_t* call,
                                     const tfrt_dnn_convolution_t* form) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  if (call->status) return;
  cuda_dnn_note(call, api->CreateConvolutionDescriptor(&call->convolution),
                "cudnnCreateConvolutionDescriptor");
  if (call->status) return;
  int mode = form->is_cross_correlation ? TFRT_CUDNN_CROSS_CORRELATION : TFRT_CUDNN_CONVOLUTION;
  cuda_dnn_note(call,
                api->SetConvolutionNdDescriptor(call->convolution, (int)form->space, form->padding,
                                                form->steps, form->dilation, mode,
                                                tfrt_cuda_dnn_type(form->compute)),
                "cudnnSetConvolutionNdDescriptor");
  if (call->status) return;
  cuda_dnn_note(call, api->SetConvolutionMathType(call->convolution, (int)form->math),
                "cudnnSetConvolutionMathType");
}

static void cuda_dnn_add_activation(tfrt_cuda_dnn_call_t* call, const tfrt_dnn_activation_t* form) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  if (call->status) return;
  cuda_dnn_note(call, api->CreateActivationDescriptor(&call->activation),
                "cudnnCreateActivationDescriptor");
  if (call->status) return;
  cuda_dnn_note(call,
                api->SetActivationDescriptor(call->activation, (int)form->mode,
                                             form->propagates_nan, form->coefficient),
                "cudnnSetActivationDescriptor");
}

// --- Calls -------------------------------------------------------------------------------

// Begins |call| in |stream|: the handle is the caller's until cuda_dnn_end(), unless this
// fails.
static tfrt_status_t cuda_dnn_begin(tfrt_cuda_dnn_call_t* call, tfrt_device_dnn_t* base,
                                    tfrt_device_stream_t* stream) {
  *call = (tfrt_cuda_dnn_call_t){.dnn = TFRT_CONTAINER_OF(base, tfrt_cuda_dnn_t, base)};
  tfrt_cuda_dnn_t* dnn = call->dnn;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(base->device));
  tfrt_mutex_lock(&dnn->mutex);
  cuda_dnn_note(call, dnn->api->SetStream(dnn->handle, tfrt_cuda_stream_of(stream)->handle),
                "cudnnSetStream");
  return NULL;
}

// Ends |call| and returns what failed first.
static tfrt_status_t cuda_dnn_end(tfrt_cuda_dnn_call_t* call) {
  tfrt_cuda_dnn_t* dnn = call->dnn;
  // Only memory of the host goes here: nobody could do anything about an error.
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(call->tensors); ++i) {
    if (call->tensors[i]) dnn->api->DestroyTensorDescriptor(call->tensors[i]);
  }
  if (call->filter) dnn->api->DestroyFilterDescriptor(call->filter);
  if (call->pooling) dnn->api->DestroyPoolingDescriptor(call->pooling);
  if (call->convolution) dnn->api->DestroyConvolutionDescriptor(call->convolution);
  if (call->activation) dnn->api->DestroyActivationDescriptor(call->activation);
  tfrt_mutex_unlock(&dnn->mutex);
  tfrt_status_release(tfrt_cuda_leave(dnn->base.device, TFRT_CUDA_SUCCESS, ""));
  return call->status;
}

// A number as the library wants it for elements of |dtype|: f64 for f64, else f32.
typedef union tfrt_cuda_dnn_number_u {
  float f32;
  double f64;
} tfrt_cuda_dnn_number_t;

static tfrt_cuda_dnn_number_t cuda_dnn_number(tfrt_dtype_t dtype, double value) {
  if (dtype == TFRT_DTYPE_F64) return (tfrt_cuda_dnn_number_t){.f64 = value};
  return (tfrt_cuda_dnn_number_t){.f32 = (float)value};
}

static void* cuda_dnn_at(const tfrt_dnn_memory_t* memory) {
  return (void*)(uintptr_t)memory->address;
}

static tfrt_status_t cuda_dnn_pool(tfrt_device_dnn_t* base, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_pool_t* pool) {
  tfrt_cuda_dnn_call_t call;
  TFRT_RETURN_IF_ERROR(cuda_dnn_begin(&call, base, stream));
  tfrt_cuda_dnn_number_t alpha = cuda_dnn_number(pool->x_form.dtype, (double)pool->alpha);
  tfrt_cuda_dnn_number_t beta = cuda_dnn_number(pool->x_form.dtype, (double)pool->beta);
  cuda_dnn_add_pooling(&call, &pool->pooling);
  cuda_dnn_add_tensor(&call, 0, &pool->x_form);
  cuda_dnn_add_tensor(&call, 1, &pool->y_form);
  if (!call.status) {
    cuda_dnn_note(&call,
                  call.dnn->api->PoolingForward(call.dnn->handle, call.pooling, &alpha,
                                                call.tensors[0], cuda_dnn_at(&pool->x), &beta,
                                                call.tensors[1], cuda_dnn_at(&pool->y)),
                  "cudnnPoolingForward");
  }
  return cuda_dnn_end(&call);
}

static tfrt_status_t cuda_dnn_unpool(tfrt_device_dnn_t* base, tfrt_device_stream_t* stream,
                                     const tfrt_dnn_unpool_t* unpool) {
  tfrt_cuda_dnn_call_t call;
  TFRT_RETURN_IF_ERROR(cuda_dnn_begin(&call, base, stream));
  tfrt_cuda_dnn_number_t alpha = cuda_dnn_number(unpool->x_form.dtype, (double)unpool->alpha);
  tfrt_cuda_dnn_number_t beta = cuda_dnn_number(unpool->x_form.dtype, (double)unpool->beta);
  cuda_dnn_add_pooling(&call, &unpool->pooling);
  cuda_dnn_add_tensor(&call, 0, &unpool->y_form);
  cuda_dnn_add_tensor(&call, 1, &unpool->dy_form);
  cuda_dnn_add_tensor(&call, 2, &unpool->x_form);
  cuda_dnn_add_tensor(&call, 3, &unpool->dx_form);
  if (!call.status) {
    cuda_dnn_note(&call,
                  call.dnn->api->PoolingBackward(call.dnn->handle, call.pooling, &alpha,
                                                 call.tensors[0], cuda_dnn_at(&unpool->y),
                                                 call.tensors[1], cuda_dnn_at(&unpool->dy),
                                                 call.tensors[2], cuda_dnn_at(&unpool->x), &beta,
                                                 call.tensors[3], cuda_dnn_at(&unpool->dx)),
                  "cudnnPoolingBackward");
  }
  return cuda_dnn_end(&call);
}

// --- Convolution -------------------------------------------------------------------------

// Notes what is wrong with the workspace of |convolve|.
static void cuda_dnn_check_workspace(tfrt_cuda_dnn_call_t* call,
                                     const tfrt_dnn_convolve_t* convolve) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  tfrt_cudnn_handle_t handle = call->dnn->handle;
  tfrt_cudnn_tensor_t x = call->tensors[0];
  tfrt_cudnn_tensor_t y = call->tensors[1];
  size_t size = 0;
  if (call->status) return;
  if (convolve->direction == TFRT_DNN_FORWARD) {
    cuda_dnn_note(call,
                  api->GetConvolutionForwardWorkspaceSize(
                      handle, x, call->filter, call->convolution, y, convolve->algorithm, &size),
                  "cudnnGetConvolutionForwardWorkspaceSize");
  } else if (convolve->direction == TFRT_DNN_BACKWARD_DATA) {
    cuda_dnn_note(call,
                  api->GetConvolutionBackwardDataWorkspaceSize(
                      handle, call->filter, y, call->convolution, x, convolve->algorithm, &size),
                  "cudnnGetConvolutionBackwardDataWorkspaceSize");
  } else {
    cuda_dnn_note(call,
                  api->GetConvolutionBackwardFilterWorkspaceSize(
                      handle, x, y, call->convolution, call->filter, convolve->algorithm, &size),
                  "cudnnGetConvolutionBackwardFilterWorkspaceSize");
  }
  if (call->status || size <= convolve->workspace.buffer->size) return;
  call->status = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "%s: algorithm %d of a convolution needs a workspace of %zu bytes and gets %zu",
      call->dnn->base.device->name, convolve->algorithm, size, convolve->workspace.buffer->size);
}

// Makes the tensor that |convolve| asks for.
static void cuda_dnn_give_convolve(tfrt_cuda_dnn_call_t* call,
                                   const tfrt_dnn_convolve_t* convolve) {
  const tfrt_cudnn_api_t* api = call->dnn->api;
  tfrt_cudnn_handle_t handle = call->dnn->handle;
  tfrt_cudnn_tensor_t x_form = call->tensors[0];
  tfrt_cudnn_tensor_t y_form = call->tensors[1];
  void* x = cuda_dnn_at(&convolve->x);
  void* w = cuda_dnn_at(&convolve->w);
  void* y = cuda_dnn_at(&convolve->y);
  void* workspace = cuda_dnn_at(&convolve->workspace);
  size_t size = convolve->workspace.buffer->size;
  tfrt_cuda_dnn_number_t one = cuda_dnn_number(convolve->convolution.compute, 1);
  tfrt_cuda_dnn_number_t zero = cuda_dnn_number(convolve->convolution.compute, 0);
  int algorithm = convolve->algorithm;
  if (call->status) return;
  if (convolve->direction == TFRT_DNN_FORWARD) {
    cuda_dnn_note(
        call,
        api->ConvolutionForward(handle, &one, x_form, x, call->filter, w, call->convolution,
                                algorithm, workspace, size, &zero, y_form, y),
        "cudnnConvolutionForward");
  } else if (convolve->direction == TFRT_DNN_BACKWARD_DATA) {
    cuda_dnn_note(
        call,
        api->ConvolutionBackwardData(handle, &one, call->filter, w, y_form, y, call->convolution,
                                     algorithm, workspace, size, &zero, x_form, x),
        "cudnnConvolutionBackwardData");
  } else {
    cuda_dnn_note(
        call,
        api->ConvolutionBackwardFilter(handle, &one, x_form, x, y_form, y, call->convolution,
                                       algorithm, workspace, size, &zero, call->filter, w),
        "cudnnConvolutionBackwardFilter");
  }
}

// Makes the descriptors of |convolve|, and checks its workspace.
static void cuda_dnn_add_convolve(tfrt_cuda_dnn_call_t* call, const tfrt_dnn_convolve_t* convolve) {
  cuda_dnn_add_tensor(call, 0, &convolve->x_form);
  cuda_dnn_add_tensor(call, 1, &convolve->y_form);
  cuda_dnn_add_filter(call, &convolve->w_form);
  cuda_dnn_add_convolution(call, &convolve->convolution);
  cuda_dnn_check_workspace(call, convolve);
}

static tfrt_status_t cuda_dnn_convolve(tfrt_device_dnn_t* base, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_convolve_t* convolve) {
  tfrt_cuda_dnn_call_t call;
  TFRT_RETURN_IF_ERROR(cuda_dnn_begin(&call, base, stream));
  cuda_dnn_add_convolve(&call, convolve);
  cuda_dnn_give_convolve(&call, convolve);
  return cuda_dnn_end(&call);
}

static tfrt_status_t cuda_dnn_fuse(tfrt_device_dnn_t* base, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_fuse_t* fuse) {
  tfrt_cuda_dnn_call_t call;
  const tfrt_dnn_convolve_t* convolve = &fuse->convolve;
  TFRT_RETURN_IF_ERROR(cuda_dnn_begin(&call, base, stream));
  tfrt_cuda_dnn_number_t alpha = cuda_dnn_number(convolve->convolution.compute, fuse->alpha);
  tfrt_cuda_dnn_number_t beta = cuda_dnn_number(convolve->convolution.compute, fuse->beta);
  cuda_dnn_add_convolve(&call, convolve);
  cuda_dnn_add_tensor(&call, 2, &fuse->z_form);
  cuda_dnn_add_tensor(&call, 3, &fuse->bias_form);
  cuda_dnn_add_activation(&call, &fuse->activation);
  if (!call.status) {
    cuda_dnn_note(
        &call,
        call.dnn->api->ConvolutionBiasActivationForward(
            call.dnn->handle, &alpha, call.tensors[0], cuda_dnn_at(&convolve->x), call.filter,
            cuda_dnn_at(&convolve->w), call.convolution, convolve->algorithm,
            cuda_dnn_at(&convolve->workspace), convolve->workspace.buffer->size, &beta,
            call.tensors[2], cuda_dnn_at(&fuse->z), call.tensors[3], cuda_dnn_at(&fuse->bias),
            call.activation, call.tensors[1], cuda_dnn_at(&convolve->y)),
        "cudnnConvolutionBiasActivationForward");
  }
  return cuda_dnn_end(&call);
}

// --- Life --------------------------------------------------------------------------------

static void cuda_dnn_destroy(tfrt_device_dnn_t* base) {
  tfrt_cuda_dnn_t* dnn = TFRT_CONTAINER_OF(base, tfrt_cuda_dnn_t, base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    // The library may wait for the device. Resources that it can't free end with the context.
    dnn->api->Destroy(dnn->handle);
    status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
  }
  tfrt_status_release(status);
  tfrt_mutex_deinitialize(&dnn->mutex);
  tfrt_allocator_free(device->platform->allocator, dnn, sizeof(*dnn));
}

static const tfrt_device_dnn_vtable_t dnn_vtable = {
    .destroy = cuda_dnn_destroy,
    .pool = cuda_dnn_pool,
    .unpool = cuda_dnn_unpool,
    .convolve = cuda_dnn_convolve,
    .fuse = cuda_dnn_fuse,
    .build = tfrt_cuda_dnn_build,
};

tfrt_status_t tfrt_cuda_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn) {
  const tfrt_cudnn_api_t* api;
  TFRT_RETURN_IF_ERROR(cuda_dnn_open(tfrt_cuda_platform_of(device), &api));
  tfrt_cuda_dnn_t* dnn = tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*dnn));
  if (!dnn) return tfrt_status_out_of_memory();
  dnn->api = api;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cudnn_status_t result = api->Create(&dnn->handle);
    status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
    if (!status) status = tfrt_cuda_dnn_status(api, device, result, "cudnnCreate");
  }
  if (status) {
    tfrt_allocator_free(device->platform->allocator, dnn, sizeof(*dnn));
    return status;
  }
  tfrt_mutex_initialize(&dnn->mutex);
  tfrt_device_dnn_initialize(&dnn->base, &dnn_vtable, device);
  *out_dnn = &dnn->base;
  return NULL;
}
