// SPDX-License-Identifier: Apache-2.0
#include "distributed/incoming_call.h"

#include <string.h>

#include "distributed/execution.h"
#include "distributed/incoming_want.h"
#include "distributed/printing.h"
#include "distributed/tracing.h"

// What became of one result, as far as the caller is concerned.
typedef enum tfrt_incoming_result_state_e {
  TFRT_INCOMING_RESULT_UNKNOWN = 0,
  TFRT_INCOMING_RESULT_KNOWN,
  TFRT_INCOMING_RESULT_TOLD,
} tfrt_incoming_result_state_t;

typedef struct tfrt_incoming_call_s tfrt_incoming_call_t;

// A wait for an argument that is still used when the call has retired.
typedef struct tfrt_incoming_gate_s {
  tfrt_incoming_call_t* call;
  tfrt_task_t task;
} tfrt_incoming_gate_t;

struct tfrt_incoming_call_s {
  tfrt_execution_t execution;
  tfrt_peer_t* peer;  // NULL: the caller is dead
  tfrt_hash_node_t by_number;
  uint64_t number;
  uint64_t results_wanted;
  uint8_t* states;              // tfrt_incoming_result_state_t, per result
  uint32_t* same_as;            // per result: 1 + the argument that it was told to be, or 0
  tfrt_incoming_gate_t* gates;  // per argument
  uint32_t gated;               // arguments that are waited for
  tfrt_task_t flush;
  bool flush_deferred;
  bool gate_is_due;  // the next flush closes the gate
  bool gate_is_closed;
  bool done;
};

static uint64_t tfrt_incoming_call_hash(const void* key) {
  return tfrt_hash_u64(*(const uint64_t*)key);
}

static bool tfrt_incoming_call_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number)->number == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_incoming_call_table_vtable = {
    .hash = tfrt_incoming_call_hash,
    .equal = tfrt_incoming_call_equal,
};

void tfrt_incoming_call_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_incoming_call_table_vtable, allocator);
}

static tfrt_incoming_call_t* tfrt_incoming_call_cast(tfrt_execution_t* execution) {
  return TFRT_CONTAINER_OF(execution, tfrt_incoming_call_t, execution);
}

static tfrt_wire_object_id_t tfrt_incoming_call_slot_id(const tfrt_peer_t* peer, uint64_t call,
                                                        uint32_t index) {
  return (tfrt_wire_object_id_t){.namer = peer->incarnation, .number = call, .index = index};
}

// --- Results -----------------------------------------------------------------

// The argument that is |remote|, or UINT32_MAX.
static uint32_t tfrt_incoming_call_find_argument(tfrt_incoming_call_t* call,
                                                 const tfrt_remote_value_t* remote) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    if (call->execution.arguments[j] == &remote->base.base) return j;
  }
  return UINT32_MAX;
}

// The slot of result |index|, or NULL if nobody holds it any more.
static tfrt_object_t* tfrt_incoming_call_slot(tfrt_incoming_call_t* call, uint32_t index) {
  return tfrt_object_table_find(&call->execution.node->objects,
                                tfrt_incoming_call_slot_id(call->peer, call->number, index),
                                call->execution.job);
}

// Sets |*out_item| to result |index|, which is somebody else's value.
static void tfrt_incoming_call_describe_remote(tfrt_incoming_call_t* call, uint32_t index,
                                               tfrt_remote_value_t* remote,
                                               tfrt_wire_item_t* out_item) {
  uint32_t argument = tfrt_incoming_call_find_argument(call, remote);
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  bool is_private = slot && slot->holders && !slot->holders->next && slot->loans == 0;
  if (argument != UINT32_MAX && is_private) {
    call->same_as[index] = argument + 1;
    *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_SAME_AS_ARGUMENT,
                                   .same_as_argument = {.argument = argument}};
    return;
  }
  tfrt_object_table_keep(&call->execution.node->objects, slot, &remote->base.base);
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE, .reference = remote->location};
}

