// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_life.h"

#include <inttypes.h>

#include "distributed/call/outgoing_call.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_start.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/job_budget.h"
#include "host_runtime/base/plural.h"

// --- Lines of the log ------------------------------------------------------------

static void job_log_opened(const tfrt_job_t* job, const tfrt_session_t* client) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(client, name);
  const tfrt_log_context_t context = tfrt_event_log_context(job, 0);
  // The digits by which `tfrt list jobs` names it.
  tfrt_log(job->asks_only ? TFRT_LOG_DEBUG : TFRT_LOG_INFO, &context,
           "%02x%02x%02x%02x opened by %s, as host %" PRIu32 " of %" PRIu32, job->identity.id[0],
           job->identity.id[1], job->identity.id[2], job->identity.id[3], name, job->rank,
           job->view.member_count);
}

static void job_log_refused(const tfrt_session_t* client, tfrt_status_t reason) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(client, name);
  tfrt_log(TFRT_LOG_WARNING, NULL, "refused a job of %s: %s", name, tfrt_status_message(reason));
}

static void job_log_closed(const tfrt_job_t* job, tfrt_status_t reason) {
  const tfrt_log_context_t context = tfrt_event_log_context(job, 0);
  tfrt_log_severity_t severity = job->asks_only ? TFRT_LOG_DEBUG : TFRT_LOG_INFO;
  if (reason) {
    tfrt_log(severity, &context, "closed: %s", tfrt_status_message(reason));
  } else {
    tfrt_log(severity, &context, "closed");
  }
}

// --- JobOpen -----------------------------------------------------------------

// OK if |client| may open another job that only asks.
static tfrt_status_t job_life_check_asking(const tfrt_node_t* node, uint64_t client) {
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
static tfrt_status_t job_life_check_room(tfrt_node_t* node, uint64_t client, bool asks_only,
                                         int64_t deadline_ns) {
  if (node->closed || (node->refuses_jobs && !asks_only)) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                              "it is shutting down and takes no more jobs; use another host, or "
                              "wait until it is back");
  }
  if (deadline_ns <= tfrt_node_now_ns(node)) {
    return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "the job's deadline has passed");
  }
  if (asks_only) return job_life_check_asking(node, client);
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
static tfrt_status_t job_life_check_view(const tfrt_node_t* node, const tfrt_wire_job_open_t* open,
                                         uint64_t client, uint32_t* out_rank) {
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
static tfrt_status_t job_life_open(tfrt_peer_t* peer, const tfrt_wire_job_open_t* open,
                                   int64_t deadline_ns, tfrt_job_t** out_job) {
  *out_job = NULL;
  uint32_t rank = TFRT_WIRE_NO_RANK;
  TFRT_RETURN_IF_ERROR(job_life_check_view(peer->node, open, peer->incarnation, &rank));
  TFRT_RETURN_IF_ERROR(
      job_life_check_room(peer->node, peer->incarnation, open->asks_only, deadline_ns));
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

// Answers the JobOpen of |job|, unless that was done: it is open here, or never will be
// because of |status| (+0).
static void job_life_answer_open(tfrt_job_t* job, tfrt_status_t status) {
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

// --- The close ---------------------------------------------------------------

// Tells all other members of |job|, whose root we are, that it is closed; |reason| (+0) may be OK.
static void job_life_close_members(tfrt_job_t* job, tfrt_status_t reason) {
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

static void job_life_tell_owners(tfrt_job_t* job, tfrt_owner_event_t event) {
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = event, .node = job->node, .job = job, .reason = job->closing.reason});
}

static void job_life_queue_slice(tfrt_task_t* task);

static void job_life_close_slice(tfrt_job_t* job) {
  if (tfrt_outgoing_call_cancel_oldest(job, TFRT_JOB_CLOSING_SLICE, job->closing.reason)) {
    job_life_tell_owners(job, TFRT_OWNER_JOB_FINISHED);
    tfrt_job_leave(job);
    return;
  }
  // Until the next slice is over.
  tfrt_node_t* node = tfrt_node_retain(job->node);
  tfrt_task_initialize(&job->closing.task, job_life_queue_slice);
  tfrt_node_lock_defer(&node->lock, &job->closing.task);
}

static void job_life_run_slice(tfrt_task_t* task) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing.task);
  tfrt_node_t* node = job->node;
  tfrt_node_lock_tables(node);
  job_life_close_slice(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs with the lock open, after the actions of the slice. The thread may be the network's or the
// timers', which must not end many calls itself.
static void job_life_queue_slice(tfrt_task_t* task) {
  const tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing.task);
  tfrt_work_queue_t* work_queue = job->node->options.host->work_queue;
  tfrt_task_initialize(task, job_life_run_slice);
  tfrt_work_queue_add_task(work_queue, task);
}

void tfrt_job_close(tfrt_job_t* job, tfrt_status_t reason) {
  if (tfrt_job_is_closed(job)) return;
  if (job->node->options.logs_events) job_log_closed(job, reason);
  tfrt_job_enter(job);
  if (job->rank == 0) job_life_close_members(job, reason);
  job->closing.is_finished = !reason;
  job->closing.reason = reason ? tfrt_status_retain(reason)
                               : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  job_life_answer_open(job, job->closing.reason);
  tfrt_job_set_state(job, TFRT_JOB_CLOSED);
  // No kernel of the job starts here any more.
  job_life_tell_owners(job, TFRT_OWNER_JOB_CLOSED);
  job_life_close_slice(job);
}

// --- Messages ----------------------------------------------------------------

// |job| was opened by a frame that says |trace| (NULL: nothing): records spans of what runs, if
// that is sampled; service/tracing.h gives them to the client.
static tfrt_status_t job_life_accept_trace(tfrt_job_t* job, const tfrt_wire_trace_t* trace) {
  if (!trace || !(trace->flags & TFRT_JOB_TRACE_SAMPLED)) return NULL;
  job->tracing.context = *trace;
  tfrt_trace_t* created = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_trace_create(TFRT_JOB_TRACE_LIMIT, job->node->options.allocator, &created));
  tfrt_job_set_trace(job, created);
  tfrt_trace_release(created);
  return NULL;
}

