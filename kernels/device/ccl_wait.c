// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/ccl_wait.h"

typedef struct tfrt_ccl_wait_s {
  tfrt_ref_count_t ref_count;  // one for the subscription, one for the task
  tfrt_cancellation_subscription_t subscription;
  tfrt_task_t task;
  tfrt_device_ccl_t* ccl;           // +1
  tfrt_async_value_t* awaited;      // +1
  tfrt_request_context_t* request;  // +1
  tfrt_program_t* program;          // +1, keeps |site| alive
  const tfrt_kernel_site_t* site;
  tfrt_async_value_t* value;  // +1; NULL: none
} tfrt_ccl_wait_t;

static void ccl_wait_release(tfrt_ccl_wait_t* wait) {
  if (!tfrt_ref_count_decrement(&wait->ref_count)) return;
  tfrt_request_context_t* request = wait->request;
  tfrt_program_t* program = wait->program;
  tfrt_device_ccl_release(wait->ccl);
  tfrt_async_value_release(wait->awaited);
  tfrt_async_value_release(wait->value);
  tfrt_allocator_free(tfrt_allocator_system(), wait, sizeof(*wait));
  tfrt_request_context_release(request);
  tfrt_program_release(program);
}

static void ccl_wait_cancel(tfrt_cancellation_subscription_t* subscription, tfrt_status_t reason) {
  tfrt_ccl_wait_t* wait = TFRT_CONTAINER_OF(subscription, tfrt_ccl_wait_t, subscription);
  tfrt_device_ccl_abort(wait->ccl, reason);
  ccl_wait_release(wait);
}

static void ccl_wait_resolve(const tfrt_kernel_site_t* site, tfrt_async_value_t* awaited,
                             tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(awaited)) {
    tfrt_kernel_site_fail_take(site, value, tfrt_status_retain(tfrt_async_value_error(awaited)));
  } else {
    tfrt_async_value_set_available(value);
  }
}

static void ccl_wait_finish(tfrt_task_t* task) {
  tfrt_ccl_wait_t* wait = TFRT_CONTAINER_OF(task, tfrt_ccl_wait_t, task);
  if (tfrt_cancellation_unsubscribe(&wait->request->cancellation, &wait->subscription)) {
    ccl_wait_release(wait);
  }
  if (wait->value) ccl_wait_resolve(wait->site, wait->awaited, wait->value);
  ccl_wait_release(wait);
}

void tfrt_ccl_wait_start(tfrt_device_ccl_t* ccl, tfrt_async_value_t* awaited,
                         tfrt_request_context_t* request, tfrt_program_t* program,
                         const tfrt_kernel_site_t* site, tfrt_async_value_t* value) {
  tfrt_ccl_wait_t* wait = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*wait));
  if (!wait) {
    tfrt_device_ccl_abort(ccl, tfrt_status_out_of_memory());
    if (value) tfrt_kernel_site_fail_take(site, value, tfrt_status_out_of_memory());
    tfrt_async_value_release(value);
    return;
  }
  tfrt_ref_count_initialize(&wait->ref_count);
  tfrt_ref_count_increment(&wait->ref_count);
  wait->ccl = tfrt_device_ccl_retain(ccl);
  wait->awaited = tfrt_async_value_retain(awaited);
  wait->request = tfrt_request_context_retain(request);
  wait->program = tfrt_program_retain(program);
  wait->site = site;
  wait->value = value;
  tfrt_task_initialize(&wait->task, ccl_wait_finish);
  tfrt_cancellation_subscribe(&request->cancellation, &wait->subscription, ccl_wait_cancel);
  tfrt_async_value_and_then(wait->awaited, &wait->task);
}