// The bytes that result |index| may take in a message. What may still be written when it is
// available goes with the last of the results, as the chains among them order that.
static size_t tfrt_incoming_call_inline_limit(const tfrt_incoming_call_t* call, uint32_t index) {
  if (index >= 64 || !(call->results_wanted >> index & 1)) return 0;
  tfrt_async_value_t* value = tfrt_async_value_resolved(call->execution.results[index].value);
  bool is_mutable = !tfrt_async_value_is_error(value) &&
                    (tfrt_type_get(value->type_id)->flags & TFRT_TYPE_FLAG_MUTABLE);
  for (uint32_t i = 0; i < call->execution.result_count && is_mutable; ++i) {
    if (call->states[i] == TFRT_INCOMING_RESULT_UNKNOWN) return 0;
  }
  return call->execution.node->options.inline_limit;
}

// Sets |*out_item| to what result |index|, which is known, is.
static tfrt_status_t tfrt_incoming_call_describe(tfrt_incoming_call_t* call, uint32_t index,
                                                 tfrt_arena_t* arena, tfrt_wire_item_t* out_item) {
  tfrt_node_t* node = call->execution.node;
  tfrt_async_value_t* value = call->execution.results[index].value;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    tfrt_incoming_call_describe_remote(call, index, remote, out_item);
    tfrt_remote_value_release(remote);
    return NULL;
  }
  size_t limit = tfrt_incoming_call_inline_limit(call, index);
  TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(
      value, limit, tfrt_node_host(node, call->execution.job), arena, out_item));
  if (out_item->kind != TFRT_WIRE_ITEM_NONE) return NULL;
  out_item->kind = TFRT_WIRE_ITEM_AVAILABLE;
  out_item->available = tfrt_value_item_describe(value);
  return NULL;
}

// True if result |index| was elsewhere when it became known, and has been resolved since by an
// action that is still to be carried out: there is nothing to tell of it before that.
static bool tfrt_incoming_call_is_on_its_way(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_async_value_t* value = call->execution.results[index].value;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(call->execution.node, value);
  if (remote) tfrt_remote_value_release(remote);
  return !remote && !tfrt_async_value_is_available(value);
}

// Fills |results| with what is known and was not told; returns how many.
static size_t tfrt_incoming_call_collect(tfrt_incoming_call_t* call, tfrt_arena_t* arena,
                                         tfrt_wire_result_item_t* results) {
  size_t count = 0;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] != TFRT_INCOMING_RESULT_KNOWN) continue;
    if (tfrt_incoming_call_is_on_its_way(call, i)) {
      call->states[i] = TFRT_INCOMING_RESULT_UNKNOWN;
      tfrt_execution_observe_again(&call->execution, i);
      continue;
    }
    tfrt_status_t status = tfrt_incoming_call_describe(call, i, arena, &results[count].item);
    if (status) {
      // Without memory for details: that there is a value is still true.
      tfrt_status_release(status);
      results[count].item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_AVAILABLE};
    }
    results[count++].index = i;
    call->states[i] = TFRT_INCOMING_RESULT_TOLD;
  }
  return count;
}

static bool tfrt_incoming_call_is_complete(const tfrt_incoming_call_t* call) {
  if (!call->execution.retired || !call->gate_is_closed || call->gated > 0) return false;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] == TFRT_INCOMING_RESULT_UNKNOWN) return false;
  }
  return true;
}

// The call is over: forgets it.
static void tfrt_incoming_call_end(tfrt_incoming_call_t* call) {
  call->done = true;
  if (call->peer) {
    tfrt_hash_table_remove(&call->peer->incoming_calls, &call->by_number);
    tfrt_peer_return_call_credit(call->peer);
  }
  --call->execution.node->counts.incoming_calls;
  tfrt_execution_finish(&call->execution);
  tfrt_execution_release(&call->execution);
}

