// SPDX-License-Identifier: Apache-2.0
//
// Loops that are compiled twice: for each processor that the build is for, and for those with
// vectors of 512 bits, which is asked when they run. Both compute the same, operation by
// operation, so both give the same bits.
//
//   NAME_loop  --inlined-->  NAME_narrow
//              \--inlined->  NAME_wide      NAME chooses
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_MATH_WIDE_LOOPS_H_
#define TFRT_KERNELS_NN_MATH_WIDE_LOOPS_H_

#include <stdbool.h>

#include "host_runtime/base/macros.h"

#if defined(__x86_64__)
#define TFRT_NN_WIDE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
static inline bool tfrt_nn_has_wide_vectors(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
#define TFRT_NN_WIDE_TARGET
static inline bool tfrt_nn_has_wide_vectors(void) { return false; }
#endif

// Defines |name|, which does what |name|_loop, a function that is always inlined, does with the
// same |parameters|; |arguments| are their names. Both lists are in parentheses.
#define TFRT_NN_WIDE_FUNCTION(name, parameters, arguments)                          \
  TFRT_NN_WIDE_TARGET static void name##_wide parameters { name##_loop arguments; } \
  static void name##_narrow parameters { name##_loop arguments; }                   \
  static void name parameters {                                                     \
    (tfrt_nn_has_wide_vectors() ? name##_wide : name##_narrow) arguments;           \
  }

#endif  // TFRT_KERNELS_NN_MATH_WIDE_LOOPS_H_
