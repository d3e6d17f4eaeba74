// SPDX-License-Identifier: Apache-2.0
#include "distributed/transfer.h"

#include "distributed/job_budget.h"
#include "distributed/outgoing_want.h"

static tfrt_node_t* tfrt_transfer_node(tfrt_lane_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_node_t, lane_handler);
}

// The peer whose living session |transfer| belongs to, or NULL. With the lock held.
static tfrt_peer_t* tfrt_transfer_peer(tfrt_node_t* node, const tfrt_lane_transfer_t* transfer) {
  tfrt_peer_t* peer = tfrt_peer_find(node, transfer->incarnation);
  if (!peer || !peer->session) return NULL;
  return tfrt_session_number(peer->session) == transfer->session ? peer : NULL;
}

// The value (+0) that waits for |transfer|, or NULL. With the lock held.
static tfrt_remote_value_t* tfrt_transfer_find(tfrt_node_t* node,
                                               const tfrt_lane_transfer_t* transfer) {
  tfrt_peer_t* peer = tfrt_transfer_peer(node, transfer);
  tfrt_remote_value_t* value = peer ? tfrt_outgoing_want_find(peer, transfer->want) : NULL;
  return value && value->want_level == TFRT_WIRE_WANT_VALUE ? value : NULL;
}

// Makes what waits for |transfer| the error |status| (+0). Takes the lock.
static void tfrt_transfer_fail(tfrt_node_t* node, const tfrt_lane_transfer_t* transfer,
                               tfrt_status_t status) {
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = tfrt_transfer_find(node, transfer);
  if (value) {
    uint32_t rank = tfrt_job_rank_of(value->job, transfer->incarnation);
    tfrt_status_t error =
        rank == TFRT_WIRE_NO_RANK
            ? tfrt_status_annotate(status, "a payload did not come from the client")
            : tfrt_status_annotate(status, "a payload did not come from host %u", rank);
    tfrt_remote_value_fail(value, error);
    tfrt_status_release(error);
  }
  tfrt_node_unlock(node);
}

static tfrt_status_t tfrt_transfer_begin(tfrt_lane_handler_t* handler,
                                         const tfrt_lane_transfer_t* transfer,
                                         tfrt_string_view_t type, tfrt_string_view_t header,
                                         uint64_t total_size, tfrt_lane_sink_t* out_sink) {
  tfrt_node_t* node = tfrt_transfer_node(handler);
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* wanted = tfrt_transfer_find(node, transfer);
  bool is_wanted = wanted != NULL;
  // One that begins anew, behind a lane that broke, is counted once.
  if (wanted) wanted->size_here = 0;
  tfrt_status_t status = wanted ? tfrt_job_budget_check_payload(wanted->job, total_size) : NULL;
  if (wanted && !status) wanted->size_here = total_size;
  tfrt_node_unlock(node);
  if (!is_wanted) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "a payload came that nobody wants");
  }
  tfrt_async_value_t* value = NULL;
  void* body = NULL;
  if (!status) {
    status = tfrt_value_item_begin(type, header, total_size, node->options.host->allocator, &value,
                                   &body);
  }
  if (status) {
    tfrt_transfer_fail(node, transfer, status);
    return status;
  }
  *out_sink = (tfrt_lane_sink_t){.body = body, .context = value};
  return NULL;
}

static void tfrt_transfer_complete(tfrt_lane_handler_t* handler,
                                   const tfrt_lane_transfer_t* transfer, void* context) {
  tfrt_node_t* node = tfrt_transfer_node(handler);
  tfrt_async_value_t* payload = context;
  tfrt_value_item_complete(payload);
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = tfrt_transfer_find(node, transfer);
  if (value) tfrt_remote_value_receive(value, payload);
  tfrt_node_unlock(node);
  tfrt_async_value_release(payload);
}

static void tfrt_transfer_interrupted(tfrt_lane_handler_t* handler,
                                      const tfrt_lane_transfer_t* transfer, uint64_t offset) {
  tfrt_node_t* node = tfrt_transfer_node(handler);
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* value = tfrt_transfer_find(node, transfer);
  if (value) tfrt_outgoing_want_resume(value, offset);
  tfrt_node_unlock(node);
}

static void tfrt_transfer_aborted(tfrt_lane_handler_t* handler,
                                  const tfrt_lane_transfer_t* transfer, void* context,
                                  tfrt_status_t status) {
  tfrt_transfer_fail(tfrt_transfer_node(handler), transfer, status);
  // Never published, so nobody else has it.
  tfrt_async_value_release(context);
}

static void tfrt_transfer_lost(tfrt_lane_handler_t* handler, const tfrt_lane_transfer_t* transfer,
                               tfrt_status_t status) {
  tfrt_node_t* node = tfrt_transfer_node(handler);
  tfrt_wire_goodbye_reason_t reason = tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT
                                          ? TFRT_WIRE_GOODBYE_PROTOCOL
                                          : TFRT_WIRE_GOODBYE_DEAD;
  tfrt_node_lock_tables(node);
  tfrt_peer_t* peer = tfrt_transfer_peer(node, transfer);
  if (peer) {
    tfrt_session_close(peer->session, reason, tfrt_string_view_of(tfrt_status_message(status)));
  }
  tfrt_node_unlock(node);
}

const tfrt_lane_handler_vtable_t tfrt_transfer_handler_vtable = {
    .begin = tfrt_transfer_begin,
    .complete = tfrt_transfer_complete,
    .interrupted = tfrt_transfer_interrupted,
    .aborted = tfrt_transfer_aborted,
    .lost = tfrt_transfer_lost,
};

void tfrt_transfer_open_lanes(tfrt_peer_t* peer) {
  tfrt_session_t* session = peer->session;
  tfrt_lane_session_t lanes = {.incarnation = peer->incarnation,
                               .session = tfrt_session_number(session),
                               .version = tfrt_session_version(session),
                               .chunk_bytes = tfrt_session_limits(session)->chunk_bytes,
                               .address = tfrt_session_address(session)};
  tfrt_status_t status = tfrt_lane_manager_open(peer->node->lanes, &lanes);
  if (status) tfrt_peer_break_take(peer, status);
}
