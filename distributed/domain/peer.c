// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/peer.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "distributed/domain/call_site.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/job_attachment.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/number_text.h"

static bool peer_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_peer_t, by_incarnation)->incarnation == *(const uint64_t*)key;
}

static uint64_t peer_hash(const void* key) { return tfrt_hash_u64(*(const uint64_t*)key); }

static const tfrt_hash_table_vtable_t tfrt_peer_table_vtable = {
    .hash = peer_hash,
    .equal = peer_equal,
};

tfrt_peer_t* tfrt_peer_find(tfrt_node_t* node, uint64_t incarnation) {
  tfrt_hash_node_t* found = tfrt_hash_table_find(&node->peers, &incarnation);
  return found ? TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation) : NULL;
}

// --- What can't be said any more ---------------------------------------------

// Runs with the lock open: ends the session of a peer that could not be told something.
static void peer_break(tfrt_task_t* task) {
  tfrt_peer_t* peer = TFRT_CONTAINER_OF(task, tfrt_peer_t, breaker);
  tfrt_node_t* node = peer->node;
  tfrt_node_lock_tables(node);
  tfrt_status_t reason = peer->broken;
  peer->broken = NULL;
  if (peer->session) {
    tfrt_log(TFRT_LOG_ERROR, NULL, "a session can't go on: %s", tfrt_status_message(reason));
    tfrt_session_close(peer->session, TFRT_WIRE_GOODBYE_DEAD,
                       tfrt_string_view_of(tfrt_status_message(reason)));
  }
  tfrt_status_release(reason);
  tfrt_node_unlock(node);
}

void tfrt_peer_break_take(tfrt_peer_t* peer, tfrt_status_t reason) {
  if (peer->broken) {
    tfrt_status_release(reason);
    return;
  }
  peer->broken = reason;
  tfrt_node_lock_defer(&peer->node->lock, &peer->breaker);
}

tfrt_peer_t* tfrt_peer_find_or_create(tfrt_node_t* node, uint64_t incarnation) {
  tfrt_peer_t* peer = tfrt_peer_find(node, incarnation);
  if (peer) return peer;
  peer = tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*peer));
  if (!peer) return NULL;
  peer->node = node;
  peer->incarnation = incarnation;
  tfrt_list_initialize(&peer->located);
  tfrt_list_initialize(&peer->named);
  tfrt_list_initialize(&peer->retaining);
  tfrt_list_initialize(&peer->incoming_retains);
  tfrt_list_initialize(&peer->outgoing_pushes);
  tfrt_list_initialize(&peer->held_requests);
  tfrt_list_initialize(&peer->jobs);
  tfrt_task_initialize(&peer->breaker, peer_break);
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_PEER_MADE, .node = node, .peer = peer});
  tfrt_hash_table_insert(&node->peers, &incarnation, &peer->by_incarnation);
  return peer;
}

static void peer_free_job(tfrt_peer_t* peer, tfrt_peer_job_t* known) {
  tfrt_list_remove(&known->link);
  if (known->job) tfrt_job_release(known->job);
  tfrt_allocator_free(peer->node->options.allocator, known, sizeof(*known));
}

static void peer_free_jobs(tfrt_peer_t* peer) {
  while (!tfrt_list_is_empty(&peer->jobs)) {
    peer_free_job(peer, TFRT_CONTAINER_OF(peer->jobs.next, tfrt_peer_job_t, link));
  }
  tfrt_job_attachment_forget_gone(peer);
}

// Frees |peer|, which has nothing left but handles of jobs.
static void peer_free(tfrt_peer_t* peer) {
  tfrt_node_end(
      &(tfrt_owner_end_t){.event = TFRT_OWNER_PEER_PAST, .node = peer->node, .peer = peer});
  peer_free_jobs(peer);
  tfrt_session_release(peer->session);
  tfrt_status_release(peer->death.reason);
  tfrt_status_release(peer->broken);
  tfrt_hash_table_deinitialize(&peer->outgoing_calls);
  tfrt_hash_table_deinitialize(&peer->incoming_calls);
  tfrt_hash_table_deinitialize(&peer->failed_calls);
  tfrt_hash_table_deinitialize(&peer->wants);
  tfrt_hash_table_deinitialize(&peer->incoming_wants);
  tfrt_hash_table_deinitialize(&peer->gone_handles);
  tfrt_hash_table_remove(&peer->node->peers, &peer->by_incarnation);
  tfrt_allocator_free(peer->node->options.allocator, peer, sizeof(*peer));
}

// True if |peer| is in a job that goes on, as a member or as its client.
static bool peer_has_job(const tfrt_peer_t* peer) {
  const tfrt_node_t* node = peer->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (tfrt_job_find_incarnation(job, peer->incarnation)) return true;
  }
  return false;
}

