// SPDX-License-Identifier: Apache-2.0
//
// The interpreter of synchronous functions. Each call is an *activation* with a register
// file; those that wait for the one on top are linked below it, on the heap:
//
//   activation: caller | function | next kernel | turns | registers[R]
//
// A kernel's arguments are borrowed from the registers of its own activation, those of a
// callee from the caller's, which stay as they are until the callee has ended. A register
// dies behind the last kernel that touches it; the end of an activation clears the rest. A loop
// is one activation, whose results move to its arguments before the next turn.
#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/kernel/sync_frame.h"

#include <stdarg.h>
#include <string.h>

#include "host_runtime/base/plural.h"
#include "host_runtime/executor/call/running_kernel.h"
#include "host_runtime/executor/call/strict_call.h"
#include "host_runtime/executor/program/program_impl.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

// Calls with at most this many arguments and results from asynchronous code need no
// allocation for them.
#define TFRT_SYNC_FUNCTION_INLINE_VALUES 16

typedef struct tfrt_sync_activation_s {
  struct tfrt_sync_activation_s* caller;
  const tfrt_bef_callable_t* callable;
  uint32_t next;   // kernel
  uint32_t depth;  // activations below it
  int64_t turns;   // this one included; negative: as long as the last result is true
  tfrt_sync_value_t registers[];
} tfrt_sync_activation_t;

// --- Frames ------------------------------------------------------------------

void tfrt_sync_frame_fail_take(tfrt_sync_frame_t* frame, tfrt_status_t status) {
  if (frame->error) {
    tfrt_status_release(status);
    return;
  }
  frame->error = tfrt_kernel_site_take_status(frame->site, status);
}

void tfrt_sync_frame_fail(tfrt_sync_frame_t* frame, tfrt_status_code_t code, const char* format,
                          ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t status = tfrt_status_create_v(code, format, arguments);
  va_end(arguments);
  tfrt_sync_frame_fail_take(frame, status);
}

// Whether |function| takes the arguments from |first_argument| on and gives the results and
// |more_results|; fails the frame otherwise.
static bool sync_frame_fits(tfrt_sync_frame_t* frame, const tfrt_function_t* function,
                            uint32_t first_argument, uint32_t more_results) {
  uint32_t argument_count = frame->argument_count - first_argument;
  uint32_t result_count = frame->result_count + more_results;
  if (function->argument_count == argument_count && function->result_count == result_count) {
    return true;
  }
  tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                       "function '%s' takes %u argument%s and gives %u result%s; the call has "
                       "%u and wants %u",
                       function->name, function->argument_count,
                       tfrt_plural(function->argument_count), function->result_count,
                       tfrt_plural(function->result_count), argument_count, result_count);
  return false;
}

void tfrt_sync_frame_call(tfrt_sync_frame_t* frame, const tfrt_function_t* function,
                          uint32_t first_argument) {
  if (!sync_frame_fits(frame, function, first_argument, 0)) return;
  frame->callee = function;
  frame->first_argument = first_argument;
  frame->turns = 1;
}

// Makes the arguments behind the first one the results.
static void sync_frame_pass_on(tfrt_sync_frame_t* frame) {
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    const tfrt_sync_value_t* argument = tfrt_sync_frame_argument(frame, i + 1);
    if (argument->kind != TFRT_SYNC_VALUE_PLAIN) {
      tfrt_sync_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION,
                           "a loop without a turn would give back its argument %u, a %s, which a "
                           "synchronous function can't: it is lent",
                           i, tfrt_type_get(argument->type_id)->name);
      return;
    }
    frame->registers[frame->results[i]] = *argument;
  }
}

void tfrt_sync_frame_loop(tfrt_sync_frame_t* frame, const tfrt_function_t* body, bool is_while,
                          int64_t turns) {
  if (frame->result_count + 1 != frame->argument_count) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a loop of %u values has %u results",
                         frame->argument_count - 1, frame->result_count);
    return;
  }
  if (!sync_frame_fits(frame, body, 1, is_while)) return;
  if (is_while && strcmp(body->result_types[body->result_count - 1], "i1") != 0) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "the last result of '%s' must be the next condition, an i1", body->name);
    return;
  }
  if (turns == 0) {
    sync_frame_pass_on(frame);
    return;
  }
  frame->callee = body;
  frame->first_argument = 1;
  frame->turns = is_while ? -1 : turns;
}

void tfrt_sync_frame_set_again(tfrt_sync_frame_t* frame, uint32_t index) {
  tfrt_sync_value_clear(&frame->registers[frame->results[index]]);
  tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL, "kernel '%s' set its result %u twice",
                       frame->site->binding->name, index);
}

