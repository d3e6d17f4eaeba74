// SPDX-License-Identifier: Apache-2.0
//
// Runs calls of BEF functions: fires each kernel as its arguments arrive, without locks
// and without blocking. The order of ready kernels is ready_list.h's; what a call is made
// of is call_frame.h's. What remains is how a value travels from the kernel that makes it
// to those that use it:
//
//   result --publish--> register --arrive--> pending counters --0--> ready list --fire-->
//              \-- not available yet: a waiter on the value does the rest when it is
//
// References: a register's value holds one reference for each use that the BEF file
// counts. They are added once, when the register is set, and each use drops one.
//
// Non-strict kernels and results of the call may need a register before it is set. They
// put an indirect value there (a *placeholder*) by compare-and-swap; whoever sets the
// register finds it and forwards it. A non-strict kernel normally runs when all of its
// arguments are set, though maybe not available; only when the call has nothing else to do
// is it *forced* to start with placeholders, so the usual call pays nothing for this.
#include <string.h>

#include "host_runtime/executor/arrival.h"
#include "host_runtime/executor/call_frame.h"
#include "host_runtime/executor/call_scope.h"
#include "host_runtime/executor/kernel_run.h"
#include "host_runtime/executor/queued_call.h"
#include "host_runtime/executor/ready_list.h"
#include "host_runtime/executor/scheduled_call.h"
#include "host_runtime/host_context.h"

// Calls nest on the C stack up to this depth; deeper ones go through the work queue, so
// that recursion is bounded by memory.
#define TFRT_EXECUTOR_MAX_DEPTH 100

// Kernels with at most this many arguments and results run without an allocation.
#define TFRT_EXECUTOR_INLINE_VALUES 24

// A scheduled call with at most this many slots allocates nothing.
#define TFRT_EXECUTOR_INLINE_SLOTS 32

static _Thread_local int tfrt_executor_depth;

static void tfrt_executor_drain(tfrt_ready_list_t* ready);
static void tfrt_executor_end_path(tfrt_ready_list_t* ready);

// --- Values ------------------------------------------------------------------

// A value that was published before it was available is now.
static void tfrt_executor_on_value(tfrt_task_t* task) {
  tfrt_register_waiter_t* waiter = TFRT_CONTAINER_OF(task, tfrt_register_waiter_t, task);
  tfrt_call_frame_t* frame = waiter->frame;
  tfrt_async_value_t* value = waiter->value;
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, waiter->stream);
  const bool owns_value = waiter->owns_value;
  tfrt_arrival_tell(&ready, waiter->users, waiter->passed_users, waiter->user_count, false);
  if (owns_value) tfrt_async_value_release(value);
  tfrt_executor_drain(&ready);
  tfrt_executor_end_path(&ready);
}

// Puts the waiter that |ready| holds with its value; it has a reference to the call.
static void tfrt_executor_place_waiter(tfrt_ready_list_t* ready) {
  tfrt_register_waiter_t* waiter = ready->held_waiter;
  ready->held_waiter = NULL;
  if (waiter->demands_value) {
    tfrt_async_value_and_then(waiter->value, &waiter->task);
  } else {
    tfrt_async_value_await(waiter->value, &waiter->task);
  }
}

// The path goes on: what it holds gets a reference of its own.
static void tfrt_executor_let_wait(tfrt_ready_list_t* ready) {
  if (TFRT_LIKELY(!ready->held_waiter)) return;
  tfrt_call_frame_retain(ready->frame);
  tfrt_executor_place_waiter(ready);
}

// Ends the path, and with it its reference to the call, which may be gone then.
static void tfrt_executor_end_path(tfrt_ready_list_t* ready) {
  if (!ready->held_waiter) {
    tfrt_call_frame_release(ready->frame);
    return;
  }
  tfrt_call_frame_escape(ready->frame);
  tfrt_executor_place_waiter(ready);
}

