// SPDX-License-Identifier: Apache-2.0
//
// Carrying out a plan. Whatever ends, the pump looks for what may begin now:
//
//   receive   in the order of the plan, at most a window of them; the second message of a member
//             only after its first, which may say that there is no second
//   send      in the order of the plan, at most a window of them, each after the step before it
//
//   arrives --> store, combine --> step done --> pump
//   sent: its chain is there, and nobody reads the slice any more --> step done --> pump
//
// What a message leads to is done on the thread that has read it if the message is small: to wake
// another one would take longer. Else it is a task of the work queue.
//
// After an error steps still begin and end, but elements are not touched, and errors are sent.
#include <string.h>

#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

// The phase in the keys of these messages.
#define PHASE 'p'

// A message under way.
typedef struct flight_s {
  tfrt_task_t task;
  tfrt_collective_t* collective;  // +1
  tfrt_async_value_t* value;      // +1; of a receive what comes, of a send its chain
  uint32_t step;
} flight_t;

// Bytes that are being sent: the context of an external buffer over them.
typedef struct slice_s {
  tfrt_task_t task;
  tfrt_collective_t* collective;  // +1
  tfrt_host_buffer_t* parent;     // +1
  uint32_t step;
} slice_t;

static void pump(tfrt_collective_t* collective);

// Runs |task|, which is about |size| bytes, now or soon. With no lock held.
static void run_or_queue(tfrt_collective_t* collective, size_t size, tfrt_task_t* task) {
  if (size <= TFRT_COLLECTIVE_SMALL) {
    task->run(task);
  } else {
    tfrt_work_queue_add_task(collective->context.work_queue, task);
  }
}

static const tfrt_collective_step_t* step_at(const tfrt_collective_t* collective, uint32_t index) {
  return &collective->transfer.plan.steps[index];
}

static bool fills_output(const tfrt_collective_step_t* step) {
  return step->kind == TFRT_COLLECTIVE_RECEIVE_STORE ||
         step->kind == TFRT_COLLECTIVE_RECEIVE_COMBINE || step->kind == TFRT_COLLECTIVE_COPY;
}

// --- The end of steps --------------------------------------------------------------

// Publishes the output, whose elements are all there; the slices of it keep its buffer.
static void tell_output(tfrt_collective_t* collective) {
  if (!collective->transfer.output.buffer) {
    tfrt_collective_tell_result_take(collective, tfrt_async_value_retain(collective->operand));
    return;
  }
  tfrt_dense_host_tensor_t result;
  tfrt_dense_host_tensor_initialize_alias(&collective->transfer.output, &result);
  tfrt_collective_tell_tensor_take(collective, &result);
}

// With the mutex held.
static void count_end(tfrt_collective_transfer_t* transfer, uint32_t index) {
  const tfrt_collective_step_t* step = &transfer->plan.steps[index];
  transfer->progress[index].done = true;
  --transfer->steps_left;
  if (fills_output(step)) --transfer->arrivals_left;
  if (step->kind == TFRT_COLLECTIVE_SEND_STEP) --transfer->relays;
}

// One thing that the step |index| waits for has ended; if it was the last, so has the step.
static void end_step(tfrt_collective_t* collective, uint32_t index) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = step_at(collective, index);
  tfrt_mutex_lock(&collective->mutex);
  bool ends = --transfer->progress[index].pending == 0;
  if (ends) {
    count_end(transfer, index);
    if (tfrt_collective_step_receives(step)) {
      --transfer->receives;
    } else {
      --transfer->sends;
    }
  }
  tfrt_mutex_unlock(&collective->mutex);
  if (ends) pump(collective);
}

// --- Sending -----------------------------------------------------------------------

static void run_slice_end(tfrt_task_t* task) {
  slice_t* slice = TFRT_CONTAINER_OF(task, slice_t, task);
  tfrt_collective_t* collective = slice->collective;
  uint32_t step = slice->step;
  tfrt_host_buffer_release(slice->parent);
  tfrt_allocator_free(collective->allocator, slice, sizeof(*slice));
  end_step(collective, step);
  tfrt_collective_release(collective);
}

// Nobody reads the slice any more.
static void deallocate_slice(void* context, void* data, size_t size) {
  (void)data;
  slice_t* slice = context;
  tfrt_task_initialize(&slice->task, run_slice_end);
  run_or_queue(slice->collective, size, &slice->task);
}

// Where the bytes of the send |index| are.
static char* sent_bytes(tfrt_collective_t* collective, uint32_t index,
                        tfrt_host_buffer_t** out_parent) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = step_at(collective, index);
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

