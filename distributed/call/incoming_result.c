// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/incoming_call.h"
#include "distributed/domain/domain.h"
#include "distributed/threads/reader_pair.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/value_item.h"

// --- Results ---------------------------------------------------------------------

// The argument that is |remote|, or UINT32_MAX.
static uint32_t incoming_call_find_argument(tfrt_incoming_call_t* call,
                                            const tfrt_remote_value_t* remote) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    if (call->execution.arguments[j] == &remote->base.base) return j;
  }
  return UINT32_MAX;
}

// Sets |*out_item| to result |index|, which is another host's value.
static tfrt_status_t incoming_call_describe_remote(tfrt_incoming_call_t* call, uint32_t index,
                                                   tfrt_remote_value_t* remote,
                                                   tfrt_wire_item_t* out_item) {
  uint32_t argument = incoming_call_find_argument(call, remote);
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  bool is_private = slot && slot->holders && !slot->holders->next && slot->loans == 0;
  // Another call of the same caller may have been given the result here before it was known. That
  // call has a placeholder, and must find that the value is lent.
  if (call->execution.results[index].promise.placeholder) is_private = false;
  if (argument != UINT32_MAX && is_private) {
    call->same_as[index] = argument + 1;
    slot->is_alias = true;
    *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_SAME_AS_ARGUMENT,
                                   .same_as_argument = {.argument = argument}};
    return NULL;
  }
  if (!tfrt_object_table_keep(call->execution.node->objects, slot, TFRT_OBJECT_WHOLE,
                              &remote->base.base)) {
    return tfrt_status_out_of_memory();
  }
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                                 .reference = tfrt_remote_value_tell(remote)};
  return NULL;
}

// The bytes that result |index| may take in a message. A mutable value, to which a kernel may still
// write, goes with the last of the results: the chains among them order the writes.
static size_t incoming_call_inline_limit(const tfrt_incoming_call_t* call, uint32_t index) {
  if (index >= 64 || !(call->results_wanted >> index & 1)) return 0;
  tfrt_async_value_t* value = tfrt_async_value_resolved(call->execution.results[index].value);
  bool is_mutable = !tfrt_async_value_is_error(value) &&
                    (tfrt_type_get(value->type_id)->flags & TFRT_TYPE_FLAG_MUTABLE);
  for (uint32_t i = 0; i < call->execution.result_count && is_mutable; ++i) {
    if (call->states[i] == TFRT_INCOMING_RESULT_UNKNOWN) return 0;
  }
  return tfrt_peer_inline_limit(call->peer);
}

// Sets |*out_item| to what result |index|, which is known, is.
static tfrt_status_t incoming_call_describe(tfrt_incoming_call_t* call, uint32_t index,
                                            tfrt_arena_t* arena, tfrt_wire_item_t* out_item) {
  tfrt_node_t* node = call->execution.node;
  tfrt_async_value_t* value = call->execution.results[index].value;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    tfrt_status_t status = incoming_call_describe_remote(call, index, remote, out_item);
    tfrt_remote_value_release(remote);
    return status;
  }
  size_t limit = incoming_call_inline_limit(call, index);
  TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(
      value, limit, tfrt_value_item_host_of(call->execution.job), arena, out_item));
  if (out_item->kind != TFRT_WIRE_ITEM_NONE) return NULL;
  out_item->kind = TFRT_WIRE_ITEM_AVAILABLE;
  out_item->available = tfrt_value_item_describe(value);
  return NULL;
}

// Describes |value| when memory is out. A value that is here is available, which needs no memory.
// An error, or a value that is elsewhere and may become one, is sent as an error: the caller would
// take a chain for one that has come, and never ask for it again.
static tfrt_wire_item_t incoming_call_describe_briefly(tfrt_async_value_t* value) {
  static const char message[] = "the host of the call has no memory to tell what its result is";
  static const tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED,
                                          .message = {.data = message, .size = sizeof(message) - 1},
                                          .may_have_run = true};
  if (tfrt_async_value_is_available(value) && !tfrt_async_value_is_error(value)) {
    return (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_AVAILABLE,
                              .available = tfrt_value_item_describe(value)};
  }
  return (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error};
}

// True if result |index| was elsewhere when it became known, and an action that has not run yet
// resolves it. There is nothing to tell of the result before that action.
static bool incoming_call_is_on_its_way(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_async_value_t* value = call->execution.results[index].value;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(call->execution.node, value);
  if (remote) tfrt_remote_value_release(remote);
  return !remote && !tfrt_async_value_is_available(value);
}

// The message has all of result |index|, and the caller will never ask by its name: ends the
// caller's hold.
static void incoming_call_let_go(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  if (!slot) return;
  tfrt_object_table_end_hold(call->execution.node->objects, slot, call->peer->incarnation);
}

