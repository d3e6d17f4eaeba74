// SPDX-License-Identifier: Apache-2.0
//
// The sends of a plan: each is a tensor over the bytes that it sends, without a copy.
//
//   sent: its chain is there, and nobody reads the slice any more --> step done
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

// Bytes that are being sent: the context of an external buffer over them.
typedef struct slice_s {
  tfrt_task_t task;
  tfrt_collective_t* collective;  // +1
  tfrt_host_buffer_t* parent;     // +1
  uint32_t step;
} slice_t;

static void run_slice_end(tfrt_task_t* task) {
  slice_t* slice = TFRT_CONTAINER_OF(task, slice_t, task);
  tfrt_collective_t* collective = slice->collective;
  uint32_t step = slice->step;
  tfrt_host_buffer_release(slice->parent);
  tfrt_allocator_free(collective->allocator, slice, sizeof(*slice));
  tfrt_collective_end_step(collective, step);
  tfrt_collective_release(collective);
}

// Nobody reads the slice any more.
static void deallocate_slice(void* context, void* data, size_t size) {
  (void)data;
  slice_t* slice = context;
  tfrt_task_initialize(&slice->task, run_slice_end);
  tfrt_collective_run_or_queue(slice->collective, size, &slice->task);
}

// Where the bytes of the send |index| are.
static char* sent_bytes(tfrt_collective_t* collective, uint32_t index,
                        tfrt_host_buffer_t** out_parent) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  const tfrt_dense_host_tensor_t* operand = NULL;
  switch (step->kind) {
    case TFRT_COLLECTIVE_SEND_STEP:
      *out_parent = transfer->progress[step->after].made;
      return (*out_parent)->data;
    case TFRT_COLLECTIVE_SEND_OUTPUT:
      *out_parent = transfer->output.buffer;
      return (char*)tfrt_dense_host_tensor_data(&transfer->output) + step->output;
    default:
      operand = tfrt_collective_operand(collective);
      *out_parent = operand->buffer;
      return (char*)tfrt_dense_host_tensor_data(operand) + step->input;
  }
}

// Makes a tensor over the bytes that the send |index| sends, without a copy.
static tfrt_status_t make_slice(tfrt_collective_t* collective, uint32_t index,
                                tfrt_async_value_t** out_value) {
  *out_value = NULL;
  size_t size = tfrt_collective_step_at(collective, index)->size;
  tfrt_host_buffer_t* parent = NULL;
  char* bytes = sent_bytes(collective, index, &parent);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(&(int64_t){(int64_t)size}, 1, &shape));
  slice_t* slice = tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*slice));
  if (!slice) return tfrt_status_out_of_memory();
  tfrt_host_buffer_t* buffer = NULL;
  tfrt_status_t status = tfrt_host_buffer_create_external(bytes, size, deallocate_slice, slice,
                                                          collective->allocator, &buffer);
  if (status) {
    tfrt_allocator_free(collective->allocator, slice, sizeof(*slice));
    return status;
  }
  // The step ends twice: when it is sent, and when nobody reads this.
  tfrt_mutex_lock(&collective->mutex);
  ++collective->transfer.progress[index].pending;
  tfrt_mutex_unlock(&collective->mutex);
  *slice = (slice_t){.collective = tfrt_collective_retain(collective),
                     .parent = tfrt_host_buffer_retain(parent),
                     .step = index};
  tfrt_collective_drop_made(collective, index);
  tfrt_dense_host_tensor_t tensor;
  status = tfrt_dense_host_tensor_initialize_view(TFRT_DTYPE_UI8, &shape, buffer, 0, &tensor);
  tfrt_host_buffer_release(buffer);
  if (!status) *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return status;
}

static void run_sent(tfrt_task_t* task) {
  tfrt_collective_flight_t* flight = TFRT_CONTAINER_OF(task, tfrt_collective_flight_t, task);
  tfrt_collective_t* collective = flight->collective;
  uint32_t step = flight->step;
  if (tfrt_async_value_is_error(flight->value)) {
    tfrt_collective_fail_take(collective,
                              tfrt_status_retain(tfrt_async_value_error(flight->value)));
  }
  tfrt_async_value_release(flight->value);
  tfrt_allocator_free(collective->allocator, flight, sizeof(*flight));
  tfrt_collective_end_step(collective, step);
  tfrt_collective_release(collective);
}

// The value that the step |index| sends (+1): its bytes, an error instead, or nothing (NULL).
static tfrt_async_value_t* payload_of(tfrt_collective_t* collective, uint32_t index) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  tfrt_async_value_t* value = NULL;
  tfrt_status_t status = tfrt_collective_failure(collective);
  if (!status) {
    status = make_slice(collective, index, &value);
    if (!status) return value;
    tfrt_collective_fail_take(collective, tfrt_status_retain(status));
  }
  tfrt_mutex_lock(&collective->mutex);
  bool is_closed = transfer->is_closed_to[step->member];
  if (step->number == 0) transfer->is_closed_to[step->member] = true;
  tfrt_mutex_unlock(&collective->mutex);
  if (!is_closed) return tfrt_async_value_create_error_take(status);
  tfrt_status_release(status);
  return NULL;
}

void tfrt_collective_start_send(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  tfrt_async_value_t* payload = payload_of(collective, index);
  if (!payload) {
    tfrt_collective_end_step(collective, index);
    return;
  }
  tfrt_async_value_t* chain = tfrt_collective_send(
      collective, step->member, TFRT_COLLECTIVE_TRANSFER_PHASE, step->number, payload);
  tfrt_async_value_release(payload);
  tfrt_collective_await_step(collective, index, chain, run_sent);
}
