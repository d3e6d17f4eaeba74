// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/device_types.h"

#include "devices/device_blas.h"
#include "devices/device_ccl.h"
#include "devices/device_dnn_plan.h"
#include "kernels/device/tensor_streams.h"

static _Atomic tfrt_type_id_t type_ids[TFRT_GPU_TYPE_COUNT];

// --- Destructors -----------------------------------------------------------------

static void gpu_destroy_device(void* payload) { tfrt_device_release(*(tfrt_device_t**)payload); }
static void gpu_destroy_context(void* payload) {
  tfrt_gpu_context_release(*(tfrt_gpu_context_t**)payload);
}
static void gpu_destroy_stream(void* payload) {
  tfrt_gpu_stream_t* stream = payload;
  tfrt_device_stream_release(stream->stream);
  tfrt_gpu_context_release(stream->context);
}
static void gpu_destroy_event(void* payload) {
  tfrt_device_event_release(*(tfrt_device_event_t**)payload);
}
static void gpu_destroy_allocator(void* payload) {
  tfrt_device_allocator_release(*(tfrt_device_allocator_t**)payload);
}
static void gpu_destroy_buffer(void* payload) {
  tfrt_device_buffer_release(*(tfrt_device_buffer_t**)payload);
}
static void gpu_destroy_module(void* payload) {
  tfrt_device_module_release(*(tfrt_device_module_t**)payload);
}
static void gpu_destroy_function(void* payload) {
  tfrt_device_function_release(*(tfrt_device_function_t**)payload);
}

static void gpu_destroy_tensor(void* payload) {
  tfrt_device_buffer_release(((tfrt_gpu_tensor_t*)payload)->buffer);
}

static void gpu_destroy_graph(void* payload) { tfrt_gpu_graph_free(*(tfrt_gpu_graph_t**)payload); }

static void gpu_destroy_blas(void* payload) {
  tfrt_device_blas_release(*(tfrt_device_blas_t**)payload);
}

static void gpu_destroy_dnn(void* payload) {
  tfrt_device_dnn_release(*(tfrt_device_dnn_t**)payload);
}

static void gpu_destroy_dnn_plan(void* payload) {
  tfrt_device_dnn_plan_release(*(tfrt_device_dnn_plan_t**)payload);
}

static void gpu_destroy_ccl(void* payload) { tfrt_gpu_ccl_free(*(tfrt_gpu_ccl_t**)payload); }

// --- Ids of groups -----------------------------------------------------------------

static tfrt_status_t gpu_encode_ccl_id(const void* payload, tfrt_encoding_t* out_encoding) {
  out_encoding->header_size = 0;
  out_encoding->body = payload;
  out_encoding->body_size = sizeof(tfrt_ccl_id_t);
  return NULL;
}

static tfrt_status_t gpu_decode_ccl_id(const uint8_t* header, size_t header_size, size_t body_size,
                                       tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  *out_body = NULL;
  if (header_size != 0 || body_size != sizeof(tfrt_ccl_id_t)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the id of a group of devices came as %zu and %zu bytes; it has 0 "
                              "and %zu",
                              header_size, body_size, sizeof(tfrt_ccl_id_t));
  }
  *out_body = payload;
  return NULL;
}

static const tfrt_codec_t ccl_id_codec = {gpu_encode_ccl_id, gpu_decode_ccl_id, NULL};

// --- The table -----------------------------------------------------------------------