// Fills |results|, an array of |room| items, with the results that are known here and not to the
// caller, as many as one message takes. Returns their number, and sets |*out_more| if some were
// left out.
static size_t incoming_call_collect(tfrt_incoming_call_t* call, tfrt_arena_t* arena,
                                    tfrt_wire_result_item_t* results, size_t room, bool* out_more) {
  size_t count = 0;
  size_t size = 0;
  *out_more = false;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] != TFRT_INCOMING_RESULT_KNOWN) continue;
    *out_more = count == room || size >= TFRT_VALUE_ITEM_MAX_INLINE;
    if (*out_more) break;
    if (incoming_call_is_on_its_way(call, i)) {
      call->states[i] = TFRT_INCOMING_RESULT_UNKNOWN;
      tfrt_execution_observe_again(&call->execution, i);
      continue;
    }
    tfrt_status_t status = incoming_call_describe(call, i, arena, &results[count].item);
    if (status) {
      tfrt_status_release(status);
      results[count].item = incoming_call_describe_briefly(call->execution.results[i].value);
    }
    size += tfrt_value_item_size(&results[count].item);
    bool is_inline = results[count].item.kind == TFRT_WIRE_ITEM_INLINE;
    if (call->take_inline && is_inline) incoming_call_let_go(call, i);
    results[count++].index = i;
    call->states[i] = TFRT_INCOMING_RESULT_TOLD;
  }
  return count;
}

static bool incoming_call_is_complete(const tfrt_incoming_call_t* call) {
  if (!tfrt_execution_is_retired(&call->execution) ||
      call->gate.state != TFRT_INCOMING_GATE_PASSED) {
    return false;
  }
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] == TFRT_INCOMING_RESULT_UNKNOWN) return false;
  }
  return true;
}

// True if |results|, of |call|, may wait for company. The first error must not wait: people wait
// for it.
static bool incoming_call_can_wait(const tfrt_incoming_call_t* call,
                                   const tfrt_wire_result_item_t* results, size_t count) {
  bool can_wait = call->results_can_wait;
  for (size_t i = 0; i < count && can_wait; ++i) {
    can_wait = results[i].item.kind != TFRT_WIRE_ITEM_ERROR;
  }
  return can_wait;
}

// The call of |execution| only waits now: gives the caller the credit back, so that calls that this
// one waits for never lack it.
static void incoming_call_waits(tfrt_execution_t* execution) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  tfrt_peer_t* peer = call->peer;
  if (!peer || call->has_credit_back) return;
  if (tfrt_hash_table_count(&peer->incoming_calls) > TFRT_PEER_MAX_WAITING) return;
  call->has_credit_back = true;
  tfrt_incoming_call_return_credit(peer);
}

static void incoming_call_log_end(const tfrt_job_t* job, uint64_t call, tfrt_status_t cancelled) {
  if (!tfrt_log_is_enabled(TFRT_LOG_DEBUG)) return;
  const tfrt_log_context_t context = tfrt_event_log_context(job, call);
  if (cancelled) {
    tfrt_log(TFRT_LOG_DEBUG, &context, "done: %s", tfrt_status_message(cancelled));
  } else {
    tfrt_log(TFRT_LOG_DEBUG, &context, "done");
  }
}

// The call is over: forgets it.
static void incoming_call_end(tfrt_incoming_call_t* call) {
  if (call->execution.node->options.logs_events) {
    incoming_call_log_end(call->execution.job, call->number, call->execution.cancelled);
  }
  if (call->peer) {
    tfrt_hash_table_remove(&call->peer->incoming_calls, &call->by_number);
    if (!call->has_credit_back) tfrt_incoming_call_return_credit(call->peer);
  }
  --call->execution.node->counts.incoming_calls;
  --call->execution.job->usage.incoming;
  if (call->execution.program) --call->execution.job->usage.calls;
  tfrt_execution_finish(&call->execution);
  tfrt_execution_release(&call->execution);
}

// Tells the caller |count| results, and, if |done|, that nothing more is to come.
static void incoming_call_send(tfrt_incoming_call_t* call, const tfrt_wire_result_item_t* results,
                               size_t count, bool done) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RESULT,
                           .result = {.call = call->number,
                                      .results = results,
                                      .result_count = count,
                                      .done = done,
                                      .not_run = done && call->execution.failure}};
  // As long as an acknowledgement: the caller hurries it before it waits for the end. Where many
  // hosts share few processors, the next message to the caller comes later than after the shorter
  // delay.
  tfrt_peer_frame_t frame = {.job = call->execution.job,
                             .request = call->execution.request_id,
                             .can_wait = incoming_call_can_wait(call, results, count),
                             .can_wait_long = true};
  tfrt_peer_send(call->peer, &frame, &body);
}

