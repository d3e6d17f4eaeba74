// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/benchmark.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/call_scope.h"
#include "host_runtime/executor/program.h"
#include "host_runtime/host_context.h"

typedef struct tfrt_test_benchmark_s {
  tfrt_task_t task;
  tfrt_execution_context_t context;  // its request is retained, its scope entered
  const tfrt_function_t* body;       // its program is retained
  tfrt_string_view_t name;           // in the program
  size_t size;
  int64_t warm_up;  // runs left that don't count
  int64_t max_count;
  int64_t limit_ns;  // of the clock: no new run after that
  int64_t duration_ns;
  int64_t count;  // runs measured
  int64_t started_ns;
  int64_t begin_ns;  // of the current run
  int64_t begin_cpu_ns;
  int64_t* wall_ns;                 // [max_count]
  int64_t* cpu_ns;                  // [max_count]
  tfrt_async_value_t* result;       // +1, of the current run
  tfrt_async_value_t* done;         // +1, the chain
  tfrt_async_value_t* arguments[];  // +1 each
} tfrt_test_benchmark_t;

static int64_t tfrt_test_benchmark_cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int tfrt_test_benchmark_compare(const void* a, const void* b) {
  int64_t x = *(const int64_t*)a;
  int64_t y = *(const int64_t*)b;
  return x < y ? -1 : x > y;
}

// The time below which |percent| of the |count| sorted |times| lie.
static long long tfrt_test_benchmark_percentile(const int64_t* times, int64_t count,
                                                int64_t percent) {
  int64_t index = count * percent / 100;
  return times[index < count ? index : count - 1];
}

static void tfrt_test_benchmark_append_times(const tfrt_test_benchmark_t* benchmark,
                                             const char* what, int64_t* times,
                                             tfrt_string_builder_t* text) {
  int64_t count = benchmark->count;
  qsort(times, (size_t)count, sizeof(*times), tfrt_test_benchmark_compare);
  static const struct {
    const char* name;
    int64_t percent;
  } lines[] = {{"Min", 0}, {"50%", 50}, {"95%", 95}, {"99%", 99}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lines); ++i) {
    tfrt_string_builder_append_format(
        text, "BM:%.*s:%s %s(ns): %lld\n", TFRT_STRING_VIEW_ARGUMENTS(benchmark->name), what,
        lines[i].name, tfrt_test_benchmark_percentile(times, count, lines[i].percent));
  }
}

static tfrt_async_value_t* tfrt_test_benchmark_report(tfrt_test_benchmark_t* benchmark,
                                                      int64_t now_ns) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  int64_t cpu_total = 0;
  int64_t wall_total = 0;
  for (int64_t i = 0; i < benchmark->count; ++i) {
    cpu_total += benchmark->cpu_ns[i];
    wall_total += benchmark->wall_ns[i];
  }
  tfrt_string_view_t name = benchmark->name;
  tfrt_string_builder_append_format(&text, "BM:%.*s:Duration(ns): %lld\n",
                                    TFRT_STRING_VIEW_ARGUMENTS(name),
                                    (long long)(now_ns - benchmark->started_ns));
  tfrt_string_builder_append_format(&text, "BM:%.*s:Count: %lld\n",
                                    TFRT_STRING_VIEW_ARGUMENTS(name), (long long)benchmark->count);
  tfrt_test_benchmark_append_times(benchmark, "Time", benchmark->wall_ns, &text);
  tfrt_test_benchmark_append_times(benchmark, "CPU", benchmark->cpu_ns, &text);
  tfrt_string_builder_append_format(&text, "BM:%.*s:CPU utilization(percent): %lld",
                                    TFRT_STRING_VIEW_ARGUMENTS(name),
                                    (long long)(wall_total > 0 ? cpu_total * 100 / wall_total : 0));
  tfrt_async_value_t* chain =
      tfrt_request_context_print(benchmark->context.request, tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  return chain;
}

static void tfrt_test_benchmark_free(tfrt_test_benchmark_t* benchmark) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_execution_context_t context = benchmark->context;
  tfrt_program_t* program = (tfrt_program_t*)benchmark->body->program;
  for (uint32_t i = 0; i < benchmark->body->argument_count; ++i) {
    tfrt_async_value_release(benchmark->arguments[i]);
  }
  tfrt_allocator_free(allocator, benchmark->wall_ns,
                      2 * (size_t)benchmark->max_count * sizeof(int64_t));
  tfrt_allocator_free(allocator, benchmark, benchmark->size);
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

// Ends |benchmark| with |outcome| (consumed), a chain or an error.
static void tfrt_test_benchmark_finish(tfrt_test_benchmark_t* benchmark,
                                       tfrt_async_value_t* outcome) {
  tfrt_async_value_t* done = benchmark->done;
  tfrt_test_benchmark_free(benchmark);
  tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)done, outcome);
  tfrt_async_value_release(done);
}

static void tfrt_test_benchmark_start_run(tfrt_test_benchmark_t* benchmark) {
  benchmark->begin_ns = tfrt_clock_now_ns(benchmark->context.host->clock);
  benchmark->begin_cpu_ns = tfrt_test_benchmark_cpu_ns();
  tfrt_function_execute(benchmark->body, &benchmark->context, benchmark->arguments,
                        &benchmark->result);
}

