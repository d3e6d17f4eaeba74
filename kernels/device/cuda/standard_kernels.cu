// SPDX-License-Identifier: Apache-2.0
//
// Kernels that come with the runtime, for CUDA devices. standard_kernels.ptx is made of this by
// kernels/device/cuda/compile.sh; devices/cpu/cpu_kernels.h says what each of them does.

#include "block.cuh"

#define TILE 16

extern "C" {

__global__ void tfrt_fill_f32(float* target, float value, unsigned int count) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (unsigned long long)blockDim.x) {
    target[i] = value;
  }
}

__global__ void tfrt_copy_f32(const float* source, float* target, unsigned int count) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (unsigned long long)blockDim.x) {
    target[i] = source[i];
  }
}

__global__ void tfrt_add_f32(const float* a, const float* b, float* target, unsigned int count) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (unsigned long long)blockDim.x) {
    target[i] = a[i] + b[i];
  }
}

__global__ void tfrt_multiply_f32(const float* a, const float* b, float* target,
                                  unsigned int count) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (unsigned long long)blockDim.x) {
    target[i] = a[i] * b[i];
  }
}

// One block per row.
__global__ void tfrt_sum_rows_f32(const float* source, float* target, unsigned int columns) {
  const float* row = source + (size_t)blockIdx.x * columns;
  float sum = 0;
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
  sum = reduce(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) target[blockIdx.x] = sum;
}

// One block per row.
__global__ void tfrt_softmax_rows_f32(const float* source, float* target, unsigned int columns) {
  const float* row = source + (size_t)blockIdx.x * columns;
  float* result = target + (size_t)blockIdx.x * columns;
  float most = -INFINITY;
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - most);
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) {
    result[i] = expf(row[i] - most) / sum;
  }
}

// A block of TILE times TILE threads makes as many elements; the grid covers columns in x and
// rows in y.
__global__ void tfrt_matmul_f32(const float* a, const float* b, float* target, unsigned int rows,
                                unsigned int inner, unsigned int columns) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  unsigned int row = blockIdx.y * TILE + threadIdx.y;
  unsigned int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned int start = 0; start < inner; start += TILE) {
    unsigned int x = start + threadIdx.x;
    unsigned int y = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < rows && x < inner ? a[(size_t)row * inner + x] : 0;
    right[threadIdx.y][threadIdx.x] =
        column < columns && y < inner ? b[(size_t)y * columns + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) target[(size_t)row * columns + column] = sum;
}

}  // extern "C"
