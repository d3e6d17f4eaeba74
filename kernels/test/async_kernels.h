// SPDX-License-Identifier: Apache-2.0
//
// The test kernels whose results come later: from the work queue, after a delay, from a
// region that runs in the queue. Private to this room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_ASYNC_KERNELS_H_
#define TFRT_KERNELS_TEST_ASYNC_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Kernels as ops.c describes them. Thread-safe.
void tfrt_test_async_add_i32(tfrt_kernel_frame_t* frame);
void tfrt_test_async_constant_i1(tfrt_kernel_frame_t* frame);
void tfrt_test_async_constant_i32(tfrt_kernel_frame_t* frame);
void tfrt_test_async_copy_i32(tfrt_kernel_frame_t* frame);
void tfrt_test_async_copy_with_delay_i32(tfrt_kernel_frame_t* frame);
void tfrt_test_async_copy_with_delay_i64(tfrt_kernel_frame_t* frame);
void tfrt_test_copy_with_delay(tfrt_kernel_frame_t* frame);
void tfrt_test_report_error_async(tfrt_kernel_frame_t* frame);
void tfrt_test_report_error_concrete_async(tfrt_kernel_frame_t* frame);
void tfrt_test_report_error_indirect_async(tfrt_kernel_frame_t* frame);
void tfrt_test_usleep(tfrt_kernel_frame_t* frame);
void tfrt_test_blocking_usleep(tfrt_kernel_frame_t* frame);
void tfrt_test_do_async(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_ASYNC_KERNELS_H_