// Tells the caller what it doesn't know yet; ends the call if nothing more is to come.
static void tfrt_incoming_call_tell(tfrt_incoming_call_t* call) {
  tfrt_node_t* node = call->execution.node;
  if (!call->peer) {
    if (tfrt_incoming_call_is_complete(call)) tfrt_incoming_call_end(call);
    return;
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_wire_result_item_t* results =
      tfrt_arena_allocate_array(&arena, call->execution.result_count + 1, sizeof(*results));
  size_t count = results ? tfrt_incoming_call_collect(call, &arena, results) : 0;
  bool done = results && tfrt_incoming_call_is_complete(call);
  if (count > 0 || done) {
    tfrt_wire_body_t body = {
        .kind = TFRT_WIRE_FRAME_RESULT,
        .result = {.call = call->number, .results = results, .result_count = count, .done = done}};
    tfrt_peer_send(
        call->peer,
        &(tfrt_peer_frame_t){.job = call->execution.job, .request = call->execution.request_id},
        &body);
  }
  tfrt_arena_deinitialize(&arena);
  if (done) tfrt_incoming_call_end(call);
}

static void tfrt_incoming_call_flush_later(tfrt_incoming_call_t* call);
static void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call);

// Runs when the lock is opened: what became known meanwhile goes in one message.
static void tfrt_incoming_call_run_flush(tfrt_task_t* task) {
  tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(task, tfrt_incoming_call_t, flush);
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  call->flush_deferred = false;
  if (!call->done) tfrt_incoming_call_advance_gate(call);
  if (!call->done) tfrt_incoming_call_tell(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_incoming_call_flush_later(tfrt_incoming_call_t* call) {
  if (call->flush_deferred || call->done) return;
  call->flush_deferred = true;
  tfrt_execution_retain(&call->execution);
  tfrt_node_lock_defer(&call->execution.node->lock, &call->flush);
}

static void tfrt_incoming_call_known(tfrt_execution_t* execution, uint32_t index) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  call->states[index] = TFRT_INCOMING_RESULT_KNOWN;
  tfrt_incoming_call_flush_later(call);
}

// --- The gate ----------------------------------------------------------------

// Runs when the payload of an argument that is kept is here.
static void tfrt_incoming_call_run_gate(tfrt_task_t* task) {
  tfrt_incoming_gate_t* gate = TFRT_CONTAINER_OF(task, tfrt_incoming_gate_t, task);
  tfrt_incoming_call_t* call = gate->call;
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  --call->gated;
  tfrt_incoming_call_flush_later(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// True if argument |index|, which is lent and not here, is used beyond the call: by more than
// the call's own record and the slots that the caller knows to be this argument.
static bool tfrt_incoming_call_is_kept(tfrt_incoming_call_t* call, uint32_t index) {
  uint32_t expected = 2;  // the record's, and that of whoever looks
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->same_as[i] != index + 1) continue;
    // The result's own, and the slot's target.
    expected += 2;
  }
  tfrt_async_value_t* value = call->execution.arguments[index];
  // Acquire: pairs with the releases of others' references.
  return atomic_load_explicit(&value->count, memory_order_acquire) > expected;
}

// Runs once, when nothing of the call runs any more.
static void tfrt_incoming_call_close_gate(tfrt_incoming_call_t* call) {
  tfrt_node_t* node = call->execution.node;
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_async_value_t* argument = call->execution.arguments[j];
    tfrt_remote_value_t* remote = tfrt_remote_value_of(node, argument);
    if (!remote) continue;
    bool kept = &remote->base.base == argument && tfrt_incoming_call_is_kept(call, j);
    tfrt_remote_value_release(remote);
    if (!kept) continue;
    ++call->gated;
    tfrt_execution_retain(&call->execution);
    call->gates[j].call = call;
    tfrt_task_initialize(&call->gates[j].task, tfrt_incoming_call_run_gate);
    tfrt_action_queue_wait(&node->actions, argument, TFRT_ACTION_AND_THEN, &call->gates[j].task);
  }
}

