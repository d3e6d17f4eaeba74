// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/outgoing_want.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "distributed/value/job_budget.h"
#include "distributed/value/value_item.h"

// --- Questions --------------------------------------------------------------

static uint64_t outgoing_want_hash(const void* key) { return tfrt_hash_u64(*(const uint64_t*)key); }

static bool outgoing_want_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_remote_value_t, question.by_want)->question.want ==
         *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_outgoing_want_table_vtable = {
    .hash = outgoing_want_hash,
    .equal = outgoing_want_equal,
};

static void outgoing_want_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_outgoing_want_table_vtable, allocator);
}

// The value (+0) for which |want| is open at |peer|, or NULL.
static tfrt_remote_value_t* outgoing_want_find(tfrt_peer_t* peer, uint64_t want) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->wants, &want);
  return node ? TFRT_CONTAINER_OF(node, tfrt_remote_value_t, question.by_want) : NULL;
}

// The body of a question about |value|; |offset| bytes of the payload are here.
static tfrt_wire_body_t outgoing_want_body(const tfrt_remote_value_t* value,
                                           tfrt_wire_want_level_t level, uint64_t offset) {
  uint64_t window = tfrt_bulk_manager_window_size(value->node->bulk);
  return (tfrt_wire_body_t){.kind = TFRT_WIRE_FRAME_WANT,
                            .want = {.want = tfrt_session_next_want(value->peer->session),
                                     .id = value->location.id,
                                     .level = level,
                                     .window = offset + window,
                                     .offset = offset}};
}

static tfrt_peer_frame_t outgoing_want_frame(const tfrt_remote_value_t* value) {
  tfrt_peer_frame_t frame = {.job = value->job};
  // A promise of ours must not be asked for before it is made.
  if (value->location.id.namer == value->node->incarnation) {
    frame.after_call = value->location.id.number;
  }
  return frame;
}

void tfrt_outgoing_want_send(tfrt_remote_value_t* value, tfrt_wire_want_level_t level) {
  tfrt_peer_t* peer = value->peer;
  tfrt_wire_body_t body = outgoing_want_body(value, level, 0);
  tfrt_peer_frame_t frame = outgoing_want_frame(value);
  tfrt_status_t status = tfrt_peer_try_send(peer, &frame, &body);
  if (status) {
    tfrt_remote_value_fail(value, status);
    tfrt_status_release(status);
    return;
  }
  value->question.want = body.want.want;
  value->question.level = level;
  tfrt_hash_table_insert(&peer->wants, &value->question.want, &value->question.by_want);
  // The open want keeps the value alive until the answer comes.
  tfrt_async_value_retain(&value->base.base);
  if (level == TFRT_WIRE_WANT_VALUE && value->bytes.there > TFRT_WIRE_MAX_INLINE_SIZE) {
    tfrt_bulk_manager_need(value->node->bulk, peer->incarnation, 0);
  }
}

// Tells the owner that |want| of |value| is over. With |can_wait|, in the next batch.
static void outgoing_want_send_unwant(const tfrt_remote_value_t* value, uint64_t want,
                                      bool can_wait) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_UNWANT, .unwant = {.want = want}};
  tfrt_peer_frame_t frame = {.job = value->job, .after_want = want, .can_wait = can_wait};
  tfrt_peer_send(value->peer, &frame, &body);
}

