// SPDX-License-Identifier: Apache-2.0
//
// The ops of MLIR's dialect `gpu` that give work to a device, read as such. Tokens stand first
// among their operands and last among their results:
//
//   %m, %t = gpu.alloc async [%a, %b] (%n) : memref<?xf32>
//                             tokens  rest
//
// Thread rule: thread-safe. Failure rule: false where an op is none, or not well formed.
#ifndef TFRT_COMPILER_IR_DEVICE_OPERATION_H_
#define TFRT_COMPILER_IR_DEVICE_OPERATION_H_

#include "compiler/ir/operation.h"

// The type of tokens.
#define TFRT_IR_DEVICE_TOKEN "!gpu.async.token"

typedef enum tfrt_ir_device_kind_e {
  TFRT_IR_DEVICE_WAIT = 0,  // gpu.wait: no rest
  TFRT_IR_DEVICE_ALLOC,     // gpu.alloc: the unknown sizes
  TFRT_IR_DEVICE_DEALLOC,   // gpu.dealloc: memory
  TFRT_IR_DEVICE_COPY,      // gpu.memcpy: target, source
  TFRT_IR_DEVICE_SET,       // gpu.memset: memory, value
  TFRT_IR_DEVICE_LAUNCH,    // gpu.launch_func: grid, block, cluster, shared size, arguments
} tfrt_ir_device_kind_t;

typedef struct tfrt_ir_device_operation_s {
  tfrt_ir_device_kind_t kind;
  uint32_t token_count;  // the first operands; the others follow
  uint32_t rest_count;
  bool gives_token;  // its last result
  // The first three operands of a launch's rest are the grid's size, the next three the block's.
  bool has_clusters;        // the next three are the cluster's
  bool has_shared_size;     // the next one is the number of bytes that a block shares
  uint32_t argument_count;  // the last operands
} tfrt_ir_device_operation_t;

// Reads |operation|. Thread-safe.
bool tfrt_ir_device_operation_read(const tfrt_ir_operation_t* operation,
                                   tfrt_ir_device_operation_t* out_parts);

// Returns true if |operation| is an op of the dialect `gpu` that gives work to a device, well
// formed or not. Thread-safe.
bool tfrt_ir_is_device_operation(const tfrt_ir_operation_t* operation);

#endif  // TFRT_COMPILER_IR_DEVICE_OPERATION_H_
