// SPDX-License-Identifier: Apache-2.0
#include "embedding/mgpu/mgpu.h"

#include <string.h>

#include "embedding/mgpu/copy.h"
#include "embedding/mgpu/handle.h"
#include "embedding/mgpu/memory.h"
#include "embedding/mgpu/session.h"

typedef tfrt_mgpu_handle_t handle_t;

// --- Shared by calls --------------------------------------------------------

static tfrt_status_t refuse(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s", what);
}

// The handle of a call; NULL when the session has ended, which took all handles with it.
static handle_t* handle_of(void* opaque) { return tfrt_mgpu_session_has_ended() ? NULL : opaque; }

static void destroy(void* opaque) {
  handle_t* handle = handle_of(opaque);
  if (handle) tfrt_mgpu_handle_destroy(handle);
}

// The stream (+0) of a call: |handle|'s, or the device's own; NULL, and an error of |function|, if
// there is no device.
static tfrt_device_stream_t* stream_of(void* handle, const char* function) {
  const handle_t* stream = handle_of(handle);
  if (stream && stream->kind == TFRT_MGPU_STREAM) return stream->stream;
  if (stream) {
    (void)tfrt_mgpu_check(refuse("what is given as a stream is none"), function);
    return NULL;
  }
  const tfrt_mgpu_device_t* device = tfrt_mgpu_session_device(function);
  return device ? device->stream : NULL;
}

// Ends a call of |function| that has given |stream| work with |status| (consumed), and |waits|
// until that is done, as those do that the program gives no stream.
static void end_call(bool waits, tfrt_device_stream_t* stream, tfrt_status_t status,
                     const char* function) {
  if (!status && waits) status = tfrt_mgpu_wait_take(tfrt_device_stream_await(stream));
  (void)tfrt_mgpu_check(status, function);
}

static void* new_handle(tfrt_mgpu_kind_t kind, void* object_take, const char* function) {
  handle_t* handle = tfrt_mgpu_handle_create_take(kind, object_take);
  if (!handle) (void)tfrt_mgpu_check(tfrt_status_out_of_memory(), function);
  return handle;
}

void mgpuSetDefaultDevice(int32_t device) { tfrt_mgpu_session_set_default(device); }

// --- Streams and events ------------------------------------------------------

void* mgpuStreamCreate(void) {
  const tfrt_mgpu_device_t* device = tfrt_mgpu_session_device(__func__);
  if (!device) return NULL;
  tfrt_device_stream_t* stream;
  if (!tfrt_mgpu_check(tfrt_device_create_stream(device->device, &stream), __func__)) return NULL;
  return new_handle(TFRT_MGPU_STREAM, stream, __func__);
}

void mgpuStreamDestroy(void* stream) { destroy(stream); }

void mgpuStreamSynchronize(void* handle) {
  tfrt_device_stream_t* stream = stream_of(handle, __func__);
  if (stream)
    (void)tfrt_mgpu_check(tfrt_mgpu_wait_take(tfrt_device_stream_await(stream)), __func__);
}

void mgpuStreamWaitEvent(void* handle, void* opaque) {
  const handle_t* event = handle_of(opaque);
  tfrt_device_stream_t* stream = event ? stream_of(handle, __func__) : NULL;
  if (!stream) return;
  tfrt_status_t status = event->kind == TFRT_MGPU_STREAM
                             ? tfrt_device_stream_join(stream, event->stream)
                             : tfrt_device_stream_wait(stream, event->event);
  (void)tfrt_mgpu_check(status, __func__);
}

void* mgpuEventCreate(void) {
  const tfrt_mgpu_device_t* device = tfrt_mgpu_session_device(__func__);
  if (!device) return NULL;
  tfrt_device_event_t* event;
  if (!tfrt_mgpu_check(tfrt_device_create_event(device->device, false, &event), __func__)) {
    return NULL;
  }
  return new_handle(TFRT_MGPU_EVENT, event, __func__);
}

void mgpuEventRecord(void* opaque, void* handle) {
  const handle_t* event = handle_of(opaque);
  tfrt_device_stream_t* stream = event ? stream_of(handle, __func__) : NULL;
  if (!stream) return;
  tfrt_status_t status = event->kind == TFRT_MGPU_EVENT
                             ? tfrt_device_stream_record(stream, event->event)
                             : refuse("what is given as an event is none");
  (void)tfrt_mgpu_check(status, __func__);
}

void mgpuEventSynchronize(void* opaque) {
  const handle_t* event = handle_of(opaque);
  if (!event) return;
  tfrt_async_value_t* chain = event->kind == TFRT_MGPU_STREAM
                                  ? tfrt_device_stream_await(event->stream)
                                  : tfrt_device_event_await(event->event);
  (void)tfrt_mgpu_check(tfrt_mgpu_wait_take(chain), __func__);
}

void mgpuEventDestroy(void* event) { destroy(event); }

// --- Memory ------------------------------------------------------------------

