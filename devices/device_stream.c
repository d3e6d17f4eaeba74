// SPDX-License-Identifier: Apache-2.0
#include "devices/device_stream.h"

#include "devices/device_graph.h"

void tfrt_device_stream_initialize(tfrt_device_stream_t* stream,
                                   const tfrt_device_stream_vtable_t* vtable,
                                   tfrt_device_t* device) {
  stream->vtable = vtable;
  tfrt_ref_count_initialize(&stream->ref_count);
  stream->device = tfrt_device_retain(device);
}

tfrt_device_stream_t* tfrt_device_stream_retain(tfrt_device_stream_t* stream) {
  tfrt_ref_count_increment(&stream->ref_count);
  return stream;
}

void tfrt_device_stream_release(tfrt_device_stream_t* stream) {
  if (!stream || !tfrt_ref_count_decrement(&stream->ref_count)) return;
  tfrt_device_t* device = stream->device;
  tfrt_device_capture_t* capture = stream->capture;
  stream->vtable->destroy(stream);
  tfrt_device_capture_free(device, capture);
  tfrt_device_release(device);
}

// --- Checks --------------------------------------------------------------------

static tfrt_status_t device_stream_refuse_device(const tfrt_device_stream_t* stream,
                                                 const tfrt_device_t* device, const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a stream of %s gets %s of %s",
                            stream->device->name, what, device->name);
}

// OK if |buffer| may be copied from or to in |stream|.
static tfrt_status_t device_stream_check_copied(tfrt_device_stream_t* stream,
                                                tfrt_device_buffer_t* buffer, size_t offset,
                                                size_t size) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(buffer->device));
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_check(buffer, offset, size));
  return tfrt_device_check_peer(stream->device, buffer->device);
}

// OK if the |size| bytes that are copied don't overlap.
static tfrt_status_t device_stream_check_apart(const tfrt_device_buffer_t* target,
                                               size_t target_offset,
                                               const tfrt_device_buffer_t* source,
                                               size_t source_offset, size_t size) {
  tfrt_device_address_t to = target->address + target_offset;
  tfrt_device_address_t from = source->address + source_offset;
  if (target->space != source->space || target->device != source->device) return NULL;
  if (to >= from + size || from >= to + size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: %zu bytes are copied to a place that overlaps with them",
                            target->device->name, size);
}

// Remembers that |stream| is about to get work with |buffer|, or its graph.
static tfrt_status_t device_stream_use(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer) {
  if (stream->capture) return tfrt_device_capture_keep(stream->capture, buffer, NULL);
  return tfrt_device_buffer_use(buffer, stream);
}

static tfrt_device_t* device_stream_copied_device(const tfrt_device_buffer_t* buffer) {
  return buffer->space == TFRT_DEVICE_SPACE_HOST ? NULL : buffer->device;
}

tfrt_status_t tfrt_device_stream_copy(tfrt_device_stream_t* stream, tfrt_device_buffer_t* target,
                                      size_t target_offset, tfrt_device_buffer_t* source,
                                      size_t source_offset, size_t size) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  TFRT_RETURN_IF_ERROR(device_stream_check_copied(stream, target, target_offset, size));
  TFRT_RETURN_IF_ERROR(device_stream_check_copied(stream, source, source_offset, size));
  if (size == 0) return NULL;
  TFRT_RETURN_IF_ERROR(
      device_stream_check_apart(target, target_offset, source, source_offset, size));
  TFRT_RETURN_IF_ERROR(device_stream_use(stream, target));
  TFRT_RETURN_IF_ERROR(device_stream_use(stream, source));
  tfrt_device_copy_t copy = {
      .target = target->address + target_offset,
      .source = source->address + source_offset,
      .size = size,
      .target_device = device_stream_copied_device(target),
      .source_device = device_stream_copied_device(source),
  };
  return stream->vtable->copy(stream, &copy);
}

tfrt_status_t tfrt_device_stream_fill(tfrt_device_stream_t* stream, tfrt_device_buffer_t* target,
                                      uint32_t pattern, uint32_t width) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (target->device != stream->device || target->space != TFRT_DEVICE_SPACE_DEVICE) {
    return device_stream_refuse_device(stream, target->device, "to fill a buffer");
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_check(target, 0, target->size));
  if ((width != 1 && width != 2 && width != 4) || target->size % width != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a buffer of %zu bytes can't be filled with elements of %u bytes",
                              stream->device->name, target->size, width);
  }
  if (target->size == 0) return NULL;
  TFRT_RETURN_IF_ERROR(device_stream_use(stream, target));
  tfrt_device_fill_t fill = {
      .target = target->address, .pattern = pattern, .width = width, .count = target->size / width};
  return stream->vtable->fill(stream, &fill);
}

