// SPDX-License-Identifier: Apache-2.0
#include "distributed/host/node.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/call/job_program.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/call/router.h"
#include "distributed/client/client_record.h"
#include "distributed/delivery/mail.h"
#include "distributed/delivery/push_inbox.h"
#include "distributed/domain/job.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/domain/program_cache.h"
#include "distributed/host/node_session.h"
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
#include "distributed/value/job_budget.h"
#include "distributed/value/object_name.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/remote_value.h"
#include "host_runtime/base/random.h"

// --- Parts -----------------------------------------------------------------------

// The parts of all rooms, from the bottom up: within one phase of an event their rules are followed
// in this order.
static const tfrt_node_part_t* const tfrt_host_parts[] = {
    // domain/
    &tfrt_peer_part,
    &tfrt_job_part,
    &tfrt_job_attachment_part,
    &tfrt_program_cache_part,
    &tfrt_text_pool_part,
    // value/
    &tfrt_object_table_part,
    &tfrt_job_budget_part,
    &tfrt_object_name_part,
    &tfrt_remote_value_part,
    &tfrt_outgoing_want_part,
    &tfrt_outgoing_hold_part,
    &tfrt_incoming_want_part,
    // delivery/
    &tfrt_push_inbox_part,
    &tfrt_mail_part,
    // call/
    &tfrt_outgoing_call_part,
    &tfrt_incoming_call_part,
    &tfrt_router_part,
    &tfrt_job_program_part,
    // recovery/
    &tfrt_retried_call_part,
    &tfrt_recovery_part,
    // job/
    &tfrt_detached_job_part,
    &tfrt_fence_part,
    &tfrt_job_life_part,
    &tfrt_job_start_part,
    // service/
    &tfrt_recording_part,
    &tfrt_builtin_part,
    // client/
    &tfrt_client_part,
    &tfrt_client_run_part,
};

static void host_add_part(tfrt_host_t* host, const tfrt_node_part_t* part) {
  tfrt_owner_rules_add(&host->node.rules, part->rules, part->rule_count);
  for (size_t i = 0; i < part->handler_count; ++i) {
    const tfrt_frame_handler_t* handler = &part->handlers[i];
    assert(!host->handlers[handler->kind]);
    host->handlers[handler->kind] = handler->serve;
  }
}

// True if each kind of frame that is no session's has a handler.
static inline bool host_serves_all(const tfrt_host_t* host) {
  static const tfrt_wire_frame_kind_t kinds[] = {
#define TFRT_HOST_KIND(kind, ...) TFRT_WIRE_FRAME_##kind,
      TFRT_WIRE_JOB_FRAMES(TFRT_HOST_KIND) TFRT_WIRE_CALL_FRAMES(TFRT_HOST_KIND)
          TFRT_WIRE_VALUE_FRAMES(TFRT_HOST_KIND)
#undef TFRT_HOST_KIND
  };
  bool all = true;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) all = all && host->handlers[kinds[i]];
  return all;
}

// --- Life --------------------------------------------------------------------

void tfrt_node_options_initialize(tfrt_node_options_t* out_options) {
  memset(out_options, 0, sizeof(*out_options));
  tfrt_session_options_initialize(&out_options->session);
  out_options->session.features = TFRT_WIRE_FEATURE_PUSH | TFRT_WIRE_FEATURE_RECOVER |
                                  TFRT_WIRE_FEATURE_LISTS | TFRT_WIRE_FEATURE_ASK |
                                  TFRT_WIRE_FEATURE_FOLLOW | TFRT_WIRE_FEATURE_PACE |
                                  TFRT_WIRE_FEATURE_TREES;
}

// Makes what carries payloads, then what carries frames and lets others in.
static tfrt_status_t node_create_managers(tfrt_node_t* node) {
  const tfrt_node_options_t* options = &node->options;
  tfrt_bulk_options_t bulk;
  tfrt_bulk_options_initialize(&bulk);
  bulk.incarnation = node->incarnation;
  bulk.cluster_key = options->session.cluster_key;
  bulk.dial_timeout_ns = options->session.dial_timeout_ns;
  if (options->window_size > 0) bulk.window_size = options->window_size;
  bulk.work_queue = options->host->work_queue;
  bulk.place = options->place;
  // The death of the session comes first where both are cut off.
  int64_t silence_ns = options->session.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  if (bulk.give_up_ns < 2 * silence_ns) bulk.give_up_ns = 2 * silence_ns;
  bulk.stall_ns = 3 * silence_ns;
  TFRT_RETURN_IF_ERROR(tfrt_bulk_manager_create(&bulk, options->transport, &node->lock,
                                                options->timers, &node->bulk_handler,
                                                options->allocator, &node->bulk));
  tfrt_session_options_t session = options->session;
  session.bulk_acceptor = tfrt_bulk_manager_acceptor(node->bulk);
  return tfrt_session_manager_create(&session, options->transport, &node->lock, options->timers,
                                     &node->handler, options->allocator, &node->sessions);
}

