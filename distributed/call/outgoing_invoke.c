// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call.h"

#include <string.h>

#include "distributed/call/execution.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/object_table.h"
#include "distributed/value/value_item.h"
#include "host_runtime/executor/kernel/kernel_frame.h"

// --- Results that the callee pushes ------------------------------------------

// True if every value of the type |index| of |types| is small: its payload has all of it.
static bool outgoing_push_is_small(const char* const* types, uint32_t index) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  if (!types || !tfrt_type_find(types[index], &id)) return false;
  const tfrt_type_t* type = tfrt_type_get(id);
  return type->codec && !type->destroy && !type->streams &&
         !(type->flags & TFRT_TYPE_FLAG_MUTABLE) && type->size <= TFRT_OUTGOING_PUSH_MAX_SIZE;
}

// The incarnation of the host |rank| if |call|'s callee may push something to it; else 0.
static uint64_t outgoing_push_find(const tfrt_outgoing_call_t* call, uint32_t rank) {
  if (rank == call->job->rank) return 0;
  const tfrt_job_member_t* member = tfrt_job_find_rank(call->job, rank);
  bool is_other = member && !member->death && member->incarnation != call->peer->incarnation;
  return is_other ? member->incarnation : 0;
}

// Appends to |push_to|, which has |*count| entries, those of result |index|. True if all users of
// the result are calls that get it so.
static bool outgoing_push_add(tfrt_outgoing_call_t* call, const tfrt_kernel_site_t* kernel,
                              uint32_t index, tfrt_wire_push_to_t* push_to, size_t* count) {
  tfrt_remote_value_t* result = call->results[index];
  uint32_t hosts[TFRT_OUTGOING_PUSH_MAX_USERS];
  bool is_for_others = false;
  uint32_t host_count = tfrt_kernel_site_user_hosts(kernel, index, hosts,
                                                    TFRT_OUTGOING_PUSH_MAX_USERS, &is_for_others);
  for (uint32_t i = 0; i < host_count && *count < TFRT_WIRE_MAX_PUSHES; ++i) {
    uint64_t to = outgoing_push_find(call, hosts[i]);
    if (to == 0 || result->push.to_count == TFRT_REMOTE_VALUE_MAX_PUSHED) {
      is_for_others = false;
      continue;
    }
    result->push.to[result->push.to_count++] = to;
    push_to[(*count)++] = (tfrt_wire_push_to_t){.result = index, .to = to};
  }
  return is_for_others && host_count > 0 && *count < TFRT_WIRE_MAX_PUSHES;
}

// Sets |out_invoke->push_to|, in |arena|, to the hosts whose calls, in the function that makes
// |call|, take its results as arguments. The callee sends them results of small types before they
// ask (push_inbox.h). |call->results| notes these hosts. True if the results have no other users.
static bool outgoing_push_choose(tfrt_outgoing_call_t* call,
                                 const tfrt_outgoing_call_request_t* request, tfrt_arena_t* arena,
                                 tfrt_wire_invoke_t* out_invoke) {
  bool may_push = tfrt_session_features(call->peer->session) & TFRT_WIRE_FEATURE_PUSH;
  if (!request->caller || !request->gives_results || !may_push) return false;
  tfrt_wire_push_to_t* push_to = NULL;
  size_t count = 0;
  uint32_t for_others = 0;
  for (uint32_t i = 0; i < call->result_count && i < TFRT_OUTGOING_PUSH_MAX_RESULTS; ++i) {
    uint32_t host;
    bool is_all;
    if (tfrt_kernel_site_user_hosts(request->caller, i, &host, 1, &is_all) == 0) continue;
    if (!outgoing_push_is_small(request->result_types, i)) continue;
    if (!push_to) {
      push_to = tfrt_arena_allocate_array(arena, TFRT_WIRE_MAX_PUSHES, sizeof(*push_to));
    }
    if (!push_to) return false;
    for_others += outgoing_push_add(call, request->caller, i, push_to, &count);
  }
  out_invoke->push_to = push_to;
  out_invoke->push_to_count = count;
  return for_others > 0 && for_others == call->result_count;
}