// --- Launches ------------------------------------------------------------------

// Whether the device runs such clusters, and the grid is made of them.
static bool device_stream_fits_clusters(const tfrt_device_t* device,
                                        const tfrt_device_launch_t* launch) {
  const uint32_t* cluster = launch->cluster;
  if (cluster[0] == 0 && cluster[1] == 0 && cluster[2] == 0) return true;
  bool fits = device->properties.has_clusters;
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    fits &= cluster[i] >= 1 && cluster[i] <= TFRT_DEVICE_MAX_CLUSTER_SIZE;
    if (!fits) return false;
    fits &= launch->grid[i] % cluster[i] == 0;
    blocks *= cluster[i];
  }
  return fits && blocks <= TFRT_DEVICE_MAX_CLUSTER_SIZE;
}

// OK if the device can run blocks and grids of that size.
static tfrt_status_t device_stream_check_launch(const tfrt_device_t* device,
                                                const tfrt_device_function_t* function,
                                                const tfrt_device_launch_t* launch) {
  const tfrt_device_properties_t* properties = &device->properties;
  uint64_t threads = 1;
  bool fits = launch->shared_size <= properties->max_shared_size &&
              (!launch->is_cooperative || properties->has_cooperative_launch) &&
              device_stream_fits_clusters(device, launch);
  for (int i = 0; i < 3; ++i) {
    fits &= launch->block[i] >= 1 && launch->block[i] <= properties->max_block[i];
    fits &= launch->grid[i] <= properties->max_grid[i];
    threads *= fits ? launch->block[i] : 1;
  }
  if (fits && threads <= function->max_threads_per_block) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "%s can't run %s with grid (%u, %u, %u), block (%u, %u, %u), cluster (%u, %u, %u), %u shared "
      "bytes%s",
      device->name, function->name, launch->grid[0], launch->grid[1], launch->grid[2],
      launch->block[0], launch->block[1], launch->block[2], launch->cluster[0], launch->cluster[1],
      launch->cluster[2], launch->shared_size, launch->is_cooperative ? ", cooperatively" : "");
}

// OK if argument |index| is one that the function and the stream can take.
static tfrt_status_t device_stream_check_argument(tfrt_device_stream_t* stream,
                                                  const tfrt_device_function_t* function,
                                                  const tfrt_device_argument_t* argument,
                                                  uint32_t index) {
  tfrt_device_buffer_t* buffer = argument->buffer;
  size_t size = buffer ? sizeof(tfrt_device_address_t) : argument->size;
  if (function->parameter_count != TFRT_DEVICE_PARAMETERS_UNKNOWN &&
      function->parameter_sizes[index] != size) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "%s: argument %u of %s has %zu bytes, its parameter %u",
        stream->device->name, index, function->name, size, function->parameter_sizes[index]);
  }
  if (!buffer) return NULL;
  if (buffer->device != stream->device) {
    return device_stream_refuse_device(stream, buffer->device, "a kernel with a buffer");
  }
  return tfrt_device_buffer_check(buffer, 0, buffer->size);
}

static tfrt_status_t device_stream_check_arguments(tfrt_device_stream_t* stream,
                                                   const tfrt_device_function_t* function,
                                                   const tfrt_device_argument_t* arguments,
                                                   uint32_t count) {
  uint32_t expected = function->parameter_count;
  bool is_known = expected != TFRT_DEVICE_PARAMETERS_UNKNOWN;
  if (count > TFRT_DEVICE_MAX_PARAMETERS || (is_known && count != expected)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: %s has %u parameters and gets %u arguments",
                              stream->device->name, function->name,
                              is_known ? expected : TFRT_DEVICE_MAX_PARAMETERS, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(device_stream_check_argument(stream, function, &arguments[i], i));
  }
  return NULL;
}

// OK if each buffer among |arguments| holds what the kernel reads or writes of it, as far as the
// backend can tell.
static tfrt_status_t device_stream_check_extents(tfrt_device_stream_t* stream,
                                                 const tfrt_device_function_t* function,
                                                 const tfrt_device_launch_t* launch,
                                                 const tfrt_device_argument_t* arguments,
                                                 void* const* parameters, uint32_t count) {
  if (!function->vtable->extents) return NULL;
  uint64_t bytes[TFRT_DEVICE_MAX_PARAMETERS] = {0};
  function->vtable->extents(function, launch, parameters, bytes);
  for (uint32_t i = 0; i < count; ++i) {
    if (!arguments[i].buffer || arguments[i].buffer->size >= bytes[i]) continue;
    return tfrt_status_create(
        TFRT_STATUS_OUT_OF_RANGE, "%s: %s uses %s%llu bytes of argument %u, a buffer of %zu",
        stream->device->name, function->name, bytes[i] == UINT64_MAX ? "more than " : "",
        (unsigned long long)bytes[i], i, arguments[i].buffer->size);
  }
  return NULL;
}

