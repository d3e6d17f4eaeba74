// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this room, in the groups of their sources, as lines of the registration
// table, with the op table that describes them. Only for tensor_kernels.c, which puts them
// together, and the tests.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_TENSOR_KERNEL_GROUPS_H_
#define TFRT_KERNELS_TENSOR_KERNEL_GROUPS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

typedef struct tfrt_kernel_group_s {
  const tfrt_kernel_table_t* ops;
  const tfrt_kernel_registration_t* registrations;
  size_t count;
} tfrt_kernel_group_t;

extern const tfrt_kernel_group_t tfrt_shape_kernels;              // ts.*
extern const tfrt_kernel_group_t tfrt_dense_host_tensor_kernels;  // tfrt_dht.*
extern const tfrt_kernel_group_t tfrt_coo_host_tensor_kernels;    // coo.*, tfrt_sht.*
extern const tfrt_kernel_group_t tfrt_tensor_file_kernels;        // btf.*, read_btf
extern const tfrt_kernel_group_t tfrt_example_kernels;            // records of training data
extern const tfrt_kernel_group_t tfrt_test_tensor_kernels;        // tfrt_test.*, eigen.*
extern const tfrt_kernel_group_t tfrt_tensor_math_kernels;        // what computes
extern const tfrt_kernel_group_t tfrt_tensor_view_kernels;        // what looks and cuts
extern const tfrt_kernel_group_t tfrt_tensor_type_kernels;        // types of tensors
extern const tfrt_kernel_group_t tfrt_print_text_kernels;         // tfrt.print_text
extern const tfrt_kernel_group_t tfrt_core_runtime_kernels;       // corert.*

// Registers the types of the dialect `corert`; again is harmless. Thread-safe.
tfrt_status_t tfrt_core_runtime_types_register(void) TFRT_MUST_USE;

// Registers the type "!proto.example"; again is harmless. Thread-safe.
tfrt_status_t tfrt_example_type_register(void) TFRT_MUST_USE;

// Makes result 0 of |frame| the type of tensors that its attribute 0 names. Frame's thread only.
void tfrt_kernel_get_static_tensor_type(tfrt_kernel_frame_t* frame);

// Makes result 0 of |frame| the constant tensor that its attribute 0 is: a kernel with two
// names. Frame's thread only.
void tfrt_kernel_make_constant(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TENSOR_KERNEL_GROUPS_H_