// True if |value|, which is about to be lent to |callee|, is pushed to it, and its owner has not
// told us yet what it is. Each call that gets a push is noted once; this takes one note away.
static bool outgoing_push_take(tfrt_remote_value_t* value, uint64_t callee) {
  bool is_due = value->result_is_due && value->forwards == 0 && !tfrt_remote_value_is_there(value);
  if (!is_due || tfrt_remote_value_is_lost(value)) return false;
  for (uint32_t i = 0; i < value->push.to_count; ++i) {
    if (value->push.to[i] != callee) continue;
    value->push.to[i] = value->push.to[--value->push.to_count];
    return true;
  }
  return false;
}

// --- Arguments ---------------------------------------------------------------

// The arguments of one Invoke, while they are packed.
typedef struct tfrt_outgoing_arguments_s {
  const tfrt_outgoing_call_request_t* request;
  tfrt_arena_t* arena;
  tfrt_wire_item_t* items;
  size_t inline_room;
  bool chains_are_here;  // so that a mutable value is what the program means
} tfrt_outgoing_arguments_t;

// Types without a '!' in front are numbers: neither chains nor mutable.
static bool outgoing_arguments_is_number(const char* const* types, uint32_t index) {
  return types[index][0] != '!';
}

bool tfrt_outgoing_arguments_is_chain(const char* const* types, uint32_t index) {
  return types && !outgoing_arguments_is_number(types, index) &&
         strcmp(types[index], "!tfrt.chain") == 0;
}

bool tfrt_outgoing_arguments_is_mutable(const char* const* types, uint32_t index) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  return types && !outgoing_arguments_is_number(types, index) &&
         tfrt_type_find(types[index], &id) && (tfrt_type_get(id)->flags & TFRT_TYPE_FLAG_MUTABLE);
}

// Lends |value| under a name of ours, or under the one that it has.
static tfrt_status_t outgoing_arguments_lend(tfrt_outgoing_call_t* call,
                                             tfrt_outgoing_arguments_t* arguments, uint32_t index) {
  tfrt_node_t* node = call->node;
  tfrt_async_value_t* value = call->arguments[index];
  tfrt_wire_item_t* item = &arguments->items[index];
  item->kind = TFRT_WIRE_ITEM_REFERENCE;
  const char* const* types = arguments->request->argument_types;
  bool is_mutable = arguments->request->message == TFRT_OUTGOING_MUTABLE_MESSAGE ||
                    tfrt_outgoing_arguments_is_mutable(types, index);
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    // A value that is only lent to us must stay with its owner while we lend it on, even if a copy
    // is here.
    item->reference = tfrt_remote_value_holding(remote)->held
                          ? tfrt_remote_value_whereabouts(remote)
                          : tfrt_remote_value_tell(remote);
    item->reference.is_mutable = is_mutable;
    item->reference.is_pushed = outgoing_push_take(remote, call->peer->incarnation);
    // The handle itself is what keeps the loan good, also when a copy is here by then.
    tfrt_action_queue_release(&node->actions, value);
    call->arguments[index] = &remote->base.base;
    return NULL;
  }
  tfrt_object_t* object = tfrt_object_table_export(node->objects, call->job, value);
  if (!object) return tfrt_status_out_of_memory();
  call->exports[index] = object;
  object->name = tfrt_call_site_origin(&call->site).function;
  item->reference =
      (tfrt_wire_reference_t){.id = object->id,
                              .owner = node->incarnation,
                              .owner_rank = call->job->rank,
                              .namer_rank = call->job->rank,
                              .is_chain = tfrt_outgoing_arguments_is_chain(types, index),
                              .is_mutable = is_mutable};
  return NULL;
}