void* mgpuMemAlloc(uint64_t size, void* handle, int8_t is_host_shared) {
  const tfrt_mgpu_device_t* device = tfrt_mgpu_session_device(__func__);
  tfrt_device_stream_t* stream = device ? stream_of(handle, __func__) : NULL;
  if (!stream) return NULL;
  tfrt_device_buffer_t* buffer = NULL;
  tfrt_status_t status =
      is_host_shared
          ? tfrt_device_allocator_allocate(device->shared_memory, NULL, size ? size : 1, &buffer)
          : tfrt_device_allocator_allocate(device->memory, stream, size ? size : 1, &buffer);
  if (!status) status = tfrt_mgpu_memory_add_take(tfrt_device_buffer_retain(buffer));
  void* pointer = status ? NULL : (void*)(uintptr_t)buffer->address;
  tfrt_device_buffer_release(buffer);
  end_call(!handle && !is_host_shared, stream, status, __func__);
  return pointer;
}

void mgpuMemFree(void* pointer, void* handle) {
  tfrt_device_stream_t* stream = pointer ? stream_of(handle, __func__) : NULL;
  if (!stream) return;
  tfrt_device_buffer_t* buffer = tfrt_mgpu_memory_remove(pointer);
  tfrt_status_t status = buffer ? NULL : refuse("no block of memory begins there");
  // Without a stream, as work of any stream may use the block.
  if (!status && !handle) status = tfrt_mgpu_handle_join_all(stream);
  if (!status) status = tfrt_device_buffer_free(buffer, stream);
  tfrt_device_buffer_release(buffer);
  end_call(!handle, stream, status, __func__);
}

void mgpuMemcpy(void* target, void* source, uint64_t size, void* handle) {
  tfrt_device_stream_t* stream = size > 0 ? stream_of(handle, __func__) : NULL;
  if (stream) end_call(!handle, stream, tfrt_mgpu_copy(stream, target, source, size), __func__);
}

static tfrt_status_t fill(tfrt_device_stream_t* stream, void* target, uint32_t value,
                          uint32_t width, uint64_t count) {
  size_t offset, size;
  if (!tfrt_size_multiply(count, width, &size)) return refuse("that is too much memory");
  tfrt_device_buffer_t* buffer = tfrt_mgpu_memory_find(target, &offset);
  if (!buffer) return refuse("the address is in no memory of the device");
  tfrt_device_buffer_t* view = NULL;
  tfrt_status_t status = tfrt_device_buffer_create_view(buffer, offset, size, &view);
  if (!status) status = tfrt_device_stream_fill(stream, view, value, width);
  tfrt_device_buffer_release(view);
  tfrt_device_buffer_release(buffer);
  return status;
}

void mgpuMemset32(void* target, uint32_t value, uint64_t count, void* handle) {
  tfrt_device_stream_t* stream = count > 0 ? stream_of(handle, __func__) : NULL;
  if (stream) end_call(!handle, stream, fill(stream, target, value, 4, count), __func__);
}

void mgpuMemset16(void* target, uint16_t value, uint64_t count, void* handle) {
  tfrt_device_stream_t* stream = count > 0 ? stream_of(handle, __func__) : NULL;
  if (stream) end_call(!handle, stream, fill(stream, target, value, 2, count), __func__);
}

static void keep_host_memory(void* context, void* data, size_t size) {
  (void)context, (void)data, (void)size;
}

static tfrt_status_t pin(const tfrt_mgpu_device_t* device, void* pointer, size_t size) {
  tfrt_host_buffer_t* host_buffer;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create_external(pointer, size, keep_host_memory, NULL,
                                                        tfrt_allocator_system(), &host_buffer));
  tfrt_device_buffer_t* buffer = NULL;
  tfrt_status_t status = tfrt_device_buffer_create_pinned(device->device, host_buffer, &buffer);
  tfrt_host_buffer_release(host_buffer);
  return status ? status : tfrt_mgpu_memory_add_take(buffer);
}

void mgpuMemHostRegister(void* pointer, uint64_t size) {
  const tfrt_mgpu_device_t* device = size > 0 ? tfrt_mgpu_session_device(__func__) : NULL;
  if (device) (void)tfrt_mgpu_check(pin(device, pointer, size), __func__);
}

void mgpuMemHostUnregister(void* pointer) {
  if (tfrt_mgpu_session_has_ended()) return;
  tfrt_device_buffer_t* buffer = tfrt_mgpu_memory_remove(pointer);
  if (!buffer) (void)tfrt_mgpu_check(refuse("no memory that was pinned begins there"), __func__);
  tfrt_device_buffer_release(buffer);
}

// A memref's descriptor: two pointers, then offset, sizes and strides.
typedef struct memref_s {
  char* allocated;
  char* aligned;
  int64_t offset;
  int64_t sizes_and_strides[];
} memref_t;

static char* first_element(const memref_t* memref, int64_t element_size) {
  return memref->aligned + memref->offset * element_size;
}