// True if |value| is, or is known to stand for, a value that another host makes.
static bool tfrt_executor_is_owned_elsewhere(tfrt_async_value_t* value) {
  tfrt_async_value_t* held = tfrt_async_value_retain(value);
  bool is_elsewhere = false;
  while (held && held->kind == TFRT_ASYNC_VALUE_INDIRECT && !is_elsewhere) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)held;
    is_elsewhere = indirect->resolver != NULL;
    tfrt_async_value_t* target = is_elsewhere ? NULL : tfrt_indirect_value_target(indirect);
    tfrt_async_value_release(held);
    held = target;
  }
  tfrt_async_value_release(held);
  return is_elsewhere;
}

// Waits for |value| (+0), which isn't available, on behalf of the users of |register_index|.
static void tfrt_executor_wait(tfrt_ready_list_t* ready, uint32_t register_index,
                               const uint32_t* users, const uint8_t* passed_users,
                               uint32_t user_count, tfrt_async_value_t* value) {
  tfrt_call_frame_t* frame = ready->frame;
  uint8_t flags = frame->callable->register_flags[register_index];
  bool waited_for = flags & (TFRT_REGISTER_DEMANDED | TFRT_REGISTER_AWAITED);
  // A call is over only when all of its values are settled; who has no scope doesn't ask. What
  // is owned elsewhere is no work of this call: whoever makes it has entered the scope itself.
  if (!waited_for && !frame->context.scope) return;
  if (!waited_for && tfrt_executor_is_owned_elsewhere(value)) return;
  tfrt_executor_let_wait(ready);
  tfrt_register_waiter_t* waiter = &frame->waiters[register_index];
  tfrt_task_initialize(&waiter->task, tfrt_executor_on_value);
  waiter->frame = frame;
  waiter->value = value;
  // Nobody uses the register up before its users are told, unless it is anticipated.
  waiter->owns_value = user_count == 0 || (flags & TFRT_REGISTER_ANTICIPATED);
  if (waiter->owns_value) tfrt_async_value_retain(value);
  waiter->demands_value = flags & TFRT_REGISTER_DEMANDED;
  waiter->users = users;
  waiter->passed_users = passed_users;
  waiter->user_count = user_count;
  waiter->stream = ready->stream;
  ready->held_waiter = waiter;
}

// Puts |value|, which comes with the caller's one reference, into its anticipated register and
// returns what is there now: |value|, or the placeholder that stands for it. |*out_pinned| tells
// whether the caller must drop one reference to that.
static tfrt_async_value_t* tfrt_executor_set_anticipated(tfrt_call_frame_t* frame,
                                                         uint32_t register_index,
                                                         tfrt_async_value_t* value,
                                                         bool* out_pinned) {
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  _Atomic(tfrt_async_value_t*)* slot = &frame->registers[register_index];
  *out_pinned = false;
  if (uses > 1) tfrt_async_value_retain_n(value, uses - 1);
  tfrt_async_value_t* placeholder = NULL;
  // Release: whoever finds the value here early sees it whole; acquire: so do we with the
  // placeholder. Partners: this operation and the load in tfrt_executor_anticipate().
  if (atomic_compare_exchange_strong_explicit(slot, &placeholder, value, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return value;
  }
  *out_pinned = true;
  if (uses > 1) tfrt_async_value_release_n(value, uses - 1);
  tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)placeholder, value);
  return placeholder;
}

// Gives |value| (consumed) to all who use its anticipated register.
static void tfrt_executor_publish_anticipated(tfrt_ready_list_t* ready, uint32_t register_index,
                                              const uint32_t* users, const uint8_t* passed_users,
                                              uint32_t user_count, tfrt_async_value_t* value) {
  // Seen before the register is set: after that, others may use the value up.
  bool pinned = false;
  bool available = tfrt_async_value_is_available(value);
  if (!available) tfrt_async_value_retain(value);
  tfrt_async_value_t* held = available ? NULL : value;
  tfrt_async_value_t* set =
      tfrt_executor_set_anticipated(ready->frame, register_index, value, &pinned);
  if (passed_users) tfrt_arrival_tell(ready, users, passed_users, user_count, true);
  if (available) {
    tfrt_arrival_tell(ready, users, passed_users, user_count, false);
  } else {
    tfrt_executor_wait(ready, register_index, users, passed_users, user_count,
                       pinned ? set : value);
  }
  if (pinned) tfrt_async_value_release(set);
  tfrt_async_value_release(held);
}

