// SPDX-License-Identifier: Apache-2.0
//
// Collectives that devices carry out themselves (host_runtime/tensor/tensor_group.h): no element is
// in a host's memory, and hosts only tell each other when to begin and how it ended.
//
//   sit --> agreement --all have the same group----------------------------> run --> ending
//               \--else: the first member names one --to all--> join ------/
//
// No host receives elements from another here, so no host would notice that another is lost. So
// each member waits, from the beginning, for the first message of the ending from the member behind
// it. If that member is lost, the message is an error, which the waiting member tells all others.
//
// The ending is an agreement, too: each member says whether its devices have finished. Two kinds of
// errors are held until then, because others may know the root cause: that others have stopped
// (ABORTED), and that the library doesn't reach them (UNAVAILABLE). A member that gets such an
// error stops its own device; so each hears from all, or of a lost host. Every other error is sent
// at once. A member that has its result doesn't wait for the ending.
#include "host_runtime/async/payload_stream.h"
#include "host_runtime/async/queued_work.h"
#include "host_runtime/base/string_builder.h"
#include "kernels/distributed/collective_group.h"
#include "kernels/distributed/collective_impl.h"

// The phase in the key of a group's name.
#define PHASE_NAME 'n'

// --- Seats -----------------------------------------------------------------------

static const tfrt_tensor_groups_t* groups_of(const tfrt_collective_t* collective) {
  tfrt_async_value_t* operand = tfrt_async_value_resolved(collective->operand);
  return tfrt_type_get(operand->type_id)->streams->groups;
}

// Without a seat the operand goes through the host's memory.
static tfrt_async_value_t* begin_sitting(void* argument) {
  tfrt_collective_t* collective = argument;
  tfrt_call_router_t* router = collective->router;
  tfrt_async_value_t* operand = tfrt_async_value_resolved(collective->operand);
  tfrt_status_release(groups_of(collective)
                          ->open(tfrt_async_value_payload(operand),
                                 router->vtable->resources(router),
                                 tfrt_string_builder_view(&collective->series), &collective->seat));
  return tfrt_async_value_ready_chain();
}

bool tfrt_collective_sit(tfrt_collective_t* collective, tfrt_task_fn_t next) {
  if (!collective->record.is_on_device || collective->group->count == 1) return false;
  tfrt_call_router_t* router = collective->router;
  if (!groups_of(collective) || !router->vtable->resources(router)) return false;
  tfrt_status_t status =
      tfrt_work_queue_run_blocking(collective->context.work_queue, true, begin_sitting, collective,
                                   collective->allocator, &collective->sitting);
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_task_initialize(&collective->task, next);
  tfrt_async_value_and_then(collective->sitting, &collective->task);
  return true;
}

void tfrt_collective_describe_seat(tfrt_collective_t* collective) {
  const tfrt_tensor_seat_t* seat = collective->seat;
  if (!seat) return;
  collective->record.library = tfrt_string_view_of(seat->library);
  collective->record.place = tfrt_string_view_of(seat->place);
  collective->record.token = seat->token;
  collective->record.is_taken = seat->is_taken;
}

void tfrt_collective_leave_seat(tfrt_collective_t* collective) {
  if (collective->seat) collective->seat->vtable->leave(collective->seat);
}

void tfrt_collective_free_seat(tfrt_collective_t* collective) {
  tfrt_collective_leave_seat(collective);
  if (collective->seat) collective->seat->vtable->destroy(collective->seat);
  tfrt_async_value_release(collective->sitting);
}

tfrt_status_t tfrt_collective_check_devices(const tfrt_collective_t* collective, bool* out_can) {
  *out_can = false;
  if (!collective->seat) return NULL;
  tfrt_collective_view_t view = {.records = collective->agreement.records,
                                 .count = collective->group->count,
                                 .position = collective->position};
  return tfrt_collective_group_can(&view, groups_of(collective), out_can);
}

// --- A run -----------------------------------------------------------------------

typedef struct run_s run_t;
struct run_s {
  tfrt_ref_count_t ref_count;     // of the watch, the subscription and the steps
  tfrt_collective_t* collective;  // +1
  tfrt_tensor_exchange_t exchange;
  tfrt_cancellation_subscription_t subscription;
  tfrt_task_t watch;
  tfrt_async_value_t* watched;  // +1; the first message of the ending from the member behind us
  tfrt_task_t task;
  tfrt_async_value_t* name;  // +1; of the group that is to be joined; NULL: of none
  tfrt_async_value_t* step;  // +1; the result of the current step
  void (*next)(run_t* run);  // when that is there
};

