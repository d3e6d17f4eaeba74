// SPDX-License-Identifier: Apache-2.0
#include "distributed/client/client_record.h"

#include <stdio.h>
#include <string.h>

#include "distributed/service/tracing.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/random.h"

// --- What is wrong with a host -----------------------------------------------

static uint32_t tfrt_client_rank_of(const tfrt_client_t* client, const tfrt_client_host_t* host) {
  return (uint32_t)(host - client->hosts);
}

// The code that the user gets for a session that died of |death|: see the table in client.h.
static tfrt_status_code_t tfrt_client_code_of(tfrt_session_death_t death, tfrt_status_code_t code) {
  switch (death) {
    case TFRT_SESSION_DEATH_VERSION:
    case TFRT_SESSION_DEATH_PROTOCOL:
      return TFRT_STATUS_ABORTED;
    case TFRT_SESSION_DEATH_REJECTED:
      if (code == TFRT_STATUS_UNAUTHENTICATED || code == TFRT_STATUS_PERMISSION_DENIED) {
        return TFRT_STATUS_UNAUTHENTICATED;
      }
      // Something answers there that is no host of ours.
      if (code == TFRT_STATUS_UNIMPLEMENTED) return TFRT_STATUS_ABORTED;
      return code == TFRT_STATUS_RESOURCE_EXHAUSTED ? code : TFRT_STATUS_UNAVAILABLE;
    default:
      break;
  }
  bool is_own = code == TFRT_STATUS_INVALID_ARGUMENT || code == TFRT_STATUS_RESOURCE_EXHAUSTED;
  return is_own ? code : TFRT_STATUS_UNAVAILABLE;
}

// Advice to append to the error's message; empty where the message says it already.
static const char* tfrt_client_advice(tfrt_session_death_t death, tfrt_status_code_t code) {
  if (code == TFRT_STATUS_INVALID_ARGUMENT) return "; correct the address";
  // The reason names what this process lacks.
  if (code == TFRT_STATUS_RESOURCE_EXHAUSTED && death == TFRT_SESSION_DEATH_SILENCE) return "";
  if (code == TFRT_STATUS_RESOURCE_EXHAUSTED) return "; try again when there is less to do";
  if (code == TFRT_STATUS_UNAUTHENTICATED) return "";
  if (code == TFRT_STATUS_ABORTED && death == TFRT_SESSION_DEATH_REJECTED) {
    return "; something else listens there: correct the address, or run the same release "
           "everywhere";
  }
  if (code == TFRT_STATUS_ABORTED) return "; run the same release everywhere";
  switch (death) {
    case TFRT_SESSION_DEATH_GONE:
      return "; start a worker there, or correct the address";
    case TFRT_SESSION_DEATH_SILENCE:
      return "; check that the address is right, that a worker runs there, and that a way leads to "
             "it";
    default:
      return "; start it again, or leave it out";
  }
}

// The error (+1) of a job that can't be opened because of |host|: the session's |reason|, who
// it is about, and what helps.
static tfrt_status_t tfrt_client_unopened_error(const tfrt_client_t* client,
                                                const tfrt_client_host_t* host,
                                                tfrt_session_death_t death, tfrt_status_t reason) {
  tfrt_status_fields_t fields = *tfrt_status_fields(reason);
  fields.code = tfrt_client_code_of(death, fields.code);
  // The loss of a host that was there is reported like any loss.
  bool is_loss = death == TFRT_SESSION_DEATH_GONE || death == TFRT_SESSION_DEATH_SILENCE;
  if (is_loss && host->incarnation != 0) fields.root_key = host->incarnation;
  char message[TFRT_STATUS_MAX_TEXT_SIZE];
  const char* advice = tfrt_client_advice(death, fields.code);
  // Most reasons name the host that they are about.
  if (strstr(fields.message, host->address)) {
    snprintf(message, sizeof(message), "%s%s", fields.message, advice);
  } else {
    snprintf(message, sizeof(message), "host %u (%s): %s%s", tfrt_client_rank_of(client, host),
             host->address, fields.message, advice);
  }
  fields.message = message;
  return tfrt_status_create_from_fields(&fields);
}

