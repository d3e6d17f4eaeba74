// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/outgoing_want.h"

static uint64_t tfrt_outgoing_want_hash(const void* key) {
  return tfrt_hash_u64(*(const uint64_t*)key);
}

static bool tfrt_outgoing_want_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_remote_value_t, question.by_want)->question.want ==
         *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_outgoing_want_table_vtable = {
    .hash = tfrt_outgoing_want_hash,
    .equal = tfrt_outgoing_want_equal,
};

static void tfrt_outgoing_want_initialize_table(tfrt_hash_table_t* table,
                                                tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_outgoing_want_table_vtable, allocator);
}

tfrt_remote_value_t* tfrt_outgoing_want_find(tfrt_peer_t* peer, uint64_t want) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->wants, &want);
  return node ? TFRT_CONTAINER_OF(node, tfrt_remote_value_t, question.by_want) : NULL;
}

// The body of a question about |value|; |offset| bytes of the payload are here.
static tfrt_wire_body_t tfrt_outgoing_want_body(const tfrt_remote_value_t* value,
                                                tfrt_wire_want_level_t level, uint64_t offset) {
  uint64_t window = tfrt_lane_manager_window_size(value->node->lanes);
  return (tfrt_wire_body_t){.kind = TFRT_WIRE_FRAME_WANT,
                            .want = {.want = tfrt_session_next_want(value->peer->session),
                                     .id = value->location.id,
                                     .level = level,
                                     .window = offset + window,
                                     .offset = offset}};
}

static tfrt_peer_frame_t tfrt_outgoing_want_frame(const tfrt_remote_value_t* value) {
  tfrt_peer_frame_t frame = {.job = value->job};
  // A promise of ours must not be asked for before it is made.
  if (value->location.id.namer == value->node->incarnation) {
    frame.after_call = value->location.id.number;
  }
  return frame;
}

void tfrt_outgoing_want_send(tfrt_remote_value_t* value, tfrt_wire_want_level_t level) {
  tfrt_peer_t* peer = value->peer;
  tfrt_wire_body_t body = tfrt_outgoing_want_body(value, level, 0);
  tfrt_peer_frame_t frame = tfrt_outgoing_want_frame(value);
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
    tfrt_lane_manager_need(value->node->lanes, peer->incarnation);
  }
}

// Tells the owner that |want| of |value| is over. With |can_wait|, in the next batch.
static void tfrt_outgoing_want_send_unwant(const tfrt_remote_value_t* value, uint64_t want,
                                           bool can_wait) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_UNWANT, .unwant = {.want = want}};
  tfrt_peer_frame_t frame = {.job = value->job, .after_want = want, .can_wait = can_wait};
  tfrt_peer_send(value->peer, &frame, &body);
}

void tfrt_outgoing_want_resume(tfrt_remote_value_t* value, uint64_t offset) {
  tfrt_peer_t* peer = value->peer;
  tfrt_lane_manager_t* lanes = value->node->lanes;
  uint64_t old_want = value->question.want;
  uint64_t want = tfrt_session_next_want(peer->session);
  // If transfers have taken all credit, none of them can end before its Want is sent. Then only
  // Unwants, which need no credit, give some back.
  bool resumes = tfrt_session_has_want_credit(peer->session);
  if (!resumes) {
    tfrt_lane_manager_cancel_receive(lanes, peer->incarnation, old_want);
    tfrt_outgoing_want_send_unwant(value, old_want, false);
    tfrt_lane_manager_need(lanes, peer->incarnation);
  }
  // The received bytes may be gone by now: the transfer was aborted meanwhile, or never began.
  bool is_here =
      resumes && tfrt_lane_manager_resume_receive(lanes, peer->incarnation, old_want, want);
  tfrt_wire_body_t body =
      tfrt_outgoing_want_body(value, TFRT_WIRE_WANT_VALUE, is_here ? offset : 0);
  body.want.resumes = resumes ? old_want : 0;
  tfrt_hash_table_remove(&peer->wants, &value->question.by_want);
  value->question.want = want;
  tfrt_hash_table_insert(&peer->wants, &value->question.want, &value->question.by_want);
  tfrt_peer_frame_t frame = tfrt_outgoing_want_frame(value);
  tfrt_peer_send(peer, &frame, &body);
}

void tfrt_outgoing_want_close(tfrt_remote_value_t* value) {
  tfrt_peer_t* peer = value->peer;
  tfrt_lane_manager_cancel_receive(value->node->lanes, peer->incarnation, value->question.want);
  tfrt_hash_table_remove(&peer->wants, &value->question.by_want);
  value->question.want = 0;
  tfrt_action_queue_release(&value->node->actions, &value->base.base);
}

static void tfrt_outgoing_want_tell_end(tfrt_remote_value_t* value, bool can_wait) {
  tfrt_outgoing_want_send_unwant(value, value->question.want, can_wait);
  tfrt_outgoing_want_close(value);
}

void tfrt_outgoing_want_end(tfrt_remote_value_t* value) {
  tfrt_outgoing_want_tell_end(value, false);
}

void tfrt_outgoing_want_complete(tfrt_remote_value_t* value) {
  tfrt_outgoing_want_tell_end(value, value->bytes.here <= TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE);
}

static void tfrt_outgoing_want_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_outgoing_want_initialize_table(&end->peer->wants, end->node->options.allocator);
}

static const tfrt_owner_rule_t tfrt_outgoing_want_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_WANTS, tfrt_outgoing_want_on_peer_made},
};

void tfrt_outgoing_want_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_outgoing_want_rules, TFRT_ARRAY_SIZE(tfrt_outgoing_want_rules));
}