// What a relay has made is sent once, and kept by its slice from then on.
static void drop_made(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = step_at(collective, index);
  if (step->kind != TFRT_COLLECTIVE_SEND_STEP) return;
  tfrt_host_buffer_release(collective->transfer.progress[step->after].made);
  collective->transfer.progress[step->after].made = NULL;
}

// Makes a tensor of bytes over what the send |index| sends, without a copy.
static tfrt_status_t make_slice(tfrt_collective_t* collective, uint32_t index,
                                tfrt_async_value_t** out_value) {
  *out_value = NULL;
  size_t size = step_at(collective, index)->size;
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
  drop_made(collective, index);
  tfrt_dense_host_tensor_t tensor;
  status = tfrt_dense_host_tensor_initialize_view(TFRT_DTYPE_UI8, &shape, buffer, 0, &tensor);
  tfrt_host_buffer_release(buffer);
  if (!status) *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return status;
}

static void run_sent(tfrt_task_t* task) {
  flight_t* flight = TFRT_CONTAINER_OF(task, flight_t, task);
  tfrt_collective_t* collective = flight->collective;
  uint32_t step = flight->step;
  if (tfrt_async_value_is_error(flight->value)) {
    tfrt_collective_fail_take(collective,
                              tfrt_status_retain(tfrt_async_value_error(flight->value)));
  }
  tfrt_async_value_release(flight->value);
  tfrt_allocator_free(collective->allocator, flight, sizeof(*flight));
  end_step(collective, step);
  tfrt_collective_release(collective);
}

// Waits with |run| for |value| (consumed) on account of the step |index|.
static void await_flight(tfrt_collective_t* collective, uint32_t index, tfrt_async_value_t* value,
                         void (*run)(tfrt_task_t* task)) {
  flight_t* flight = tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*flight));
  if (!flight) {
    tfrt_async_value_release(value);
    tfrt_collective_fail_take(collective, tfrt_status_out_of_memory());
    end_step(collective, index);
    return;
  }
  *flight =
      (flight_t){.collective = tfrt_collective_retain(collective), .value = value, .step = index};
  tfrt_task_initialize(&flight->task, run);
  tfrt_async_value_and_then(value, &flight->task);
}

// What the step |index| sends (+1): its bytes, an error instead, or nothing (NULL).
static tfrt_async_value_t* payload_of(tfrt_collective_t* collective, uint32_t index) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = step_at(collective, index);
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

static void start_send(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = step_at(collective, index);
  tfrt_async_value_t* payload = payload_of(collective, index);
  if (!payload) {
    end_step(collective, index);
    return;
  }
  tfrt_async_value_t* chain =
      tfrt_collective_send(collective, step->member, PHASE, step->number, payload);
  tfrt_async_value_release(payload);
  await_flight(collective, index, chain, run_sent);
}

static void start_copy(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = step_at(collective, index);
  const char* source = tfrt_dense_host_tensor_data(tfrt_collective_operand(collective));
  char* target = tfrt_dense_host_tensor_data(&collective->transfer.output);
  memcpy(target + step->output, source + step->input, step->size);
  end_step(collective, index);
}

// --- Receiving ---------------------------------------------------------------------

// Sets |target| to |received| combined with our own.
static void combine(tfrt_collective_t* collective, const tfrt_collective_step_t* step, void* target,
                    const void* received) {
  const tfrt_collective_record_t* record = &collective->record;
  const char* own =
      (const char*)tfrt_dense_host_tensor_data(tfrt_collective_operand(collective)) + step->input;
  int64_t count = (int64_t)(step->size / tfrt_dtype_size(record->dtype));
  tfrt_reduction_apply(record->reduction, record->dtype, target, received, own, count);
  if (!step->finish) return;
  tfrt_reduction_finish(record->reduction, record->dtype, target, count, collective->group->count);
}

// Takes in the elements |value|, which have come for the step |index|.
static tfrt_status_t take_in(tfrt_collective_t* collective, uint32_t index,
                             tfrt_async_value_t* value) {
  const tfrt_collective_step_t* step = step_at(collective, index);
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
    combine(collective, step, output + step->output, received);
  } else {
    tfrt_host_buffer_t* made = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(step->size, collective->allocator, &made));
    combine(collective, step, made->data, received);
    collective->transfer.progress[index].made = made;
  }
  return NULL;
}

static void run_received(tfrt_task_t* task) {
  flight_t* flight = TFRT_CONTAINER_OF(task, flight_t, task);
  tfrt_collective_t* collective = flight->collective;
  uint32_t index = flight->step;
  const tfrt_collective_step_t* step = step_at(collective, index);
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
  end_step(collective, index);
  tfrt_collective_release(collective);
}

