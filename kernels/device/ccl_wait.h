// SPDX-License-Identifier: Apache-2.0
//
// The end of waiting for other members of a group of devices: what is waited for comes, or the
// request is cancelled, and with it this member's part in the group. Without that a member that
// never comes would be waited for for ever.
//
// Life: ends itself when what is awaited is there, which an abort sees to.
//
// Thread rule: starting is the kernel's; the rest happens wherever it happens.
// Failure rule: memory that is out ends the member's part at once.
#ifndef TFRT_KERNELS_DEVICE_CCL_WAIT_H_
#define TFRT_KERNELS_DEVICE_CCL_WAIT_H_

#include "devices/device_ccl.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/request_context.h"

// Aborts |ccl| when |request| is cancelled before |awaited| is resolved. |value| (consumed), unless
// NULL, has a payload, and becomes available then, or an error of the kernel at |site| of
// |program|. All others are retained. Thread-safe.
void tfrt_ccl_wait_start(tfrt_device_ccl_t* ccl, tfrt_async_value_t* awaited,
                         tfrt_request_context_t* request, tfrt_program_t* program,
                         const tfrt_kernel_site_t* site, tfrt_async_value_t* value);

#endif  // TFRT_KERNELS_DEVICE_CCL_WAIT_H_