// Gives the result |value| (consumed) of a kernel to all who use it.
static void tfrt_executor_publish(tfrt_ready_list_t* ready, uint32_t register_index,
                                  const uint32_t* users, const uint8_t* passed_users,
                                  uint32_t user_count, tfrt_async_value_t* value) {
  tfrt_call_frame_t* frame = ready->frame;
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  bool available = tfrt_async_value_is_available(value);
  if (uses == 0) {
    if (!available) tfrt_executor_wait(ready, register_index, NULL, NULL, 0, value);
    tfrt_async_value_release(value);
    return;
  }
  if (frame->callable->register_flags[register_index] & TFRT_REGISTER_ANTICIPATED) {
    tfrt_executor_publish_anticipated(ready, register_index, users, passed_users, user_count,
                                      value);
    return;
  }
  if (uses > 1) tfrt_async_value_retain_n(value, uses - 1);
  // Relaxed: users read it after having seen their counter reach zero.
  atomic_store_explicit(&frame->registers[register_index], value, memory_order_relaxed);
  if (available) {
    tfrt_arrival_tell(ready, users, passed_users, user_count, false);
  } else {
    tfrt_executor_wait(ready, register_index, users, passed_users, user_count, value);
  }
}

// Publishes the results of |site| from number |first_result| on: |values| (consumed), or, if
// that is NULL, that memory is out.
static void tfrt_executor_publish_all(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                                      uint32_t first_result, tfrt_async_value_t* const* values) {
  const tfrt_bef_record_t* record = site->record;
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* results = tfrt_bef_record_results(record);
  const uint32_t* users = tfrt_bef_record_users(record);
  const uint8_t* passed_users = tfrt_bef_callable_passed_users(ready->frame->callable, site);
  uint32_t first_user = first_result > 0 ? user_counts[0] : 0;
  for (uint32_t i = first_result; i < record->result_count; ++i) {
    uint32_t count = user_counts[i];
    tfrt_executor_publish(ready, results[i], users + first_user,
                          passed_users ? passed_users + first_user : NULL, count,
                          values ? values[i - first_result] : tfrt_async_value_out_of_memory());
    first_user += count;
  }
}

// The value in a register that may not be set yet; puts a placeholder there if so. The
// caller has one use of it.
static tfrt_async_value_t* tfrt_executor_anticipate(tfrt_call_frame_t* frame,
                                                    uint32_t register_index) {
  _Atomic(tfrt_async_value_t*)* slot = &frame->registers[register_index];
  // Acquire: pairs with the release in tfrt_executor_set_register().
  tfrt_async_value_t* value = atomic_load_explicit(slot, memory_order_acquire);
  if (value) return value;
  tfrt_indirect_value_t* placeholder = tfrt_indirect_value_create();
  // Out of memory: the use stays undone, and with it one reference; better than a crash.
  if (!placeholder) return tfrt_async_value_out_of_memory();
  // One for each use, and one that whoever forwards it drops.
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  tfrt_async_value_retain_n(&placeholder->base, uses);
  // Partner: the same operation in tfrt_executor_set_register().
  if (atomic_compare_exchange_strong_explicit(slot, &value, &placeholder->base,
                                              memory_order_acq_rel, memory_order_acquire)) {
    return &placeholder->base;
  }
  tfrt_async_value_release_n(&placeholder->base, uses + 1);
  return value;
}

// --- Kernels -----------------------------------------------------------------