void* tfrt_sync_frame_construct(tfrt_sync_frame_t* frame, uint32_t index, tfrt_type_id_t type_id) {
  tfrt_sync_value_t* result = &frame->registers[frame->results[index]];
  // Not on the way of plain numbers: this allocates anyway.
  if (result->kind != TFRT_SYNC_VALUE_EMPTY) tfrt_sync_frame_set_again(frame, index);
  void* payload = tfrt_sync_value_construct(result, type_id);
  if (!payload) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a %s",
                         tfrt_type_get(type_id)->name);
  }
  return payload;
}

// --- Activations -------------------------------------------------------------

static size_t sync_activation_size(const tfrt_bef_callable_t* callable) {
  return sizeof(tfrt_sync_activation_t) +
         (size_t)callable->bef->register_count * sizeof(tfrt_sync_value_t);
}

// A new activation of |callable| on top of |caller|, with empty registers, or NULL.
static tfrt_sync_activation_t* sync_activation_push(tfrt_sync_activation_t* caller,
                                                    const tfrt_bef_callable_t* callable) {
  tfrt_sync_activation_t* activation =
      tfrt_allocator_allocate(tfrt_value_storage_allocator(), sync_activation_size(callable));
  if (!activation) return NULL;
  activation->caller = caller;
  activation->callable = callable;
  activation->next = 1;
  activation->depth = caller ? caller->depth + 1 : 0;
  activation->turns = 1;
  memset(activation->registers, 0,
         (size_t)callable->bef->register_count * sizeof(tfrt_sync_value_t));
  return activation;
}

// Frees |activation| with what is left in its registers and returns its caller.
static tfrt_sync_activation_t* sync_activation_pop(tfrt_sync_activation_t* activation) {
  tfrt_sync_activation_t* caller = activation->caller;
  uint32_t register_count = activation->callable->bef->register_count;
  for (uint32_t i = 0; i < register_count; ++i) tfrt_sync_value_clear(&activation->registers[i]);
  tfrt_allocator_free(tfrt_value_storage_allocator(), activation,
                      sync_activation_size(activation->callable));
  return caller;
}

static void sync_activation_clear_dead(tfrt_sync_activation_t* activation,
                                       const tfrt_kernel_site_t* site) {
  const uint32_t* dead = activation->callable->dead;
  // There is a site before it: that of the pseudo kernel.
  for (uint32_t i = site[-1].dead_end; i < site->dead_end; ++i) {
    tfrt_sync_value_clear(&activation->registers[dead[i]]);
  }
}

// --- Kernels -----------------------------------------------------------------

static void sync_function_check_arguments(tfrt_sync_frame_t* frame) {
  const tfrt_kernel_binding_t* binding = frame->site->binding;
  for (uint32_t i = 0; i < frame->argument_count && !frame->error; ++i) {
    tfrt_type_id_t actual = tfrt_sync_frame_argument(frame, i)->type_id;
    if (binding->checks[i] == TFRT_TYPE_NONE || binding->checks[i] == actual) continue;
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "argument %u of '%s' is a %s, but the kernel takes a %s", i, binding->name,
                         tfrt_type_get(actual)->name, tfrt_type_get(binding->checks[i])->name);
  }
}

// Sees to it that the kernel has done what it must.
static void sync_function_check_results(tfrt_sync_frame_t* frame) {
  const tfrt_kernel_binding_t* binding = frame->site->binding;
  const tfrt_type_id_t* checks = binding->result_checks;
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    const tfrt_sync_value_t* result = &frame->registers[frame->results[i]];
    if (TFRT_UNLIKELY(result->kind == TFRT_SYNC_VALUE_EMPTY)) {
      tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL, "kernel '%s' didn't set its result %u",
                           binding->name, i);
    } else if (TFRT_UNLIKELY(checks) && checks[i] != TFRT_TYPE_NONE &&
               checks[i] != result->type_id) {
      tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL,
                           "kernel '%s' gave a %s as result %u, but its op table entry says %s",
                           binding->name, tfrt_type_get(result->type_id)->name, i,
                           tfrt_type_get(checks[i])->name);
    }
  }
}

static void sync_function_trace(tfrt_sync_frame_t* frame) {
  tfrt_clock_t clock = frame->context->host->clock;
  const tfrt_request_context_t* request = frame->context->request;
  tfrt_trace_t* trace = tfrt_request_context_trace(request);
  const char* name = frame->site->binding->name;
  tfrt_trace_enter(trace, name);
  int64_t begin = tfrt_clock_now_ns(clock);
  frame->site->binding->run_sync(frame);
  tfrt_trace_leave_kernel(trace, name, tfrt_kernel_site_location(frame->site), begin,
                          tfrt_clock_now_ns(clock), request->options.id);
}

