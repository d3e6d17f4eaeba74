// SPDX-License-Identifier: Apache-2.0
//
// How late the host knows that a kernel of a given length is done, and what processor time it takes
// to wait: medians of several waits, from before the launch. The plain driver is asked again and
// again, which is the quickest way to know, and takes a processor. The runtime knows when what
// waits for the chain runs; how long the system takes to wake a thread that sleeps comes on top,
// and is a line of its own.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host_runtime/base/clock.h"
#include "tests/gpu/device_bench.h"

#define WAITS 60
#define WAITS_FOR_SHOW 2

typedef struct tfrt_lateness_bench_s {
  tfrt_device_bench_t* bench;
  tfrt_cuda_function_handle_t plain;
  tfrt_device_function_t* function;
  uint64_t duration_ns;
  tfrt_task_t task;
  tfrt_async_value_t* noted;  // +1 of |task|, available when that has run
  double known;               // when the host knew of the end, in microseconds
} tfrt_lateness_bench_t;

// In microseconds.
typedef struct tfrt_lateness_s {
  double late;
  double processor;
} tfrt_lateness_t;

static double lateness_bench_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void lateness_bench_wait_plain(tfrt_lateness_bench_t* state) {
  const tfrt_device_bench_t* bench = state->bench;
  void* parameters[] = {&state->duration_ns};
  tfrt_device_bench_plain_ok(bench,
                             bench->api.LaunchKernel(state->plain, 1, 1, 1, 1, 1, 1, 0,
                                                     bench->plain_streams[0], parameters, NULL),
                             "cuLaunchKernel");
  tfrt_device_bench_finish_plain(state->bench, 0);
  state->known = lateness_bench_now(CLOCK_MONOTONIC);
}

static void lateness_bench_launch(tfrt_lateness_bench_t* state) {
  tfrt_device_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  tfrt_device_argument_t argument = {.bytes = &state->duration_ns,
                                     .size = sizeof(state->duration_ns)};
  tfrt_device_bench_ok(
      tfrt_device_stream_launch(state->bench->streams[0], state->function, &launch, &argument, 1));
}

// Notes the time.
static void lateness_bench_note(tfrt_task_t* task) {
  tfrt_lateness_bench_t* state = TFRT_CONTAINER_OF(task, tfrt_lateness_bench_t, task);
  // From the moment that it is available, |state| is the waiting thread's again.
  tfrt_async_value_t* noted = state->noted;
  state->known = lateness_bench_now(CLOCK_MONOTONIC);
  tfrt_async_value_set_available(noted);
  tfrt_async_value_release(noted);
}

// Waits for |end| (consumed), and until its availability is noted.
static void lateness_bench_await_take(tfrt_lateness_bench_t* state, tfrt_async_value_t* end) {
  tfrt_async_value_t* noted = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  state->noted = tfrt_async_value_retain(noted);
  tfrt_task_initialize(&state->task, lateness_bench_note);
  tfrt_async_value_and_then(end, &state->task);
  tfrt_device_bench_await_take(noted);
  tfrt_device_bench_await_take(end);
}

static void lateness_bench_wait(tfrt_lateness_bench_t* state) {
  lateness_bench_launch(state);
  lateness_bench_await_take(state, tfrt_device_stream_await(state->bench->streams[0]));
}

static void lateness_bench_hurry(tfrt_lateness_bench_t* state) {
  lateness_bench_launch(state);
  lateness_bench_await_take(state, tfrt_device_stream_await_soon(state->bench->streams[0]));
}

static void lateness_bench_wake(tfrt_lateness_bench_t* state) {
  lateness_bench_wait(state);
  state->known = lateness_bench_now(CLOCK_MONOTONIC);
}

static int lateness_bench_compare(const void* a, const void* b) {
  double left = *(const double*)a;
  double right = *(const double*)b;
  return (left > right) - (left < right);
}

static tfrt_lateness_t lateness_bench_measure(tfrt_lateness_bench_t* state,
                                              void (*wait)(tfrt_lateness_bench_t*)) {
  double late[WAITS];
  int waits = state->bench->library ? WAITS_FOR_SHOW : WAITS;
  wait(state);
  double processor = lateness_bench_now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < waits; ++i) {
    double start = lateness_bench_now(CLOCK_MONOTONIC);
    wait(state);
    late[i] = state->known - start - 1e-3 * (double)state->duration_ns;
  }
  processor = lateness_bench_now(CLOCK_PROCESS_CPUTIME_ID) - processor;
  qsort(late, (size_t)waits, sizeof(late[0]), lateness_bench_compare);
  return (tfrt_lateness_t){.late = late[waits / 2], .processor = processor / waits};
}

static void lateness_bench_run(tfrt_lateness_bench_t* state, int duration_us) {
  state->duration_ns = 1000 * (uint64_t)duration_us;
  tfrt_lateness_t plain = lateness_bench_measure(state, lateness_bench_wait_plain);
  tfrt_lateness_t waited = lateness_bench_measure(state, lateness_bench_wait);
  tfrt_lateness_t hurried = lateness_bench_measure(state, lateness_bench_hurry);
  tfrt_lateness_t woken = lateness_bench_measure(state, lateness_bench_wake);
  const struct {
    const char* what;
    tfrt_lateness_t found;
  } lines[] = {{"", waited}, {", in a hurry", hurried}, {", by a thread that sleeps", woken}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lines); ++i) {
    const tfrt_lateness_t* found = &lines[i].found;
    printf(
        "| known behind the end of a kernel of %d us%s (processor time) | %.1f us (%.0f us) | "
        "%.1f us (%.0f us) | %.2f |\n",
        duration_us, lines[i].what, plain.late, plain.processor, found->late, found->processor,
        found->late > 0 && plain.late > 0 ? found->late / plain.late : 0.0);
  }
}

void tfrt_device_bench_run_lateness(tfrt_device_bench_t* bench) {
  static const int durations_us[] = {5, 50, 300, 1000, 5000};
  tfrt_lateness_bench_t state = {.bench = bench};
  tfrt_device_bench_plain_ok(
      bench, bench->api.ModuleGetFunction(&state.plain, bench->plain_module, "test_spin"),
      "function");
  tfrt_device_bench_ok(tfrt_device_module_function(bench->module, "test_spin", &state.function));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(durations_us); ++i) {
    lateness_bench_run(&state, durations_us[i]);
  }
  tfrt_device_function_release(state.function);
}
