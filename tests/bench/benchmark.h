// SPDX-License-Identifier: Apache-2.0
//
// A benchmark: something of a given size that is done again and again, and the figure that
// each time gives. The table of all benchmarks is the sum of the groups declared below.
//
// Life of one measurement:
//  1. open: whatever needs doing once (a program is translated and loaded).
//  2. sample: done several times; the first one is not counted. Each checks what it has
//     computed and gives one figure, in the benchmark's unit.
//  3. close.
//
// A sample of the size |small_size| takes well under a second also with a sanitizer: a test
// takes one such sample of each benchmark.
//
// Thread rule: one benchmark at a time, on the main thread.
// Failure rule: a wrong result is an INTERNAL error; it ends the run.
#ifndef TFRT_TESTS_BENCH_BENCHMARK_H_
#define TFRT_TESTS_BENCH_BENCHMARK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/status.h"

// Where benchmarks find what is no part of this program.
typedef struct tfrt_benchmark_files_s {
  const char* tools;  // folder of bef_executor, mlir_to_bef, tfrt and tfrt_worker
} tfrt_benchmark_files_t;

typedef struct tfrt_benchmark_s tfrt_benchmark_t;

struct tfrt_benchmark_s {
  const char* name;    // "group/what", unique
  const char* unit;    // of the figure
  int64_t size;        // of one sample: how much is done
  int64_t small_size;  // the same in a test
  double tfrt;         // TFRT's figure (docs/performance.md); 0: none is known
  bool is_unscaled;    // TFRT's figure is the same on each machine: bytes; else see yardstick.h
  const char* limit;   // the benchmark whose figure bounds this one; NULL: none
  int kind;            // what tells benchmarks with the same functions apart
  int threads;         // of the work queue; 0: it runs tasks in the waiting thread
  bool is_bound;       // its processes are bound to processors (placement.h)
  int64_t memory;      // bytes that |size| takes, if few machines have them to spare; 0: it doesn't

  // Prepares samples of |size| and sets |*out_state|.
  tfrt_status_t (*open)(const tfrt_benchmark_t* benchmark, const tfrt_benchmark_files_t* files,
                        int64_t size, void** out_state);
  tfrt_status_t (*sample)(void* state, double* out_figure);
  void (*close)(void* state);
};

typedef struct tfrt_benchmark_group_s {
  const tfrt_benchmark_t* benchmarks;
  size_t count;
} tfrt_benchmark_group_t;

// The groups; constant. Thread-safe.
tfrt_benchmark_group_t tfrt_yardstick_benchmarks(void);
tfrt_benchmark_group_t tfrt_async_value_benchmarks(void);
tfrt_benchmark_group_t tfrt_work_queue_benchmarks(void);
tfrt_benchmark_group_t tfrt_executor_benchmarks(void);
tfrt_benchmark_group_t tfrt_eager_benchmarks(void);
tfrt_benchmark_group_t tfrt_digits_benchmarks(void);
tfrt_benchmark_group_t tfrt_memory_benchmarks(void);
tfrt_benchmark_group_t tfrt_translation_benchmarks(void);
tfrt_benchmark_group_t tfrt_pass_benchmarks(void);
tfrt_benchmark_group_t tfrt_transport_benchmarks(void);
tfrt_benchmark_group_t tfrt_plain_grpc_benchmarks(void);
tfrt_benchmark_group_t tfrt_relayed_chain_benchmarks(void);
tfrt_benchmark_group_t tfrt_process_benchmarks(void);
tfrt_benchmark_group_t tfrt_limit_benchmarks(void);
tfrt_benchmark_group_t tfrt_cluster_benchmarks(void);
tfrt_benchmark_group_t tfrt_crowd_benchmarks(void);
tfrt_benchmark_group_t tfrt_ring_benchmarks(void);
tfrt_benchmark_group_t tfrt_collective_benchmarks(void);

// The time of the monotonic clock in nanoseconds. Thread-safe.
int64_t tfrt_benchmark_now_ns(void);

#endif  // TFRT_TESTS_BENCH_BENCHMARK_H_
