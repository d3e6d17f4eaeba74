// SPDX-License-Identifier: Apache-2.0
#include "distributed/host/node.h"

#include <stdio.h>
#include <string.h>

#include "distributed/call/call_hooks.h"
#include "distributed/call/incoming_call.h"
#include "distributed/call/job_program.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/call/router.h"
#include "distributed/client/client_record.h"
#include "distributed/delivery/push_inbox.h"
#include "distributed/delivery/sent_values.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/event_log.h"
#include "distributed/domain/incoming_frame.h"
#include "distributed/domain/job.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/domain/program_cache.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/fence.h"
#include "distributed/job/job_life.h"
#include "distributed/job/job_start.h"
#include "distributed/recovery/recovery.h"
#include "distributed/recovery/retried_call.h"
#include "distributed/service/answer.h"
#include "distributed/service/builtin.h"
#include "distributed/service/tracing.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/object_name.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/remote_value.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/random.h"

// --- Frames ----------------------------------------------------------------------

// The job may be one that this process is a host of, or the client: each room looks.
static tfrt_status_t tfrt_host_on_job_detach(const tfrt_incoming_frame_t* in) {
  TFRT_RETURN_IF_ERROR(tfrt_fence_on_detach(in));
  return tfrt_client_on_detach(in);
}

// By kind: what serves it.
static const struct {
  tfrt_status_t (*serve)(const tfrt_incoming_frame_t* in);  // NULL: it is no frame between hosts
  tfrt_wire_frame_scope_t scope;
} tfrt_frame_table[] = {
#define TFRT_FRAME_ROW(kind, number, message, scope, form, handler) \
  [number] = {handler, TFRT_WIRE_SCOPE_##scope},
    TFRT_WIRE_FRAMES(TFRT_FRAME_ROW)
#undef TFRT_FRAME_ROW
};

// Finds the job of what has come, and has it served.
static tfrt_status_t tfrt_frame_table_serve(tfrt_incoming_frame_t* in) {
  uint32_t kind = in->body->kind;
  if (kind >= TFRT_ARRAY_SIZE(tfrt_frame_table) || !tfrt_frame_table[kind].serve) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "a %s frame can't be served",
                              tfrt_wire_frame_kind_name(kind));
  }
  if (tfrt_frame_table[kind].scope != TFRT_WIRE_SCOPE_JOB) return tfrt_frame_table[kind].serve(in);
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_find(in->peer, in->frame->job, &in->job));
  if (in->job) tfrt_job_retain(in->job);
  tfrt_status_t status = tfrt_frame_table[kind].serve(in);
  if (in->job) tfrt_job_release(in->job);
  return status;
}

static tfrt_status_t tfrt_frame_table_on_frame(tfrt_session_handler_t* handler,
                                               tfrt_session_t* session,
                                               const tfrt_wire_frame_t* frame,
                                               int64_t deadline_ns) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (!peer) return tfrt_status_out_of_memory();
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) return NULL;
  tfrt_lane_manager_note_frame(node->lanes);
  tfrt_arena_t* arena = tfrt_node_scratch(node);
  tfrt_wire_body_t body;
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_decode(frame->kind, frame->body, arena, &body));
  tfrt_incoming_frame_t in = {
      .peer = peer, .frame = frame, .body = &body, .deadline_ns = deadline_ns};
  return tfrt_frame_table_serve(&in);
}

// --- Node ------------------------------------------------------------------------

// A node, and what the rooms above domain/ have once in it.
typedef struct tfrt_host_s {
  tfrt_node_t node;
  tfrt_object_table_t objects;
  // The thread that is in its kernel for longest, for a heartbeat, until that is encoded.
  tfrt_wire_running_kernel_t oldest_kernel;
  // Its texts, where they have to be made to fit: a file's name may be any bytes, and long.
  char oldest_function[TFRT_WIRE_MAX_NAME_SIZE];
  char oldest_name[TFRT_WIRE_MAX_NAME_SIZE];
  char oldest_file[TFRT_WIRE_MAX_PATH_SIZE];
} tfrt_host_t;

static const tfrt_value_hooks_t tfrt_host_value_hooks = {
    .forget_push = tfrt_push_inbox_forget,
    .ask_lender = tfrt_recovery_ask,
    .answer_waiting = tfrt_recovery_answer_waiting,
    .may_mend = tfrt_retried_call_may_mend,
    .run_again = tfrt_retried_call_lose,
    .forget_call = tfrt_retried_call_forget,
};

