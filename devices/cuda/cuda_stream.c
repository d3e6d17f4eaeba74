// SPDX-License-Identifier: Apache-2.0
//
// A stream is one of the driver's.
#include "devices/cuda/cuda_impl.h"

// The least memory that a stream keeps for calls of libraries, once one of them needs some.
#define TFRT_CUDA_MIN_WORKSPACE ((size_t)64 << 10)

static tfrt_status_t cuda_stream_copy(tfrt_device_stream_t* stream,
                                      const tfrt_device_copy_t* copy) {
  tfrt_device_t* device = stream->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  tfrt_cuda_stream_handle_t handle = tfrt_cuda_stream_of(stream)->handle;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_device_t* target = copy->target_device;
  tfrt_device_t* source = copy->source_device;
  if (target && source && target != source) {
    tfrt_cuda_result_t result =
        api->MemcpyPeerAsync(copy->target, tfrt_cuda_device_of(target)->context, copy->source,
                             tfrt_cuda_device_of(source)->context, copy->size, handle);
    return tfrt_cuda_leave(device, result, "cuMemcpyPeerAsync");
  }
  // Addresses of the host and of all devices are of one space: the driver sees the direction.
  return tfrt_cuda_leave(device, api->MemcpyAsync(copy->target, copy->source, copy->size, handle),
                         "cuMemcpyAsync");
}

static tfrt_status_t cuda_stream_fill(tfrt_device_stream_t* stream,
                                      const tfrt_device_fill_t* fill) {
  tfrt_device_t* device = stream->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  tfrt_cuda_stream_handle_t handle = tfrt_cuda_stream_of(stream)->handle;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  if (fill->width == 1) {
    return tfrt_cuda_leave(
        device, api->MemsetD8Async(fill->target, (uint8_t)fill->pattern, fill->count, handle),
        "cuMemsetD8Async");
  }
  if (fill->width == 2) {
    return tfrt_cuda_leave(
        device, api->MemsetD16Async(fill->target, (uint16_t)fill->pattern, fill->count, handle),
        "cuMemsetD16Async");
  }
  return tfrt_cuda_leave(device,
                         api->MemsetD32Async(fill->target, fill->pattern, fill->count, handle),
                         "cuMemsetD32Async");
}

// Launches |code| with clusters of blocks or a priority, in the context of |stream|.
static tfrt_cuda_result_t cuda_stream_launch_with(tfrt_device_stream_t* stream,
                                                  tfrt_cuda_function_handle_t code,
                                                  const tfrt_device_launch_t* launch,
                                                  void* const* parameters) {
  const uint32_t* cluster = launch->cluster;
  tfrt_cuda_launch_attribute_t attributes[3];
  unsigned count = 0;
  if (cluster[0] > 0) {
    attributes[count++] = (tfrt_cuda_launch_attribute_t){
        .id = TFRT_CUDA_LAUNCH_CLUSTER, .value.cluster = {cluster[0], cluster[1], cluster[2]}};
  }
  if (launch->is_cooperative) {
    attributes[count++] =
        (tfrt_cuda_launch_attribute_t){.id = TFRT_CUDA_LAUNCH_COOPERATIVE, .value.cooperative = 1};
  }
  if (launch->priority != 0) {
    attributes[count++] = (tfrt_cuda_launch_attribute_t){.id = TFRT_CUDA_LAUNCH_PRIORITY,
                                                         .value.priority = launch->priority};
  }
  tfrt_cuda_launch_t with = {
      .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
      .block = {launch->block[0], launch->block[1], launch->block[2]},
      .shared_size = launch->shared_size,
      .stream = tfrt_cuda_stream_of(stream)->handle,
      .attributes = attributes,
      .attribute_count = count,
  };
  return tfrt_cuda_api_of(stream->device)->LaunchKernelEx(&with, code, (void**)parameters, NULL);
}

static tfrt_status_t cuda_stream_launch(tfrt_device_stream_t* stream,
                                        tfrt_device_function_t* function,
                                        const tfrt_device_launch_t* launch, void* const* parameters,
                                        const size_t* sizes, uint32_t parameter_count) {
  (void)sizes;
  (void)parameter_count;
  tfrt_device_t* device = stream->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  const uint32_t* grid = launch->grid;
  const uint32_t* block = launch->block;
  tfrt_cuda_stream_handle_t handle = tfrt_cuda_stream_of(stream)->handle;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_function_handle_t code;
  tfrt_cuda_result_t result = tfrt_cuda_function_prepare(function, launch->shared_size, &code);
  if (result != TFRT_CUDA_SUCCESS) return tfrt_cuda_leave(device, result, "cuFuncSetAttribute");
  if (launch->cluster[0] > 0 || launch->priority != 0) {
    result = cuda_stream_launch_with(stream, code, launch, parameters);
    return tfrt_cuda_leave(device, result, "cuLaunchKernelEx");
  }
  if (launch->is_cooperative) {
    result =
        api->LaunchCooperativeKernel(code, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                     launch->shared_size, handle, (void**)parameters);
    return tfrt_cuda_leave(device, result, "cuLaunchCooperativeKernel");
  }
  result = api->LaunchKernel(code, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                             launch->shared_size, handle, (void**)parameters, NULL);
  return tfrt_cuda_leave(device, result, "cuLaunchKernel");
}

static tfrt_status_t cuda_stream_record(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  return tfrt_cuda_event_record(event, tfrt_cuda_stream_of(stream));
}

