// SPDX-License-Identifier: Apache-2.0
//
// Kernels of 16-bit elements, for f16 and bf16 alike: devices/cpu/cpu_kernels.h says what each of
// them does. Sums are f32; a product of matrices is one of tensor cores.
//
// Whoever includes this has said before:
//
//   element_t            the type
//   NAME(kernel)         the kernel's name with the type's
//   from_bits(bits)      an element
//   MMA_TYPE             the type in instructions of tensor cores
#include "block.cuh"

#if __CUDA_ARCH__ >= 800
#include "mma_matmul.cuh"
#else
#include "wmma_matmul.cuh"
#endif

// --- Elements ------------------------------------------------------------------------------

// What 16 bytes hold.
#define VECTOR 8

typedef union vector_s {
  uint4 whole;
  element_t elements[VECTOR];
} vector_t;

__device__ __forceinline__ vector_t load_vector(const element_t* from, size_t index) {
  vector_t vector;
  vector.whole = reinterpret_cast<const uint4*>(from)[index];
  return vector;
}

// Sets each element of |target| to what |combine| makes of those of |a| and |b|.
template <typename F>
__device__ __forceinline__ void combine_elements(const element_t* a, const element_t* b,
                                                 element_t* target, unsigned int count,
                                                 F combine) {
  if (!is_aligned(a) || !is_aligned(b) || !is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = combine(a[i], b[i]); });
    return;
  }
  for_each(count / VECTOR, [=](size_t i) {
    vector_t x = load_vector(a, i);
    vector_t y = load_vector(b, i);
#pragma unroll
    for (int k = 0; k < VECTOR; ++k) x.elements[k] = combine(x.elements[k], y.elements[k]);
    reinterpret_cast<uint4*>(target)[i] = x.whole;
  });
  for_rest(count, VECTOR, [=](size_t i) { target[i] = combine(a[i], b[i]); });
}

extern "C" {

__global__ void NAME(tfrt_fill)(element_t* target, unsigned short value, unsigned int count) {
  element_t element = from_bits(value);
  if (!is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = element; });
    return;
  }
  vector_t vector;
  for (int k = 0; k < VECTOR; ++k) vector.elements[k] = element;
  for_each(count / VECTOR, [=](size_t i) { reinterpret_cast<uint4*>(target)[i] = vector.whole; });
  for_rest(count, VECTOR, [=](size_t i) { target[i] = element; });
}

__global__ void NAME(tfrt_copy)(const element_t* source, element_t* target, unsigned int count) {
  if (!is_aligned(source) || !is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = source[i]; });
    return;
  }
  copy_vectors(reinterpret_cast<const uint4*>(source), reinterpret_cast<uint4*>(target),
               count / VECTOR);
  for_rest(count, VECTOR, [=](size_t i) { target[i] = source[i]; });
}

__global__ void NAME(tfrt_add)(const element_t* a, const element_t* b, element_t* target,
                               unsigned int count) {
  combine_elements(a, b, target, count,
                   [](element_t x, element_t y) { return element_t(float(x) + float(y)); });
}

__global__ void NAME(tfrt_multiply)(const element_t* a, const element_t* b, element_t* target,
                                    unsigned int count) {
  combine_elements(a, b, target, count,
                   [](element_t x, element_t y) { return element_t(float(x) * float(y)); });
}

}  // extern "C"

// --- Rows: one block for each --------------------------------------------------------------

// Calls |work| with VECTOR elements of |row| at a time, and the index of the vector, each of which
// is this thread's; those beyond the last vector come alone.
template <typename F, typename G>
__device__ __forceinline__ void for_each_vector(const element_t* row, unsigned int columns,
                                                F work, G one) {
  unsigned int vectors = is_aligned(row) ? columns / VECTOR : 0;
  for (unsigned int i = threadIdx.x; i < vectors; i += blockDim.x) work(load_vector(row, i), i);
  for (unsigned int i = VECTOR * vectors + threadIdx.x; i < columns; i += blockDim.x) {
    one(float(row[i]), i);
  }
}

extern "C" {

__global__ void NAME(tfrt_sum_rows)(const element_t* source, element_t* target,
                                    unsigned int columns) {
  float sum = 0;
  for_each_vector(
      source + (size_t)blockIdx.x * columns, columns,
      [&](vector_t x, unsigned int) {
        float part = 0;
#pragma unroll
        for (int k = 0; k < VECTOR; ++k) part += float(x.elements[k]);
        sum += part;
      },
      [&](float x, unsigned int) { sum += x; });
  sum = reduce(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) target[blockIdx.x] = element_t(sum);
}

// Numbers of 16 bits have no use for all digits of expf().
__global__ void NAME(tfrt_softmax_rows)(const element_t* source, element_t* target,
                                        unsigned int columns) {
  const element_t* row = source + (size_t)blockIdx.x * columns;
  element_t* result = target + (size_t)blockIdx.x * columns;
  if (columns % VECTOR == 0 && columns <= KEPT * VECTOR * blockDim.x && is_aligned(row) &&
      is_aligned(result)) {
    softmax_kept<element_t, VECTOR>(
        row, result, columns, [](float x) { return element_t(x); },
        [](float x) { return __expf(x); });
  } else {
    softmax_long(
        row, result, columns, [](float x) { return element_t(x); },
        [](float x) { return __expf(x); });
  }
}

}  // extern "C"
