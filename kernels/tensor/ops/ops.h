// SPDX-License-Identifier: Apache-2.0
//
// The op tables of the tensor kernels. Data only, so that the compiler can read it without
// linking a kernel.
//
//   ts.*            shapes, as TFRT has them
//   tfrt_dht.*      dense tensors that are filled and read under chains, as TFRT has them
//   btf.*           tensors from files, as TFRT has them
//   coo.*           sparse tensors, as TFRT has them
//   tfrt_sht.*      tensors of strings, as TFRT has them
//   tfrt_test.*     the maths of TFRT's networks, into tensors that are there already
//   *_sync.*        shapes and tensors in functions that are `tfrt.sync`, as TFRT has them
//   corert.*        handles of tensors, and handlers by name, as TFRT's core runtime has them
//   tfrt_tensor.*   ours: pure functions that make new tensors, no chains needed
//   tfrt.print_text text with values in it
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_TENSOR_OPS_OPS_H_
#define TFRT_KERNELS_TENSOR_OPS_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_dense_host_tensor_ops;  // tfrt_dht.*
extern const tfrt_kernel_table_t tfrt_sync_tensor_ops;        // *_sync.*
extern const tfrt_kernel_table_t tfrt_test_tensor_ops;        // tfrt_test.*, eigen.*
extern const tfrt_kernel_table_t tfrt_core_runtime_ops;       // corert.*
extern const tfrt_kernel_table_t tfrt_tensor_ops;             // the others

#endif  // TFRT_KERNELS_TENSOR_OPS_OPS_H_
