// SPDX-License-Identifier: Apache-2.0
//
// The kernels of half_kernels.cuh for f16.
#include <cuda_fp16.h>

typedef __half element_t;
#define MMA_TYPE "f16"
#define NAME(kernel) kernel##_f16
static __device__ element_t from_bits(unsigned short bits) { return __ushort_as_half(bits); }

#include "half_kernels.cuh"
