// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_job.h"

#include <string.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/nn/nn_places.h"
#include "kernels/nn/nn_pool.h"
#include "kernels/tensor/math/elementwise.h"

// --- Floats of 16 bits --------------------------------------------------------------

static bool is_half(const tfrt_dense_host_tensor_t* tensor) {
  return tensor && (tensor->dtype == TFRT_DTYPE_F16 || tensor->dtype == TFRT_DTYPE_BF16);
}

static void drop_results(const tfrt_nn_call_t* call) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_dense_host_tensor_deinitialize(&call->results[i]);
    memset(&call->results[i], 0, sizeof(call->results[i]));
  }
}

// Rounds the f32 results of |call| to |dtype|.
static tfrt_status_t round_results(const tfrt_nn_call_t* call, tfrt_dtype_t dtype) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_dense_host_tensor_t rounded = {0};
    if (call->results[i].dtype != TFRT_DTYPE_F32) continue;
    TFRT_RETURN_IF_ERROR(tfrt_tensor_cast(&call->results[i], dtype, call->allocator, &rounded));
    tfrt_dense_host_tensor_deinitialize(&call->results[i]);
    call->results[i] = rounded;
  }
  return NULL;
}

// The operands of a call as f32: tensors, and pointers to them.
typedef struct widened_s {
  tfrt_dense_host_tensor_t* tensors;
  const tfrt_dense_host_tensor_t** inputs;
  tfrt_dtype_t dtype;  // of the first that was widened
} widened_t;

static tfrt_status_t widen(const tfrt_nn_call_t* call, widened_t* widened) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    widened->inputs[i] = call->inputs[i];
    if (!is_half(call->inputs[i])) continue;
    if (widened->dtype == TFRT_DTYPE_INVALID) widened->dtype = call->inputs[i]->dtype;
    TFRT_RETURN_IF_ERROR(
        tfrt_tensor_cast(call->inputs[i], TFRT_DTYPE_F32, call->allocator, &widened->tensors[i]));
    widened->inputs[i] = &widened->tensors[i];
  }
  return NULL;
}

static tfrt_status_t run_widened(const tfrt_nn_op_t* op, const tfrt_nn_call_t* call) {
  size_t size = call->input_count *
                (sizeof(tfrt_dense_host_tensor_t) + sizeof(const tfrt_dense_host_tensor_t*));
  widened_t widened = {.dtype = TFRT_DTYPE_INVALID};
  widened.tensors = tfrt_allocator_allocate_zeroed(call->allocator, size);
  if (!widened.tensors) return tfrt_status_out_of_memory();
  widened.inputs = (const tfrt_dense_host_tensor_t**)(void*)(widened.tensors + call->input_count);
  tfrt_status_t status = widen(call, &widened);
  tfrt_nn_call_t wide_call = *call;
  wide_call.inputs = widened.inputs;
  wide_call.unique_inputs = 0;
  if (!status) status = op->run(&wide_call);
  if (!status) status = round_results(call, widened.dtype);
  for (uint32_t i = 0; i < call->input_count; ++i) {
    tfrt_dense_host_tensor_deinitialize(&widened.tensors[i]);
  }
  tfrt_allocator_free(call->allocator, widened.tensors, size);
  return status;
}

tfrt_status_t tfrt_nn_job_run(const tfrt_nn_op_t* op, const tfrt_nn_call_t* call) {
  bool has_half = false;
  for (uint32_t i = 0; i < call->input_count; ++i) has_half |= is_half(call->inputs[i]);
  tfrt_status_t status = op->run(call);
  if (status && has_half && tfrt_status_code(status) == TFRT_STATUS_UNIMPLEMENTED) {
    tfrt_status_release(status);
    drop_results(call);
    status = run_widened(op, call);
  }
  if (status) drop_results(call);
  return status;
}

// --- Operands -----------------------------------------------------------------------

// A call on its way: here, or through the work queue.
typedef struct job_s {
  tfrt_task_t task;
  tfrt_nn_op_t op;
  tfrt_nn_call_t call;
  tfrt_request_context_t* request;  // +1 of a queued one
  const tfrt_kernel_site_t* site;   // +1
  tfrt_async_value_t** operands;    // +1 each
  tfrt_async_value_t** results;     // +1 each
  uint32_t operand_count;
  size_t size;
  tfrt_dense_host_tensor_t tensors[];  // the results; behind them are the arrays
} job_t;