static const tfrt_call_hooks_t tfrt_host_call_hooks = {
    .start_retried = tfrt_retried_call_start,
    .adopt_result = tfrt_retried_call_adopt,
    .take_lost_result = tfrt_retried_call_take_lost,
    .close_scope = tfrt_retried_call_close_scope,
    .has_service = tfrt_builtin_is_here,
    .start_service = tfrt_builtin_start,
};

// The tables of all rooms, from the bottom up.
static void (*const tfrt_host_tables[])(tfrt_owner_rules_t* rules) = {
    tfrt_object_table_register,  tfrt_object_name_register,   tfrt_remote_value_register,
    tfrt_outgoing_want_register, tfrt_outgoing_hold_register, tfrt_incoming_want_register,
    tfrt_push_inbox_register,    tfrt_mail_register,          tfrt_outgoing_call_register,
    tfrt_incoming_call_register, tfrt_router_register,        tfrt_job_program_register,
    tfrt_retried_call_register,  tfrt_recovery_register,      tfrt_detached_job_register,
    tfrt_fence_register,         tfrt_job_life_register,      tfrt_recording_register,
};

// --- Sessions ----------------------------------------------------------------

// Sets the time from which ages are computed. Reading the clock for each value would cost too much.
static void tfrt_node_tick(tfrt_node_t* node) {
  node->tick_ns = node->objects->tick_ns = tfrt_node_now_ns(node);
}

// The silence after which a host is lost. A thread that is in one kernel for longer is reported.
static int64_t tfrt_node_patience_ns(const tfrt_node_t* node) {
  return (int64_t)node->options.session.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
}

// Logs, once each, threads that don't come out of their kernel.
static void tfrt_node_tell_stuck(tfrt_node_t* node) {
  int64_t now_ns = node->tick_ns;
  int64_t before_ns = now_ns - tfrt_node_patience_ns(node);
  for (const tfrt_progress_thread_t* thread;
       (thread = tfrt_progress_tell(&node->progress, before_ns));) {
    const tfrt_kernel_site_t* site = tfrt_program_cache_find_site(node, thread->in.site);
    if (!site) continue;
    tfrt_status_origin_t place;
    tfrt_kernel_site_origin(site, &place);
    tfrt_event_log_kernel_stuck(&place, now_ns - thread->since_ns);
  }
}

static tfrt_string_view_t tfrt_node_fit(const char* text, char* buffer, size_t limit) {
  return tfrt_wire_text_fit(tfrt_string_view_of(text ? text : ""), buffer, limit);
}

// Sets what |heartbeat| says of the thread that is in its kernel for longest.
static void tfrt_node_fill_oldest(tfrt_node_t* node, tfrt_wire_heartbeat_t* heartbeat) {
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
                   .function = tfrt_node_fit(place.function, host->oldest_function,
                                             sizeof(host->oldest_function)),
                   .kernel =
                       tfrt_node_fit(place.kernel, host->oldest_name, sizeof(host->oldest_name)),
                   .file = tfrt_node_fit(place.file, host->oldest_file, sizeof(host->oldest_file)),
                   .line = place.line,
                   .column = place.column},
      .age_us = (uint64_t)age_ns / TFRT_NANOSECONDS_PER_MICROSECOND};
  heartbeat->oldest = &host->oldest_kernel;
}

static void tfrt_node_on_opened(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_node_tick(node);
  tfrt_peer_free_past(node);
  tfrt_peer_t* peer = tfrt_peer_find_or_create(node, tfrt_session_peer_incarnation(session));
  if (node->options.logs_events) tfrt_event_log_session_opened(session);
  if (!peer) {
    // Without this, callers that wait for the session would wait for ever.
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_SHUTDOWN,
                       tfrt_string_view_of("no memory for another peer"));
    return;
  }
  tfrt_peer_adopt_session(peer, session);
  tfrt_outgoing_want_open_lanes(peer);
  peer->watermark = tfrt_session_peer_next_call(session) - 1;
  tfrt_incoming_want_serve_held(peer);
  tfrt_job_life_on_session_opened(peer);
  tfrt_client_on_session_opened(node, session);
}

