// SPDX-License-Identifier: Apache-2.0
//
// The texts of the programs that are measured, for any size, and what they compute.
//
//   CHAIN         v = v + 1, each add on the one before        WIDE   adds of two constants
//   ASYNC_CHAIN   the same with adds that run in the queue     ASYNC_WIDE
//   CALL_CHAIN    calls of a function that adds 1              FIB    fib(size) by two calls
//   REPEAT        a loop with a constant and an add in it      WHILE  the same
//   LANES         two chains, summed at the end                TREE   a sum of |size| adds by pairs
//   LATE_CHAIN    a chain whose first value is late            LATE_WIDE, ASYNC_TREE (its leaves)
//
//   REGION_GROUP  turns that start an empty async.execute   REGION_CHAIN  each behind the one
//   before
//
// All have a function @main without arguments that gives one i32.
//
// Thread rule: everything is thread-safe. Failure rule: as the string builder's.
#ifndef TFRT_TESTS_BENCH_BENCH_PROGRAM_H_
#define TFRT_TESTS_BENCH_BENCH_PROGRAM_H_

#include <stdint.h>

#include "host_runtime/base/string_builder.h"

typedef enum tfrt_bench_program_e {
  TFRT_BENCH_CHAIN,
  TFRT_BENCH_WIDE,
  TFRT_BENCH_LANES,
  TFRT_BENCH_TREE,
  TFRT_BENCH_LATE_CHAIN,
  TFRT_BENCH_LATE_WIDE,
  TFRT_BENCH_ASYNC_CHAIN,
  TFRT_BENCH_ASYNC_WIDE,
  TFRT_BENCH_ASYNC_TREE,
  TFRT_BENCH_CALL_CHAIN,
  TFRT_BENCH_FIB,
  TFRT_BENCH_REPEAT,
  TFRT_BENCH_WHILE,
  TFRT_BENCH_REGION_GROUP,
  TFRT_BENCH_REGION_CHAIN,
  TFRT_BENCH_TRIVIAL,
} tfrt_bench_program_t;

// Appends the text of |program| for |size| to |out|. Thread-safe.
void tfrt_bench_program_append(tfrt_bench_program_t program, int64_t size,
                               tfrt_string_builder_t* out);

// The result of @main. Thread-safe.
int32_t tfrt_bench_program_result(tfrt_bench_program_t program, int64_t size);

// How many kernels, calls or turns a call of @main is counted as. Thread-safe.
int64_t tfrt_bench_program_units(tfrt_bench_program_t program, int64_t size);

#endif  // TFRT_TESTS_BENCH_BENCH_PROGRAM_H_
