// SPDX-License-Identifier: Apache-2.0
//
// The context that every kernel of a call can reach: the host, the request, the scope of the call.
// A small struct, copied whenever work is handed on, that owns nothing; who keeps it beyond a
// kernel's run retains what it points to.
//
// Thread rule: a value.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_EXECUTION_CONTEXT_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_EXECUTION_CONTEXT_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_host_context_s tfrt_host_context_t;
typedef struct tfrt_request_context_s tfrt_request_context_t;
typedef struct tfrt_call_scope_s tfrt_call_scope_t;

// Room for the name of a device that a call is placed on, as "cuda:0", with its NUL.
#define TFRT_CALL_DEVICE_SIZE 24

typedef struct tfrt_execution_context_s {
  tfrt_host_context_t* host;
  tfrt_request_context_t* request;
  tfrt_work_queue_t* work_queue;  // where the call's tasks run
  tfrt_call_scope_t* scope;       // told when all of the call is over; NULL: nobody asks
  // The device that the call is placed on; lives as long as the request and the program; NULL: no
  // device.
  const char* device;
} tfrt_execution_context_t;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_EXECUTION_CONTEXT_H_
