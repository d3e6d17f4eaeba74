// SPDX-License-Identifier: Apache-2.0
//
// Runs calls of BEF functions: fires each kernel as its arguments arrive, without locks
// and without blocking. The order of ready kernels is ready_list.h's; what a call is made
// of is call_frame.h's. The rest is how a value travels from the kernel that makes it to those that
// use it:
//
//   result --publish--> register --arrive--> pending counters --0--> ready list --fire-->
//              \-- not available yet: a waiter on the value does the rest when it is
//                  (late_value.h)
//
// References: a register's value holds one reference for each use that the BEF file
// counts. They are added once, when the register is set, and each use drops one.
//
// Non-strict kernels and results of the call may need a register before it is set
// (placeholder.h). A non-strict kernel normally runs when all of its arguments are set, though
// maybe not available; only when the call has nothing else to do is it *forced* to start
// with placeholders, so the usual call pays nothing for this.
#include <string.h>

#include "host_runtime/async/backlog.h"
#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/call/arrival.h"
#include "host_runtime/executor/call/call_frame.h"
#include "host_runtime/executor/call/call_takeover.h"
#include "host_runtime/executor/call/kernel_run.h"
#include "host_runtime/executor/call/late_value.h"
#include "host_runtime/executor/call/placeholder.h"
#include "host_runtime/executor/call/queued_call.h"
#include "host_runtime/executor/call/ready_list.h"
#include "host_runtime/executor/call/scheduled_call.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/host_context.h"

// Calls nest on the C stack up to this depth; deeper ones go through the work queue, so
// that recursion is bounded by memory.
#define TFRT_EXECUTOR_MAX_DEPTH 100

// Kernels with at most this many arguments and results run without an allocation.
#define TFRT_EXECUTOR_INLINE_VALUES 24

// A scheduled call with at most this many slots allocates nothing.
#define TFRT_EXECUTOR_INLINE_SLOTS 32

static _Thread_local int tfrt_executor_depth;

static void executor_drain(tfrt_ready_list_t* ready);

// --- Values ------------------------------------------------------------------

// A value that was published before it was available is now.
static void executor_on_value(tfrt_task_t* task) {
  tfrt_register_waiter_t* waiter = TFRT_CONTAINER_OF(task, tfrt_register_waiter_t, task);
  tfrt_call_frame_t* frame = waiter->frame;
  tfrt_async_value_t* value = waiter->value;
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, waiter->stream);
  const bool owns_value = waiter->owns_value;
  tfrt_arrival_tell(&ready, waiter->users, waiter->passed_users, waiter->user_count, false);
  // The next late value of this path may have it.
  ready.next_waiter = waiter;
  if (owns_value) tfrt_async_value_release(value);
  executor_drain(&ready);
  tfrt_late_value_end_path(&ready);
}

// Gives |value| (consumed) to all who use its anticipated register.
static void executor_publish_anticipated(tfrt_ready_list_t* ready, uint32_t register_index,
                                         const uint32_t* users, const uint8_t* passed_users,
                                         uint32_t user_count, tfrt_async_value_t* value) {
  // Seen before the register is set: after that, others may use the value up.
  bool pinned = false;
  bool available = tfrt_async_value_is_available(value);
  if (!available) tfrt_async_value_retain(value);
  tfrt_async_value_t* held = available ? NULL : value;
  tfrt_async_value_t* set = tfrt_placeholder_set(ready->frame, register_index, value, &pinned);
  if (passed_users) tfrt_arrival_tell(ready, users, passed_users, user_count, true);
  if (available) {
    tfrt_arrival_tell(ready, users, passed_users, user_count, false);
  } else {
    tfrt_late_value_wait(ready, register_index, users, passed_users, user_count,
                         pinned ? set : value, executor_on_value);
  }
  if (pinned) tfrt_async_value_release(set);
  tfrt_async_value_release(held);
}