// The bulk channel that carried the payload of |value| is lost; |offset| bytes of the payload are
// here. Asks for the rest under a new number. Asks for all of it if the received bytes are gone, or
// if there is no credit to ask with: then they are given back.
static void outgoing_want_resume(tfrt_remote_value_t* value, uint64_t offset) {
  tfrt_peer_t* peer = value->peer;
  tfrt_bulk_manager_t* bulk = value->node->bulk;
  uint64_t old_want = value->question.want;
  uint64_t want = tfrt_session_next_want(peer->session);
  // If transfers have taken all credit, none of them can end before its Want is sent. Then only
  // Unwants, which need no credit, give some back.
  bool resumes = tfrt_session_has_credit(peer->session, TFRT_WIRE_FRAME_WANT);
  if (!resumes) {
    tfrt_bulk_manager_end(bulk, peer->incarnation, TFRT_BULK_IN, old_want, NULL);
    outgoing_want_send_unwant(value, old_want, false);
    tfrt_bulk_manager_need(bulk, peer->incarnation, 0);
  }
  // The received bytes may be gone by now: the transfer was aborted meanwhile, or never began.
  bool is_here = false;
  if (resumes) {
    const tfrt_bulk_resumption_t resumption = {.old_want = old_want, .want = want};
    tfrt_status_t status =
        tfrt_bulk_manager_resume(bulk, peer->incarnation, TFRT_BULK_IN, &resumption);
    is_here = !status;
    tfrt_status_release(status);
  }
  tfrt_wire_body_t body = outgoing_want_body(value, TFRT_WIRE_WANT_VALUE, is_here ? offset : 0);
  body.want.resumes = resumes ? old_want : 0;
  tfrt_hash_table_remove(&peer->wants, &value->question.by_want);
  value->question.want = want;
  tfrt_hash_table_insert(&peer->wants, &value->question.want, &value->question.by_want);
  tfrt_peer_frame_t frame = outgoing_want_frame(value);
  tfrt_peer_send(peer, &frame, &body);
}

void tfrt_outgoing_want_end(tfrt_remote_value_t* value, tfrt_outgoing_want_end_t why) {
  tfrt_peer_t* peer = value->peer;
  if (why != TFRT_OUTGOING_WANT_ANSWERED) {
    outgoing_want_send_unwant(value, value->question.want,
                              why == TFRT_OUTGOING_WANT_NEEDLESS_TOLD_LATER);
  }
  tfrt_bulk_manager_end(value->node->bulk, peer->incarnation, TFRT_BULK_IN, value->question.want,
                        NULL);
  tfrt_hash_table_remove(&peer->wants, &value->question.by_want);
  value->question.want = 0;
  tfrt_action_queue_release(&value->node->actions, &value->base.base);
}

// --- Answers ----------------------------------------------------------------

// |value|, which was lent to us, is a result of another host's call. Remembers the place of that
// call, which says more than the place where the value was received.
static void outgoing_want_note_place(tfrt_remote_value_t* value, const tfrt_wire_origin_t* origin) {
  if (!origin || (tfrt_remote_value_has_site(value) && !value->place.is_received)) return;
  value->place.is_received = false;
  value->place.texts = tfrt_wire_error_to_status(&(tfrt_wire_error_t){.origin = origin});
  value->place.site.origin = tfrt_status_fields(value->place.texts)->origin;
}

// Takes what |peer| says. False if that is impossible.
static bool outgoing_want_take_resolve(tfrt_peer_t* peer, const tfrt_wire_resolve_t* resolve) {
  tfrt_remote_value_t* value = outgoing_want_find(peer, resolve->want);
  if (!value) return resolve->want < tfrt_session_next_want(peer->session);  // late, and legal
  if (resolve->item.kind == TFRT_WIRE_ITEM_ON_BULK) {
    if (value->question.level != TFRT_WIRE_WANT_VALUE) return false;
    tfrt_bulk_manager_need(value->node->bulk, peer->incarnation, value->question.want);
    return true;
  }
  tfrt_outgoing_want_end(value, TFRT_OUTGOING_WANT_ANSWERED);
  outgoing_want_note_place(value, resolve->origin);
  tfrt_remote_value_on_item(value, &resolve->item);
  return true;
}

// A Resolve came. Returns an error (+1) for what is impossible: one that was never asked for.
static tfrt_status_t outgoing_want_on_resolve(const tfrt_incoming_frame_t* in) {
  if (outgoing_want_take_resolve(in->peer, &in->body->resolve)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a Resolve came without its Want");
}

// --- Payloads ---------------------------------------------------------------

static tfrt_node_t* transfer_node(tfrt_bulk_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_node_t, bulk_handler);
}

// A payload on its way here: from begin until the waiting placeholder gets its value, or it is
// dropped.
typedef struct tfrt_arrival_s {
  tfrt_task_t task;   // waits for the value
  tfrt_node_t* node;  // +1
  tfrt_bulk_transfer_t transfer;
  tfrt_value_arrival_t item;
} tfrt_arrival_t;

