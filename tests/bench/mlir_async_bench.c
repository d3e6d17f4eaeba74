// SPDX-License-Identifier: Apache-2.0
//
// MLIR's async runtime beside another one of the same names: each case by turns, in one process,
// and the median of each. The calls are those of lowered programs; frames come from the C library,
// as theirs do.
//
//   mlir_async_bench LIBRARY [OTHER_LIBRARY] [ROUNDS [DIVISOR]]
//
// DIVISOR makes each case so much smaller, for a test.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "embedding/mlir_async/mlir_async_runtime.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

#define MAX_ROUNDS 99

// One library's functions.
typedef struct runtime_s {
  const char* path;
  void (*add_ref)(void* object, int64_t count);
  void (*drop_ref)(void* object, int64_t count);
  void* (*create_token)(void);
  void* (*create_value)(int64_t size);
  void* (*create_group)(int64_t size);
  void* (*storage)(void* value);
  void (*emplace_token)(void* token);
  void (*emplace_value)(void* value);
  int64_t (*add_to_group)(void* token, void* group);
  void (*await_token)(void* token);
  void (*await_group)(void* group);
  void (*execute)(void* frame, mlir_async_resume_t resume);
  void (*await_token_and_execute)(void* token, void* frame, mlir_async_resume_t resume);
  void (*destroy)(void);
} runtime_t;

// The one that is measured; frames find it here.
static const runtime_t* now_measured;

static _Atomic int64_t run_count;

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// --- Coroutines --------------------------------------------------------------

typedef struct frame_s {
  void* token;
  void* awaited;
} frame_t;

// As lowered code does; 128 so that the allocator asks the C library for each.
static frame_t* new_frame(void* token, void* awaited) {
  frame_t* frame = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), sizeof(*frame), 128);
  if (!frame) abort();
  *frame = (frame_t){.token = token, .awaited = awaited};
  return frame;
}

static void finish(frame_t* frame) {
  if (frame->awaited) now_measured->drop_ref(frame->awaited, 1);
  now_measured->emplace_token(frame->token);
  tfrt_allocator_free_aligned(tfrt_allocator_system(), frame, sizeof(*frame), 128);
}

static void resume_at_end(void* frame) { finish(frame); }

static void resume_at_start(void* opaque) {
  frame_t* frame = opaque;
  if (frame->awaited) {
    now_measured->await_token_and_execute(frame->awaited, frame, resume_at_end);
  } else {
    finish(frame);
  }
}

static void* execute_region(void* awaited) {
  void* token = now_measured->create_token();
  now_measured->execute(new_frame(token, awaited), resume_at_start);
  return token;
}

static void resume_nothing(void* frame) { (void)frame; }

static void resume_and_count(void* frame) {
  (void)frame;
  // Release: partner of the spinning load in run_tasks().
  atomic_fetch_add_explicit(&run_count, 1, memory_order_release);
}

// --- Cases -------------------------------------------------------------------

static void run_references(const runtime_t* runtime, int64_t size) {
  void* token = runtime->create_token();
  for (int64_t i = 0; i < size; ++i) {
    runtime->add_ref(token, 1);
    runtime->drop_ref(token, 1);
  }
  runtime->emplace_token(token);
  runtime->drop_ref(token, 1);
}

static void run_tokens(const runtime_t* runtime, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    void* token = runtime->create_token();
    runtime->emplace_token(token);
    runtime->drop_ref(token, 1);
  }
}

static void run_values(const runtime_t* runtime, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    void* value = runtime->create_value(8);
    *(int64_t*)runtime->storage(value) = i;
    runtime->emplace_value(value);
    runtime->drop_ref(value, 1);
  }
}

static void run_ready_awaits(const runtime_t* runtime, int64_t size) {
  void* token = runtime->create_token();
  runtime->emplace_token(token);
  for (int64_t i = 0; i < size; ++i) {
    runtime->await_token_and_execute(token, NULL, resume_nothing);
  }
  runtime->drop_ref(token, 1);
}

static void run_ready_blocks(const runtime_t* runtime, int64_t size) {
  void* token = runtime->create_token();
  runtime->emplace_token(token);
  for (int64_t i = 0; i < size; ++i) runtime->await_token(token);
  runtime->drop_ref(token, 1);
}

static void run_tasks(const runtime_t* runtime, int64_t size) {
  // Relaxed: no task is there yet.
  atomic_store_explicit(&run_count, 0, memory_order_relaxed);
  for (int64_t i = 0; i < size; ++i) runtime->execute(NULL, resume_and_count);
  // Acquire: partner of the addition in resume_and_count().
  while (atomic_load_explicit(&run_count, memory_order_acquire) < size) tfrt_thread_yield();
}

static void run_group(const runtime_t* runtime, int64_t size) {
  void* group = runtime->create_group(size);
  for (int64_t i = 0; i < size; ++i) {
    void* token = execute_region(NULL);
    runtime->add_to_group(token, group);
    runtime->drop_ref(token, 1);
  }
  runtime->await_group(group);
  runtime->drop_ref(group, 1);
}

static void run_chain(const runtime_t* runtime, int64_t size) {
  void* last = execute_region(NULL);
  for (int64_t i = 1; i < size; ++i) last = execute_region(last);
  runtime->await_token(last);
  runtime->drop_ref(last, 1);
}

