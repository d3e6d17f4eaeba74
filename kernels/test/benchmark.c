// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/benchmark.h"

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/test/benchmark_times.h"

typedef struct tfrt_test_benchmark_s {
  tfrt_task_t task;
  tfrt_execution_context_t context;  // its request is retained, its scope entered
  const tfrt_function_t* body;       // its program is retained
  tfrt_string_view_t name;           // in the program
  size_t size;
  tfrt_test_benchmark_times_t times;
  tfrt_async_value_t* result;       // +1, of the current run
  tfrt_async_value_t* done;         // +1, the chain
  tfrt_async_value_t* arguments[];  // +1 each
} tfrt_test_benchmark_t;

// Prints what |times| has found out about |name|; returns the line's chain (+1).
static tfrt_async_value_t* test_benchmark_report(const tfrt_execution_context_t* context,
                                                 tfrt_test_benchmark_times_t* times,
                                                 tfrt_string_view_t name) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_test_benchmark_times_append(times, name, &text);
  tfrt_async_value_t* chain =
      tfrt_execution_context_print(context, tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  return chain;
}

static void test_benchmark_free(tfrt_test_benchmark_t* benchmark) {
  tfrt_execution_context_t context = benchmark->context;
  tfrt_program_t* program = (tfrt_program_t*)benchmark->body->program;
  for (uint32_t i = 0; i < benchmark->body->argument_count; ++i) {
    tfrt_async_value_release(benchmark->arguments[i]);
  }
  tfrt_test_benchmark_times_deinitialize(&benchmark->times);
  tfrt_allocator_free(tfrt_allocator_system(), benchmark, benchmark->size);
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

// Ends |benchmark| with |outcome| (consumed), a chain or an error.
static void test_benchmark_finish(tfrt_test_benchmark_t* benchmark, tfrt_async_value_t* outcome) {
  tfrt_async_value_t* done = benchmark->done;
  test_benchmark_free(benchmark);
  tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)done, outcome);
  tfrt_async_value_release(done);
}

static void test_benchmark_start_run(tfrt_test_benchmark_t* benchmark) {
  tfrt_test_benchmark_times_start(&benchmark->times);
  tfrt_function_execute(benchmark->body, &benchmark->context, benchmark->arguments,
                        &benchmark->result);
}

// The current run's result is there: looks at it and goes on, in a loop as long as results
// are there at once.
static void test_benchmark_on_result(tfrt_task_t* task) {
  tfrt_test_benchmark_t* benchmark = TFRT_CONTAINER_OF(task, tfrt_test_benchmark_t, task);
  for (;;) {
    if (tfrt_async_value_is_error(benchmark->result)) {
      test_benchmark_finish(benchmark, benchmark->result);
      return;
    }
    tfrt_async_value_release(benchmark->result);
    if (!tfrt_test_benchmark_times_end(&benchmark->times)) {
      tfrt_async_value_t* chain =
          test_benchmark_report(&benchmark->context, &benchmark->times, benchmark->name);
      test_benchmark_finish(benchmark, chain);
      return;
    }
    test_benchmark_start_run(benchmark);
    if (!tfrt_async_value_is_available(benchmark->result)) break;
  }
  tfrt_async_value_and_then(benchmark->result, &benchmark->task);
}

static int32_t test_benchmark_attribute(const void* attribute) {
  return (int32_t)tfrt_bef_attribute_read_u32(attribute);
}

static tfrt_test_benchmark_t* test_benchmark_allocate(tfrt_kernel_frame_t* frame) {
  size_t size = sizeof(tfrt_test_benchmark_t) + frame->argument_count * sizeof(void*);
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_test_benchmark_t* benchmark = tfrt_allocator_allocate_zeroed(allocator, size);
  tfrt_indirect_value_t* done = benchmark ? tfrt_indirect_value_create() : NULL;
  if (!done ||
      !tfrt_test_benchmark_times_initialize(&benchmark->times, frame->context->host->clock,
                                            test_benchmark_attribute(frame->attributes[0]),
                                            test_benchmark_attribute(frame->attributes[1]),
                                            test_benchmark_attribute(frame->attributes[3]))) {
    if (done) tfrt_async_value_release(&done->base);
    tfrt_allocator_free(allocator, benchmark, size);
    return NULL;
  }
  benchmark->done = &done->base;
  benchmark->size = size;
  return benchmark;
}

