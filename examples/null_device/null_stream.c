// SPDX-License-Identifier: Apache-2.0
//
// Streams that do their work at once, and events, which are always done. devices/device_stream.c
// has checked all that comes here: buffers, sizes, devices, launches.
//
// A device that works by itself puts the work in its queue here and returns. Then an event is a
// point in that queue, and await() makes a value that the backend resolves when the device has
// come there (devices/cpu/cpu_stream.c, devices/cpu/cpu_event.c).
#include "null_device.h"

#include <string.h>

// --- Events --------------------------------------------------------------------

typedef struct null_event_s {
  tfrt_device_event_t base;
  _Atomic int64_t time_ns;  // of the last record
} null_event_t;

static null_event_t* null_event_of(tfrt_device_event_t* event) {
  return TFRT_CONTAINER_OF(event, null_event_t, base);
}

static void null_event_destroy(tfrt_device_event_t* event) {
  tfrt_allocator_free(event->device->platform->allocator, null_event_of(event),
                      sizeof(null_event_t));
}

static tfrt_status_t null_event_query(tfrt_device_event_t* event, bool* out_done) {
  (void)event;
  *out_done = true;
  return NULL;
}

static tfrt_async_value_t* null_event_await(tfrt_device_event_t* event, bool in_hurry) {
  (void)event;
  (void)in_hurry;
  return tfrt_async_value_ready_chain();
}

static tfrt_status_t null_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                        float* out_milliseconds) {
  // Relaxed: a time orders nothing.
  int64_t from = atomic_load_explicit(&null_event_of(start)->time_ns, memory_order_relaxed);
  int64_t to = atomic_load_explicit(&null_event_of(end)->time_ns, memory_order_relaxed);
  *out_milliseconds = (float)(to - from) / (float)TFRT_NANOSECONDS_PER_MILLISECOND;
  return NULL;
}

static const tfrt_device_event_vtable_t event_vtable = {
    .destroy = null_event_destroy,
    .query = null_event_query,
    .await = null_event_await,
    .elapsed = null_event_elapsed,
};

tfrt_status_t null_device_create_event(tfrt_device_t* device, bool with_timing,
                                       tfrt_device_event_t** out_event) {
  null_event_t* event = tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*event));
  if (!event) return tfrt_status_out_of_memory();
  tfrt_device_event_initialize(&event->base, &event_vtable, device, with_timing);
  *out_event = &event->base;
  return NULL;
}

// --- Work ----------------------------------------------------------------------

static tfrt_status_t null_stream_copy(tfrt_device_stream_t* stream,
                                      const tfrt_device_copy_t* copy) {
  (void)stream;
  memcpy((void*)(uintptr_t)copy->target, (const void*)(uintptr_t)copy->source, copy->size);
  return NULL;
}

static tfrt_status_t null_stream_fill(tfrt_device_stream_t* stream,
                                      const tfrt_device_fill_t* fill) {
  (void)stream;
  char* target = (char*)(uintptr_t)fill->target;
  // The first |width| bytes of the pattern: hosts are little-endian.
  for (size_t i = 0; i < fill->count; ++i) {
    memcpy(target + i * fill->width, &fill->pattern, fill->width);
  }
  return NULL;
}

static tfrt_status_t null_stream_launch(tfrt_device_stream_t* stream,
                                        tfrt_device_function_t* function,
                                        const tfrt_device_launch_t* launch, void* const* parameters,
                                        const size_t* sizes, uint32_t parameter_count) {
  (void)stream;
  (void)function;
  (void)launch;
  (void)parameters;
  (void)sizes;
  (void)parameter_count;
  return NULL;
}

static tfrt_status_t null_stream_record(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  (void)stream;
  atomic_store_explicit(&null_event_of(event)->time_ns, tfrt_clock_now_ns(tfrt_clock_system()),
                        memory_order_relaxed);
  return NULL;
}

static tfrt_status_t null_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  (void)stream;
  (void)event;
  return NULL;
}

static tfrt_status_t null_stream_allocate(tfrt_device_stream_t* stream, size_t size,
                                          tfrt_device_address_t* out_address) {
  return null_device_allocate(stream->device, TFRT_DEVICE_SPACE_DEVICE, size, out_address);
}

static tfrt_status_t null_stream_deallocate(tfrt_device_stream_t* stream,
                                            tfrt_device_address_t address, size_t size) {
  return null_device_deallocate(stream->device, TFRT_DEVICE_SPACE_DEVICE, address, size);
}

// --- Life ----------------------------------------------------------------------

static void null_stream_destroy(tfrt_device_stream_t* stream) {
  tfrt_allocator_free(stream->device->platform->allocator, stream, sizeof(*stream));
}

static const tfrt_device_stream_vtable_t stream_vtable = {
    .destroy = null_stream_destroy,
    .copy = null_stream_copy,
    .fill = null_stream_fill,
    .launch = null_stream_launch,
    .record = null_stream_record,
    .wait = null_stream_wait,
    .allocate = null_stream_allocate,
    .deallocate = null_stream_deallocate,
    .begin_capture = tfrt_device_absent_begin_capture,
    .end_capture = tfrt_device_absent_end_capture,
};

tfrt_status_t null_device_create_stream(tfrt_device_t* device, tfrt_device_stream_t** out_stream) {
  tfrt_device_stream_t* stream =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*stream));
  if (!stream) return tfrt_status_out_of_memory();
  tfrt_device_stream_initialize(stream, &stream_vtable, device);
  *out_stream = stream;
  return NULL;
}
