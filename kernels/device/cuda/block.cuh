// SPDX-License-Identifier: Apache-2.0
//
// What the kernels have in common: whose element is whose, and what the threads of a block do
// together.

#define BLOCK 256

// Whether vectors of 16 bytes may begin at |address|.
__device__ __forceinline__ bool is_aligned(const void* address) {
  return (size_t)address % 16 == 0;
}

// Calls |work| with each index below |count| that is this thread's.
template <typename F>
__device__ __forceinline__ void for_each(unsigned int count, F work) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (size_t)blockDim.x) {
    work(i);
  }
}

// The same with those behind the last whole vector of |width| elements.
template <typename F>
__device__ __forceinline__ void for_rest(unsigned int count, unsigned int width, F work) {
  size_t i = count / width * width + blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (; i < count; i += gridDim.x * (size_t)blockDim.x) work(i);
}

// Copies |count| vectors; several are on their way at once.
__device__ __forceinline__ void copy_vectors(const uint4* __restrict__ from,
                                             uint4* __restrict__ to, unsigned int count) {
  size_t step = gridDim.x * (size_t)blockDim.x;
#pragma unroll 4
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
    to[i] = from[i];
  }
}

// What the lanes of a warp that are there have together, by |combine|; the first one gets it.
template <typename T, typename F>
__device__ __forceinline__ T reduce_warp(T value, F combine) {
  unsigned int lanes = blockDim.x < 32 ? blockDim.x : 32;
  unsigned int mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  for (unsigned int step = lanes / 2; step > 0; step /= 2) {
    value = combine(value, __shfl_down_sync(mask, value, step));
  }
  return value;
}

// What a block's threads have together, by |combine|; all of them get it. The block has BLOCK
// threads at most, a power of two.
template <typename F>
__device__ __forceinline__ float reduce(float value, F combine) {
  __shared__ float parts[BLOCK / 32];
  value = reduce_warp(value, combine);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float result = parts[0];
  for (unsigned int i = 1; i < (blockDim.x + 31) / 32; ++i) result = combine(result, parts[i]);
  __syncthreads();
  return result;
}

// --- Softmax -------------------------------------------------------------------------------

// A row that a block's threads can keep, each of them KEPT vectors of WIDTH elements, is read once.
#define KEPT 4

// What 16 bytes hold.
template <typename T, int WIDTH>
union kept_t {
  uint4 whole;
  T elements[WIDTH];
};

template <typename T, int WIDTH, typename To, typename Exp>
__device__ __forceinline__ void softmax_kept(const T* row, T* result, unsigned int columns, To to,
                                             Exp exp) {
  kept_t<T, WIDTH> kept[KEPT];
  float parts[KEPT][WIDTH];
  float most = -INFINITY;
#pragma unroll
  for (unsigned int k = 0; k < KEPT; ++k) {
    unsigned int i = threadIdx.x + k * blockDim.x;
    if (i * WIDTH < columns) kept[k].whole = reinterpret_cast<const uint4*>(row)[i];
  }
#pragma unroll
  for (unsigned int k = 0; k < KEPT; ++k) {
    if ((threadIdx.x + k * blockDim.x) * WIDTH >= columns) continue;
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) {
      parts[k][e] = float(kept[k].elements[e]);
      most = fmaxf(most, parts[k][e]);
    }
  }
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
#pragma unroll
  for (unsigned int k = 0; k < KEPT; ++k) {
    if ((threadIdx.x + k * blockDim.x) * WIDTH >= columns) continue;
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) {
      parts[k][e] = exp(parts[k][e] - most);
      sum += parts[k][e];
    }
  }
  float scale = 1 / reduce(sum, [](float a, float b) { return a + b; });
#pragma unroll
  for (unsigned int k = 0; k < KEPT; ++k) {
    unsigned int i = threadIdx.x + k * blockDim.x;
    if (i * WIDTH >= columns) continue;
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) kept[k].elements[e] = to(parts[k][e] * scale);
    reinterpret_cast<uint4*>(result)[i] = kept[k].whole;
  }
}

// Any row, read three times.
template <typename T, typename To, typename Exp>
__device__ __forceinline__ void softmax_long(const T* row, T* result, unsigned int columns, To to,
                                             Exp exp) {
  float most = -INFINITY;
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) {
    most = fmaxf(most, float(row[i]));
  }
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) sum += exp(float(row[i]) - most);
  float scale = 1 / reduce(sum, [](float a, float b) { return a + b; });
  for (unsigned int i = threadIdx.x; i < columns; i += blockDim.x) {
    result[i] = to(exp(float(row[i]) - most) * scale);
  }
}

// --- Tiles ---------------------------------------------------------------------------------

// Which tile of the target this block makes: those of 8 rows of tiles come one after another,
// column by column, so that blocks that run at once share what they read. Blocks for which there
// is no tile get one beyond the end.
__device__ __forceinline__ uint2 choose_tile(unsigned int rows, unsigned int columns,
                                             unsigned int tile_rows, unsigned int tile_columns) {
  const unsigned int group_height = 8;
  size_t across = (columns + (size_t)tile_columns - 1) / tile_columns;
  size_t down = (rows + (size_t)tile_rows - 1) / tile_rows;
  size_t index = blockIdx.y * (size_t)gridDim.x + blockIdx.x;
  if (index >= across * down) return make_uint2(0xffffffffu, 0xffffffffu);
  size_t group = index / (group_height * across);
  size_t first = group * group_height;
  size_t height = down - first < group_height ? down - first : group_height;
  size_t place = index - first * across;
  return make_uint2((unsigned int)(place / height), (unsigned int)(first + place % height));
}
