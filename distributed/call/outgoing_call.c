// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "distributed/call/call_hooks.h"
#include "distributed/call/job_program.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/remote_value.h"
#include "host_runtime/executor/kernel/withdrawal.h"
#include "host_runtime/executor/request/call_scope.h"

// --- States ------------------------------------------------------------------

void tfrt_outgoing_call_set_state(tfrt_outgoing_call_t* call, tfrt_outgoing_call_state_t state) {
#ifndef NDEBUG
#define TFRT_OUTGOING_CALL_BIT(name) (1u << TFRT_OUTGOING_CALL_##name)
  // The states that may follow each state.
  static const uint32_t next_states[] = {
      [TFRT_OUTGOING_CALL_PREPARED] = TFRT_OUTGOING_CALL_BIT(OPEN) | TFRT_OUTGOING_CALL_BIT(ENDED),
      [TFRT_OUTGOING_CALL_OPEN] = TFRT_OUTGOING_CALL_BIT(CANCELLED) | TFRT_OUTGOING_CALL_BIT(ENDED),
      [TFRT_OUTGOING_CALL_CANCELLED] = TFRT_OUTGOING_CALL_BIT(ENDED),
      [TFRT_OUTGOING_CALL_ENDED] = 0,
  };
  assert(next_states[call->state] & (1u << state));
#endif
  call->state = state;
}

// --- The peer's table --------------------------------------------------------

// Call numbers are consecutive: each is its own hash, so consecutive calls have neighbouring
// chains.
static uint64_t outgoing_call_hash(const void* key) { return *(const uint64_t*)key; }

static bool outgoing_call_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number)->number == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_outgoing_call_table_vtable = {
    .hash = outgoing_call_hash,
    .equal = outgoing_call_equal,
};

static void outgoing_call_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_outgoing_call_table_vtable, allocator);
}

// The open call |number| to |peer| (+0), or NULL.
static tfrt_outgoing_call_t* outgoing_call_find(tfrt_peer_t* peer, uint64_t number) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->outgoing_calls, &number);
  return node ? TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number) : NULL;
}

// --- Life --------------------------------------------------------------------

// The bytes of a call's one block: the record, and its arrays behind it.
static size_t outgoing_call_size(uint32_t argument_count, uint32_t result_count) {
  return sizeof(tfrt_outgoing_call_t) +
         argument_count * (sizeof(tfrt_async_value_t*) + sizeof(tfrt_object_t*)) +
         result_count * sizeof(tfrt_remote_value_t*);
}

// Runs with the lock open: the last things may run foreign code.
static void outgoing_call_free(void* argument) {
  tfrt_outgoing_call_t* call = argument;
  tfrt_node_t* node = call->node;
  tfrt_request_context_release(call->request);
  tfrt_status_release(call->cancelled);
  tfrt_allocator_free(node->options.allocator, call,
                      outgoing_call_size(call->argument_count, call->result_count));
  tfrt_node_release(node);
}

static void outgoing_call_release(tfrt_outgoing_call_t* call) {
  if (!tfrt_ref_count_decrement(&call->ref_count)) return;
  tfrt_job_release(call->job);
  tfrt_action_queue_call(&call->node->actions, outgoing_call_free, call);
}

static tfrt_outgoing_call_t* outgoing_call_allocate(tfrt_node_t* node,
                                                    const tfrt_outgoing_call_request_t* request) {
  tfrt_outgoing_call_t* call = tfrt_allocator_allocate_zeroed(
      node->options.allocator, outgoing_call_size(request->argument_count, request->result_count));
  if (!call) return NULL;
  tfrt_ref_count_initialize(&call->ref_count);
  tfrt_list_initialize(&call->unawaited_link);
  call->node = node;
  call->argument_count = request->argument_count;
  call->result_count = request->result_count;
  call->arguments = (tfrt_async_value_t**)(call + 1);
  call->exports = (tfrt_object_t**)(call->arguments + call->argument_count);
  call->results = (tfrt_remote_value_t**)(call->exports + call->argument_count);
  return call;
}

