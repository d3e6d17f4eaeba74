// SPDX-License-Identifier: Apache-2.0
#include "distributed/client/client.h"

#include <stdio.h>
#include <string.h>

#include "distributed/client/client_record.h"
#include "distributed/job/job_life.h"
#include "distributed/service/tracing.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/random.h"

// --- What is wrong with a host -----------------------------------------------

static uint32_t client_rank_of(const tfrt_client_t* client, const tfrt_client_host_t* host) {
  return (uint32_t)(host - client->hosts);
}

// The code that the user gets for a session that died of |death|: see the table in client.h.
static tfrt_status_code_t client_code_of(tfrt_session_death_t death, tfrt_status_code_t code) {
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
static const char* client_advice(tfrt_session_death_t death, tfrt_status_code_t code) {
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
    case TFRT_SESSION_DEATH_REPLACED:
      return "; start a worker there, or correct the address";
    case TFRT_SESSION_DEATH_SILENCE:
      return "; check that the address is right, that a worker runs there, and that a way leads to "
             "it";
    case TFRT_SESSION_DEATH_STALLED:
      return "";
    default:
      return "; start it again, or leave it out";
  }
}

// The error (+1) of a job that can't be opened because of |host|: the session's |reason|, who
// it is about, and what helps.
static tfrt_status_t client_unopened_error(const tfrt_client_t* client,
                                           const tfrt_client_host_t* host,
                                           tfrt_session_death_t death, tfrt_status_t reason) {
  tfrt_status_fields_t fields = *tfrt_status_fields(reason);
  fields.code = client_code_of(death, fields.code);
  // The loss of a host that was there is reported like any loss.
  bool is_loss = death == TFRT_SESSION_DEATH_GONE || death == TFRT_SESSION_DEATH_REPLACED ||
                 death == TFRT_SESSION_DEATH_SILENCE || death == TFRT_SESSION_DEATH_STALLED;
  if (is_loss && host->incarnation != 0) fields.root_key = host->incarnation;
  char message[TFRT_STATUS_MAX_TEXT_SIZE];
  const char* advice = client_advice(death, fields.code);
  // Most reasons name the host that they are about.
  if (strstr(fields.message, host->address)) {
    snprintf(message, sizeof(message), "%s%s", fields.message, advice);
  } else {
    snprintf(message, sizeof(message), "host %u (%s): %s%s", client_rank_of(client, host),
             host->address, fields.message, advice);
  }
  fields.message = message;
  return tfrt_status_create_from_fields(&fields);
}

// The error (+1) for a job that was not open in time; it names the hosts that have not answered.
static tfrt_status_t client_late_error(const tfrt_client_t* client) {
  const tfrt_client_host_t* late = client->hosts;
  while (late->opened || (!client->job && late->incarnation != 0)) ++late;
  return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                            "the deadline passed before the job was open: host %u (%s) has not "
                            "answered",
                            client_rank_of(client, late), late->address);
}

// --- The end -----------------------------------------------------------------

static void client_free(void* argument) {
  tfrt_client_t* client = argument;
  tfrt_node_t* node = client->node;
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_async_value_release(&client->opened->base);
  tfrt_async_value_release(&client->first_loss->base);
  tfrt_status_release(client->end);
  tfrt_allocator_free(allocator, client->hosts,
                      client->options.host_count * sizeof(*client->hosts));
  tfrt_allocator_free(allocator, client, sizeof(*client));
  tfrt_node_release(node);
}

static void client_retain(tfrt_client_t* client) { tfrt_ref_count_increment(&client->ref_count); }

// Drops one reference of those of users, of the node until it is closed, of the job, of the timer.
// With the lock held.
static void client_release_locked(tfrt_client_t* client) {
  if (!tfrt_ref_count_decrement(&client->ref_count)) return;
  tfrt_action_queue_call(&client->node->actions, client_free, client);
}

void tfrt_client_release(tfrt_client_t* client) {
  if (client && tfrt_ref_count_decrement(&client->ref_count)) client_free(client);
}

static void client_stop_timer(tfrt_client_t* client) {
  if (!client->is_timer_waiting) return;
  // If it runs right now it waits for the lock, and will see that the client is closed.
  if (!tfrt_timer_cancel(client->node->options.timers, &client->timer)) return;
  client->is_timer_waiting = false;
  client_release_locked(client);
}

