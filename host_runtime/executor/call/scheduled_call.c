// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/scheduled_call.h"

#include <string.h>

#include "host_runtime/async/backlog.h"
#include "host_runtime/executor/call/kernel_run.h"
#include "host_runtime/executor/request/request_context.h"

bool tfrt_scheduled_call_is_possible(const tfrt_bef_callable_t* callable,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments) {
  // A trace tells of each kernel, of constants too.
  if (!callable->schedule || tfrt_request_context_trace(context->request)) return false;
  // The function's arguments have the first registers.
  const uint8_t* flags = callable->register_flags;
  for (uint32_t i = 0; i < callable->base.argument_count; ++i) {
    bool is_needed = flags[i] & TFRT_REGISTER_NEEDED;
    if (!tfrt_async_value_is_available(arguments[i]) && is_needed) return false;
  }
  return true;
}

bool tfrt_scheduled_call_is_unique(const tfrt_scheduled_call_t* call, uint32_t index) {
  const tfrt_schedule_step_t* step = call->step;
  const uint32_t* slots = call->step_slots;
  uint32_t slot = slots[index];
  if (slot < call->first_owned) return false;
  // The kernel has the value to itself if it is the last one to read it, by this one argument.
  const uint32_t* dead = slots + step->argument_count + step->result_count;
  bool is_last = false;
  for (uint32_t i = 0; i < step->dead_count; ++i) is_last |= dead[i] == slot;
  uint32_t readings = 0;
  for (uint32_t i = 0; i < step->argument_count; ++i) readings += slots[i] == slot;
  return is_last && readings == 1 && tfrt_async_value_is_unique(call->slots[slot]);
}

// Collects the arguments of the step. Returns the error (+0) that forbids its kernel to run, or
// NULL, by the rules of the executor: each value is there, or the kernel waits itself.
static inline tfrt_async_value_t* scheduled_call_collect(tfrt_scheduled_call_t* call,
                                                         const tfrt_schedule_step_t* step,
                                                         const tfrt_kernel_site_t* site,
                                                         const uint32_t* slots) {
  tfrt_async_value_t* error = tfrt_request_context_cancelled(call->frame.context->request);
  const uint32_t count = step->argument_count;
  const uint8_t* uses = step->is_plain ? NULL : site->binding->uses;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_async_value_t* value = call->slots[slots[i]];
    call->arguments[i] = value;
    if (TFRT_LIKELY(tfrt_async_value_is_scalar(value))) continue;
    if (uses && uses[i] == TFRT_OPERAND_PASSED) continue;
    // Late: the kernel waits itself.
    if (TFRT_UNLIKELY(!tfrt_async_value_is_available(value))) continue;
    call->arguments[i] = tfrt_async_value_resolved(value);
    if (TFRT_UNLIKELY(tfrt_async_value_is_error(value))) error = call->arguments[i];
  }
  return error;
}

// Whether the kernel of |step| runs in spite of an error among its arguments, since it waits for
// others.
static TFRT_COLD bool scheduled_call_waits(const tfrt_scheduled_call_t* call,
                                           const tfrt_schedule_step_t* step,
                                           const tfrt_kernel_site_t* site) {
  if (!site->binding->takes_late) return false;
  if (tfrt_request_context_cancelled(call->frame.context->request)) return false;
  for (uint32_t i = 0; i < step->argument_count; ++i) {
    if (!tfrt_async_value_is_available(call->arguments[i])) return true;
  }
  return false;
}

// Runs the kernel of a step that is not plain.
static void scheduled_call_run_special(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site) {
  const tfrt_kernel_binding_t* binding = site->binding;
  frame->attributes = binding->attributes;
  frame->functions = binding->functions;
  frame->attribute_count = binding->attribute_count;
  frame->function_count = binding->function_count;
  frame->call_options = binding->call_options;
  tfrt_kernel_run(frame, site, NULL);
  frame->attribute_count = 0;
  frame->function_count = 0;
  frame->call_options = NULL;
}

// Runs the kernel of |step|, at |site|, whose slots are |slots|, unless one of its arguments is an
// error.
static inline void scheduled_call_fire(tfrt_scheduled_call_t* call,
                                       const tfrt_schedule_step_t* step,
                                       const tfrt_kernel_site_t* site, const uint32_t* slots) {
  tfrt_kernel_frame_t* frame = &call->frame;
  // Nearly all kernels have one result: a loop for it, or a string instruction, costs more than
  // the rest of the step. Volatile, as the compiler makes a string instruction of the loop, too.
  call->results[0] = NULL;
  tfrt_async_value_t* volatile* results = call->results;
  for (uint32_t i = 1; i < step->result_count; ++i) results[i] = NULL;
  tfrt_async_value_t* error = scheduled_call_collect(call, step, site, slots);
  if (TFRT_UNLIKELY(error) && !scheduled_call_waits(call, step, site)) {
    for (uint32_t i = 0; i < step->result_count; ++i) {
      call->results[i] = tfrt_async_value_retain(error);
    }
    return;
  }
  frame->argument_count = step->argument_count;
  frame->result_count = step->result_count;
  frame->site = site;
  if (TFRT_UNLIKELY(!step->is_plain)) {
    scheduled_call_run_special(frame, site);
    return;
  }
  tfrt_running_kernel_mark(site);
  site->binding->run(frame);
  tfrt_kernel_run_check_use(frame, site);
}

