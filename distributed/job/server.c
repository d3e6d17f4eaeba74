// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/server.h"

#include "distributed/domain/event_log.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_closing.h"
#include "distributed/job/job_end.h"
#include "distributed/job/job_trace.h"
#include "distributed/job/request_end.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/job_budget.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/kernel/withdrawal.h"

// One JobStart.
typedef struct tfrt_server_start_s {
  tfrt_execution_t execution;
  tfrt_list_link_t link;  // in the job's starts
  uint64_t number;
  bool ended;
} tfrt_server_start_t;

static tfrt_server_start_t* tfrt_server_start_cast(tfrt_execution_t* execution) {
  return TFRT_CONTAINER_OF(execution, tfrt_server_start_t, execution);
}

// --- The end of a start ------------------------------------------------------

// True if the program of |execution| has kernels that members wait for, as those of collectives.
static bool tfrt_server_can_meet(const tfrt_execution_t* execution) {
  const tfrt_program_t* program = execution->program->program;
  if (!program || execution->function >= tfrt_program_function_count(program)) return false;
  return tfrt_function_withdraws(tfrt_program_function(program, execution->function));
}

static void tfrt_server_end_if_complete(tfrt_server_start_t* start) {
  tfrt_execution_t* execution = &start->execution;
  if (start->ended || !tfrt_execution_is_retired(execution)) return;
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    if (!execution->results[i].known) return;
  }
  start->ended = true;
  tfrt_job_t* job = tfrt_job_retain(execution->job);
  if (job->detachment.left) tfrt_detached_job_end(job->detachment.left, execution);
  // Every call below it is over, so nothing of it is on its way between hosts that live.
  tfrt_request_end_tell(job, execution->request_id, execution->cancelled != NULL,
                        tfrt_server_can_meet(execution));
  tfrt_peer_t* client = tfrt_peer_find(execution->node, execution->job->client.incarnation);
  if (client && client->session) tfrt_job_end_send(execution, start->number, client);
  tfrt_list_remove(&start->link);
  tfrt_execution_finish(execution);
  tfrt_execution_release(execution);
  if (job->detachment.left) tfrt_detached_job_settle(job->detachment.left);
  tfrt_job_release(job);
}

static void tfrt_server_start_known(tfrt_execution_t* execution, uint32_t index) {
  (void)index;
  tfrt_server_end_if_complete(tfrt_server_start_cast(execution));
}

static void tfrt_server_start_retired(tfrt_execution_t* execution) {
  tfrt_server_end_if_complete(tfrt_server_start_cast(execution));
}

// A start takes no credit.
static void tfrt_server_start_waits(tfrt_execution_t* execution) { (void)execution; }

static void tfrt_server_start_cancelled(tfrt_execution_t* execution) {
  tfrt_request_end_tell_cancel(execution->job, execution->request_id, execution->cancelled);
}

static void tfrt_server_start_destroy(tfrt_execution_t* execution) {
  tfrt_server_start_t* start = tfrt_server_start_cast(execution);
  tfrt_allocator_free(execution->node->options.allocator, start, sizeof(*start));
}

static const tfrt_execution_vtable_t tfrt_server_start_vtable = {
    .known = tfrt_server_start_known,
    .waits = tfrt_server_start_waits,
    .retired = tfrt_server_start_retired,
    .cancelled = tfrt_server_start_cancelled,
    .destroy = tfrt_server_start_destroy,
};

// --- JobStart ----------------------------------------------------------------

// Answers that |number| never began, because of |status| (+0).
static void tfrt_server_refuse_start(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
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
static tfrt_status_t tfrt_server_check_detached(const tfrt_job_t* job,
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
static tfrt_status_t tfrt_server_create_start(tfrt_peer_t* peer, tfrt_job_t* job,
                                              const tfrt_wire_job_start_t* wire,
                                              int64_t deadline_ns,
                                              tfrt_server_start_t** out_start) {
  *out_start = NULL;
  tfrt_job_program_t* program = tfrt_job_find_program(job, peer->incarnation, wire->program);
  if (tfrt_job_is_closed(job)) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is closed");
  }
  TFRT_RETURN_IF_ERROR(tfrt_server_check_detached(job, wire));
  TFRT_RETURN_IF_ERROR(tfrt_job_budget_check_start(job));
  if (!program) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the program %u was not announced",
                              wire->program);
  }
  tfrt_server_start_t* start =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*start));
  if (!start) return tfrt_status_out_of_memory();
  start->number = wire->start;
  tfrt_list_initialize(&start->link);
  start->execution.program = program->cached;
  start->execution.function = wire->function;
  start->execution.request_id = job->starts.next_request++;
  start->execution.deadline.at_ns = deadline_ns < job->deadline_ns ? deadline_ns : job->deadline_ns;
  start->execution.needs.any_result_count = true;
  // The host that has the arguments or results may be gone when they are asked for.
  start->execution.needs.arguments = start->execution.needs.results = job->detachment.is_detached;
  tfrt_status_t status = tfrt_execution_initialize(&start->execution, &tfrt_server_start_vtable,
                                                   job, wire->arguments, wire->argument_count, 0);
  if (status) {
    tfrt_execution_finish(&start->execution);
    tfrt_execution_release(&start->execution);
  } else {
    *out_start = start;
  }
  return status;
}

