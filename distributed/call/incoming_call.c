// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/incoming_call.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/call/call_hooks.h"
#include "distributed/delivery/mail.h"
#include "distributed/domain/domain.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/object_name.h"
#include "distributed/value/value_item.h"

// --- The peer's table --------------------------------------------------------

// Call numbers are consecutive: each is its own hash, so consecutive calls have neighbouring
// chains.
static uint64_t incoming_call_hash(const void* key) { return *(const uint64_t*)key; }

static bool incoming_call_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number)->number == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_incoming_call_table_vtable = {
    .hash = incoming_call_hash,
    .equal = incoming_call_equal,
};

static void incoming_call_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_incoming_call_table_vtable, allocator);
}

// --- Life --------------------------------------------------------------------

// The bytes of a call's one block: the record, and its arrays behind it, those with the strictest
// alignment first.
static size_t incoming_call_size(size_t argument_count, size_t result_count) {
  return sizeof(tfrt_incoming_call_t) + tfrt_execution_room(argument_count, result_count) +
         (argument_count + result_count) * sizeof(tfrt_incoming_gate_wait_t) +
         argument_count * sizeof(tfrt_remote_value_watch_t) +
         result_count * (sizeof(uint32_t) + sizeof(uint8_t));
}

// Makes the slot of result |index| of |call|, which the result is promised to.
static void incoming_call_add_slot(const tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_job_t* job = call->execution.job;
  tfrt_object_t* object =
      tfrt_object_table_add_slot(job->node->objects, tfrt_incoming_call_slot_id(call, index), job,
                                 NULL, call->peer->incarnation);
  if (!object) return;
  tfrt_object_table_promise(object, &call->execution.results[index].promise);
  object->is_told = false;
  tfrt_object_set_maker(object, call->execution.program, call->execution.function);
}

// Tells the caller that each result of call |number| is |error|, and that it is done: in as many
// Results as it takes.
static void incoming_call_send_refusal(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                       uint32_t result_count, const tfrt_wire_error_t* error,
                                       tfrt_arena_t* arena) {
  const tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_ERROR, .error = error};
  const size_t most = TFRT_VALUE_ITEM_MAX_INLINE / tfrt_value_item_size(&item);
  tfrt_wire_result_item_t* results =
      tfrt_arena_allocate_array(arena, (size_t)result_count + 1, sizeof(*results));
  const size_t all = results ? result_count : 0;
  for (size_t i = 0; i < all; ++i) {
    results[i] = (tfrt_wire_result_item_t){.index = (uint32_t)i, .item = item};
  }
  size_t first = 0;
  bool done = false;
  while (!done) {
    const size_t count = all - first < most ? all - first : most;
    done = first + count == all;
    tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RESULT,
                             .result = {.call = number,
                                        .results = results ? results + first : NULL,
                                        .result_count = count,
                                        .done = done,
                                        .not_run = done}};
    tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = job}, &body);
    first += count;
  }
}

// Answers that call |number| is refused because of |status| (+0), and done.
static void incoming_call_refuse(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                 uint32_t result_count, tfrt_status_t status) {
  if (!tfrt_job_is_closed(job))
    tfrt_object_name_add_failed_call(peer, job, number, result_count, status);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, peer->node->options.allocator);
  tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
  tfrt_status_release(
      tfrt_wire_error_from_status(status, job->rank, peer->node->incarnation, &arena, &error));
  if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
  incoming_call_send_refusal(peer, job, number, result_count, &error, &arena);
  tfrt_arena_deinitialize(&arena);
  tfrt_incoming_call_return_credit(peer);
}

// Checks that |number| is the next one and processes it as far as names go.
static tfrt_status_t incoming_call_advance(tfrt_peer_t* peer, uint64_t number) {
  if (number != peer->watermark + 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the call %llu came after %llu",
                              (unsigned long long)number, (unsigned long long)peer->watermark);
  }
  peer->watermark = number;
  return NULL;
}

// True if |invoke| brings its own program, and calls function 0 of it.
static bool incoming_call_carries(const tfrt_wire_invoke_t* invoke) {
  return invoke->program == 0 && invoke->function == TFRT_WIRE_BUILTIN_RUN;
}

