// SPDX-License-Identifier: Apache-2.0
//
// Memory of devices: making, freeing, copying and filling it.
#include <string.h>

#include "devices/device_graph.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/device/device_job.h"
#include "kernels/device/kernel_groups.h"

// Sets result 0 to |buffer| (consumed), or fails the frame with |status| (consumed).
static void gpu_set_buffer_take(tfrt_kernel_frame_t* frame, tfrt_status_t status,
                                tfrt_device_buffer_t* buffer) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_BUFFER, buffer));
  }
}

// --- Allocating ----------------------------------------------------------------------

void tfrt_gpu_allocator_create(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_context_t* context = tfrt_gpu_argument(frame, 0);
  tfrt_device_allocator_t* allocator;
  tfrt_status_t status = tfrt_device_allocator_create(context->device, &allocator);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_ALLOCATOR, allocator));
}

// Fails |frame| if |size| is no size; returns whether it is one.
static bool gpu_check_size(tfrt_kernel_frame_t* frame, int64_t size) {
  if (size >= 0) return true;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a buffer of %lld bytes",
                         (long long)size);
  return false;
}

void tfrt_gpu_mem_allocate(tfrt_kernel_frame_t* frame) {
  int64_t size = tfrt_kernel_frame_i64(frame, 2);
  if (!gpu_check_size(frame, size)) return;
  tfrt_device_buffer_t* buffer;
  tfrt_status_t status = tfrt_device_allocator_allocate(tfrt_gpu_argument(frame, 0),
                                                        tfrt_gpu_stream_argument(frame, 1)->stream,
                                                        (size_t)size, &buffer);
  gpu_set_buffer_take(frame, status, buffer);
}

static tfrt_status_t gpu_keep_host_buffer(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  int64_t size = *(const int64_t*)tfrt_gpu_job_payload(job, 1);
  tfrt_device_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(
      tfrt_device_allocator_allocate(context->staging, NULL, (size_t)size, &buffer));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_BUFFER, buffer);
  return NULL;
}

void tfrt_gpu_mem_allocate_host(tfrt_kernel_frame_t* frame) {
  if (!gpu_check_size(frame, tfrt_kernel_frame_i64(frame, 1))) return;
  tfrt_gpu_job_start(frame, gpu_keep_host_buffer);
}

void tfrt_gpu_mem_deallocate(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_finish_take(frame, tfrt_device_buffer_free(tfrt_gpu_argument(frame, 0),
                                                      tfrt_gpu_stream_argument(frame, 1)->stream));
}

static tfrt_status_t gpu_keep_pinned(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  tfrt_device_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_create_pinned(
      context->device, *(tfrt_host_buffer_t**)tfrt_gpu_job_payload(job, 1), &buffer));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_BUFFER, buffer);
  return NULL;
}

void tfrt_gpu_mem_register(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_pinned);
}

void tfrt_gpu_mem_view(tfrt_kernel_frame_t* frame) {
  uint64_t offset = *(const uint64_t*)tfrt_kernel_frame_payload(frame, 1);
  uint64_t size = *(const uint64_t*)tfrt_kernel_frame_payload(frame, 2);
  tfrt_device_buffer_t* view;
  tfrt_status_t status =
      tfrt_device_buffer_create_view(tfrt_gpu_argument(frame, 0), offset, size, &view);
  gpu_set_buffer_take(frame, status, view);
}

// --- Copying -------------------------------------------------------------------------

// One side of a copy: a device's buffer, or one of the host that isn't pinned.
typedef struct tfrt_gpu_side_s {
  tfrt_device_buffer_t* buffer;  // +0; NULL: the host's
  tfrt_host_buffer_t* host;      // +0
  size_t size;
} tfrt_gpu_side_t;

static tfrt_status_t gpu_get_side(tfrt_kernel_frame_t* frame, uint32_t index,
                                  tfrt_gpu_side_t* out_side) {
  tfrt_type_id_t type = frame->arguments[index]->type_id;
  *out_side = (tfrt_gpu_side_t){0};
  if (type == tfrt_gpu_type_id(TFRT_GPU_BUFFER)) {
    out_side->buffer = tfrt_gpu_argument(frame, index);
    out_side->size = out_side->buffer->size;
    return NULL;
  }
  if (type == tfrt_host_buffer_type_id()) {
    out_side->host = tfrt_gpu_argument(frame, index);
    out_side->size = out_side->host->size;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s is no buffer",
                            tfrt_type_get(type)->name);
}