// A thread of the network has no time for many elements.
static void run_arrived(tfrt_task_t* task) {
  flight_t* flight = TFRT_CONTAINER_OF(task, flight_t, task);
  tfrt_task_initialize(&flight->task, run_received);
  run_or_queue(flight->collective, step_at(flight->collective, flight->step)->size, &flight->task);
}

static void start_receive(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = step_at(collective, index);
  tfrt_async_value_t* value =
      tfrt_collective_receive(collective, step->member, PHASE, step->number);
  await_flight(collective, index, value, run_arrived);
}

// --- The pump ----------------------------------------------------------------------

// The next receive that may begin, or TFRT_COLLECTIVE_NO_STEP. With the mutex held. What will
// never come ends here.
static uint32_t pick_receive(tfrt_collective_transfer_t* transfer) {
  for (; transfer->next_receive < transfer->plan.step_count; ++transfer->next_receive) {
    const tfrt_collective_step_t* step = &transfer->plan.steps[transfer->next_receive];
    if (!tfrt_collective_step_receives(step)) continue;
    bool is_relay = step->kind == TFRT_COLLECTIVE_RECEIVE_RELAY;
    if (transfer->is_closed_from[step->member]) {
      transfer->relays += is_relay;
      count_end(transfer, transfer->next_receive);
      continue;
    }
    bool may_begin = transfer->receives < transfer->window &&
                     (!is_relay || transfer->relays < transfer->max_relays) &&
                     (step->number == 0 || transfer->has_arrived[step->member]);
    if (!may_begin) break;
    ++transfer->receives;
    transfer->relays += is_relay;
    return transfer->next_receive++;
  }
  return TFRT_COLLECTIVE_NO_STEP;
}

// The same for sends and copies.
static uint32_t pick_send(tfrt_collective_transfer_t* transfer) {
  for (; transfer->next_send < transfer->plan.step_count; ++transfer->next_send) {
    const tfrt_collective_step_t* step = &transfer->plan.steps[transfer->next_send];
    if (tfrt_collective_step_receives(step)) continue;
    bool may_begin =
        transfer->sends < transfer->window &&
        (step->after == TFRT_COLLECTIVE_NO_STEP || transfer->progress[step->after].done);
    if (!may_begin) break;
    ++transfer->sends;
    return transfer->next_send++;
  }
  return TFRT_COLLECTIVE_NO_STEP;
}

static void start_step(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = step_at(collective, index);
  if (tfrt_collective_step_receives(step)) {
    start_receive(collective, index);
  } else if (step->kind == TFRT_COLLECTIVE_COPY) {
    start_copy(collective, index);
  } else {
    start_send(collective, index);
  }
}

// What is to be done next. With the mutex held.
typedef struct next_s {
  uint32_t step;
  bool tells_output;
  bool tells_end;
} next_t;

static next_t pick(tfrt_collective_transfer_t* transfer) {
  next_t next = {.step = pick_receive(transfer)};
  if (next.step == TFRT_COLLECTIVE_NO_STEP) next.step = pick_send(transfer);
  if (next.step != TFRT_COLLECTIVE_NO_STEP) transfer->progress[next.step].pending = 1;
  next.tells_output = transfer->arrivals_left == 0 && !transfer->told_output;
  next.tells_end = transfer->steps_left == 0 && !transfer->is_over;
  transfer->told_output = transfer->told_output || next.tells_output;
  transfer->is_over = transfer->is_over || next.tells_end;
  return next;
}

// Begins all that may begin, and says what is complete. One thread at a time: what ends
// meanwhile makes it look again, so steps that end at once need no stack.
static void pump(tfrt_collective_t* collective) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  tfrt_mutex_lock(&collective->mutex);
  transfer->pumps_again = true;
  bool is_free = !transfer->is_pumping;
  if (is_free) transfer->is_pumping = true;
  bool ends = false;
  while (is_free && transfer->pumps_again) {
    next_t next = pick(transfer);
    transfer->pumps_again = next.step != TFRT_COLLECTIVE_NO_STEP;
    tfrt_mutex_unlock(&collective->mutex);
    if (next.tells_output) tell_output(collective);
    if (next.tells_end) tfrt_collective_tell_chain(collective);
    if (next.step != TFRT_COLLECTIVE_NO_STEP) start_step(collective, next.step);
    ends = ends || next.tells_end;
    tfrt_mutex_lock(&collective->mutex);
  }
  if (is_free) transfer->is_pumping = false;
  tfrt_mutex_unlock(&collective->mutex);
  // The reference that the transfer began with.
  if (ends) tfrt_collective_release(collective);
}

// --- Life ------------------------------------------------------------------------