// Gives the result |value| (consumed) of a kernel to all who use it.
static void executor_publish(tfrt_ready_list_t* ready, uint32_t register_index,
                             const uint32_t* users, const uint8_t* passed_users,
                             uint32_t user_count, tfrt_async_value_t* value) {
  tfrt_call_frame_t* frame = ready->frame;
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  bool available = tfrt_async_value_is_available(value);
  if (!available && TFRT_UNLIKELY(!tfrt_late_value_reserve(ready))) {
    tfrt_async_value_release(value);
    value = tfrt_async_value_out_of_memory();
    available = true;
  }
  if (uses == 0) {
    if (!available)
      tfrt_late_value_wait(ready, register_index, NULL, NULL, 0, value, executor_on_value);
    tfrt_async_value_release(value);
    return;
  }
  if (frame->callable->register_flags[register_index] & TFRT_REGISTER_ANTICIPATED) {
    executor_publish_anticipated(ready, register_index, users, passed_users, user_count, value);
    return;
  }
  if (uses > 1) tfrt_async_value_retain_n(value, uses - 1);
  // Relaxed: users read it after having seen their counter reach zero.
  atomic_store_explicit(&frame->registers[register_index], value, memory_order_relaxed);
  if (available) {
    tfrt_arrival_tell(ready, users, passed_users, user_count, false);
  } else {
    tfrt_late_value_wait(ready, register_index, users, passed_users, user_count, value,
                         executor_on_value);
  }
}

// Publishes the results of |site| from number |first_result| on: |values| (consumed), or, if
// that is NULL, that memory is out.
static void executor_publish_all(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                                 uint32_t first_result, tfrt_async_value_t* const* values) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* results = tfrt_bef_record_results(record);
  const uint32_t* users = tfrt_bef_record_users(record);
  const uint8_t* passed_users = tfrt_bef_callable_passed_users(ready->frame->callable, site);
  uint32_t first_user = first_result > 0 ? user_counts[0] : 0;
  for (uint32_t i = first_result; i < record->result_count; ++i) {
    uint32_t count = user_counts[i];
    executor_publish(ready, results[i], users + first_user,
                     passed_users ? passed_users + first_user : NULL, count,
                     values ? values[i - first_result] : tfrt_async_value_out_of_memory());
    first_user += count;
  }
}

// --- Kernels -----------------------------------------------------------------

// Collects the arguments of |site|. Returns the error (+0) that forbids the kernel to run: the last
// one in the order of operands, else the request's cancellation, else NULL.
static tfrt_async_value_t* executor_collect(tfrt_call_frame_t* frame,
                                            const tfrt_kernel_site_t* site,
                                            tfrt_async_value_t** arguments) {
  tfrt_async_value_t* error = tfrt_request_context_cancelled(frame->context.request);
  const uint32_t* registers = tfrt_bef_record_arguments(tfrt_kernel_site_record(site));
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->argument_count; ++i) {
    uint32_t register_index = registers[i];
    if (site->binding->uses[i] == TFRT_OPERAND_PASSED) {
      arguments[i] = tfrt_placeholder_get(frame, register_index);
      continue;
    }
    // Relaxed: the counter that reached zero ordered the store before this load.
    tfrt_async_value_t* value =
        atomic_load_explicit(&frame->registers[register_index], memory_order_relaxed);
    tfrt_async_value_state_t state = tfrt_async_value_state(value);
    if (state == TFRT_ASYNC_VALUE_FAILED) error = tfrt_async_value_resolved(value);
    // A value that is only awaited may be settled without being here.
    arguments[i] = state == TFRT_ASYNC_VALUE_AVAILABLE ? tfrt_async_value_resolved(value) : value;
  }
  return error;
}

static void executor_run_kernel(tfrt_call_frame_t* frame, const tfrt_kernel_site_t* site,
                                tfrt_async_value_t** arguments, tfrt_async_value_t** results) {
  const tfrt_kernel_binding_t* binding = site->binding;
  tfrt_kernel_frame_t kernel_frame = {
      .arguments = arguments,
      .results = results,
      .attributes = binding->attributes,
      .functions = binding->functions,
      .argument_count = tfrt_kernel_site_record(site)->argument_count,
      .result_count = tfrt_kernel_site_record(site)->result_count,
      .attribute_count = tfrt_kernel_site_record(site)->attribute_count,
      .function_count = tfrt_kernel_site_record(site)->function_count,
      .call_options = binding->call_options,
      .context = &frame->context,
      .site = site,
      .registers = frame->registers,
  };
  tfrt_kernel_run(&kernel_frame, site, tfrt_request_context_trace(frame->context.request));
}

