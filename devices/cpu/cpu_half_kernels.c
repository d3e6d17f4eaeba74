// SPDX-License-Identifier: Apache-2.0
//
// Kernels of 16-bit elements: a sum is made in f32, as on a GPU, and rounded once.
#include <math.h>

#include "devices/cpu/cpu_exp.h"
#include "devices/cpu/cpu_kernel_groups.h"
#include "host_runtime/tensor/small_float.h"

// A 16-bit type: its conversions to and from double.
typedef struct tfrt_cpu_half_s {
  double (*to)(uint16_t bits);
  uint16_t (*from)(double value);
} tfrt_cpu_half_t;

static const tfrt_cpu_half_t f16 = {tfrt_f16_to_double, tfrt_f16_from_double};
static const tfrt_cpu_half_t bf16 = {tfrt_bf16_to_double, tfrt_bf16_from_double};

static uint16_t* cpu_halves(void* const* parameters, int index) {
  return *(uint16_t**)parameters[index];
}
static float cpu_half_at(const tfrt_cpu_half_t* type, const uint16_t* halves, size_t index) {
  return (float)type->to(halves[index]);
}

// --- Elements as plain bits -----------------------------------------------------------------

tfrt_status_t tfrt_cpu_fill_half(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  uint16_t* target = cpu_halves(parameters, 0);
  uint16_t value = *(const uint16_t*)parameters[1];
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = value;
  return NULL;
}

tfrt_status_t tfrt_cpu_copy_half(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const uint16_t* source = cpu_halves(parameters, 0);
  uint16_t* target = cpu_halves(parameters, 1);
  uint32_t count = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t i = 0; i < count; ++i) target[i] = source[i];
  return NULL;
}

// --- Both types ------------------------------------------------------------------------------

static tfrt_status_t cpu_combine_halves(const tfrt_cpu_half_t* type, bool is_product,
                                        void* const* parameters) {
  const uint16_t* a = cpu_halves(parameters, 0);
  const uint16_t* b = cpu_halves(parameters, 1);
  uint16_t* target = cpu_halves(parameters, 2);
  uint32_t count = tfrt_cpu_ui32(parameters, 3);
  for (uint32_t i = 0; i < count; ++i) {
    float left = cpu_half_at(type, a, i);
    float right = cpu_half_at(type, b, i);
    target[i] = type->from((double)(is_product ? left * right : left + right));
  }
  return NULL;
}

static tfrt_status_t cpu_sum_half_rows(const tfrt_cpu_half_t* type,
                                       const tfrt_device_launch_t* launch,
                                       void* const* parameters) {
  const uint16_t* source = cpu_halves(parameters, 0);
  uint16_t* target = cpu_halves(parameters, 1);
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += cpu_half_at(type, source, row * columns + i);
    target[row] = type->from((double)sum);
  }
  return NULL;
}

static tfrt_status_t cpu_softmax_half_rows(const tfrt_cpu_half_t* type,
                                           const tfrt_device_launch_t* launch,
                                           void* const* parameters) {
  size_t columns = tfrt_cpu_ui32(parameters, 2);
  for (uint32_t row = 0; row < launch->grid[0]; ++row) {
    const uint16_t* source = cpu_halves(parameters, 0) + row * columns;
    uint16_t* target = cpu_halves(parameters, 1) + row * columns;
    float most = -INFINITY;
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) {
      float value = cpu_half_at(type, source, i);
      if (value > most) most = value;
    }
    for (size_t i = 0; i < columns; ++i) {
      sum += tfrt_cpu_exp(cpu_half_at(type, source, i) - most);
    }
    for (size_t i = 0; i < columns; ++i) {
      float share = tfrt_cpu_exp(cpu_half_at(type, source, i) - most) / sum;
      target[i] = type->from((double)share);
    }
  }
  return NULL;
}

static tfrt_status_t cpu_matmul_halves(const tfrt_cpu_half_t* type, void* const* parameters) {
  tfrt_cpu_matmul_t m = tfrt_cpu_matmul_read(parameters);
  for (size_t element = 0; element < m.rows * m.columns; ++element) {
    size_t row = element / m.columns;
    size_t column = element % m.columns;
    float sum = 0;
    for (size_t i = 0; i < m.inner; ++i) {
      sum += cpu_half_at(type, m.a, row * m.inner + i) *
             cpu_half_at(type, m.b, i * m.columns + column);
    }
    ((uint16_t*)m.target)[element] = type->from((double)sum);
  }
  return NULL;
}

// --- By type ---------------------------------------------------------------------------------

tfrt_status_t tfrt_cpu_add_f16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_combine_halves(&f16, false, parameters);
}
tfrt_status_t tfrt_cpu_add_bf16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_combine_halves(&bf16, false, parameters);
}
tfrt_status_t tfrt_cpu_multiply_f16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_combine_halves(&f16, true, parameters);
}
tfrt_status_t tfrt_cpu_multiply_bf16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_combine_halves(&bf16, true, parameters);
}
tfrt_status_t tfrt_cpu_sum_rows_f16(const tfrt_device_launch_t* launch, void* const* parameters) {
  return cpu_sum_half_rows(&f16, launch, parameters);
}
tfrt_status_t tfrt_cpu_sum_rows_bf16(const tfrt_device_launch_t* launch, void* const* parameters) {
  return cpu_sum_half_rows(&bf16, launch, parameters);
}
tfrt_status_t tfrt_cpu_softmax_rows_f16(const tfrt_device_launch_t* launch,
                                        void* const* parameters) {
  return cpu_softmax_half_rows(&f16, launch, parameters);
}
tfrt_status_t tfrt_cpu_softmax_rows_bf16(const tfrt_device_launch_t* launch,
                                         void* const* parameters) {
  return cpu_softmax_half_rows(&bf16, launch, parameters);
}
tfrt_status_t tfrt_cpu_matmul_f16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_matmul_halves(&f16, parameters);
}
tfrt_status_t tfrt_cpu_matmul_bf16(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  return cpu_matmul_halves(&bf16, parameters);
}