// True if nothing needs the record of |peer| any more. Names and numbers that must never return are
// the session manager's to remember.
static bool peer_is_past(const tfrt_peer_t* peer) {
  bool is_idle = tfrt_hash_table_count(&peer->outgoing_calls) == 0 &&
                 tfrt_hash_table_count(&peer->incoming_calls) == 0 &&
                 tfrt_hash_table_count(&peer->wants) == 0 &&
                 tfrt_hash_table_count(&peer->incoming_wants) == 0 && peer->transfers == 0;
  return is_idle && !peer->session && peer->death.reason && !peer->broken &&
         tfrt_list_is_empty(&peer->located) && tfrt_list_is_empty(&peer->named) &&
         tfrt_list_is_empty(&peer->retaining) && tfrt_list_is_empty(&peer->incoming_retains) &&
         tfrt_list_is_empty(&peer->outgoing_pushes) && tfrt_list_is_empty(&peer->held_requests) &&
         tfrt_list_is_empty(&peer->jobs) && !peer_has_job(peer);
}

// Frees all dead peers that no job, call or value needs any more. Most of them are clients, as each
// client is a process of its own. The peer that was met just now is live.
static void peer_free_past(tfrt_node_t* node) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    found = tfrt_hash_table_next(&node->peers, found);
    if (peer_is_past(peer)) peer_free(peer);
  }
}

// --- Jobs --------------------------------------------------------------------

tfrt_peer_job_t* tfrt_peer_find_job(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = peer->jobs.next; link != &peer->jobs; link = link->next) {
    tfrt_peer_job_t* known = TFRT_CONTAINER_OF(link, tfrt_peer_job_t, link);
    if (known->job == job) return known;
  }
  return NULL;
}

tfrt_peer_job_t* tfrt_peer_find_or_create_job(tfrt_peer_t* peer, tfrt_job_t* job) {
  tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  if (known) return known;
  known = tfrt_allocator_allocate_zeroed(peer->node->options.allocator, sizeof(*known));
  if (!known) return NULL;
  known->job = tfrt_job_retain(job);
  tfrt_list_push_back(&peer->jobs, &known->link);
  return known;
}

// --- Sending -----------------------------------------------------------------

static tfrt_session_frame_t peer_session_frame(const tfrt_peer_frame_t* frame,
                                               const tfrt_wire_body_t* body) {
  tfrt_session_frame_t out = {
      .kind = body->kind,
      .job = frame->job ? frame->job->handle : 0,
      .epoch = frame->job ? frame->job->view.epoch : 0,
      .request = frame->request,
      .deadline_ns = frame->deadline_ns ? frame->deadline_ns : TFRT_TIME_INFINITE,
      .after_call = frame->after_call,
      .after_want = frame->after_want,
      .can_wait = frame->can_wait,
      .can_wait_long = frame->can_wait_long,
  };
  bool starts_work = body->kind == TFRT_WIRE_FRAME_INVOKE ||
                     body->kind == TFRT_WIRE_FRAME_JOB_OPEN ||
                     body->kind == TFRT_WIRE_FRAME_JOB_START;
  if (starts_work && frame->job->tracing.context.flags) out.trace = &frame->job->tracing.context;
  if (body->kind == TFRT_WIRE_FRAME_INVOKE) out.call = body->invoke.call;
  if (body->kind == TFRT_WIRE_FRAME_VOID) out.call = body->void_call.call;
  if (body->kind == TFRT_WIRE_FRAME_WANT) out.want = body->want.want;
  return out;
}

tfrt_status_t tfrt_peer_try_send(tfrt_peer_t* peer, const tfrt_peer_frame_t* frame,
                                 const tfrt_wire_body_t* body) {
  if (!peer->session) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "there is no session to send on");
  }
  if (frame->job && body->kind != TFRT_WIRE_FRAME_JOB_OPEN) {
    TFRT_RETURN_IF_ERROR(tfrt_job_attachment_send(frame->job, peer));
  }
  tfrt_string_builder_t* bytes = &peer->node->body;
  tfrt_string_builder_clear(bytes);
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_encode(body, bytes));
  tfrt_session_frame_t out = peer_session_frame(frame, body);
  out.body = tfrt_string_builder_view(bytes);
  return tfrt_session_append(peer->session, &out);
}

void tfrt_peer_send(tfrt_peer_t* peer, const tfrt_peer_frame_t* frame,
                    const tfrt_wire_body_t* body) {
  if (!peer->session) return;
  tfrt_status_t status = tfrt_peer_try_send(peer, frame, body);
  if (!status) return;
  tfrt_peer_break_take(
      peer, tfrt_status_take_annotate(status, "%s", tfrt_wire_frame_kind_name(body->kind)));
}