static tfrt_status_t outgoing_arguments_pack_one(tfrt_outgoing_call_t* call,
                                                 tfrt_outgoing_arguments_t* arguments,
                                                 uint32_t index) {
  tfrt_async_value_t* value = call->arguments[index];
  tfrt_wire_item_t* item = &arguments->items[index];
  if (tfrt_async_value_is_available(value)) {
    tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
    bool is_mutable = !tfrt_async_value_is_error(value) &&
                      (tfrt_type_get(concrete->type_id)->flags & TFRT_TYPE_FLAG_MUTABLE);
    size_t limit = arguments->request->inline_limit;
    if (limit == 0) limit = tfrt_peer_inline_limit(call->peer);
    if (!is_mutable || arguments->chains_are_here) {
      TFRT_RETURN_IF_ERROR(
          tfrt_value_item_encode_within(value, limit, tfrt_value_item_host_of(call->job),
                                        arguments->arena, &arguments->inline_room, item));
    }
    if (item->kind != TFRT_WIRE_ITEM_NONE) return NULL;
  }
  return outgoing_arguments_lend(call, arguments, index);
}

// Fills |arguments->items| with the arguments of |call|; those that are lent are so from now on.
static tfrt_status_t outgoing_arguments_pack(tfrt_outgoing_call_t* call,
                                             tfrt_outgoing_arguments_t* arguments) {
  arguments->items = tfrt_arena_allocate_array(arguments->arena, call->argument_count + 1,
                                               sizeof(*arguments->items));
  if (!arguments->items) return tfrt_status_out_of_memory();
  arguments->inline_room = TFRT_VALUE_ITEM_MAX_INLINE;
  arguments->chains_are_here = true;
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    if (tfrt_outgoing_arguments_is_chain(arguments->request->argument_types, i) &&
        !tfrt_async_value_is_available(call->arguments[i])) {
      arguments->chains_are_here = false;
    }
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    TFRT_RETURN_IF_ERROR(outgoing_arguments_pack_one(call, arguments, i));
  }
  return NULL;
}

// --- Unawaited calls ---------------------------------------------------------

// True if |call| keeps nothing alive that takes room: its arguments travel by value, or are small
// and come from their owners.
static bool outgoing_unawaited_keeps_little(const tfrt_outgoing_call_t* call,
                                            const tfrt_outgoing_arguments_t* arguments) {
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const tfrt_wire_item_t* item = &arguments->items[i];
    bool is_pushed = item->kind == TFRT_WIRE_ITEM_REFERENCE && item->reference.is_pushed;
    if (item->kind != TFRT_WIRE_ITEM_INLINE && !is_pushed) return false;
  }
  return true;
}

// The unawaited calls (execution.h) that |call|, whose results nobody here waits for, belongs to if
// its callee may tell them late; else NULL. A call with its own deadline must not seem to have
// missed it. If credit is scarce, other calls wait for the credit that comes back with the end of
// this one.
static tfrt_unawaited_t* outgoing_unawaited_find(const tfrt_outgoing_call_t* call,
                                                 const tfrt_outgoing_call_request_t* request,
                                                 const tfrt_outgoing_arguments_t* arguments) {
  bool matters = tfrt_outgoing_call_request_has_own_deadline(request) ||
                 !tfrt_session_has_credit(call->peer->session, TFRT_WIRE_FRAME_INVOKE) ||
                 !outgoing_unawaited_keeps_little(call, arguments);
  return matters ? NULL : tfrt_execution_unawaited(request->scope);
}

// |call|, which was sent, joins |unawaited|, and leaves its execution's scope.
static void outgoing_unawaited_join(tfrt_outgoing_call_t* call, tfrt_unawaited_t* unawaited) {
  tfrt_call_scope_enter(&unawaited->scope);
  // The scope doesn't end here: the kernel that makes the call is still in it.
  tfrt_call_scope_leave(call->scope);
  call->scope = &unawaited->scope;
  tfrt_list_push_back(&unawaited->calls, &call->unawaited_link);
}

