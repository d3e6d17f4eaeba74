// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/execution.h"
#include "distributed/call/outgoing_call_impl.h"

// True if |call| keeps nothing alive that takes room: its arguments travel by value, or are small
// and come from their owners.
static bool tfrt_outgoing_unawaited_keeps_little(const tfrt_outgoing_call_t* call,
                                                 const tfrt_outgoing_arguments_t* arguments) {
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const tfrt_wire_item_t* item = &arguments->items[i];
    bool is_pushed = item->kind == TFRT_WIRE_ITEM_REFERENCE && item->reference.is_pushed;
    if (item->kind != TFRT_WIRE_ITEM_INLINE && !is_pushed) return false;
  }
  return true;
}

// A call with its own deadline must not seem to have missed it. If credit is scarce, other calls
// wait for the credit that comes back with the end of this one.
tfrt_unawaited_t* tfrt_outgoing_unawaited_find(const tfrt_outgoing_call_t* call,
                                               const tfrt_outgoing_call_request_t* request,
                                               const tfrt_outgoing_arguments_t* arguments) {
  bool matters = !request->results_can_wait ||
                 tfrt_outgoing_call_request_has_own_deadline(request) ||
                 !tfrt_session_has_call_credit(call->peer->session) ||
                 !tfrt_outgoing_unawaited_keeps_little(call, arguments);
  return matters ? NULL : tfrt_execution_unawaited(request->scope);
}

void tfrt_outgoing_unawaited_join(tfrt_outgoing_call_t* call, tfrt_unawaited_t* unawaited) {
  tfrt_call_scope_enter(&unawaited->scope);
  // The scope doesn't end here: the kernel that makes the call is still in it.
  tfrt_call_scope_leave(call->scope);
  call->scope = &unawaited->scope;
  tfrt_list_push_back(&unawaited->calls, &call->unawaited_link);
}

static void tfrt_outgoing_unawaited_hurry(tfrt_outgoing_call_t* call) {
  const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_HURRY, .hurry = {.call = call->number}};
  tfrt_peer_send(call->peer, &(tfrt_peer_frame_t){.job = call->job, .after_call = call->number},
                 &body);
}

bool tfrt_outgoing_unawaited_end(tfrt_unawaited_t* unawaited) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&unawaited->calls));) {
    tfrt_outgoing_unawaited_hurry(TFRT_CONTAINER_OF(link, tfrt_outgoing_call_t, unawaited_link));
  }
  return tfrt_call_scope_leave_last(&unawaited->scope);
}