static void tfrt_node_on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              tfrt_session_death_t death, tfrt_status_t status) {
  tfrt_node_t* node = tfrt_node_of(handler);
  if (node->options.logs_events) tfrt_event_log_session_dead(session, death, status);
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (peer && peer->session == session) {
    tfrt_lane_manager_bury(node->lanes, peer->incarnation, status);
    // A peer that has given this host up, or begins anew, lives.
    tfrt_peer_bury(peer, status, death == TFRT_SESSION_DEATH_BURIED);
  }
  tfrt_client_on_session_dead(node, session, death, status);
}

static void tfrt_node_on_refused(tfrt_session_handler_t* handler, tfrt_status_t status,
                                 uint64_t untold) {
  if (tfrt_node_of(handler)->options.logs_events) tfrt_event_log_refused(status, untold);
}

static void tfrt_node_on_draining(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  if (tfrt_node_of(handler)->options.logs_events) tfrt_event_log_session_draining(session);
}

static void tfrt_node_fill_batch(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (peer && peer->session == session) tfrt_outgoing_hold_flush(peer);
}

// Periodic work of the node, done whenever a heartbeat is due.
static void tfrt_node_look_after(tfrt_node_t* node) {
  tfrt_node_tick(node);
  tfrt_recovery_expire(node);
  tfrt_node_look_at_threads(node, node->tick_ns);
  if (node->options.logs_events) tfrt_node_tell_stuck(node);
}

static void tfrt_node_fill_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                     tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_node_look_after(node);
  tfrt_node_fill_oldest(node, heartbeat);
  heartbeat->named = tfrt_session_next_call(session) - 1;
}

static void tfrt_node_on_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                   const tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (!peer) return;
  tfrt_incoming_want_refuse_unpromised(peer, heartbeat->named, heartbeat->echo);
  uint64_t patience_us = (uint64_t)tfrt_node_patience_ns(node) / TFRT_NANOSECONDS_PER_MICROSECOND;
  bool is_stuck = heartbeat->oldest && heartbeat->oldest->age_us >= patience_us;
  if (is_stuck != peer->is_stuck && node->options.logs_events) {
    tfrt_event_log_session_stuck(session, is_stuck ? heartbeat->oldest : NULL);
  }
  peer->is_stuck = is_stuck;
}

static void tfrt_node_on_suspected(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                   bool is_suspected) {
  if (tfrt_node_of(handler)->options.logs_events) {
    tfrt_event_log_session_suspected(session, is_suspected);
  }
}

static void tfrt_node_on_wake(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (peer && peer->session == session) tfrt_push_inbox_expire(peer);
}

static const tfrt_session_handler_vtable_t tfrt_node_handler_vtable = {
    .on_opened = tfrt_node_on_opened,
    .on_refused = tfrt_node_on_refused,
    .on_frame = tfrt_frame_table_on_frame,
    .on_draining = tfrt_node_on_draining,
    .on_dead = tfrt_node_on_dead,
    .fill_batch = tfrt_node_fill_batch,
    .fill_heartbeat = tfrt_node_fill_heartbeat,
    .on_heartbeat = tfrt_node_on_heartbeat,
    .on_suspected = tfrt_node_on_suspected,
    .on_wake = tfrt_node_on_wake,
};

// --- Life --------------------------------------------------------------------

void tfrt_node_options_initialize(tfrt_node_options_t* out_options) {
  memset(out_options, 0, sizeof(*out_options));
  tfrt_session_options_initialize(&out_options->session);
  out_options->session.features = TFRT_WIRE_FEATURE_PUSH | TFRT_WIRE_FEATURE_RECOVER |
                                  TFRT_WIRE_FEATURE_LISTS | TFRT_WIRE_FEATURE_ASK |
                                  TFRT_WIRE_FEATURE_FOLLOW;
}

// Makes what carries payloads, then what carries frames and lets others in.
static tfrt_status_t tfrt_node_create_managers(tfrt_node_t* node) {
  const tfrt_node_options_t* options = &node->options;
  tfrt_lane_options_t lanes;
  tfrt_lane_options_initialize(&lanes);
  lanes.incarnation = node->incarnation;
  lanes.cluster_key = options->session.cluster_key;
  lanes.dial_timeout_ns = options->session.dial_timeout_ns;
  if (options->window_size > 0) lanes.window_size = options->window_size;
  lanes.work_queue = options->host->work_queue;
  // The death of the session comes first where both are cut off.
  int64_t silence_ns = options->session.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  if (lanes.give_up_ns < 2 * silence_ns) lanes.give_up_ns = 2 * silence_ns;
  lanes.stall_ns = 3 * silence_ns;
  TFRT_RETURN_IF_ERROR(tfrt_lane_manager_create(&lanes, options->transport, &node->lock,
                                                options->timers, &node->lane_handler,
                                                options->allocator, &node->lanes));
  tfrt_session_options_t session = options->session;
  session.bulk_acceptor = tfrt_lane_manager_acceptor(node->lanes);
  return tfrt_session_manager_create(&session, options->transport, &node->lock, options->timers,
                                     &node->handler, options->allocator, &node->sessions);
}

