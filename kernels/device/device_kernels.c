// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/device_kernels.h"

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/device/device_job.h"
#include "kernels/device/host_devices.h"
#include "kernels/device/kernel_groups.h"
#include "kernels/device/ops.h"

// --- Devices and contexts ------------------------------------------------------------

static tfrt_status_t gpu_keep_device(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_device_manager_t* manager = tfrt_host_devices_find(job->host);
  if (!manager) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices");
  }
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_platform(
      manager, tfrt_bef_attribute_string(job->attributes[0]), &platform));
  TFRT_RETURN_IF_ERROR(tfrt_device_platform_device(
      platform, *(const int32_t*)tfrt_gpu_job_payload(job, 0), &device));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_DEVICE, device);
  return NULL;
}

static void gpu_device_get(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_device);
}

static tfrt_status_t gpu_keep_current(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_device_t* device;
  TFRT_RETURN_IF_ERROR(tfrt_host_devices_get(job->host, tfrt_string_view_of(job->device), &device));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_DEVICE, device);
  return NULL;
}

static void gpu_device_current(tfrt_kernel_frame_t* frame) {
  if (frame->context->device) {
    tfrt_gpu_job_start(frame, gpu_keep_current);
    return;
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION,
                         "no call has placed this function on a device: call it with {device = "
                         "\"cuda:0\"}");
}

// Where a function works that no call has placed on a device.
#define TFRT_GPU_DEFAULT_DEVICE "cpu:0"

static tfrt_status_t gpu_keep_default(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  const char* name = job->device ? job->device : TFRT_GPU_DEFAULT_DEVICE;
  tfrt_device_t* device;
  TFRT_RETURN_IF_ERROR(tfrt_host_devices_get(job->host, tfrt_string_view_of(name), &device));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_DEVICE, device);
  return NULL;
}

static void gpu_device_default(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_default);
}

static void gpu_context_primary(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_context_t* context;
  tfrt_status_t status = tfrt_gpu_context_create(tfrt_gpu_argument(frame, 0), &context);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_CONTEXT, context));
}

// --- Streams -------------------------------------------------------------------------

static void gpu_stream_create(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_context_t* context = tfrt_gpu_argument(frame, 0);
  tfrt_device_stream_t* stream;
  tfrt_status_t status = tfrt_device_create_stream(context->device, &stream);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_stream_take(stream, context));
}

static void gpu_stream_get_context(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_context_t* context = tfrt_gpu_stream_argument(frame, 0)->context;
  tfrt_kernel_frame_set(
      frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_CONTEXT, tfrt_gpu_context_retain(context)));
}

static void gpu_stream_wait(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_finish_take(frame, tfrt_device_stream_wait(tfrt_gpu_stream_argument(frame, 0)->stream,
                                                      tfrt_gpu_argument(frame, 1)));
}

static tfrt_status_t gpu_keep_chain(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  (void)job;
  *out_value = tfrt_async_value_ready_chain();
  return NULL;
}

// An error that the device ends with becomes one of this kernel, with its place.
static void gpu_stream_synchronize(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* end = tfrt_device_stream_await(tfrt_gpu_stream_argument(frame, 0)->stream);
  tfrt_gpu_job_start_after_take(frame, end, NULL, gpu_keep_chain);
}

// --- Events --------------------------------------------------------------------------

static void gpu_event_create(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_context_t* context = tfrt_gpu_argument(frame, 0);
  tfrt_device_event_t* event;
  tfrt_status_t status = tfrt_device_create_event(context->device, false, &event);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_EVENT, event));
}

static void gpu_event_record(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_finish_take(frame, tfrt_device_stream_record(tfrt_gpu_stream_argument(frame, 1)->stream,
                                                        tfrt_gpu_argument(frame, 0)));
}

static void gpu_event_synchronize(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* point = tfrt_device_event_await(tfrt_gpu_argument(frame, 0));
  tfrt_gpu_job_start_after_take(frame, point, NULL, gpu_keep_chain);
}

