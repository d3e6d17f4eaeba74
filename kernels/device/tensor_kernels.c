// SPDX-License-Identifier: Apache-2.0
//
// Tensors of devices: a buffer with a shape and a type; and what is printed of them, and of
// buffers.
#include <string.h>

#include "host_runtime/base/ascii.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/device/device_job.h"
#include "kernels/device/host_devices.h"
#include "kernels/device/kernel_groups.h"

// --- Making --------------------------------------------------------------------------

static void gpu_tensor_make(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_device_buffer_t* buffer = tfrt_gpu_argument(frame, 0);
  const tfrt_shape_t* shape = tfrt_kernel_frame_payload(frame, 1);
  int64_t count = 0;
  tfrt_status_t status = tfrt_device_buffer_check(buffer, 0, buffer->size);
  if (!status) status = tfrt_shape_count_elements(shape, &count);
  if (!status && ((uint64_t)count > buffer->size / tfrt_dtype_size(dtype) ||
                  (uint64_t)count * tfrt_dtype_size(dtype) != buffer->size)) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "a buffer of %zu bytes is no tensor of %s with shape %s",
                                buffer->size, tfrt_dtype_name(dtype), tfrt_shape_text(shape).text);
  }
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_tensor(buffer, dtype, shape));
}

void tfrt_gpu_tensor_make_i8(tfrt_kernel_frame_t* frame) { gpu_tensor_make(frame, TFRT_DTYPE_I8); }
void tfrt_gpu_tensor_make_i32(tfrt_kernel_frame_t* frame) {
  gpu_tensor_make(frame, TFRT_DTYPE_I32);
}
void tfrt_gpu_tensor_make_i64(tfrt_kernel_frame_t* frame) {
  gpu_tensor_make(frame, TFRT_DTYPE_I64);
}
void tfrt_gpu_tensor_make_f32(tfrt_kernel_frame_t* frame) {
  gpu_tensor_make(frame, TFRT_DTYPE_F32);
}
void tfrt_gpu_tensor_make_f64(tfrt_kernel_frame_t* frame) {
  gpu_tensor_make(frame, TFRT_DTYPE_F64);
}

// --- Looking -------------------------------------------------------------------------

void tfrt_gpu_tensor_get_buffer(tfrt_kernel_frame_t* frame) {
  const tfrt_gpu_tensor_t* tensor = tfrt_kernel_frame_payload(frame, 0);
  tfrt_kernel_frame_set(
      frame, 0,
      tfrt_gpu_value_create_take(TFRT_GPU_BUFFER, tfrt_device_buffer_retain(tensor->buffer)));
}

static tfrt_status_t gpu_keep_host_tensor(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  const tfrt_gpu_tensor_t* tensor = tfrt_gpu_job_payload(job, 0);
  tfrt_dense_host_tensor_t host;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(tensor->dtype, &tensor->shape,
                                                         job->host->allocator, &host));
  if (job->staging) {
    memcpy(tfrt_dense_host_tensor_data(&host), tfrt_device_buffer_host_data(job->staging),
           tensor->buffer->size);
  }
  *out_value = tfrt_async_value_create_tensor_take(&host);
  return NULL;
}

// Begins to read |buffer| through its device's port.
static tfrt_status_t gpu_read_all(tfrt_host_context_t* host, tfrt_device_buffer_t* buffer,
                                  tfrt_device_buffer_t** out_staging,
                                  tfrt_async_value_t** out_ready) {
  tfrt_device_manager_t* manager = tfrt_host_devices_find(host);
  tfrt_device_port_t* port;
  if (!manager) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices");
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_check(buffer, 0, buffer->size));
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_port(manager, buffer->device, &port));
  tfrt_status_t status = tfrt_device_port_follow(port, buffer);
  if (!status) {
    status = tfrt_device_port_read(port, buffer, 0, buffer->size, out_staging, out_ready);
  }
  tfrt_device_port_release(port);
  return status;
}

void tfrt_gpu_tensor_to_host(tfrt_kernel_frame_t* frame) {
  const tfrt_gpu_tensor_t* tensor = tfrt_kernel_frame_payload(frame, 0);
  tfrt_device_buffer_t* staging = NULL;
  tfrt_async_value_t* ready = NULL;
  tfrt_status_t status = NULL;
  if (tensor->buffer->size > 0) {
    status = gpu_read_all(frame->context->host, tensor->buffer, &staging, &ready);
  }
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  if (!ready) ready = tfrt_async_value_ready_chain();
  tfrt_gpu_job_start_after_take(frame, ready, staging, gpu_keep_host_tensor);
}

// --- Printing ------------------------------------------------------------------------

static void gpu_append_upper(tfrt_string_builder_t* line, const char* text) {
  for (; *text; ++text) {
    tfrt_string_builder_append_fill(line, tfrt_ascii_to_upper(*text), 1);
  }
}

// Appends "pointer=0x7f0123400 (CUDA)".
static void gpu_append_pointer(tfrt_string_builder_t* line, const tfrt_device_buffer_t* buffer) {
  tfrt_string_builder_append_format(line, "pointer=0x%llx (", (unsigned long long)buffer->address);
  gpu_append_upper(line, buffer->device->platform->name);
  tfrt_string_builder_append_text(line, ")");
}

// Prints |line|, which is given back; result 0 is the chain of that.
static void gpu_print_take(tfrt_kernel_frame_t* frame, tfrt_string_builder_t* line) {
  tfrt_status_t status = tfrt_string_builder_status(line);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_string_view_t text = tfrt_string_builder_view(line);
    tfrt_kernel_frame_set(frame, 0, tfrt_execution_context_print(frame->context, text));
  }
  tfrt_string_builder_deinitialize(line);
}

// A buffer that was freed can be printed, too.
void tfrt_gpu_mem_print_metadata(tfrt_kernel_frame_t* frame) {
  const tfrt_device_buffer_t* buffer = tfrt_gpu_argument(frame, 0);
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_text(&line, "GpuBuffer<");
  gpu_append_pointer(&line, buffer);
  tfrt_string_builder_append_format(&line, ", size=%zu>", buffer->size);
  gpu_print_take(frame, &line);
}

void tfrt_gpu_tensor_print_metadata(tfrt_kernel_frame_t* frame) {
  const tfrt_gpu_tensor_t* tensor = tfrt_kernel_frame_payload(frame, 0);
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_text(&line, "DenseGpuTensor<dtype=");
  gpu_append_upper(&line, tfrt_dtype_name(tensor->dtype));
  tfrt_string_builder_append_text(&line, ", shape=");
  tfrt_shape_print(&tensor->shape, &line);
  tfrt_string_builder_append_text(&line, ", ");
  gpu_append_pointer(&line, tensor->buffer);
  tfrt_string_builder_append_text(&line, ">");
  gpu_print_take(frame, &line);
}