// Collects the arguments of |site|. Returns the error (+0) because of which it is not to
// run: the last one in the order of operands, else the request's cancellation, else NULL.
static tfrt_async_value_t* tfrt_executor_collect(tfrt_call_frame_t* frame,
                                                 const tfrt_kernel_site_t* site,
                                                 tfrt_async_value_t** arguments) {
  tfrt_async_value_t* error = tfrt_request_context_cancelled(frame->context.request);
  const uint32_t* registers = tfrt_bef_record_arguments(site->record);
  for (uint32_t i = 0; i < site->record->argument_count; ++i) {
    uint32_t register_index = registers[i];
    if (site->binding->uses[i] == TFRT_OPERAND_PASSED) {
      arguments[i] = tfrt_executor_anticipate(frame, register_index);
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

static void tfrt_executor_run_kernel(tfrt_call_frame_t* frame, const tfrt_kernel_site_t* site,
                                     tfrt_async_value_t** arguments, tfrt_async_value_t** results) {
  const tfrt_kernel_binding_t* binding = site->binding;
  tfrt_kernel_frame_t kernel_frame = {
      .arguments = arguments,
      .results = results,
      .attributes = binding->attributes,
      .functions = binding->functions,
      .argument_count = site->record->argument_count,
      .result_count = site->record->result_count,
      .attribute_count = site->record->attribute_count,
      .function_count = site->record->function_count,
      .call_options = binding->call_options,
      .context = &frame->context,
      .site = site,
      .registers = frame->registers,
  };
  tfrt_kernel_run(&kernel_frame, site, tfrt_request_context_trace(frame->context.request));
}

// Drops the arguments of |site|, which has run, and publishes its |results|.
static void tfrt_executor_finish(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                                 tfrt_async_value_t* const* results) {
  const uint32_t* arguments = tfrt_bef_record_arguments(site->record);
  for (uint32_t i = 0; i < site->record->argument_count; ++i) {
    // The register, not the argument: that may name the target of an indirect.
    tfrt_async_value_release(
        atomic_load_explicit(&ready->frame->registers[arguments[i]], memory_order_relaxed));
  }
  tfrt_executor_publish_all(ready, site, 0, results);
}

// Runs |site| with |values| as room for its arguments and results, and publishes these.
static void tfrt_executor_fire_with(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                                    tfrt_async_value_t** values) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_record_t* record = site->record;
  tfrt_async_value_t** arguments = values;
  tfrt_async_value_t** results = values + record->argument_count;
  memset(results, 0, record->result_count * sizeof(*results));
  tfrt_async_value_t* error = tfrt_executor_collect(frame, site, arguments);
  if (TFRT_LIKELY(!error)) {
    tfrt_executor_run_kernel(frame, site, arguments, results);
  } else {
    for (uint32_t i = 0; i < record->result_count; ++i) {
      results[i] = tfrt_async_value_retain(error);
    }
  }
  tfrt_executor_finish(ready, site, results);
}

static void tfrt_executor_fire(tfrt_ready_list_t* ready, uint32_t kernel) {
  const tfrt_kernel_site_t* site = &ready->frame->callable->sites[kernel];
  size_t count = (size_t)site->record->argument_count + site->record->result_count;
  if (TFRT_LIKELY(count <= TFRT_EXECUTOR_INLINE_VALUES)) {
    tfrt_async_value_t* values[TFRT_EXECUTOR_INLINE_VALUES];
    tfrt_executor_fire_with(ready, site, values);
    return;
  }
  tfrt_allocator_t allocator = ready->frame->allocator;
  tfrt_async_value_t** values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  if (values) {
    tfrt_executor_fire_with(ready, site, values);
    tfrt_allocator_free(allocator, values, count * sizeof(*values));
    return;
  }
  // No room even to look at the arguments: their uses stay undone, the results say why.
  tfrt_executor_publish_all(ready, site, 0, NULL);
}

// The rest of a call's ready kernels of one stream, as a task of the work queue.
static void tfrt_executor_run_group(tfrt_task_t* task) {
  tfrt_kernel_group_t* group = TFRT_CONTAINER_OF(task, tfrt_kernel_group_t, task);
  tfrt_call_frame_t* frame = group->frame;
  uint32_t stream = frame->callable->sites[group->first].stream_id;
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, stream);
  tfrt_ready_list_push_group(&ready, group->first);
  tfrt_executor_drain(&ready);
  tfrt_executor_end_path(&ready);
}

// Runs kernels until none is ready on this path.
static void tfrt_executor_drain(tfrt_ready_list_t* ready) {
  const void* outer = tfrt_running_kernel_enter();
  do {
    tfrt_ready_list_share(ready, tfrt_executor_run_group);
    for (uint32_t kernel; (kernel = tfrt_ready_list_pop(ready));) {
      tfrt_executor_let_wait(ready);
      tfrt_executor_fire(ready, kernel);
      if (TFRT_UNLIKELY(ready->outline_expensive)) {
        tfrt_ready_list_share(ready, tfrt_executor_run_group);
      }
    }
  } while (tfrt_ready_list_switch_stream(ready, tfrt_executor_run_group));
  tfrt_running_kernel_mark(outer);
}

// --- Calls -------------------------------------------------------------------

// Starts the kernels without arguments. Where some may start before all of their arguments are set,
// constants are made at once: on their way through the work queue they would come too late, and
// whatever is called on another host would have to ask for them.
static void tfrt_executor_start_kernels(tfrt_ready_list_t* ready) {
  const tfrt_bef_callable_t* callable = ready->frame->callable;
  if (callable->nonstrict_count == 0) {
    tfrt_arrival_start(ready);
    return;
  }
  const void* outer = tfrt_running_kernel_enter();
  const tfrt_bef_record_t* start = callable->sites[0].record;
  const uint32_t* users = tfrt_bef_record_users(start);
  for (uint32_t i = 0; i < tfrt_bef_record_user_counts(start)[0]; ++i) {
    uint32_t kernel = users[i];
    if (callable->sites[kernel].prompt) {
      tfrt_executor_fire(ready, kernel);
    } else {
      tfrt_arrival_of_one(ready, kernel);
    }
  }
  tfrt_running_kernel_mark(outer);
}

// Starts the kernels without arguments, then publishes the arguments (+0, or +1 with |take|),
// the results of the pseudo kernel behind its special one.
static void tfrt_executor_start(tfrt_ready_list_t* ready, tfrt_async_value_t* const* arguments,
                                bool take) {
  const tfrt_kernel_site_t* start = &ready->frame->callable->sites[0];
  tfrt_executor_start_kernels(ready);
  for (uint32_t i = 1; !take && i < start->record->result_count; ++i) {
    tfrt_async_value_retain(arguments[i - 1]);
  }
  tfrt_executor_publish_all(ready, start, 1, arguments);
}

// Starts the non-strict kernels that still lack arguments: whatever they call may get on
// without these.
static void tfrt_executor_force(tfrt_ready_list_t* ready) {
  const tfrt_bef_callable_t* callable = ready->frame->callable;
  for (uint32_t i = 0; i < callable->nonstrict_count; ++i) {
    uint32_t kernel = callable->nonstrict[i];
    // Release and acquire: as in tfrt_arrival_of_passed(), its partner.
    uint32_t before = atomic_fetch_or_explicit(&ready->frame->passed[kernel],
                                               TFRT_CALL_FRAME_FORCED, memory_order_acq_rel);
    if (before == 0) continue;
    tfrt_arrival_of_one(ready, kernel);
    tfrt_executor_drain(ready);
  }
}

// Runs what is ready, then what can start without all of its arguments, and sets |results|.
static void tfrt_executor_complete(tfrt_ready_list_t* ready, tfrt_async_value_t** results) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_callable_t* callable = frame->callable;
  tfrt_executor_drain(ready);
  tfrt_executor_force(ready);
  for (uint32_t i = 0; i < callable->base.result_count; ++i) {
    results[i] = tfrt_executor_anticipate(frame, callable->bef->result_registers[i]);
  }
  tfrt_executor_end_path(ready);
}

