// SPDX-License-Identifier: Apache-2.0
//
// Running one kernel on a frame that is filled in: what stands before and behind the C
// function itself. Private to the executor.
//
//   types of arguments --> (trace) --> kernel --> types of results --> results that are missing
//
// In builds with assertions a kernel that drops a reference that it only borrows ends the process
// with a message, and one that reads an argument as another type fails.
//
// The thread is marked as being in the kernel (running_kernel.h); the caller has noted the kernel
// before.
//
// Types are checked where the op table could not prove them when the program was loaded;
// in a program that is to check all types (kernel_registry.h), everywhere.
//
// Thread rule: frame's thread only. Failure rule: what is wrong fails the frame.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_KERNEL_RUN_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_KERNEL_RUN_H_

#include "host_runtime/async/async_value_misuse.h"
#include "host_runtime/base/trace.h"
#include "host_runtime/executor/call/running_kernel.h"
#include "host_runtime/executor/program/program_impl.h"

// Fails |frame|, and returns false, because argument |index| is not of the type that the kernel
// reads; returns true if it is the chain behind any number of operands. Frame's thread only.
TFRT_COLD bool tfrt_kernel_run_allow_argument(tfrt_kernel_frame_t* frame,
                                              const tfrt_kernel_site_t* site, uint32_t index);

// Fails |frame| and returns false if an argument is not of the type that |checks|, those of |site|,
// want. Inline: each call of a function with arguments comes here. Frame's thread only.
static inline bool tfrt_kernel_run_check_arguments(tfrt_kernel_frame_t* frame,
                                                   const tfrt_kernel_site_t* site,
                                                   const tfrt_type_id_t* checks) {
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    if (checks[i] == TFRT_TYPE_NONE || checks[i] == frame->arguments[i]->type_id) continue;
    if (tfrt_kernel_run_allow_argument(frame, site, i)) continue;
    return false;
  }
  return true;
}

// Replaces each result that is not of the type that the op table says by an error. A value whose
// type isn't known yet passes: its users check again. Frame's thread only.
void tfrt_kernel_run_check_results(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site);

// Runs the kernel and adds that to the request's trace. Frame's thread only.
void tfrt_kernel_run_traced(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site);

// Makes result |index|, which the kernel has left out, an error. Frame's thread only.
void tfrt_kernel_run_complete(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site,
                              uint32_t index);

// An argument that the thread's kernel read as another type than it has.
typedef struct tfrt_kernel_run_misread_s {
  const tfrt_kernel_frame_t* frame;  // NULL: there is none
  uint32_t index;
  tfrt_type_id_t type_id;  // that the kernel took it for
} tfrt_kernel_run_misread_t;

extern _Thread_local tfrt_kernel_run_misread_t tfrt_kernel_run_misread;

// Fails |frame|, whose kernel at |site| read an argument as another type than it has. Frame's
// thread only.
TFRT_COLD void tfrt_kernel_run_fail_misread(tfrt_kernel_frame_t* frame,
                                            const tfrt_kernel_site_t* site);

// Looks, in builds with assertions, at what the kernel at |site| has done to its arguments. Frame's
// thread only.
static inline void tfrt_kernel_run_check_use(tfrt_kernel_frame_t* frame,
                                             const tfrt_kernel_site_t* site) {
#ifdef NDEBUG
  (void)frame, (void)site;
#else
  tfrt_async_value_require_kept(frame->arguments, frame->argument_count, frame->results,
                                frame->result_count);
  if (TFRT_UNLIKELY(tfrt_kernel_run_misread.frame == frame)) {
    tfrt_kernel_run_fail_misread(frame, site);
  }
#endif
}

// Runs the kernel at |site| on |frame|. Frame's thread only.
static inline void tfrt_kernel_run(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site,
                                   const tfrt_trace_t* trace) {
  const tfrt_kernel_binding_t* binding = site->binding;
  const tfrt_type_id_t* checks = binding->checks;
  if (checks && !tfrt_kernel_run_check_arguments(frame, site, checks)) return;
  tfrt_running_kernel_mark(site);
  if (TFRT_LIKELY(!trace)) {
    binding->run(frame);
  } else {
    tfrt_kernel_run_traced(frame, site);
  }
  tfrt_kernel_run_check_use(frame, site);
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    if (TFRT_UNLIKELY(!frame->results[i])) tfrt_kernel_run_complete(frame, site, i);
  }
  if (TFRT_UNLIKELY(binding->result_checks)) tfrt_kernel_run_check_results(frame, site);
}

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_KERNEL_RUN_H_