static tfrt_status_t cuda_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  return tfrt_cuda_event_wait(event, tfrt_cuda_stream_of(stream));
}

// Allocates from the device's pool, in its context.
static tfrt_cuda_result_t cuda_stream_allocate_here(tfrt_cuda_stream_t* stream, size_t size,
                                                    tfrt_cuda_address_t* out_address) {
  const tfrt_cuda_device_t* device = tfrt_cuda_device_of(stream->base.device);
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(stream->base.device);
  return device->has_own_pool
             ? api->MemAllocFromPoolAsync(out_address, size, device->pool, stream->handle)
             : api->MemAllocAsync(out_address, size, stream->handle);
}

static tfrt_status_t cuda_stream_allocate(tfrt_device_stream_t* stream, size_t size,
                                          tfrt_device_address_t* out_address) {
  tfrt_device_t* device = stream->device;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result =
      cuda_stream_allocate_here(tfrt_cuda_stream_of(stream), size, out_address);
  return tfrt_cuda_leave(
      device, result,
      tfrt_cuda_device_of(device)->has_own_pool ? "cuMemAllocFromPoolAsync" : "cuMemAllocAsync");
}

static tfrt_status_t cuda_stream_deallocate(tfrt_device_stream_t* stream,
                                            tfrt_device_address_t address, size_t size) {
  (void)size;
  tfrt_device_t* device = stream->device;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(device)->MemFreeAsync(address, tfrt_cuda_stream_of(stream)->handle);
  return tfrt_cuda_leave(device, result, "cuMemFreeAsync");
}

// Gives the workspace back behind the work that uses it, in the device's context.
static void cuda_stream_drop_workspace(tfrt_cuda_stream_t* stream) {
  if (stream->workspace == 0) return;
  tfrt_device_t* device = stream->base.device;
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(device)->MemFreeAsync(stream->workspace, stream->handle);
  tfrt_device_report_kept(
      device, stream->workspace_size,
      tfrt_cuda_status(tfrt_cuda_api_of(device), device->name, result, "cuMemFreeAsync"));
  stream->workspace = 0;
  stream->workspace_size = 0;
}

bool tfrt_cuda_stream_take_workspace(tfrt_cuda_stream_t* stream, size_t size,
                                     tfrt_cuda_address_t* out_address) {
  tfrt_mutex_lock(&stream->workspace_mutex);
  if (size > stream->workspace_size) {
    // Doubled, so that a stream whose calls need more and more allocates a few times only.
    size_t room = TFRT_CUDA_MIN_WORKSPACE;
    while (room < size) room *= 2;
    cuda_stream_drop_workspace(stream);
    tfrt_cuda_result_t result = cuda_stream_allocate_here(stream, room, &stream->workspace);
    if (result != TFRT_CUDA_SUCCESS) {
      stream->workspace = 0;
      tfrt_mutex_unlock(&stream->workspace_mutex);
      return false;
    }
    stream->workspace_size = room;
  }
  *out_address = size > 0 ? stream->workspace : 0;
  return true;
}

void tfrt_cuda_stream_give_workspace(tfrt_cuda_stream_t* stream) {
  tfrt_mutex_unlock(&stream->workspace_mutex);
}

static void cuda_stream_destroy(tfrt_device_stream_t* base) {
  tfrt_cuda_stream_t* stream = tfrt_cuda_stream_of(base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    cuda_stream_drop_workspace(stream);
    status = tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->StreamDestroy(stream->handle),
                             "cuStreamDestroy");
  }
  // Ignores an error: the driver frees everything of a lost device at its end.
  tfrt_status_release(status);
  tfrt_mutex_deinitialize(&stream->workspace_mutex);
  tfrt_mutex_deinitialize(&stream->record_mutex);
  tfrt_allocator_free(device->platform->allocator, stream, sizeof(*stream));
}

static const tfrt_device_stream_vtable_t stream_vtable = {
    .destroy = cuda_stream_destroy,
    .copy = cuda_stream_copy,
    .fill = cuda_stream_fill,
    .launch = cuda_stream_launch,
    .record = cuda_stream_record,
    .wait = cuda_stream_wait,
    .allocate = cuda_stream_allocate,
    .deallocate = cuda_stream_deallocate,
    .begin_capture = tfrt_cuda_stream_begin_capture,
    .end_capture = tfrt_cuda_stream_end_capture,
};

tfrt_status_t tfrt_cuda_device_create_stream(tfrt_device_t* device,
                                             tfrt_device_stream_t** out_stream) {
  tfrt_cuda_stream_t* stream =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*stream));
  if (!stream) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cuda_result_t result =
        tfrt_cuda_api_of(device)->StreamCreate(&stream->handle, TFRT_CUDA_STREAM_NON_BLOCKING);
    status = tfrt_cuda_leave(device, result, "cuStreamCreate");
  }
  if (status) {
    tfrt_allocator_free(device->platform->allocator, stream, sizeof(*stream));
    return status;
  }
  tfrt_mutex_initialize(&stream->record_mutex);
  tfrt_mutex_initialize(&stream->workspace_mutex);
  // Relaxed: only a number.
  stream->number = 1 + atomic_fetch_add_explicit(&tfrt_cuda_platform_of(device)->stream_count, 1,
                                                 memory_order_relaxed);
  tfrt_device_stream_initialize(&stream->base, &stream_vtable, device);
  *out_stream = &stream->base;
  return NULL;
}
