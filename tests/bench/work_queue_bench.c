// SPDX-License-Identifier: Apache-2.0
//
// Work queues: empty tasks from outside and from inside, and the cost of a wait for one. Beside it
// two threads wake each other with nothing in between. They run where the system puts them, as the
// queue's threads do, or bound to one processor or to two.
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/benchmark.h"

enum { OUTSIDE, INSIDE, TREE, BLOCK };

// Where two threads that wake each other run.
enum { FREE, TOGETHER, APART };

#define WAKE_ROUND_TRIP "work_queue/futex_round_trip"

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  tfrt_work_queue_t* queue;
  tfrt_task_t* tasks;    // [size]
  _Atomic int64_t runs;  // of tasks
  int64_t hops;          // left to the task that adds itself again
  tfrt_async_value_t* value;
} state_t;

// Tasks find their state here: they are bare tasks, and one benchmark runs at a time.
static state_t current;

// --- Tasks -------------------------------------------------------------------

static void run_empty(tfrt_task_t* task) {
  (void)task;
  // Relaxed: read after the queue is quiescent.
  atomic_fetch_add_explicit(&current.runs, 1, memory_order_relaxed);
}

static void run_again(tfrt_task_t* task) {
  run_empty(task);
  if (--current.hops > 0) tfrt_work_queue_add_task(current.queue, task);
}

// Task i of a binary tree in an array adds its children.
static void run_branch(tfrt_task_t* task) {
  run_empty(task);
  int64_t left = 2 * (task - current.tasks) + 1;
  for (int64_t child = left; child <= left + 1 && child < current.size; ++child) {
    tfrt_work_queue_add_task(current.queue, &current.tasks[child]);
  }
}

static void run_fulfil(tfrt_task_t* task) {
  run_empty(task);
  tfrt_async_value_set_available(current.value);
}

static void initialize_tasks(tfrt_task_fn_t run) {
  for (int64_t i = 0; i < current.size; ++i) tfrt_task_initialize(&current.tasks[i], run);
}

// --- Samples -----------------------------------------------------------------

static void add_from_outside(void) {
  for (int64_t i = 0; i < current.size; ++i) {
    tfrt_work_queue_add_task(current.queue, &current.tasks[i]);
  }
}

static bool enqueue_and_block(void) {
  for (int64_t i = 0; i < current.size; ++i) {
    current.value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
    if (!current.value) return false;
    tfrt_work_queue_add_task(current.queue, &current.tasks[i]);
    tfrt_work_queue_await(current.queue, &current.value, 1);
    tfrt_async_value_release(current.value);
  }
  return true;
}

static tfrt_status_t sample(void* state, double* out_figure) {
  (void)state;
  int kind = current.benchmark->kind;
  const tfrt_task_fn_t runs[] = {run_empty, run_again, run_branch, run_fulfil};
  initialize_tasks(runs[kind]);
  // Relaxed: no task is there yet.
  atomic_store_explicit(&current.runs, 0, memory_order_relaxed);
  current.hops = current.size;
  int64_t begin = tfrt_benchmark_now_ns();
  if (kind == OUTSIDE) {
    add_from_outside();
  } else if (kind == BLOCK) {
    if (!enqueue_and_block()) return tfrt_status_out_of_memory();
  } else {
    tfrt_work_queue_add_task(current.queue, &current.tasks[0]);
  }
  tfrt_work_queue_quiesce(current.queue);
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)current.size;
  // Relaxed: the queue is quiescent.
  int64_t done = atomic_load_explicit(&current.runs, memory_order_relaxed);
  if (done == current.size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%lld tasks ran, not %lld", (long long)done,
                            (long long)current.size);
}

static tfrt_status_t open_queue(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  (void)files;
  *out_state = &current;
  current.benchmark = benchmark;
  current.size = size;
  current.tasks =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), (size_t)size, sizeof(*current.tasks));
  if (!current.tasks) return tfrt_status_out_of_memory();
  return tfrt_bench_queue_create(benchmark->threads, &current.queue);
}

static void close_queue(void* state) {
  (void)state;
  tfrt_work_queue_release(current.queue);
  tfrt_allocator_free(tfrt_allocator_system(), current.tasks,
                      (size_t)current.size * sizeof(*current.tasks));
}

