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
// Layers of neural networks, whose code for GPUs is examples/mnist/kernels.cu; images have their
// channels, then rows, and so has y; all rows of x and of y are without gaps; relu: negative
// elements become 0, unless it is 0:
//
//   tfrt_conv2d_f32(x, w, bias, y, images, channels, height, width, outputs, window, relu)
//       cross-correlates with w, [outputs, channels, window, window], where it fits into the image
//   tfrt_max_pool2d_f32(x, y, planes, height, width, window)
//       the greatest of each window of a plane; what is less than a window at its ends counts
//       nothing
//   tfrt_linear_f32(x, w, bias, y, rows, inner, columns, relu)
//       y = x times w, plus bias to each row
//   tfrt_add_row_f32(bias, y, rows, columns, relu)
//       y += bias, each row
//
// Elements are of the type in the name, counts ui32. The first four, and layers, run with any grid
// and block of one axis. Those about rows run with one block per row, of a power of two threads,
// 256 at most. Products of matrices run with blocks of 256 threads, on one axis or two (those of
// f16 and bf16, made by tensor cores, on one). There is a block for each 128 columns, in x, and 128
// rows, in y; further blocks do nothing.
//
// Thread rule: constant data. Failure rule: none fails. A launch whose buffers are too small for
// its counts is refused (devices/device_stream.h).
#ifndef TFRT_DEVICES_CPU_CPU_KERNELS_H_
#define TFRT_DEVICES_CPU_CPU_KERNELS_H_

#include "devices/cpu/cpu_platform.h"

#define TFRT_CPU_KERNEL_COUNT 25

extern const tfrt_cpu_kernel_t tfrt_cpu_kernels[TFRT_CPU_KERNEL_COUNT];

#endif  // TFRT_DEVICES_CPU_CPU_KERNELS_H_