static void outgoing_call_leave_scope(void* scope) { tfrt_call_scope_leave(scope); }

// ENDED: loans end, the scope is left. Results that are not known by now must have been failed.
static void outgoing_call_end(tfrt_outgoing_call_t* call) {
  if (call->state == TFRT_OUTGOING_CALL_ENDED) return;
  bool is_known = call->state != TFRT_OUTGOING_CALL_PREPARED;
  tfrt_outgoing_call_set_state(call, TFRT_OUTGOING_CALL_ENDED);
  tfrt_node_t* node = call->node;
  if (is_known) {
    tfrt_hash_table_remove(&call->peer->outgoing_calls, &call->by_number);
    tfrt_list_remove(&call->in_job);
    --node->counts.outgoing_calls;
    tfrt_job_budget_count_made(call->job, -1);
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    if (call->exports[i]) tfrt_object_table_end_loan(node->objects, call->exports[i]);
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    tfrt_action_queue_release(&node->actions, call->arguments[i]);
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) tfrt_remote_value_release(call->results[i]);
    call->results[i] = NULL;
  }
  if (call->request &&
      tfrt_cancellation_unsubscribe(&call->request->cancellation, &call->subscription)) {
    outgoing_call_release(call);
  }
  if (call->timer_started && tfrt_timer_cancel(node->options.timers, &call->timer)) {
    outgoing_call_release(call);
  }
  tfrt_list_remove(&call->unawaited_link);
  // NULL if the call has joined the unawaited ones: that scope is another.
  tfrt_unawaited_t* unawaited = call->feeds_others ? tfrt_execution_unawaited(call->scope) : NULL;
  if (unawaited) ++unawaited->fed_others;
  if (call->scope) {
    tfrt_action_queue_call(&node->actions, outgoing_call_leave_scope, call->scope);
  }
  outgoing_call_release(call);
}

// Makes errors, |status| (+0), of the results that are not known yet.
static void outgoing_call_fail_results(tfrt_outgoing_call_t* call, tfrt_status_t status) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) tfrt_remote_value_fail(call->results[i], status);
  }
}

// The same, unless another run can make them.
static void outgoing_call_lose_results(tfrt_outgoing_call_t* call, tfrt_status_t status) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) tfrt_remote_value_lose(call->results[i], status);
  }
}

// --- Withdrawal --------------------------------------------------------------

typedef struct tfrt_outgoing_withdrawal_s {
  tfrt_outgoing_call_t* call;  // +1
  tfrt_call_scope_t* scope;    // entered: the caller is over when all have been told
  tfrt_status_t reason;        // +1
  uint32_t value_count;
  tfrt_async_value_t* values[];  // +1 each; arguments with something to tell
} tfrt_outgoing_withdrawal_t;

static size_t outgoing_withdrawal_size(uint32_t value_count) {
  return sizeof(tfrt_outgoing_withdrawal_t) + value_count * sizeof(tfrt_async_value_t*);
}

// Runs with the lock open.
static void outgoing_withdrawal_run(void* argument) {
  tfrt_outgoing_withdrawal_t* withdrawal = argument;
  tfrt_outgoing_call_t* call = withdrawal->call;
  const tfrt_kernel_site_t* caller = call->site.kernel;
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_call_scope_t* scope = withdrawal->scope;
  tfrt_execution_context_t context = tfrt_host_context_execution(node->options.host, call->request);
  context.scope = scope;
  if (caller && tfrt_kernel_site_withdraws(caller)) {
    tfrt_kernel_site_withdraw(caller, &context, withdrawal->reason);
  }
  for (uint32_t i = 0; i < withdrawal->value_count; ++i) {
    tfrt_value_withdraw(withdrawal->values[i], &context, withdrawal->reason);
    tfrt_async_value_release(withdrawal->values[i]);
  }
  tfrt_status_release(withdrawal->reason);
  tfrt_allocator_free(node->options.allocator, withdrawal,
                      outgoing_withdrawal_size(withdrawal->value_count));
  tfrt_node_lock_tables(node);
  outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_call_scope_leave(scope);
  tfrt_node_release(node);
}

