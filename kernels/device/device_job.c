// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/device_job.h"

#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/request_context.h"

static void gpu_job_free(tfrt_gpu_job_t* job) {
  tfrt_request_context_t* request = job->request;
  tfrt_program_t* program = job->program;
  for (uint32_t i = 0; i < job->argument_count; ++i) {
    tfrt_async_value_release(job->arguments[i]);
  }
  tfrt_async_value_release(job->awaited);
  tfrt_device_buffer_release(job->staging);
  tfrt_async_value_release(&job->promise->base);
  tfrt_allocator_free(tfrt_allocator_system(), job, sizeof(*job));
  tfrt_request_context_release(request);
  tfrt_program_release(program);
}

static void gpu_job_run(tfrt_task_t* task) {
  tfrt_gpu_job_t* job = TFRT_CONTAINER_OF(task, tfrt_gpu_job_t, task);
  tfrt_status_t status = NULL;
  tfrt_async_value_t* value = NULL;
  if (job->awaited && tfrt_async_value_is_error(job->awaited)) {
    status = tfrt_status_retain(tfrt_async_value_error(job->awaited));
  } else {
    status = job->keep(job, &value);
  }
  if (status) {
    tfrt_kernel_site_fail_take(job->site, &job->promise->base, status);
  } else {
    tfrt_indirect_value_forward_take(job->promise, value);
  }
  gpu_job_free(job);
}

// A new job for |frame|, whose result 0 is its promise; NULL, with the frame failed, when
// memory is out.
static tfrt_gpu_job_t* gpu_job_allocate(tfrt_kernel_frame_t* frame, tfrt_gpu_keep_fn_t keep) {
  tfrt_gpu_job_t* job = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*job));
  tfrt_indirect_value_t* promise = tfrt_indirect_value_create();
  if (!job || !promise) {
    tfrt_allocator_free(tfrt_allocator_system(), job, sizeof(*job));
    if (promise) {
      tfrt_async_value_set_error(&promise->base, tfrt_status_out_of_memory());
      tfrt_async_value_release(&promise->base);
    }
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return NULL;
  }
  tfrt_task_initialize(&job->task, gpu_job_run);
  job->keep = keep;
  job->request = tfrt_request_context_retain(frame->context->request);
  job->host = frame->context->host;
  job->device = frame->context->device;
  job->program = tfrt_program_retain(tfrt_kernel_site_program(frame->site));
  job->site = frame->site;
  job->promise = promise;
  job->argument_count = frame->argument_count;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    job->arguments[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  job->attributes = frame->attributes;
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&promise->base));
  return job;
}

void tfrt_gpu_job_start(tfrt_kernel_frame_t* frame, tfrt_gpu_keep_fn_t keep) {
  tfrt_gpu_job_t* job = gpu_job_allocate(frame, keep);
  if (!job) return;
  if (tfrt_work_queue_add_blocking_task(frame->context->work_queue, &job->task, true)) return;
  tfrt_kernel_site_fail_take(
      job->site, &job->promise->base,
      tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no thread for a call that may block"));
  gpu_job_free(job);
}

void tfrt_gpu_job_start_after_take(tfrt_kernel_frame_t* frame, tfrt_async_value_t* awaited,
                                   tfrt_device_buffer_t* staging, tfrt_gpu_keep_fn_t keep) {
  tfrt_gpu_job_t* job = gpu_job_allocate(frame, keep);
  if (!job) {
    tfrt_async_value_release(awaited);
    tfrt_device_buffer_release(staging);
    return;
  }
  job->awaited = awaited;
  job->staging = staging;
  tfrt_async_value_and_then(awaited, &job->task);
}
