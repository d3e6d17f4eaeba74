// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the conformance suite. tests/devices/test_kernels.ptx is made of this by
// kernels/device/cuda/compile.sh.

extern "C" {

__device__ unsigned int test_total[4];

__global__ void test_add(const float* a, const float* b, float* target, unsigned int count) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) target[i] = a[i] + b[i];
}

__global__ void test_increment(unsigned int* target, unsigned int count) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) target[i] += 1;
}

// Writes where nothing is, which the device can't survive.
__global__ void test_fault(void) { *(volatile unsigned int*)8 = 1; }

}  // extern "C"