// True if an argument was lent and isn't here.
static bool tfrt_incoming_call_has_borrowed(tfrt_incoming_call_t* call) {
  bool has_borrowed = false;
  for (uint32_t j = 0; j < call->execution.argument_count && !has_borrowed; ++j) {
    tfrt_remote_value_t* remote =
        tfrt_remote_value_of(call->execution.node, call->execution.arguments[j]);
    if (!remote) continue;
    has_borrowed = true;
    tfrt_remote_value_release(remote);
  }
  return has_borrowed;
}

// Closes the gate of a call that has retired. Where something is borrowed, one flush later: who
// still uses it is judged by counting, when the results are told and what this host let go of
// meanwhile is let go of.
static void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call) {
  if (!call->execution.retired || call->gate_is_closed) return;
  bool must_wait = call->peer && !call->gate_is_due && tfrt_incoming_call_has_borrowed(call);
  if (must_wait) {
    call->gate_is_due = true;
    tfrt_incoming_call_flush_later(call);
    return;
  }
  call->gate_is_closed = true;
  if (call->peer) tfrt_incoming_call_close_gate(call);
}

static void tfrt_incoming_call_retired(tfrt_execution_t* execution) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  if (!call->done) tfrt_incoming_call_flush_later(call);
}

// --- Life --------------------------------------------------------------------

static void tfrt_incoming_call_destroy(tfrt_execution_t* execution) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  tfrt_allocator_t allocator = execution->node->options.allocator;
  tfrt_allocator_free(allocator, call->states, execution->result_count + 1);
  tfrt_allocator_free(allocator, call->same_as,
                      (execution->result_count + 1) * sizeof(*call->same_as));
  tfrt_allocator_free(allocator, call->gates,
                      (execution->argument_count + 1) * sizeof(*call->gates));
  tfrt_allocator_free(allocator, call, sizeof(*call));
}

static const tfrt_execution_vtable_t tfrt_incoming_call_vtable = {
    .known = tfrt_incoming_call_known,
    .retired = tfrt_incoming_call_retired,
    .destroy = tfrt_incoming_call_destroy,
};

// Makes the slot of result |index| of call |number|, unresolved or, with |value| (+0), that.
// Returns the indirect (+1), or NULL.
static tfrt_indirect_value_t* tfrt_incoming_call_add_slot(tfrt_peer_t* peer, tfrt_job_t* job,
                                                          uint64_t number, uint32_t index) {
  tfrt_indirect_value_t* slot = tfrt_indirect_value_create();
  if (!slot) return NULL;
  tfrt_async_value_retain(&slot->base);
  if (tfrt_object_table_add_slot(&job->node->objects,
                                 tfrt_incoming_call_slot_id(peer, number, index), job, &slot->base,
                                 peer->incarnation)) {
    return slot;
  }
  tfrt_action_queue_release(&job->node->actions, &slot->base);
  return NULL;
}

// Makes all slots of a call that doesn't run, as the error |status| (+0).
static void tfrt_incoming_call_add_error_slots(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                               uint32_t result_count, tfrt_status_t status) {
  for (uint32_t i = 0; i < result_count; ++i) {
    tfrt_object_table_add_slot(&job->node->objects, tfrt_incoming_call_slot_id(peer, number, i),
                               job, tfrt_async_value_create_error(status), peer->incarnation);
  }
}

// Answers that call |number| is refused because of |status| (+0), and done.
static void tfrt_incoming_call_refuse(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                      uint32_t result_count, tfrt_status_t status) {
  if (!job->closed) {
    tfrt_incoming_call_add_error_slots(peer, job, number, result_count, status);
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, peer->node->options.allocator);
  tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
  tfrt_status_release(
      tfrt_wire_error_from_status(status, job->rank, peer->node->incarnation, &arena, &error));
  if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
  tfrt_wire_result_item_t* results =
      tfrt_arena_allocate_array(&arena, result_count + 1, sizeof(*results));
  for (uint32_t i = 0; results && i < result_count; ++i) {
    results[i].index = i;
    results[i].item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error};
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RESULT,
                           .result = {.call = number,
                                      .results = results,
                                      .result_count = results ? result_count : 0,
                                      .done = true}};
  tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = job}, &body);
  tfrt_arena_deinitialize(&arena);
  tfrt_peer_return_call_credit(peer);
}

