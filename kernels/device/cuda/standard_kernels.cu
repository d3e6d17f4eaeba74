// SPDX-License-Identifier: Apache-2.0
//
// Kernels that come with the runtime, for CUDA devices. standard_kernels.ptx is made of this by
// kernels/device/cuda/compile.sh; devices/cpu/cpu_kernels.h says what each of them does.

#include "block.cuh"

// --- Products of matrices ------------------------------------------------------------------
//
// A block of 256 threads makes a tile of 128 times 128 elements of the target, DEPTH of the inner
// axis at a time; a warp makes 32 rows and 64 columns of it, a thread 8 rows and 8 columns, in
// registers:
//
//   a thread's rows    4 from 4 * r on, and 4 from 16 + 4 * r on      r = lane / 8
//   its columns        4 from 4 * c on, and 4 from 32 + 4 * c on      c = lane % 8
//
// so that the 8 lanes of a row read 128 bytes of the right matrix at once. The left one is kept
// with its inner axis first. While the threads work on one step, the elements of the next one
// come to registers, and go to the other half of the shared memory.

#define TILE 128
#define DEPTH 8
#define THREADS 256
// Rows in shared memory are longer by this: what two threads store at once lies in two banks.
#define PAD 4

typedef struct step_s {
  float left[DEPTH][TILE + PAD];
  float right[DEPTH][TILE];
} step_t;

// Four elements of a row at |from|, of which |count| are there; zero for the others.
template <bool is_whole>
__device__ __forceinline__ float4 load_four(const float* __restrict__ from, int count) {
  float4 four = make_float4(0, 0, 0, 0);
  if (count <= 0) return four;
  if (is_whole) return *reinterpret_cast<const float4*>(from);
  four.x = from[0];
  if (count > 1) four.y = from[1];
  if (count > 2) four.z = from[2];
  if (count > 3) four.w = from[3];
  return four;
}

// How many of four elements from |first| on are below |end|; what is more counts as four.
__device__ __forceinline__ int count_four(unsigned int first, unsigned int end) {
  return first >= end ? 0 : end - first < 4 ? (int)(end - first) : 4;
}

__device__ __forceinline__ void store_step(step_t* step, float4 left, float4 right) {
  unsigned int k = threadIdx.x + threadIdx.y * blockDim.x;
  unsigned int row = k / 2;
  unsigned int first = k % 2 * 4;
  step->left[first][row] = left.x;
  step->left[first + 1][row] = left.y;
  step->left[first + 2][row] = left.z;
  step->left[first + 3][row] = left.w;
  *reinterpret_cast<float4*>(&step->right[k / 32][k % 32 * 4]) = right;
}

// Adds the products of one step.
__device__ __forceinline__ void multiply_step(float (&sums)[8][8], const step_t* step,
                                              unsigned int row, unsigned int column) {
#pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    float left[8];
    float right[8];
    *reinterpret_cast<float4*>(&left[0]) =
        *reinterpret_cast<const float4*>(&step->left[k][row]);
    *reinterpret_cast<float4*>(&left[4]) =
        *reinterpret_cast<const float4*>(&step->left[k][row + 16]);
    *reinterpret_cast<float4*>(&right[0]) =
        *reinterpret_cast<const float4*>(&step->right[k][column]);
    *reinterpret_cast<float4*>(&right[4]) =
        *reinterpret_cast<const float4*>(&step->right[k][column + 32]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sums[i][j] += left[i] * right[j];
    }
  }
}

template <bool is_whole>
__device__ __forceinline__ void store_four(float* target, const float* sums, unsigned int row,
                                           unsigned int column, unsigned int rows,
                                           unsigned int columns) {
  if (row >= rows || column >= columns) return;
  float* to = target + (size_t)row * columns + column;
  if (is_whole) {
    *reinterpret_cast<float4*>(to) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  } else {
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) {
      if (column + i < columns) to[i] = sums[i];
    }
  }
}

// |is_whole|: rows of all matrices are made of whole vectors of four, which begin where such may.
template <bool is_whole>
__device__ __forceinline__ void multiply(step_t* steps, const float* __restrict__ a,
                                         const float* __restrict__ b, float* __restrict__ target,
                                         unsigned int rows, unsigned int inner,
                                         unsigned int columns, uint2 tile) {
  unsigned int thread = threadIdx.x + threadIdx.y * blockDim.x;
  unsigned int warp = thread / 32;
  unsigned int lane = thread % 32;
  unsigned int row = warp / 2 * 32 + lane / 8 * 4;
  unsigned int column = warp % 2 * 64 + lane % 8 * 4;
  // Where this thread loads from, and how much of that is there.
  unsigned int left_row = tile.y * TILE + thread / 2;
  unsigned int left_first = thread % 2 * 4;
  unsigned int right_row = thread / 32;
  unsigned int right_column = tile.x * TILE + thread % 32 * 4;
  const float* left_from = a + (size_t)left_row * inner + left_first;
  const float* right_from = b + (size_t)right_row * columns + right_column;
  unsigned int left_end = left_row < rows ? inner : 0;
  int right_count = count_four(right_column, columns);
  float sums[8][8] = {};
  store_step(&steps[0], load_four<is_whole>(left_from, count_four(left_first, left_end)),
             load_four<is_whole>(right_from, right_row < inner ? right_count : 0));
  __syncthreads();
  unsigned int now = 0;
  for (unsigned int rest = inner; rest > DEPTH; rest -= DEPTH) {
    left_from += DEPTH;
    right_from += (size_t)DEPTH * columns;
    int left_count = left_end == 0 ? 0 : count_four(left_first + DEPTH, rest);
    float4 left = load_four<is_whole>(left_from, left_count);
    float4 right = load_four<is_whole>(right_from, right_row + DEPTH < rest ? right_count : 0);
    multiply_step(sums, &steps[now], row, column);
    now ^= 1;
    store_step(&steps[now], left, right);
    __syncthreads();
  }
  multiply_step(sums, &steps[now], row, column);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    unsigned int y = tile.y * TILE + row + i / 4 * 16 + i % 4;
    unsigned int x = tile.x * TILE + column;
    store_four<is_whole>(target, &sums[i][0], y, x, rows, columns);
    store_four<is_whole>(target, &sums[i][4], y, x + 32, rows, columns);
  }
}