tfrt_status_t tfrt_server_on_start(tfrt_peer_t* peer, tfrt_job_t* job,
                                   const tfrt_wire_job_start_t* wire, int64_t deadline_ns) {
  if (!job) return NULL;
  if (job->rank != 0 || peer->incarnation != job->client.incarnation) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "only a job's client may start it, and only at its root");
  }
  tfrt_server_start_t* start = NULL;
  tfrt_status_t status = tfrt_server_create_start(peer, job, wire, deadline_ns, &start);
  if (status) {
    tfrt_server_refuse_start(peer, job, wire->start, status);
    tfrt_status_release(status);
    return NULL;
  }
  tfrt_list_push_back(&job->starts.list, &start->link);
  if (job->detachment.left) tfrt_detached_job_begin(job->detachment.left, wire->keep_results_ms);
  // The upload: fetches at once the arguments that the client has.
  for (uint32_t i = 0; i < start->execution.argument_count; ++i) {
    tfrt_action_queue_demand(&job->node->actions, start->execution.arguments[i]);
  }
  tfrt_execution_start(&start->execution);
  return NULL;
}

void tfrt_server_cancel_starts(tfrt_job_t* job, uint64_t number, tfrt_status_t reason) {
  for (tfrt_list_link_t* link = job->starts.list.next; link != &job->starts.list;
       link = link->next) {
    tfrt_server_start_t* start = TFRT_CONTAINER_OF(link, tfrt_server_start_t, link);
    if (number == 0 || start->number == number) tfrt_execution_cancel(&start->execution, reason);
  }
}

void tfrt_server_visit_starts(const tfrt_job_t* job, tfrt_server_visit_fn_t visit, void* self) {
  for (tfrt_list_link_t* link = job->starts.list.next; link != &job->starts.list;
       link = link->next) {
    const tfrt_server_start_t* start = TFRT_CONTAINER_OF(link, tfrt_server_start_t, link);
    visit(self, start->number, &start->execution);
  }
}

// --- JobOpen, JobClose -------------------------------------------------------

// OK if |client| may open another job that only asks.
static tfrt_status_t tfrt_server_check_asking(const tfrt_node_t* node, uint64_t client) {
  uint32_t count = 0;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    const tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    count += job->asks_only && job->client.incarnation == client;
  }
  if (count < TFRT_SERVER_MAX_ASKING_JOBS) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "its client has %u jobs here that only ask and can have no more; close "
                            "one of them",
                            count);
}

// The reason for which this host can't take a job of |client| at the moment, or OK.
static tfrt_status_t tfrt_server_check_room(tfrt_node_t* node, uint64_t client, bool asks_only,
                                            int64_t deadline_ns) {
  if (node->closed || (node->refuses_jobs && !asks_only)) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                              "it is shutting down and takes no more jobs; use another host, or "
                              "wait until it is back");
  }
  if (deadline_ns <= tfrt_node_now_ns(node)) {
    return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "the job's deadline has passed");
  }
  if (asks_only) return tfrt_server_check_asking(node, client);
  uint32_t count = 0;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    count += !TFRT_CONTAINER_OF(link, tfrt_job_t, link)->asks_only;
  }
  if (count < node->options.max_jobs) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "it has %u job%s and takes no more; try again when one is over", count,
                            tfrt_plural(count));
}

// Sets |*out_rank| to our rank in the view of |open|, which |client| sent, or returns the error of
// the view.
static tfrt_status_t tfrt_server_check_view(const tfrt_node_t* node,
                                            const tfrt_wire_job_open_t* open, uint64_t client,
                                            uint32_t* out_rank) {
  const tfrt_wire_view_t* view = &open->view;
  *out_rank = TFRT_WIRE_NO_RANK;
  const char* fault = open->root != 0 ? "its root isn't rank 0" : NULL;
  for (size_t i = 0; i < view->member_count && !fault; ++i) {
    uint64_t incarnation = view->members[i].incarnation;
    if (view->members[i].rank != i) fault = "a rank is missing in its view";
    if (incarnation == client) fault = "its client is also one of its hosts";
    for (size_t j = 0; j < i; ++j) {
      if (view->members[j].incarnation == incarnation) fault = "a host is in its view twice";
    }
    if (incarnation == node->incarnation) *out_rank = view->members[i].rank;
  }
  if (!fault && *out_rank == TFRT_WIRE_NO_RANK) fault = "this host is not in its view";
  if (!fault) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the job makes no sense: %s", fault);
}