// Puts the results of |step| down. Returns false if one that is needed is late.
static inline bool scheduled_call_put_results(tfrt_scheduled_call_t* call,
                                              const tfrt_schedule_step_t* step,
                                              const uint32_t* slots) {
  const uint32_t* result_slots = slots + step->argument_count;
  const uint32_t count = step->result_count;
  bool are_there = true;
  for (uint32_t i = 0; i < count; ++i) {
    if (TFRT_UNLIKELY(!call->results[i]))
      tfrt_kernel_run_complete(&call->frame, call->frame.site, i);
    tfrt_async_value_t* value = call->results[i];
    are_there &= tfrt_async_value_is_scalar(value) || tfrt_async_value_is_available(value);
    call->slots[result_slots[i]] = value;
  }
  return are_there || step->gives_late;
}

// Drops what nobody reads behind |step|.
static inline void scheduled_call_drop_dead(tfrt_scheduled_call_t* call,
                                            const tfrt_schedule_step_t* step,
                                            const uint32_t* slots) {
  const uint32_t* dead = slots + step->argument_count + step->result_count;
  const uint32_t count = step->dead_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (dead[i] >= call->first_owned) tfrt_async_value_release_n(call->slots[dead[i]], 1);
  }
}

// Each field by itself: a compound literal is cleared with a string instruction, which takes longer
// than a step.
static inline void scheduled_call_begin_frame(tfrt_scheduled_call_t* call,
                                              const tfrt_execution_context_t* context) {
  tfrt_kernel_frame_t* frame = &call->frame;
  frame->arguments = call->arguments;
  frame->results = call->results;
  frame->attributes = NULL;
  frame->functions = NULL;
  frame->attribute_count = 0;
  frame->function_count = 0;
  frame->call_options = NULL;
  frame->context = context;
  frame->registers = NULL;
  frame->scheduled = call;
}

static void scheduled_call_begin(tfrt_scheduled_call_t* call,
                                 const tfrt_execution_context_t* context,
                                 tfrt_async_value_t* const* arguments, bool take) {
  const tfrt_schedule_t* schedule = call->callable->schedule;
  uint32_t argument_count = call->callable->base.argument_count;
  call->first_owned = take ? 0 : argument_count;
  scheduled_call_begin_frame(call, context);
  for (uint32_t i = 0; i < argument_count; ++i) call->slots[i] = arguments[i];
  for (uint32_t i = 0; i < schedule->constant_count; ++i) {
    call->slots[argument_count + i] = schedule->constants[i];
  }
  for (uint32_t i = 0; take && i < schedule->unused_count; ++i) {
    tfrt_async_value_release(arguments[schedule->unused_arguments[i]]);
  }
}

// Runs all steps. Returns false, with |call->step| the one, behind a step with a late result that
// is needed.
static bool scheduled_call_run_steps(tfrt_scheduled_call_t* call) {
  const tfrt_schedule_t* schedule = call->callable->schedule;
  const tfrt_schedule_step_t* end = schedule->steps + schedule->step_count;
  const uint32_t* slots = schedule->slots;
  const tfrt_kernel_site_t* sites = call->callable->sites;
  for (call->step = schedule->steps; call->step != end; ++call->step) {
    call->step_slots = slots;
    scheduled_call_fire(call, call->step, &sites[call->step->kernel], slots);
    if (TFRT_UNLIKELY(!scheduled_call_put_results(call, call->step, slots))) return false;
    scheduled_call_drop_dead(call, call->step, slots);
    slots += tfrt_schedule_step_slot_count(call->step);
    // Tasks come from kernels with functions.
    if (TFRT_UNLIKELY(!call->step->is_plain)) tfrt_backlog_work_off();
  }
  return true;
}

// Takes |results| (+1) out of the slots, behind the last step.
static void scheduled_call_take_results(const tfrt_scheduled_call_t* call,
                                        tfrt_async_value_t** results) {
  const tfrt_schedule_t* schedule = call->callable->schedule;
  for (uint32_t i = 0; i < call->callable->base.result_count; ++i) {
    uint32_t slot = schedule->result_slots[i];
    bool is_given = schedule->result_is_last[i] && slot >= call->first_owned;
    results[i] = is_given ? call->slots[slot] : tfrt_async_value_retain(call->slots[slot]);
  }
}

bool tfrt_scheduled_call_run(tfrt_scheduled_call_t* call, const tfrt_execution_context_t* context,
                             tfrt_async_value_t* const* arguments, bool take,
                             tfrt_async_value_t** results) {
  scheduled_call_begin(call, context, arguments, take);
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(context->request->options.whole);
  bool is_over = scheduled_call_run_steps(call);
  tfrt_running_kernel_leave(outer);
  if (is_over) scheduled_call_take_results(call, results);
  return is_over;
}

void tfrt_scheduled_call_run_out(tfrt_scheduled_call_t* call, tfrt_async_value_t** results) {
  const tfrt_schedule_t* schedule = call->callable->schedule;
  const tfrt_schedule_step_t* end = schedule->steps + schedule->step_count;
  scheduled_call_drop_dead(call, call->step, call->step_slots);
  const uint32_t* slots = call->step_slots + tfrt_schedule_step_slot_count(call->step);
  while (++call->step != end) {
    const tfrt_kernel_site_t* site = &call->callable->sites[call->step->kernel];
    // The request is cancelled, so that is an error for each result.
    scheduled_call_fire(call, call->step, site, slots);
    scheduled_call_put_results(call, call->step, slots);
    scheduled_call_drop_dead(call, call->step, slots);
    slots += tfrt_schedule_step_slot_count(call->step);
  }
  scheduled_call_take_results(call, results);
}
