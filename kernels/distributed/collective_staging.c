// SPDX-License-Identifier: Apache-2.0
//
// Operands and results in the memory of devices. This folder knows about a device only that its
// type has streams (payload_stream.h) and the header of a dense tensor. So it reads an operand into
// host memory as if to send it to another host, and writes the result as if that had come from one.
//
//   agreement --> stage: device -> memory that is pinned --> transfer --> land: pinned -> device
//
// Both are begun in the blocking queue, as a driver may take its time, and no thread waits for
// the copies. The tensor that is the result is available when its elements are in its memory. A
// cancel makes the results errors at once; the copies that were given are still made.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/payload_stream.h"
#include "host_runtime/async/queued_work.h"
#include "host_runtime/tensor/tensor_codec.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

// A result is written in pieces of this many bytes: one is copied while the next is filled in.
#define PIECE ((size_t)4 << 20)

static const tfrt_type_t* type_of(tfrt_async_value_t* operand) {
  return tfrt_type_get(tfrt_async_value_resolved(operand)->type_id);
}

void tfrt_collective_describe_place(tfrt_collective_t* collective, bool is_ignored) {
  tfrt_async_value_t* operand = collective->operand;
  bool is_here =
      operand && tfrt_async_value_is_available(operand) && !tfrt_async_value_is_error(operand);
  collective->record.is_on_device = is_here && type_of(operand)->streams;
  collective->record.is_anywhere = is_ignored && !is_here;
}

tfrt_status_t tfrt_collective_describe_device(tfrt_collective_t* collective,
                                              tfrt_async_value_t* value) {
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  collective->record.elements = tfrt_string_view_of(type->name);
  tfrt_encoding_t encoding;
  TFRT_RETURN_IF_ERROR(type->codec->encode(tfrt_async_value_payload(value), &encoding));
  return tfrt_tensor_header_decode(encoding.header, encoding.header_size, encoding.body_size,
                                   &collective->record.dtype, &collective->record.shape);
}

// --- Work ------------------------------------------------------------------------

// Work of a device for a collective. Waiters for the result stop waiting when the request ends; the
// collective itself waits on.
typedef struct work_s work_t;
struct work_s {
  tfrt_ref_count_t ref_count;  // of the task, and of the subscription
  tfrt_task_t task;
  tfrt_cancellation_subscription_t subscription;
  tfrt_collective_t* collective;       // +1
  tfrt_async_value_t* value;           // +1; what comes of it
  void (*finish)(const work_t* work);  // when that is resolved
  tfrt_dense_host_tensor_t tensor;     // owned; of a result
};

static work_t* allocate_work(tfrt_collective_t* collective, void (*finish)(const work_t* work)) {
  work_t* work = tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*work));
  if (!work) return NULL;
  tfrt_ref_count_initialize(&work->ref_count);
  tfrt_ref_count_increment(&work->ref_count);
  work->collective = tfrt_collective_retain(collective);
  work->finish = finish;
  return work;
}

static void release_work(work_t* work) {
  if (!tfrt_ref_count_decrement(&work->ref_count)) return;
  tfrt_collective_t* collective = work->collective;
  tfrt_dense_host_tensor_deinitialize(&work->tensor);
  tfrt_async_value_release(work->value);
  tfrt_allocator_free(collective->allocator, work, sizeof(*work));
  tfrt_collective_release(collective);
}

static void cancel_work(tfrt_cancellation_subscription_t* subscription, tfrt_status_t reason) {
  work_t* work = TFRT_CONTAINER_OF(subscription, work_t, subscription);
  tfrt_collective_fail_take(work->collective, tfrt_status_retain(reason));
  release_work(work);
}

static void end_work(tfrt_task_t* task) {
  work_t* work = TFRT_CONTAINER_OF(task, work_t, task);
  tfrt_cancellation_t* cancellation = &work->collective->context.request->cancellation;
  if (tfrt_cancellation_unsubscribe(cancellation, &work->subscription)) release_work(work);
  work->finish(work);
  release_work(work);
}

// Runs |begin| with |work| (consumed) in the blocking queue.
static void start_work_take(work_t* work, tfrt_queued_work_fn_t begin) {
  tfrt_collective_t* collective = work->collective;
  tfrt_status_t status = tfrt_work_queue_run_blocking(collective->context.work_queue, true, begin,
                                                      work, collective->allocator, &work->value);
  if (status) work->value = tfrt_async_value_create_error_take(status);
  tfrt_task_initialize(&work->task, end_work);
  tfrt_cancellation_subscribe(&collective->context.request->cancellation, &work->subscription,
                              cancel_work);
  tfrt_async_value_and_then(work->value, &work->task);
}