// Copies from |invoke| of |peer| into |execution| the caller, the call, the function, the depth and
// the device.
static void incoming_call_copy_invoke(const tfrt_peer_t* peer, const tfrt_wire_invoke_t* invoke,
                                      tfrt_execution_t* execution) {
  execution->is_carried = incoming_call_carries(invoke);
  execution->function = execution->is_carried ? 0 : invoke->function;
  execution->caller = peer->incarnation;
  execution->call = invoke->call;
  execution->depth = invoke->depth + 1;
  if (invoke->device.size > 0) {
    memcpy(execution->device, invoke->device.data, invoke->device.size);
  }
}

static tfrt_incoming_call_t* incoming_call_allocate(tfrt_peer_t* peer, tfrt_job_t* job,
                                                    const tfrt_wire_invoke_t* invoke) {
  size_t size = incoming_call_size(invoke->argument_count, invoke->result_count);
  tfrt_incoming_call_t* call = tfrt_allocator_allocate_zeroed(job->node->options.allocator, size);
  if (!call) return NULL;
  call->size = size;
  call->peer = peer;
  call->number = invoke->call;
  call->results_wanted = invoke->results_wanted;
  call->take_inline = invoke->take_inline;
  call->results_can_wait = invoke->results_can_wait;
  incoming_call_copy_invoke(peer, invoke, &call->execution);
  call->execution.room = call + 1;
  call->gate.waits =
      (tfrt_incoming_gate_wait_t*)((char*)(call + 1) + tfrt_execution_room(invoke->argument_count,
                                                                           invoke->result_count));
  call->gate.watches = (tfrt_remote_value_watch_t*)(call->gate.waits + invoke->argument_count +
                                                    invoke->result_count);
  call->same_as = (uint32_t*)(call->gate.watches + invoke->argument_count);
  call->states = (uint8_t*)(call->same_as + invoke->result_count);
  return call;
}

// Sets |*out_program| (+0, as long as the lock is held) to the program whose image |invoke|, a call
// of BUILTIN_RUN in |job|, brings; it may still have to be loaded.
static tfrt_status_t incoming_call_take_image(tfrt_job_t* job, const tfrt_wire_invoke_t* invoke,
                                              tfrt_cached_program_t** out_program) {
  *out_program = NULL;
  if (job->asks_only) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a program came in a job that only asks");
  }
  tfrt_cached_program_t* program = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_program_cache_add_few_bytes(job->node, invoke->image, &program));
  *out_program = program;
  // The cache has it until the lock is opened.
  tfrt_cached_program_release(program);
  return NULL;
}

// Sets |*out_program| to the program to run, NULL for a built-in function. An error (+1) refuses
// the call.
static tfrt_status_t incoming_call_check(tfrt_peer_t* peer, tfrt_job_t* job,
                                         const tfrt_wire_invoke_t* invoke, uint64_t request,
                                         tfrt_cached_program_t** out_program) {
  *out_program = NULL;
  if (tfrt_job_is_closed(job)) return tfrt_status_retain(job->closing.reason);
  tfrt_status_t cancelled = tfrt_cancelled_requests_find(&job->cancelled_requests, request);
  if (cancelled) return tfrt_status_retain(cancelled);
  if (peer->node->closed) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "host %u takes no more calls", job->rank);
  }
  if (incoming_call_carries(invoke)) {
    TFRT_RETURN_IF_ERROR(incoming_call_take_image(job, invoke, out_program));
    return tfrt_job_budget_check(job, TFRT_JOB_BUDGET_CALL, invoke->result_count);
  }
  if (invoke->program == 0) {
    if (peer->node->call_hooks->has_service(peer, job, invoke)) return NULL;
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "there is no built-in function %u here",
                              invoke->function);
  }
  tfrt_job_program_t* program = tfrt_job_find_program(job, peer->incarnation, invoke->program);
  if (!program) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the program %u was not announced",
                              invoke->program);
  }
  *out_program = program->cached;
  return tfrt_job_budget_check(job, TFRT_JOB_BUDGET_CALL, invoke->result_count);
}

// For debugging: only such lines are written at that level.
static void incoming_call_log_begin(const tfrt_job_t* job, uint64_t call, uint64_t caller,
                                    const char* function) {
  if (!tfrt_log_is_enabled(TFRT_LOG_DEBUG)) return;
  const tfrt_log_context_t context = tfrt_event_log_context(job, call);
  tfrt_log(TFRT_LOG_DEBUG, &context, "called by %016" PRIx64 ": @%s", caller, function);
}