static void release_run(run_t* run) {
  if (!tfrt_ref_count_decrement(&run->ref_count)) return;
  tfrt_collective_t* collective = run->collective;
  tfrt_async_value_release(run->watched);
  tfrt_async_value_release(run->name);
  tfrt_async_value_release(run->step);
  tfrt_allocator_free(collective->allocator, run, sizeof(*run));
  tfrt_collective_release(collective);
}

static void abort_seat(run_t* run) {
  tfrt_tensor_seat_t* seat = run->collective->seat;
  seat->vtable->abort(seat);
}

// Tells all members of |status| (consumed), and ends the device's wait.
static void fail_run(run_t* run, tfrt_status_t status) {
  tfrt_collective_fail_take(run->collective, status);
  abort_seat(run);
}

static void cancel_run(tfrt_cancellation_subscription_t* subscription, tfrt_status_t reason) {
  run_t* run = TFRT_CONTAINER_OF(subscription, run_t, subscription);
  fail_run(run, tfrt_status_retain(reason));
  release_run(run);
}

// The member behind us is lost, or somebody has given up, or its device has stopped: ours would
// wait for it. A message that is none shows in the ending.
static void run_watch(tfrt_task_t* task) {
  run_t* run = TFRT_CONTAINER_OF(task, run_t, watch);
  if (tfrt_async_value_is_error(run->watched)) {
    fail_run(run, tfrt_status_retain(tfrt_async_value_error(run->watched)));
  } else if (tfrt_collective_is_trouble(run->watched)) {
    abort_seat(run);
  }
  release_run(run);
}

// --- Steps -----------------------------------------------------------------------

static void run_step(tfrt_task_t* task) {
  run_t* run = TFRT_CONTAINER_OF(task, run_t, task);
  run->next(run);
}

// Goes on with |next| when |step| (consumed) is there.
static void await_step(run_t* run, tfrt_async_value_t* step, void (*next)(run_t* run)) {
  tfrt_async_value_release(run->step);
  run->step = step;
  run->next = next;
  tfrt_task_initialize(&run->task, run_step);
  tfrt_async_value_and_then(step, &run->task);
}

// The same with the value that |begin| makes of |run|, in the blocking queue.
static void start_step(run_t* run, tfrt_queued_work_fn_t begin, void (*next)(run_t* run)) {
  tfrt_collective_t* collective = run->collective;
  tfrt_async_value_t* step = NULL;
  tfrt_status_t status = tfrt_work_queue_run_blocking(collective->context.work_queue, true, begin,
                                                      run, collective->allocator, &step);
  await_step(run, status ? tfrt_async_value_create_error_take(status) : step, next);
}

// Reports the outcome, and begins the ending, if there is one.
static void end_run(run_t* run, tfrt_status_t trouble) {
  tfrt_collective_t* collective = run->collective;
  tfrt_status_t failure = tfrt_collective_failure(collective);
  if (!failure && !trouble) {
    bool has_result = run->exchange.has_result;
    tfrt_collective_tell_result_take(
        collective, tfrt_async_value_retain(has_result ? run->step : collective->operand));
    tfrt_collective_tell_chain(collective);
  }
  if (failure) {
    tfrt_status_release(trouble);
  } else {
    tfrt_collective_agree_on_end_take(tfrt_collective_retain(collective),
                                      tfrt_async_value_retain(run->watched), trouble);
  }
  tfrt_status_release(failure);
  release_run(run);
}

static bool others_may_know_more(tfrt_status_t status) {
  tfrt_status_code_t code = tfrt_status_code(status);
  return code == TFRT_STATUS_UNAVAILABLE || code == TFRT_STATUS_ABORTED;
}

// The step at hand was the last one.
static void end_steps(run_t* run) {
  tfrt_collective_t* collective = run->collective;
  tfrt_cancellation_t* cancellation = &collective->context.request->cancellation;
  if (tfrt_cancellation_unsubscribe(cancellation, &run->subscription)) release_run(run);
  tfrt_status_t trouble = NULL;
  if (tfrt_async_value_is_error(run->step)) {
    tfrt_status_t status = tfrt_async_value_error(run->step);
    if (others_may_know_more(status)) {
      trouble = tfrt_status_retain(status);
      abort_seat(run);
    } else {
      fail_run(run, tfrt_status_retain(status));
    }
  }
  // Before anybody can begin the next one.
  tfrt_collective_leave_seat(collective);
  end_run(run, trouble);
}