static void tfrt_executor_fail_call(const tfrt_bef_callable_t* callable,
                                    tfrt_async_value_t* const* arguments, bool take,
                                    tfrt_async_value_t** results) {
  for (uint32_t i = 0; i < callable->base.result_count; ++i) {
    results[i] = tfrt_async_value_out_of_memory();
  }
  for (uint32_t i = 0; take && i < callable->base.argument_count; ++i) {
    tfrt_async_value_release(arguments[i]);
  }
}

static void tfrt_executor_call(const tfrt_bef_callable_t* callable,
                               const tfrt_execution_context_t* context,
                               tfrt_async_value_t* const* arguments, bool take,
                               tfrt_async_value_t** results) {
  tfrt_call_frame_t* frame = tfrt_call_frame_create(callable, context);
  if (!frame) {
    tfrt_executor_fail_call(callable, arguments, take, results);
    return;
  }
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, callable->sites[0].stream_id);
  tfrt_executor_start(&ready, arguments, take);
  tfrt_executor_complete(&ready, results);
}

// --- Scheduled calls ---------------------------------------------------------

// Puts |value|, which the kernels of a scheduled call have used in part, into its register;
// |is_owned|: with the call's one reference.
static void tfrt_executor_adopt(tfrt_call_frame_t* frame, uint32_t register_index,
                                tfrt_async_value_t* value, bool is_owned) {
  uint32_t uses = frame->remaining[register_index];
  if (uses == 0) return;  // dropped already
  if (uses > is_owned) tfrt_async_value_retain_n(value, uses - is_owned);
  // Relaxed: nobody else knows the frame.
  atomic_store_explicit(&frame->registers[register_index], value, memory_order_relaxed);
}

