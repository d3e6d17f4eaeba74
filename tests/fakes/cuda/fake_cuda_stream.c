// SPDX-License-Identifier: Apache-2.0
//
// Streams and events.
#include "tests/fakes/cuda/fake_cuda_call.h"

tfrt_cuda_result_t tfrt_fake_StreamCreate(tfrt_cuda_stream_handle_t* stream, unsigned flags) {
  int error = tfrt_fake_begin_in_context("cuStreamCreate", NULL);
  if (error) return tfrt_fake_end(error);
  if (flags != TFRT_CUDA_STREAM_NON_BLOCKING) tfrt_fake_defect("a stream that blocks others");
  *stream = tfrt_fake_stream_create(tfrt_fake_current());
  return tfrt_fake_end(*stream ? 0 : TFRT_CUDA_ERROR_OUT_OF_MEMORY);
}

tfrt_cuda_result_t tfrt_fake_StreamDestroy(tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_begin_in_stream("cuStreamDestroy", stream);
  // The handle goes even on a broken context, or its thread would never end.
  if (error && error != tfrt_fake_current()->error) return tfrt_fake_end(error);
  tfrt_fake_capture_drop(stream);
  stream->is_destroyed = true;
  tfrt_list_remove(&stream->link);
  tfrt_list_push_back(&tfrt_fake.ended_streams, &stream->link);
  tfrt_condition_broadcast(&tfrt_fake.condition);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_EventCreate(tfrt_cuda_event_handle_t* out_event, unsigned flags) {
  int error = tfrt_fake_begin_in_context("cuEventCreate", NULL);
  if (error) return tfrt_fake_end(error);
  tfrt_fake_event_t* event =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*event));
  event->context = tfrt_fake_current();
  event->with_timing = (flags & TFRT_CUDA_EVENT_DISABLE_TIMING) == 0;
  event->ref_count = 1;
  tfrt_list_push_back(&tfrt_fake.events, &event->link);
  *out_event = event;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_EventDestroy(tfrt_cuda_event_handle_t event) {
  int error = tfrt_fake_begin_in_context("cuEventDestroy", NULL);
  if (error && error != tfrt_fake_current()->error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_event(event)) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  event->is_destroyed = true;
  tfrt_fake_event_release(event);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_EventRecord(tfrt_cuda_event_handle_t event,
                                         tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_begin_in_stream("cuEventRecord", stream);
  if (!error && (!tfrt_fake_is_event(event) || event->context != stream->context)) {
    tfrt_fake_defect("an event is recorded in a stream of another context");
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (error) return tfrt_fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_RECORD);
  ++event->ref_count;
  op->event = event;
  op->sequence = ++event->issued;
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_StreamWaitEvent(tfrt_cuda_stream_handle_t stream,
                                             tfrt_cuda_event_handle_t event, unsigned flags) {
  (void)flags;
  int error = tfrt_fake_begin_in_stream("cuStreamWaitEvent", stream);
  if (!error && !tfrt_fake_is_event(event)) error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  if (error) return tfrt_fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_WAIT);
  ++event->ref_count;
  op->event = event;
  op->sequence = event->issued;
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_EventQuery(tfrt_cuda_event_handle_t event) {
  int error = tfrt_fake_begin_in_context("cuEventQuery", NULL);
  if (error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_event(event)) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  return tfrt_fake_end(event->done >= event->issued ? 0 : TFRT_CUDA_ERROR_NOT_READY);
}

tfrt_cuda_result_t tfrt_fake_EventElapsedTime(float* milliseconds, tfrt_cuda_event_handle_t start,
                                              tfrt_cuda_event_handle_t end) {
  int error = tfrt_fake_begin_in_context("cuEventElapsedTime", start->context);
  if (error) return tfrt_fake_end(error);
  bool is_good = tfrt_fake_is_event(start) && tfrt_fake_is_event(end) && start->with_timing &&
                 end->with_timing && start->done && end->done;
  if (!is_good) tfrt_fake_defect("the time between events that have none");
  *milliseconds = (float)(end->time_ns - start->time_ns) / 1e6f;
  return tfrt_fake_end(is_good ? 0 : TFRT_CUDA_ERROR_INVALID_HANDLE);
}
