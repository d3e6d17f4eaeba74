// SPDX-License-Identifier: Apache-2.0
//
// A kernel's action for a call that is cancelled before its end, or never runs: other hosts may
// wait to meet the kernel, and it will not come. Nobody can know which kernels the call would have
// reached. So the action runs for the kernels of its function, and of all functions that this may
// call, here or on another host, even if they have run. Most kernels have no such action. Types of
// the call's arguments may have one, too.
//
//   call cancelled --> kernels of its function, and of those that this may call --> who may wait
//                  --> its arguments -------------------------------------------------^
//
// Thread rule: called on the thread that cancels, with no lock held.
// Failure rule: none fails; a host that can't be reached gets no notice.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_WITHDRAWAL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_WITHDRAWAL_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/type.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/kernel/kernel_site.h"
#include "host_runtime/executor/request/execution_context.h"

TFRT_API_BEGIN

// The arguments of the call. Everything is borrowed for the duration of the function.
typedef struct tfrt_kernel_withdrawal_s {
  // The context of the call. Its scope has been entered, since the call is not over before its
  // withdrawals have arrived; a scope of NULL: nobody waits for that.
  const tfrt_execution_context_t* context;
  const tfrt_kernel_site_t* site;  // of the kernel; NULL: it is about an argument
  const void* const* attributes;   // as in a frame of the kernel
  tfrt_status_t reason;            // why the call won't
} tfrt_kernel_withdrawal_t;

typedef void (*tfrt_kernel_withdraw_fn_t)(const tfrt_kernel_withdrawal_t* withdrawal);

// Returns true if the program of |function|, which may have none, has such kernels. Thread-safe.
bool tfrt_function_withdraws(const tfrt_function_t* function);

// A call of |function|, of a program that has such kernels, in |context| will not run, or no
// further, because of |reason| (+0): those that it may come to tell it. Thread-safe.
void tfrt_function_withdraw(const tfrt_function_t* function,
                            const tfrt_execution_context_t* context, tfrt_status_t reason);

// The same for what the kernel at |site| calls, which has nothing to tell itself. Thread-safe.
bool tfrt_kernel_site_withdraws(const tfrt_kernel_site_t* site);
void tfrt_kernel_site_withdraw(const tfrt_kernel_site_t* site,
                               const tfrt_execution_context_t* context, tfrt_status_t reason);

// True if |value|, an argument, is there and has something to tell. Thread-safe.
static inline bool tfrt_value_withdraws(tfrt_async_value_t* value) {
  if (!tfrt_async_value_is_available(value) || tfrt_async_value_is_error(value)) return false;
  return tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->withdraw != NULL;
}

// A call with such a |value| in |context| will not run, or no further, because of |reason| (+0).
// Thread-safe.
void tfrt_value_withdraw(tfrt_async_value_t* value, const tfrt_execution_context_t* context,
                         tfrt_status_t reason);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_WITHDRAWAL_H_