// Counts in |frame| the uses that are left behind the steps before |call->step|.
static void tfrt_executor_count_uses(tfrt_call_frame_t* frame, const tfrt_scheduled_call_t* call) {
  const tfrt_bef_function_t* bef = call->callable->bef;
  memcpy(frame->remaining, bef->use_counts, bef->register_count * sizeof(*frame->remaining));
  const tfrt_schedule_step_t* step = call->callable->schedule->steps;
  for (; step != call->step; ++step) {
    const uint32_t* arguments = tfrt_bef_record_arguments(step->site->record);
    for (uint32_t i = 0; i < step->argument_count; ++i) --frame->remaining[arguments[i]];
  }
}

// Puts the results of |step|, which has run and is not where |call| has stopped, into registers.
static void tfrt_executor_adopt_results(tfrt_call_frame_t* frame, const tfrt_scheduled_call_t* call,
                                        const tfrt_schedule_step_t* step) {
  const uint32_t* slots = call->callable->schedule->slots + step->first_slot + step->argument_count;
  const uint32_t* results = tfrt_bef_record_results(step->site->record);
  for (uint32_t i = 0; i < step->result_count; ++i) {
    tfrt_executor_adopt(frame, results[i], call->slots[slots[i]], true);
  }
}

// Brings |ready|, the list of a new frame, to where |call| has stopped: the lists do what the
// schedule was made from, and the registers get what is still to be used. The kernel of
// |call->step| is the one that is taken from the list last.
static void tfrt_executor_catch_up(tfrt_ready_list_t* ready, const tfrt_scheduled_call_t* call) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_callable_t* callable = call->callable;
  tfrt_executor_count_uses(frame, call);
  for (uint32_t i = 0; i < callable->base.argument_count; ++i) {
    tfrt_executor_adopt(frame, i, call->slots[i], i >= call->first_owned);
  }
  tfrt_arrival_start(ready);
  tfrt_arrival_tell_all(ready, &callable->sites[0], 1);
  const tfrt_schedule_step_t* step = callable->schedule->steps;
  for (;;) {
    const tfrt_kernel_site_t* site = &callable->sites[tfrt_ready_list_pop_in_sequence(ready)];
    if (site->binding->constant) {
      const uint32_t number = tfrt_bef_record_results(site->record)[0];
      tfrt_executor_adopt(frame, number, site->binding->constant, false);
    } else if (step == call->step) {
      return;
    } else {
      tfrt_executor_adopt_results(frame, call, step++);
    }
    tfrt_arrival_tell_all(ready, site, 0);
  }
}