// Tells each host that may know of the job that it is over: the root, which tells the others, too,
// may come later there than the end of this process.
static void client_send_close(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_wire_error_t error = {0};
  if (reason) {
    tfrt_status_release(tfrt_wire_error_from_status(reason, TFRT_WIRE_NO_RANK,
                                                    client->node->incarnation, &arena, &error));
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE,
                           .job_close = {.error = error.code != TFRT_STATUS_OK ? &error : NULL}};
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_peer_t* peer = tfrt_peer_find(client->node, client->hosts[i].incarnation);
    if (peer) tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = client->job}, &body);
  }
  tfrt_arena_deinitialize(&arena);
}

static void client_forget_hosts(tfrt_client_t* client) {
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_session_release(client->hosts[i].session);
    client->hosts[i].session = NULL;
  }
}

// Closes |client| because of |reason| (+0), OK when it is finished. Idempotent. With the lock held.
static void client_close_locked(tfrt_client_t* client, tfrt_status_t reason) {
  if (tfrt_client_is_closed(client)) return;
  client->state = tfrt_client_was_opened(client) ? TFRT_CLIENT_CLOSED : TFRT_CLIENT_GIVEN_UP;
  tfrt_node_t* node = client->node;
  tfrt_status_t status = reason ? tfrt_status_retain(reason)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  client->end = tfrt_status_retain(status);
  client_retain(client);
  tfrt_list_remove(&client->link);
  // A job that has ended by itself, with the loss of its root, has said so already.
  bool is_said =
      client->leaves || client->said_over || (client->job && tfrt_job_is_over(client->job));
  if (client->job && !is_said) client_send_close(client, reason);
  if (!tfrt_client_was_opened(client)) {
    tfrt_action_queue_fail_take(&node->actions, tfrt_async_value_retain(&client->opened->base),
                                status);
  }
  if (!client->has_lost) {
    tfrt_action_queue_forward_take(&node->actions,
                                   tfrt_async_value_retain(&client->first_loss->base),
                                   tfrt_async_value_ready_chain());
  }
  tfrt_client_runs_follow(client, TFRT_CLIENT_RUNS_CLOSED, NULL, NULL);
  if (client->job) {
    tfrt_job_close(client->job, reason);
    tfrt_job_release(client->job);
    client->job = NULL;
  }
  client_forget_hosts(client);
  client_stop_timer(client);
  tfrt_status_release(status);
  client_release_locked(client);
  // The node's.
  client_release_locked(client);
}

// Tells the hosts that the job is over because of |reason| (+0).
static void client_end_job(tfrt_client_t* client, tfrt_status_t reason) {
  if (!tfrt_client_was_opened(client)) {
    client_close_locked(client, reason);
  } else if (!tfrt_client_is_closed(client) && !client->said_over &&
             !tfrt_job_is_over(client->job)) {
    client->said_over = true;
    client_send_close(client, reason);
  }
}

