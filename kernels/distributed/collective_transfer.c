// SPDX-License-Identifier: Apache-2.0
//
// Carries out a plan. Whenever a step ends, the pump looks for steps that may begin now:
//
//   receive   in the order of the plan, at most a window of them, each after the step whose bytes
//             it joins; the second message of a member only after its first, which may say that
//             there is no second
//   send      in the order of the plan, at most a window of them, each after the step before it
//
//   arrives --> store, combine --> step done --> pump
//   sent: its chain is there, and nobody reads the slice any more --> step done --> pump
//
// The thread that has read a small message also does the work on it: to wake another thread would
// take longer. The work on a larger one is a task of the work queue.
//
// After an error steps still begin and end, but elements are not touched, and errors are sent.
#include <string.h>

#include "kernels/distributed/collective_impl.h"

static void pump(tfrt_collective_t* collective);

void tfrt_collective_run_or_queue(tfrt_collective_t* collective, size_t size, tfrt_task_t* task) {
  if (size <= TFRT_COLLECTIVE_SMALL) {
    task->run(task);
  } else {
    tfrt_work_queue_add_task(collective->context.work_queue, task);
  }
}

static bool fills_output(const tfrt_collective_step_t* step) {
  return step->kind == TFRT_COLLECTIVE_RECEIVE_STORE ||
         step->kind == TFRT_COLLECTIVE_RECEIVE_COMBINE || step->kind == TFRT_COLLECTIVE_COPY;
}

static bool needs_made(const tfrt_collective_step_t* step) {
  return step->kind == TFRT_COLLECTIVE_SEND_STEP || step->joins;
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

void tfrt_collective_end_step(tfrt_collective_t* collective, uint32_t index) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
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

void tfrt_collective_await_step(tfrt_collective_t* collective, uint32_t index,
                                tfrt_async_value_t* value, tfrt_task_fn_t run) {
  tfrt_collective_flight_t* flight =
      tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*flight));
  if (!flight) {
    tfrt_async_value_release(value);
    tfrt_collective_fail_take(collective, tfrt_status_out_of_memory());
    tfrt_collective_end_step(collective, index);
    return;
  }
  *flight = (tfrt_collective_flight_t){
      .collective = tfrt_collective_retain(collective), .value = value, .step = index};
  tfrt_task_initialize(&flight->task, run);
  tfrt_async_value_and_then(value, &flight->task);
}

void tfrt_collective_drop_made(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  if (!needs_made(step)) return;
  tfrt_collective_progress_t* maker = &collective->transfer.progress[step->after];
  tfrt_mutex_lock(&collective->mutex);
  tfrt_host_buffer_t* unneeded = --maker->uses == 0 ? maker->made : NULL;
  if (unneeded) maker->made = NULL;
  tfrt_mutex_unlock(&collective->mutex);
  tfrt_host_buffer_release(unneeded);
}

static void start_copy(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  const char* source = tfrt_dense_host_tensor_data(tfrt_collective_operand(collective));
  char* target = tfrt_dense_host_tensor_data(&collective->transfer.output);
  memcpy(target + step->output, source + step->input, step->size);
  tfrt_collective_end_step(collective, index);
}

// --- The pump ----------------------------------------------------------------------

static bool may_follow(const tfrt_collective_transfer_t* transfer,
                       const tfrt_collective_step_t* step) {
  return step->after == TFRT_COLLECTIVE_NO_STEP || transfer->progress[step->after].done;
}

// The next receive that may begin, or TFRT_COLLECTIVE_NO_STEP. With the mutex held. Receives that
// will never come end here.
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
                     may_follow(transfer, step) &&
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
    if (transfer->sends == transfer->window || !may_follow(transfer, step)) break;
    ++transfer->sends;
    return transfer->next_send++;
  }
  return TFRT_COLLECTIVE_NO_STEP;
}

static void start_step(tfrt_collective_t* collective, uint32_t index) {
  const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, index);
  if (tfrt_collective_step_receives(step)) {
    tfrt_collective_start_receive(collective, index);
  } else if (step->kind == TFRT_COLLECTIVE_COPY) {
    start_copy(collective, index);
  } else {
    tfrt_collective_start_send(collective, index);
  }
}

// The next thing to do. With the mutex held.
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

// Begins all steps that may begin, and reports what is complete. One thread at a time: a step that
// ends meanwhile makes it look again, so steps that end at once need no stack.
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

// Makes room for the plan's result and progress.
static tfrt_status_t prepare(tfrt_collective_t* collective) {
  tfrt_collective_transfer_t* transfer = &collective->transfer;
  const tfrt_collective_view_t view = view_of(collective);
  tfrt_allocator_t allocator = collective->allocator;
  // The result first, because its size is another member's word: a plan for it has as many steps.
  if (!tfrt_collective_result_is_operand(&view)) {
    TFRT_RETURN_IF_ERROR(tfrt_collective_result_initialize(&view, allocator, &transfer->output));
  }
  TFRT_RETURN_IF_ERROR(tfrt_collective_result_plan(&view, &transfer->plan));
  uint32_t count = transfer->plan.step_count;
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
    const tfrt_collective_step_t* step = tfrt_collective_step_at(collective, i);
    transfer->arrivals_left += fills_output(step);
    transfer->max_relays += step->kind == TFRT_COLLECTIVE_SEND_INPUT || step->joins;
    if (needs_made(step)) ++transfer->progress[step->after].uses;
  }
  return NULL;
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
  tfrt_collective_run_or_queue(collective, tfrt_collective_record_size(&collective->record),
                               &collective->task);
}

// Returns true if |member| would wait for elements from us.
static bool waits_for_us(const tfrt_collective_t* collective, uint32_t member) {
  uint32_t count = collective->group->count;
  bool is_next = member == (collective->position + 1) % count;
  switch (collective->record.kind) {
    case TFRT_COLLECTIVE_BARRIER:
      return false;
    case TFRT_COLLECTIVE_ALL_REDUCE:
      // Without all the records nobody knows which plan the others have.
      return is_next || tfrt_collective_plan_are_paired(count, collective->position, member);
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
    tfrt_collective_post(collective, i, TFRT_COLLECTIVE_TRANSFER_PHASE, 0, error);
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