// Makes the slots of |call|, which |invoke| asks for, and starts it.
static void incoming_call_begin(tfrt_incoming_call_t* call, const tfrt_wire_invoke_t* invoke) {
  tfrt_execution_t* execution = &call->execution;
  tfrt_peer_t* peer = call->peer;
  for (uint32_t i = 0; i < execution->result_count; ++i) incoming_call_add_slot(call, i);
  tfrt_incoming_want_push(peer, execution->job, invoke);
  ++execution->node->counts.incoming_calls;
  ++execution->job->usage.incoming;
  if (execution->program) ++execution->job->usage.calls;
  tfrt_hash_table_insert(&peer->incoming_calls, &call->number, &call->by_number);
  if (execution->node->options.logs_events) {
    incoming_call_log_begin(execution->job, call->number, peer->incarnation,
                            tfrt_execution_function_name(execution));
  }
  if (execution->program) {
    tfrt_execution_start(execution);
  } else {
    tfrt_execution_retain(execution);
    execution->node->call_hooks->start_service(execution, peer);
    if (!tfrt_incoming_call_is_done(call)) execution->vtable->waits(execution);
    tfrt_execution_release(execution);
  }
}

// An Invoke, or a Void, came; without a job, that is closed here, and the call is refused. Returns
// an error (+1) for what is impossible: a call number that is not the next one.
static tfrt_status_t incoming_call_on_invoke(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_invoke_t* invoke = &in->body->invoke;
  uint64_t request = in->frame->request;
  TFRT_RETURN_IF_ERROR(incoming_call_advance(peer, invoke->call));
  if (!job) {
    tfrt_incoming_call_return_credit(peer);
    return NULL;
  }
  tfrt_cached_program_t* program = NULL;
  tfrt_status_t status = incoming_call_check(peer, job, invoke, request, &program);
  tfrt_incoming_call_t* call = status ? NULL : incoming_call_allocate(peer, job, invoke);
  if (!call) {
    if (!status) status = tfrt_status_out_of_memory();
    incoming_call_refuse(peer, job, invoke->call, invoke->result_count, status);
    tfrt_incoming_want_push(peer, job, invoke);
    tfrt_status_release(status);
    tfrt_incoming_want_serve_held(peer);
    return NULL;
  }
  call->execution.program = program;
  call->execution.request_id = request;
  call->execution.deadline.at_ns = in->deadline_ns;
  status =
      tfrt_execution_initialize(&call->execution, &tfrt_incoming_call_vtable, job,
                                invoke->arguments, invoke->argument_count, invoke->result_count);
  if (status) {
    incoming_call_refuse(peer, job, invoke->call, invoke->result_count, status);
    tfrt_incoming_want_push(peer, job, invoke);
    tfrt_status_release(status);
    tfrt_execution_finish(&call->execution);
    tfrt_execution_release(&call->execution);
  } else {
    incoming_call_begin(call, invoke);
  }
  tfrt_incoming_want_serve_held(peer);
  return NULL;
}

static tfrt_status_t incoming_call_on_void(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_void_call_t* call = &in->body->void_call;
  uint64_t request = in->frame->request;
  TFRT_RETURN_IF_ERROR(incoming_call_advance(peer, call->call));
  if (job && !tfrt_job_is_closed(job)) {
    tfrt_status_t status = tfrt_wire_error_to_status(call->error);
    tfrt_object_name_add_failed_call(peer, job, call->call, call->result_count, status);
    if (call->key.size > 0 && !tfrt_cancelled_requests_find(&job->cancelled_requests, request)) {
      uint32_t rank = tfrt_job_rank_of(job, peer->incarnation);
      tfrt_mail_fail(job, request, rank, call->key, status);
    }
    tfrt_status_release(status);
  }
  tfrt_incoming_call_return_credit(peer);
  tfrt_incoming_want_serve_held(peer);
  return NULL;
}

tfrt_execution_t* tfrt_incoming_call_find(tfrt_peer_t* peer, uint64_t number) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->incoming_calls, &number);
  return node ? &TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number)->execution : NULL;
}

tfrt_object_t* tfrt_incoming_call_slot(tfrt_incoming_call_t* call, uint32_t index) {
  return tfrt_object_table_find(call->execution.node->objects,
                                tfrt_incoming_call_slot_id(call, index), call->execution.job);
}