void tfrt_client_end(tfrt_client_t* client, tfrt_client_ending_t ending, tfrt_status_t reason) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  if (ending == TFRT_CLIENT_ENDS_JOB) {
    client_end_job(client, reason);
  } else {
    client->leaves = client->options.is_detached;
    client_close_locked(client, reason);
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_client_close(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  client_close_locked(client, reason);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// --- A host is lost ----------------------------------------------------------

// |peer|, a host of the open job, is lost.
static void client_note_loss(tfrt_client_t* client, const tfrt_peer_t* peer) {
  if (client->has_lost) return;
  client->has_lost = true;
  tfrt_status_t status =
      tfrt_peer_lost_error(peer, client->job, NULL, "while it took part in the job");
  tfrt_action_queue_fail_take(&client->node->actions,
                              tfrt_async_value_retain(&client->first_loss->base), status);
  tfrt_status_release(status);
}

// |root|, the root of the job, is lost: so is all that it ran.
static void client_lose_root(tfrt_client_t* client, const tfrt_peer_t* root) {
  if (tfrt_client_was_opened(client)) {
    tfrt_client_runs_follow(client, TFRT_CLIENT_RUNS_ROOT_LOST, NULL, root);
  }
  const char* doing = client->options.asks_only ? "before it answered" : "while it ran the job";
  tfrt_status_t status = tfrt_peer_lost_error(root, client->job, NULL, "%s", doing);
  client_close_locked(client, status);
  tfrt_status_release(status);
}

// --- Opening -----------------------------------------------------------------

// The job is open everywhere.
static void client_note_open(tfrt_client_t* client) {
  client->state = TFRT_CLIENT_OPEN;
  tfrt_action_queue_forward_take(&client->node->actions,
                                 tfrt_async_value_retain(&client->opened->base),
                                 tfrt_async_value_ready_chain());
  tfrt_client_runs_follow(client, TFRT_CLIENT_RUNS_OPENED, NULL, NULL);
}

// Prints the job's lines; releases the printing.
static void client_print(void* self, uint32_t rank, tfrt_string_view_t line) {
  tfrt_client_t* client = self;
  if (client->options.print) client->options.print(client->options.print_self, rank, line);
}

static void client_release_print(void* self) { client_release_locked(self); }

// The client wants this |job|, which it makes, to be traced everywhere.
static void client_request_trace(tfrt_job_t* job) {
  tfrt_random_entropy(&job->tracing.context, sizeof(job->tracing.context));
  job->tracing.context.flags = TFRT_JOB_TRACE_SAMPLED;
}

// Makes the job, as |open| says, and opens it on each host.
static tfrt_status_t client_open_everywhere(tfrt_client_t* client, const tfrt_wire_body_t* body) {
  tfrt_job_t* job = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_job_create(client->node, &body->job_open, TFRT_WIRE_NO_RANK,
                                       client->node->incarnation, &job));
  client->job = tfrt_job_retain(job);
  job->printer.print = client_print;
  job->printer.self = client;
  job->printer.release = client_release_print;
  if (client->options.is_traced) client_request_trace(job);
  client_retain(client);
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
static tfrt_status_t client_open_job(tfrt_client_t* client, tfrt_arena_t* arena) {
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
  tfrt_wire_features_t features = UINT64_MAX;
  for (uint32_t i = 0; i < count; ++i) features &= tfrt_session_features(client->hosts[i].session);
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
          .view = {.epoch = 1, .members = members, .member_count = count, .features = features},
          .name = tfrt_wire_text_fit(tfrt_string_view_of(client->name), name, sizeof(name)),
          .asks_only = client->options.asks_only,
          .detached = client->options.is_detached}};
  return client_open_everywhere(client, &body);
}

// Two addresses of one host, or OK.
static tfrt_status_t client_check_hosts(const tfrt_client_t* client) {
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
static void client_advance(tfrt_client_t* client) {
  if (client->job || tfrt_client_is_closed(client)) return;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    if (client->hosts[i].incarnation == 0) return;
  }
  tfrt_status_t status = client_check_hosts(client);
  if (!status) {
    tfrt_arena_t arena;
    tfrt_arena_initialize(&arena, client->node->options.allocator);
    status = client_open_job(client, &arena);
    tfrt_arena_deinitialize(&arena);
  }
  if (status) client_close_locked(client, status);
  tfrt_status_release(status);
}

// --- Sessions ----------------------------------------------------------------

static tfrt_status_t client_dial_hosts(tfrt_client_t* client) {
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
  client_advance(client);
  return NULL;
}

static void client_on_peer_met(const tfrt_owner_end_t* end) {
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
    client_advance(client);
  }
}

// Takes the session that there is already with the process at |host|, if |reason| says so.
static bool client_take_other(tfrt_client_t* client, tfrt_client_host_t* host,
                              const tfrt_session_t* session, tfrt_status_t reason) {
  if (tfrt_status_code(reason) != TFRT_STATUS_ALREADY_EXISTS) return false;
  uint64_t incarnation = tfrt_status_fields(reason)->origin.incarnation;
  tfrt_session_t* other = tfrt_session_manager_find(client->node->sessions, incarnation);
  if (!other || other == session) return false;
  tfrt_session_release(host->session);
  host->session = tfrt_session_retain(other);
  host->incarnation = incarnation;
  client_advance(client);
  return true;
}