bool tfrt_client_has_lost(tfrt_client_t* client, tfrt_status_t status) {
  if (!status) return false;
  uint64_t root_key = tfrt_status_fields(status)->root_key;
  tfrt_node_lock_tables(client->node);
  bool found = root_key == client->node->incarnation;
  for (uint32_t i = 0; i < client->options.host_count && !found; ++i) {
    uint64_t incarnation = client->hosts[i].incarnation;
    found = incarnation != 0 && root_key == incarnation;
  }
  tfrt_node_unlock(client->node);
  return found;
}

tfrt_status_t tfrt_client_late_error(const tfrt_client_t* client) {
  const tfrt_client_host_t* late = client->hosts;
  while (late->opened || (!client->job && late->incarnation != 0)) ++late;
  return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                            "the deadline passed before the job was open: host %u (%s) has not "
                            "answered",
                            tfrt_client_rank_of(client, late), late->address);
}

// --- JobOpen -----------------------------------------------------------------

// Prints the job's lines; releases the printing.
static void tfrt_client_print(void* self, uint32_t rank, tfrt_string_view_t line) {
  tfrt_client_t* client = self;
  if (client->options.print) client->options.print(client->options.print_self, rank, line);
}

static void tfrt_client_release_print(void* self) { tfrt_client_release_locked(self); }

// The client wants this |job|, which it makes, to be traced everywhere.
static void tfrt_client_request_trace(tfrt_job_t* job) {
  tfrt_random_entropy(&job->tracing.context, sizeof(job->tracing.context));
  job->tracing.context.flags = TFRT_JOB_TRACE_SAMPLED;
}

// Makes the job, as |open| says, and opens it on each host.
static tfrt_status_t tfrt_client_open_everywhere(tfrt_client_t* client,
                                                 const tfrt_wire_body_t* body) {
  tfrt_job_t* job = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_job_create(client->node, &body->job_open, TFRT_WIRE_NO_RANK,
                                       client->node->incarnation, &job));
  client->job = tfrt_job_retain(job);
  job->printer.print = tfrt_client_print;
  job->printer.self = client;
  job->printer.release = tfrt_client_release_print;
  if (client->options.is_traced) tfrt_client_request_trace(job);
  tfrt_client_retain(client);
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_peer_t* peer = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_job_reach(job, client->hosts[i].incarnation, &peer));
    tfrt_peer_job_t* known = tfrt_peer_find_or_create_job(peer, job);
    if (!known) return tfrt_status_out_of_memory();
    tfrt_peer_frame_t frame = {.job = job, .deadline_ns = client->options.deadline_ns};
    TFRT_RETURN_IF_ERROR(tfrt_peer_try_send(peer, &frame, body));
    known->attached = true;
  }
  return NULL;
}

// All hosts are known: opens the job on each.
static tfrt_status_t tfrt_client_open_job(tfrt_client_t* client, tfrt_arena_t* arena) {
  uint32_t count = client->options.host_count;
  tfrt_wire_member_t* members = tfrt_arena_allocate_array(arena, count, sizeof(*members));
  tfrt_string_view_t* addresses = tfrt_arena_allocate_array(arena, count, sizeof(*addresses));
  if (!members || !addresses) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    addresses[i] = tfrt_string_view_of(client->hosts[i].address);
    members[i] = (tfrt_wire_member_t){.rank = i,
                                      .incarnation = client->hosts[i].incarnation,
                                      .addresses = &addresses[i],
                                      .address_count = 1};
  }
  char name[TFRT_WIRE_MAX_NAME_SIZE];
  uint8_t secrets[TFRT_WIRE_JOB_ID_SIZE + TFRT_WIRE_KEY_SIZE];
  tfrt_random_entropy(secrets, sizeof(secrets));
  const char* id = (const char*)secrets;
  const tfrt_job_limits_t* limits = &client->options.limits;
  const tfrt_wire_job_budgets_t budgets = {.memory_bytes = limits->memory_bytes,
                                           .objects = limits->objects,
                                           .calls = limits->calls,
                                           .requests = limits->requests};
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_OPEN,
      .job_open = {
          .budgets = &budgets,
          .job_id = tfrt_string_view_make(id, TFRT_WIRE_JOB_ID_SIZE),
          .key = tfrt_string_view_make(id + TFRT_WIRE_JOB_ID_SIZE, TFRT_WIRE_KEY_SIZE),
          .view = {.epoch = 1, .members = members, .member_count = count},
          .name = tfrt_wire_text_fit(tfrt_string_view_of(client->name), name, sizeof(name)),
          .asks_only = client->options.asks_only,
          .detached = client->options.is_detached}};
  return tfrt_client_open_everywhere(client, &body);
}

