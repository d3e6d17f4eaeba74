// SPDX-License-Identifier: Apache-2.0
#include "devices/device_event.h"

void tfrt_device_event_initialize(tfrt_device_event_t* event,
                                  const tfrt_device_event_vtable_t* vtable, tfrt_device_t* device,
                                  bool with_timing) {
  event->vtable = vtable;
  tfrt_ref_count_initialize(&event->ref_count);
  event->with_timing = with_timing;
  atomic_init(&event->is_recorded, false);
  event->device = tfrt_device_retain(device);
}

tfrt_device_event_t* tfrt_device_event_retain(tfrt_device_event_t* event) {
  tfrt_ref_count_increment(&event->ref_count);
  return event;
}

void tfrt_device_event_release(tfrt_device_event_t* event) {
  if (!event || !tfrt_ref_count_decrement(&event->ref_count)) return;
  tfrt_device_t* device = event->device;
  event->vtable->destroy(event);
  tfrt_device_release(device);
}

// Relaxed: a caller that asks about a record has other means to know that the record came first.
static bool device_event_is_recorded(tfrt_device_event_t* event) {
  return atomic_load_explicit(&event->is_recorded, memory_order_relaxed);
}

tfrt_status_t tfrt_device_event_query(tfrt_device_event_t* event, bool* out_done) {
  *out_done = false;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(event->device));
  if (device_event_is_recorded(event)) return event->vtable->query(event, out_done);
  *out_done = true;
  return NULL;
}

static tfrt_async_value_t* device_event_await_in(tfrt_device_event_t* event, bool in_hurry) {
  tfrt_status_t lost = tfrt_device_check(event->device);
  if (lost) return tfrt_async_value_create_error_take(lost);
  if (!device_event_is_recorded(event)) return tfrt_async_value_ready_chain();
  return event->vtable->await(event, in_hurry);
}

tfrt_async_value_t* tfrt_device_event_await(tfrt_device_event_t* event) {
  return device_event_await_in(event, false);
}

tfrt_async_value_t* tfrt_device_event_await_soon(tfrt_device_event_t* event) {
  return device_event_await_in(event, true);
}

// OK if |event| can be asked for its time.
static tfrt_status_t device_event_check_time(tfrt_device_event_t* event, const char* which) {
  if (!event->with_timing || !device_event_is_recorded(event)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: the %s event %s",
                              event->device->name, which,
                              event->with_timing ? "was never recorded" : "has no timing");
  }
  bool done;
  TFRT_RETURN_IF_ERROR(tfrt_device_event_query(event, &done));
  if (done) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: the %s event is not done yet",
                            event->device->name, which);
}

tfrt_status_t tfrt_device_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                        float* out_milliseconds) {
  *out_milliseconds = 0;
  if (end->device != start->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "events of %s and %s: there is no time between two devices",
                              start->device->name, end->device->name);
  }
  TFRT_RETURN_IF_ERROR(device_event_check_time(start, "first"));
  TFRT_RETURN_IF_ERROR(device_event_check_time(end, "second"));
  return end->vtable->elapsed(end, start, out_milliseconds);
}
