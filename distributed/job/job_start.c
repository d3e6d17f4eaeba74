// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_start.h"

#include "distributed/job/detached_job.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/value_item.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/kernel/withdrawal.h"

// --- The end of a request ----------------------------------------------------

// Cancels |request| of |job| on this host because of |reason| (+0): calls of it that run here, and
// those that will come.
static void request_end_cancel(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  bool is_new = tfrt_cancelled_requests_add(&job->cancelled_requests, request, reason,
                                            job->node->options.allocator);
  if (!is_new) return;
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_REQUEST_CANCELLED,
                                    .node = job->node,
                                    .job = job,
                                    .request = request,
                                    .reason = reason});
}

// At the root: sends |body| to every other member that is there, which may hear of it later if it
// |can_wait|. They all have a session with the root.
static void job_start_tell_members(tfrt_job_t* job, const tfrt_wire_body_t* body, bool can_wait) {
  for (uint32_t i = 0; i < job->view.member_count && !tfrt_job_is_closed(job); ++i) {
    const tfrt_job_member_t* member = &job->view.members[i];
    if (member->rank == job->rank || member->death) continue;
    tfrt_peer_t* peer = tfrt_peer_find(job->node, member->incarnation);
    if (peer && peer->session && !tfrt_job_has_left(job, member->incarnation)) {
      const tfrt_peer_frame_t frame = {.job = job, .can_wait = can_wait, .can_wait_long = can_wait};
      tfrt_peer_send(peer, &frame, body);
    }
  }
}

// At the root: cancels |request| of |job| because of |reason| (+0), here and on all members.
static void request_end_tell_cancel(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  request_end_cancel(job, request, reason);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, job->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, job->rank, job->node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_CANCEL_REQUEST,
      .cancel_request = {.request = request, .reason = status ? NULL : &error}};
  job_start_tell_members(job, &body, false);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// |request| of |job| is over: forgets it on this host alone. Returns true if there was something
// beside the cancel, which others may remember, too.
static bool request_end_forget(tfrt_job_t* job, uint64_t request) {
  tfrt_cancelled_requests_remove(&job->cancelled_requests, request);
  bool has_met = tfrt_turn_table_forget(&job->exchange.turns, request);
  bool was_closed = tfrt_mailbox_forget_closed(&job->exchange.mailbox, request);
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = TFRT_OWNER_REQUEST_OVER, .node = job->node, .job = job, .request = request});
  return has_met || was_closed;
}

// At the root: |request| of |job|, which may be |is_cancelled|, is over; |can_meet| if its program
// has kernels for which others wait. Forgets it, and has the members do so; if it was not cancelled
// that can wait for company.
static void request_end_tell(tfrt_job_t* job, uint64_t request, bool is_cancelled, bool can_meet) {
  // Other hosts may have met without the root.
  bool has_met = request_end_forget(job, request) || can_meet;
  if (!has_met && !is_cancelled) return;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_END_REQUEST,
                           .end_request = {.request = request}};
  job_start_tell_members(job, &body, !is_cancelled);
}

// --- JobEnd ------------------------------------------------------------------

// A JobEnd that is being made.
typedef struct tfrt_job_end_s {
  tfrt_execution_t* execution;
  tfrt_arena_t* arena;
  size_t room;                    // for what goes inline
  const tfrt_wire_error_t* root;  // of the first result that is an error
} tfrt_job_end_t;

// The most bytes of the message of a shortened error. A JobEnd with 4,096 of them still has room
// for items that go whole (TFRT_VALUE_ITEM_MAX_INLINE).
#define TFRT_JOB_END_SHORT_MESSAGE 48

