// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/call_forecast.h"

#include <string.h>

#include "host_runtime/executor/program/program_impl.h"

// Kernels, of a function and all that it calls, that are looked at; and functions in each other.
#define TFRT_FORECAST_MAX_KERNELS 10000
#define TFRT_FORECAST_MAX_DEPTH 32

typedef struct tfrt_forecaster_s {
  uint32_t kernels;  // that may still be looked at
  uint32_t depth;
} tfrt_forecaster_t;

static bool forecaster_run(tfrt_forecaster_t* forecaster, const tfrt_function_t* function,
                           const tfrt_forecast_t* arguments, tfrt_forecast_t* out_results);

static const tfrt_bef_callable_t* forecast_callable(const tfrt_function_t* function) {
  return TFRT_CONTAINER_OF(function, tfrt_bef_callable_t, base);
}

static void forecast_fill(tfrt_forecast_t* values, uint32_t count, tfrt_forecast_t value) {
  for (uint32_t i = 0; i < count; ++i) values[i] = value;
}

// The knowledge of a value that is |a| or |b|.
static tfrt_forecast_t forecast_either(tfrt_forecast_t a, tfrt_forecast_t b) {
  return a == b && a == TFRT_FORECAST_ERROR ? a : TFRT_FORECAST_OPEN;
}

// --- Kernels that have functions ---------------------------------------------------

// Sets |out_arguments| to those of |function|, of the kernel at |site| with the arguments |given|;
// false if a call would fail.
static bool forecast_pass(const tfrt_kernel_site_t* site, const tfrt_function_t* function,
                          const tfrt_forecast_t* given, tfrt_forecast_t* out_arguments) {
  const uint32_t count = function->argument_count;
  if (site->binding->idleness == TFRT_KERNEL_IDLE_FUNCTIONS) {
    forecast_fill(out_arguments, count, TFRT_FORECAST_OPEN);
    return true;
  }
  // The operands that are not passed come first.
  const uint32_t waited = site->binding->waited_count;
  if (count != tfrt_kernel_site_record(site)->argument_count - waited) return false;
  if (count > 0) memcpy(out_arguments, given + waited, count * sizeof(*given));
  return true;
}

// A loop: |arguments|, of its body, become what they may be before any turn.
static bool forecast_loop(tfrt_forecaster_t* forecaster, const tfrt_function_t* body,
                          uint32_t carried, tfrt_forecast_t* arguments, tfrt_forecast_t* results) {
  if (body->argument_count != carried || body->result_count < carried) return false;
  for (bool is_settled = false; !is_settled;) {
    if (!forecaster_run(forecaster, body, arguments, results)) return false;
    is_settled = true;
    for (uint32_t i = 0; i < carried; ++i) {
      if (arguments[i] == TFRT_FORECAST_OPEN) continue;
      bool stays = arguments[i] == results[i] && (arguments[i] == TFRT_FORECAST_ERROR ||
                                                  tfrt_call_forecast_is_argument(body, i, i));
      if (stays) continue;
      arguments[i] = TFRT_FORECAST_OPEN;
      is_settled = false;
    }
  }
  return true;
}

// Sets |out_results| to what a call of |function| by the kernel at |site|, with the arguments
// |given| of that, gives it. |values| is room for the arguments and results of the function.
static bool forecast_function(tfrt_forecaster_t* forecaster, const tfrt_kernel_site_t* site,
                              const tfrt_function_t* function, const tfrt_forecast_t* given,
                              tfrt_forecast_t* values, tfrt_forecast_t* out_results) {
  const uint32_t count = tfrt_kernel_site_record(site)->result_count;
  const tfrt_kernel_binding_t* binding = site->binding;
  tfrt_forecast_t* results = values + function->argument_count;
  if (!forecast_pass(site, function, given, values)) return false;
  if (binding->idleness == TFRT_KERNEL_IDLE_LOOP) {
    if (!forecast_loop(forecaster, function, count, values, results)) return false;
    // A loop without turns gives what it was given.
    memcpy(out_results, values, count * sizeof(*values));
    return true;
  }
  if (!forecaster_run(forecaster, function, values, results)) return false;
  bool hands_on = binding->idleness == TFRT_KERNEL_IDLE_CALL;
  if (hands_on && function->result_count != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    out_results[i] = hands_on ? results[i] : TFRT_FORECAST_OPEN;
    // Another host may be lost meanwhile.
    if (binding->call_options && out_results[i] == TFRT_FORECAST_SAME) {
      out_results[i] = TFRT_FORECAST_OPEN;
    }
  }
  return true;
}