// Runs the kernel at |site| on |frame|, which gets all but the context from it.
static void sync_function_run_kernel(tfrt_sync_activation_t* activation,
                                     const tfrt_kernel_site_t* site, tfrt_sync_frame_t* frame) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const tfrt_kernel_binding_t* binding = site->binding;
  *frame = (tfrt_sync_frame_t){
      .registers = activation->registers,
      .arguments = tfrt_bef_record_arguments(record),
      .results = tfrt_bef_record_results(record),
      .attributes = binding->attributes,
      .functions = binding->functions,
      .argument_count = record->argument_count,
      .result_count = record->result_count,
      .attribute_count = record->attribute_count,
      .function_count = record->function_count,
      .context = frame->context,
      .site = site,
  };
  if (TFRT_UNLIKELY(binding->checks)) sync_function_check_arguments(frame);
  if (TFRT_UNLIKELY(frame->error)) return;
  if (TFRT_LIKELY(!tfrt_request_context_trace(frame->context->request))) {
    binding->run_sync(frame);
  } else {
    sync_function_trace(frame);
  }
  if (!frame->error && !frame->callee) sync_function_check_results(frame);
}

// --- Calls -------------------------------------------------------------------

// The activation of the callee that |frame|, of |activation|, asks for; NULL when memory is
// out, the call is one too many or the request is cancelled, with the frame failed.
static tfrt_sync_activation_t* sync_function_enter(tfrt_sync_activation_t* activation,
                                                   tfrt_sync_frame_t* frame) {
  const tfrt_bef_callable_t* callee = (const tfrt_bef_callable_t*)frame->callee;
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(frame->context->request);
  if (cancelled) {
    frame->error = tfrt_status_retain(tfrt_async_value_error(cancelled));
    return NULL;
  }
  const uint32_t most = frame->context->request->options.most_open_calls;
  if (TFRT_UNLIKELY(most > 0 && activation->depth >= most)) {
    frame->error = tfrt_request_context_too_many_calls(frame->context->request, callee->base.name);
    return NULL;
  }
  tfrt_sync_activation_t* entered = sync_activation_push(activation, callee);
  if (!entered) {
    frame->error = tfrt_status_retain(tfrt_status_out_of_memory());
    return NULL;
  }
  entered->turns = frame->turns;
  for (uint32_t i = 0; i < callee->base.argument_count; ++i) {
    entered->registers[i] =
        tfrt_sync_value_borrow(tfrt_sync_frame_argument(frame, frame->first_argument + i));
  }
  return entered;
}

// Begins the next turn of |activation|, whose kernels have all run, and returns true, if there
// is one; a cancelled request has none, and |*out_error| then.
static bool sync_function_turn(tfrt_sync_activation_t* activation,
                               const tfrt_execution_context_t* context, tfrt_status_t* out_error) {
  const tfrt_bef_function_t* bef = activation->callable->bef;
  tfrt_sync_value_t* registers = activation->registers;
  if (activation->turns > 0) {
    if (--activation->turns == 0) return false;
  } else if (!registers[bef->result_registers[bef->result_count - 1]].as.i1) {
    return false;
  }
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(context->request);
  if (cancelled) {
    *out_error = tfrt_status_retain(tfrt_async_value_error(cancelled));
    return false;
  }
  // No result lies in an argument's register, and none is there twice (sync_resolver.h).
  for (uint32_t i = 0; i < bef->argument_count; ++i) {
    tfrt_sync_value_t* from = &registers[bef->result_registers[i]];
    tfrt_sync_value_clear(&registers[i]);
    registers[i] = *from;
    from->kind = TFRT_SYNC_VALUE_EMPTY;
  }
  for (uint32_t i = bef->argument_count; i < bef->register_count; ++i) {
    tfrt_sync_value_clear(&registers[i]);
  }
  activation->next = 1;
  return true;
}

// Ends |activation|, whose kernels have all run: moves its results to where the caller wants
// them, the registers of its kernel or, at the bottom, |results|. Returns the caller.
static tfrt_sync_activation_t* sync_function_leave(tfrt_sync_activation_t* activation,
                                                   tfrt_sync_value_t* results) {
  tfrt_sync_activation_t* caller = activation->caller;
  const tfrt_bef_function_t* bef = activation->callable->bef;
  const tfrt_kernel_site_t* site = caller ? &caller->callable->sites[caller->next - 1] : NULL;
  // A while's condition stays behind.
  uint32_t count = caller ? tfrt_kernel_site_record(site)->result_count : bef->result_count;
  const uint32_t* own_results =
      caller ? tfrt_bef_record_results(tfrt_kernel_site_record(site)) : NULL;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_sync_value_t* from = &activation->registers[bef->result_registers[i]];
    tfrt_sync_value_t* to = caller ? &caller->registers[own_results[i]] : &results[i];
    *to = *from;
    from->kind = TFRT_SYNC_VALUE_EMPTY;
  }
  sync_activation_pop(activation);
  if (caller) sync_activation_clear_dead(caller, site);
  return caller;
}

