// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/kernel_parts/compute.h"

#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"

// A long computation on its way through the work queue.
typedef struct compute_job_s {
  tfrt_task_t task;
  tfrt_compute_t compute;
  tfrt_allocator_t allocator;
  tfrt_request_context_t* request;  // +1
  const tfrt_kernel_site_t* site;   // +1
  tfrt_async_value_t* result;       // +1
  tfrt_async_value_t* operands[];   // +1 each
} compute_job_t;

TFRT_COLD static void refuse_operand(tfrt_kernel_frame_t* frame, uint32_t index,
                                     const tfrt_host_tensor_t* tensor) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "operand %u must be a dense tensor, but is a %s of %s with the shape %s",
                         index, tfrt_tensor_layout_name(tensor->layout),
                         tfrt_dtype_name(tfrt_host_tensor_dtype(tensor)),
                         tfrt_shape_text(tfrt_host_tensor_shape(tensor)).text);
}

uint32_t tfrt_kernel_frame_operand_count(const tfrt_kernel_frame_t* frame) {
  const uint32_t count = frame->argument_count;
  return count && frame->arguments[count - 1]->type_id == TFRT_TYPE_CHAIN ? count - 1 : count;
}

bool tfrt_kernel_frame_has_dense_tensors(tfrt_kernel_frame_t* frame) {
  const tfrt_type_id_t tensor_type = tfrt_host_tensor_type_id();
  tfrt_async_value_t* const* arguments = frame->arguments;
  const uint32_t count = frame->argument_count;
  for (uint32_t i = 0; i < count; ++i) {
    // An argument that is only awaited may have any type, and may be an error.
    if (arguments[i]->type_id != tensor_type || tfrt_async_value_is_error(arguments[i])) continue;
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(arguments[i]);
    if (TFRT_LIKELY(tensor->layout == TFRT_TENSOR_LAYOUT_DENSE)) continue;
    refuse_operand(frame, i, tensor);
    return false;
  }
  return true;
}

tfrt_allocator_t tfrt_kernel_frame_allocator(const tfrt_kernel_frame_t* frame) {
  return frame->context->host->allocator;
}

static size_t job_size(uint32_t operand_count) {
  return sizeof(compute_job_t) + operand_count * sizeof(tfrt_async_value_t*);
}

// Gives back all but what resolve() still needs.
static void free_job(compute_job_t* job) {
  for (uint32_t i = 0; i < job->compute.operand_count; ++i) {
    tfrt_async_value_release(job->operands[i]);
  }
  tfrt_allocator_free(job->allocator, job, job_size(job->compute.operand_count));
}

static void run_job(tfrt_task_t* task) {
  compute_job_t* job = TFRT_CONTAINER_OF(task, compute_job_t, task);
  tfrt_async_value_t* result = job->result;
  tfrt_request_context_t* request = job->request;
  const tfrt_kernel_site_t* site = job->site;
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(request);
  tfrt_status_t status = NULL;
  if (!cancelled) {
    tfrt_dense_host_tensor_t* out_result = NULL;
    if (!job->compute.in_place) {
      tfrt_host_tensor_t* tensor = tfrt_async_value_payload(result);
      tensor->layout = TFRT_TENSOR_LAYOUT_DENSE;
      out_result = &tensor->dense;
    }
    status = job->compute.run(&job->compute, job->allocator, out_result);
  }
  free_job(job);
  if (cancelled) {
    tfrt_async_value_set_error(result, tfrt_async_value_error(cancelled));
  } else if (status) {
    tfrt_kernel_site_fail_take(site, result, status);
  } else {
    tfrt_async_value_set_available(result);
  }
  tfrt_async_value_release(result);
  tfrt_request_context_release(request);
  tfrt_kernel_site_release(site);
}

static void enqueue(tfrt_kernel_frame_t* frame, const tfrt_compute_t* compute) {
  tfrt_allocator_t allocator = tfrt_kernel_frame_allocator(frame);
  compute_job_t* job = tfrt_allocator_allocate(allocator, job_size(compute->operand_count));
  tfrt_async_value_t* result = tfrt_async_value_create_unconstructed(
      compute->in_place ? (tfrt_type_id_t)TFRT_TYPE_CHAIN : tfrt_host_tensor_type_id());
  if (!job || !result) {
    if (job) tfrt_allocator_free(allocator, job, job_size(compute->operand_count));
    tfrt_async_value_release(result);
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  *job = (compute_job_t){.compute = *compute,
                         .allocator = allocator,
                         .request = tfrt_request_context_retain(frame->context->request),
                         .site = tfrt_kernel_site_retain(frame->site),
                         .result = tfrt_async_value_retain(result)};
  for (uint32_t i = 0; i < compute->operand_count; ++i) {
    job->operands[i] = tfrt_async_value_retain(compute->operands[i]);
  }
  job->compute.operands = job->operands;
  tfrt_task_initialize(&job->task, run_job);
  tfrt_kernel_frame_set(frame, 0, result);
  tfrt_work_queue_add_task(frame->context->work_queue, &job->task);
}

// Whether this is the one thread that |queue| has: a task of it would only wait for this kernel.
static bool is_only_thread_of(const tfrt_work_queue_t* queue) {
  return tfrt_work_queue_parallelism(queue) == 1 && tfrt_work_queue_is_in_worker_thread(queue);
}

static void run_in_place(tfrt_kernel_frame_t* frame, const tfrt_compute_t* compute) {
  tfrt_status_t status = compute->run(compute, tfrt_kernel_frame_allocator(frame), NULL);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  }
}

// Computes into the value that becomes the result.
static void run_here(tfrt_kernel_frame_t* frame, const tfrt_compute_t* compute) {
  tfrt_async_value_t* result = tfrt_async_value_create_available(tfrt_host_tensor_type_id());
  if (!result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_host_tensor_t* tensor = tfrt_async_value_payload(result);
  tensor->layout = TFRT_TENSOR_LAYOUT_DENSE;
  tfrt_status_t status = compute->run(compute, tfrt_kernel_frame_allocator(frame), &tensor->dense);
  if (status) {
    // The tensor is empty, and is dropped as that.
    tfrt_async_value_release(result);
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, result);
  }
}

void tfrt_compute_start(tfrt_kernel_frame_t* frame, const tfrt_compute_t* compute, uint64_t work) {
  if (work >= TFRT_COMPUTE_LONG_WORK && !is_only_thread_of(frame->context->work_queue)) {
    enqueue(frame, compute);
    return;
  }
  if (compute->in_place) {
    run_in_place(frame, compute);
  } else {
    run_here(frame, compute);
  }
}