// Goes on with |call|, which has stopped, as a call that is not scheduled.
static void tfrt_executor_take_over(tfrt_scheduled_call_t* call, tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = call->callable;
  tfrt_call_frame_t* frame = tfrt_call_frame_create(callable, call->frame.context);
  if (!frame) {
    // What the slots hold stays undone, and with it some references; better than a crash.
    tfrt_executor_fail_call(callable, NULL, false, results);
    return;
  }
  tfrt_ready_list_t ready = tfrt_ready_list_make(frame, callable->sites[0].stream_id);
  tfrt_executor_catch_up(&ready, call);
  tfrt_executor_finish(&ready, call->step->site, call->results);
  tfrt_executor_complete(&ready, results);
}

// Runs |callable| by its schedule, in |slots|.
static void tfrt_executor_call_scheduled(const tfrt_bef_callable_t* callable,
                                         tfrt_async_value_t** slots,
                                         const tfrt_execution_context_t* context,
                                         tfrt_async_value_t* const* arguments, bool take,
                                         tfrt_async_value_t** results) {
  tfrt_scheduled_call_t call;
  call.callable = callable;
  call.slots = slots;
  if (!tfrt_scheduled_call_run(&call, context, arguments, take, results)) {
    tfrt_executor_take_over(&call, results);
  }
}

// Starts a call in the way that it can go.
static void tfrt_executor_start_call(const tfrt_bef_callable_t* callable,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments, bool take,
                                     tfrt_async_value_t** results) {
  if (!tfrt_scheduled_call_is_possible(callable, context, arguments)) {
    tfrt_executor_call(callable, context, arguments, take, results);
    return;
  }
  size_t count = callable->schedule->slot_count;
  if (TFRT_LIKELY(count <= TFRT_EXECUTOR_INLINE_SLOTS)) {
    tfrt_async_value_t* slots[TFRT_EXECUTOR_INLINE_SLOTS];
    tfrt_executor_call_scheduled(callable, slots, context, arguments, take, results);
    return;
  }
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_async_value_t** slots = tfrt_allocator_allocate(allocator, count * sizeof(*slots));
  if (slots) {
    tfrt_executor_call_scheduled(callable, slots, context, arguments, take, results);
    tfrt_allocator_free(allocator, slots, count * sizeof(*slots));
  } else {
    tfrt_executor_fail_call(callable, arguments, take, results);
  }
}

// --- Entries -----------------------------------------------------------------

static void tfrt_executor_enter(const tfrt_bef_callable_t* callable,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, bool take,
                                tfrt_async_value_t** results) {
  ++tfrt_executor_depth;
  tfrt_executor_start_call(callable, context, arguments, take, results);
  --tfrt_executor_depth;
}

// A call that went through the queue because the stack was deep: here it is not, or the
// queue has nowhere else to run it.
static void tfrt_executor_run_deferred(const tfrt_function_t* function,
                                       const tfrt_execution_context_t* context,
                                       tfrt_async_value_t* const* arguments,
                                       tfrt_async_value_t** results) {
  tfrt_executor_enter((const tfrt_bef_callable_t*)function, context, arguments, true, results);
}

void tfrt_bef_callable_execute(const tfrt_function_t* function,
                               const tfrt_execution_context_t* context,
                               tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  if (TFRT_LIKELY(tfrt_executor_depth < TFRT_EXECUTOR_MAX_DEPTH)) {
    tfrt_executor_enter(callable, context, arguments, false, results);
  } else {
    tfrt_queued_call_enqueue(function, tfrt_executor_run_deferred, context, arguments, false,
                             results);
  }
}

void tfrt_bef_callable_execute_take(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  if (TFRT_LIKELY(tfrt_executor_depth < TFRT_EXECUTOR_MAX_DEPTH)) {
    tfrt_executor_enter(callable, context, arguments, true, results);
  } else {
    tfrt_queued_call_enqueue(function, tfrt_executor_run_deferred, context, arguments, true,
                             results);
  }
}
