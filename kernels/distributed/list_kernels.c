// SPDX-License-Identifier: Apache-2.0
//
// Kernels of lists: their elements, and results computed from all of them once they are here.

#include "host_runtime/async/join.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/distributed/distributed_types.h"
#include "kernels/distributed/kernel_groups.h"
#include "kernels/distributed/list_math.h"

static const tfrt_value_list_t* list_of(const tfrt_kernel_frame_t* frame) {
  return tfrt_kernel_frame_payload(frame, 0);
}

void tfrt_distributed_list_size(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)list_of(frame)->count);
}

void tfrt_distributed_list_get(tfrt_kernel_frame_t* frame) {
  const tfrt_value_list_t* list = list_of(frame);
  int32_t index = tfrt_kernel_frame_i32(frame, 1);
  if (index < 0 || (uint32_t)index >= list->count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE,
                           "the list has %u element%s, and none with the index %d", list->count,
                           tfrt_plural(list->count), index);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(list->elements[index]));
}

// --- Waiting for all elements ------------------------------------------------------
//
//   kernel --> join of the elements --last one--> task of the work queue --> result
//
// The last element may come on a thread of the network, which has no time for sums.

typedef struct fold_s {
  tfrt_task_t task;
  tfrt_list_math_fn_t run;
  tfrt_allocator_t allocator;
  tfrt_work_queue_t* work_queue;
  tfrt_request_context_t* request;  // +1
  tfrt_program_t* program;          // +1; keeps |site| alive
  const tfrt_kernel_site_t* site;
  tfrt_async_value_t* list;       // +1
  tfrt_indirect_value_t* result;  // +1
} fold_t;

static void free_fold(fold_t* fold) {
  tfrt_request_context_t* request = fold->request;
  tfrt_program_t* program = fold->program;
  tfrt_async_value_release(fold->list);
  tfrt_async_value_release(&fold->result->base);
  tfrt_allocator_free(fold->allocator, fold, sizeof(*fold));
  tfrt_request_context_release(request);
  tfrt_program_release(program);
}

// Sets |*out_value| (+1) to the result computed from the elements, which are all resolved.
static tfrt_status_t compute(const fold_t* fold, tfrt_async_value_t** out_value) {
  *out_value = NULL;
  const tfrt_value_list_t* list = tfrt_async_value_payload(fold->list);
  for (uint32_t i = 0; i < list->count; ++i) {
    if (!tfrt_async_value_is_error(list->elements[i])) continue;
    *out_value = tfrt_async_value_retain(list->elements[i]);
    return NULL;
  }
  size_t size = list->count * sizeof(tfrt_async_value_t*);
  tfrt_async_value_t** elements = tfrt_allocator_allocate(fold->allocator, size);
  if (!elements) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < list->count; ++i) {
    elements[i] = tfrt_async_value_resolved(list->elements[i]);
  }
  tfrt_status_t status = fold->run(elements, list->count, fold->allocator, out_value);
  tfrt_allocator_free(fold->allocator, elements, size);
  return status;
}

static void run_fold(tfrt_task_t* task) {
  fold_t* fold = TFRT_CONTAINER_OF(task, fold_t, task);
  tfrt_async_value_t* value = NULL;
  tfrt_status_t status = compute(fold, &value);
  if (status) {
    tfrt_kernel_site_fail_take(fold->site, &fold->result->base, status);
  } else {
    tfrt_indirect_value_forward_take(fold->result, value);
  }
  free_fold(fold);
}

static void queue_fold(tfrt_task_t* task) {
  fold_t* fold = TFRT_CONTAINER_OF(task, fold_t, task);
  tfrt_work_queue_t* queue = fold->work_queue;
  tfrt_task_initialize(&fold->task, run_fold);
  tfrt_work_queue_add_task(queue, &fold->task);
}

// Makes result 0 of |frame| the value that |run| makes of the list, operand 0.
static void start_fold(tfrt_kernel_frame_t* frame, tfrt_list_math_fn_t run) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  fold_t* fold = result ? tfrt_allocator_allocate_zeroed(allocator, sizeof(*fold)) : NULL;
  if (!fold) {
    if (result) tfrt_async_value_release(&result->base);
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  *fold = (fold_t){.run = run,
                   .allocator = allocator,
                   .work_queue = frame->context->work_queue,
                   .request = tfrt_request_context_retain(frame->context->request),
                   .program = tfrt_program_retain(tfrt_kernel_site_program(frame->site)),
                   .site = frame->site,
                   .list = tfrt_async_value_retain(frame->arguments[0]),
                   .result = result};
  tfrt_task_initialize(&fold->task, queue_fold);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&result->base));
  const tfrt_value_list_t* list = list_of(frame);
  tfrt_status_t status = tfrt_join_and_then(list->elements, list->count, &fold->task, allocator);
  if (!status) return;
  tfrt_kernel_site_fail_take(frame->site, &result->base, status);
  free_fold(fold);
}

void tfrt_distributed_list_sum(tfrt_kernel_frame_t* frame) { start_fold(frame, tfrt_list_sum); }

void tfrt_distributed_list_concat(tfrt_kernel_frame_t* frame) {
  start_fold(frame, tfrt_list_concat);
}