// Those that |call|, which is about to be sent, joins, or NULL. |feeds_others|: all users of its
// results are calls on other hosts that get them pushed.
static tfrt_unawaited_t* outgoing_unawaited_choose(tfrt_outgoing_call_t* call,
                                                   const tfrt_outgoing_call_request_t* request,
                                                   const tfrt_outgoing_arguments_t* arguments,
                                                   bool feeds_others) {
  if (!feeds_others && !request->results_can_wait) return NULL;
  tfrt_unawaited_t* unawaited = outgoing_unawaited_find(call, request, arguments);
  if (!unawaited || request->results_can_wait) return unawaited;
  call->feeds_others = true;
  return unawaited->fed_others >= TFRT_TUNING_LOOP_CALLS ? unawaited : NULL;
}

static void outgoing_unawaited_hurry(tfrt_outgoing_call_t* call) {
  const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_HURRY, .hurry = {.call = call->number}};
  tfrt_peer_send(call->peer, &(tfrt_peer_frame_t){.job = call->job, .after_call = call->number},
                 &body);
}

bool tfrt_outgoing_unawaited_end(tfrt_unawaited_t* unawaited) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&unawaited->calls));) {
    outgoing_unawaited_hurry(TFRT_CONTAINER_OF(link, tfrt_outgoing_call_t, unawaited_link));
  }
  return tfrt_call_scope_leave_last(&unawaited->scope);
}

// --- The message -------------------------------------------------------------

// True if nobody here has the chain that |call| gives, of a message: so a Release, whose packet
// would often be its own, is spared. Hosts before FEATURE_TREES may not know the promise.
static bool outgoing_invoke_takes_inline(const tfrt_outgoing_call_t* call,
                                         const tfrt_outgoing_call_request_t* request) {
  return call->is_message && request->results_can_wait &&
         (tfrt_session_features(call->peer->session) & TFRT_WIRE_FEATURE_TREES);
}

tfrt_status_t tfrt_outgoing_invoke_send(tfrt_outgoing_call_t* call,
                                        const tfrt_outgoing_call_request_t* request,
                                        uint32_t program, tfrt_arena_t* arena) {
  tfrt_outgoing_arguments_t arguments = {.request = request, .arena = arena};
  TFRT_RETURN_IF_ERROR(outgoing_arguments_pack(call, &arguments));
  uint32_t depth = request->request ? request->request->options.call_depth : 0;
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_INVOKE,
      .invoke = {.call = call->number,
                 .program = program,
                 .function = request->function,
                 .arguments = arguments.items,
                 .argument_count = call->argument_count,
                 .result_count = call->result_count,
                 // One bit for each result that exists: fewer bits take fewer bytes.
                 .results_wanted =
                     call->result_count < 64 ? (UINT64_C(1) << call->result_count) - 1 : UINT64_MAX,
                 .pure = request->pure,
                 .depth = depth,
                 .device = tfrt_string_view_of(request->device ? request->device : ""),
                 .image = request->image}};
  bool feeds_others = outgoing_push_choose(call, request, arena, &body.invoke);
  tfrt_unawaited_t* unawaited = outgoing_unawaited_choose(call, request, &arguments, feeds_others);
  // Outside of an execution nobody hurries the Results, or waits for their end.
  bool is_outside = request->results_can_wait && !tfrt_execution_unawaited(request->scope);
  body.invoke.results_can_wait = unawaited || is_outside;
  body.invoke.take_inline = outgoing_invoke_takes_inline(call, request);
  tfrt_peer_frame_t frame = {.job = call->job,
                             .request = request->request ? request->request->options.id : 0,
                             .deadline_ns = request->deadline_ns};
  TFRT_RETURN_IF_ERROR(tfrt_peer_try_send(call->peer, &frame, &body));
  call->take_inline = body.invoke.take_inline;
  if (unawaited) outgoing_unawaited_join(call, unawaited);
  return NULL;
}