// Bit i of the attribute `present`: whether operand i of ONNX is among the operands. All are for an
// op without it.
static int64_t present_mask(const tfrt_kernel_frame_t* frame, const tfrt_nn_op_t* op) {
  for (uint32_t i = 0; i < op->descriptor->attribute_count; ++i) {
    if (strcmp(op->descriptor->attributes[i].name, "present") != 0) continue;
    int64_t mask;
    memcpy(&mask, frame->attributes[i], sizeof(mask));
    return mask;
  }
  return -1;
}

static uint32_t count_inputs(const tfrt_kernel_frame_t* frame, int64_t mask) {
  if (mask == -1) return frame->argument_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < TFRT_NN_MAX_POSITIONS; ++i) {
    if ((uint64_t)mask >> i & 1) count = i + 1;
  }
  return count;
}

static tfrt_status_t check_arguments(const tfrt_kernel_frame_t* frame, const tfrt_nn_op_t* op,
                                     int64_t mask) {
  uint32_t wanted = (uint32_t)__builtin_popcountll((uint64_t)mask & 0xffff);
  if (mask != -1 && wanted != frame->argument_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: 'present' names %u operands, but there are %u",
                              op->descriptor->name, wanted, frame->argument_count);
  }
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(frame->arguments[i]);
    if (tensor->layout == TFRT_TENSOR_LAYOUT_DENSE) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: operand %u must be a dense tensor, not a %s",
                              op->descriptor->name, i, tfrt_tensor_layout_name(tensor->layout));
  }
  return NULL;
}

// Sets |inputs|, of |count|, to the tensors that are the |arguments|.
static void place_inputs(tfrt_async_value_t* const* arguments, int64_t mask, uint32_t count,
                         const tfrt_dense_host_tensor_t** inputs) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bool is_there = mask == -1 || ((uint64_t)mask >> i & 1);
    inputs[i] = NULL;
    if (!is_there) continue;
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(arguments[next++]);
    inputs[i] = &tensor->dense;
  }
}

// Notes the inputs that this kernel alone has: their memory may be that of the results.
static void note_unique(const tfrt_kernel_frame_t* frame, tfrt_nn_call_t* call) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < call->input_count && i < TFRT_NN_MAX_POSITIONS; ++i) {
    if (!call->inputs[i]) continue;
    if (tfrt_kernel_frame_is_unique(frame, next)) call->unique_inputs |= 1u << i;
    ++next;
  }
}

static job_t* create_job(const tfrt_kernel_frame_t* frame, const tfrt_nn_op_t* op, int64_t mask) {
  uint32_t input_count = count_inputs(frame, mask);
  size_t size = sizeof(job_t) + frame->result_count * sizeof(tfrt_dense_host_tensor_t) +
                (input_count + frame->argument_count + frame->result_count) * sizeof(void*);
  tfrt_allocator_t allocator = tfrt_nn_pool_allocator(frame->context->host);
  job_t* job = tfrt_allocator_allocate_zeroed(allocator, size);
  if (!job) return NULL;
  const tfrt_dense_host_tensor_t** inputs =
      (const tfrt_dense_host_tensor_t**)(void*)(job->tensors + frame->result_count);
  job->op = *op;
  job->size = size;
  job->operands = (tfrt_async_value_t**)(void*)(inputs + input_count);
  job->results = job->operands + frame->argument_count;
  job->call = (tfrt_nn_call_t){.op = op->descriptor,
                               .attributes = frame->attributes,
                               .inputs = inputs,
                               .input_count = input_count,
                               .result_count = frame->result_count,
                               .results = job->tensors,
                               .place = tfrt_nn_places_find(frame->site),
                               .allocator = allocator};
  place_inputs(frame->arguments, mask, input_count, inputs);
  note_unique(frame, &job->call);
  return job;
}

// --- Here -----------------------------------------------------------------------------