// The priority of |launch| among those that |device| has.
static int32_t device_stream_priority(const tfrt_device_t* device,
                                      const tfrt_device_launch_t* launch) {
  if (launch->priority > 0) return 0;
  int32_t first = device->properties.first_priority;
  return launch->priority < first ? first : launch->priority;
}

tfrt_status_t tfrt_device_stream_launch(tfrt_device_stream_t* stream,
                                        tfrt_device_function_t* function,
                                        const tfrt_device_launch_t* launch,
                                        const tfrt_device_argument_t* arguments, uint32_t count) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (function->module->device != stream->device) {
    return device_stream_refuse_device(stream, function->module->device, "a kernel");
  }
  TFRT_RETURN_IF_ERROR(device_stream_check_launch(stream->device, function, launch));
  TFRT_RETURN_IF_ERROR(device_stream_check_arguments(stream, function, arguments, count));
  if (launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0) return NULL;
  void* parameters[TFRT_DEVICE_MAX_PARAMETERS];
  size_t sizes[TFRT_DEVICE_MAX_PARAMETERS];
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_device_buffer_t* buffer = arguments[i].buffer;
    parameters[i] = buffer ? (void*)&buffer->address : (void*)arguments[i].bytes;
    sizes[i] = buffer ? sizeof(buffer->address) : arguments[i].size;
  }
  TFRT_RETURN_IF_ERROR(
      device_stream_check_extents(stream, function, launch, arguments, parameters, count));
  for (uint32_t i = 0; i < count; ++i) {
    if (!arguments[i].buffer) continue;
    TFRT_RETURN_IF_ERROR(device_stream_use(stream, arguments[i].buffer));
  }
  if (stream->capture) {
    TFRT_RETURN_IF_ERROR(tfrt_device_capture_keep(stream->capture, NULL, function));
  }
  tfrt_device_launch_t given = *launch;
  given.priority = device_stream_priority(stream->device, launch);
  return stream->vtable->launch(stream, function, &given, parameters, sizes, count);
}

// --- Order ---------------------------------------------------------------------

tfrt_status_t tfrt_device_stream_record(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (event->device != stream->device) {
    return device_stream_refuse_device(stream, event->device, "to record an event");
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "a record of an event"));
  TFRT_RETURN_IF_ERROR(stream->vtable->record(stream, event));
  atomic_store_explicit(&event->is_recorded, true, memory_order_relaxed);
  return NULL;
}

tfrt_status_t tfrt_device_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (event->device->platform != stream->device->platform) {
    return device_stream_refuse_device(stream, event->device, "to wait for an event");
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "a wait for an event"));
  if (!atomic_load_explicit(&event->is_recorded, memory_order_relaxed)) return NULL;
  return stream->vtable->wait(stream, event);
}

tfrt_status_t tfrt_device_stream_join(tfrt_device_stream_t* stream, tfrt_device_stream_t* other) {
  if (stream == other) return NULL;
  tfrt_device_event_t* event = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_event(other->device, false, &event));
  tfrt_status_t status = tfrt_device_stream_record(other, event);
  if (!status) status = tfrt_device_stream_wait(stream, event);
  tfrt_device_event_release(event);
  return status;
}

// Awaits the end of |stream| by |await| of an event there.
static tfrt_async_value_t* device_stream_await_by(
    tfrt_device_stream_t* stream, tfrt_async_value_t* (*await)(tfrt_device_event_t* event)) {
  tfrt_device_event_t* event = NULL;
  tfrt_status_t status = tfrt_device_create_event(stream->device, false, &event);
  if (!status) status = tfrt_device_stream_record(stream, event);
  tfrt_async_value_t* value = status ? tfrt_async_value_create_error_take(status) : await(event);
  tfrt_device_event_release(event);
  return value;
}

tfrt_async_value_t* tfrt_device_stream_await(tfrt_device_stream_t* stream) {
  return device_stream_await_by(stream, tfrt_device_event_await);
}

tfrt_async_value_t* tfrt_device_stream_await_soon(tfrt_device_stream_t* stream) {
  return device_stream_await_by(stream, tfrt_device_event_await_soon);
}