// Checks that |number| is the next one and processes it as far as names go.
static tfrt_status_t tfrt_incoming_call_advance(tfrt_peer_t* peer, uint64_t number) {
  if (number != peer->watermark + 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the call %llu came after %llu",
                              (unsigned long long)number, (unsigned long long)peer->watermark);
  }
  peer->watermark = number;
  return NULL;
}

static tfrt_incoming_call_t* tfrt_incoming_call_allocate(tfrt_peer_t* peer, tfrt_job_t* job,
                                                         const tfrt_wire_invoke_t* invoke) {
  tfrt_allocator_t allocator = job->node->options.allocator;
  tfrt_incoming_call_t* call = tfrt_allocator_allocate_zeroed(allocator, sizeof(*call));
  if (!call) return NULL;
  call->peer = peer;
  call->number = invoke->call;
  call->results_wanted = invoke->results_wanted;
  tfrt_task_initialize(&call->flush, tfrt_incoming_call_run_flush);
  call->states = tfrt_allocator_allocate_zeroed(allocator, invoke->result_count + 1);
  call->same_as = tfrt_allocator_allocate_zeroed(
      allocator, (invoke->result_count + 1) * sizeof(*call->same_as));
  call->gates = tfrt_allocator_allocate_zeroed(allocator,
                                               (invoke->argument_count + 1) * sizeof(*call->gates));
  if (call->states && call->same_as && call->gates) return call;
  tfrt_allocator_free(allocator, call->states, invoke->result_count + 1);
  tfrt_allocator_free(allocator, call->same_as,
                      (invoke->result_count + 1) * sizeof(*call->same_as));
  tfrt_allocator_free(allocator, call->gates, (invoke->argument_count + 1) * sizeof(*call->gates));
  tfrt_allocator_free(allocator, call, sizeof(*call));
  return NULL;
}

// Returns true if |invoke| is of a built-in function that this host has for |peer|.
static bool tfrt_incoming_call_is_builtin(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                          const tfrt_wire_invoke_t* invoke) {
  if (invoke->function == TFRT_WIRE_BUILTIN_PRINT) {
    return invoke->argument_count == 2 && invoke->result_count == 1 && job->print;
  }
  return invoke->function == TFRT_WIRE_BUILTIN_TRACE && invoke->argument_count == 0 &&
         invoke->result_count == 1 && peer->incarnation == job->client.incarnation;
}

// What is to be run; NULL for a built-in function.
static tfrt_status_t tfrt_incoming_call_check(tfrt_peer_t* peer, tfrt_job_t* job,
                                              const tfrt_wire_invoke_t* invoke,
                                              tfrt_cached_program_t** out_program) {
  *out_program = NULL;
  if (job->closed) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is closed on host %u", job->rank);
  }
  if (peer->node->closed) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "host %u takes no more calls", job->rank);
  }
  if (invoke->program == 0) {
    if (tfrt_incoming_call_is_builtin(peer, job, invoke)) return NULL;
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "there is no built-in function %u here",
                              invoke->function);
  }
  tfrt_job_program_t* program = tfrt_job_find_program(job, peer->incarnation, invoke->program);
  if (!program) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the program %u was not announced",
                              invoke->program);
  }
  *out_program = program->cached;
  return NULL;
}

