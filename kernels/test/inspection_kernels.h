// SPDX-License-Identifier: Apache-2.0
//
// The test kernels that look at what they are given: at their own place in the text, the
// thread, nested attributes, states of values. Private to this room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_INSPECTION_KERNELS_H_
#define TFRT_KERNELS_TEST_INSPECTION_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the types of these kernels. Thread-safe.
tfrt_status_t tfrt_test_inspection_types_register(void) TFRT_MUST_USE;

// Kernels as ops.c describes them. Thread-safe.
void tfrt_test_print_debug_info(tfrt_kernel_frame_t* frame);
void tfrt_test_unique_loc(tfrt_kernel_frame_t* frame);
void tfrt_test_get_thread_id(tfrt_kernel_frame_t* frame);
void tfrt_test_flat(tfrt_kernel_frame_t* frame);
void tfrt_test_logging(tfrt_kernel_frame_t* frame);
void tfrt_test_use_sample_shared_context(tfrt_kernel_frame_t* frame);
void tfrt_test_async_value_get(tfrt_kernel_frame_t* frame);
void tfrt_test_async_value_ref(tfrt_kernel_frame_t* frame);
void tfrt_test_create_coordinate(tfrt_kernel_frame_t* frame);
void tfrt_test_print_coordinate(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_INSPECTION_KERNELS_H_