// Drops the arguments of |site|, which has run, and publishes its |results|.
static void executor_finish(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                            tfrt_async_value_t* const* results) {
  const uint32_t* arguments = tfrt_bef_record_arguments(tfrt_kernel_site_record(site));
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->argument_count; ++i) {
    // The register, not the argument: that may name the target of an indirect.
    tfrt_async_value_release(
        atomic_load_explicit(&ready->frame->registers[arguments[i]], memory_order_relaxed));
  }
  executor_publish_all(ready, site, 0, results);
}

// Runs |site| with |values| as room for its arguments and results, and publishes these.
static void executor_fire_with(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                               tfrt_async_value_t** values) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  tfrt_async_value_t** arguments = values;
  tfrt_async_value_t** results = values + record->argument_count;
  memset(results, 0, record->result_count * sizeof(*results));
  tfrt_async_value_t* error = executor_collect(frame, site, arguments);
  if (TFRT_LIKELY(!error)) {
    executor_run_kernel(frame, site, arguments, results);
  } else {
    for (uint32_t i = 0; i < record->result_count; ++i) {
      results[i] = tfrt_async_value_retain(error);
    }
  }
  executor_finish(ready, site, results);
}

static void executor_fire(tfrt_ready_list_t* ready, uint32_t kernel) {
  const tfrt_kernel_site_t* site = &ready->frame->callable->sites[kernel];
  const tfrt_bef_record_t* record = tfrt_call_frame_read_record(ready->frame, site);
  size_t count = (size_t)record->argument_count + record->result_count;
  if (TFRT_LIKELY(count <= TFRT_EXECUTOR_INLINE_VALUES)) {
    tfrt_async_value_t* values[TFRT_EXECUTOR_INLINE_VALUES];
    executor_fire_with(ready, site, values);
    return;
  }
  tfrt_allocator_t allocator = ready->frame->allocator;
  tfrt_async_value_t** values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  if (values) {
    executor_fire_with(ready, site, values);
    tfrt_allocator_free(allocator, values, count * sizeof(*values));
    return;
  }
  // No room even to look at the arguments: their uses stay undone, the results say why.
  executor_publish_all(ready, site, 0, NULL);
}

// The rest of a call's ready kernels of one stream, as a task of the work queue.
static void executor_run_group(tfrt_task_t* task) {
  tfrt_kernel_group_t* group = TFRT_CONTAINER_OF(task, tfrt_kernel_group_t, task);
  tfrt_call_frame_t* frame = group->frame;
  const uint32_t first = group->first;
  tfrt_value_storage_free(group, sizeof(*group));
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, frame->callable->sites[first].stream_id);
  tfrt_ready_list_push_group(&ready, first);
  executor_drain(&ready);
  tfrt_late_value_end_path(&ready);
}

// Runs kernels until none is ready on this path.
static void executor_drain(tfrt_ready_list_t* ready) {
  tfrt_running_kernel_outer_t outer =
      tfrt_running_kernel_enter(ready->frame->context.request->options.whole);
  do {
    tfrt_ready_list_share(ready, executor_run_group);
    for (uint32_t kernel; (kernel = tfrt_ready_list_pop(ready));) {
      tfrt_late_value_let_wait(ready);
      executor_fire(ready, kernel);
      tfrt_backlog_work_off();
      if (TFRT_UNLIKELY(ready->outline_expensive)) {
        tfrt_ready_list_share(ready, executor_run_group);
      }
    }
  } while (tfrt_ready_list_switch_stream(ready, executor_run_group));
  tfrt_running_kernel_leave(outer);
}

// --- Calls -------------------------------------------------------------------