// True if other hosts must hear that |call| doesn't come; sets |*out_count| to the number of
// arguments that withdraw.
static bool outgoing_call_withdraws(const tfrt_outgoing_call_t* call, uint32_t* out_count) {
  *out_count = 0;
  // The end of a job or of a request already reaches everybody.
  if (!call->request || tfrt_job_is_closed(call->job) ||
      tfrt_request_context_cancelled(call->request)) {
    return false;
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    *out_count += tfrt_value_withdraws(call->arguments[i]);
  }
  return *out_count > 0 || (call->site.kernel && tfrt_kernel_site_withdraws(call->site.kernel));
}

// When the lock is opened, tells the hosts that would have met the callee's kernels
// (kernel/withdrawal.h) that it doesn't run, or no further, because of |reason| (+0). They hear
// nothing when memory is out.
static void outgoing_call_withdraw(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  uint32_t count;
  if (!outgoing_call_withdraws(call, &count)) return;
  tfrt_outgoing_withdrawal_t* withdrawal = tfrt_allocator_allocate_zeroed(
      call->node->options.allocator, outgoing_withdrawal_size(count));
  if (!withdrawal) return;
  tfrt_ref_count_increment(&call->ref_count);
  withdrawal->call = call;
  withdrawal->scope = call->scope;
  tfrt_call_scope_enter(call->scope);
  withdrawal->reason = tfrt_status_retain(reason);
  withdrawal->value_count = count;
  // As many as were counted, though more may have come since.
  for (uint32_t i = 0, found = 0; found < count; ++i) {
    if (!tfrt_value_withdraws(call->arguments[i])) continue;
    withdrawal->values[found++] = tfrt_async_value_retain(call->arguments[i]);
  }
  tfrt_action_queue_call(&call->node->actions, outgoing_withdrawal_run, withdrawal);
}

// The same for a call that was not run, as |result| says.
static void outgoing_call_withdraw_unrun(tfrt_outgoing_call_t* call,
                                         const tfrt_wire_result_t* result) {
  const tfrt_wire_item_t* item = result->result_count > 0 ? &result->results[0].item : NULL;
  // Mostly an error with that says why.
  tfrt_status_t plain =
      item && item->kind == TFRT_WIRE_ITEM_ERROR
          ? tfrt_wire_error_to_status(item->error)
          : tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "@%s was not run", call->name);
  tfrt_status_t status = tfrt_call_site_locate(&call->site, plain);
  outgoing_call_withdraw(call, status);
  tfrt_status_release(status);
  tfrt_status_release(plain);
}

// --- Cancel ------------------------------------------------------------------

// The key of the message with |arguments|, whose receiver must hear that it doesn't come; else
// empty.
static tfrt_string_view_t outgoing_call_key(bool is_message, tfrt_async_value_t* const* arguments) {
  if (!is_message) return tfrt_string_view_of("");
  tfrt_string_view_t key = tfrt_async_value_string(arguments[0]);
  return key.size <= TFRT_WIRE_MAX_KEY_SIZE ? key : tfrt_string_view_of("");
}

