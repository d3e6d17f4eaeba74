// SPDX-License-Identifier: Apache-2.0
//
// The test kernels that make strings and ask about them. Private to this room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_STRING_KERNELS_H_
#define TFRT_KERNELS_TEST_STRING_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Kernels as ops.c describes them. Thread-safe.
void tfrt_test_get_string(tfrt_kernel_frame_t* frame);
void tfrt_test_append_string(tfrt_kernel_frame_t* frame);
void tfrt_test_string_equal(tfrt_kernel_frame_t* frame);
void tfrt_test_format_string(tfrt_kernel_frame_t* frame);
void tfrt_test_read_string_from_file(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_STRING_KERNELS_H_