// Two addresses of one host, or OK.
static tfrt_status_t tfrt_client_check_hosts(const tfrt_client_t* client) {
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if (client->hosts[i].incarnation != client->hosts[j].incarnation) continue;
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "host %u (%s) and host %u (%s) are the same process; name each "
                                "once",
                                j, client->hosts[j].address, i, client->hosts[i].address);
    }
  }
  return NULL;
}

// Goes on when a session is open, or one more incarnation is known.
static void tfrt_client_advance(tfrt_client_t* client) {
  if (client->job || tfrt_client_is_closed(client)) return;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    if (client->hosts[i].incarnation == 0) return;
  }
  tfrt_status_t status = tfrt_client_check_hosts(client);
  if (!status) {
    tfrt_arena_t arena;
    tfrt_arena_initialize(&arena, client->node->options.allocator);
    status = tfrt_client_open_job(client, &arena);
    tfrt_arena_deinitialize(&arena);
  }
  if (status) tfrt_client_close_locked(client, status);
  tfrt_status_release(status);
}

// --- Sessions ----------------------------------------------------------------

tfrt_status_t tfrt_client_dial_hosts(tfrt_client_t* client) {
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_client_host_t* host = &client->hosts[i];
    TFRT_RETURN_IF_ERROR(tfrt_session_manager_dial(
        client->node->sessions, tfrt_string_view_of(host->address), 0, &host->session));
    // For a client that only asks, each host is the only one: its rank would say nothing.
    if (!client->options.asks_only) tfrt_session_set_peer_rank(host->session, i);
    // One that another client has dialled may be open already.
    bool is_known = tfrt_session_state(host->session) != TFRT_SESSION_CONNECTING;
    if (is_known) host->incarnation = tfrt_session_peer_incarnation(host->session);
  }
  tfrt_client_advance(client);
  return NULL;
}

void tfrt_client_forget_hosts(tfrt_client_t* client) {
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_session_release(client->hosts[i].session);
    client->hosts[i].session = NULL;
  }
}

static void tfrt_client_on_peer_met(const tfrt_owner_end_t* end) {
  const tfrt_node_t* node = end->node;
  const tfrt_session_t* session = end->peer->session;
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients;) {
    tfrt_client_t* client = tfrt_client_of(link);
    link = link->next;
    for (uint32_t i = 0; i < client->options.host_count; ++i) {
      if (client->hosts[i].session == session) {
        client->hosts[i].incarnation = tfrt_session_peer_incarnation(session);
      }
    }
    tfrt_client_advance(client);
  }
}

// Takes the session that there is already with the process at |host|, if |reason| says so.
static bool tfrt_client_take_other(tfrt_client_t* client, tfrt_client_host_t* host,
                                   const tfrt_session_t* session, tfrt_status_t reason) {
  if (tfrt_status_code(reason) != TFRT_STATUS_ALREADY_EXISTS) return false;
  uint64_t incarnation = tfrt_status_fields(reason)->origin.incarnation;
  tfrt_session_t* other = tfrt_session_manager_find(client->node->sessions, incarnation);
  if (!other || other == session) return false;
  tfrt_session_release(host->session);
  host->session = tfrt_session_retain(other);
  host->incarnation = incarnation;
  tfrt_client_advance(client);
  return true;
}