// A Cancel came; late ones are ignored.
static tfrt_status_t incoming_call_on_cancel(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_cancel_t* cancel = &in->body->cancel;
  tfrt_execution_t* execution = tfrt_incoming_call_find(in->peer, cancel->call);
  if (!execution) return NULL;
  // A caller that cancels a call waits for its end.
  tfrt_incoming_call_cast(execution)->results_can_wait = false;
  tfrt_status_t reason =
      cancel->reason ? tfrt_wire_error_to_status(cancel->reason)
                     : tfrt_status_create(TFRT_STATUS_CANCELLED, "the caller cancelled the call");
  tfrt_execution_cancel(execution, reason);
  tfrt_status_release(reason);
  return NULL;
}

// A Hurry came: the Results of the call wait no longer, those that do included.
static tfrt_status_t incoming_call_on_hurry(const tfrt_incoming_frame_t* in) {
  tfrt_execution_t* execution = tfrt_incoming_call_find(in->peer, in->body->hurry.call);
  if (execution) tfrt_incoming_call_cast(execution)->results_can_wait = false;
  tfrt_session_flush(in->peer->session, TFRT_SESSION_FLUSH_WAITING);
  return NULL;
}

// Cancels the calls of |request| (0: all) that |peer| made in |job|, because of |reason| (+0).
static void incoming_call_cancel_request(tfrt_peer_t* peer, const tfrt_job_t* job, uint64_t request,
                                         tfrt_status_t reason) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
       node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
    tfrt_execution_t* execution =
        &TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number)->execution;
    bool is_it = execution->job == job && (request == 0 || execution->request_id == request);
    if (is_it) tfrt_execution_cancel(execution, reason);
  }
}

// Cancels |call|, which nobody waits for any more, since |peer| is lost.
static void incoming_call_lose(tfrt_incoming_call_t* call, const tfrt_peer_t* peer) {
  // The place of the call is not known here, and a host that was given a result needs a place.
  tfrt_status_origin_t place;
  tfrt_execution_function_place(&call->execution, &place);
  tfrt_status_t lost =
      tfrt_peer_lost_error(peer, call->execution.job, &place, "before its call was answered");
  tfrt_execution_cancel(&call->execution, lost);
  tfrt_status_release(lost);
}

static void incoming_call_lose_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
       node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
    tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
    if (call->execution.job == job) incoming_call_lose(call, peer);
  }
}

static void incoming_call_bury_all(tfrt_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;) {
    tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
    node = tfrt_hash_table_next(&peer->incoming_calls, node);
    tfrt_hash_table_remove(&peer->incoming_calls, &call->by_number);
    call->peer = NULL;
    incoming_call_lose(call, peer);
    tfrt_incoming_call_flush_later(call);
  }
}

// --- Owners ------------------------------------------------------------------

static void incoming_call_on_peer_made(const tfrt_owner_end_t* end) {
  incoming_call_initialize_table(&end->peer->incoming_calls, end->node->options.allocator);
}

static void incoming_call_on_peer_lost(const tfrt_owner_end_t* end) {
  if (end->job) {
    incoming_call_lose_all(end->peer, end->job);
  } else {
    incoming_call_bury_all(end->peer);
  }
}

// The job is closed, or the request cancelled.
static void incoming_call_on_cancelled(const tfrt_owner_end_t* end) {
  // Other jobs may have very many calls.
  if (end->job->usage.incoming == 0) return;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    incoming_call_cancel_request(peer, end->job, end->request, end->reason);
  }
}

static const tfrt_owner_rule_t tfrt_incoming_call_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_CALLS, incoming_call_on_peer_made},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_CALLS, incoming_call_on_peer_lost},
    {TFRT_OWNER_JOB_CLOSED, TFRT_OWNER_CALLS, incoming_call_on_cancelled},
    {TFRT_OWNER_REQUEST_CANCELLED, TFRT_OWNER_CALLS, incoming_call_on_cancelled},
};

static const tfrt_frame_handler_t tfrt_incoming_call_handlers[] = {
    {TFRT_WIRE_FRAME_INVOKE, incoming_call_on_invoke},
    {TFRT_WIRE_FRAME_VOID, incoming_call_on_void},
    {TFRT_WIRE_FRAME_CANCEL, incoming_call_on_cancel},
    {TFRT_WIRE_FRAME_HURRY, incoming_call_on_hurry},
};

const tfrt_node_part_t tfrt_incoming_call_part = {
    .rules = tfrt_incoming_call_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_incoming_call_rules),
    .handlers = tfrt_incoming_call_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_incoming_call_handlers),
};