// The call for |request| is refused here, so that it has no number. If the call is a message, a
// Void tells the waiting receiver that the message is |reason| (+0), unless memory is out. A
// receiver that can't be reached is lost as well.
static void outgoing_call_tell_unsent(tfrt_node_t* node,
                                      const tfrt_outgoing_call_request_t* request,
                                      tfrt_status_t reason) {
  tfrt_job_t* job = request->job;
  tfrt_peer_t* peer = NULL;
  bool is_message = request->message != TFRT_OUTGOING_NO_MESSAGE;
  tfrt_string_view_t key = outgoing_call_key(is_message, request->arguments);
  if (key.size == 0) return;
  tfrt_status_t status = tfrt_job_reach(job, request->callee, &peer);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_wire_error_t error;
  if (!status) {
    status = tfrt_wire_error_from_status(reason, job->rank, node->incarnation, &arena, &error);
  }
  if (!status) {
    const tfrt_peer_frame_t frame = {
        .job = job, .request = request->request ? request->request->options.id : 0};
    const tfrt_wire_body_t body = {
        .kind = TFRT_WIRE_FRAME_VOID,
        .void_call = {.call = tfrt_session_next_call(peer->session), .error = &error, .key = key}};
    status = tfrt_peer_try_send(peer, &frame, &body);
  }
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// Puts a Void with |reason| (+0) in the place of the Invoke, if that was not written yet; false if
// it was.
static bool outgoing_call_void(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  tfrt_node_t* node = call->node;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, call->job->rank, node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_VOID,
      .void_call = {.call = call->number,
                    .result_count = call->result_count,
                    .error = &error,
                    .key = outgoing_call_key(call->is_message, call->arguments)}};
  bool replaced = false;
  if (!status) status = tfrt_wire_body_encode(&body, &bytes);
  if (!status) {
    status = tfrt_session_replace_by_void(call->peer->session, call->number,
                                          tfrt_string_builder_view(&bytes), &replaced);
  }
  // Without memory for a Void, the call is cancelled like one that was sent.
  tfrt_status_release(status);
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_arena_deinitialize(&arena);
  return replaced;
}

// Tells the callee to stop.
static void outgoing_call_send_cancel(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, call->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, call->job->rank, call->node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_CANCEL,
                           .cancel = {.call = call->number, .reason = status ? NULL : &error}};
  tfrt_peer_send(call->peer, &(tfrt_peer_frame_t){.job = call->job, .after_call = call->number},
                 &body);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// Stops the call because of |reason| (+0): its unknown results are errors at once; the record
// stays until the callee is done.
static void outgoing_call_cancel(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  if (call->cancelled || call->state == TFRT_OUTGOING_CALL_ENDED) return;
  call->cancelled = tfrt_status_retain(reason);
  if (call->state == TFRT_OUTGOING_CALL_PREPARED) return;
  outgoing_call_fail_results(call, reason);
  if (outgoing_call_void(call, reason)) {
    outgoing_call_end(call);
  } else {
    tfrt_outgoing_call_set_state(call, TFRT_OUTGOING_CALL_CANCELLED);
    outgoing_call_send_cancel(call, reason);
  }
}

// |job| is over for |peer|, its client, because of |reason| (+0): cancels and ends its calls to
// |peer|.
static void outgoing_call_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job,
                                     tfrt_status_t reason) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing_calls); node;) {
    tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
    node = tfrt_hash_table_next(&peer->outgoing_calls, node);
    if (call->job != job) continue;
    outgoing_call_cancel(call, reason);
    outgoing_call_end(call);
  }
}

bool tfrt_outgoing_call_cancel_oldest(tfrt_job_t* job, uint32_t count, tfrt_status_t reason) {
  for (uint32_t n = 0; n < count && !tfrt_list_is_empty(&job->outgoing_calls);) {
    tfrt_outgoing_call_t* call =
        TFRT_CONTAINER_OF(job->outgoing_calls.next, tfrt_outgoing_call_t, in_job);
    n += 1 + call->result_count;
    outgoing_call_cancel(call, reason);
    outgoing_call_end(call);
  }
  return tfrt_list_is_empty(&job->outgoing_calls);
}