void mgpuMemHostRegisterMemRef(int64_t rank, void* descriptor, int64_t element_size) {
  const memref_t* memref = descriptor;
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i) count *= memref->sizes_and_strides[i];
  mgpuMemHostRegister(first_element(memref, element_size), (uint64_t)(count * element_size));
}

void mgpuMemHostUnregisterMemRef(int64_t rank, void* descriptor, int64_t element_size) {
  (void)rank;
  mgpuMemHostUnregister(first_element(descriptor, element_size));
}

// --- Code --------------------------------------------------------------------

static void* load(const char* image, size_t size, const char* function) {
  const tfrt_mgpu_device_t* device = tfrt_mgpu_session_device(function);
  if (!device) return NULL;
  tfrt_device_module_t* module;
  tfrt_status_t status = tfrt_device_load_module(device->device, image, size, &module);
  return tfrt_mgpu_check(status, function) ? new_handle(TFRT_MGPU_MODULE, module, function) : NULL;
}

void* mgpuModuleLoad(const void* image, uint64_t size) { return load(image, size, __func__); }

void* mgpuModuleLoadJIT(const char* text, int32_t level) {
  // The driver's own level is as good as that which programs ask for.
  (void)level;
  return load(text, strlen(text), __func__);
}

void mgpuModuleUnload(void* module) { destroy(module); }

void* mgpuModuleGetFunction(void* module, const char* name) {
  if (!handle_of(module)) return NULL;
  handle_t* function;
  return tfrt_mgpu_check(tfrt_mgpu_handle_function(module, name, &function), __func__) ? function
                                                                                       : NULL;
}

// Sets |out_axes| to what programs give as 64 bits; false if one doesn't fit.
static bool fits_axes(int64_t x, int64_t y, int64_t z, uint32_t out_axes[3]) {
  const int64_t axes[] = {x, y, z};
  bool fits = true;
  for (int i = 0; i < 3; ++i) {
    fits &= axes[i] >= 0 && axes[i] <= UINT32_MAX;
    out_axes[i] = (uint32_t)axes[i];
  }
  return fits;
}

// Launches with |count| parameters, or, where the function knows how many it has, as many as that.
static tfrt_status_t launch(tfrt_device_stream_t* stream, tfrt_device_function_t* function,
                            const tfrt_device_launch_t* launch, void** parameters, int64_t count) {
  if (count < 0) {
    if (function->parameter_count == TFRT_DEVICE_PARAMETERS_UNKNOWN) {
      return refuse("nobody knows how many parameters the kernel has");
    }
    count = function->parameter_count;
  }
  if (count > TFRT_DEVICE_MAX_PARAMETERS) return refuse("these are too many parameters");
  tfrt_device_argument_t arguments[TFRT_DEVICE_MAX_PARAMETERS];
  const bool are_known = function->parameter_count != TFRT_DEVICE_PARAMETERS_UNKNOWN;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_known = are_known && i < function->parameter_count;
    arguments[i] = (tfrt_device_argument_t){
        .bytes = parameters[i],
        .size = is_known ? function->parameter_sizes[i] : sizeof(void*),
    };
  }
  return tfrt_device_stream_launch(stream, function, launch, arguments, (uint32_t)count);
}

static void launch_in(void* opaque, const tfrt_device_launch_t* given, bool fits, void* handle,
                      void** parameters, int64_t count, const char* name) {
  const handle_t* function = handle_of(opaque);
  tfrt_device_stream_t* stream = function ? stream_of(handle, name) : NULL;
  if (!stream) return;
  tfrt_status_t status = !fits ? refuse("the grid or the block is too big")
                               : launch(stream, function->function, given, parameters, count);
  end_call(!handle, stream, status, name);
}

void mgpuLaunchKernel(void* function, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                      int64_t block_x, int64_t block_y, int64_t block_z, int32_t shared_size,
                      void* stream, void** parameters, void** extra, int64_t parameter_count) {
  (void)extra;
  tfrt_device_launch_t given = {.shared_size = (uint32_t)shared_size};
  bool fits = fits_axes(grid_x, grid_y, grid_z, given.grid);
  fits &= fits_axes(block_x, block_y, block_z, given.block);
  launch_in(function, &given, fits, stream, parameters, parameter_count, __func__);
}

void mgpuLaunchClusterKernel(void* function, int64_t cluster_x, int64_t cluster_y,
                             int64_t cluster_z, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                             int64_t block_x, int64_t block_y, int64_t block_z, int32_t shared_size,
                             void* stream, void** parameters, void** extra) {
  (void)extra;
  tfrt_device_launch_t given = {.shared_size = (uint32_t)shared_size};
  bool fits = fits_axes(grid_x, grid_y, grid_z, given.grid);
  fits &= fits_axes(block_x, block_y, block_z, given.block);
  fits &= fits_axes(cluster_x, cluster_y, cluster_z, given.cluster);
  launch_in(function, &given, fits, stream, parameters, -1, __func__);
}
