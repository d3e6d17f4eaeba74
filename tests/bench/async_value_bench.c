// SPDX-License-Identifier: Apache-2.0
//
// AsyncValues alone: what it costs to have one.
#include <stdatomic.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/bench/benchmark.h"

enum { CREATE_DROP, CREATE_CHAIN, FULFIL, FULFIL_WAITER, WAITERS, ERROR, INDIRECT, RETAIN };

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  // Shared by the two threads of RETAIN.
  tfrt_async_value_t* shared;
  _Atomic int ready;
} state_t;

typedef struct waiter_s {
  tfrt_task_t task;
  int64_t runs;
} waiter_t;

static void count_run(tfrt_task_t* task) { ++TFRT_CONTAINER_OF(task, waiter_t, task)->runs; }

static tfrt_status_t check(int64_t value, int64_t expected) {
  if (value == expected) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%lld came out, not %lld", (long long)value,
                            (long long)expected);
}

// --- One thread --------------------------------------------------------------

static int64_t create_drop(int64_t size, tfrt_type_id_t type) {
  int64_t created = 0;
  for (int64_t i = 0; i < size; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_create_available(type);
    if (!value) break;
    if (type == TFRT_TYPE_I32) *(int32_t*)tfrt_async_value_payload(value) = (int32_t)i;
    tfrt_async_value_release(value);
    ++created;
  }
  return created;
}

static int64_t fulfil(int64_t size, bool with_waiter) {
  waiter_t waiter = {.runs = 0};
  int64_t created = 0;
  for (int64_t i = 0; i < size; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
    if (!value) break;
    tfrt_task_initialize(&waiter.task, count_run);
    if (with_waiter) tfrt_async_value_and_then(value, &waiter.task);
    *(int32_t*)tfrt_async_value_payload(value) = (int32_t)i;
    tfrt_async_value_set_available(value);
    tfrt_async_value_release(value);
    ++created;
  }
  return with_waiter ? waiter.runs : created;
}

// All of the waiters in one list.
static int64_t run_waiters(int64_t size) {
  tfrt_allocator_t system = tfrt_allocator_system();
  waiter_t* waiters = tfrt_allocator_allocate_array(system, (size_t)size, sizeof(*waiters));
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!waiters || !value) {
    tfrt_allocator_free(system, waiters, (size_t)size * sizeof(*waiters));
    tfrt_async_value_release(value);
    return 0;
  }
  for (int64_t i = 0; i < size; ++i) {
    tfrt_task_initialize(&waiters[i].task, count_run);
    tfrt_async_value_and_then(value, &waiters[i].task);
  }
  tfrt_async_value_set_available(value);
  tfrt_async_value_release(value);
  int64_t runs = 0;
  for (int64_t i = 0; i < size; ++i) runs += waiters[i].runs;
  tfrt_allocator_free(system, waiters, (size_t)size * sizeof(*waiters));
  return runs;
}

static int64_t create_errors(int64_t size) {
  int64_t errors = 0;
  for (int64_t i = 0; i < size; ++i) {
    tfrt_async_value_t* value =
        tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_INTERNAL, "an error"));
    errors += tfrt_async_value_is_error(value);
    tfrt_async_value_release(value);
  }
  return errors;
}

static int64_t forward_indirects(int64_t size) {
  tfrt_async_value_t* target = tfrt_async_value_create_available(TFRT_TYPE_I32);
  int64_t available = 0;
  for (int64_t i = 0; target && i < size; ++i) {
    tfrt_indirect_value_t* value = tfrt_indirect_value_create();
    if (!value) break;
    available += tfrt_indirect_value_forward(value, target);
    tfrt_async_value_release(&value->base);
  }
  tfrt_async_value_release(target);
  return available;
}

static int64_t run_once(int kind, int64_t size) {
  switch (kind) {
    case CREATE_DROP:
      return create_drop(size, TFRT_TYPE_I32);
    case CREATE_CHAIN:
      return create_drop(size, TFRT_TYPE_CHAIN);
    case FULFIL:
      return fulfil(size, false);
    case FULFIL_WAITER:
      return fulfil(size, true);
    case WAITERS:
      return run_waiters(size);
    case ERROR:
      return create_errors(size);
    default:
      return forward_indirects(size);
  }
}

static tfrt_status_t sample(void* state, double* out_figure) {
  state_t* self = state;
  int64_t begin = tfrt_benchmark_now_ns();
  int64_t done = run_once(self->benchmark->kind, self->size);
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size;
  return check(done, self->size);
}

// --- Counting by one or two threads ------------------------------------------

static void retain_and_release(void* argument) {
  state_t* self = argument;
  // Relaxed: the threads only begin together; nothing is handed over.
  atomic_fetch_add_explicit(&self->ready, 1, memory_order_relaxed);
  while (atomic_load_explicit(&self->ready, memory_order_relaxed) < self->benchmark->threads) {
  }
  for (int64_t i = 0; i < self->size; ++i) {
    tfrt_async_value_release(tfrt_async_value_retain(self->shared));
  }
}

static tfrt_status_t sample_retain(void* state, double* out_figure) {
  state_t* self = state;
  self->shared = tfrt_async_value_create_available(TFRT_TYPE_I32);
  if (!self->shared) return tfrt_status_out_of_memory();
  // Relaxed: creating the thread hands it over.
  atomic_store_explicit(&self->ready, 0, memory_order_relaxed);
  tfrt_thread_t second;
  bool two = self->benchmark->threads == 2;
  tfrt_status_t status =
      two ? tfrt_thread_create("bench", retain_and_release, self, &second) : NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  if (!status) {
    retain_and_release(self);
    if (two) tfrt_thread_join(&second);
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size;
  if (!status) status = check(tfrt_async_value_is_unique(self->shared), true);
  tfrt_async_value_release(self->shared);
  return status;
}

// --- The table ---------------------------------------------------------------

static tfrt_status_t open_state(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  (void)files;
  static state_t state;
  state.benchmark = benchmark;
  state.size = size;
  *out_state = &state;
  return NULL;
}

static void close_state(void* state) { (void)state; }

#define BENCHMARK(NAME, KIND, TFRT)                                                             \
  {                                                                                             \
    .name = "async_value/" NAME, .unit = "ns", .size = 200000, .small_size = 100, .tfrt = TFRT, \
    .kind = KIND, .open = open_state, .sample = sample, .close = close_state                    \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("create_i32_drop", CREATE_DROP, 10.1),
    BENCHMARK("create_chain_drop", CREATE_CHAIN, 10.7),
    BENCHMARK("create_fulfil_drop", FULFIL, 13.7),
    BENCHMARK("create_wait_fulfil_drop", FULFIL_WAITER, 32.1),
    BENCHMARK("waiter_of_many", WAITERS, 20.1),
    BENCHMARK("create_error_drop", ERROR, 32.0),
    BENCHMARK("create_indirect_forward_drop", INDIRECT, 23.7),
    {.name = "async_value/retain_release",
     .unit = "ns",
     .size = 1000000,
     .small_size = 100,
     .tfrt = 10.3,
     .kind = RETAIN,
     .threads = 1,
     .open = open_state,
     .sample = sample_retain,
     .close = close_state},
    {.name = "async_value/retain_release_2_threads",
     .unit = "ns",
     .size = 1000000,
     .small_size = 100,
     .tfrt = 43,
     .kind = RETAIN,
     .threads = 2,
     .open = open_state,
     .sample = sample_retain,
     .close = close_state},
};

tfrt_benchmark_group_t tfrt_async_value_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