static void tfrt_node_free(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  // The last actions are carried out here, while there is a node.
  tfrt_action_queue_set_work_queue(&node->actions, NULL);
  for (tfrt_hash_node_t* found; (found = tfrt_hash_table_first(&node->peers));) {
    tfrt_peer_free(TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation));
  }
  tfrt_object_table_deinitialize(node->objects);
  tfrt_recording_drop_all(node);
  tfrt_ended_jobs_clear(&node->ended_jobs);
  tfrt_program_cache_clear(node);
  tfrt_node_unlock(node);
  tfrt_session_manager_free(node->sessions);
  tfrt_lane_manager_free(node->lanes);
  tfrt_hash_table_deinitialize(&node->peers);
  tfrt_text_pool_deinitialize(&node->texts);
  tfrt_string_builder_deinitialize(&node->body);
  tfrt_arena_deinitialize(&node->arena);
  tfrt_action_queue_deinitialize(&node->actions);
  tfrt_node_lock_deinitialize(&node->lock);
  tfrt_allocator_free(node->options.allocator, TFRT_CONTAINER_OF(node, tfrt_host_t, node),
                      sizeof(tfrt_host_t));
}

tfrt_status_t tfrt_node_create(const tfrt_node_options_t* options, tfrt_node_t** out_node) {
  *out_node = NULL;
  tfrt_type_id_t program_type = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_program_cache_type(&program_type));
  tfrt_type_id_t answer_type = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_answer_type(TFRT_ANSWER_TRACE, &answer_type));
  TFRT_RETURN_IF_ERROR(tfrt_answer_type(TFRT_ANSWER_MESSAGE, &answer_type));
  tfrt_allocator_t allocator = options->allocator;
  tfrt_host_t* host = tfrt_allocator_allocate_zeroed(allocator, sizeof(*host));
  if (!host) return tfrt_status_out_of_memory();
  tfrt_node_t* node = &host->node;
  tfrt_ref_count_initialize(&node->ref_count);
  node->free = tfrt_node_free;
  node->objects = &host->objects;
  node->value_hooks = &tfrt_host_value_hooks;
  node->call_hooks = &tfrt_host_call_hooks;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_host_tables); ++i) tfrt_host_tables[i](&node->rules);
  node->options = *options;
  if (node->options.inline_limit == 0) node->options.inline_limit = TFRT_WIRE_DEFAULT_INLINE_SIZE;
  if (node->options.max_jobs == 0) node->options.max_jobs = TFRT_NODE_DEFAULT_MAX_JOBS;
  node->incarnation = options->session.incarnation;
  while (node->incarnation == 0) {
    tfrt_random_entropy(&node->incarnation, sizeof(node->incarnation));
  }
  node->options.session.incarnation = node->incarnation;
  node->handler.vtable = &tfrt_node_handler_vtable;
  node->lane_handler.vtable = &tfrt_outgoing_want_lane_handler;
  tfrt_node_lock_initialize(&node->lock);
  tfrt_action_queue_initialize(&node->actions, &node->lock, allocator);
  tfrt_action_queue_set_work_queue(&node->actions, options->host->work_queue);
  tfrt_hash_table_initialize(&node->peers, &tfrt_peer_table_vtable, allocator);
  tfrt_object_table_initialize(node->objects, node->incarnation, tfrt_incoming_want_abandon,
                               &node->actions, allocator);
  tfrt_string_builder_initialize(&node->body, allocator);
  tfrt_arena_initialize(&node->arena, allocator);
  tfrt_list_initialize(&node->jobs);
  tfrt_list_initialize(&node->detached);
  tfrt_list_initialize(&node->programs);
  tfrt_text_pool_initialize(&node->texts, allocator);
  tfrt_list_initialize(&node->clients);
  tfrt_list_initialize(&node->recordings.list);
  tfrt_status_t status = tfrt_node_create_managers(node);
  if (status) {
    tfrt_node_release(node);
  } else {
    *out_node = node;
  }
  return status;
}

