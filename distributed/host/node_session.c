// SPDX-License-Identifier: Apache-2.0
#include "distributed/host/node_session.h"

#include <inttypes.h>

#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/domain/program_cache.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/log.h"

// --- Lines of the log ------------------------------------------------------------

static void node_log_session_opened(const tfrt_session_t* session) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  tfrt_string_view_t address = tfrt_session_address(session);
  if (address.size > 0) {
    tfrt_log(TFRT_LOG_INFO, NULL, "connected to %s at %.*s", name,
             TFRT_STRING_VIEW_ARGUMENTS(address));
  } else {
    // The peer is a client: the line of its job says more, and a status question needs no line.
    tfrt_log(TFRT_LOG_DEBUG, NULL, "%s has connected", name);
  }
}

static void node_log_refused(tfrt_status_t status, uint64_t untold) {
  const char* message = tfrt_status_message(status);
  if (untold == 0) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused a connection: %s", message);
  } else {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused a connection, after %" PRIu64 " others: %s", untold,
             message);
  }
}

static void node_log_session_draining(const tfrt_session_t* session) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  tfrt_log(TFRT_LOG_INFO, NULL, "%s drains: it takes no new jobs", name);
}

static void node_log_session_suspected(const tfrt_session_t* session, bool is_suspected) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  if (is_suspected) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "%s is silent; it will be given up if it stays so", name);
  } else {
    tfrt_log(TFRT_LOG_INFO, NULL, "%s speaks again", name);
  }
}

static void node_log_kernel_stuck(const tfrt_status_origin_t* place, int64_t age_ns) {
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "a thread is in kernel %s of @%s at %s:%u:%u for %.1f s: it is stuck, or slow",
           place->kernel, place->function, place->file ? place->file : "-", place->line,
           place->column, (double)age_ns / (double)TFRT_NANOSECONDS_PER_SECOND);
}

static void node_log_session_stuck(const tfrt_session_t* session,
                                   const tfrt_wire_running_kernel_t* kernel) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  if (!kernel) {
    tfrt_log(TFRT_LOG_INFO, NULL, "%s gets on", name);
    return;
  }
  const tfrt_wire_origin_t* place = &kernel->location;
  tfrt_log(
      TFRT_LOG_WARNING, NULL,
      "%s lives, and is in kernel %.*s of @%.*s at %.*s:%u:%u for %.1f s: it is stuck, or slow",
      name, TFRT_STRING_VIEW_ARGUMENTS(place->kernel), TFRT_STRING_VIEW_ARGUMENTS(place->function),
      TFRT_STRING_VIEW_ARGUMENTS(place->file), place->line, place->column,
      (double)kernel->age_us / 1e6);
}

static void node_log_session_dead(const tfrt_session_t* session, tfrt_session_death_t death,
                                  tfrt_status_t status) {
  bool is_orderly = death == TFRT_SESSION_DEATH_GOODBYE || death == TFRT_SESSION_DEATH_CLOSED;
  // Two processes that dialled each other need one session: nothing is lost with the other.
  bool is_double = tfrt_status_code(status) == TFRT_STATUS_ALREADY_EXISTS;
  // The orderly end of a client's session is debug output, as its beginning is.
  bool is_client = tfrt_session_address(session).size == 0;
  tfrt_log_severity_t severity = is_double || (is_orderly && is_client) ? TFRT_LOG_DEBUG
                                 : is_orderly                           ? TFRT_LOG_INFO
                                                                        : TFRT_LOG_WARNING;
  tfrt_log(severity, NULL, "%s", tfrt_status_message(status));
}

// --- Frames ----------------------------------------------------------------------

static const tfrt_wire_frame_scope_t tfrt_node_scopes[TFRT_WIRE_FRAME_KIND_LIMIT] = {
#define TFRT_NODE_SCOPE(kind, number, message, scope, ...) [number] = TFRT_WIRE_SCOPE_##scope,
    TFRT_WIRE_FRAMES(TFRT_NODE_SCOPE)
#undef TFRT_NODE_SCOPE
};