static void node_free(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  // The last actions are carried out here, while there is a node.
  node->actions.work_queue = NULL;
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_NODE_PAST, .node = node});
  tfrt_node_unlock(node);
  tfrt_session_manager_free(node->sessions);
  tfrt_bulk_manager_free(node->bulk);
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
  node->free = node_free;
  node->objects = &host->objects;
  node->value_hooks = &host->value_hooks;
  node->call_hooks = &host->call_hooks;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_host_parts); ++i) {
    host_add_part(host, tfrt_host_parts[i]);
  }
  assert(host_serves_all(host));
  node->options = *options;
  if (node->options.inline_limit == 0) node->options.inline_limit = TFRT_WIRE_DEFAULT_INLINE_SIZE;
  if (node->options.max_jobs == 0) node->options.max_jobs = TFRT_NODE_DEFAULT_MAX_JOBS;
  node->incarnation = options->session.incarnation;
  while (node->incarnation == 0) {
    tfrt_random_entropy(&node->incarnation, sizeof(node->incarnation));
  }
  node->options.session.incarnation = node->incarnation;
  node->handler.vtable = &tfrt_node_session_handler;
  node->bulk_handler.vtable = &tfrt_outgoing_want_bulk_handler;
  tfrt_node_lock_initialize(&node->lock);
  tfrt_action_queue_initialize(&node->actions, &node->lock, allocator, options->host->work_queue);
  tfrt_string_builder_initialize(&node->body, allocator);
  tfrt_arena_initialize(&node->arena, allocator);
  tfrt_list_initialize(&node->jobs);
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_NODE_MADE, .node = node});
  tfrt_status_t status = node_create_managers(node);
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
static void node_close_job(tfrt_job_t* job, tfrt_status_t cancelled) {
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
  tfrt_node_end(
      &(tfrt_owner_end_t){.event = TFRT_OWNER_NODE_CLOSING, .node = node, .reason = reason});
  while (!tfrt_list_is_empty(&node->jobs)) {
    // A closed job leaves the list when its calls are over.
    bool any = false;
    for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs && !any; link = link->next) {
      tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
      any = !tfrt_job_is_closed(job);
      if (any) node_close_job(job, reason);
      if (any) break;
    }
    if (!any) break;
  }
  tfrt_node_end(
      &(tfrt_owner_end_t){.event = TFRT_OWNER_NODE_CLOSED, .node = node, .reason = reason});
  // Behind the sessions: their deaths end the transfers, each with its reason.
  tfrt_session_manager_close(node->sessions, false);
  tfrt_bulk_manager_close(node->bulk);
  tfrt_node_unlock(node);
  tfrt_status_release(reason);
}

bool tfrt_node_is_drained(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  tfrt_session_counters_t sessions;
  tfrt_session_manager_counters(node->sessions, &sessions);
  bool drained =
      node->closed && sessions.live == 0 && tfrt_bulk_manager_counts(node->bulk).live == 0;
  tfrt_node_unlock(node);
  return drained;
}

void tfrt_node_drain(tfrt_node_t* node) {
  tfrt_session_manager_drain(node->sessions);
  tfrt_bulk_manager_drain(node->bulk);
}

// --- Counts ----------------------------------------------------------------------

tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  tfrt_node_counts_t counts = node->counts;
  counts.objects = tfrt_object_table_count(node->objects);
  tfrt_bulk_counts_t bulk = tfrt_bulk_manager_counts(node->bulk);
  counts.transfers = bulk.sending + bulk.receiving;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    ++counts.jobs;
  }
  counts.running_jobs = tfrt_job_count_running(node, NULL);
  counts.kept_jobs = tfrt_detached_job_count_kept(node);
  tfrt_node_unlock(node);
  return counts;
}

void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters) {
  tfrt_node_lock_tables(node);
  tfrt_session_manager_counters(node->sessions, out_counters);
  tfrt_node_unlock(node);
}