// Checks what the text says; anything else would be a loop without end.
static bool test_benchmark_fits(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* body = frame->functions[0];
  if (body->argument_count != frame->argument_count || body->result_count != 1) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the body must take %u values and give one", frame->argument_count);
    return false;
  }
  if (test_benchmark_attribute(frame->attributes[1]) <= 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "max_count must be at least 1");
    return false;
  }
  return true;
}

void tfrt_test_benchmark(tfrt_kernel_frame_t* frame) {
  if (!test_benchmark_fits(frame)) return;
  tfrt_test_benchmark_t* benchmark = test_benchmark_allocate(frame);
  if (!benchmark) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a benchmark");
    return;
  }
  benchmark->body = frame->functions[0];
  benchmark->context = *frame->context;
  benchmark->name = tfrt_bef_attribute_string(frame->attributes[2]);
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    benchmark->arguments[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  tfrt_program_retain((tfrt_program_t*)benchmark->body->program);
  tfrt_request_context_retain(benchmark->context.request);
  tfrt_call_scope_enter(benchmark->context.scope);
  tfrt_task_initialize(&benchmark->task, test_benchmark_on_result);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(benchmark->done));
  test_benchmark_start_run(benchmark);
  tfrt_async_value_and_then(benchmark->result, &benchmark->task);
}

// --- Synchronous functions ------------------------------------------------------

// Runs |body| on |arguments| until |times| has enough.
static tfrt_status_t test_benchmark_run_sync(const tfrt_function_t* body,
                                             const tfrt_execution_context_t* context,
                                             const tfrt_sync_value_t* arguments,
                                             tfrt_test_benchmark_times_t* times) {
  do {
    tfrt_test_benchmark_times_start(times);
    tfrt_sync_value_t no_results[1];
    TFRT_RETURN_IF_ERROR(tfrt_sync_function_call(body, context, arguments, no_results));
  } while (tfrt_test_benchmark_times_end(times));
  tfrt_async_value_release(test_benchmark_report(context, times, tfrt_string_view_of(body->name)));
  return NULL;
}

// The same with what the attributes of |frame| say.
static tfrt_status_t test_benchmark_measure_sync(tfrt_sync_frame_t* frame,
                                                 const tfrt_sync_value_t* arguments) {
  tfrt_test_benchmark_times_t times;
  if (!tfrt_test_benchmark_times_initialize(&times, frame->context->host->clock,
                                            test_benchmark_attribute(frame->attributes[0]),
                                            test_benchmark_attribute(frame->attributes[1]),
                                            test_benchmark_attribute(frame->attributes[2]))) {
    return tfrt_status_out_of_memory();
  }
  tfrt_status_t status =
      test_benchmark_run_sync(frame->functions[0], frame->context, arguments, &times);
  tfrt_test_benchmark_times_deinitialize(&times);
  return status;
}

void tfrt_test_sync_benchmark(tfrt_sync_frame_t* frame) {
  const tfrt_function_t* body = frame->functions[0];
  if (body->argument_count != frame->argument_count || body->result_count != 0) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "'%s' must take %u values and give none", body->name,
                         frame->argument_count);
    return;
  }
  if (test_benchmark_attribute(frame->attributes[1]) <= 0) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "max_count must be at least 1");
    return;
  }
  size_t count = (size_t)frame->argument_count + 1;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_sync_value_t* arguments =
      tfrt_allocator_allocate_array(allocator, count, sizeof(*arguments));
  for (uint32_t i = 0; arguments && i < frame->argument_count; ++i) {
    arguments[i] = tfrt_sync_value_borrow(tfrt_sync_frame_argument(frame, i));
  }
  tfrt_status_t status =
      arguments ? test_benchmark_measure_sync(frame, arguments) : tfrt_status_out_of_memory();
  tfrt_allocator_free(allocator, arguments, count * sizeof(*arguments));
  if (status) tfrt_sync_frame_fail_take(frame, status);
}