// --- Any value -----------------------------------------------------------------------

static void gpu_alias(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
}

// --- Registration --------------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt_gpu.device.get", gpu_device_get},
    {"tfrt_gpu.device.current", gpu_device_current},
    {"tfrt_gpu.device.default", gpu_device_default},
    {"tfrt_gpu.context.primary", gpu_context_primary},
    {"tfrt_gpu.context.create", gpu_context_primary},
    {"tfrt_gpu.stream.create", gpu_stream_create},
    {"tfrt_gpu.stream.get_context", gpu_stream_get_context},
    {"tfrt_gpu.stream.wait", gpu_stream_wait},
    {"tfrt_gpu.stream.synchronize", gpu_stream_synchronize},
    {"tfrt_gpu.event.create", gpu_event_create},
    {"tfrt_gpu.event.record", gpu_event_record},
    {"tfrt_gpu.event.synchronize", gpu_event_synchronize},
    {"tfrt_gpu.allocator.create", tfrt_gpu_allocator_create},
    {"tfrt_gpu.mem.allocate", tfrt_gpu_mem_allocate},
    {"tfrt_gpu.mem.allocate_host", tfrt_gpu_mem_allocate_host},
    {"tfrt_gpu.mem.deallocate", tfrt_gpu_mem_deallocate},
    {"tfrt_gpu.mem.copy", tfrt_gpu_mem_copy},
    {"tfrt_gpu.mem.set", tfrt_gpu_mem_set},
    {"tfrt_gpu.mem.register", tfrt_gpu_mem_register},
    {"tfrt_gpu.mem.view", tfrt_gpu_mem_view},
    {"tfrt_gpu.mem.load", tfrt_gpu_mem_load},
    {"tfrt_gpu.mem.print_metadata", tfrt_gpu_mem_print_metadata},
    {"tfrt_gpu.tensor.make.i8", tfrt_gpu_tensor_make_i8},
    {"tfrt_gpu.tensor.make.i32", tfrt_gpu_tensor_make_i32},
    {"tfrt_gpu.tensor.make.i64", tfrt_gpu_tensor_make_i64},
    {"tfrt_gpu.tensor.make.f32", tfrt_gpu_tensor_make_f32},
    {"tfrt_gpu.tensor.make.f64", tfrt_gpu_tensor_make_f64},
    {"tfrt_gpu.tensor.get_buffer", tfrt_gpu_tensor_get_buffer},
    {"tfrt_gpu.tensor.to_host", tfrt_gpu_tensor_to_host},
    {"tfrt_gpu.tensor.print_metadata", tfrt_gpu_tensor_print_metadata},
    {"tfrt_gpu.module.load", tfrt_gpu_module_load},
    {"tfrt_gpu.module.load_file", tfrt_gpu_module_load_file},
    {"tfrt_gpu.module.get_global", tfrt_gpu_module_get_global},
    {"tfrt_gpu.module.get_function", tfrt_gpu_module_get_function},
    {"tfrt_gpu.function.launch", tfrt_gpu_function_launch},
    {"tfrt_gpu.function.launch.cooperative", tfrt_gpu_function_launch_cooperative},
    {"tfrt_gpu.function.launch.priority", tfrt_gpu_function_launch_priority},
    {"tfrt_gpu.function.launch.cluster", tfrt_gpu_function_launch_cluster},
    {"tfrt_gpu.graph.create", tfrt_gpu_graph_create},
    {"tfrt_gpu.graph.call", tfrt_gpu_graph_call},
    {"tfrt_gpu.alias", gpu_alias},
};

tfrt_status_t tfrt_device_kernels_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_gpu_types_register());
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_registry_add_all(registry, &tfrt_device_ops, kernels, TFRT_ARRAY_SIZE(kernels)));
  TFRT_RETURN_IF_ERROR(tfrt_blas_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_dnn_kernels_register(registry));
  return tfrt_ccl_kernels_register(registry);
}
