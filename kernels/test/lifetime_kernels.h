// SPDX-License-Identifier: Apache-2.0
//
// The test kernels that show when values live and die: each payload of theirs prints a line
// when it is made and when it is destroyed, to where the request's lines go. Private to this
// room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_LIFETIME_KERNELS_H_
#define TFRT_KERNELS_TEST_LIFETIME_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the types of these kernels. Thread-safe.
tfrt_status_t tfrt_test_lifetime_types_register(void) TFRT_MUST_USE;

// Kernels as ops.c describes them. Thread-safe.
void tfrt_test_vt_constant(tfrt_kernel_frame_t* frame);
void tfrt_test_vt_add(tfrt_kernel_frame_t* frame);
void tfrt_test_vt_print(tfrt_kernel_frame_t* frame);
void tfrt_test_share_to_two(tfrt_kernel_frame_t* frame);
void tfrt_test_get_uniqueness(tfrt_kernel_frame_t* frame);
void tfrt_test_allocate_resource(tfrt_kernel_frame_t* frame);
void tfrt_test_deallocate_resource(tfrt_kernel_frame_t* frame);
void tfrt_test_memory_leak_one_int32(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_LIFETIME_KERNELS_H_