static void arrival_free(tfrt_arrival_t* arrival) {
  tfrt_node_t* node = arrival->node;
  tfrt_payload_sink_destroy(arrival->item.sink);
  if (arrival->item.value) tfrt_async_value_release(arrival->item.value);
  tfrt_allocator_free(node->options.allocator, arrival, sizeof(*arrival));
  tfrt_node_release(node);
}

// The peer whose living session |transfer| belongs to, or NULL. With the lock held.
static tfrt_peer_t* transfer_peer(tfrt_node_t* node, const tfrt_bulk_transfer_t* transfer) {
  tfrt_peer_t* peer = tfrt_peer_find(node, transfer->incarnation);
  if (!peer || !peer->session) return NULL;
  return tfrt_session_number(peer->session) == transfer->session ? peer : NULL;
}

// The value (+0) that waits for |transfer|, or NULL. With the lock held.
static tfrt_remote_value_t* transfer_find(tfrt_node_t* node, const tfrt_bulk_transfer_t* transfer) {
  tfrt_peer_t* peer = transfer_peer(node, transfer);
  tfrt_remote_value_t* value = peer ? outgoing_want_find(peer, transfer->want) : NULL;
  return value && value->question.level == TFRT_WIRE_WANT_VALUE ? value : NULL;
}

// Makes the value that waits for |transfer| the error |status| (+0). Takes the lock.
// "host 2", or "the client", into |out|.
static void transfer_name_host(uint32_t rank, char out[24]) {
  if (rank == TFRT_WIRE_NO_RANK) {
    snprintf(out, 24, "the client");
  } else {
    snprintf(out, 24, "host %" PRIu32, rank);
  }
}

static void transfer_fail(tfrt_node_t* node, const tfrt_bulk_transfer_t* transfer,
                          tfrt_status_t status) {
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = transfer_find(node, transfer);
  if (value) {
    const char* function = value->place.function;
    char from[24];
    char to[24];
    transfer_name_host(tfrt_job_rank_of(value->job, transfer->incarnation), from);
    transfer_name_host(value->job->rank, to);
    tfrt_status_t error =
        tfrt_status_annotate(status, "a payload did not come from %s to %s%s%s", from, to,
                             function ? ", a result of @" : "", function ? function : "");
    tfrt_remote_value_fail(value, error);
    tfrt_status_release(error);
  }
  tfrt_node_unlock(node);
}

// Makes room for a payload of |size| bytes, which goes to |device|, or to the host if that is "".
static tfrt_status_t arrival_allocate(tfrt_node_t* node, const tfrt_bulk_transfer_t* transfer,
                                      const char* device, tfrt_string_view_t type,
                                      tfrt_string_view_t header, uint64_t size,
                                      tfrt_bulk_sink_t* out_sink) {
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_arrival_t* arrival = tfrt_allocator_allocate_zeroed(allocator, sizeof(*arrival));
  if (!arrival) return tfrt_status_out_of_memory();
  arrival->node = tfrt_node_retain(node);
  arrival->transfer = *transfer;
  const tfrt_payload_place_t place = {.host = node->options.host, .device = device};
  tfrt_status_t status = tfrt_value_item_begin(type, header, size, &place,
                                               node->options.host->allocator, &arrival->item);
  if (status) {
    arrival_free(arrival);
    return status;
  }
  out_sink->body = arrival->item.body;
  out_sink->stream = arrival->item.sink;
  out_sink->context = arrival;
  return NULL;
}

static tfrt_status_t transfer_begin(tfrt_bulk_handler_t* handler,
                                    const tfrt_bulk_transfer_t* transfer, tfrt_string_view_t type,
                                    tfrt_string_view_t header, uint64_t total_size,
                                    tfrt_bulk_sink_t* out_sink) {
  tfrt_node_t* node = transfer_node(handler);
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* wanted = transfer_find(node, transfer);
  bool is_wanted = wanted != NULL;
  char device[TFRT_CALL_DEVICE_SIZE] = "";
  if (wanted) memcpy(device, wanted->device, sizeof(device));
  // A payload that begins anew after its bulk channel broke is counted once.
  if (wanted) tfrt_job_budget_set_payload(wanted, 0);
  tfrt_status_t status =
      wanted ? tfrt_job_budget_check(wanted->job, TFRT_JOB_BUDGET_PAYLOAD, total_size) : NULL;
  if (wanted && !status) {
    tfrt_job_budget_set_payload(wanted, total_size);
    wanted->bytes.is_large = true;
  }
  tfrt_node_unlock(node);
  if (!is_wanted) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "a payload came that nobody wants");
  }
  *out_sink = (tfrt_bulk_sink_t){0};
  if (!status) {
    status = arrival_allocate(node, transfer, device, type, header, total_size, out_sink);
  }
  if (status) transfer_fail(node, transfer, status);
  return status;
}