static void tfrt_client_lose_session(tfrt_client_t* client, tfrt_client_host_t* host,
                                     const tfrt_session_t* session, tfrt_session_death_t death,
                                     tfrt_status_t reason) {
  if (tfrt_client_take_other(client, host, session, reason)) return;
  if (!tfrt_client_was_opened(client)) {
    tfrt_status_t status = tfrt_client_unopened_error(client, host, death, reason);
    tfrt_client_close_locked(client, status);
    tfrt_status_release(status);
    return;
  }
  // The root decides what the loss of another host means.
  if (host != &client->hosts[0]) return;
  tfrt_peer_t* root = tfrt_peer_find(client->node, host->incarnation);
  if (root) tfrt_client_lose_root(client, root);
}

static void tfrt_client_on_session_dead(const tfrt_owner_end_t* end) {
  const tfrt_node_t* node = end->node;
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients;) {
    tfrt_client_t* client = tfrt_client_of(link);
    link = link->next;
    // An address that is given twice has one session. One that is closed meanwhile has none.
    for (uint32_t i = 0; i < client->options.host_count; ++i) {
      if (client->hosts[i].session != end->session) continue;
      tfrt_client_lose_session(client, &client->hosts[i], end->session, end->death, end->reason);
    }
  }
}

// The root has ended the job, and no host answers messages on their way to it.
static void tfrt_client_on_member_left(const tfrt_owner_end_t* end) {
  tfrt_client_t* client = tfrt_client_find(end->node, end->job);
  if (client && end->peer->incarnation == client->hosts[0].incarnation) {
    tfrt_client_lose_root(client, end->peer);
  }
}

// --- JobOpened ---------------------------------------------------------------

// |host| has no part in the job, for the reason that |error| gives.
static void tfrt_client_on_refusal(tfrt_client_t* client, const tfrt_client_host_t* host,
                                   const tfrt_wire_error_t* error) {
  tfrt_string_view_t name = tfrt_session_peer_name(host->session);
  if (tfrt_string_view_equal(name, tfrt_string_view_of(host->address))) name.size = 0;
  tfrt_status_t status = tfrt_status_take_annotate(
      tfrt_wire_error_to_status(error), "host %u (%.*s%s%s) refuses the job",
      tfrt_client_rank_of(client, host), TFRT_STRING_VIEW_ARGUMENTS(name),
      name.size > 0 ? ", " : "", host->address);
  tfrt_client_close_locked(client, status);
  tfrt_status_release(status);
}

// A JobOpened came.
static tfrt_status_t tfrt_client_on_job_opened(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_error_t* error = in->body->job_opened.error;
  tfrt_client_t* client = in->job ? tfrt_client_find(in->peer->node, in->job) : NULL;
  if (!client || tfrt_client_was_opened(client)) return NULL;
  bool all = true;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_client_host_t* host = &client->hosts[i];
    if (host->incarnation == in->peer->incarnation && error) {
      tfrt_client_on_refusal(client, host, error);
      return NULL;
    }
    if (host->incarnation == in->peer->incarnation) host->opened = true;
    all = all && host->opened;
  }
  if (all) tfrt_client_note_open(client);
  return NULL;
}

static const tfrt_owner_rule_t tfrt_client_host_rules[] = {
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_JOBS, tfrt_client_on_peer_met},
    {TFRT_OWNER_SESSION_DEAD, TFRT_OWNER_JOBS, tfrt_client_on_session_dead},
    {TFRT_OWNER_MEMBER_LEFT, TFRT_OWNER_JOBS, tfrt_client_on_member_left},
};

static const tfrt_frame_handler_t tfrt_client_host_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_OPENED, tfrt_client_on_job_opened},
};

const tfrt_node_part_t tfrt_client_host_part = {
    .rules = tfrt_client_host_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_client_host_rules),
    .handlers = tfrt_client_host_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_client_host_handlers),
};