// Finds the job of what has come, and has it served.
static tfrt_status_t node_serve(tfrt_incoming_frame_t* in) {
  uint32_t kind = in->body->kind;
  const tfrt_host_t* host = TFRT_CONTAINER_OF(in->peer->node, tfrt_host_t, node);
  if (!host->handlers[kind]) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "a %s frame can't be served",
                              tfrt_wire_frame_kind_name(kind));
  }
  if (tfrt_node_scopes[kind] != TFRT_WIRE_SCOPE_JOB) return host->handlers[kind](in);
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_find(in->peer, in->frame->job, &in->job));
  if (in->job) tfrt_job_retain(in->job);
  tfrt_status_t status = host->handlers[kind](in);
  if (in->job) tfrt_job_release(in->job);
  return status;
}

static tfrt_status_t node_on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                   const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = *tfrt_session_user_data(session);
  if (!peer) return tfrt_status_out_of_memory();
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) return NULL;
  tfrt_bulk_manager_note_frame(node->bulk);
  tfrt_arena_t* arena = tfrt_node_scratch(node);
  tfrt_wire_body_t body;
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_decode(frame->kind, frame->body, arena, &body));
  tfrt_incoming_frame_t in = {
      .peer = peer, .frame = frame, .body = &body, .deadline_ns = deadline_ns};
  return node_serve(&in);
}

// --- Sessions ----------------------------------------------------------------

// Sets the time from which ages are computed. Reading the clock for each value would cost too much.
static void node_tick(tfrt_node_t* node) {
  node->tick_ns = node->objects->tick_ns = tfrt_node_now_ns(node);
}

// The silence after which a host is lost. A thread that is in one kernel for longer is reported.
static int64_t node_patience_ns(const tfrt_node_t* node) {
  return (int64_t)node->options.session.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
}

// Logs, once each, threads that don't come out of their kernel.
static void node_tell_stuck(tfrt_node_t* node) {
  int64_t now_ns = node->tick_ns;
  int64_t before_ns = now_ns - node_patience_ns(node);
  for (const tfrt_progress_thread_t* thread;
       (thread = tfrt_progress_tell(&node->progress, before_ns));) {
    const tfrt_kernel_site_t* site = tfrt_program_cache_find_site(node, thread->in.site);
    if (!site) continue;
    tfrt_status_origin_t place;
    tfrt_kernel_site_origin(site, &place);
    node_log_kernel_stuck(&place, now_ns - thread->since_ns);
  }
}

static tfrt_string_view_t node_fit(const char* text, char* buffer, size_t limit) {
  return tfrt_wire_text_fit(tfrt_string_view_of(text ? text : ""), buffer, limit);
}

// Sets what |heartbeat| says of the thread that is in its kernel for longest.
static void node_fill_oldest(tfrt_node_t* node, tfrt_wire_heartbeat_t* heartbeat) {
  const tfrt_kernel_site_t* oldest = NULL;
  int64_t since_ns = INT64_MAX;
  for (size_t i = 0; i < node->progress.count; ++i) {
    const tfrt_progress_thread_t* thread = &node->progress.threads[i];
    if (thread->since_ns >= since_ns) continue;
    const tfrt_kernel_site_t* site = tfrt_program_cache_find_site(node, thread->in.site);
    if (!site) continue;
    oldest = site;
    since_ns = thread->since_ns;
  }
  if (!oldest) return;
  tfrt_status_origin_t place;
  tfrt_kernel_site_origin(oldest, &place);
  int64_t age_ns = node->tick_ns - since_ns;
  tfrt_host_t* host = TFRT_CONTAINER_OF(node, tfrt_host_t, node);
  host->oldest_kernel = (tfrt_wire_running_kernel_t){
      .location = {.rank = TFRT_WIRE_NO_RANK,
                   .incarnation = node->incarnation,
                   .function = node_fit(place.function, host->oldest_function,
                                        sizeof(host->oldest_function)),
                   .kernel = node_fit(place.kernel, host->oldest_name, sizeof(host->oldest_name)),
                   .file = node_fit(place.file, host->oldest_file, sizeof(host->oldest_file)),
                   .line = place.line,
                   .column = place.column},
      .age_us = (uint64_t)age_ns / TFRT_NANOSECONDS_PER_MICROSECOND};
  heartbeat->oldest = &host->oldest_kernel;
}