// The results of the kernel at |site|, which runs any of its functions, with the arguments |given|.
static bool forecast_functions(tfrt_forecaster_t* forecaster, const tfrt_kernel_site_t* site,
                               const tfrt_forecast_t* given, tfrt_forecast_t* out_results) {
  const uint32_t count = tfrt_kernel_site_record(site)->result_count;
  for (uint32_t f = 0; f < tfrt_kernel_site_record(site)->function_count; ++f) {
    const tfrt_function_t* function = site->binding->functions[f];
    const size_t room = (size_t)function->argument_count + function->result_count + count + 1;
    tfrt_forecast_t* values =
        tfrt_allocator_allocate_array(tfrt_allocator_system(), room, sizeof(*values));
    if (!values) return false;
    tfrt_forecast_t* ends = values + function->argument_count + function->result_count;
    bool is_idle = forecast_function(forecaster, site, function, given, values, ends);
    for (uint32_t i = 0; is_idle && i < count; ++i) {
      out_results[i] = f == 0 ? ends[i] : forecast_either(out_results[i], ends[i]);
    }
    tfrt_allocator_free(tfrt_allocator_system(), values, room * sizeof(*values));
    if (!is_idle) return false;
  }
  return tfrt_kernel_site_record(site)->function_count > 0;
}

// --- Kernels -----------------------------------------------------------------------

// Whether |site| only gives results: the kernel runs, as none of |given|, which it waits for, is an
// error.
static bool forecast_kernel(tfrt_forecaster_t* forecaster, const tfrt_kernel_site_t* site,
                            const tfrt_forecast_t* given, tfrt_forecast_t* out_results) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const uint32_t count = record->argument_count;
  bool is_same = true;
  for (uint32_t i = 0; i < count; ++i) is_same = is_same && given[i] == TFRT_FORECAST_SAME;
  // A listener hears of each error that a kernel makes of good arguments.
  bool is_heard = site->binding->owner->owner->error_listener.on_error && count > 0;
  switch (site->binding->idleness) {
    case TFRT_KERNEL_IDLE_PURE:
      forecast_fill(out_results, record->result_count,
                    is_same ? TFRT_FORECAST_SAME : TFRT_FORECAST_OPEN);
      return !is_heard;
    case TFRT_KERNEL_IDLE_FAILED:
      forecast_fill(out_results, record->result_count, TFRT_FORECAST_ERROR);
      return !is_heard && count > 1 && given[0] == TFRT_FORECAST_SAME &&
             given[count - 1] == TFRT_FORECAST_ERROR;
    case TFRT_KERNEL_IDLE_CALL:
    case TFRT_KERNEL_IDLE_LOOP:
    case TFRT_KERNEL_IDLE_FUNCTIONS:
      return forecast_functions(forecaster, site, given, out_results);
    default:
      return false;
  }
}

static bool forecast_is_skipped(const tfrt_kernel_site_t* site, const tfrt_forecast_t* given) {
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->argument_count; ++i) {
    bool is_passed = site->binding->uses[i] == TFRT_OPERAND_PASSED;
    if (!is_passed && given[i] == TFRT_FORECAST_ERROR) return true;
  }
  return false;
}

// Kernel |index| of |callable|: reads and sets |registers|.
static bool forecast_site(tfrt_forecaster_t* forecaster, const tfrt_bef_callable_t* callable,
                          uint32_t index, tfrt_forecast_t* registers) {
  const tfrt_kernel_site_t* site = &callable->sites[index];
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const size_t room = (size_t)record->argument_count + record->result_count + 1;
  tfrt_forecast_t* given =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), room, sizeof(*given));
  if (!given) return false;
  tfrt_forecast_t* results = given + record->argument_count;
  for (uint32_t i = 0; i < record->argument_count; ++i) {
    given[i] = registers[tfrt_bef_record_arguments(record)[i]];
  }
  bool is_idle = true;
  if (forecast_is_skipped(site, given)) {
    forecast_fill(results, record->result_count, TFRT_FORECAST_ERROR);
  } else {
    is_idle = forecast_kernel(forecaster, site, given, results);
  }
  for (uint32_t i = 0; i < record->result_count; ++i) {
    registers[tfrt_bef_record_results(record)[i]] = results[i];
  }
  tfrt_allocator_free(tfrt_allocator_system(), given, room * sizeof(*given));
  return is_idle;
}

