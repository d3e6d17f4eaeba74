// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the conformance suite. devices/conformance/test_kernels.ptx is made of this by
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

// Takes as long as it is told, by the device's clock.
__global__ void test_spin(unsigned long long nanoseconds) {
  unsigned long long start;
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

// Writes where nothing is, which the device can't survive.
__global__ void test_fault(void) { *(volatile unsigned int*)8 = 1; }

}  // extern "C"