static void run_here(tfrt_kernel_frame_t* frame, job_t* job) {
  tfrt_status_t status = tfrt_nn_job_run(&job->op, &job->call);
  for (uint32_t i = 0; i < frame->result_count && !status; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_create_tensor_take(&job->tensors[i]));
  }
  if (status) tfrt_kernel_frame_fail_take(frame, status);
  tfrt_allocator_free(job->call.allocator, job, job->size);
}

// --- Through the queue ----------------------------------------------------------------

// Resolves the results of |job| by |status| (consumed) or |cancelled|, and gives them back.
static void resolve(job_t* job, tfrt_status_t status, tfrt_async_value_t* cancelled) {
  for (uint32_t i = 0; i < job->call.result_count; ++i) {
    tfrt_async_value_t* result = job->results[i];
    if (cancelled) {
      tfrt_async_value_set_error(result, tfrt_async_value_error(cancelled));
    } else if (status) {
      tfrt_kernel_site_fail_take(job->site, result, tfrt_status_retain(status));
    } else {
      tfrt_async_value_set_available(result);
    }
    tfrt_async_value_release(result);
  }
  tfrt_status_release(status);
}

static void run_job(tfrt_task_t* task) {
  job_t* job = TFRT_CONTAINER_OF(task, job_t, task);
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(job->request);
  tfrt_status_t status = cancelled ? NULL : tfrt_nn_job_run(&job->op, &job->call);
  for (uint32_t i = 0; i < job->call.result_count && !cancelled && !status; ++i) {
    tfrt_host_tensor_t* tensor = tfrt_async_value_payload(job->results[i]);
    tensor->layout = TFRT_TENSOR_LAYOUT_DENSE;
    tensor->dense = job->tensors[i];
  }
  for (uint32_t i = 0; i < job->operand_count; ++i) tfrt_async_value_release(job->operands[i]);
  resolve(job, status, cancelled);
  tfrt_request_context_release(job->request);
  tfrt_kernel_site_release(job->site);
  tfrt_allocator_free(job->call.allocator, job, job->size);
}

// Makes the results of |frame| unavailable; false when memory is out.
static bool create_results(tfrt_kernel_frame_t* frame, job_t* job) {
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    job->results[i] = tfrt_async_value_create_unconstructed(tfrt_host_tensor_type_id());
    if (job->results[i]) continue;
    while (i-- > 0) {
      tfrt_async_value_set_error(job->results[i],
                                 tfrt_async_value_error(tfrt_async_value_out_of_memory()));
      tfrt_async_value_release(job->results[i]);
    }
    return false;
  }
  return true;
}

static void enqueue(tfrt_kernel_frame_t* frame, job_t* job) {
  if (!create_results(frame, job)) {
    tfrt_allocator_free(job->call.allocator, job, job->size);
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  job->request = tfrt_request_context_retain(frame->context->request);
  job->site = tfrt_kernel_site_retain(frame->site);
  job->operand_count = frame->argument_count;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    job->operands[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(job->results[i]));
  }
  tfrt_task_initialize(&job->task, run_job);
  tfrt_work_queue_add_task(frame->context->work_queue, &job->task);
}

// Whether this is the one thread that |queue| has: a task of it would only wait for this kernel.
static bool is_only_thread_of(const tfrt_work_queue_t* queue) {
  return tfrt_work_queue_parallelism(queue) == 1 && tfrt_work_queue_is_in_worker_thread(queue);
}

static uint64_t estimate(const job_t* job) {
  uint64_t work = 0;
  for (uint32_t i = 0; i < job->call.input_count; ++i) {
    if (!job->call.inputs[i]) continue;
    work += (uint64_t)tfrt_dense_host_tensor_element_count(job->call.inputs[i]) * job->op.work;
  }
  return work;
}

void tfrt_nn_job_start(tfrt_kernel_frame_t* frame, const tfrt_nn_op_t* op) {
  int64_t mask = present_mask(frame, op);
  tfrt_status_t status = check_arguments(frame, op, mask);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  job_t* job = create_job(frame, op, mask);
  if (!job) {
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
  } else if (estimate(job) >= TFRT_NN_LONG_WORK && !is_only_thread_of(frame->context->work_queue)) {
    enqueue(frame, job);
  } else {
    run_here(frame, job);
  }
}