tfrt_status_t tfrt_node_listen(tfrt_node_t* node, tfrt_string_view_t address,
                               char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  return tfrt_session_manager_listen(node->sessions, address, out_address);
}

tfrt_status_t tfrt_node_set_name(tfrt_node_t* node, tfrt_string_view_t name) {
  tfrt_node_lock_tables(node);
  tfrt_status_t status = tfrt_session_manager_set_name(node->sessions, name);
  tfrt_node_unlock(node);
  return status;
}

void tfrt_node_refuse_jobs(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  bool is_first = !node->refuses_jobs && !node->closed;
  node->refuses_jobs = true;
  // The sessions' manager stays open: a job that runs may need a host that it has not met yet.
  tfrt_session_t* session = is_first ? tfrt_session_manager_first(node->sessions) : NULL;
  for (; session; session = tfrt_session_manager_next(node->sessions, session)) {
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_DRAIN, tfrt_string_view_of("draining"));
  }
  tfrt_node_unlock(node);
}

// To those who wait for it, a host that leaves is as lost as any other. A client that ends
// its own process has cancelled what it asked for.
static void tfrt_node_close_job(tfrt_job_t* job, tfrt_status_t cancelled) {
  if (job->rank == TFRT_WIRE_NO_RANK) {
    tfrt_job_close(job, cancelled);
    return;
  }
  char message[64];
  snprintf(message, sizeof(message), "host %u is shutting down", job->rank);
  const tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_UNAVAILABLE,
      .message = message,
      .origin = {.rank = job->rank, .incarnation = job->node->incarnation},
      .root_key = job->node->incarnation,
      .may_have_run = true};
  tfrt_status_t leaving = tfrt_status_create_from_fields(&fields);
  tfrt_job_close(job, leaving);
  tfrt_status_release(leaving);
}

void tfrt_node_close(tfrt_node_t* node) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "this host is shutting down");
  tfrt_node_lock_tables(node);
  node->closed = true;
  tfrt_client_close_all(node, reason);
  while (!tfrt_list_is_empty(&node->jobs)) {
    // A closed job leaves the list when its calls are over.
    bool any = false;
    for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs && !any; link = link->next) {
      tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
      any = !tfrt_job_is_closed(job);
      if (any) tfrt_node_close_job(job, reason);
      if (any) break;
    }
    if (!any) break;
  }
  tfrt_detached_job_drop_all(node);
  // Behind the sessions: their deaths end the transfers, each with its reason.
  tfrt_session_manager_close(node->sessions, false);
  tfrt_lane_manager_close(node->lanes);
  tfrt_node_unlock(node);
  tfrt_status_release(reason);
}

bool tfrt_node_is_drained(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  bool drained =
      tfrt_session_manager_is_drained(node->sessions) && tfrt_lane_manager_is_drained(node->lanes);
  tfrt_node_unlock(node);
  return drained;
}

void tfrt_node_drain(tfrt_node_t* node) {
  tfrt_session_manager_drain(node->sessions);
  tfrt_lane_manager_drain(node->lanes);
}

// --- Counts ----------------------------------------------------------------------

tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  tfrt_node_counts_t counts = node->counts;
  counts.objects = tfrt_object_table_count(node->objects);
  tfrt_lane_counts_t lanes = tfrt_lane_manager_counts(node->lanes);
  counts.transfers = lanes.sending + lanes.receiving;
  tfrt_node_unlock(node);
  return counts;
}

size_t tfrt_node_job_count(tfrt_node_t* node) {
  size_t count = 0;
  tfrt_node_lock_tables(node);
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) ++count;
  tfrt_node_unlock(node);
  return count;
}

size_t tfrt_node_running_job_count(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  size_t count = tfrt_job_count_running(node, NULL);
  tfrt_node_unlock(node);
  return count;
}

size_t tfrt_node_kept_count(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  size_t count = tfrt_detached_job_count_kept(node);
  tfrt_node_unlock(node);
  return count;
}

void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters) {
  tfrt_node_lock_tables(node);
  tfrt_session_manager_counters(node->sessions, out_counters);
  tfrt_node_unlock(node);
}
