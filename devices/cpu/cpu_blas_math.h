// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on this host's memory, as plain loops: what CPU devices do for
// devices/device_blas.h. Matrices lie column by column. Sums are made in the type that a call asks
// for, f16 in f32, and rounded once.
//
// Thread rule: thread-safe. Failure rule: none fails; calls were checked.
#ifndef TFRT_DEVICES_CPU_CPU_BLAS_MATH_H_
#define TFRT_DEVICES_CPU_CPU_BLAS_MATH_H_

#include "devices/device_blas.h"

typedef enum tfrt_cpu_blas_kind_e {
  TFRT_CPU_BLAS_AXPY,
  TFRT_CPU_BLAS_SCALE,
  TFRT_CPU_BLAS_MULTIPLY,
  TFRT_CPU_BLAS_SOLVE,
} tfrt_cpu_blas_kind_t;

// Any call, as queues hold it.
typedef struct tfrt_cpu_blas_call_s {
  tfrt_cpu_blas_kind_t kind;
  union {
    tfrt_blas_axpy_t axpy;
    tfrt_blas_scale_t scale;
    tfrt_blas_multiply_t multiply;
    tfrt_blas_solve_t solve;
  };
} tfrt_cpu_blas_call_t;

// Does |call|, a tfrt_cpu_blas_call_t, with the memory at its addresses; buffers are not looked at.
// Thread-safe.
void tfrt_cpu_blas_run(const void* call);

#endif  // TFRT_DEVICES_CPU_CPU_BLAS_MATH_H_