// Runs |activation| and what it calls to the end.
static tfrt_status_t sync_function_run(tfrt_sync_activation_t* activation,
                                       const tfrt_execution_context_t* context,
                                       tfrt_sync_value_t* results) {
  tfrt_sync_frame_t frame = {.context = context};
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(context->request->options.whole);
  while (activation && !frame.error) {
    if (activation->next == activation->callable->bef->kernel_count) {
      if (sync_function_turn(activation, context, &frame.error)) continue;
      if (frame.error) break;
      activation = sync_function_leave(activation, results);
      continue;
    }
    const tfrt_kernel_site_t* site = &activation->callable->sites[activation->next++];
    tfrt_running_kernel_mark(site);
    sync_function_run_kernel(activation, site, &frame);
    if (TFRT_UNLIKELY(frame.error)) break;
    if (!frame.callee) {
      sync_activation_clear_dead(activation, site);
      continue;
    }
    tfrt_sync_activation_t* entered = sync_function_enter(activation, &frame);
    if (entered) activation = entered;
  }
  tfrt_running_kernel_leave(outer);
  while (activation) activation = sync_activation_pop(activation);
  return frame.error;
}

tfrt_status_t tfrt_sync_function_call(const tfrt_function_t* function,
                                      const tfrt_execution_context_t* context,
                                      const tfrt_sync_value_t* arguments,
                                      tfrt_sync_value_t* results) {
  memset(results, 0, function->result_count * sizeof(*results));
  if (function->kind != TFRT_FUNCTION_SYNC) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "function '%s' isn't synchronous (tfrt.sync)", function->name);
  }
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(context->request);
  if (cancelled) return tfrt_status_retain(tfrt_async_value_error(cancelled));
  tfrt_sync_activation_t* activation =
      sync_activation_push(NULL, (const tfrt_bef_callable_t*)function);
  if (!activation) return tfrt_status_retain(tfrt_status_out_of_memory());
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    activation->registers[i] = tfrt_sync_value_borrow(&arguments[i]);
  }
  return sync_function_run(activation, context, results);
}

// --- From asynchronous code --------------------------------------------------

// Calls |function| with |values| as room for its plain arguments and results.
static void sync_function_convert(const tfrt_function_t* function,
                                  const tfrt_execution_context_t* context,
                                  tfrt_async_value_t* const* arguments, tfrt_sync_value_t* values,
                                  tfrt_async_value_t** results) {
  tfrt_sync_value_t* plain_results = values + function->argument_count;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    values[i] = tfrt_sync_value_borrow_async(arguments[i]);
  }
  tfrt_status_t status = tfrt_sync_function_call(function, context, values, plain_results);
  if (!status) {
    for (uint32_t i = 0; i < function->result_count; ++i) {
      results[i] = tfrt_sync_value_take_async(&plain_results[i]);
    }
    return;
  }
  tfrt_async_value_t* error = tfrt_async_value_create_error_take(status);
  for (uint32_t i = 0; i < function->result_count; ++i) {
    results[i] = tfrt_async_value_retain(error);
  }
  tfrt_async_value_release(error);
}

static void sync_function_run_async(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results) {
  size_t count = (size_t)function->argument_count + function->result_count;
  if (TFRT_LIKELY(count <= TFRT_SYNC_FUNCTION_INLINE_VALUES)) {
    tfrt_sync_value_t values[TFRT_SYNC_FUNCTION_INLINE_VALUES];
    sync_function_convert(function, context, arguments, values, results);
    return;
  }
  tfrt_allocator_t allocator = tfrt_value_storage_allocator();
  tfrt_sync_value_t* values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  if (values) {
    sync_function_convert(function, context, arguments, values, results);
  }
  for (uint32_t i = 0; !values && i < function->result_count; ++i) {
    results[i] = tfrt_async_value_out_of_memory();
  }
  tfrt_allocator_free(allocator, values, count * sizeof(*values));
}

void tfrt_sync_function_execute(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments,
                                tfrt_async_value_t** results) {
  tfrt_strict_call(function, sync_function_run_async, tfrt_sync_function_execute_take, context,
                   arguments, false, results);
}

void tfrt_sync_function_execute_take(const tfrt_function_t* function,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments,
                                     tfrt_async_value_t** results) {
  tfrt_strict_call(function, sync_function_run_async, tfrt_sync_function_execute_take, context,
                   arguments, true, results);
}
