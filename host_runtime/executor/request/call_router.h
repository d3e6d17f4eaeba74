// SPDX-License-Identifier: Apache-2.0
//
// The hook through which a call leaves this host. A `tfrt.call` that carries call options goes to
// the router of its request, if the request has one. Without a router the options mean nothing and
// the call runs here. So a run on one host gives the expected results of any distributed program.
//
// Thread rule: |call| is called from any thread, with no lock held.
// Failure rule: a call that can't be routed has errors as its results.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_ROUTER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_ROUTER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/request/execution_context.h"
#include "host_runtime/executor/request/resource_context.h"

TFRT_API_BEGIN

// The options of one call op, from the BEF section of call options.
typedef struct tfrt_call_options_s {
  bool has_host;
  bool pure;             // may be run again
  uint32_t host;         // rank
  uint32_t deadline_ms;  // 0: none
  uint32_t retries;
  const char* device;  // that the callee is placed on, as "cuda:0"; of the program; NULL: none
} tfrt_call_options_t;

// Makes |context|, a caller's, that of a call with |options| in the same process: one to a host
// begins without a device, others keep the caller's, if they don't name their own. Thread-safe.
static inline void tfrt_call_options_place(const tfrt_call_options_t* options,
                                           tfrt_execution_context_t* context) {
  if (options->device || options->has_host) context->device = options->device;
}

typedef struct tfrt_call_router_s tfrt_call_router_t;
typedef struct tfrt_function_s tfrt_function_t;
typedef struct tfrt_kernel_site_s tfrt_kernel_site_t;
typedef struct tfrt_turn_table_s tfrt_turn_table_t;

// One call to route. Everything is borrowed for the duration of the hook.
typedef struct tfrt_routed_call_s {
  const tfrt_call_options_t* options;
  const tfrt_function_t* function;
  const tfrt_execution_context_t* context;
  // The kernel that calls, which lives as long as its program: its place is looked up when it is
  // needed. NULL: not known.
  const tfrt_kernel_site_t* caller;
  const tfrt_status_origin_t* site;      // else the caller's function, kernel and location; or NULL
  bool gives_results;                    // of |caller|, one by one
  tfrt_async_value_t* const* arguments;  // +0, in any state
  tfrt_async_value_t** results;          // to be set, +1
} tfrt_routed_call_t;

// Where a request runs: on host |rank| of |host_count|. Without a router: on 0 of 1.
typedef struct tfrt_call_place_s {
  uint32_t rank;
  uint32_t host_count;
  bool knows_trees;  // each of them can exchange messages of many hosts through a tree of hosts
} tfrt_call_place_t;

// A value to move. Everything is borrowed for the duration of the hook.
typedef struct tfrt_routed_copy_s {
  uint32_t host;  // rank
  const tfrt_execution_context_t* context;
  const tfrt_status_origin_t* site;
  tfrt_async_value_t* value;  // in any state
} tfrt_routed_copy_t;

// A value to send to, or to receive from, a host under a key. Everything is borrowed for the
// duration of the hook.
typedef struct tfrt_routed_message_s {
  uint32_t host;  // rank
  const tfrt_execution_context_t* context;
  const tfrt_status_origin_t* site;
  tfrt_async_value_t* key;    // an available string
  tfrt_async_value_t* value;  // to send, in any state; NULL: to receive
  // It belongs to no request, so no cancel or deadline stops it when it is sent: a receiver may
  // wait. The key says what it belongs to. Both sides say the same.
  bool is_owed;
  bool is_unawaited;  // nobody waits for the chain of a send
} tfrt_routed_message_t;

typedef struct tfrt_call_router_vtable_s {
  void (*call)(tfrt_call_router_t* router, const tfrt_routed_call_t* call);
  tfrt_call_place_t (*place)(tfrt_call_router_t* router);
  // Returns a value (+1), at once, that is the same and has its payload on that host.
  tfrt_async_value_t* (*copy)(tfrt_call_router_t* router, const tfrt_routed_copy_t* copy);
  // Returns a chain (+1), available when the value's payload is on that host, where later calls
  // that are given it need not fetch it. The value stays what it is.
  tfrt_async_value_t* (*prefetch)(tfrt_call_router_t* router, const tfrt_routed_copy_t* copy);
  // Returns a chain (+1) that is available when the value waits there, or was received.
  tfrt_async_value_t* (*send)(tfrt_call_router_t* router, const tfrt_routed_message_t* message);
  // Returns the value (+1), at once, that the host sends.
  tfrt_async_value_t* (*receive)(tfrt_call_router_t* router, const tfrt_routed_message_t* message);
  // Where this host counts what it does together with others (+0; lives as long as |router|).
  tfrt_turn_table_t* (*turns)(tfrt_call_router_t* router);
  // This host's state for exchanges with other hosts beside |router| (+0; lives as long as that);
  // NULL: there are none, as nothing is to leave the host but by |router|.
  tfrt_resource_context_t* (*resources)(tfrt_call_router_t* router);
  // Asked while the router is crowded. Returns a value (+1) that is available when loops may go on;
  // NULL: they may now.
  tfrt_async_value_t* (*room)(tfrt_call_router_t* router);
} tfrt_call_router_vtable_t;

// Embedded first in every router; owned by the request's maker, and outlives the request.
struct tfrt_call_router_s {
  const tfrt_call_router_vtable_t* vtable;
  bool sends_calls;  // those to other hosts leave this process: to make one takes no time here
  uint32_t rank;     // of this host, if so
  // Many calls to other hosts are not over. A loop could make any number of them, so it waits for
  // |room| between two turns. Only a hint: read and written without order.
  TFRT_ATOMIC(bool) is_crowded;
};

// Returns true if all that a call with |options| (NULL: it has none) takes of this process is that
// |router| (NULL: there is none) sends it. Thread-safe.
static inline bool tfrt_call_router_sends(const tfrt_call_router_t* router,
                                          const tfrt_call_options_t* options) {
  return router && router->sends_calls && options && options->has_host &&
         options->host != router->rank;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_ROUTER_H_