static void client_lose_session(tfrt_client_t* client, tfrt_client_host_t* host,
                                const tfrt_session_t* session, tfrt_session_death_t death,
                                tfrt_status_t reason) {
  if (client_take_other(client, host, session, reason)) return;
  if (!tfrt_client_was_opened(client)) {
    tfrt_status_t status = client_unopened_error(client, host, death, reason);
    client_close_locked(client, status);
    tfrt_status_release(status);
    return;
  }
  tfrt_peer_t* peer = tfrt_peer_find(client->node, host->incarnation);
  if (!peer) return;
  client_note_loss(client, peer);
  // The root decides what the loss of another host means.
  if (host == &client->hosts[0]) client_lose_root(client, peer);
}

static void client_on_session_dead(const tfrt_owner_end_t* end) {
  const tfrt_node_t* node = end->node;
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients;) {
    tfrt_client_t* client = tfrt_client_of(link);
    link = link->next;
    // An address that is given twice has one session. One that is closed meanwhile has none.
    for (uint32_t i = 0; i < client->options.host_count; ++i) {
      if (client->hosts[i].session != end->session) continue;
      client_lose_session(client, &client->hosts[i], end->session, end->death, end->reason);
    }
  }
}

// The root has ended the job, and no host answers messages on their way to it.
static void client_on_member_left(const tfrt_owner_end_t* end) {
  tfrt_client_t* client = tfrt_client_find(end->node, end->job);
  if (client && end->peer->incarnation == client->hosts[0].incarnation) {
    client_lose_root(client, end->peer);
  }
}

// --- JobOpened ---------------------------------------------------------------

// |host| has no part in the job, for the reason that |error| gives.
static void client_on_refusal(tfrt_client_t* client, const tfrt_client_host_t* host,
                              const tfrt_wire_error_t* error) {
  tfrt_string_view_t name = tfrt_session_peer_name(host->session);
  if (tfrt_string_view_equal(name, tfrt_string_view_of(host->address))) name.size = 0;
  tfrt_status_t status = tfrt_status_take_annotate(
      tfrt_wire_error_to_status(error), "host %u (%.*s%s%s) refuses the job",
      client_rank_of(client, host), TFRT_STRING_VIEW_ARGUMENTS(name), name.size > 0 ? ", " : "",
      host->address);
  client_close_locked(client, status);
  tfrt_status_release(status);
}

// A JobOpened came.
static tfrt_status_t client_on_job_opened(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_error_t* error = in->body->job_opened.error;
  tfrt_client_t* client = in->job ? tfrt_client_find(in->peer->node, in->job) : NULL;
  if (!client || tfrt_client_was_opened(client)) return NULL;
  bool all = true;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_client_host_t* host = &client->hosts[i];
    if (host->incarnation == in->peer->incarnation && error) {
      client_on_refusal(client, host, error);
      return NULL;
    }
    if (host->incarnation == in->peer->incarnation) host->opened = true;
    all = all && host->opened;
  }
  if (all) client_note_open(client);
  return NULL;
}

// --- The deadline ------------------------------------------------------------

// Gives up a job that isn't open by now. The hosts of an open job know the deadline; the client's
// cancel follows in case a clock stands still somewhere.
static void client_on_deadline(tfrt_client_t* client) {
  if (tfrt_client_is_closed(client)) return;
  tfrt_status_t status =
      tfrt_client_was_opened(client)
          ? tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "the deadline of the job has passed")
          : client_late_error(client);
  if (!tfrt_client_was_opened(client)) client_close_locked(client, status);
  tfrt_client_runs_follow(client, TFRT_CLIENT_RUNS_LATE, status, NULL);
  tfrt_status_release(status);
}

static void client_run_timer(tfrt_timer_t* timer) {
  tfrt_client_t* client = TFRT_CONTAINER_OF(timer, tfrt_client_t, timer);
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  client->is_timer_waiting = false;
  client_on_deadline(client);
  client_release_locked(client);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void client_start_timer(tfrt_client_t* client) {
  int64_t deadline_ns = client->options.deadline_ns;
  if (deadline_ns == TFRT_TIME_INFINITE || tfrt_client_is_closed(client)) return;
  client->is_timer_waiting = true;
  client_retain(client);
  tfrt_timer_start(client->node->options.timers, &client->timer, deadline_ns, client_run_timer);
}

// --- From outside ------------------------------------------------------------

static tfrt_status_t client_check_options(const tfrt_client_options_t* options) {
  for (uint32_t i = 0; i < options->host_count; ++i) {
    size_t size = options->addresses[i].size;
    if (size == 0 || size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the address of host %u has %zu bytes; it needs 1 to %d", i, size,
                                TFRT_TRANSPORT_ADDRESS_SIZE - 1);
    }
  }
  if (options->host_count == 0 || options->name.size >= TFRT_WIRE_MAX_NAME_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a job needs a host, and a name below %u bytes",
                              TFRT_WIRE_MAX_NAME_SIZE);
  }
  return NULL;
}