static void outgoing_call_run_cancel(tfrt_cancellation_subscription_t* subscription,
                                     tfrt_status_t reason) {
  tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(subscription, tfrt_outgoing_call_t, subscription);
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_node_lock_tables(node);
  outgoing_call_cancel(call, reason);
  outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void outgoing_call_run_timer(tfrt_timer_t* timer) {
  tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(timer, tfrt_outgoing_call_t, timer);
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_status_t plain = tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                                           "the call of @%s took too long", call->name);
  tfrt_status_t status = tfrt_call_site_locate(&call->site, plain);
  tfrt_status_release(plain);
  tfrt_node_lock_tables(node);
  if (call->state != TFRT_OUTGOING_CALL_ENDED) outgoing_call_withdraw(call, status);
  outgoing_call_cancel(call, status);
  outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_status_release(status);
  tfrt_node_release(node);
}

// --- Start -------------------------------------------------------------------

// A result that may still be written when it is available is fetched behind the call's chains.
static tfrt_status_t outgoing_call_order_results(tfrt_outgoing_call_t* call, tfrt_arena_t* arena) {
  tfrt_async_value_t** chains =
      tfrt_arena_allocate_array(arena, call->result_count + 1, sizeof(tfrt_async_value_t*));
  if (!chains) return tfrt_status_out_of_memory();
  uint32_t chain_count = 0;
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]->name.is_chain) chains[chain_count++] = &call->results[i]->base.base;
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (!call->results[i]->name.is_mutable) continue;
    tfrt_remote_value_order(call->results[i], chains, chain_count);
  }
  return NULL;
}

// Says whose result |value| is: |function|, called at |site| (copied, with texts that live as
// long as the job).
static void outgoing_call_set_site(tfrt_remote_value_t* value, const char* function,
                                   const tfrt_call_site_t* site) {
  value->place.function = function;
  value->result_is_due = true;
  tfrt_call_site_set(&value->place.site, site->kernel, &site->origin);
}

// A remote value (+1) for result |index|, which is called |reference|: a new one, or the one that a
// run before this has lost.
static tfrt_remote_value_t* outgoing_call_create_result(tfrt_outgoing_call_t* call,
                                                        const tfrt_outgoing_call_request_t* request,
                                                        uint32_t index,
                                                        const tfrt_wire_reference_t* reference) {
  tfrt_remote_value_t* lost =
      request->retried ? call->node->call_hooks->take_lost_result(request->retried, index) : NULL;
  if (lost) {
    call->node->call_hooks->adopt_result(request->retried, index, lost);
    lost->result_is_due = true;
    // The host that told us where the earlier run's result was knows nothing of this run.
    lost->borrowing.lender = 0;
    tfrt_remote_value_move(lost, reference, true);
    return lost;
  }
  tfrt_remote_value_t* result = tfrt_remote_value_create_result(call->job, call->peer, reference);
  if (!result) return NULL;
  outgoing_call_set_site(result, call->name, &call->site);
  if (request->results_device) tfrt_remote_value_set_device(result, request->results_device);
  if (request->retried) call->node->call_hooks->adopt_result(request->retried, index, result);
  return result;
}

static tfrt_status_t outgoing_call_create_results(tfrt_outgoing_call_t* call,
                                                  const tfrt_outgoing_call_request_t* request) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_wire_reference_t reference = {
        .id = {.namer = call->node->incarnation, .number = call->number, .index = i},
        .owner = request->callee,
        .owner_rank = tfrt_job_rank_of(call->job, request->callee),
        .namer_rank = call->job->rank,
        .is_chain = tfrt_outgoing_arguments_is_chain(request->result_types, i),
        .is_mutable = tfrt_outgoing_arguments_is_mutable(request->result_types, i),
        .is_recoverable = request->retried != NULL};
    call->results[i] = outgoing_call_create_result(call, request, i, &reference);
    if (!call->results[i]) return tfrt_status_out_of_memory();
  }
  return NULL;
}