size_t tfrt_peer_inline_limit(const tfrt_peer_t* peer) {
  const size_t ours = peer->node->options.inline_limit;
  const size_t agreed = peer->session ? tfrt_session_limits(peer->session)->inline_bytes : 0;
  return agreed < ours ? agreed : ours;
}

// --- Death -------------------------------------------------------------------

// A host, as an error names it.
typedef struct tfrt_peer_text_s {
  char text[TFRT_WIRE_MAX_NAME_SIZE + TFRT_TRANSPORT_ADDRESS_SIZE + 48];
} tfrt_peer_text_t;

// "host 2 (worker-2, 127.0.0.1:4567)", as far as |peer| and the view of |job| (may be NULL) know.
static tfrt_peer_text_t peer_describe(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                      const tfrt_job_member_t* member) {
  tfrt_peer_text_t who = {.text = "a host"};
  if (job && job->client.incarnation == peer->incarnation) {
    snprintf(who.text, sizeof(who.text), "the client");
    return who;
  }
  // Each host is the only one of a job that only asks: its number would say nothing.
  if (member && !job->asks_only) snprintf(who.text, sizeof(who.text), "host %u", member->rank);
  const char* address = !peer->address[0] && member ? member->address : peer->address;
  const char* name = strcmp(peer->name, address) != 0 ? peer->name : "";
  if (!name[0] && !address[0]) return who;
  const size_t size = strlen(who.text);
  snprintf(who.text + size, sizeof(who.text) - size, " (%s%s%s)", name,
           name[0] && address[0] ? ", " : "", address);
  return who;
}

// "host 0 lost ", or what a client of |job| (may be NULL) says. The address is that of the host, if
// it is the client that is lost, which has none.
static tfrt_peer_text_t peer_describe_observer(const tfrt_job_t* job, const tfrt_peer_t* lost) {
  tfrt_peer_text_t who = {.text = "lost "};
  if (job && job->rank != TFRT_WIRE_NO_RANK) {
    const tfrt_job_member_t* own = tfrt_job_find_rank((tfrt_job_t*)job, job->rank);
    const bool is_client = job->client.incarnation == lost->incarnation;
    const char* address = is_client && own ? own->address : "";
    snprintf(who.text, sizeof(who.text), "host %u%s%s%s lost ", job->rank, address[0] ? " (" : "",
             address, address[0] ? ")" : "");
  } else if (job && !job->asks_only) {
    snprintf(who.text, sizeof(who.text), "the client lost ");
  }
  return who;
}

// Whether the peer itself said why it gave the session up: that is the first cause then.
static bool peer_has_words(const tfrt_peer_t* peer) {
  return peer->death.kind == TFRT_SESSION_DEATH_BURIED && peer->death.reason &&
         tfrt_status_fields(peer->death.reason)->cause_count > 0;
}

// Why the session with |peer| ended, in a few words; the peer's own words are to follow, if there
// are any.
static const char* peer_death_text(const tfrt_peer_t* peer) {
  switch (peer->death.kind) {
    case TFRT_SESSION_DEATH_SILENCE:
      return "no sign of life";
    case TFRT_SESSION_DEATH_STALLED:
      return "it is heard, and nothing of what is sent to it arrives (does the path pass packets "
             "of full size?)";
    case TFRT_SESSION_DEATH_GONE:
      return "its process is gone";
    case TFRT_SESSION_DEATH_REPLACED:
      return "its process is gone, and another one answers at its address";
    case TFRT_SESSION_DEATH_BURIED:
      return peer_has_words(peer) ? "it gave the session up: " : "it gave the session up";
    case TFRT_SESSION_DEATH_GOODBYE:
      return "it has shut down";
    default:
      return peer->death.reason ? tfrt_status_message(peer->death.reason) : "";
  }
}

