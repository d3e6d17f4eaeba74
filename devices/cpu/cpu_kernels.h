// SPDX-License-Identifier: Apache-2.0
//
// The kernels that come with the runtime (kernels/device/cuda), for devices of the CPU: the same
// names and parameters.
//
//   tfrt_fill_f32(target, value, count)              target[i] = value
//   tfrt_copy_f32(source, target, count)             target[i] = source[i]
//   tfrt_add_f32(a, b, target, count)                target[i] = a[i] + b[i]
//   tfrt_multiply_f32(a, b, target, count)           target[i] = a[i] * b[i]
//   tfrt_sum_rows_f32(source, target, columns)       target[r] = the sum of row r
//   tfrt_softmax_rows_f32(source, target, columns)   row r, as softmax of row r
//   tfrt_matmul_f32(a, b, target, rows, inner, columns)   target = a times b
//
// Each of them is there for f16 and bf16, too: tfrt_fill_f16, tfrt_fill_bf16 and so on, with a
// |value| of 16 bits. Sums are f32 all the way, and rounded once.
//
// Elements are of the type in the name, counts ui32. The first four run with any grid and block of
// one axis; those about rows with one block per row, of a power of two threads, 256 at most;
// tfrt_matmul_f32 with blocks of 16 times 16 threads, so many that they cover the columns in x and
// the rows in y; those of f16 and bf16, made by tensor cores, with blocks of 256 threads on one
// axis, each of which covers 128 columns and 128 rows.
//
// Thread rule: constant data. Failure rule: none fails; sizes are the caller's.
#ifndef TFRT_DEVICES_CPU_CPU_KERNELS_H_
#define TFRT_DEVICES_CPU_CPU_KERNELS_H_

#include "devices/cpu/cpu_platform.h"

#define TFRT_CPU_KERNEL_COUNT 21

extern const tfrt_cpu_kernel_t tfrt_cpu_kernels[TFRT_CPU_KERNEL_COUNT];

#endif  // TFRT_DEVICES_CPU_CPU_KERNELS_H_