// Names the call and sends it. On an error nothing was named.
static tfrt_status_t outgoing_call_name(tfrt_outgoing_call_t* call,
                                        const tfrt_outgoing_call_request_t* request) {
  if (call->cancelled) return tfrt_status_retain(call->cancelled);
  TFRT_RETURN_IF_ERROR(tfrt_job_budget_check(call->job, TFRT_JOB_BUDGET_MADE, 0));
  TFRT_RETURN_IF_ERROR(tfrt_job_reach(call->job, request->callee, &call->peer));
  uint32_t program = 0;
  if (request->program) {
    TFRT_RETURN_IF_ERROR(
        tfrt_job_announce_program(call->job, call->peer, request->program, &program));
  }
  call->number = tfrt_session_next_call(call->peer->session);
  TFRT_RETURN_IF_ERROR(outgoing_call_create_results(call, request));
  tfrt_arena_t* arena = tfrt_node_scratch(call->node);
  TFRT_RETURN_IF_ERROR(outgoing_call_order_results(call, arena));
  return tfrt_outgoing_invoke_send(call, request, program, arena);
}

// Gives the caller |status| (consumed) for results that were never named.
static void outgoing_call_refuse(tfrt_outgoing_call_t* call,
                                 const tfrt_outgoing_call_request_t* request,
                                 tfrt_status_t status) {
  tfrt_status_t located = tfrt_call_site_locate(&call->site, status);
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) call->results[i]->held = false;
    request->results[i] = tfrt_async_value_create_error(located);
  }
  outgoing_call_fail_results(call, located);
  outgoing_call_tell_unsent(call->node, request, located);
  outgoing_call_withdraw(call, located);
  tfrt_status_release(located);
  tfrt_status_release(status);
  outgoing_call_end(call);
}

// |refusal| is consumed.
static void outgoing_call_begin(tfrt_outgoing_call_t* call,
                                const tfrt_outgoing_call_request_t* request,
                                tfrt_status_t refusal) {
  tfrt_status_t status = refusal ? refusal : outgoing_call_name(call, request);
  if (status) {
    outgoing_call_refuse(call, request, status);
    return;
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    request->results[i] = tfrt_async_value_retain(&call->results[i]->base.base);
    if (request->retried) call->node->value_hooks->answer_waiting(call->results[i]);
  }
  tfrt_outgoing_call_set_state(call, TFRT_OUTGOING_CALL_OPEN);
  tfrt_job_add_trace_flow(call->job, TFRT_TRACE_FLOW_OUT, call->node->incarnation, call->number,
                          request->callee, call->request ? call->request->options.id : 0);
  ++call->node->counts.outgoing_calls;
  tfrt_job_budget_count_made(call->job, 1);
  tfrt_hash_table_insert(&call->peer->outgoing_calls, &call->number, &call->by_number);
  tfrt_list_push_back(&call->job->outgoing_calls, &call->in_job);
  if (!tfrt_outgoing_call_request_has_own_deadline(request)) return;
  call->timer_started = true;
  tfrt_ref_count_increment(&call->ref_count);
  tfrt_timer_start(call->node->options.timers, &call->timer, request->deadline_ns,
                   outgoing_call_run_timer);
}

tfrt_outgoing_call_t* tfrt_outgoing_call_prepare(tfrt_node_t* node,
                                                 const tfrt_outgoing_call_request_t* request) {
  tfrt_outgoing_call_t* call = outgoing_call_allocate(node, request);
  if (!call) {
    for (uint32_t i = 0; i < request->result_count; ++i) {
      request->results[i] = tfrt_async_value_out_of_memory();
    }
    return NULL;
  }
  tfrt_node_retain(node);
  call->is_message = request->message != TFRT_OUTGOING_NO_MESSAGE;
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    call->arguments[i] = tfrt_async_value_retain(request->arguments[i]);
  }
  call->scope = request->scope;
  tfrt_call_scope_enter(call->scope);
  // A cancel from here on is seen by outgoing_call_name(), or finds the call started.
  if (request->request) {
    tfrt_ref_count_increment(&call->ref_count);
    call->request = tfrt_request_context_retain(request->request);
    call->job = request->job;
    tfrt_cancellation_subscribe(&call->request->cancellation, &call->subscription,
                                outgoing_call_run_cancel);
  }
  return call;
}