// --- Staging ---------------------------------------------------------------------

// A piece with the allocator of its own memory.
typedef struct staged_piece_s {
  tfrt_payload_piece_t piece;
  tfrt_allocator_t allocator;
} staged_piece_t;

static void deallocate_piece(void* context, void* data, size_t size) {
  (void)data, (void)size;
  staged_piece_t* staged = context;
  tfrt_payload_piece_deinitialize(&staged->piece);
  tfrt_allocator_free(staged->allocator, staged, sizeof(*staged));
}

// Sets |*out_buffer| (+1) to the |size| bytes of |piece|, which it takes when this succeeds.
static tfrt_status_t wrap_piece(tfrt_collective_t* collective, const tfrt_payload_piece_t* piece,
                                size_t size, tfrt_host_buffer_t** out_buffer) {
  staged_piece_t* staged = tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*staged));
  if (!staged) return tfrt_status_out_of_memory();
  *staged = (staged_piece_t){*piece, collective->allocator};
  // Only read from, as every operand is.
  tfrt_status_t status =
      tfrt_host_buffer_create_external((void*)(uintptr_t)piece->data, size, deallocate_piece,
                                       staged, collective->allocator, out_buffer);
  if (status) tfrt_allocator_free(collective->allocator, staged, sizeof(*staged));
  return status;
}

// Begins to read the operand's |size| > 0 bytes into |*out_buffer| (+1), where they are when
// |*out_ready| (+1) is there.
static tfrt_status_t read_operand(tfrt_collective_t* collective, size_t size,
                                  tfrt_host_buffer_t** out_buffer, tfrt_async_value_t** out_ready) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(collective->operand);
  tfrt_payload_source_t* source = NULL;
  TFRT_RETURN_IF_ERROR(type_of(value)->streams->open_source(tfrt_async_value_payload(value),
                                                            collective->context.host, &source));
  tfrt_payload_piece_t piece = {0};
  tfrt_status_t status = source->vtable->read(source, 0, size, &piece);
  tfrt_payload_source_destroy(source);
  if (status) return status;
  tfrt_async_value_t* ready = tfrt_async_value_retain(piece.ready);
  status = wrap_piece(collective, &piece, size, out_buffer);
  if (!status) {
    *out_ready = ready;
    return NULL;
  }
  tfrt_payload_piece_deinitialize(&piece);
  tfrt_async_value_release(ready);
  return status;
}

// Makes |staged| a tensor over the bytes that are on their way from the device.
static tfrt_status_t stage(tfrt_collective_t* collective, tfrt_async_value_t** out_ready) {
  const tfrt_collective_record_t* record = &collective->record;
  size_t size = tfrt_collective_record_size(record);
  tfrt_dense_host_tensor_t tensor;
  if (size == 0) {
    TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(record->dtype, &record->shape,
                                                           collective->allocator, &tensor));
    *out_ready = tfrt_async_value_ready_chain();
  } else {
    tfrt_host_buffer_t* buffer = NULL;
    TFRT_RETURN_IF_ERROR(read_operand(collective, size, &buffer, out_ready));
    tfrt_status_t status =
        tfrt_dense_host_tensor_initialize_view(record->dtype, &record->shape, buffer, 0, &tensor);
    tfrt_host_buffer_release(buffer);
    if (status) {
      tfrt_async_value_release(*out_ready);
      return status;
    }
  }
  collective->staged = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}

static tfrt_async_value_t* begin_stage(void* argument) {
  tfrt_async_value_t* ready = NULL;
  tfrt_status_t status = stage(((work_t*)argument)->collective, &ready);
  return status ? tfrt_async_value_create_error_take(status) : ready;
}

// Takes the reference that tfrt_collective_stage_take() got.
static void finish_stage(const work_t* work) {
  tfrt_collective_t* collective = work->collective;
  tfrt_async_value_t* staged =
      tfrt_async_value_is_error(work->value) ? work->value : collective->staged;
  if (!tfrt_async_value_is_error(staged)) {
    tfrt_collective_transfer_take(collective);
    return;
  }
  tfrt_collective_fail_take(collective, tfrt_status_retain(tfrt_async_value_error(staged)));
  tfrt_collective_transfer_refuse(collective);
  tfrt_collective_release(collective);
}