// A client that doesn't dial yet, or NULL when memory is out.
static tfrt_client_t* client_allocate(tfrt_node_t* node, const tfrt_client_options_t* options) {
  tfrt_allocator_t allocator = node->options.allocator;
  size_t hosts_size = options->host_count * sizeof(tfrt_client_host_t);
  tfrt_client_t* client = tfrt_allocator_allocate_zeroed(allocator, sizeof(*client));
  if (!client) return NULL;
  client->hosts = tfrt_allocator_allocate_zeroed(allocator, hosts_size);
  client->opened = tfrt_indirect_value_create();
  client->first_loss = tfrt_indirect_value_create();
  if (!client->hosts || !client->opened || !client->first_loss) {
    tfrt_allocator_free(allocator, client->hosts, hosts_size);
    tfrt_async_value_release(client->opened ? &client->opened->base : NULL);
    tfrt_async_value_release(client->first_loss ? &client->first_loss->base : NULL);
    tfrt_allocator_free(allocator, client, sizeof(*client));
    return NULL;
  }
  tfrt_ref_count_initialize(&client->ref_count);
  client->node = tfrt_node_retain(node);
  client->options = *options;
  client->options.addresses = NULL;
  if (client->options.deadline_ns == 0) client->options.deadline_ns = TFRT_TIME_INFINITE;
  if (options->name.size > 0) memcpy(client->name, options->name.data, options->name.size);
  tfrt_list_initialize(&client->runs);
  client->next_run = 1;
  for (uint32_t i = 0; i < options->host_count; ++i) {
    memcpy(client->hosts[i].address, options->addresses[i].data, options->addresses[i].size);
  }
  return client;
}

tfrt_status_t tfrt_client_create(tfrt_node_t* node, const tfrt_client_options_t* options,
                                 tfrt_client_t** out_client) {
  *out_client = NULL;
  TFRT_RETURN_IF_ERROR(client_check_options(options));
  tfrt_client_t* client = client_allocate(node, options);
  if (!client) return tfrt_status_out_of_memory();
  // One for the node, until the client is closed.
  client_retain(client);
  tfrt_node_lock_tables(node);
  tfrt_list_push_back(&node->clients, &client->link);
  tfrt_status_t status = client_dial_hosts(client);
  if (status) client_close_locked(client, status);
  client_start_timer(client);
  tfrt_node_unlock(node);
  if (status) {
    tfrt_client_release(client);
  } else {
    *out_client = client;
  }
  return status;
}

tfrt_async_value_t* tfrt_client_opened(tfrt_client_t* client) { return &client->opened->base; }

tfrt_async_value_t* tfrt_client_first_loss(tfrt_client_t* client) {
  return &client->first_loss->base;
}

// --- The part of clients in a node --------------------------------------------

static void client_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_list_initialize(&end->node->clients);
}

static void client_on_node_closing(const tfrt_owner_end_t* end) {
  const tfrt_list_link_t* clients = &end->node->clients;
  while (!tfrt_list_is_empty(clients)) {
    client_close_locked(tfrt_client_of(clients->next), end->reason);
  }
}

static const tfrt_owner_rule_t tfrt_client_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, client_on_node_made},
    {TFRT_OWNER_NODE_CLOSING, TFRT_OWNER_JOBS, client_on_node_closing},
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_JOBS, client_on_peer_met},
    {TFRT_OWNER_SESSION_DEAD, TFRT_OWNER_JOBS, client_on_session_dead},
    {TFRT_OWNER_MEMBER_LEFT, TFRT_OWNER_JOBS, client_on_member_left},
};

static const tfrt_frame_handler_t tfrt_client_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_OPENED, client_on_job_opened},
};

const tfrt_node_part_t tfrt_client_part = {
    .rules = tfrt_client_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_client_rules),
    .handlers = tfrt_client_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_client_handlers),
};
