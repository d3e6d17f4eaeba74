// SPDX-License-Identifier: Apache-2.0
//
// The kernels of half_kernels.cuh for bf16.
#include <cuda_bf16.h>

typedef __nv_bfloat16 element_t;
#define MMA_TYPE "bf16"
#define NAME(kernel) kernel##_bf16
static __device__ element_t from_bits(unsigned short bits) { return __ushort_as_bfloat16(bits); }

#include "half_kernels.cuh"