static void node_on_opened(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_node_t* node = tfrt_node_of(handler);
  node_tick(node);
  tfrt_peer_t* peer = tfrt_peer_find_or_create(node, tfrt_session_peer_incarnation(session));
  if (node->options.logs_events) node_log_session_opened(session);
  if (!peer) {
    // Without this, callers that wait for the session would wait for ever.
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_SHUTDOWN,
                       tfrt_string_view_of("no memory for another peer"));
    return;
  }
  tfrt_peer_adopt_session(peer, session);
  peer->watermark = tfrt_session_describe(session).peer_next_call - 1;
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_PEER_MET, .node = node, .peer = peer});
}

static void node_on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         tfrt_session_death_t death, tfrt_status_t status) {
  tfrt_node_t* node = tfrt_node_of(handler);
  if (node->options.logs_events) node_log_session_dead(session, death, status);
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_SESSION_DEAD,
                                    .node = node,
                                    .reason = status,
                                    .session = session,
                                    .death = death});
}

static void node_on_refused(tfrt_session_handler_t* handler, tfrt_status_t status,
                            uint64_t untold) {
  if (tfrt_node_of(handler)->options.logs_events) node_log_refused(status, untold);
}

static void node_on_draining(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  if (tfrt_node_of(handler)->options.logs_events) node_log_session_draining(session);
}

static void node_fill_batch(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  tfrt_peer_t* peer = *tfrt_session_user_data(session);
  if (peer && peer->session == session) tfrt_outgoing_hold_flush(peer);
}

// Periodic work of the node, done whenever a heartbeat is due.
static void node_look_after(tfrt_node_t* node) {
  node_tick(node);
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_NODE_TICK, .node = node});
  tfrt_progress_look(&node->progress, node->tick_ns);
  if (node->options.logs_events) node_tell_stuck(node);
}

static void node_fill_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_node_t* node = tfrt_node_of(handler);
  node_look_after(node);
  node_fill_oldest(node, heartbeat);
  heartbeat->named = tfrt_session_next_call(session) - 1;
}

static void node_on_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              const tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = *tfrt_session_user_data(session);
  if (!peer) return;
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = TFRT_OWNER_PEER_BEAT, .node = node, .peer = peer, .heartbeat = heartbeat});
  uint64_t patience_us = (uint64_t)node_patience_ns(node) / TFRT_NANOSECONDS_PER_MICROSECOND;
  bool is_stuck = heartbeat->oldest && heartbeat->oldest->age_us >= patience_us;
  if (is_stuck != peer->is_stuck && node->options.logs_events) {
    node_log_session_stuck(session, is_stuck ? heartbeat->oldest : NULL);
  }
  peer->is_stuck = is_stuck;
}

static void node_on_suspected(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              bool is_suspected) {
  if (tfrt_node_of(handler)->options.logs_events) {
    node_log_session_suspected(session, is_suspected);
  }
}

static int64_t node_heard_elsewhere_ns(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  const tfrt_peer_t* peer = *tfrt_session_user_data(session);
  return peer
             ? tfrt_bulk_manager_traffic(tfrt_node_of(handler)->bulk, peer->incarnation, 0).heard_ns
             : 0;
}

static void node_on_wake(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_peer_t* peer = *tfrt_session_user_data(session);
  if (!peer || peer->session != session) return;
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = TFRT_OWNER_PEER_WOKEN, .node = tfrt_node_of(handler), .peer = peer});
}

const tfrt_session_handler_vtable_t tfrt_node_session_handler = {
    .on_opened = node_on_opened,
    .on_refused = node_on_refused,
    .on_frame = node_on_frame,
    .on_draining = node_on_draining,
    .on_dead = node_on_dead,
    .fill_batch = node_fill_batch,
    .fill_heartbeat = node_fill_heartbeat,
    .on_heartbeat = node_on_heartbeat,
    .on_suspected = node_on_suspected,
    .heard_elsewhere_ns = node_heard_elsewhere_ns,
    .on_wake = node_on_wake,
};
