// SPDX-License-Identifier: Apache-2.0
//
// Values that hosts send each other by key.

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/hosts/mailbox.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/distributed/kernel_groups.h"
#include "kernels/distributed/snapshot.h"

// Returns the router, with |*out_message| and |*out_site| filled, or NULL after failing
// |frame|.
static tfrt_call_router_t* begin(tfrt_kernel_frame_t* frame, tfrt_routed_message_t* out_message,
                                 tfrt_status_origin_t* out_site) {
  tfrt_call_router_t* router = frame->context->request->options.router;
  if (!router) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION,
                           "there are no hosts that could send or receive; `tfrt run` with "
                           "--in-process, --local or --hosts has some");
    return NULL;
  }
  tfrt_string_view_t key = tfrt_async_value_string(frame->arguments[1]);
  if (tfrt_string_view_starts_with(key, tfrt_string_view_of(TFRT_MAILBOX_OWED_PREFIX))) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "keys that begin with \"" TFRT_MAILBOX_OWED_PREFIX
                           "\" are those of collectives; take another");
    return NULL;
  }
  tfrt_kernel_site_origin(frame->site, out_site);
  *out_message =
      (tfrt_routed_message_t){.host = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 0),
                              .context = frame->context,
                              .site = out_site,
                              .key = frame->arguments[1]};
  return router;
}

void tfrt_distributed_key(tfrt_kernel_frame_t* frame) {
  tfrt_string_view_t key = tfrt_bef_attribute_string(frame->attributes[0]);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(key));
}

// Sends |message| with a copy of its value, which would otherwise be handed over as it is. So the
// sender may write to the value behind the chain, as if the receiver were elsewhere. Returns the
// chain (+1).
static tfrt_async_value_t* send_copy(tfrt_call_router_t* router, tfrt_routed_message_t* message) {
  tfrt_snapshot_t snapshot;
  tfrt_snapshot_take(message->value, message->context->host->allocator, &snapshot);
  message->value = snapshot.value;
  tfrt_async_value_t* sent = router->vtable->send(router, message);
  tfrt_async_value_release(snapshot.value);
  if (tfrt_async_value_is_error(sent)) {
    tfrt_async_value_release(snapshot.chain);
    return sent;
  }
  tfrt_async_value_release(sent);
  return snapshot.chain;
}

void tfrt_distributed_send(tfrt_kernel_frame_t* frame) {
  tfrt_routed_message_t message;
  tfrt_status_origin_t site;
  tfrt_call_router_t* router = begin(frame, &message, &site);
  if (!router) return;
  message.value = frame->arguments[2];
  bool stays_here = !router->sends_calls || message.host == router->rank;
  tfrt_async_value_t* chain =
      stays_here ? send_copy(router, &message) : router->vtable->send(router, &message);
  tfrt_kernel_frame_set(frame, 0, chain);
}

// --- Receiving -----------------------------------------------------------------------

// Waits for the sent value. A wait that no send fulfils ends with an error from a host that doesn't
// know the place in the program, so this adds the place.
typedef struct arrival_s {
  tfrt_task_t task;
  tfrt_async_value_t* sent;        // +1
  tfrt_indirect_value_t* value;    // +1
  tfrt_indirect_value_t* chain;    // +1
  const tfrt_kernel_site_t* site;  // retained
  tfrt_allocator_t allocator;
} arrival_t;

static void free_arrival(arrival_t* arrival) {
  if (arrival->value) tfrt_async_value_release(&arrival->value->base);
  if (arrival->chain) tfrt_async_value_release(&arrival->chain->base);
  tfrt_kernel_site_release(arrival->site);
  tfrt_allocator_free(arrival->allocator, arrival, sizeof(*arrival));
}

static arrival_t* allocate_arrival(const tfrt_kernel_frame_t* frame) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  arrival_t* arrival = tfrt_allocator_allocate_zeroed(allocator, sizeof(*arrival));
  if (!arrival) return NULL;
  *arrival = (arrival_t){.value = tfrt_indirect_value_create(),
                         .chain = tfrt_indirect_value_create(),
                         .site = tfrt_kernel_site_retain(frame->site),
                         .allocator = allocator};
  if (arrival->value && arrival->chain) return arrival;
  free_arrival(arrival);
  return NULL;
}

static void run_arrival(tfrt_task_t* task) {
  arrival_t* arrival = TFRT_CONTAINER_OF(task, arrival_t, task);
  if (tfrt_async_value_is_error(arrival->sent)) {
    tfrt_status_origin_t site;
    tfrt_kernel_site_origin(arrival->site, &site);
    tfrt_status_t located = tfrt_status_with_origin(tfrt_async_value_error(arrival->sent), &site);
    tfrt_async_value_set_error(&arrival->value->base, located);
    tfrt_async_value_set_error(&arrival->chain->base, located);
    tfrt_status_release(located);
  } else {
    tfrt_indirect_value_forward(arrival->value, arrival->sent);
    tfrt_indirect_value_forward_take(arrival->chain, tfrt_async_value_ready_chain());
  }
  tfrt_async_value_release(arrival->sent);
  free_arrival(arrival);
}

void tfrt_distributed_recv(tfrt_kernel_frame_t* frame) {
  tfrt_routed_message_t message;
  tfrt_status_origin_t site;
  tfrt_call_router_t* router = begin(frame, &message, &site);
  if (!router) return;
  arrival_t* arrival = allocate_arrival(frame);
  if (!arrival) {
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&arrival->value->base));
  tfrt_kernel_frame_set(frame, 1, tfrt_async_value_retain(&arrival->chain->base));
  arrival->sent = router->vtable->receive(router, &message);
  tfrt_task_initialize(&arrival->task, run_arrival);
  tfrt_async_value_and_then(arrival->sent, &arrival->task);
}