// Shortens the error in |item| to the parts that a program needs: the root cause has the text.
static tfrt_status_t job_end_shorten(const tfrt_job_end_t* end, tfrt_wire_item_t* item) {
  const tfrt_wire_error_t* whole = item->error;
  char* buffer = tfrt_arena_allocate(end->arena, TFRT_JOB_END_SHORT_MESSAGE);
  tfrt_wire_error_t* error = tfrt_arena_allocate(end->arena, sizeof(*error));
  if (!buffer || !error) return tfrt_status_out_of_memory();
  *error = (tfrt_wire_error_t){
      .code = whole->code,
      .message = tfrt_wire_text_fit(whole->message, buffer, TFRT_JOB_END_SHORT_MESSAGE),
      .call = whole->call,
      .root_key = whole->root_key,
      .derived = whole->derived,
      .may_have_run = whole->may_have_run,
      .truncated = true};
  item->error = error;
  return NULL;
}

// Sets |*out_item| to a reference to |value|, which stays here, held by the client.
static tfrt_status_t job_end_lend(const tfrt_job_end_t* end, tfrt_async_value_t* value,
                                  tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_node_t* node = execution->node;
  tfrt_object_t* object = tfrt_object_table_export(node->objects, execution->job, value);
  if (!object) return tfrt_status_out_of_memory();
  // The hold keeps the value, wherever its payload is, until the client gives it back.
  bool is_held = tfrt_object_table_hold(node->objects, object, execution->job->client.incarnation);
  if (!is_held) {
    tfrt_object_table_end_loan(node->objects, object);
    return tfrt_status_out_of_memory();
  }
  tfrt_object_set_maker(object, execution->program, execution->function);
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                                 .reference = {.id = object->id,
                                               .owner = node->incarnation,
                                               .owner_rank = execution->job->rank,
                                               .namer_rank = execution->job->rank}};
  tfrt_object_table_end_loan(node->objects, object);
  return NULL;
}

// True if |item| goes inline. The first error always does: it says why the start has failed.
static bool job_end_takes(tfrt_job_end_t* end, const tfrt_wire_item_t* item) {
  if (item->kind == TFRT_WIRE_ITEM_NONE) return false;
  if (item->kind == TFRT_WIRE_ITEM_ERROR && !end->root) {
    end->root = item->error;
    return true;
  }
  return tfrt_value_item_take_room(item, &end->room);
}

// Sets |*out_item| to the reason for which the job or its start has ended. It stands for a result
// that is not known, or that nobody could fetch any more.
static tfrt_status_t job_end_cut_off(tfrt_job_end_t* end, tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_status_t reason =
      execution->cancelled ? execution->cancelled : execution->job->closing.reason;
  if (!reason) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is closed on host %u",
                              execution->job->rank);
  }
  tfrt_wire_error_t* error = tfrt_arena_allocate(end->arena, sizeof(*error));
  if (!error) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_wire_error_from_status(
      reason, execution->job->rank, execution->node->incarnation, end->arena, error));
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = error};
  return job_end_takes(end, out_item) ? NULL : job_end_shorten(end, out_item);
}

// Sets |*out_item| to a result, if it is known. A result that is not small stays here.
static tfrt_status_t job_end_describe(tfrt_job_end_t* end, uint32_t index,
                                      tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_node_t* node = execution->node;
  tfrt_async_value_t* value = execution->results[index].value;
  if (tfrt_async_value_is_available(value)) {
    TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(value, node->options.inline_limit,
                                                tfrt_value_item_host_of(execution->job), end->arena,
                                                out_item));
    if (job_end_takes(end, out_item)) return NULL;
  }
  if (!tfrt_job_is_closed(execution->job)) return job_end_lend(end, value, out_item);
  // Nothing can be asked for any more.
  if (out_item->kind == TFRT_WIRE_ITEM_ERROR) return job_end_shorten(end, out_item);
  return job_end_cut_off(end, out_item);
}

