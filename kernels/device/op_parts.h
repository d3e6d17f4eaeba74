// SPDX-License-Identifier: Apache-2.0
//
// Types and operands that the op tables of vendors' libraries (blas_ops.c, dnn_ops.c, ccl_ops.c)
// share. Only for those tables.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_DEVICE_OP_PARTS_H_
#define TFRT_KERNELS_DEVICE_OP_PARTS_H_

#include "host_runtime/executor/descriptor/op_row.h"

#define CHAIN "!tfrt.chain"
#define CONTEXT "!tfrt_gpu.context"
#define STREAM "!tfrt_gpu.stream"
#define BUFFER "!tfrt_gpu.buffer"

#endif  // TFRT_KERNELS_DEVICE_OP_PARTS_H_