// Runs when the value is there, or an error.
static void arrival_run(tfrt_task_t* task) {
  tfrt_arrival_t* arrival = TFRT_CONTAINER_OF(task, tfrt_arrival_t, task);
  tfrt_node_t* node = arrival->node;
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = transfer_find(node, &arrival->transfer);
  if (value) tfrt_remote_value_receive(value, arrival->item.value);
  tfrt_node_unlock(node);
  arrival_free(arrival);
}

static void transfer_complete(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                              void* context) {
  (void)handler;
  tfrt_arrival_t* arrival = context;
  // The number at the end differs from that at the begin if the transfer was resumed.
  arrival->transfer = *transfer;
  tfrt_value_item_complete(&arrival->item);
  tfrt_task_initialize(&arrival->task, arrival_run);
  tfrt_async_value_and_then(arrival->item.value, &arrival->task);
}

static void transfer_interrupted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                                 uint64_t offset) {
  tfrt_node_t* node = transfer_node(handler);
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = transfer_find(node, transfer);
  if (value) outgoing_want_resume(value, offset);
  tfrt_node_unlock(node);
}

static void transfer_aborted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                             void* context, tfrt_status_t status) {
  transfer_fail(transfer_node(handler), transfer, status);
  // The value was never published, so nobody else has it.
  if (context) arrival_free(context);
}

static void transfer_lost(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                          tfrt_status_t status) {
  tfrt_node_t* node = transfer_node(handler);
  tfrt_wire_goodbye_reason_t reason = tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT
                                          ? TFRT_WIRE_GOODBYE_PROTOCOL
                                          : TFRT_WIRE_GOODBYE_DEAD;
  tfrt_node_lock_tables(node);
  tfrt_peer_t* peer = transfer_peer(node, transfer);
  if (peer) {
    tfrt_session_close(peer->session, reason, tfrt_string_view_of(tfrt_status_message(status)));
  }
  tfrt_node_unlock(node);
}

const tfrt_bulk_handler_vtable_t tfrt_outgoing_want_bulk_handler = {
    .begin = transfer_begin,
    .complete = transfer_complete,
    .interrupted = transfer_interrupted,
    .aborted = transfer_aborted,
    .lost = transfer_lost,
};

// Makes the session of |peer|, which is open now, known to the bulk channels.
static void outgoing_want_on_peer_met(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = end->peer;
  tfrt_session_t* session = peer->session;
  tfrt_bulk_session_t bulk = {
      .incarnation = peer->incarnation,
      .session = tfrt_session_number(session),
      .version = tfrt_session_describe(session).version,
      .chunk_bytes = tfrt_session_limits(session)->chunk_bytes,
      .is_paced = (tfrt_session_features(session) & TFRT_WIRE_FEATURE_PACE) != 0,
      .address = tfrt_session_address(session)};
  tfrt_status_t status = tfrt_bulk_manager_open(peer->node->bulk, &bulk);
  if (status) tfrt_peer_break_take(peer, status);
}

static void outgoing_want_on_peer_made(const tfrt_owner_end_t* end) {
  outgoing_want_initialize_table(&end->peer->wants, end->node->options.allocator);
}

static const tfrt_owner_rule_t tfrt_outgoing_want_rules[] = {
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_WANTS, outgoing_want_on_peer_met},
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_WANTS, outgoing_want_on_peer_made},
};

static const tfrt_frame_handler_t tfrt_outgoing_want_handlers[] = {
    {TFRT_WIRE_FRAME_RESOLVE, outgoing_want_on_resolve},
};

const tfrt_node_part_t tfrt_outgoing_want_part = {
    .rules = tfrt_outgoing_want_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_outgoing_want_rules),
    .handlers = tfrt_outgoing_want_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_outgoing_want_handlers),
};