// Books the run that has just ended. Returns false if it was the last one.
static bool tfrt_test_benchmark_end_run(tfrt_test_benchmark_t* benchmark) {
  int64_t now = tfrt_clock_now_ns(benchmark->context.host->clock);
  if (benchmark->warm_up > 0) {
    if (--benchmark->warm_up == 0) {
      benchmark->started_ns = now;
      benchmark->limit_ns = tfrt_deadline_after(now, benchmark->duration_ns);
    }
    return true;
  }
  benchmark->wall_ns[benchmark->count] = now - benchmark->begin_ns;
  benchmark->cpu_ns[benchmark->count] = tfrt_test_benchmark_cpu_ns() - benchmark->begin_cpu_ns;
  ++benchmark->count;
  return benchmark->count < benchmark->max_count && now < benchmark->limit_ns;
}

// The current run's result is there: looks at it and goes on, in a loop as long as results
// are there at once.
static void tfrt_test_benchmark_on_result(tfrt_task_t* task) {
  tfrt_test_benchmark_t* benchmark = TFRT_CONTAINER_OF(task, tfrt_test_benchmark_t, task);
  for (;;) {
    if (tfrt_async_value_is_error(benchmark->result)) {
      tfrt_test_benchmark_finish(benchmark, benchmark->result);
      return;
    }
    tfrt_async_value_release(benchmark->result);
    if (!tfrt_test_benchmark_end_run(benchmark)) {
      int64_t now = tfrt_clock_now_ns(benchmark->context.host->clock);
      tfrt_test_benchmark_finish(benchmark, tfrt_test_benchmark_report(benchmark, now));
      return;
    }
    tfrt_test_benchmark_start_run(benchmark);
    if (!tfrt_async_value_is_available(benchmark->result)) break;
  }
  tfrt_async_value_and_then(benchmark->result, &benchmark->task);
}

static int32_t tfrt_test_benchmark_attribute(tfrt_kernel_frame_t* frame, uint32_t index) {
  return (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[index]);
}

static tfrt_test_benchmark_t* tfrt_test_benchmark_allocate(tfrt_kernel_frame_t* frame) {
  int32_t max_count = tfrt_test_benchmark_attribute(frame, 1);
  size_t times = 0;
  size_t size = sizeof(tfrt_test_benchmark_t) + frame->argument_count * sizeof(void*);
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_test_benchmark_t* benchmark = tfrt_allocator_allocate_zeroed(allocator, size);
  tfrt_indirect_value_t* done = benchmark ? tfrt_indirect_value_create() : NULL;
  if (done && tfrt_size_multiply(2 * sizeof(int64_t), (size_t)max_count, &times)) {
    benchmark->wall_ns = tfrt_allocator_allocate(allocator, times);
  }
  if (!benchmark || !benchmark->wall_ns) {
    if (done) tfrt_async_value_release(&done->base);
    tfrt_allocator_free(allocator, benchmark, size);
    return NULL;
  }
  benchmark->cpu_ns = benchmark->wall_ns + max_count;
  benchmark->done = &done->base;
  benchmark->size = size;
  benchmark->max_count = max_count;
  return benchmark;
}

// Checks what the text says; anything else would be a loop without end.
static bool tfrt_test_benchmark_fits(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* body = frame->functions[0];
  if (body->argument_count != frame->argument_count || body->result_count != 1) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the body must take %u values and give one", frame->argument_count);
    return false;
  }
  if (tfrt_test_benchmark_attribute(frame, 1) <= 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "max_count must be at least 1");
    return false;
  }
  return true;
}

void tfrt_test_benchmark(tfrt_kernel_frame_t* frame) {
  if (!tfrt_test_benchmark_fits(frame)) return;
  tfrt_test_benchmark_t* benchmark = tfrt_test_benchmark_allocate(frame);
  if (!benchmark) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a benchmark");
    return;
  }
  benchmark->body = frame->functions[0];
  benchmark->context = *frame->context;
  benchmark->name = tfrt_bef_attribute_string(frame->attributes[2]);
  benchmark->warm_up = tfrt_test_benchmark_attribute(frame, 3);
  benchmark->duration_ns = (int64_t)tfrt_test_benchmark_attribute(frame, 0) * 1000000000;
  benchmark->started_ns = tfrt_clock_now_ns(frame->context->host->clock);
  benchmark->limit_ns = tfrt_deadline_after(benchmark->started_ns, benchmark->duration_ns);
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    benchmark->arguments[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  tfrt_program_retain((tfrt_program_t*)benchmark->body->program);
  tfrt_request_context_retain(benchmark->context.request);
  tfrt_call_scope_enter(benchmark->context.scope);
  tfrt_task_initialize(&benchmark->task, tfrt_test_benchmark_on_result);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(benchmark->done));
  tfrt_test_benchmark_start_run(benchmark);
  tfrt_async_value_and_then(benchmark->result, &benchmark->task);
}
