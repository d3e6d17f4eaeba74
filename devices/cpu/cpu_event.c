// SPDX-License-Identifier: Apache-2.0
//
// A point in a queue on the CPU: an AsyncValue per record.
#include "devices/cpu/cpu_impl.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_cpu_event_s {
  tfrt_device_event_t base;
  _Atomic int64_t time_ns;    // of the last point that was reached
  tfrt_mutex_t mutex;         // guards |value|
  tfrt_async_value_t* value;  // +1, of the latest record; NULL: none yet
} tfrt_cpu_event_t;

static tfrt_cpu_event_t* cpu_event_of(tfrt_device_event_t* event) {
  return TFRT_CONTAINER_OF(event, tfrt_cpu_event_t, base);
}

static void cpu_event_destroy(tfrt_device_event_t* base) {
  tfrt_cpu_event_t* event = cpu_event_of(base);
  tfrt_async_value_release(event->value);
  tfrt_mutex_deinitialize(&event->mutex);
  tfrt_allocator_free(base->device->platform->allocator, event, sizeof(*event));
}

// An event is done by the thread that knows it: there is nothing to hurry.
static tfrt_async_value_t* cpu_event_await(tfrt_device_event_t* base, bool in_hurry) {
  (void)in_hurry;
  tfrt_cpu_event_t* event = cpu_event_of(base);
  tfrt_mutex_lock(&event->mutex);
  tfrt_async_value_t* value =
      event->value ? tfrt_async_value_retain(event->value) : tfrt_async_value_ready_chain();
  tfrt_mutex_unlock(&event->mutex);
  return value;
}

static tfrt_status_t cpu_event_query(tfrt_device_event_t* base, bool* out_done) {
  tfrt_async_value_t* value = cpu_event_await(base, false);
  *out_done = tfrt_async_value_is_available(value);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(value)) {
    status = tfrt_status_retain(tfrt_async_value_error(value));
  }
  tfrt_async_value_release(value);
  return status;
}

static tfrt_status_t cpu_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                       float* out_milliseconds) {
  // Relaxed: the value that was seen available was published after the time was set.
  int64_t from = atomic_load_explicit(&cpu_event_of(start)->time_ns, memory_order_relaxed);
  int64_t to = atomic_load_explicit(&cpu_event_of(end)->time_ns, memory_order_relaxed);
  *out_milliseconds = (float)(to - from) / (float)TFRT_NANOSECONDS_PER_MILLISECOND;
  return NULL;
}

static const tfrt_device_event_vtable_t event_vtable = {cpu_event_destroy, cpu_event_query,
                                                        cpu_event_await, cpu_event_elapsed};

tfrt_status_t tfrt_cpu_device_create_event(tfrt_device_t* device, bool with_timing,
                                           tfrt_device_event_t** out_event) {
  tfrt_cpu_event_t* event =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*event));
  if (!event) return tfrt_status_out_of_memory();
  tfrt_device_event_initialize(&event->base, &event_vtable, device, with_timing);
  atomic_init(&event->time_ns, 0);
  tfrt_mutex_initialize(&event->mutex);
  *out_event = &event->base;
  return NULL;
}

tfrt_async_value_t* tfrt_cpu_event_begin(tfrt_device_event_t* base) {
  tfrt_cpu_event_t* event = cpu_event_of(base);
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!value) return NULL;
  tfrt_mutex_lock(&event->mutex);
  tfrt_async_value_t* old = event->value;
  event->value = tfrt_async_value_retain(value);
  tfrt_mutex_unlock(&event->mutex);
  tfrt_async_value_release(old);
  return value;
}

void tfrt_cpu_event_finish(tfrt_device_event_t* event, tfrt_async_value_t* value,
                           tfrt_status_t lost) {
  if (event) {
    atomic_store_explicit(&cpu_event_of(event)->time_ns, tfrt_clock_now_ns(tfrt_clock_system()),
                          memory_order_relaxed);
  }
  if (lost) {
    tfrt_async_value_set_error(value, lost);
  } else {
    tfrt_async_value_set_available(value);
  }
  tfrt_async_value_release(value);
  tfrt_device_event_release(event);
}