void tfrt_outgoing_call_start_prepared(tfrt_outgoing_call_t* call,
                                       const tfrt_outgoing_call_request_t* request,
                                       tfrt_status_t refusal) {
  call->job = tfrt_job_retain(request->job);
  call->since_ns = call->node->tick_ns;
  call->name = request->name ? request->name : "";
  tfrt_call_site_set(&call->site, request->caller, request->site);
  outgoing_call_begin(call, request, refusal);
}

void tfrt_outgoing_call_discard(tfrt_outgoing_call_t* call, tfrt_job_t* job) {
  call->job = tfrt_job_retain(job);
  outgoing_call_end(call);
}

// There is no memory for the record of a call.
static void outgoing_call_miss(tfrt_node_t* node, const tfrt_outgoing_call_request_t* request) {
  tfrt_call_site_t site = {0};
  tfrt_call_site_set(&site, request->caller, request->site);
  tfrt_status_t status = tfrt_status_out_of_memory();
  tfrt_status_t located = tfrt_call_site_locate(&site, status);
  outgoing_call_tell_unsent(node, request, located);
  tfrt_status_release(located);
  tfrt_status_release(status);
}

void tfrt_outgoing_call_start(tfrt_node_t* node, const tfrt_outgoing_call_request_t* request) {
  tfrt_outgoing_call_t* call = tfrt_outgoing_call_prepare(node, request);
  tfrt_node_lock_tables(node);
  if (call) {
    tfrt_outgoing_call_start_prepared(call, request, NULL);
  } else {
    outgoing_call_miss(node, request);
  }
  tfrt_node_unlock(node);
}

// --- Results -----------------------------------------------------------------

static tfrt_status_t outgoing_call_on_item(tfrt_outgoing_call_t* call,
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
    if (call->take_inline && item->item.kind == TFRT_WIRE_ITEM_INLINE) result->held = false;
    tfrt_remote_value_on_item(result, &item->item);
  }
  call->results[item->index] = NULL;
  tfrt_remote_value_release(result);
  return NULL;
}

static bool outgoing_call_lacks_results(const tfrt_outgoing_call_t* call) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i]) return true;
  }
  return false;
}

static void outgoing_call_prefetch_lines(const void* block, size_t size) {
  for (size_t i = 0; i < size; i += 64) __builtin_prefetch((const char*)block + i, 1);
}

// Calls mostly end in the order in which they were made. The records of many calls are in no cache
// any more when their results come. So this prefetches the records of the next calls during the
// work at this one. It is only a hint: there may be another call at those numbers, or none.
static void outgoing_call_prefetch(const tfrt_peer_t* peer, uint64_t number) {
  const tfrt_hash_table_t* table = &peer->outgoing_calls;
  const tfrt_hash_node_t* record =
      *tfrt_hash_table_chain(table, number + TFRT_OUTGOING_CALL_RECORD_AHEAD);
  if (record) {
    outgoing_call_prefetch_lines(TFRT_CONTAINER_OF(record, tfrt_outgoing_call_t, by_number),
                                 sizeof(tfrt_outgoing_call_t) + 3 * sizeof(void*));
  }
  const tfrt_hash_node_t* node =
      *tfrt_hash_table_chain(table, number + TFRT_OUTGOING_CALL_RESULT_AHEAD);
  if (!node) return;
  const tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
  if (call->argument_count > 0) __builtin_prefetch(call->arguments[0], 1);
  if (call->result_count == 0 || !call->results[0]) return;
  outgoing_call_prefetch_lines(call->results[0], offsetof(tfrt_remote_value_t, bytes.here));
}