// Makes the slots of |call| and starts it.
static void tfrt_incoming_call_begin(tfrt_incoming_call_t* call) {
  tfrt_execution_t* execution = &call->execution;
  tfrt_peer_t* peer = call->peer;
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution->results[i].slot = tfrt_incoming_call_add_slot(peer, execution->job, call->number, i);
  }
  ++execution->node->counts.incoming_calls;
  tfrt_hash_table_insert(&peer->incoming_calls, &call->number, &call->by_number);
  if (execution->program) {
    tfrt_execution_start(execution);
  } else if (execution->function == TFRT_WIRE_BUILTIN_TRACE) {
    tfrt_tracing_start(execution);
  } else {
    tfrt_printing_start(execution, tfrt_job_rank_of(execution->job, peer->incarnation));
  }
}

tfrt_status_t tfrt_incoming_call_on_invoke(tfrt_peer_t* peer, tfrt_job_t* job,
                                           const tfrt_wire_invoke_t* invoke, uint64_t request,
                                           int64_t deadline_ns) {
  TFRT_RETURN_IF_ERROR(tfrt_incoming_call_advance(peer, invoke->call));
  if (!job) {
    tfrt_peer_return_call_credit(peer);
    return NULL;
  }
  tfrt_cached_program_t* program = NULL;
  tfrt_status_t status = tfrt_incoming_call_check(peer, job, invoke, &program);
  tfrt_incoming_call_t* call = status ? NULL : tfrt_incoming_call_allocate(peer, job, invoke);
  if (!call) {
    if (!status) status = tfrt_status_out_of_memory();
    tfrt_incoming_call_refuse(peer, job, invoke->call, invoke->result_count, status);
    tfrt_status_release(status);
    tfrt_incoming_want_serve_held(peer);
    return NULL;
  }
  call->execution.program = program;
  call->execution.function = invoke->function;
  call->execution.request_id = request;
  call->execution.depth = invoke->depth + 1;
  call->execution.deadline_ns = deadline_ns;
  status =
      tfrt_execution_initialize(&call->execution, &tfrt_incoming_call_vtable, job,
                                invoke->arguments, invoke->argument_count, invoke->result_count);
  if (status) {
    tfrt_incoming_call_refuse(peer, job, invoke->call, invoke->result_count, status);
    tfrt_status_release(status);
    tfrt_execution_finish(&call->execution);
    tfrt_execution_release(&call->execution);
  } else {
    tfrt_incoming_call_begin(call);
  }
  tfrt_incoming_want_serve_held(peer);
  return NULL;
}

tfrt_status_t tfrt_incoming_call_on_void(tfrt_peer_t* peer, tfrt_job_t* job,
                                         const tfrt_wire_void_t* call) {
  TFRT_RETURN_IF_ERROR(tfrt_incoming_call_advance(peer, call->call));
  if (job && !job->closed) {
    tfrt_status_t status = tfrt_wire_error_to_status(call->error);
    tfrt_incoming_call_add_error_slots(peer, job, call->call, call->result_count, status);
    tfrt_status_release(status);
  }
  tfrt_peer_return_call_credit(peer);
  tfrt_incoming_want_serve_held(peer);
  return NULL;
}

void tfrt_incoming_call_on_cancel(tfrt_peer_t* peer, const tfrt_wire_cancel_t* cancel) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->incoming_calls, &cancel->call);
  if (!node) return;
  tfrt_status_t reason =
      cancel->reason ? tfrt_wire_error_to_status(cancel->reason)
                     : tfrt_status_create(TFRT_STATUS_CANCELLED, "the caller cancelled the call");
  tfrt_execution_cancel(&TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number)->execution,
                        reason);
  tfrt_status_release(reason);
}

void tfrt_incoming_call_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job, tfrt_status_t reason) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
       node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
    tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
    if (call->execution.job == job) tfrt_execution_cancel(&call->execution, reason);
  }
}

void tfrt_incoming_call_bury_all(tfrt_peer_t* peer, tfrt_status_t reason) {
  for (tfrt_hash_node_t* node; (node = tfrt_hash_table_first(&peer->incoming_calls));) {
    tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
    tfrt_hash_table_remove(&peer->incoming_calls, node);
    call->peer = NULL;
    tfrt_execution_cancel(&call->execution, reason);
    tfrt_incoming_call_flush_later(call);
  }
}