// Tells |client|, which has a session, the results of |execution|, which are all known, or why
// there are none. |start| is what the client calls it.
static void job_end_send(tfrt_execution_t* execution, uint64_t start, tfrt_peer_t* client) {
  tfrt_node_t* node = execution->node;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_job_end_t end = {
      .execution = execution, .arena = &arena, .room = TFRT_VALUE_ITEM_MAX_INLINE};
  tfrt_wire_item_t* results =
      tfrt_arena_allocate_array(&arena, execution->result_count + 1, sizeof(*results));
  tfrt_status_t status =
      results ? tfrt_status_retain(execution->failure) : tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < execution->result_count && !status; ++i) {
    status = job_end_describe(&end, i, &results[i]);
  }
  // If all results are values, no result tells that a cancel has cut off other work.
  tfrt_status_t told = status || end.root ? status : execution->cancelled;
  tfrt_wire_error_t error = {0};
  if (told) {
    tfrt_status_release(
        tfrt_wire_error_from_status(told, execution->job->rank, node->incarnation, &arena, &error));
    if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
    end.root = &error;
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_END,
                           .job_end = {.start = start,
                                       .request = execution->request_id,
                                       .results = results,
                                       .result_count = status ? 0 : execution->result_count,
                                       .error = end.root}};
  tfrt_peer_send(client, &(tfrt_peer_frame_t){.job = execution->job}, &body);
  // Its text was borrowed until here.
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// One JobStart.
typedef struct tfrt_job_start_s {
  tfrt_execution_t execution;
  tfrt_list_link_t link;  // in the job's starts
  uint64_t number;
  bool ended;
} tfrt_job_start_t;

static tfrt_job_start_t* job_start_cast(tfrt_execution_t* execution) {
  return TFRT_CONTAINER_OF(execution, tfrt_job_start_t, execution);
}

// --- The end of a start ------------------------------------------------------

// True if the program of |execution| has kernels that members wait for, as those of collectives.
static bool job_start_can_meet(const tfrt_execution_t* execution) {
  const tfrt_program_t* program = execution->program->program;
  if (!program || execution->function >= tfrt_program_function_count(program)) return false;
  return tfrt_function_withdraws(tfrt_program_function(program, execution->function));
}

static void job_start_end_if_complete(tfrt_job_start_t* start) {
  tfrt_execution_t* execution = &start->execution;
  if (start->ended || !tfrt_execution_is_retired(execution)) return;
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    if (!execution->results[i].known) return;
  }
  start->ended = true;
  tfrt_job_t* job = tfrt_job_retain(execution->job);
  if (job->detachment.left) tfrt_detached_job_end(job->detachment.left, execution);
  // Every call below it is over, so nothing of it is on its way between hosts that live.
  request_end_tell(job, execution->request_id, execution->cancelled != NULL,
                   job_start_can_meet(execution));
  tfrt_peer_t* client = tfrt_peer_find(execution->node, execution->job->client.incarnation);
  if (client && client->session) job_end_send(execution, start->number, client);
  tfrt_list_remove(&start->link);
  tfrt_execution_finish(execution);
  tfrt_execution_release(execution);
  if (job->detachment.left) tfrt_detached_job_settle(job->detachment.left);
  tfrt_job_release(job);
}

static void job_start_known(tfrt_execution_t* execution, uint32_t index) {
  (void)index;
  job_start_end_if_complete(job_start_cast(execution));
}

static void job_start_retired(tfrt_execution_t* execution, bool at_once) {
  (void)at_once;
  job_start_end_if_complete(job_start_cast(execution));
}

// A start takes no credit.
static void job_start_waits(tfrt_execution_t* execution) { (void)execution; }

static void job_start_cancelled(tfrt_execution_t* execution) {
  request_end_tell_cancel(execution->job, execution->request_id, execution->cancelled);
}

static void job_start_destroy(tfrt_execution_t* execution) {
  tfrt_job_start_t* start = job_start_cast(execution);
  tfrt_allocator_free(execution->node->options.allocator, start, sizeof(*start));
}