tfrt_status_t tfrt_peer_lost_error(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                   const tfrt_status_origin_t* site, const char* format, ...) {
  const tfrt_job_member_t* member =
      job ? tfrt_job_find_incarnation((tfrt_job_t*)job, peer->incarnation) : NULL;
  // Why it is lost, if that is known. Its session may live.
  tfrt_status_t death = member && member->death ? member->death : peer->death.reason;
  const tfrt_status_code_t code = tfrt_status_code(death);
  const bool has_left = member && member->has_left;
  if (has_left && code != TFRT_STATUS_UNAVAILABLE) {
    return site ? tfrt_status_with_origin(death, site) : tfrt_status_retain(death);
  }
  char doing[256];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(doing, sizeof(doing), format, arguments);
  va_end(arguments);
  // A peer that this host can't talk to is as useless as a lost one, but the mistake is another.
  const bool is_other = code == TFRT_STATUS_ABORTED || code == TFRT_STATUS_UNAUTHENTICATED;
  const char* why = has_left || is_other ? tfrt_status_message(death)
                    : death              ? peer_death_text(peer)
                                         : "";
  const bool has_words = death && !has_left && !is_other && peer_has_words(peer);
  const char* words = has_words ? tfrt_status_fields(peer->death.reason)->causes[0] : "";
  char message[2 * TFRT_STATUS_MAX_TEXT_SIZE + 2 * sizeof(tfrt_peer_text_t)];
  snprintf(message, sizeof(message), "%s%s %s%s%s%s", peer_describe_observer(job, peer).text,
           peer_describe(peer, job, member).text, doing, why[0] ? ": " : "", why, words);
  tfrt_status_fields_t fields = {.code = is_other ? code : TFRT_STATUS_UNAVAILABLE,
                                 .message = message,
                                 .origin = {.rank = TFRT_STATUS_NO_RANK},
                                 .root_key = peer->incarnation,
                                 .may_have_run = true};
  if (site) fields.origin = *site;
  if (death) {
    fields.causes[0] = tfrt_status_message(death);
    fields.cause_count = 1;
  }
  return tfrt_status_create_from_fields(&fields);
}

void tfrt_peer_adopt_session(tfrt_peer_t* peer, tfrt_session_t* session) {
  if (peer->session != session) {
    tfrt_session_release(peer->session);
    peer->session = tfrt_session_retain(session);
    peer->newest_job = peer->node->next_job_handle;
    peer->last_want_seen = 0;
    *tfrt_session_user_data(session) = peer;
  }
  tfrt_status_release(peer->death.reason);
  peer->death.reason = NULL;
  tfrt_string_view_t name = tfrt_session_peer_name(session);
  if (name.size > 0 && name.size < sizeof(peer->name)) {
    memcpy(peer->name, name.data, name.size);
    peer->name[name.size] = '\0';
  }
  tfrt_string_view_t address = tfrt_session_address(session);
  if (address.size > 0 && address.size < sizeof(peer->address)) {
    memcpy(peer->address, address.data, address.size);
    peer->address[address.size] = '\0';
  }
}

bool tfrt_peer_loss_concerns(const tfrt_owner_end_t* end, const tfrt_job_t* job) {
  if (end->job) return end->job == job;
  const bool is_younger = job->handle > end->peer->newest_job;
  return !end->peer_lives || !is_younger || tfrt_peer_find_job(end->peer, job);
}

// The funeral of |peer|, because of |reason| (+0): see the header. A peer that has BURIED this
// host, or begins anew, lives: only its session is over.
static void peer_bury(tfrt_peer_t* peer, tfrt_status_t reason, tfrt_session_death_t kind) {
  const bool peer_lives = kind == TFRT_SESSION_DEATH_BURIED;
  peer->death = (tfrt_peer_death_t){.reason = tfrt_status_retain(reason), .kind = kind};
  tfrt_session_t* session = peer->session;
  tfrt_owner_end_t end = {.event = TFRT_OWNER_PEER_SILENT,
                          .node = peer->node,
                          .peer = peer,
                          .reason = reason,
                          .peer_lives = peer_lives};
  tfrt_node_end(&end);
  peer->session = NULL;
  end.event = TFRT_OWNER_PEER_LOST;
  tfrt_node_end(&end);
  peer_free_jobs(peer);
  *tfrt_session_user_data(session) = NULL;
  tfrt_session_release(session);
  end.event = TFRT_OWNER_PEER_PARTED;
  if (peer_lives) tfrt_node_end(&end);
}

// --- Owners ----------------------------------------------------------------------

static void peer_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_hash_table_initialize(&end->node->peers, &tfrt_peer_table_vtable,
                             end->node->options.allocator);
}

static void peer_on_node_past(const tfrt_owner_end_t* end) {
  for (tfrt_hash_node_t* found; (found = tfrt_hash_table_first(&end->node->peers));) {
    peer_free(TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation));
  }
  tfrt_hash_table_deinitialize(&end->node->peers);
}

static void peer_on_session_dead(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = *tfrt_session_user_data(end->session);
  if (!peer || peer->session != end->session) return;
  tfrt_bulk_manager_bury(end->node->bulk, peer->incarnation, end->reason);
  peer_bury(peer, end->reason, end->death);
}

static void peer_on_met(const tfrt_owner_end_t* end) { peer_free_past(end->node); }

// Peers come first and go first: the tables of all rooms have what is theirs.
static const tfrt_owner_rule_t tfrt_peer_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_CALLS, peer_on_node_made},
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_CALLS, peer_on_node_past},
    {TFRT_OWNER_SESSION_DEAD, TFRT_OWNER_CALLS, peer_on_session_dead},
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_CALLS, peer_on_met},
};

const tfrt_node_part_t tfrt_peer_part = {
    .rules = tfrt_peer_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_peer_rules),
};
