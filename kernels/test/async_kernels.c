// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/async_kernels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"

// Something to do in a queue, with one result that the kernel has handed out already.
typedef struct tfrt_test_job_s {
  tfrt_task_t task;
  tfrt_execution_context_t context;  // its request is retained, its scope entered
  tfrt_program_t* program;           // +1; keeps |site| alive
  const tfrt_kernel_site_t* site;
  tfrt_async_value_t* result;  // +1; NULL: none
  int64_t number;              // what the job is about
  bool fails;
} tfrt_test_job_t;

static tfrt_test_job_t* test_job_allocate(tfrt_kernel_frame_t* frame, tfrt_task_fn_t run,
                                          tfrt_async_value_t* result, int64_t number) {
  tfrt_test_job_t* job = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*job));
  if (!job) {
    tfrt_async_value_release(result);
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a task");
    return NULL;
  }
  tfrt_task_initialize(&job->task, run);
  job->context = *frame->context;
  job->program = tfrt_program_retain(tfrt_kernel_site_program(frame->site));
  job->site = frame->site;
  job->result = result;
  job->number = number;
  tfrt_request_context_retain(job->context.request);
  tfrt_call_scope_enter(job->context.scope);
  if (result) tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(result));
  return job;
}

static void test_job_free(tfrt_test_job_t* job) {
  tfrt_execution_context_t context = job->context;
  tfrt_program_t* program = job->program;
  tfrt_async_value_release(job->result);
  tfrt_allocator_free(tfrt_allocator_system(), job, sizeof(*job));
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

// Resolves the job's i1, i32 or i64 result, or fails it.
static void test_job_resolve(tfrt_task_t* task) {
  tfrt_test_job_t* job = TFRT_CONTAINER_OF(task, tfrt_test_job_t, task);
  if (job->fails) {
    tfrt_kernel_site_fail_take(
        job->site, job->result,
        tfrt_status_create(TFRT_STATUS_INTERNAL, "something bad happened asynchronously"));
  } else if (job->result->kind == TFRT_ASYNC_VALUE_INDIRECT) {
    tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)job->result,
                                     tfrt_async_value_create_i32((int32_t)job->number));
  } else {
    void* payload = tfrt_async_value_payload(job->result);
    if (job->result->type_id == TFRT_TYPE_I1) {
      *(bool*)payload = job->number != 0;
    } else if (job->result->type_id == TFRT_TYPE_I64) {
      *(int64_t*)payload = job->number;
    } else {
      *(int32_t*)payload = (int32_t)job->number;
    }
    tfrt_async_value_set_available(job->result);
  }
  test_job_free(job);
}