static tfrt_collective_view_t view_of(const tfrt_collective_t* collective) {
  return (tfrt_collective_view_t){.records = collective->agreement.records,
                                  .count = collective->group->count,
                                  .position = collective->position};
}

static uint32_t window_of(const tfrt_collective_plan_t* plan) {
  size_t most = TFRT_COLLECTIVE_WINDOW_SIZE / plan->chunk;
  return most < TFRT_COLLECTIVE_WINDOW ? (uint32_t)most : TFRT_COLLECTIVE_WINDOW;
}

// Makes room for what |plan| needs.
static tfrt_status_t prepare(tfrt_collective_t* collective) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_view_t view = view_of(collective);
  TFRT_RETURN_IF_ERROR(tfrt_collective_result_plan(&view, &transfer->plan));
  uint32_t count = transfer->plan.step_count;
  tfrt_allocator_t allocator = collective->allocator;
  transfer->progress =
      tfrt_allocator_allocate_zeroed(allocator, count * sizeof(*transfer->progress));
  transfer->flags = tfrt_allocator_allocate_zeroed(allocator, 3 * view.count * sizeof(bool));
  if ((count > 0 && !transfer->progress) || !transfer->flags) return tfrt_status_out_of_memory();
  transfer->has_arrived = transfer->flags;
  transfer->is_closed_from = transfer->flags + view.count;
  transfer->is_closed_to = transfer->flags + 2 * view.count;
  transfer->steps_left = count;
  transfer->window = window_of(&transfer->plan);
  transfer->max_relays = 2 * transfer->window;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_collective_step_t* step = step_at(collective, i);
    transfer->arrivals_left += fills_output(step);
    transfer->max_relays += step->kind == TFRT_COLLECTIVE_SEND_INPUT;
  }
  if (tfrt_collective_result_is_operand(&view)) return NULL;
  return tfrt_collective_result_initialize(&view, allocator, &transfer->output);
}

static void run_transfer(tfrt_task_t* task) {
  tfrt_collective_t* collective = TFRT_CONTAINER_OF(task, tfrt_collective_t, task);
  tfrt_status_t status = prepare(collective);
  if (!status) {
    pump(collective);
    return;
  }
  tfrt_collective_fail_take(collective, status);
  tfrt_collective_transfer_refuse(collective);
  tfrt_collective_release(collective);
}

void tfrt_collective_transfer_take(tfrt_collective_t* collective) {
  const tfrt_collective_view_t view = view_of(collective);
  tfrt_collective_plan_initialize(&collective->transfer.plan, view.count, view.position,
                                  tfrt_collective_result_chunk(&view), collective->allocator);
  tfrt_task_initialize(&collective->task, run_transfer);
  run_or_queue(collective, tfrt_collective_record_size(&collective->record), &collective->task);
}

// Returns true if |member| would wait for elements from us.
static bool waits_for_us(const tfrt_collective_t* collective, uint32_t member) {
  uint32_t count = collective->group->count;
  bool is_next = member == (collective->position + 1) % count;
  switch (collective->record.kind) {
    case TFRT_COLLECTIVE_BARRIER:
      return false;
    case TFRT_COLLECTIVE_REDUCE:
      return collective->position == (member + 1) % count &&
             collective->position != collective->record.root;
    case TFRT_COLLECTIVE_BROADCAST:
      return is_next && member != collective->record.root;
    case TFRT_COLLECTIVE_ALL_TO_ALL:
      return member != collective->position;
    default:
      return is_next;
  }
}

void tfrt_collective_transfer_refuse(tfrt_collective_t* collective) {
  tfrt_status_t status = tfrt_collective_failure(collective);
  tfrt_async_value_t* error = tfrt_async_value_create_error_take(status);
  for (uint32_t i = 0; i < collective->group->count; ++i) {
    if (!waits_for_us(collective, i)) continue;
    tfrt_collective_post(collective, i, PHASE, 0, error);
  }
  tfrt_async_value_release(error);
}

void tfrt_collective_transfer_deinitialize(tfrt_collective_t* collective) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  tfrt_allocator_t allocator = collective->allocator;
  uint32_t count = transfer->plan.step_count;
  for (uint32_t i = 0; i < count && transfer->progress; ++i) {
    tfrt_host_buffer_release(transfer->progress[i].made);
  }
  tfrt_allocator_free(allocator, transfer->progress, count * sizeof(*transfer->progress));
  tfrt_allocator_free(allocator, transfer->flags, 3 * transfer->plan.count * sizeof(bool));
  tfrt_dense_host_tensor_deinitialize(&transfer->output);
  if (transfer->plan.count > 0) tfrt_collective_plan_deinitialize(&transfer->plan);
}