// --- Waking without a queue --------------------------------------------------

// The turn: 0 of the sampling thread, 1 of the other one.
static _Atomic uint32_t turn;

static void pass_turn(uint32_t to) {
  // Release and acquire: partners, so that each turn sees what the one before did.
  atomic_store_explicit(&turn, to, memory_order_release);
  syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_turn(uint32_t mine) {
  // Acquire: pairs with pass_turn().
  while (atomic_load_explicit(&turn, memory_order_acquire) != mine) {
    syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, NULL, NULL, 0);
  }
}

static void bind(int processor) {
  // Where the system refuses, the figure is that of free threads.
  if (current.benchmark->kind != FREE) (void)tfrt_thread_pin(processor);
}

static void answer(void* argument) {
  const state_t* self = argument;
  bind(self->benchmark->kind == APART ? 1 : 0);
  for (int64_t i = 0; i < self->size; ++i) {
    await_turn(1);
    pass_turn(0);
  }
}

// Not the sampling thread itself, which is to stay free.
static void ask(void* argument) {
  double* figure = argument;
  bind(0);
  int64_t begin = tfrt_benchmark_now_ns();
  for (int64_t i = 0; i < current.size; ++i) {
    pass_turn(1);
    await_turn(0);
  }
  *figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)current.size / 1e3;
}

static tfrt_status_t sample_futex(void* state, double* out_figure) {
  tfrt_thread_t first, second;
  TFRT_RETURN_IF_ERROR(tfrt_thread_create("bench", answer, state, &second));
  // Without this one nobody would end that one.
  tfrt_status_t status = tfrt_thread_create("bench", ask, out_figure, &first);
  if (tfrt_status_is_ok(status)) {
    tfrt_thread_join(&first);
  } else {
    ask(out_figure);
  }
  tfrt_thread_join(&second);
  return status;
}

static tfrt_status_t sample_block(void* state, double* out_figure) {
  TFRT_RETURN_IF_ERROR(sample(state, out_figure));
  *out_figure /= 1e3;
  return NULL;
}

// --- The table ---------------------------------------------------------------

#define BENCHMARK(NAME, KIND, THREADS, TFRT)                                                     \
  {                                                                                              \
    .name = "work_queue/" NAME, .unit = "ns", .size = 100000, .small_size = 100, .tfrt = TFRT,   \
    .kind = KIND, .threads = THREADS, .open = open_queue, .sample = sample, .close = close_queue \
  }

#define ROUND_TRIP(NAME, KIND)                                                                    \
  {                                                                                               \
    .name = NAME, .unit = "us", .size = 1000, .small_size = 10, .kind = KIND, .open = open_queue, \
    .sample = sample_futex, .close = close_queue                                                  \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("outside", OUTSIDE, 0, 41.0),
    BENCHMARK("outside_2_threads", OUTSIDE, 2, 865),
    BENCHMARK("inside_chain", INSIDE, 0, 38.4),
    BENCHMARK("inside_chain_2_threads", INSIDE, 2, 100),
    BENCHMARK("inside_tree", TREE, 0, 30.1),
    BENCHMARK("inside_tree_2_threads", TREE, 2, 50),
    ROUND_TRIP(WAKE_ROUND_TRIP, FREE),
    ROUND_TRIP(WAKE_ROUND_TRIP "_1_processor", TOGETHER),
    ROUND_TRIP(WAKE_ROUND_TRIP "_2_processors", APART),
    {.name = "work_queue/enqueue_and_block",
     .unit = "us",
     .size = 1000,
     .small_size = 10,
     .tfrt = 0.136,
     .kind = BLOCK,
     .open = open_queue,
     .sample = sample_block,
     .close = close_queue},
    {.name = "work_queue/enqueue_and_block_2_threads",
     .unit = "us",
     .size = 1000,
     .small_size = 10,
     .tfrt = 21.0,
     .limit = WAKE_ROUND_TRIP,
     .kind = BLOCK,
     .threads = 2,
     .open = open_queue,
     .sample = sample_block,
     .close = close_queue},
};

tfrt_benchmark_group_t tfrt_work_queue_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