// Gives the frame |result| (consumed), an i1 or i32 that becomes |number|, or an error, later.
static void test_enqueue(tfrt_kernel_frame_t* frame, tfrt_async_value_t* result, int64_t number,
                         bool fails) {
  if (!result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_test_job_t* job = test_job_allocate(frame, test_job_resolve, result, number);
  if (!job) return;
  job->fails = fails;
  tfrt_work_queue_add_task(job->context.work_queue, &job->task);
}

static tfrt_async_value_t* test_new_i32(void) {
  return tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
}

// An addition in the queue. It can't fail and asks nobody, so it keeps nothing alive but its value.
typedef struct tfrt_test_addition_s {
  tfrt_task_t task;
  tfrt_async_value_t* sum;  // +1
  int32_t left;
  int32_t right;
} tfrt_test_addition_t;

static void test_addition_run(tfrt_task_t* task) {
  tfrt_test_addition_t* addition = TFRT_CONTAINER_OF(task, tfrt_test_addition_t, task);
  tfrt_async_value_t* sum = addition->sum;
  *(int32_t*)tfrt_async_value_payload(sum) =
      (int32_t)((uint32_t)addition->left + (uint32_t)addition->right);
  // The block is freed before the sum is set, so that the work that this starts can use the block
  // again.
  tfrt_value_storage_free(addition, sizeof(*addition));
  tfrt_async_value_set_available(sum);
  tfrt_async_value_release(sum);
}

// Gives the frame a value that will be |left| + |right|.
static void test_add_later(tfrt_kernel_frame_t* frame, int32_t left, int32_t right) {
  tfrt_async_value_t* sum = test_new_i32();
  tfrt_test_addition_t* addition = tfrt_value_storage_allocate(sizeof(*addition));
  if (!sum || !addition) {
    tfrt_async_value_release(sum);
    if (addition) tfrt_value_storage_free(addition, sizeof(*addition));
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_task_initialize(&addition->task, test_addition_run);
  addition->sum = tfrt_async_value_retain_unshared(sum);
  addition->left = left;
  addition->right = right;
  tfrt_kernel_frame_set(frame, 0, sum);
  tfrt_work_queue_add_task(frame->context->work_queue, &addition->task);
}

void tfrt_test_async_add_i32(tfrt_kernel_frame_t* frame) {
  test_add_later(frame, tfrt_kernel_frame_i32(frame, 0), tfrt_kernel_frame_i32(frame, 1));
}

void tfrt_test_async_constant_i32(tfrt_kernel_frame_t* frame) {
  int32_t value;
  memcpy(&value, frame->attributes[0], sizeof(value));
  test_add_later(frame, value, 0);
}

void tfrt_test_async_constant_i1(tfrt_kernel_frame_t* frame) {
  int64_t value = *(const uint8_t*)frame->attributes[0];
  test_enqueue(frame, tfrt_async_value_create_unconstructed(TFRT_TYPE_I1), value, false);
}

void tfrt_test_async_copy_i32(tfrt_kernel_frame_t* frame) {
  test_add_later(frame, tfrt_kernel_frame_i32(frame, 0), 0);
}

void tfrt_test_report_error_async(tfrt_kernel_frame_t* frame) {
  test_enqueue(frame, test_new_i32(), 0, true);
}

void tfrt_test_report_error_concrete_async(tfrt_kernel_frame_t* frame) {
  test_enqueue(frame, test_new_i32(), 0, tfrt_kernel_frame_i32(frame, 0) != 0);
}

void tfrt_test_report_error_indirect_async(tfrt_kernel_frame_t* frame) {
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  test_enqueue(frame, result ? &result->base : NULL, 0, tfrt_kernel_frame_i32(frame, 0) != 0);
}

// --- Delays ------------------------------------------------------------------

static void test_sleep_us(int64_t microseconds) {
  if (microseconds <= 0) return;
  struct timespec time = {.tv_sec = microseconds / 1000000,
                          .tv_nsec = microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

// A delay of 1 to 10 ms that differs from call to call.
static int64_t test_delay_us(void) {
  static _Atomic uint32_t calls;
  uint32_t call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return 1000 + call * 2654435761u % 9000;
}

static void test_job_resolve_late(tfrt_task_t* task) {
  test_sleep_us(test_delay_us());
  test_job_resolve(task);
}

// Gives |job| to the blocking queue, or, if that doesn't take it, fails what it promised.
static void test_job_block(tfrt_test_job_t* job) {
  if (tfrt_work_queue_add_blocking_task(job->context.work_queue, &job->task, true)) return;
  if (job->result) {
    tfrt_kernel_site_fail_take(
        job->site, job->result,
        tfrt_status_create(
            TFRT_STATUS_RESOURCE_EXHAUSTED,
            "no thread for a task that blocks: the queue is full, or the system gives no "
            "more threads (the log has its reason)"));
  }
  test_job_free(job);
}

// Gives the frame a value of |type| that will be |number|, after a delay.
static void test_copy_late(tfrt_kernel_frame_t* frame, tfrt_type_id_t type, int64_t number) {
  tfrt_async_value_t* result = tfrt_async_value_create_unconstructed(type);
  if (!result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_test_job_t* job = test_job_allocate(frame, test_job_resolve_late, result, number);
  if (job) test_job_block(job);
}

void tfrt_test_async_copy_with_delay_i32(tfrt_kernel_frame_t* frame) {
  test_copy_late(frame, TFRT_TYPE_I32, tfrt_kernel_frame_i32(frame, 0));
}

void tfrt_test_async_copy_with_delay_i64(tfrt_kernel_frame_t* frame) {
  test_copy_late(frame, TFRT_TYPE_I64, tfrt_kernel_frame_i64(frame, 0));
}

void tfrt_test_copy_with_delay(tfrt_kernel_frame_t* frame) {
  test_sleep_us(test_delay_us());
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
}

static void test_job_sleep(tfrt_task_t* task) {
  tfrt_test_job_t* job = TFRT_CONTAINER_OF(task, tfrt_test_job_t, task);
  test_sleep_us(job->number);
  char line[64];
  int length = snprintf(line, sizeof(line), "Slept for %lld microseconds", (long long)job->number);
  tfrt_async_value_release(
      tfrt_execution_context_print(&job->context, tfrt_string_view_make(line, (size_t)length)));
  if (job->result) tfrt_async_value_set_available(job->result);
  test_job_free(job);
}

void tfrt_test_usleep(tfrt_kernel_frame_t* frame) {
  // The program asks for the chain.
  if (frame->result_count) {
    tfrt_test_blocking_usleep(frame);
    return;
  }
  tfrt_test_job_t* job =
      test_job_allocate(frame, test_job_sleep, NULL, tfrt_kernel_frame_i32(frame, 0));
  if (job) test_job_block(job);
}

void tfrt_test_blocking_usleep(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* chain = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!chain) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_test_job_t* job =
      test_job_allocate(frame, test_job_sleep, chain, tfrt_kernel_frame_i32(frame, 0));
  if (job) test_job_block(job);
}

// --- Regions in the queue ----------------------------------------------------

void tfrt_test_do_async(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* function = frame->functions[0];
  if (function->argument_count != frame->argument_count ||
      function->result_count != frame->result_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the body takes %u values and gives %u", function->argument_count,
                           function->result_count);
    return;
  }
  tfrt_function_execute_in_queue(function, frame->context, frame->arguments, frame->results);
}