// --- Functions ---------------------------------------------------------------------

// Whether each kernel of |callable| stands behind those whose results it takes. Other writers of
// files may order them otherwise. |is_set| is room for the registers, all false.
static bool forecast_is_ordered(const tfrt_bef_callable_t* callable, bool* is_set) {
  for (uint32_t k = 0; k < callable->bef->kernel_count; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(callable->bef, k);
    for (uint32_t i = 0; i < record->argument_count; ++i) {
      if (!is_set[tfrt_bef_record_arguments(record)[i]]) return false;
    }
    for (uint32_t i = 0; i < record->result_count; ++i) {
      is_set[tfrt_bef_record_results(record)[i]] = true;
    }
  }
  return true;
}

// The kernels of |callable|, one after the other. |registers| has its arguments.
static bool forecast_body(tfrt_forecaster_t* forecaster, const tfrt_bef_callable_t* callable,
                          tfrt_forecast_t* registers) {
  for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
    if (!forecast_site(forecaster, callable, k, registers)) return false;
  }
  return true;
}

// A call of the asynchronous function |callable|.
static bool forecast_callable_run(tfrt_forecaster_t* forecaster,
                                  const tfrt_bef_callable_t* callable,
                                  const tfrt_forecast_t* arguments, tfrt_forecast_t* out_results) {
  const tfrt_bef_function_t* bef = callable->bef;
  if (forecaster->depth == TFRT_FORECAST_MAX_DEPTH || bef->kernel_count > forecaster->kernels) {
    return false;
  }
  forecaster->kernels -= bef->kernel_count;
  // With the special register, which no result may be in.
  const size_t count = (size_t)bef->register_count + 1;
  tfrt_forecast_t* registers =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), count * sizeof(*registers));
  bool* is_set = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), count * sizeof(*is_set));
  bool is_idle = registers && is_set && forecast_is_ordered(callable, is_set);
  if (is_idle) {
    // Behind the special register.
    const uint32_t* places =
        tfrt_bef_record_results(tfrt_bef_function_record(callable->bef, 0)) + 1;
    for (uint32_t i = 0; i < bef->argument_count; ++i) registers[places[i]] = arguments[i];
    ++forecaster->depth;
    is_idle = forecast_body(forecaster, callable, registers);
    --forecaster->depth;
  }
  for (uint32_t i = 0; is_idle && i < bef->result_count; ++i) {
    out_results[i] = registers[bef->result_registers[i]];
  }
  tfrt_allocator_free(tfrt_allocator_system(), registers, count * sizeof(*registers));
  tfrt_allocator_free(tfrt_allocator_system(), is_set, count * sizeof(*is_set));
  return is_idle;
}

static bool forecaster_run(tfrt_forecaster_t* forecaster, const tfrt_function_t* function,
                           const tfrt_forecast_t* arguments, tfrt_forecast_t* out_results) {
  if (function->kind == TFRT_FUNCTION_ASYNC) {
    return forecast_callable_run(forecaster, forecast_callable(function), arguments, out_results);
  }
  // The other kinds wait for all of their arguments.
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    if (arguments[i] != TFRT_FORECAST_ERROR) continue;
    forecast_fill(out_results, function->result_count, TFRT_FORECAST_ERROR);
    return true;
  }
  return false;
}

bool tfrt_call_forecast(const tfrt_function_t* function, const tfrt_forecast_t* arguments,
                        tfrt_forecast_t* out_results) {
  tfrt_forecaster_t forecaster = {.kernels = TFRT_FORECAST_MAX_KERNELS};
  return forecaster_run(&forecaster, function, arguments, out_results);
}

bool tfrt_call_forecast_is_argument(const tfrt_function_t* function, uint32_t result,
                                    uint32_t argument) {
  if (function->kind != TFRT_FUNCTION_ASYNC) return false;
  const tfrt_bef_callable_t* callable = forecast_callable(function);
  return callable->bef->result_registers[result] ==
         tfrt_bef_record_results(tfrt_bef_function_record(callable->bef, 0))[argument + 1];
}
