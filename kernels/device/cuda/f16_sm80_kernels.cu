// SPDX-License-Identifier: Apache-2.0
//
// The same for GPUs of compute capability 8.0 or later, whose tensor cores are used better.
#include "f16_kernels.cu"