// True if |job| wants a session with |member| before it begins: with the root, to notice its loss,
// and with a host whose session is over here. That host may not know so, and would use the old
// session for |job|.
static bool job_life_wants_session(const tfrt_job_t* job, const tfrt_job_member_t* member) {
  if (member->rank == job->rank || member->death) return false;
  if (member->rank == 0) return true;
  const tfrt_peer_t* peer = tfrt_peer_find(job->node, member->incarnation);
  return peer && !peer->session && peer->death.reason;
}

// True if no session with a member of |job| is about to begin.
static bool job_life_has_sessions(const tfrt_job_t* job) {
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    const tfrt_peer_t* peer = tfrt_peer_find(job->node, job->view.members[i].incarnation);
    if (!peer || !peer->session) continue;
    if (tfrt_session_state(peer->session) == TFRT_SESSION_CONNECTING) return false;
  }
  return true;
}

// Answers the JobOpen of |job|, if that waits for no session any more.
static void job_life_answer_if_ready(tfrt_job_t* job) {
  if (job->state == TFRT_JOB_OPENING && job_life_has_sessions(job)) {
    job_life_answer_open(job, NULL);
  }
}

// A member answers the JobOpen when it has the sessions that it wants. Without one with the root it
// has no part in the job; without another one, the job does without that, too.
static void job_life_await_sessions(tfrt_job_t* job) {
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    const tfrt_job_member_t* member = &job->view.members[i];
    if (!job_life_wants_session(job, member)) continue;
    tfrt_peer_t* peer = NULL;
    tfrt_status_t status = tfrt_job_reach(job, member->incarnation, &peer);
    const bool is_lost = status && member->rank == 0;
    if (is_lost) tfrt_job_close(job, status);
    tfrt_status_release(status);
    if (is_lost) return;
  }
  job_life_answer_if_ready(job);
}