static tfrt_async_value_t* begin_exchange(void* argument) {
  run_t* run = argument;
  tfrt_tensor_seat_t* seat = run->collective->seat;
  return seat->vtable->run(seat, &run->exchange);
}

static void finish_join(run_t* run) {
  if (tfrt_async_value_is_error(run->step)) {
    end_steps(run);
  } else {
    start_step(run, begin_exchange, end_steps);
  }
}

static tfrt_async_value_t* begin_join(void* argument) {
  run_t* run = argument;
  tfrt_collective_t* collective = run->collective;
  return collective->seat->vtable->join(collective->seat, tfrt_async_value_string(run->name),
                                        collective->position, collective->group->count);
}

// The name is here. If the message is an error, the sender or the network caused it: the sender, or
// the watch, tells all members.
static void finish_name(run_t* run) {
  tfrt_collective_t* collective = run->collective;
  if (tfrt_async_value_is_error(run->step)) {
    fail_run(run, tfrt_status_retain(tfrt_async_value_error(run->step)));
    end_steps(run);
    return;
  }
  if (tfrt_async_value_resolved(run->step)->type_id != TFRT_TYPE_STRING) {
    fail_run(run, tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                     "a host sent something else than the name of a group"));
    end_steps(run);
    return;
  }
  run->name = tfrt_async_value_retain(run->step);
  for (uint32_t i = 1; i < collective->group->count && collective->position == 0; ++i) {
    tfrt_async_value_release(tfrt_collective_send(collective, i, PHASE_NAME, 0, run->name));
  }
  start_step(run, begin_join, finish_join);
}

static tfrt_async_value_t* begin_name(void* argument) {
  run_t* run = argument;
  tfrt_collective_t* collective = run->collective;
  tfrt_string_builder_t name;
  tfrt_string_builder_initialize(&name, collective->allocator);
  tfrt_status_t status = collective->seat->vtable->name(collective->seat, &name);
  tfrt_async_value_t* value = status
                                  ? tfrt_async_value_create_error_take(status)
                                  : tfrt_async_value_create_string(tfrt_string_builder_view(&name));
  tfrt_string_builder_deinitialize(&name);
  return value;
}

// --- The beginning ---------------------------------------------------------------

static run_t* allocate_run(tfrt_collective_t* collective) {
  run_t* run = tfrt_allocator_allocate_zeroed(collective->allocator, sizeof(*run));
  if (!run) return NULL;
  tfrt_ref_count_initialize(&run->ref_count);
  tfrt_ref_count_increment(&run->ref_count);
  tfrt_ref_count_increment(&run->ref_count);
  run->collective = collective;
  return run;
}

// Takes |run|'s reference for the steps.
static void start_steps(run_t* run, uint64_t token) {
  tfrt_collective_t* collective = run->collective;
  if (token != 0) {
    start_step(run, begin_exchange, end_steps);
  } else if (collective->position == 0) {
    start_step(run, begin_name, finish_name);
  } else {
    await_step(run, tfrt_collective_receive(collective, 0, PHASE_NAME, 0), finish_name);
  }
}

void tfrt_collective_run_devices_take(tfrt_collective_t* collective) {
  tfrt_collective_view_t view = {.records = collective->agreement.records,
                                 .count = collective->group->count,
                                 .position = collective->position};
  tfrt_tensor_exchange_t exchange;
  tfrt_status_t status = tfrt_collective_group_exchange(&view, &exchange);
  run_t* run = status ? NULL : allocate_run(collective);
  if (!run) {
    tfrt_collective_fail_take(collective, status ? status : tfrt_status_out_of_memory());
    tfrt_collective_release(collective);
    return;
  }
  run->exchange = exchange;
  run->watched = tfrt_collective_receive_end(collective);
  tfrt_task_initialize(&run->watch, run_watch);
  tfrt_cancellation_subscribe(&collective->context.request->cancellation, &run->subscription,
                              cancel_run);
  tfrt_async_value_and_then(run->watched, &run->watch);
  start_steps(run, tfrt_collective_group_token(&view));
}