static const tfrt_type_t types[TFRT_GPU_TYPE_COUNT] = {
    [TFRT_GPU_DEVICE] = {.name = "!tfrt_gpu.device",
                         .size = sizeof(void*),
                         .destroy = gpu_destroy_device},
    [TFRT_GPU_CONTEXT] = {.name = "!tfrt_gpu.context",
                          .size = sizeof(void*),
                          .destroy = gpu_destroy_context},
    [TFRT_GPU_STREAM] = {.name = "!tfrt_gpu.stream",
                         .size = sizeof(tfrt_gpu_stream_t),
                         .destroy = gpu_destroy_stream},
    [TFRT_GPU_EVENT] = {.name = "!tfrt_gpu.event",
                        .size = sizeof(void*),
                        .destroy = gpu_destroy_event},
    [TFRT_GPU_ALLOCATOR] = {.name = "!tfrt_gpu.allocator",
                            .size = sizeof(void*),
                            .destroy = gpu_destroy_allocator},
    [TFRT_GPU_BUFFER] = {.name = "!tfrt_gpu.buffer",
                         .size = sizeof(void*),
                         .flags = TFRT_TYPE_FLAG_MUTABLE,
                         .destroy = gpu_destroy_buffer},
    [TFRT_GPU_MODULE] = {.name = "!tfrt_gpu.module",
                         .size = sizeof(void*),
                         .destroy = gpu_destroy_module},
    [TFRT_GPU_FUNCTION] = {.name = "!tfrt_gpu.function",
                           .size = sizeof(void*),
                           .destroy = gpu_destroy_function},
    [TFRT_GPU_TENSOR] = {.name = "!tfrt_gpu.tensor",
                         .size = sizeof(tfrt_gpu_tensor_t),
                         .flags = TFRT_TYPE_FLAG_MUTABLE,
                         .destroy = gpu_destroy_tensor,
                         .codec = &tfrt_gpu_tensor_codec,
                         .streams = &tfrt_gpu_tensor_streams},
    [TFRT_GPU_GRAPH] = {.name = "!tfrt_gpu.graph",
                        .size = sizeof(void*),
                        .destroy = gpu_destroy_graph},
    [TFRT_GPU_BLAS] = {.name = "!tfrt_gpu.blas.handle",
                       .size = sizeof(void*),
                       .destroy = gpu_destroy_blas},
    [TFRT_GPU_BLAS_ALGORITHM] = {.name = "!tfrt_gpu.blas.gemm.algo", .size = sizeof(int32_t)},
    [TFRT_GPU_DNN] = {.name = "!tfrt_gpu.dnn.handle",
                      .size = sizeof(void*),
                      .destroy = gpu_destroy_dnn},
    [TFRT_GPU_DNN_TENSOR] = {.name = "!tfrt_gpu.dnn.tensor.descriptor",
                             .size = sizeof(tfrt_dnn_tensor_t)},
    [TFRT_GPU_DNN_FILTER] = {.name = "!tfrt_gpu.dnn.filter.descriptor",
                             .size = sizeof(tfrt_dnn_filter_t)},
    [TFRT_GPU_DNN_POOLING] = {.name = "!tfrt_gpu.dnn.pooling.descriptor",
                              .size = sizeof(tfrt_dnn_pooling_t)},
    [TFRT_GPU_DNN_CONVOLUTION] = {.name = "!tfrt_gpu.dnn.convolution.descriptor",
                                  .size = sizeof(tfrt_dnn_convolution_t)},
    [TFRT_GPU_DNN_ACTIVATION] = {.name = "!tfrt_gpu.dnn.activation.descriptor",
                                 .size = sizeof(tfrt_dnn_activation_t)},
    [TFRT_GPU_DNN_ALGORITHM] = {.name = "!tfrt_gpu.dnn.convolution.algorithm",
                                .size = sizeof(int32_t)},
    [TFRT_GPU_DNN_PLAN] = {.name = "!tfrt_gpu.dnn.convolution_plan",
                           .size = sizeof(void*),
                           .destroy = gpu_destroy_dnn_plan},
    [TFRT_GPU_CCL] = {.name = "!tfrt_gpu.ccl.handle",
                      .size = sizeof(void*),
                      .destroy = gpu_destroy_ccl},
    [TFRT_GPU_CCL_ID] = {.name = "!tfrt_gpu.ccl.id",
                         .size = sizeof(tfrt_ccl_id_t),
                         .codec = &ccl_id_codec},
};

tfrt_status_t tfrt_gpu_types_register(void) {
  for (int i = 0; i < TFRT_GPU_TYPE_COUNT; ++i) {
    tfrt_type_id_t id;
    TFRT_RETURN_IF_ERROR(tfrt_type_register(&types[i], &id));
    atomic_store_explicit(&type_ids[i], id, memory_order_relaxed);
  }
  return NULL;
}

tfrt_type_id_t tfrt_gpu_type_id(tfrt_gpu_type_t type) {
  return atomic_load_explicit(&type_ids[type], memory_order_relaxed);
}

// --- Values ------------------------------------------------------------------------

tfrt_async_value_t* tfrt_gpu_value_create_take(tfrt_gpu_type_t type, void* object) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_gpu_type_id(type));
  if (value) {
    *(void**)tfrt_async_value_payload(value) = object;
    return value;
  }
  types[type].destroy(&object);
  return tfrt_async_value_out_of_memory();
}

tfrt_async_value_t* tfrt_gpu_value_create_stream_take(tfrt_device_stream_t* stream,
                                                      tfrt_gpu_context_t* context) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_gpu_type_id(TFRT_GPU_STREAM));
  tfrt_gpu_stream_t payload = {stream, tfrt_gpu_context_retain(context)};
  if (value) {
    *(tfrt_gpu_stream_t*)tfrt_async_value_payload(value) = payload;
    return value;
  }
  gpu_destroy_stream(&payload);
  return tfrt_async_value_out_of_memory();
}

tfrt_async_value_t* tfrt_gpu_value_create_tensor(tfrt_device_buffer_t* buffer, tfrt_dtype_t dtype,
                                                 const tfrt_shape_t* shape) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_gpu_type_id(TFRT_GPU_TENSOR));
  if (!value) return tfrt_async_value_out_of_memory();
  *(tfrt_gpu_tensor_t*)tfrt_async_value_payload(value) =
      (tfrt_gpu_tensor_t){tfrt_device_buffer_retain(buffer), dtype, *shape};
  return value;
}

void tfrt_gpu_finish_take(tfrt_kernel_frame_t* frame, tfrt_status_t status) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  }
}

// --- Contexts ------------------------------------------------------------------------

tfrt_status_t tfrt_gpu_context_create(tfrt_device_t* device, tfrt_gpu_context_t** out_context) {
  *out_context = NULL;
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_gpu_context_t* context = tfrt_allocator_allocate_zeroed(allocator, sizeof(*context));
  if (!context) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_HOST, &context->staging);
  if (status) {
    tfrt_allocator_free(allocator, context, sizeof(*context));
    return status;
  }
  tfrt_ref_count_initialize(&context->ref_count);
  context->device = tfrt_device_retain(device);
  *out_context = context;
  return NULL;
}

tfrt_gpu_context_t* tfrt_gpu_context_retain(tfrt_gpu_context_t* context) {
  tfrt_ref_count_increment(&context->ref_count);
  return context;
}

void tfrt_gpu_context_release(tfrt_gpu_context_t* context) {
  if (!context || !tfrt_ref_count_decrement(&context->ref_count)) return;
  tfrt_device_t* device = context->device;
  tfrt_device_allocator_release(context->staging);
  tfrt_allocator_free(device->platform->allocator, context, sizeof(*context));
  tfrt_device_release(device);
}