void tfrt_collective_stage_take(tfrt_collective_t* collective) {
  // An operand that is ignored is not read.
  if (collective->record.dtype == TFRT_DTYPE_INVALID) {
    tfrt_collective_transfer_take(collective);
    return;
  }
  work_t* work = allocate_work(collective, finish_stage);
  if (work) {
    start_work_take(work, begin_stage);
    return;
  }
  tfrt_collective_fail_take(collective, tfrt_status_out_of_memory());
  tfrt_collective_transfer_refuse(collective);
  tfrt_collective_release(collective);
}

// --- Landing ---------------------------------------------------------------------

static tfrt_status_t write_piece(tfrt_payload_sink_t* sink, const char* data, size_t offset,
                                 size_t size) {
  void* target = NULL;
  TFRT_RETURN_IF_ERROR(sink->vtable->prepare(sink, offset, size, &target));
  memcpy(target, data + offset, size);
  tfrt_async_value_t* stored = NULL;
  TFRT_RETURN_IF_ERROR(sink->vtable->commit(sink, &stored));
  if (stored) tfrt_async_value_release(stored);
  return NULL;
}

// Sets |*out_streams| to those of the type that the root's operand has, which another host names.
static tfrt_status_t find_streams(const tfrt_collective_t* collective,
                                  const tfrt_payload_streams_t** out_streams) {
  tfrt_string_view_t text = collective->agreement.records[collective->record.root].elements;
  char name[64];
  snprintf(name, sizeof(name), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(text));
  tfrt_type_id_t id;
  *out_streams = tfrt_type_find(name, &id) ? tfrt_type_get(id)->streams : NULL;
  if (*out_streams) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s gives a %s, which no device of this host can have",
                            tfrt_collective_kind_name(collective->record.kind), name);
}

static tfrt_status_t open_sink(const work_t* work, size_t size, tfrt_payload_sink_t** out_sink) {
  const tfrt_collective_t* collective = work->collective;
  const char* device = collective->context.device;
  tfrt_payload_place_t place = {.host = collective->context.host, .device = device ? device : ""};
  const tfrt_payload_streams_t* streams = NULL;
  if (collective->record.is_anywhere) {
    TFRT_RETURN_IF_ERROR(find_streams(collective, &streams));
  } else {
    tfrt_async_value_t* operand = tfrt_async_value_resolved(collective->operand);
    streams = type_of(operand)->streams;
    place.device = streams->device(tfrt_async_value_payload(operand));
  }
  tfrt_encoding_t encoding;
  tfrt_tensor_header_encode(work->tensor.dtype, &work->tensor.shape, &encoding);
  return streams->open_sink(&place, encoding.header, encoding.header_size, size, out_sink);
}

static tfrt_async_value_t* begin_landing(void* argument) {
  const work_t* work = argument;
  size_t size = tfrt_dense_host_tensor_size(&work->tensor);
  const char* data = tfrt_dense_host_tensor_data(&work->tensor);
  tfrt_payload_sink_t* sink = NULL;
  tfrt_status_t status = open_sink(work, size, &sink);
  for (size_t offset = 0; !status && offset < size; offset += PIECE) {
    status = write_piece(sink, data, offset, size - offset < PIECE ? size - offset : PIECE);
  }
  tfrt_async_value_t* value =
      status ? tfrt_async_value_create_error_take(status) : sink->vtable->finish(sink);
  tfrt_payload_sink_destroy(sink);
  return value;
}

static void finish_landing(const work_t* work) {
  if (tfrt_async_value_is_error(work->value)) {
    tfrt_collective_fail_take(work->collective,
                              tfrt_status_retain(tfrt_async_value_error(work->value)));
  } else {
    tfrt_collective_tell_result_take(work->collective, tfrt_async_value_retain(work->value));
  }
}

void tfrt_collective_land_take(tfrt_collective_t* collective, tfrt_dense_host_tensor_t* tensor) {
  work_t* work = allocate_work(collective, finish_landing);
  if (!work) {
    tfrt_dense_host_tensor_deinitialize(tensor);
    tfrt_collective_fail_take(collective, tfrt_status_out_of_memory());
    return;
  }
  work->tensor = *tensor;
  start_work_take(work, begin_landing);
}
