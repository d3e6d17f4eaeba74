// SPDX-License-Identifier: Apache-2.0
//
// What a kernel that goes on after it has returned must keep: where it runs, for whom, and where
// it stands in its program. Embedded in the object that the rest of the work is about.
//
//   kernel:  hold_initialize(frame) -> result handed out, unresolved -> task queued -> returns
//   task:    result resolved, or failed at |hold.site| -> hold_deinitialize()
//
// Such a kernel has a result, a chain if there is nothing else, that is resolved when the work is
// over: that is how everybody else learns of it.
//
// Life: initialised by the kernel, deinitialised, when the result is resolved and nothing of the
// program is needed any more, by the task; its storage is the owner's.
//
// Thread rule: thread-compatible. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_HOLD_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_HOLD_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/executor/execution_context.h"
#include "host_runtime/executor/kernel_frame.h"

TFRT_API_BEGIN

typedef struct tfrt_kernel_hold_s {
  tfrt_execution_context_t context;  // its request at +1
  struct tfrt_program_s* program;    // +1: keeps |site|, attributes and functions
  const tfrt_kernel_site_t* site;
} tfrt_kernel_hold_t;

// Makes |hold| keep what the kernel of |frame| runs with. Frame's thread only.
void tfrt_kernel_hold_initialize(tfrt_kernel_hold_t* hold, const tfrt_kernel_frame_t* frame);

// Lets go of it. Thread-compatible.
void tfrt_kernel_hold_deinitialize(tfrt_kernel_hold_t* hold);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_HOLD_H_
