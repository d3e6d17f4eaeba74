// SPDX-License-Identifier: Apache-2.0
//
// The receives of a plan: elements that come are stored in the output, or combined with our own
// there or in a buffer that is sent on.
#include <string.h>

#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

// Our elements, which the step |index| combines with those that come.
static const char* own_elements(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  if (step->joins) return collective->transfer.progress[step->after].made->data;
  const tfrt_dense_host_tensor_t* operand = tfrt_collective_operand(collective);
  return (const char*)tfrt_dense_host_tensor_data(operand) + step->input;
}

// Sets |target| to |received| combined with our own, for the step |index|.
static void combine(tfrt_collective_t* collective, uint32_t index, void* target,
                    const void* received) {
  const tfrt_collective_record_t* record = &collective->record;
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  const void* own = own_elements(collective, index);
  int64_t count = (int64_t)(step->size / tfrt_dtype_size(record->dtype));
  tfrt_reduction_apply(record->reduction, record->dtype, target, step->own_first ? own : received,
                       step->own_first ? received : own, count);
  tfrt_collective_drop_made(collective, index);
  if (!step->finish) return;
  tfrt_reduction_finish(record->reduction, record->dtype, target, count, collective->group->count);
}

// Takes in the elements |value|, which have come for the step |index|.
static tfrt_status_t take_in(tfrt_collective_t* collective, uint32_t index,
                             tfrt_async_value_t* value) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(concrete);
  bool fits = concrete->type_id == tfrt_host_tensor_type_id() &&
              tensor->layout == TFRT_TENSOR_LAYOUT_DENSE &&
              tfrt_dense_host_tensor_size(&tensor->dense) == step->size;
  if (!fits) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "host %u sent something else than %zu bytes",
                              collective->group->ranks[step->member], step->size);
  }
  const void* received = tfrt_dense_host_tensor_data(&tensor->dense);
  char* output = collective->transfer.output.buffer
                     ? (char*)tfrt_dense_host_tensor_data(&collective->transfer.output)
                     : NULL;
  if (step->kind == TFRT_COLLECTIVE_RECEIVE_STORE) {
    memcpy(output + step->output, received, step->size);
  } else if (step->kind == TFRT_COLLECTIVE_RECEIVE_COMBINE) {
    combine(collective, index, output + step->output, received);
  } else {
    tfrt_host_buffer_t* made = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(step->size, collective->allocator, &made));
    combine(collective, index, made->data, received);
    collective->transfer.progress[index].made = made;
  }
  return NULL;
}

static void run_received(tfrt_task_t* task) {
  tfrt_collective_flight_t* flight = TFRT_CONTAINER_OF(task, tfrt_collective_flight_t, task);
  tfrt_collective_t* collective = flight->collective;
  uint32_t index = flight->step;
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  bool is_error = tfrt_async_value_is_error(flight->value);
  tfrt_status_t failure = tfrt_collective_failure(collective);
  tfrt_status_t status = NULL;
  if (is_error) {
    status = tfrt_status_retain(tfrt_async_value_error(flight->value));
  } else if (!failure) {
    status = take_in(collective, index, flight->value);
  }
  tfrt_status_release(failure);
  if (status) tfrt_collective_fail_take(collective, status);
  tfrt_mutex_lock(&collective->mutex);
  collective->transfer.has_arrived[step->member] = true;
  if (is_error && step->number == 0) collective->transfer.is_closed_from[step->member] = true;
  tfrt_mutex_unlock(&collective->mutex);
  tfrt_async_value_release(flight->value);
  tfrt_allocator_free(collective->allocator, flight, sizeof(*flight));
  tfrt_collective_end_step(collective, index);
  tfrt_collective_release(collective);
}

// A thread of the network has no time for many elements.
static void run_arrived(tfrt_task_t* task) {
  tfrt_collective_flight_t* flight = TFRT_CONTAINER_OF(task, tfrt_collective_flight_t, task);
  tfrt_task_initialize(&flight->task, run_received);
  tfrt_collective_run_or_queue(flight->collective,
                               tfrt_collective_step_at(flight->collective, flight->step)->size,
                               &flight->task);
}

void tfrt_collective_start_receive(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  tfrt_async_value_t* value = tfrt_collective_receive(collective, step->member,
                                                      TFRT_COLLECTIVE_TRANSFER_PHASE, step->number);
  tfrt_collective_await_step(collective, index, value, run_arrived);
}
