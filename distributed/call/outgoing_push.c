// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call_impl.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/executor/kernel/kernel_frame.h"

// True if every value of the type |index| of |types| is small: its payload has all of it.
static bool tfrt_outgoing_push_is_small(const char* const* types, uint32_t index) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  if (!types || !tfrt_type_find(types[index], &id)) return false;
  const tfrt_type_t* type = tfrt_type_get(id);
  return type->codec && !type->destroy && !type->streams &&
         !(type->flags & TFRT_TYPE_FLAG_MUTABLE) && type->size <= TFRT_OUTGOING_PUSH_MAX_SIZE;
}

// The incarnation of the host |rank| if |call|'s callee may push something to it; else 0.
static uint64_t tfrt_outgoing_push_find(const tfrt_outgoing_call_t* call, uint32_t rank) {
  if (rank == call->job->rank) return 0;
  const tfrt_job_member_t* member = tfrt_job_find_rank(call->job, rank);
  bool is_other = member && !member->death && member->incarnation != call->peer->incarnation;
  return is_other ? member->incarnation : 0;
}

// Appends to |push_to|, which has |*count| entries, those of result |index|.
static void tfrt_outgoing_push_add(tfrt_outgoing_call_t* call, const tfrt_kernel_site_t* kernel,
                                   uint32_t index, tfrt_wire_push_to_t* push_to, size_t* count) {
  tfrt_remote_value_t* result = call->results[index];
  uint32_t hosts[TFRT_OUTGOING_PUSH_MAX_USERS];
  bool is_for_others;
  uint32_t host_count = tfrt_kernel_site_user_hosts(kernel, index, hosts,
                                                    TFRT_OUTGOING_PUSH_MAX_USERS, &is_for_others);
  for (uint32_t i = 0; i < host_count && *count < TFRT_WIRE_MAX_PUSHES; ++i) {
    uint64_t to = tfrt_outgoing_push_find(call, hosts[i]);
    if (to == 0 || result->push.to_count == TFRT_REMOTE_VALUE_MAX_PUSHED) continue;
    result->push.to[result->push.to_count++] = to;
    push_to[(*count)++] = (tfrt_wire_push_to_t){.result = index, .to = to};
  }
}

void tfrt_outgoing_push_choose(tfrt_outgoing_call_t* call,
                               const tfrt_outgoing_call_request_t* request, tfrt_arena_t* arena,
                               tfrt_wire_invoke_t* out_invoke) {
  bool may_push = tfrt_session_features(call->peer->session) & TFRT_WIRE_FEATURE_PUSH;
  if (!request->caller || !request->gives_results || !may_push) return;
  tfrt_wire_push_to_t* push_to = NULL;
  size_t count = 0;
  for (uint32_t i = 0; i < call->result_count && i < TFRT_OUTGOING_PUSH_MAX_RESULTS; ++i) {
    uint32_t host;
    bool is_all;
    if (tfrt_kernel_site_user_hosts(request->caller, i, &host, 1, &is_all) == 0) continue;
    if (!tfrt_outgoing_push_is_small(request->result_types, i)) continue;
    if (!push_to) {
      push_to = tfrt_arena_allocate_array(arena, TFRT_WIRE_MAX_PUSHES, sizeof(*push_to));
    }
    if (!push_to) return;
    tfrt_outgoing_push_add(call, request->caller, i, push_to, &count);
  }
  out_invoke->push_to = push_to;
  out_invoke->push_to_count = count;
}

bool tfrt_outgoing_push_take(tfrt_remote_value_t* value, uint64_t callee) {
  bool is_due = value->result_is_due && value->forwards == 0 && !tfrt_remote_value_is_there(value);
  if (!is_due || tfrt_remote_value_is_lost(value)) return false;
  for (uint32_t i = 0; i < value->push.to_count; ++i) {
    if (value->push.to[i] != callee) continue;
    value->push.to[i] = value->push.to[--value->push.to_count];
    return true;
  }
  return false;
}
