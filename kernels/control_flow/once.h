// SPDX-License-Identifier: Apache-2.0
//
// A function that is called once per request: its first caller's results are everybody's.
// Private to this room.
//
// Thread rule: frame's thread. Failure rule: an error of the first call is the error of all.
#ifndef TFRT_KERNELS_CONTROL_FLOW_ONCE_H_
#define TFRT_KERNELS_CONTROL_FLOW_ONCE_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Runs a tfrt.once. Frame's thread only.
void tfrt_once_run_function(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_CONTROL_FLOW_ONCE_H_
