// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/call_takeover.h"

#include <string.h>

#include "host_runtime/executor/call/arrival.h"

// Puts |value|, which the kernels of a scheduled call have used in part, into its register;
// |is_owned|: with the call's one reference.
static void adopt(tfrt_call_frame_t* frame, uint32_t register_index, tfrt_async_value_t* value,
                  bool is_owned) {
  uint32_t uses = frame->remaining[register_index];
  if (uses == 0) return;  // dropped already
  if (uses > is_owned) tfrt_async_value_retain_n(value, uses - is_owned);
  // Relaxed: nobody else knows the frame.
  atomic_store_explicit(&frame->registers[register_index], value, memory_order_relaxed);
}

// Counts in |frame| the uses that are left behind the steps before |call->step|.
static void count_uses(tfrt_call_frame_t* frame, const tfrt_scheduled_call_t* call) {
  const tfrt_bef_function_t* bef = call->callable->bef;
  memcpy(frame->remaining, bef->use_counts, bef->register_count * sizeof(*frame->remaining));
  const tfrt_kernel_site_t* sites = call->callable->sites;
  const tfrt_schedule_step_t* step = call->callable->schedule->steps;
  for (; step != call->step; ++step) {
    const uint32_t* arguments =
        tfrt_bef_record_arguments(tfrt_kernel_site_record(&sites[step->kernel]));
    for (uint32_t i = 0; i < step->argument_count; ++i) --frame->remaining[arguments[i]];
  }
}

// Puts the results of |step|, which has run and is not where |call| has stopped, into registers;
// |step_slots| are its slots.
static void adopt_results(tfrt_call_frame_t* frame, const tfrt_scheduled_call_t* call,
                          const tfrt_schedule_step_t* step, const uint32_t* step_slots) {
  const uint32_t* slots = step_slots + step->argument_count;
  const tfrt_kernel_site_t* site = &call->callable->sites[step->kernel];
  const uint32_t* results = tfrt_bef_record_results(tfrt_kernel_site_record(site));
  for (uint32_t i = 0; i < step->result_count; ++i) {
    adopt(frame, results[i], call->slots[slots[i]], true);
  }
}

void tfrt_call_takeover(tfrt_ready_list_t* ready, const tfrt_scheduled_call_t* call) {
  tfrt_call_frame_t* frame = ready->frame;
  const tfrt_bef_callable_t* callable = call->callable;
  count_uses(frame, call);
  for (uint32_t i = 0; i < callable->base.argument_count; ++i) {
    adopt(frame, i, call->slots[i], i >= call->first_owned);
  }
  tfrt_arrival_start(ready);
  tfrt_arrival_tell_all(ready, &callable->sites[0], 1);
  const tfrt_schedule_step_t* step = callable->schedule->steps;
  const uint32_t* slots = callable->schedule->slots;
  for (;;) {
    const tfrt_kernel_site_t* site = &callable->sites[tfrt_ready_list_pop_in_sequence(ready)];
    if (site->binding->constant) {
      const uint32_t number = tfrt_bef_record_results(tfrt_kernel_site_record(site))[0];
      adopt(frame, number, site->binding->constant, false);
    } else if (step == call->step) {
      return;
    } else {
      adopt_results(frame, call, step, slots);
      slots += tfrt_schedule_step_slot_count(step++);
    }
    tfrt_arrival_tell_all(ready, site, 0);
  }
}
