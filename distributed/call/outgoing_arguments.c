// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "distributed/call/outgoing_call_impl.h"
#include "distributed/value/object_table.h"
#include "distributed/value/value_host.h"

// Types without a '!' in front are numbers: neither chains nor mutable.
static bool tfrt_outgoing_arguments_is_number(const char* const* types, uint32_t index) {
  return types[index][0] != '!';
}

bool tfrt_outgoing_arguments_is_chain(const char* const* types, uint32_t index) {
  return types && !tfrt_outgoing_arguments_is_number(types, index) &&
         strcmp(types[index], "!tfrt.chain") == 0;
}

bool tfrt_outgoing_arguments_is_mutable(const char* const* types, uint32_t index) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  return types && !tfrt_outgoing_arguments_is_number(types, index) &&
         tfrt_type_find(types[index], &id) && (tfrt_type_get(id)->flags & TFRT_TYPE_FLAG_MUTABLE);
}

// Lends |value| under a name of ours, or under the one that it has.
static tfrt_status_t tfrt_outgoing_arguments_lend(tfrt_outgoing_call_t* call,
                                                  tfrt_outgoing_arguments_t* arguments,
                                                  uint32_t index) {
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
    item->reference.is_pushed = tfrt_outgoing_push_take(remote, call->peer->incarnation);
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

static tfrt_status_t tfrt_outgoing_arguments_pack_one(tfrt_outgoing_call_t* call,
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
  return tfrt_outgoing_arguments_lend(call, arguments, index);
}

tfrt_status_t tfrt_outgoing_arguments_pack(tfrt_outgoing_call_t* call,
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
    TFRT_RETURN_IF_ERROR(tfrt_outgoing_arguments_pack_one(call, arguments, i));
  }
  return NULL;
}
