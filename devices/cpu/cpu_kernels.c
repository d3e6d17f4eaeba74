// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_kernels.h"

#include <math.h>

#include "devices/cpu/cpu_exp.h"
#include "devices/cpu/cpu_kernel_groups.h"

static float* cpu_floats(void* const* parameters, int index) { return *(float**)parameters[index]; }

static tfrt_status_t cpu_fill_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  float* target = cpu_floats(parameters, 0);
  float value = *(const float*)parameters[1];
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = value;
  return NULL;
}

static tfrt_status_t cpu_copy_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* source = cpu_floats(parameters, 0);
  float* target = cpu_floats(parameters, 1);
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = source[i];
  return NULL;
}

static tfrt_status_t cpu_add_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* a = cpu_floats(parameters, 0);
  const float* b = cpu_floats(parameters, 1);
  float* target = cpu_floats(parameters, 2);
  uint32_t count = tfrt_cpu_ui32(parameters, 3);
  for (uint32_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
  return NULL;
}

static tfrt_status_t cpu_multiply_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* a = cpu_floats(parameters, 0);
  const float* b = cpu_floats(parameters, 1);
  float* target = cpu_floats(parameters, 2);
  uint32_t count = tfrt_cpu_ui32(parameters, 3);
  for (uint32_t i = 0; i < count; ++i) target[i] = a[i] * b[i];
  return NULL;
}

// --- Rows: one per block of the grid ---------------------------------------------------

static tfrt_status_t cpu_sum_rows_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  const float* source = cpu_floats(parameters, 0);
  float* target = cpu_floats(parameters, 1);
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += source[row * columns + i];
    target[row] = sum;
  }
  return NULL;
}

static void cpu_softmax_row(const float* source, float* target, size_t columns) {
  float most = -INFINITY;
  float sum = 0;
  for (size_t i = 0; i < columns; ++i) most = source[i] > most ? source[i] : most;
  for (size_t i = 0; i < columns; ++i) sum += tfrt_cpu_exp(source[i] - most);
  for (size_t i = 0; i < columns; ++i) target[i] = tfrt_cpu_exp(source[i] - most) / sum;
}

static tfrt_status_t cpu_softmax_rows_f32(const tfrt_device_launch_t* launch,
                                          void* const* parameters) {
  const float* source = cpu_floats(parameters, 0);
  float* target = cpu_floats(parameters, 1);
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    cpu_softmax_row(source + row * columns, target + row * columns, columns);
  }
  return NULL;
}

// --- Products --------------------------------------------------------------------------

static tfrt_status_t cpu_matmul_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
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

// --- What each uses of its buffers -------------------------------------------------------

static void cpu_fill_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  out_bytes[0] = tfrt_cpu_ui32(parameters, 2) * element_size;
}

// The same count of each of |buffers| buffers, behind which it stands.
static void cpu_equal_extents(void* const* parameters, int buffers, uint64_t element_size,
                              uint64_t* out_bytes) {
  for (int i = 0; i < buffers; ++i) {
    out_bytes[i] = tfrt_cpu_ui32(parameters, buffers) * element_size;
  }
}

static void cpu_copy_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  cpu_equal_extents(parameters, 2, element_size, out_bytes);
}

static void cpu_combine_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                                uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  cpu_equal_extents(parameters, 3, element_size, out_bytes);
}

static void cpu_sum_rows_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                                 uint64_t element_size, uint64_t* out_bytes) {
  uint64_t row = tfrt_cpu_ui32(parameters, 2) * element_size;
  out_bytes[0] = tfrt_cpu_times(launch->grid[0], row);
  out_bytes[1] = launch->grid[0] * element_size;
}

static void cpu_softmax_rows_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                                     uint64_t element_size, uint64_t* out_bytes) {
  uint64_t row = tfrt_cpu_ui32(parameters, 2) * element_size;
  out_bytes[0] = out_bytes[1] = tfrt_cpu_times(launch->grid[0], row);
}

static void cpu_matmul_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                               uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  tfrt_cpu_matmul_t m = tfrt_cpu_matmul_read(parameters);
  out_bytes[0] = tfrt_cpu_times(tfrt_cpu_times(m.rows, m.inner), element_size);
  out_bytes[1] = tfrt_cpu_times(tfrt_cpu_times(m.inner, m.columns), element_size);
  out_bytes[2] = tfrt_cpu_times(tfrt_cpu_times(m.rows, m.columns), element_size);
}

// One row for a kernel of each type of elements; a value of 16 bits is an h.
#define OF_EACH_TYPE(name, f32, f16, bf16, parameters, half_parameters, extents) \
  {"tfrt_" name "_f32", f32, parameters, extents, 4},                            \
      {"tfrt_" name "_f16", f16, half_parameters, extents, 2}, {                 \
    "tfrt_" name "_bf16", bf16, half_parameters, extents, 2                      \
  }

const tfrt_cpu_kernel_t tfrt_cpu_kernels[TFRT_CPU_KERNEL_COUNT] = {
    OF_EACH_TYPE("fill", cpu_fill_f32, tfrt_cpu_fill_half, tfrt_cpu_fill_half, "bfu", "bhu",
                 cpu_fill_extents),
    OF_EACH_TYPE("copy", cpu_copy_f32, tfrt_cpu_copy_half, tfrt_cpu_copy_half, "bbu", "bbu",
                 cpu_copy_extents),
    OF_EACH_TYPE("add", cpu_add_f32, tfrt_cpu_add_f16, tfrt_cpu_add_bf16, "bbbu", "bbbu",
                 cpu_combine_extents),
    OF_EACH_TYPE("multiply", cpu_multiply_f32, tfrt_cpu_multiply_f16, tfrt_cpu_multiply_bf16,
                 "bbbu", "bbbu", cpu_combine_extents),
    OF_EACH_TYPE("sum_rows", cpu_sum_rows_f32, tfrt_cpu_sum_rows_f16, tfrt_cpu_sum_rows_bf16, "bbu",
                 "bbu", cpu_sum_rows_extents),
    OF_EACH_TYPE("softmax_rows", cpu_softmax_rows_f32, tfrt_cpu_softmax_rows_f16,
                 tfrt_cpu_softmax_rows_bf16, "bbu", "bbu", cpu_softmax_rows_extents),
    OF_EACH_TYPE("matmul", cpu_matmul_f32, tfrt_cpu_matmul_f16, tfrt_cpu_matmul_bf16, "bbbuuu",
                 "bbbuuu", cpu_matmul_extents),
    {"tfrt_conv2d_f32", tfrt_cpu_conv2d_f32, "bbbbuuuuuuu", tfrt_cpu_conv2d_extents, 4},
    {"tfrt_max_pool2d_f32", tfrt_cpu_max_pool2d_f32, "bbuuuu", tfrt_cpu_max_pool2d_extents, 4},
    {"tfrt_linear_f32", tfrt_cpu_linear_f32, "bbbbuuuu", tfrt_cpu_linear_extents, 4},
    {"tfrt_add_row_f32", tfrt_cpu_add_row_f32, "bbuuu", tfrt_cpu_add_row_extents, 4},
};