// Tells the caller what it doesn't know yet; ends the call if nothing more is to come.
static void incoming_call_tell(tfrt_incoming_call_t* call) {
  if (!call->peer) {
    if (incoming_call_is_complete(call)) incoming_call_end(call);
    return;
  }
  tfrt_arena_t* arena = tfrt_node_scratch(call->execution.node);
  size_t room = (size_t)call->execution.result_count + 1;
  tfrt_wire_result_item_t* results = tfrt_arena_allocate_array(arena, room, sizeof(*results));
  // Without memory for all of them each goes alone: nothing else would tell the caller.
  tfrt_wire_result_item_t one;
  if (!results) {
    results = &one;
    room = 1;
  }
  bool more;
  bool done;
  do {
    size_t count = incoming_call_collect(call, arena, results, room, &more);
    done = !more && incoming_call_is_complete(call);
    if (count > 0 || done) incoming_call_send(call, results, count, done);
  } while (more);
  if (done) incoming_call_end(call);
}

// Closes the gate if that is due, and tells what became known.
static void incoming_call_tell_all(tfrt_incoming_call_t* call) {
  if (tfrt_incoming_call_is_done(call)) return;
  tfrt_incoming_gate_note(call, TFRT_INCOMING_GATE_ON_FLUSH);
  incoming_call_tell(call);
  if (!tfrt_incoming_call_is_done(call)) {
    tfrt_incoming_gate_note(call, TFRT_INCOMING_GATE_ON_TOLD);
  }
}

// Runs when the lock is opened: one message has all results that became known meanwhile.
static void incoming_call_run_flush(tfrt_task_t* task) {
  tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(task, tfrt_incoming_call_t, flush);
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  call->flush_deferred = false;
  incoming_call_tell_all(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_incoming_call_flush_later(tfrt_incoming_call_t* call) {
  if (call->flush_deferred || tfrt_incoming_call_is_done(call)) return;
  call->flush_deferred = true;
  tfrt_execution_retain(&call->execution);
  tfrt_task_initialize(&call->flush, incoming_call_run_flush);
  tfrt_node_lock_defer(&call->execution.node->lock, &call->flush);
}

// The same, but after the task that this thread runs, if the call may be over then: one message
// tells both. It doesn't wait for a task that lasts (reader_pair.h).
static void incoming_call_flush_behind(tfrt_incoming_call_t* call) {
  if (call->flush_deferred || tfrt_incoming_call_is_done(call)) return;
  tfrt_work_queue_t* queue = call->execution.node->options.host->work_queue;
  tfrt_task_initialize(&call->flush, incoming_call_run_flush);
  if (!tfrt_execution_is_ending(&call->execution) ||
      !tfrt_reader_pair_offer(queue, &call->flush, TFRT_READER_PAIR_BEHIND_HERE)) {
    tfrt_incoming_call_flush_later(call);
    return;
  }
  call->flush_deferred = true;
  tfrt_execution_retain(&call->execution);
}

// Result |index| of the call of |execution| has become known: tells the caller.
static void incoming_call_known(tfrt_execution_t* execution, uint32_t index) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  call->states[index] = TFRT_INCOMING_RESULT_KNOWN;
  // A dead caller's slot is set, too: the caller may have lent the result on.
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  tfrt_object_table_tell(execution->node->objects, slot, execution->results[index].value);
  if (slot) tfrt_incoming_want_serve_waiting(slot);
  if (execution->state != TFRT_EXECUTION_TELLING) incoming_call_flush_behind(call);
}

// Everything that the call of |execution| has started is over. If no other part has this critical
// section (|at_once|), the caller hears of it here.
static void incoming_call_retired(tfrt_execution_t* execution, bool at_once) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  if (tfrt_incoming_call_is_done(call)) return;
  if (at_once && !call->flush_deferred) {
    incoming_call_tell_all(call);
  } else {
    tfrt_incoming_call_flush_later(call);
  }
}

// --- The execution ---------------------------------------------------------------

static void incoming_call_destroy(tfrt_execution_t* execution) {
  tfrt_incoming_call_t* call = tfrt_incoming_call_cast(execution);
  tfrt_allocator_free(execution->node->options.allocator, call, call->size);
}

// The caller has cancelled the call itself, and nobody else needs to hear of it.
static void incoming_call_cancelled(tfrt_execution_t* execution) {
  tfrt_incoming_gate_note(tfrt_incoming_call_cast(execution), TFRT_INCOMING_GATE_ON_CANCEL);
}

const tfrt_execution_vtable_t tfrt_incoming_call_vtable = {
    .cancelled = incoming_call_cancelled,
    .known = incoming_call_known,
    .waits = incoming_call_waits,
    .retired = incoming_call_retired,
    .destroy = incoming_call_destroy,
};
