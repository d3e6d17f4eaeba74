// SPDX-License-Identifier: Apache-2.0
//
// A point in the work of a stream. Recording moves the event to the end of the work that the stream
// has so far. Waiting, asking and awaiting refer to the point of the latest record at the time of
// the call. A later record doesn't change that.
//
//   stream A   work, work, [record E], work ...
//                              \.
//   stream B          work, [wait E], work ...        the host: await E --> a chain
//
// An event that was never recorded is done.
//
// Awaiting gives an AsyncValue and costs no thread: the backend resolves it when the point is
// reached, through the work queue.
//
// Life:
//  1. Created at +1 by tfrt_device_create_event().
//  2. Recorded any number of times (tfrt_device_stream_record()), also in several streams of
//     its device, and waited for, also by streams of other devices of its platform.
//  3. Released, at any time: calls that wait go on waiting.
//
// Thread rule: thread-safe; two records at once have no order.
// Failure rule: as devices/device.h; a point that a lost device will never reach is an error
// for the host. A stream of another device goes on without waiting any longer.
#ifndef TFRT_DEVICES_DEVICE_EVENT_H_
#define TFRT_DEVICES_DEVICE_EVENT_H_

#include "devices/device.h"
#include "host_runtime/async/async_value.h"

TFRT_API_BEGIN

typedef struct tfrt_device_event_vtable_s {
  void (*destroy)(tfrt_device_event_t* event);
  // Whether the point is reached; the loss of the device as an error.
  tfrt_status_t (*query)(tfrt_device_event_t* event, bool* out_done);
  // A chain (+1, never NULL) that becomes available, or an error, at the point; |in_hurry|: by
  // tfrt_device_event_await_soon().
  tfrt_async_value_t* (*await)(tfrt_device_event_t* event, bool in_hurry);
  // Milliseconds from |start| to |event|, both with timing and done.
  tfrt_status_t (*elapsed)(tfrt_device_event_t* event, tfrt_device_event_t* start,
                           float* out_milliseconds);
} tfrt_device_event_vtable_t;

// Embedded first in every implementation. Constant but for the counts.
struct tfrt_device_event_s {
  const tfrt_device_event_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  bool with_timing;
  TFRT_ATOMIC(bool) is_recorded;  // once at least
  tfrt_device_t* device;          // +1
};

// Fills the zeroed |event| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_event_initialize(tfrt_device_event_t* event,
                                  const tfrt_device_event_vtable_t* vtable, tfrt_device_t* device,
                                  bool with_timing);

// Adds one reference to |event| and returns it. Thread-safe.
tfrt_device_event_t* tfrt_device_event_retain(tfrt_device_event_t* event);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_event_release(tfrt_device_event_t* event);

// Sets |*out_done| to whether the point is reached. Never blocks. Thread-safe.
tfrt_status_t tfrt_device_event_query(tfrt_device_event_t* event, bool* out_done) TFRT_MUST_USE;

// Returns a chain (+1, never NULL) that becomes available when the point is reached, or the
// error that the device is lost with. Thread-safe.
tfrt_async_value_t* tfrt_device_event_await(tfrt_device_event_t* event) TFRT_MUST_USE;

// The same for a caller that needs to know at once, of work that is soon done. A backend that asks
// the device for its events asks for this one without a pause for a while, which takes a processor.
// Thread-safe.
tfrt_async_value_t* tfrt_device_event_await_soon(tfrt_device_event_t* event) TFRT_MUST_USE;

// Sets |*out_milliseconds| to the device's time from the point of |start| to that of |end|.
// FAILED_PRECONDITION if one of them has no timing, was never recorded or is not done yet;
// INVALID_ARGUMENT if they belong to two devices. Thread-safe.
tfrt_status_t tfrt_device_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                        float* out_milliseconds) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_EVENT_H_