extern "C" {

__global__ void __launch_bounds__(THREADS, 2)
    tfrt_matmul_f32(const float* a, const float* b, float* target, unsigned int rows,
                    unsigned int inner, unsigned int columns) {
  __shared__ __align__(16) step_t steps[2];
  uint2 tile = choose_tile(rows, columns, TILE, TILE);
  if (tile.y * (size_t)TILE >= rows || tile.x * (size_t)TILE >= columns) return;
  bool is_whole = inner % 4 == 0 && columns % 4 == 0 && is_aligned(a) && is_aligned(b) &&
                  is_aligned(target);
  if (is_whole) {
    multiply<true>(steps, a, b, target, rows, inner, columns, tile);
  } else {
    multiply<false>(steps, a, b, target, rows, inner, columns, tile);
  }
}

// --- Elements ------------------------------------------------------------------------------

__global__ void tfrt_fill_f32(float* target, float value, unsigned int count) {
  if (!is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = value; });
    return;
  }
  float4* fours = reinterpret_cast<float4*>(target);
  for_each(count / 4, [=](size_t i) { fours[i] = make_float4(value, value, value, value); });
  for_rest(count, 4, [=](size_t i) { target[i] = value; });
}

__global__ void tfrt_copy_f32(const float* __restrict__ source, float* __restrict__ target,
                              unsigned int count) {
  if (!is_aligned(source) || !is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = source[i]; });
    return;
  }
  copy_vectors(reinterpret_cast<const uint4*>(source), reinterpret_cast<uint4*>(target), count / 4);
  for_rest(count, 4, [=](size_t i) { target[i] = source[i]; });
}

}  // extern "C"

// Sets each element of |target| to what |combine| makes of those of |a| and |b|.
template <typename F>
__device__ __forceinline__ void combine_elements(const float* a, const float* b, float* target,
                                                 unsigned int count, F combine) {
  if (!is_aligned(a) || !is_aligned(b) || !is_aligned(target)) {
    for_each(count, [=](size_t i) { target[i] = combine(a[i], b[i]); });
    return;
  }
  const float4* x = reinterpret_cast<const float4*>(a);
  const float4* y = reinterpret_cast<const float4*>(b);
  float4* to = reinterpret_cast<float4*>(target);
  for_each(count / 4, [=](size_t i) {
    float4 left = x[i];
    float4 right = y[i];
    to[i] = make_float4(combine(left.x, right.x), combine(left.y, right.y),
                        combine(left.z, right.z), combine(left.w, right.w));
  });
  for_rest(count, 4, [=](size_t i) { target[i] = combine(a[i], b[i]); });
}

extern "C" {

__global__ void tfrt_add_f32(const float* a, const float* b, float* target, unsigned int count) {
  combine_elements(a, b, target, count, [](float x, float y) { return x + y; });
}

__global__ void tfrt_multiply_f32(const float* a, const float* b, float* target,
                                  unsigned int count) {
  combine_elements(a, b, target, count, [](float x, float y) { return x * y; });
}

}  // extern "C"

// --- Rows: one block for each --------------------------------------------------------------

// Calls |work| with four elements of |row| at a time, and an index of the first, each of which is
// this thread's; those beyond the last four come alone.
template <typename F, typename G>
__device__ __forceinline__ void for_each_four(const float* row, unsigned int columns, F four,
                                              G one) {
  unsigned int fours = is_aligned(row) ? columns / 4 : 0;
  for (unsigned int i = threadIdx.x; i < fours; i += blockDim.x) {
    four(reinterpret_cast<const float4*>(row)[i], i);
  }
  for (unsigned int i = 4 * fours + threadIdx.x; i < columns; i += blockDim.x) one(row[i], i);
}

extern "C" {

__global__ void tfrt_sum_rows_f32(const float* source, float* target, unsigned int columns) {
  float sum = 0;
  for_each_four(
      source + (size_t)blockIdx.x * columns, columns,
      [&](float4 x, unsigned int) { sum += (x.x + x.y) + (x.z + x.w); },
      [&](float x, unsigned int) { sum += x; });
  sum = reduce(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) target[blockIdx.x] = sum;
}

__global__ void tfrt_softmax_rows_f32(const float* source, float* target, unsigned int columns) {
  const float* row = source + (size_t)blockIdx.x * columns;
  float* result = target + (size_t)blockIdx.x * columns;
  if (columns % 4 == 0 && columns <= KEPT * 4 * blockDim.x && is_aligned(row) &&
      is_aligned(result)) {
    softmax_kept<float, 4>(
        row, result, columns, [](float x) { return x; }, [](float x) { return expf(x); });
  } else {
    softmax_long(
        row, result, columns, [](float x) { return x; }, [](float x) { return expf(x); });
  }
}

}  // extern "C"