// A Result came. Returns an error (+1) for what is impossible.
static tfrt_status_t outgoing_call_on_result(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_result_t* result = &in->body->result;
  tfrt_outgoing_call_t* call = outgoing_call_find(peer, result->call);
  outgoing_call_prefetch(peer, result->call);
  if (!call) {
    if (result->call < tfrt_session_next_call(peer->session)) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a result came for the call %llu, which was never made",
                              (unsigned long long)result->call);
  }
  for (size_t i = 0; i < result->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(outgoing_call_on_item(call, &result->results[i]));
  }
  if (!result->done) return NULL;
  if (outgoing_call_lacks_results(call)) {
    tfrt_status_t missing =
        tfrt_status_create(TFRT_STATUS_INTERNAL, "@%s ended without this result", call->name);
    outgoing_call_fail_results(call, missing);
    tfrt_status_release(missing);
  }
  if (result->not_run) outgoing_call_withdraw_unrun(call, result);
  outgoing_call_end(call);
  return NULL;
}

// --- The end -----------------------------------------------------------------

// The error (+1) of |call|, whose callee is dead. A call that was never written surely never ran.
static tfrt_status_t outgoing_call_lost_error(const tfrt_outgoing_call_t* call) {
  bool was_written = tfrt_session_call_was_written(call->peer->session, call->number);
  tfrt_status_origin_t site = tfrt_call_site_origin(&call->site);
  tfrt_status_t lost =
      tfrt_peer_lost_error(call->peer, call->job, &site, "%s @%s",
                           was_written ? "while it ran" : "before it ran", call->name);
  if (was_written) return lost;
  tfrt_status_fields_t fields = *tfrt_status_fields(lost);
  fields.may_have_run = false;
  tfrt_status_t status = tfrt_status_create_from_fields(&fields);
  tfrt_status_release(lost);
  return status;
}

// True if a result of |call|, which is lost, waits for another run.
static bool outgoing_call_runs_again(const tfrt_outgoing_call_t* call) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i] && tfrt_remote_value_is_lost(call->results[i])) return true;
  }
  return false;
}

static void outgoing_call_bury_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing_calls); node;) {
    tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
    node = tfrt_hash_table_next(&peer->outgoing_calls, node);
    if (job && call->job != job) continue;
    // The close of the job has not reached this call yet: its results become the same error as the
    // others'.
    bool is_cancelled = tfrt_job_is_closed(call->job);
    tfrt_status_t status = is_cancelled ? tfrt_status_retain(call->job->closing.reason)
                                        : outgoing_call_lost_error(call);
    if (is_cancelled) {
      outgoing_call_fail_results(call, status);
    } else {
      outgoing_call_lose_results(call, status);
      // Living hosts may wait for kernels of this call, or of calls below it.
      if (!outgoing_call_runs_again(call)) outgoing_call_withdraw(call, status);
    }
    // If the session goes on, the call's number must still come.
    if (job) outgoing_call_void(call, status);
    tfrt_status_release(status);
    outgoing_call_end(call);
  }
}

// --- Owners ------------------------------------------------------------------

static void outgoing_call_on_peer_made(const tfrt_owner_end_t* end) {
  outgoing_call_initialize_table(&end->peer->outgoing_calls, end->node->options.allocator);
}

static void outgoing_call_on_peer_silent(const tfrt_owner_end_t* end) {
  outgoing_call_bury_all(end->peer, end->job);
}

static void outgoing_call_on_client_left(const tfrt_owner_end_t* end) {
  outgoing_call_cancel_all(end->peer, end->job, end->reason);
}

static const tfrt_owner_rule_t tfrt_outgoing_call_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_CALLS, outgoing_call_on_peer_made},
    {TFRT_OWNER_PEER_SILENT, TFRT_OWNER_CALLS, outgoing_call_on_peer_silent},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_CALLS, outgoing_call_on_client_left},
};

static const tfrt_frame_handler_t tfrt_outgoing_call_handlers[] = {
    {TFRT_WIRE_FRAME_RESULT, outgoing_call_on_result},
};

const tfrt_node_part_t tfrt_outgoing_call_part = {
    .rules = tfrt_outgoing_call_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_outgoing_call_rules),
    .handlers = tfrt_outgoing_call_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_outgoing_call_handlers),
};
