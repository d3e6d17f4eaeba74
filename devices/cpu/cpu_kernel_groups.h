// SPDX-License-Identifier: Apache-2.0
//
// The kernels of cpu_half_kernels.c for the table in cpu_kernels.c. Private to them;
// devices/cpu/cpu_kernels.h says what each does.
//
// Thread rule: as tfrt_cpu_kernel_fn_t. Failure rule: none fails.
#ifndef TFRT_DEVICES_CPU_CPU_KERNEL_GROUPS_H_
#define TFRT_DEVICES_CPU_CPU_KERNEL_GROUPS_H_

#include "devices/cpu/cpu_platform.h"

// Parameter |index|, which is a count.
static inline uint32_t tfrt_cpu_ui32(void* const* parameters, int index) {
  return *(const uint32_t*)parameters[index];
}

// The product of two numbers of bytes or elements; UINT64_MAX if it is more than that.
static inline uint64_t tfrt_cpu_times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Two matrices and their product.
typedef struct tfrt_cpu_matmul_s {
  const void* a;
  const void* b;
  void* target;
  size_t rows;
  size_t inner;
  size_t columns;
} tfrt_cpu_matmul_t;

// Reads the parameters of a product of matrices.
static inline tfrt_cpu_matmul_t tfrt_cpu_matmul_read(void* const* parameters) {
  return (tfrt_cpu_matmul_t){
      .a = *(void**)parameters[0],
      .b = *(void**)parameters[1],
      .target = *(void**)parameters[2],
      .rows = tfrt_cpu_ui32(parameters, 3),
      .inner = tfrt_cpu_ui32(parameters, 4),
      .columns = tfrt_cpu_ui32(parameters, 5),
  };
}

// `half`: of f16 as of bf16.
tfrt_status_t tfrt_cpu_fill_half(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_copy_half(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_add_f16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_add_bf16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_multiply_f16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_multiply_bf16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_sum_rows_f16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_sum_rows_bf16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_softmax_rows_f16(const tfrt_device_launch_t* launch,
                                        void* const* parameters);
tfrt_status_t tfrt_cpu_softmax_rows_bf16(const tfrt_device_launch_t* launch,
                                         void* const* parameters);
tfrt_status_t tfrt_cpu_matmul_f16(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_matmul_bf16(const tfrt_device_launch_t* launch, void* const* parameters);

// Layers of neural networks.
tfrt_status_t tfrt_cpu_conv2d_f32(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_max_pool2d_f32(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_linear_f32(const tfrt_device_launch_t* launch, void* const* parameters);
tfrt_status_t tfrt_cpu_add_row_f32(const tfrt_device_launch_t* launch, void* const* parameters);

// The bytes that they use of their buffers (tfrt_cpu_kernel_extents_fn_t).
void tfrt_cpu_conv2d_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes);
void tfrt_cpu_max_pool2d_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                                 uint64_t element_size, uint64_t* out_bytes);
void tfrt_cpu_linear_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes);
void tfrt_cpu_add_row_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                              uint64_t element_size, uint64_t* out_bytes);

#endif  // TFRT_DEVICES_CPU_CPU_KERNEL_GROUPS_H_
