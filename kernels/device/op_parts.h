// SPDX-License-Identifier: Apache-2.0
//
// Types and operands that the op tables of vendors' libraries (blas_ops.c, dnn_ops.c, ccl_ops.c)
// share. Only for those tables.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_DEVICE_OP_PARTS_H_
#define TFRT_KERNELS_DEVICE_OP_PARTS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

#define CHAIN "!tfrt.chain"
#define CONTEXT "!tfrt_gpu.context"
#define STREAM "!tfrt_gpu.stream"
#define BUFFER "!tfrt_gpu.buffer"

// Operands: what is read, a buffer that is written, and the chain behind which the op comes.
#define READ(name, type) \
  { name, type, TFRT_OPERAND_DEMANDED }
#define WRITTEN(name) \
  { name, BUFFER, TFRT_OPERAND_MUTATED }
#define AFTER \
  { "chain", CHAIN, TFRT_OPERAND_AWAITED }

// An attribute that is one of the library's own names.
#define NAME(name) \
  { name, TFRT_ATTRIBUTE_STRING, NULL }

#endif  // TFRT_KERNELS_DEVICE_OP_PARTS_H_