static void run_ping_pong(const runtime_t* runtime, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    void* token = execute_region(NULL);
    runtime->await_token(token);
    runtime->drop_ref(token, 1);
  }
}

// A case that runs on one thread is measured by that thread's time, others by the wall clock.
static const struct {
  const char* name;
  void (*run)(const runtime_t* runtime, int64_t size);
  int64_t size;
  clockid_t clock;
} cases[] = {
    {"add_ref + drop_ref", run_references, 1000000, CLOCK_THREAD_CPUTIME_ID},
    {"token: create, emplace, drop", run_tokens, 1000000, CLOCK_THREAD_CPUTIME_ID},
    {"value of 8 bytes: create, store, emplace, drop", run_values, 1000000,
     CLOCK_THREAD_CPUTIME_ID},
    {"await of a ready token, and execute", run_ready_awaits, 1000000, CLOCK_THREAD_CPUTIME_ID},
    {"blocking await of a ready token", run_ready_blocks, 1000000, CLOCK_THREAD_CPUTIME_ID},
    {"empty task through the pool", run_tasks, 100000, CLOCK_MONOTONIC},
    {"100,000 regions into a group, await all", run_group, 100000, CLOCK_MONOTONIC},
    {"1,000,000 regions into a group, await all", run_group, 1000000, CLOCK_MONOTONIC},
    {"chain of 100,000 regions", run_chain, 100000, CLOCK_MONOTONIC},
    {"region and blocking await, one by one", run_ping_pong, 10000, CLOCK_MONOTONIC},
};

// --- The run -----------------------------------------------------------------

static bool open_runtime(runtime_t* runtime, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "mlir_async_bench: %s\n", dlerror());
    return false;
  }
  const struct {
    const char* name;
    void* place;
  } functions[] = {
      {"mlirAsyncRuntimeAddRef", &runtime->add_ref},
      {"mlirAsyncRuntimeDropRef", &runtime->drop_ref},
      {"mlirAsyncRuntimeCreateToken", &runtime->create_token},
      {"mlirAsyncRuntimeCreateValue", &runtime->create_value},
      {"mlirAsyncRuntimeCreateGroup", &runtime->create_group},
      {"mlirAsyncRuntimeGetValueStorage", &runtime->storage},
      {"mlirAsyncRuntimeEmplaceToken", &runtime->emplace_token},
      {"mlirAsyncRuntimeEmplaceValue", &runtime->emplace_value},
      {"mlirAsyncRuntimeAddTokenToGroup", &runtime->add_to_group},
      {"mlirAsyncRuntimeAwaitToken", &runtime->await_token},
      {"mlirAsyncRuntimeAwaitAllInGroup", &runtime->await_group},
      {"mlirAsyncRuntimeExecute", &runtime->execute},
      {"mlirAsyncRuntimeAwaitTokenAndExecute", &runtime->await_token_and_execute},
      {"__mlir_execution_engine_destroy", &runtime->destroy},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(functions); ++i) {
    void* function = dlsym(library, functions[i].name);
    if (!function) {
      fprintf(stderr, "mlir_async_bench: %s has no %s\n", path, functions[i].name);
      return false;
    }
    memcpy(functions[i].place, &function, sizeof(function));
  }
  runtime->path = path;
  return true;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* figures, int count) {
  qsort(figures, (size_t)count, sizeof(*figures), compare);
  return figures[count / 2];
}

static double measure(const runtime_t* runtime, size_t index, int64_t divisor) {
  const int64_t size = cases[index].size / divisor;
  now_measured = runtime;
  const int64_t begin = now_ns(cases[index].clock);
  cases[index].run(runtime, size);
  return (double)(now_ns(cases[index].clock) - begin) / (double)size;
}

static void print_case(const runtime_t* runtimes, int count, size_t index, int rounds,
                       int64_t divisor) {
  double figures[2][MAX_ROUNDS];
  for (int i = 0; i < count; ++i) (void)measure(&runtimes[i], index, divisor);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) figures[i][round] = measure(&runtimes[i], index, divisor);
  }
  const double first = median(figures[0], rounds);
  printf("%-48s %9.1f", cases[index].name, first);
  if (count == 2) {
    const double second = median(figures[1], rounds);
    printf(" %9.1f %6.2f", second, first / second);
  }
  printf("   (min %.1f", figures[0][0]);
  if (count == 2) printf(", %.1f", figures[1][0]);
  printf(")\n");
}

int main(int argc, char** argv) {
  runtime_t runtimes[2];
  int count = 0;
  while (count < 2 && count + 1 < argc && strstr(argv[count + 1], ".so")) {
    if (!open_runtime(&runtimes[count], argv[count + 1])) return 1;
    ++count;
  }
  const int rounds = count + 1 < argc ? atoi(argv[count + 1]) : 9;
  const int64_t divisor = count + 2 < argc ? atoi(argv[count + 2]) : 1;
  if (count == 0 || rounds < 1 || rounds > MAX_ROUNDS || divisor < 1 || divisor > 10000) {
    fprintf(stderr, "usage: mlir_async_bench LIBRARY.so [OTHER.so] [ROUNDS [DIVISOR]]\n");
    return 2;
  }
  printf("ns each, medians of %d by turns%s\n", rounds,
         count == 2 ? ": the first library, the second, their ratio" : "");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    print_case(runtimes, count, i, rounds, divisor);
  }
  for (int i = 0; i < count; ++i) runtimes[i].destroy();
  return 0;
}