// A target of the host gets its bytes when they are here.
static tfrt_status_t gpu_keep_copy(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_host_buffer_t* target = *(tfrt_host_buffer_t**)tfrt_gpu_job_payload(job, 0);
  memcpy(target->data, tfrt_device_buffer_host_data(job->staging), target->size);
  *out_value = tfrt_async_value_ready_chain();
  return NULL;
}

// Copies through |staging| (consumed), pinned memory, where a side isn't pinned itself.
static void gpu_copy_staged_take(tfrt_kernel_frame_t* frame, const tfrt_gpu_side_t* target,
                                 const tfrt_gpu_side_t* source, tfrt_device_buffer_t* staging) {
  tfrt_device_stream_t* stream = tfrt_gpu_stream_argument(frame, 2)->stream;
  if (source->host) {
    memcpy(tfrt_device_buffer_host_data(staging), source->host->data, source->size);
  }
  tfrt_status_t status =
      tfrt_device_stream_copy(stream, target->buffer ? target->buffer : staging, 0,
                              source->buffer ? source->buffer : staging, 0, source->size);
  if (!status && target->host) {
    tfrt_gpu_job_start_after_take(frame, tfrt_device_stream_await(stream), staging, gpu_keep_copy);
    return;
  }
  // The copy that reads the staging memory is in the stream: that keeps it.
  tfrt_device_buffer_release(staging);
  tfrt_gpu_finish_take(frame, status);
}

void tfrt_gpu_mem_copy(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_stream_t* stream = tfrt_gpu_stream_argument(frame, 2);
  tfrt_gpu_side_t target;
  tfrt_gpu_side_t source = {0};
  tfrt_device_buffer_t* staging = NULL;
  tfrt_status_t status = gpu_get_side(frame, 0, &target);
  if (!status) status = gpu_get_side(frame, 1, &source);
  if (!status && target.size != source.size) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%zu bytes are copied to a buffer of %zu bytes", source.size,
                                target.size);
  }
  if (!status && target.host && source.host) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "neither of two buffers is a device's: this is no copy for it");
  }
  if (!status && !(target.buffer && source.buffer)) {
    status = tfrt_device_capture_refuse(stream->stream, "a copy of memory that isn't pinned");
  }
  if (!status && target.buffer && source.buffer) {
    tfrt_gpu_finish_take(frame, tfrt_device_stream_copy(stream->stream, target.buffer, 0,
                                                        source.buffer, 0, source.size));
    return;
  }
  if (!status && source.size == 0) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
    return;
  }
  if (!status) {
    status = tfrt_device_allocator_allocate(stream->context->staging, NULL, source.size, &staging);
  }
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  gpu_copy_staged_take(frame, &target, &source, staging);
}

// --- Looking -------------------------------------------------------------------------

// The buffer's size says which number it is.
void tfrt_gpu_mem_load(tfrt_kernel_frame_t* frame) {
  const tfrt_device_buffer_t* buffer = tfrt_gpu_argument(frame, 0);
  const void* data = tfrt_device_buffer_host_data(buffer);
  tfrt_status_t status = tfrt_device_buffer_check(buffer, 0, buffer->size);
  if (!status && !data) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the host can't look at memory of %s: copy it to a buffer of "
                                "mem.allocate_host first",
                                buffer->device->name);
  }
  if (!status && buffer->size != 1 && buffer->size != sizeof(int32_t)) {
    status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                           "a buffer of %zu bytes holds neither an i1 nor an i32", buffer->size);
  }
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else if (buffer->size == 1) {
    tfrt_kernel_frame_set_i1(frame, 0, *(const unsigned char*)data != 0);
  } else {
    tfrt_kernel_frame_set_i32(frame, 0, *(const int32_t*)data);
  }
}

// --- Filling -------------------------------------------------------------------------

void tfrt_gpu_mem_set(tfrt_kernel_frame_t* frame) {
  const tfrt_type_t* type = tfrt_type_get(frame->arguments[1]->type_id);
  bool is_number =
      frame->arguments[1]->type_id >= TFRT_TYPE_I1 && frame->arguments[1]->type_id <= TFRT_TYPE_F64;
  if (!is_number || type->size > sizeof(uint32_t)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a buffer is filled with numbers of 1, 2 or 4 bytes, not with %s",
                           type->name);
    return;
  }
  uint32_t pattern = 0;
  memcpy(&pattern, tfrt_kernel_frame_payload(frame, 1), type->size);
  tfrt_gpu_finish_take(frame,
                       tfrt_device_stream_fill(tfrt_gpu_stream_argument(frame, 2)->stream,
                                               tfrt_gpu_argument(frame, 0), pattern, type->size));
}
