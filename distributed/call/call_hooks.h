// SPDX-License-Identifier: Apache-2.0
//
// The functions of higher rooms that calls use: recovery/ runs calls again, service/ has the
// built-in functions. They fill in the table, |call_hooks| of the node, when it is made.
//
// Thread rule: everything here is called with the node's lock held.
// Failure rule: as each member says.
#ifndef TFRT_DISTRIBUTED_CALL_CALL_HOOKS_H_
#define TFRT_DISTRIBUTED_CALL_CALL_HOOKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/wire/call.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_execution_s tfrt_execution_t;
typedef struct tfrt_job_s tfrt_job_t;
typedef struct tfrt_outgoing_call_s tfrt_outgoing_call_t;
typedef struct tfrt_outgoing_call_request_s tfrt_outgoing_call_request_t;
typedef struct tfrt_peer_s tfrt_peer_t;
typedef struct tfrt_remote_value_s tfrt_remote_value_t;
typedef struct tfrt_retried_call_s tfrt_retried_call_t;

typedef struct tfrt_call_hooks_s {
  // Starts |call|, whose options say how often it may run again. |request| describes it, and is
  // complete but for the members that this sets; |prepared| (consumed) is its first run.
  void (*start_retried)(const tfrt_routed_call_t* call, const tfrt_outgoing_call_request_t* request,
                        tfrt_outgoing_call_t* prepared);
  // |value| is result |index| of a run of |call|.
  void (*adopt_result)(tfrt_retried_call_t* call, uint32_t index, tfrt_remote_value_t* value);
  // Result |index| (+1) of |call|, for whose run it gets another name, if it is lost; else NULL.
  tfrt_remote_value_t* (*take_lost_result)(tfrt_retried_call_t* call, uint32_t index);
  // The frame of |scope| is over: nothing that it called runs again.
  void (*close_scope)(tfrt_job_t* job, const tfrt_call_scope_t* scope);
  // The first is true if |invoke| calls a service that this host has in |job| for |peer|, with its
  // numbers of arguments and results. The second runs the service that |execution->function| names.
  bool (*has_service)(const tfrt_peer_t* peer, const tfrt_job_t* job,
                      const tfrt_wire_invoke_t* invoke);
  void (*start_service)(tfrt_execution_t* execution, const tfrt_peer_t* peer);
} tfrt_call_hooks_t;

#endif  // TFRT_DISTRIBUTED_CALL_CALL_HOOKS_H_