// Makes the job, or says why not.
static tfrt_status_t tfrt_server_open(tfrt_peer_t* peer, const tfrt_wire_job_open_t* open,
                                      int64_t deadline_ns, tfrt_job_t** out_job) {
  *out_job = NULL;
  uint32_t rank = TFRT_WIRE_NO_RANK;
  TFRT_RETURN_IF_ERROR(tfrt_server_check_view(peer->node, open, peer->incarnation, &rank));
  TFRT_RETURN_IF_ERROR(
      tfrt_server_check_room(peer->node, peer->incarnation, open->asks_only, deadline_ns));
  TFRT_RETURN_IF_ERROR(tfrt_job_create(peer->node, open, rank, peer->incarnation, out_job));
  (*out_job)->deadline_ns = deadline_ns;
  tfrt_job_budget_initialize(*out_job, open->budgets);
  if (!open->detached || rank != 0) return NULL;
  tfrt_status_t status = tfrt_detached_job_create(*out_job);
  if (status) {
    tfrt_list_remove(&(*out_job)->link);
    tfrt_job_release(*out_job);
    *out_job = NULL;
  }
  return status;
}

void tfrt_server_answer_open(tfrt_job_t* job, tfrt_status_t status) {
  if (job->state != TFRT_JOB_OPENING) return;
  tfrt_job_set_state(job, TFRT_JOB_OPEN);
  tfrt_peer_t* client = tfrt_peer_find(job->node, job->client.incarnation);
  if (!client) return;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, job->node->options.allocator);
  tfrt_wire_error_t error = {0};
  if (status) {
    tfrt_status_release(
        tfrt_wire_error_from_status(status, job->rank, job->node->incarnation, &arena, &error));
    if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_OPENED,
                           .job_opened = {.error = status ? &error : NULL}};
  tfrt_peer_send(client, &(tfrt_peer_frame_t){.job = job}, &body);
  tfrt_arena_deinitialize(&arena);
}

// A member answers the JobOpen when it has a session with the root. It keeps the session for the
// life of the job, to notice the loss of the root. Without a session it has no part in the job.
static void tfrt_server_await_root(tfrt_job_t* job) {
  tfrt_peer_t* root = NULL;
  tfrt_status_t status = tfrt_job_reach(job, job->view.members[0].incarnation, &root);
  if (status) {
    tfrt_job_close(job, status);
  } else if (tfrt_session_state(root->session) != TFRT_SESSION_CONNECTING) {
    tfrt_server_answer_open(job, NULL);
  }
  tfrt_status_release(status);
}

tfrt_status_t tfrt_server_on_open(tfrt_peer_t* peer, const tfrt_wire_frame_t* frame,
                                  const tfrt_wire_job_open_t* open, int64_t deadline_ns) {
  tfrt_job_t* job = NULL;
  tfrt_status_t refused = tfrt_server_open(peer, open, deadline_ns, &job);
  if (refused) {
    if (peer->node->options.logs_events) tfrt_event_log_job_refused(peer->session, refused);
    tfrt_status_t status = tfrt_job_attachment_refuse(peer, frame->job, open, refused);
    tfrt_status_release(refused);
    return status;
  }
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_bind(job, peer, frame->job));
  // Without memory for a trace, the job runs untraced.
  tfrt_status_release(tfrt_job_trace_accept(job, frame->trace));
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_JOB_OPENED, .node = job->node, .job = job});
  tfrt_job_set_state(job, TFRT_JOB_OPENING);
  if (job->node->options.logs_events) tfrt_event_log_job_opened(job, peer->session);
  if (job->rank == 0) {
    tfrt_server_answer_open(job, NULL);
  } else {
    tfrt_server_await_root(job);
  }
  return NULL;
}

void tfrt_server_on_session_opened(tfrt_peer_t* peer) {
  tfrt_node_t* node = peer->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (job->view.members[0].incarnation == peer->incarnation) tfrt_server_answer_open(job, NULL);
  }
}

void tfrt_server_close_members(tfrt_job_t* job, tfrt_status_t reason) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, job->node->options.allocator);
  tfrt_wire_error_t error;
  bool has_error = false;
  if (reason) {
    tfrt_status_t status =
        tfrt_wire_error_from_status(reason, job->rank, job->node->incarnation, &arena, &error);
    has_error = !status;
    tfrt_status_release(status);
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE,
                           .job_close = {.error = has_error ? &error : NULL}};
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    if (job->view.members[i].rank == job->rank || job->view.members[i].death) continue;
    tfrt_peer_t* peer = NULL;
    // A member that can't be reached has lost its root, or never sees it.
    tfrt_status_t status = tfrt_job_reach(job, job->view.members[i].incarnation, &peer);
    if (!status) tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = job}, &body);
    tfrt_status_release(status);
  }
  tfrt_arena_deinitialize(&arena);
}

void tfrt_server_on_close(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_close_t* close) {
  if (!job) return;
  bool may =
      peer->incarnation == job->client.incarnation || tfrt_job_rank_of(job, peer->incarnation) == 0;
  if (!may) return;
  tfrt_status_t reason = close->error ? tfrt_wire_error_to_status(close->error) : NULL;
  tfrt_job_close(job, reason);
  tfrt_status_release(reason);
}
