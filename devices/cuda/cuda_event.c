// SPDX-License-Identifier: Apache-2.0
//
// An event of ours is one of the driver's, which is replaced when it is recorded while
// somebody awaits an earlier record: the driver's event knows its latest record only.
#include "devices/cuda/cuda_impl.h"

// A counted event of the driver.
typedef struct tfrt_cuda_point_s {
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +0: each owner of the point also has the device
  tfrt_cuda_event_handle_t handle;
  uint64_t stream;  // of its record: the stream's number, and the place there
  uint64_t place;
} tfrt_cuda_point_t;

typedef struct tfrt_cuda_event_s {
  tfrt_device_event_t base;
  tfrt_mutex_t mutex;        // guards |point|, and its record
  tfrt_cuda_point_t* point;  // +1
} tfrt_cuda_event_t;

// Somebody who awaits a point.
typedef struct tfrt_cuda_await_s {
  tfrt_cuda_poll_t poll;
  tfrt_device_t* device;      // +1
  tfrt_cuda_point_t* point;   // +1
  tfrt_async_value_t* value;  // +1
  tfrt_status_t status;       // +1, what the point ends with
} tfrt_cuda_await_t;

static tfrt_cuda_event_t* cuda_event_of(tfrt_device_event_t* event) {
  return TFRT_CONTAINER_OF(event, tfrt_cuda_event_t, base);
}

// --- Points ------------------------------------------------------------------------

static tfrt_status_t cuda_point_create(tfrt_device_t* device, bool with_timing,
                                       tfrt_cuda_point_t** out_point) {
  *out_point = NULL;
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cuda_point_t* point = tfrt_allocator_allocate_zeroed(allocator, sizeof(*point));
  if (!point) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cuda_result_t result = tfrt_cuda_api_of(device)->EventCreate(
        &point->handle, with_timing ? 0 : TFRT_CUDA_EVENT_DISABLE_TIMING);
    status = tfrt_cuda_leave(device, result, "cuEventCreate");
  }
  if (status) {
    tfrt_allocator_free(allocator, point, sizeof(*point));
    return status;
  }
  tfrt_ref_count_initialize(&point->ref_count);
  point->device = device;
  *out_point = point;
  return NULL;
}

static void cuda_point_release(tfrt_cuda_point_t* point) {
  if (!point || !tfrt_ref_count_decrement(&point->ref_count)) return;
  tfrt_device_t* device = point->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    status = tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->EventDestroy(point->handle),
                             "cuEventDestroy");
  }
  tfrt_status_release(status);
  tfrt_allocator_free(device->platform->allocator, point, sizeof(*point));
}

// The point of the latest record (+1).
static tfrt_cuda_point_t* cuda_event_point(tfrt_cuda_event_t* event) {
  tfrt_mutex_lock(&event->mutex);
  tfrt_cuda_point_t* point = event->point;
  tfrt_ref_count_increment(&point->ref_count);
  tfrt_mutex_unlock(&event->mutex);
  return point;
}

// Sets |*out_done| to whether |point| is reached; the loss of the device as an error.
static tfrt_status_t cuda_point_query(tfrt_cuda_point_t* point, bool* out_done) {
  *out_done = false;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(point->device));
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(point->device));
  tfrt_cuda_result_t result = tfrt_cuda_api_of(point->device)->EventQuery(point->handle);
  *out_done = result == TFRT_CUDA_SUCCESS;
  if (result == TFRT_CUDA_ERROR_NOT_READY) result = TFRT_CUDA_SUCCESS;
  return tfrt_cuda_leave(point->device, result, "cuEventQuery");
}

// --- Awaiting ------------------------------------------------------------------------

static bool cuda_await_is_over(tfrt_cuda_poll_t* poll) {
  tfrt_cuda_await_t* await = TFRT_CONTAINER_OF(poll, tfrt_cuda_await_t, poll);
  bool done;
  await->status = cuda_point_query(await->point, &done);
  return done || await->status;
}

// Ends the await, and makes its value available last: by then nothing of it is left.
static void cuda_await_run(tfrt_task_t* task) {
  tfrt_cuda_poll_t* poll = TFRT_CONTAINER_OF(task, tfrt_cuda_poll_t, task);
  tfrt_cuda_await_t* await = TFRT_CONTAINER_OF(poll, tfrt_cuda_await_t, poll);
  tfrt_device_t* device = await->device;
  tfrt_async_value_t* value = await->value;
  tfrt_status_t status = await->status;
  cuda_point_release(await->point);
  tfrt_allocator_free(device->platform->allocator, await, sizeof(*await));
  tfrt_device_release(device);
  if (status) {
    tfrt_async_value_set_error(value, status);
  } else {
    tfrt_async_value_set_available(value);
  }
  tfrt_async_value_release(value);
  tfrt_status_release(status);
}

