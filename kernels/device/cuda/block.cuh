// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a block do together.

#define BLOCK 256

// What a block's threads have together, by |combine|; all of them get it. The block has BLOCK
// threads at most, a power of two.
template <typename F>
__device__ float reduce(float value, F combine) {
  __shared__ float parts[BLOCK];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (unsigned int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + step]);
    }
    __syncthreads();
  }
  float result = parts[0];
  __syncthreads();
  return result;
}
