// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "distributed/call/outgoing_call_impl.h"
#include "distributed/tuning/tuning.h"

static tfrt_status_t tfrt_outgoing_call_on_item(tfrt_outgoing_call_t* call,
                                                const tfrt_wire_result_item_t* item) {
  if (item->index >= call->result_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a call has no result %u", item->index);
  }
  tfrt_remote_value_t* result = call->results[item->index];
  if (!result) return NULL;
  if (item->item.kind == TFRT_WIRE_ITEM_SAME_AS_ARGUMENT) {
    uint32_t argument = item->item.same_as_argument.argument;
    if (argument >= call->argument_count) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a call has no argument %u",
                                argument);
    }
    tfrt_remote_value_alias(result, call->arguments[argument], call->exports[argument]);
  } else {
    tfrt_remote_value_on_item(result, &item->item);
  }
  call->results[item->index] = NULL;
  tfrt_remote_value_release(result);
  return NULL;
}

static bool tfrt_outgoing_call_lacks_results(const tfrt_outgoing_call_t* call) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) return true;
  }
  return false;
}

static void tfrt_outgoing_call_prefetch_lines(const void* block, size_t size) {
  for (size_t i = 0; i < size; i += 64) __builtin_prefetch((const char*)block + i, 1);
}

// Calls mostly end in the order in which they were made. The records of many calls are in no cache
// any more when their results come. So this prefetches the records of the next calls during the
// work at this one. It is only a hint: there may be another call at those numbers, or none.
static void tfrt_outgoing_call_prefetch(const tfrt_peer_t* peer, uint64_t number) {
  const tfrt_hash_table_t* table = &peer->outgoing_calls;
  const tfrt_hash_node_t* record =
      *tfrt_hash_table_chain(table, number + TFRT_OUTGOING_CALL_RECORD_AHEAD);
  if (record) {
    tfrt_outgoing_call_prefetch_lines(TFRT_CONTAINER_OF(record, tfrt_outgoing_call_t, by_number),
                                      sizeof(tfrt_outgoing_call_t) + 3 * sizeof(void*));
  }
  const tfrt_hash_node_t* node =
      *tfrt_hash_table_chain(table, number + TFRT_OUTGOING_CALL_RESULT_AHEAD);
  if (!node) return;
  const tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
  if (call->argument_count > 0) __builtin_prefetch(call->arguments[0], 1);
  if (call->result_count == 0 || !call->results[0]) return;
  tfrt_outgoing_call_prefetch_lines(call->results[0], offsetof(tfrt_remote_value_t, bytes.here));
}

tfrt_status_t tfrt_outgoing_call_on_result(tfrt_peer_t* peer, const tfrt_wire_result_t* result) {
  tfrt_outgoing_call_t* call = tfrt_outgoing_call_find(peer, result->call);
  tfrt_outgoing_call_prefetch(peer, result->call);
  if (!call) {
    if (result->call < tfrt_session_next_call(peer->session)) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a result came for the call %llu, which was never made",
                              (unsigned long long)result->call);
  }
  for (size_t i = 0; i < result->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_outgoing_call_on_item(call, &result->results[i]));
  }
  if (!result->done) return NULL;
  if (tfrt_outgoing_call_lacks_results(call)) {
    tfrt_status_t missing =
        tfrt_status_create(TFRT_STATUS_INTERNAL, "@%s ended without this result", call->name);
    tfrt_outgoing_call_fail_results(call, missing);
    tfrt_status_release(missing);
  }
  if (result->not_run) tfrt_outgoing_call_withdraw_unrun(call, result);
  tfrt_outgoing_call_end(call);
  return NULL;
}