// A JobOpen came, in a frame whose handle is the sender's for the job.
static tfrt_status_t job_life_on_open(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_frame_t* frame = in->frame;
  const tfrt_wire_job_open_t* open = &in->body->job_open;
  tfrt_job_t* job = NULL;
  tfrt_status_t refused = job_life_open(peer, open, in->deadline_ns, &job);
  if (refused) {
    if (peer->node->options.logs_events) job_log_refused(peer->session, refused);
    tfrt_status_t status = tfrt_job_attachment_refuse(peer, frame->job, open, refused);
    tfrt_status_release(refused);
    return status;
  }
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_bind(job, peer, frame->job));
  // Without memory for a trace, the job runs untraced.
  tfrt_status_release(job_life_accept_trace(job, frame->trace));
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_JOB_OPENED, .node = job->node, .job = job});
  tfrt_job_set_state(job, TFRT_JOB_OPENING);
  if (job->node->options.logs_events) job_log_opened(job, peer->session);
  job_life_await_sessions(job);
  return NULL;
}

// There is a session with |peer|: jobs that waited for that are answered.
static void job_life_on_peer_met(const tfrt_owner_end_t* end) {
  const tfrt_peer_t* peer = end->peer;
  const tfrt_node_t* node = end->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (tfrt_job_rank_of(job, peer->incarnation) != TFRT_WIRE_NO_RANK) {
      job_life_answer_if_ready(job);
    }
  }
}

// A JobClose came.
static tfrt_status_t job_life_on_close(const tfrt_incoming_frame_t* in) {
  tfrt_job_t* job = in->job;
  if (!job) return NULL;
  uint64_t sender = in->peer->incarnation;
  bool may = sender == job->client.incarnation || tfrt_job_rank_of(job, sender) == 0;
  if (!may) return NULL;
  const tfrt_wire_error_t* error = in->body->job_close.error;
  tfrt_status_t reason = error ? tfrt_wire_error_to_status(error) : NULL;
  tfrt_job_close(job, reason);
  tfrt_status_release(reason);
  return NULL;
}

// --- Owners ------------------------------------------------------------------

// A session that an opening job has waited for may be over.
static void job_life_on_peer_lost(const tfrt_owner_end_t* end) {
  for (tfrt_list_link_t* link = end->node->jobs.next; link != &end->node->jobs;) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    link = link->next;
    job_life_answer_if_ready(job);
  }
}

// The peer lives without a session: a job that has lost nothing with that takes the next one, which
// tells it of the loss of the peer itself.
static void job_life_on_peer_parted(const tfrt_owner_end_t* end) {
  for (tfrt_list_link_t* link = end->node->jobs.next; link != &end->node->jobs;) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    link = link->next;
    const tfrt_job_member_t* member = tfrt_job_find_incarnation(job, end->peer->incarnation);
    if (tfrt_job_is_closed(job) || !member || member->death || member == &job->client) continue;
    tfrt_peer_t* peer = NULL;
    tfrt_status_t status = tfrt_job_reach(job, member->incarnation, &peer);
    if (status && member->rank == 0) tfrt_job_close(job, status);
    tfrt_status_release(status);
  }
}

static const tfrt_owner_rule_t tfrt_job_life_rules[] = {
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_JOBS, job_life_on_peer_met},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_JOBS, job_life_on_peer_lost},
    {TFRT_OWNER_PEER_PARTED, TFRT_OWNER_JOBS, job_life_on_peer_parted},
};

static const tfrt_frame_handler_t tfrt_job_life_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_OPEN, job_life_on_open},
    {TFRT_WIRE_FRAME_JOB_CLOSE, job_life_on_close},
};

const tfrt_node_part_t tfrt_job_life_part = {
    .rules = tfrt_job_life_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_life_rules),
    .handlers = tfrt_job_life_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_job_life_handlers),
};
