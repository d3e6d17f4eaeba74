// SPDX-License-Identifier: Apache-2.0
//
// A kernel's work whose result comes later. It runs in the blocking queue, because a driver call
// may be slow (opening the driver, compiling code, pinning memory); or once a device has reached a
// point.
//
//   kernel --result: a promise--> executor
//      \--> blocking queue, or a value that is awaited --> keep: a value or an error
//
// Life:
//  1. Started by a kernel, whose result 0 becomes the promise. The arguments are kept alive.
//  2. |keep| runs once, and returns the result.
//
// Thread rule: a job belongs to the thread that runs it.
// Failure rule: an error of |keep| has the kernel's place as its origin.
#ifndef TFRT_KERNELS_DEVICE_DEVICE_JOB_H_
#define TFRT_KERNELS_DEVICE_DEVICE_JOB_H_

#include "kernels/device/device_types.h"

// The most arguments that a kernel with a job has.
#define TFRT_GPU_JOB_MAX_ARGUMENTS 4

typedef struct tfrt_gpu_job_s tfrt_gpu_job_t;

// Sets |*out_value| (+1) to the result, or returns an error.
typedef tfrt_status_t (*tfrt_gpu_keep_fn_t)(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value);

struct tfrt_gpu_job_s {
  tfrt_task_t task;
  tfrt_gpu_keep_fn_t keep;
  tfrt_request_context_t* request;  // +1
  tfrt_host_context_t* host;
  const char* device;              // that the call is placed on; lives as long as both; NULL: none
  struct tfrt_program_s* program;  // +1, keeps |site| and the attributes alive
  const tfrt_kernel_site_t* site;
  tfrt_indirect_value_t* promise;                             // +1
  tfrt_async_value_t* arguments[TFRT_GPU_JOB_MAX_ARGUMENTS];  // +1 each
  uint32_t argument_count;
  const void* const* attributes;  // of the kernel
  tfrt_async_value_t* awaited;    // +1; NULL: nothing
  tfrt_device_buffer_t* staging;  // +1; NULL: none
};

// The payload of argument |index|. Job's thread only.
static inline void* tfrt_gpu_job_payload(const tfrt_gpu_job_t* job, uint32_t index) {
  return tfrt_async_value_payload(job->arguments[index]);
}

// Runs |keep| in the blocking queue, for the kernel of |frame|. Frame's thread only.
void tfrt_gpu_job_start(tfrt_kernel_frame_t* frame, tfrt_gpu_keep_fn_t keep);

// Runs |keep| when |awaited| (consumed) is there; if that is an error, the result is it.
// |staging| (consumed) goes with the job. Frame's thread only.
void tfrt_gpu_job_start_after_take(tfrt_kernel_frame_t* frame, tfrt_async_value_t* awaited,
                                   tfrt_device_buffer_t* staging, tfrt_gpu_keep_fn_t keep);

#endif  // TFRT_KERNELS_DEVICE_DEVICE_JOB_H_