static const tfrt_execution_vtable_t tfrt_job_start_vtable = {
    .known = job_start_known,
    .waits = job_start_waits,
    .retired = job_start_retired,
    .cancelled = job_start_cancelled,
    .destroy = job_start_destroy,
};

// --- JobStart ----------------------------------------------------------------

// Answers that |number| never began, because of |status| (+0).
static void job_start_refuse(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                             tfrt_status_t status) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, peer->node->options.allocator);
  tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
  tfrt_status_release(
      tfrt_wire_error_from_status(status, job->rank, peer->node->incarnation, &arena, &error));
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_END,
                           .job_end = {.start = number, .error = &error}};
  tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = job}, &body);
  tfrt_arena_deinitialize(&arena);
}

// A detached job is one start.
static tfrt_status_t job_start_check_detached(const tfrt_job_t* job,
                                              const tfrt_wire_job_start_t* wire) {
  if (wire->detach != job->detachment.is_detached) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a start is detached if its job is; the job is%s",
                              job->detachment.is_detached ? "" : " not");
  }
  if (!job->detachment.is_detached || job->detachment.left->state == TFRT_DETACHED_JOB_WAITING)
    return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "a detached job has one start; open another job");
}

// Makes the start that |wire| asks for, not yet begun.
static tfrt_status_t job_start_create(tfrt_peer_t* peer, tfrt_job_t* job,
                                      const tfrt_wire_job_start_t* wire, int64_t deadline_ns,
                                      tfrt_job_start_t** out_start) {
  *out_start = NULL;
  tfrt_job_program_t* program = tfrt_job_find_program(job, peer->incarnation, wire->program);
  if (tfrt_job_is_closed(job)) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is closed");
  }
  TFRT_RETURN_IF_ERROR(job_start_check_detached(job, wire));
  TFRT_RETURN_IF_ERROR(tfrt_job_budget_check(job, TFRT_JOB_BUDGET_START, 0));
  if (!program) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the program %u was not announced",
                              wire->program);
  }
  tfrt_job_start_t* start =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*start));
  if (!start) return tfrt_status_out_of_memory();
  start->number = wire->start;
  start->execution.call = wire->start;
  tfrt_list_initialize(&start->link);
  start->execution.program = program->cached;
  start->execution.function = wire->function;
  start->execution.request_id = job->starts.next_request++;
  start->execution.deadline.at_ns = deadline_ns < job->deadline_ns ? deadline_ns : job->deadline_ns;
  start->execution.needs.any_result_count = true;
  // The host that has the arguments or results may be gone when they are asked for.
  start->execution.needs.arguments = start->execution.needs.results = job->detachment.is_detached;
  tfrt_status_t status = tfrt_execution_initialize(&start->execution, &tfrt_job_start_vtable, job,
                                                   wire->arguments, wire->argument_count, 0);
  if (status) {
    tfrt_execution_finish(&start->execution);
    tfrt_execution_release(&start->execution);
  } else {
    *out_start = start;
  }
  return status;
}

// The start of |detached| has come, whose results are to be kept for |keep_ms| (0: the default).
static void job_start_begin_detached(tfrt_detached_job_t* detached, uint64_t keep_ms) {
  detached->state = TFRT_DETACHED_JOB_STARTED;
  detached->keep_ms = keep_ms > 0 ? keep_ms : TFRT_DETACHED_JOB_DEFAULT_KEEP_MS;
  if (detached->keep_ms > TFRT_DETACHED_JOB_MAX_KEEP_MS) {
    detached->keep_ms = TFRT_DETACHED_JOB_MAX_KEEP_MS;
  }
}