// Starts the kernels without arguments. If some kernel may start before all of its arguments are
// set, constants are made at once. Through the work queue they would come too late, and a call on
// another host would have to ask for them.
static void executor_start_kernels(tfrt_ready_list_t* ready) {
  const tfrt_bef_callable_t* callable = ready->frame->callable;
  if (callable->nonstrict_count == 0) {
    tfrt_arrival_start(ready);
    return;
  }
  tfrt_running_kernel_outer_t outer =
      tfrt_running_kernel_enter(ready->frame->context.request->options.whole);
  const tfrt_bef_record_t* start = tfrt_kernel_site_record(&callable->sites[0]);
  const uint32_t* users = tfrt_bef_record_users(start);
  for (uint32_t i = 0; i < tfrt_bef_record_user_counts(start)[0]; ++i) {
    uint32_t kernel = users[i];
    if (callable->sites[kernel].prompt) {
      executor_fire(ready, kernel);
    } else {
      tfrt_arrival_of_one(ready, kernel);
    }
  }
  tfrt_running_kernel_leave(outer);
}

// Starts the kernels without arguments, then publishes the arguments (+0, or +1 with |take|),
// the results of the pseudo kernel behind its special one.
static void executor_start(tfrt_ready_list_t* ready, tfrt_async_value_t* const* arguments,
                           bool take) {
  const tfrt_kernel_site_t* start = &ready->frame->callable->sites[0];
  executor_start_kernels(ready);
  for (uint32_t i = 1; !take && i < tfrt_kernel_site_record(start)->result_count; ++i) {
    tfrt_async_value_retain(arguments[i - 1]);
  }
  executor_publish_all(ready, start, 1, arguments);
}

// Starts the non-strict kernels that still lack arguments: whatever they call may get on
// without these.
static void executor_force(tfrt_ready_list_t* ready) {
  const tfrt_bef_callable_t* callable = ready->frame->callable;
  for (uint32_t i = 0; i < callable->nonstrict_count; ++i) {
    uint32_t kernel = callable->nonstrict[i];
    // Release and acquire: as in tfrt_arrival_of_passed(), its partner.
    uint32_t before = atomic_fetch_or_explicit(&ready->frame->passed[kernel],
                                               TFRT_CALL_FRAME_FORCED, memory_order_acq_rel);
    if (before == 0) continue;
    tfrt_arrival_of_one(ready, kernel);
    executor_drain(ready);
  }
}

// Runs what is ready, then what can start without all of its arguments, and sets |results|.
static void executor_complete(tfrt_ready_list_t* ready, tfrt_async_value_t** results) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_callable_t* callable = frame->callable;
  executor_drain(ready);
  executor_force(ready);
  for (uint32_t i = 0; i < callable->base.result_count; ++i) {
    results[i] = tfrt_placeholder_get(frame, callable->bef->result_registers[i]);
  }
  tfrt_late_value_end_path(ready);
}

// A call gets no memory, or is one too many, as |reason| (+0) says. So would calls that it makes,
// and a recursion without end would go on for ever with errors: the request is cancelled, and
// nothing more of it is begun.
static void executor_fail_call(const tfrt_bef_callable_t* callable,
                               const tfrt_execution_context_t* context, tfrt_status_t reason,
                               tfrt_async_value_t* const* arguments, bool take,
                               tfrt_async_value_t** results) {
  tfrt_request_context_cancel(context->request, reason);
  for (uint32_t i = 0; i < callable->base.result_count; ++i) {
    results[i] = tfrt_async_value_create_error(reason);
  }
  for (uint32_t i = 0; take && i < callable->base.argument_count; ++i) {
    tfrt_async_value_release(arguments[i]);
  }
}

static void executor_call(const tfrt_bef_callable_t* callable,
                          const tfrt_execution_context_t* context,
                          tfrt_async_value_t* const* arguments, bool take,
                          tfrt_async_value_t** results) {
  tfrt_call_frame_t* frame = tfrt_call_frame_create(callable, context);
  if (!frame) {
    executor_fail_call(callable, context, tfrt_status_out_of_memory(), arguments, take, results);
    return;
  }
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, callable->sites[0].stream_id);
  executor_start(&ready, arguments, take);
  executor_complete(&ready, results);
}

// --- Scheduled calls ---------------------------------------------------------

