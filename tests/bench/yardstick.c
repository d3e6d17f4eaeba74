// SPDX-License-Identifier: Apache-2.0
//
// The group `yardstick/` shows what is read, and what a process takes that does nothing, which no
// figure is scaled by. TFRT's column has what was read where TFRT was measured.
#include "tests/bench/yardstick.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/benchmark.h"

enum { BLOCK_COUNT = 20000, BLOCK_SIZE = 64 };

// The times of TFRT's machine.
#define TFRT_MALLOC_NS 5.8
#define TFRT_ALIGNED_NS 25.0
#define TFRT_EMPTY_PROCESS_MS 0.19

// Keeps the compiler from leaving out a block that nobody looks at.
static void* volatile shown_block;

// Nanoseconds of malloc and free.
static tfrt_status_t read_malloc(double* out_figure) {
  int64_t begin = tfrt_benchmark_now_ns();
  for (int i = 0; i < BLOCK_COUNT; ++i) {
    shown_block = malloc(BLOCK_SIZE);
    free(shown_block);
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / BLOCK_COUNT;
  return NULL;
}

// Nanoseconds of posix_memalign and free.
static tfrt_status_t read_aligned(double* out_figure) {
  int64_t begin = tfrt_benchmark_now_ns();
  for (int i = 0; i < BLOCK_COUNT; ++i) {
    void* block = NULL;
    if (posix_memalign(&block, BLOCK_SIZE, BLOCK_SIZE) != 0) return tfrt_status_out_of_memory();
    shown_block = block;
    free(shown_block);
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / BLOCK_COUNT;
  return NULL;
}

// Milliseconds of a process that does nothing.
static tfrt_status_t read_empty_process(double* out_figure) {
  int64_t begin = tfrt_benchmark_now_ns();
  // Memory is not copied for a child that only becomes another program, but its tables would be.
  pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", (char*)NULL);
    _exit(127);
  }
  int state = -1;
  if (pid < 0 || waitpid(pid, &state, 0) != pid || state != 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "/bin/true could not be run");
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / 1e6;
  return NULL;
}

tfrt_status_t tfrt_bench_yardstick_read(double* out_scale) {
  double malloc_ns = 0;
  double aligned_ns = 0;
  TFRT_RETURN_IF_ERROR(read_malloc(&malloc_ns));
  TFRT_RETURN_IF_ERROR(read_aligned(&aligned_ns));
  *out_scale = fmin(malloc_ns / TFRT_MALLOC_NS, aligned_ns / TFRT_ALIGNED_NS);
  return NULL;
}

// --- As benchmarks -----------------------------------------------------------

typedef tfrt_status_t (*reader_t)(double* out_figure);

enum { MALLOC, ALIGNED, EMPTY_PROCESS };

static const reader_t kReaders[] = {read_malloc, read_aligned, read_empty_process};

static reader_t reader;

static tfrt_status_t open_yardstick(const tfrt_benchmark_t* benchmark,
                                    const tfrt_benchmark_files_t* files, int64_t size,
                                    void** out_state) {
  (void)files;
  (void)size;
  reader = kReaders[benchmark->kind];
  *out_state = &reader;
  return NULL;
}

static tfrt_status_t sample(void* state, double* out_figure) {
  return (*(const reader_t*)state)(out_figure);
}

static void close_yardstick(void* state) { (void)state; }

#define BENCHMARK(NAME, UNIT, KIND, TFRT)                                              \
  {                                                                                    \
    .name = "yardstick/" NAME, .unit = UNIT, .size = 1, .small_size = 1, .tfrt = TFRT, \
    .is_unscaled = true, .kind = KIND, .open = open_yardstick, .sample = sample,       \
    .close = close_yardstick                                                           \
  }

tfrt_benchmark_group_t tfrt_yardstick_benchmarks(void) {
  static const tfrt_benchmark_t kBenchmarks[] = {
      BENCHMARK("malloc_free_64", "ns", MALLOC, TFRT_MALLOC_NS),
      BENCHMARK("memalign_free_64", "ns", ALIGNED, TFRT_ALIGNED_NS),
      BENCHMARK("empty_process", "ms", EMPTY_PROCESS, TFRT_EMPTY_PROCESS_MS),
  };
  return (tfrt_benchmark_group_t){kBenchmarks, TFRT_ARRAY_SIZE(kBenchmarks)};
}
