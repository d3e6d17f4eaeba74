// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_kernels.h"

#include <math.h>

#include "devices/cpu/cpu_exp.h"
#include "devices/cpu/cpu_kernel_groups.h"

static float* tfrt_cpu_floats(void* const* parameters, int index) {
  return *(float**)parameters[index];
}

static tfrt_status_t tfrt_cpu_fill_f32(const tfrt_device_launch_t* launch,
                                       void* const* parameters) {
  (void)launch;
  float* target = tfrt_cpu_floats(parameters, 0);
  float value = *(const float*)parameters[1];
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = value;
  return NULL;
}

static tfrt_status_t tfrt_cpu_copy_f32(const tfrt_device_launch_t* launch,
                                       void* const* parameters) {
  (void)launch;
  const float* source = tfrt_cpu_floats(parameters, 0);
  float* target = tfrt_cpu_floats(parameters, 1);
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = source[i];
  return NULL;
}

static tfrt_status_t tfrt_cpu_add_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* a = tfrt_cpu_floats(parameters, 0);
  const float* b = tfrt_cpu_floats(parameters, 1);
  float* target = tfrt_cpu_floats(parameters, 2);
  uint32_t count = tfrt_cpu_ui32(parameters, 3);
  for (uint32_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
  return NULL;
}

static tfrt_status_t tfrt_cpu_multiply_f32(const tfrt_device_launch_t* launch,
                                           void* const* parameters) {
  (void)launch;
  const float* a = tfrt_cpu_floats(parameters, 0);
  const float* b = tfrt_cpu_floats(parameters, 1);
  float* target = tfrt_cpu_floats(parameters, 2);
  uint32_t count = tfrt_cpu_ui32(parameters, 3);
  for (uint32_t i = 0; i < count; ++i) target[i] = a[i] * b[i];
  return NULL;
}

// --- Rows: one per block of the grid ---------------------------------------------------

static tfrt_status_t tfrt_cpu_sum_rows_f32(const tfrt_device_launch_t* launch,
                                           void* const* parameters) {
  const float* source = tfrt_cpu_floats(parameters, 0);
  float* target = tfrt_cpu_floats(parameters, 1);
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += source[row * columns + i];
    target[row] = sum;
  }
  return NULL;
}

static void tfrt_cpu_softmax_row(const float* source, float* target, size_t columns) {
  float most = -INFINITY;
  float sum = 0;
  for (size_t i = 0; i < columns; ++i) most = source[i] > most ? source[i] : most;
  for (size_t i = 0; i < columns; ++i) sum += tfrt_cpu_exp(source[i] - most);
  for (size_t i = 0; i < columns; ++i) target[i] = tfrt_cpu_exp(source[i] - most) / sum;
}

static tfrt_status_t tfrt_cpu_softmax_rows_f32(const tfrt_device_launch_t* launch,
                                               void* const* parameters) {
  const float* source = tfrt_cpu_floats(parameters, 0);
  float* target = tfrt_cpu_floats(parameters, 1);
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    tfrt_cpu_softmax_row(source + row * columns, target + row * columns, columns);
  }
  return NULL;
}

// --- Products --------------------------------------------------------------------------

static tfrt_status_t tfrt_cpu_matmul_f32(const tfrt_device_launch_t* launch,
                                         void* const* parameters) {
  (void)launch;
  tfrt_cpu_matmul_t m = tfrt_cpu_matmul_read(parameters);
  const float* a = m.a;
  const float* b = m.b;
  float* target = m.target;
  for (size_t row = 0; row < m.rows; ++row) {
    for (size_t column = 0; column < m.columns; ++column) {
      float sum = 0;
      for (size_t i = 0; i < m.inner; ++i) sum += a[row * m.inner + i] * b[i * m.columns + column];
      target[row * m.columns + column] = sum;
    }
  }
  return NULL;
}

const tfrt_cpu_kernel_t tfrt_cpu_kernels[TFRT_CPU_KERNEL_COUNT] = {
    {"tfrt_fill_f32", tfrt_cpu_fill_f32},
    {"tfrt_copy_f32", tfrt_cpu_copy_f32},
    {"tfrt_add_f32", tfrt_cpu_add_f32},
    {"tfrt_multiply_f32", tfrt_cpu_multiply_f32},
    {"tfrt_sum_rows_f32", tfrt_cpu_sum_rows_f32},
    {"tfrt_softmax_rows_f32", tfrt_cpu_softmax_rows_f32},
    {"tfrt_matmul_f32", tfrt_cpu_matmul_f32},
    {"tfrt_fill_f16", tfrt_cpu_fill_half},
    {"tfrt_copy_f16", tfrt_cpu_copy_half},
    {"tfrt_add_f16", tfrt_cpu_add_f16},
    {"tfrt_multiply_f16", tfrt_cpu_multiply_f16},
    {"tfrt_sum_rows_f16", tfrt_cpu_sum_rows_f16},
    {"tfrt_softmax_rows_f16", tfrt_cpu_softmax_rows_f16},
    {"tfrt_matmul_f16", tfrt_cpu_matmul_f16},
    {"tfrt_fill_bf16", tfrt_cpu_fill_half},
    {"tfrt_copy_bf16", tfrt_cpu_copy_half},
    {"tfrt_add_bf16", tfrt_cpu_add_bf16},
    {"tfrt_multiply_bf16", tfrt_cpu_multiply_bf16},
    {"tfrt_sum_rows_bf16", tfrt_cpu_sum_rows_bf16},
    {"tfrt_softmax_rows_bf16", tfrt_cpu_softmax_rows_bf16},
    {"tfrt_matmul_bf16", tfrt_cpu_matmul_bf16},
    {"tfrt_conv2d_f32", tfrt_cpu_conv2d_f32},
    {"tfrt_max_pool2d_f32", tfrt_cpu_max_pool2d_f32},
    {"tfrt_linear_f32", tfrt_cpu_linear_f32},
    {"tfrt_add_row_f32", tfrt_cpu_add_row_f32},
};
