// SPDX-License-Identifier: Apache-2.0
//
// Calls one of a kernel's functions with some of the kernel's arguments. The control-flow kernels
// share this; private to this room.
//
// Thread rule: frame's thread only. Failure rule: a call that doesn't fit fails the frame.
#ifndef TFRT_KERNELS_CONTROL_FLOW_FUNCTION_CALL_H_
#define TFRT_KERNELS_CONTROL_FLOW_FUNCTION_CALL_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Returns true if |function| can be called with |argument_count| arguments and gives
// |result_count| results; else fails |frame| with both signatures in the message. A BEF
// file from elsewhere may combine any function with any call, so each kernel asks.
bool tfrt_function_call_fits(tfrt_kernel_frame_t* frame, const tfrt_function_t* function,
                             uint32_t argument_count, uint32_t result_count);

// Calls |function| with the arguments of |frame| from |first_argument| on; its results
// become the frame's. A call with options goes to the request's router, if there is one.
void tfrt_function_call(tfrt_kernel_frame_t* frame, const tfrt_function_t* function,
                        uint32_t first_argument);

#endif  // TFRT_KERNELS_CONTROL_FLOW_FUNCTION_CALL_H_