static tfrt_async_value_t* cuda_event_await(tfrt_device_event_t* base, bool in_hurry) {
  tfrt_device_t* device = base->device;
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cuda_await_t* await = tfrt_allocator_allocate_zeroed(allocator, sizeof(*await));
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!await || !value) {
    tfrt_allocator_free(allocator, await, sizeof(*await));
    if (value) {
      tfrt_async_value_set_error(value, tfrt_status_out_of_memory());
      tfrt_async_value_release(value);
    }
    return tfrt_async_value_out_of_memory();
  }
  tfrt_task_initialize(&await->poll.task, cuda_await_run);
  await->poll.is_over = cuda_await_is_over;
  await->poll.in_hurry = in_hurry;
  await->poll.may_run_here = true;
  await->device = tfrt_device_retain(device);
  // A point that somebody else has isn't recorded again.
  await->point = cuda_event_point(cuda_event_of(base));
  await->poll.stream = await->point->stream;
  await->poll.place = await->point->place;
  await->value = tfrt_async_value_retain(value);
  tfrt_status_t status = tfrt_cuda_poller_add(&tfrt_cuda_platform_of(device)->poller, &await->poll);
  if (status) {
    await->status = status;
    cuda_await_run(&await->poll.task);
  }
  return value;
}

// --- The event -----------------------------------------------------------------------

static void cuda_event_destroy(tfrt_device_event_t* base) {
  tfrt_cuda_event_t* event = cuda_event_of(base);
  cuda_point_release(event->point);
  tfrt_mutex_deinitialize(&event->mutex);
  tfrt_allocator_free(base->device->platform->allocator, event, sizeof(*event));
}

static tfrt_status_t cuda_event_query(tfrt_device_event_t* event, bool* out_done) {
  tfrt_cuda_point_t* point = cuda_event_point(cuda_event_of(event));
  tfrt_status_t status = cuda_point_query(point, out_done);
  cuda_point_release(point);
  return status;
}

static tfrt_status_t cuda_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                        float* out_milliseconds) {
  tfrt_device_t* device = end->device;
  tfrt_cuda_point_t* from = cuda_event_point(cuda_event_of(start));
  tfrt_cuda_point_t* to = cuda_event_point(cuda_event_of(end));
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cuda_result_t result =
        tfrt_cuda_api_of(device)->EventElapsedTime(out_milliseconds, from->handle, to->handle);
    status = tfrt_cuda_leave(device, result, "cuEventElapsedTime");
  }
  cuda_point_release(from);
  cuda_point_release(to);
  return status;
}

static const tfrt_device_event_vtable_t event_vtable = {cuda_event_destroy, cuda_event_query,
                                                        cuda_event_await, cuda_event_elapsed};

tfrt_status_t tfrt_cuda_device_create_event(tfrt_device_t* device, bool with_timing,
                                            tfrt_device_event_t** out_event) {
  tfrt_cuda_event_t* event =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*event));
  if (!event) return tfrt_status_out_of_memory();
  tfrt_status_t status = cuda_point_create(device, with_timing, &event->point);
  if (status) {
    tfrt_allocator_free(device->platform->allocator, event, sizeof(*event));
    return status;
  }
  tfrt_device_event_initialize(&event->base, &event_vtable, device, with_timing);
  tfrt_mutex_initialize(&event->mutex);
  *out_event = &event->base;
  return NULL;
}

// Sees to it that nobody but |event|, whose mutex is held, has its point.
static tfrt_status_t cuda_event_renew(tfrt_cuda_event_t* event) {
  if (tfrt_ref_count_is_one(&event->point->ref_count)) return NULL;
  tfrt_cuda_point_t* point;
  TFRT_RETURN_IF_ERROR(cuda_point_create(event->base.device, event->base.with_timing, &point));
  cuda_point_release(event->point);
  event->point = point;
  return NULL;
}

tfrt_status_t tfrt_cuda_event_record(tfrt_device_event_t* base, tfrt_cuda_stream_t* stream) {
  tfrt_cuda_event_t* event = cuda_event_of(base);
  tfrt_device_t* device = base->device;
  tfrt_mutex_lock(&event->mutex);
  tfrt_status_t status = cuda_event_renew(event);
  if (!status) status = tfrt_cuda_enter(device);
  if (!status) {
    // Places are in the order in which the driver gets the records.
    tfrt_mutex_lock(&stream->record_mutex);
    tfrt_cuda_result_t result =
        tfrt_cuda_api_of(device)->EventRecord(event->point->handle, stream->handle);
    event->point->stream = stream->number;
    event->point->place = ++stream->record_count;
    tfrt_mutex_unlock(&stream->record_mutex);
    status = tfrt_cuda_leave(device, result, "cuEventRecord");
  }
  tfrt_mutex_unlock(&event->mutex);
  return status;
}

tfrt_status_t tfrt_cuda_event_wait(tfrt_device_event_t* event, tfrt_cuda_stream_t* stream) {
  // A lost device never reaches the event, so the stream doesn't wait for it.
  tfrt_status_t lost = tfrt_device_check(event->device);
  if (lost) {
    tfrt_status_release(lost);
    return NULL;
  }
  tfrt_device_t* device = stream->base.device;
  tfrt_cuda_point_t* point = cuda_event_point(cuda_event_of(event));
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cuda_result_t result =
        tfrt_cuda_api_of(device)->StreamWaitEvent(stream->handle, point->handle, 0);
    status = tfrt_cuda_leave(device, result, "cuStreamWaitEvent");
  }
  cuda_point_release(point);
  return status;
}
