// SPDX-License-Identifier: Apache-2.0
//
// Computes the output of a call from the inputs of the members that meet in it, by plain loops.
//
// Thread rule: thread-safe; outputs are the caller's. Failure rule: none fails.
#ifndef TFRT_DEVICES_CPU_CPU_CCL_MATH_H_
#define TFRT_DEVICES_CPU_CPU_CCL_MATH_H_

#include "devices/device_ccl.h"

// Writes the output of |call|, of the member |rank|: |inputs| are the bytes of all |size| members,
// by rank, or, for a receive, those of the sender alone. Thread-safe.
void tfrt_cpu_ccl_compute(const tfrt_ccl_call_t* call, int32_t rank, int32_t size,
                          const void* const* inputs);

// The bytes of the input of |call| in a group of |size|. Thread-safe.
size_t tfrt_cpu_ccl_input_size(const tfrt_ccl_call_t* call, int32_t size);

#endif  // TFRT_DEVICES_CPU_CPU_CCL_MATH_H_