// Goes on with |call|, which has stopped, as a call that is not scheduled.
static void executor_take_over(tfrt_scheduled_call_t* call, tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = call->callable;
  tfrt_call_frame_t* frame = tfrt_call_frame_create(callable, call->frame.context);
  if (!frame) {
    tfrt_request_context_cancel(call->frame.context->request, tfrt_status_out_of_memory());
    tfrt_scheduled_call_run_out(call, results);
    return;
  }
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, callable->sites[0].stream_id);
  tfrt_call_takeover(&ready, call);
  executor_finish(&ready, &callable->sites[call->step->kernel], call->results);
  executor_complete(&ready, results);
}

// Runs |callable| by its schedule, in |slots|.
static void executor_call_scheduled(const tfrt_bef_callable_t* callable, tfrt_async_value_t** slots,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments, bool take,
                                    tfrt_async_value_t** results) {
  tfrt_scheduled_call_t call;
  call.callable = callable;
  call.slots = slots;
  if (!tfrt_scheduled_call_run(&call, context, arguments, take, results)) {
    executor_take_over(&call, results);
  }
}

// Starts a call in the way that it can go.
static void executor_start_call(const tfrt_bef_callable_t* callable,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, bool take,
                                tfrt_async_value_t** results) {
  const uint32_t most = context->request->options.most_open_calls;
  if (TFRT_UNLIKELY(most > 0 && tfrt_call_scope_active(context->scope) > most)) {
    tfrt_status_t reason =
        tfrt_request_context_too_many_calls(context->request, callable->base.name);
    executor_fail_call(callable, context, reason, arguments, take, results);
    tfrt_status_release(reason);
    return;
  }
  if (!tfrt_scheduled_call_is_possible(callable, context, arguments)) {
    executor_call(callable, context, arguments, take, results);
    return;
  }
  size_t count = callable->schedule->slot_count;
  if (TFRT_LIKELY(count <= TFRT_EXECUTOR_INLINE_SLOTS)) {
    tfrt_async_value_t* slots[TFRT_EXECUTOR_INLINE_SLOTS];
    executor_call_scheduled(callable, slots, context, arguments, take, results);
    return;
  }
  tfrt_allocator_t allocator = tfrt_value_storage_allocator();
  tfrt_async_value_t** slots = tfrt_allocator_allocate(allocator, count * sizeof(*slots));
  if (slots) {
    executor_call_scheduled(callable, slots, context, arguments, take, results);
    tfrt_allocator_free(allocator, slots, count * sizeof(*slots));
  } else {
    executor_fail_call(callable, context, tfrt_status_out_of_memory(), arguments, take, results);
  }
}

// --- Entries -----------------------------------------------------------------

static void executor_enter(const tfrt_bef_callable_t* callable,
                           const tfrt_execution_context_t* context,
                           tfrt_async_value_t* const* arguments, bool take,
                           tfrt_async_value_t** results) {
  ++tfrt_executor_depth;
  executor_start_call(callable, context, arguments, take, results);
  --tfrt_executor_depth;
}

// A call that went through the queue because the stack was deep: here it is not, or the
// queue has nowhere else to run it.
static void executor_run_deferred(const tfrt_function_t* function,
                                  const tfrt_execution_context_t* context,
                                  tfrt_async_value_t* const* arguments,
                                  tfrt_async_value_t** results) {
  executor_enter((const tfrt_bef_callable_t*)function, context, arguments, true, results);
}

void tfrt_bef_callable_execute(const tfrt_function_t* function,
                               const tfrt_execution_context_t* context,
                               tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  if (TFRT_LIKELY(tfrt_executor_depth < TFRT_EXECUTOR_MAX_DEPTH)) {
    executor_enter(callable, context, arguments, false, results);
  } else {
    tfrt_queued_call_enqueue(function, executor_run_deferred, context, arguments, false, results);
  }
}

void tfrt_bef_callable_execute_take(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  if (TFRT_LIKELY(tfrt_executor_depth < TFRT_EXECUTOR_MAX_DEPTH)) {
    executor_enter(callable, context, arguments, true, results);
  } else {
    tfrt_queued_call_enqueue(function, executor_run_deferred, context, arguments, true, results);
  }
}