// A JobStart came.
static tfrt_status_t job_start_on_start(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_job_start_t* wire = &in->body->job_start;
  if (!job) return NULL;
  if (job->rank != 0 || peer->incarnation != job->client.incarnation) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "only a job's client may start it, and only at its root");
  }
  tfrt_job_start_t* start = NULL;
  tfrt_status_t status = job_start_create(peer, job, wire, in->deadline_ns, &start);
  if (status) {
    job_start_refuse(peer, job, wire->start, status);
    tfrt_status_release(status);
    return NULL;
  }
  tfrt_list_push_back(&job->starts.list, &start->link);
  if (job->detachment.left) job_start_begin_detached(job->detachment.left, wire->keep_results_ms);
  // The upload: fetches at once the arguments that the client has.
  for (uint32_t i = 0; i < start->execution.argument_count; ++i) {
    tfrt_action_queue_demand(&job->node->actions, start->execution.arguments[i]);
  }
  tfrt_execution_start(&start->execution);
  return NULL;
}

// Cancels the start |number| (0: all) of |job| because of |reason| (+0).
static void job_start_cancel_all(tfrt_job_t* job, uint64_t number, tfrt_status_t reason) {
  for (tfrt_list_link_t* link = job->starts.list.next; link != &job->starts.list;
       link = link->next) {
    tfrt_job_start_t* start = TFRT_CONTAINER_OF(link, tfrt_job_start_t, link);
    if (number == 0 || start->number == number) tfrt_execution_cancel(&start->execution, reason);
  }
}

void tfrt_job_start_visit_all(const tfrt_job_t* job, tfrt_job_start_visit_fn_t visit, void* self) {
  for (tfrt_list_link_t* link = job->starts.list.next; link != &job->starts.list;
       link = link->next) {
    const tfrt_job_start_t* start = TFRT_CONTAINER_OF(link, tfrt_job_start_t, link);
    visit(self, start->number, &start->execution);
  }
}

// --- CancelRequest, EndRequest -----------------------------------------------------------------

// A CancelRequest came: the start that the job's client wants to end, or the request that the root
// has cancelled. An EndRequest came.
static tfrt_status_t job_start_on_cancel_request(const tfrt_incoming_frame_t* in) {
  tfrt_job_t* job = in->job;
  const tfrt_wire_cancel_request_t* cancel = &in->body->cancel_request;
  if (!job || tfrt_job_is_closed(job)) return NULL;
  bool is_client = in->peer->incarnation == job->client.incarnation;
  bool is_root = in->peer->incarnation == job->view.members[0].incarnation;
  tfrt_status_t reason =
      cancel->reason ? tfrt_wire_error_to_status(cancel->reason)
                     : tfrt_status_create(TFRT_STATUS_CANCELLED, "the client cancelled this");
  if (is_client && cancel->start != 0) job_start_cancel_all(job, cancel->start, reason);
  if (is_root && cancel->request != 0) request_end_cancel(job, cancel->request, reason);
  tfrt_status_release(reason);
  return NULL;
}

static tfrt_status_t job_start_on_end_request(const tfrt_incoming_frame_t* in) {
  tfrt_job_t* job = in->job;
  if (!job || in->peer->incarnation != job->view.members[0].incarnation) return NULL;
  request_end_forget(job, in->body->end_request.request);
  return NULL;
}

static void job_start_on_job_closed(const tfrt_owner_end_t* end) {
  job_start_cancel_all(end->job, 0, end->reason);
}

static const tfrt_owner_rule_t tfrt_job_start_rules[] = {
    {TFRT_OWNER_JOB_CLOSED, TFRT_OWNER_CALLS, job_start_on_job_closed},
};

static const tfrt_frame_handler_t tfrt_job_start_handlers[] = {
    {TFRT_WIRE_FRAME_CANCEL_REQUEST, job_start_on_cancel_request},
    {TFRT_WIRE_FRAME_END_REQUEST, job_start_on_end_request},
    {TFRT_WIRE_FRAME_JOB_START, job_start_on_start},
};

const tfrt_node_part_t tfrt_job_start_part = {
    .rules = tfrt_job_start_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_start_rules),
    .handlers = tfrt_job_start_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_job_start_handlers),
};
