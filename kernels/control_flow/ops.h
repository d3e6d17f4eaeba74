// SPDX-License-Identifier: Apache-2.0
//
// The op table of control flow: calls, branches, loops, returns. Data only, so that
// the compiler can read it without linking a kernel.
//
// Operands that go to a function are PASSED: the callee starts at once, and its own
// kernels wait for what they need.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_CONTROL_FLOW_OPS_H_
#define TFRT_KERNELS_CONTROL_FLOW_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_control_flow_ops;

#endif  // TFRT_KERNELS_CONTROL_FLOW_OPS_H_
