// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/lane_reader.h"

// How long after a frame more frames are likely. Calls in a row that each wait for a chunk are
// closer to each other than that.
#define POLITE_NS ((int64_t)5 * TFRT_NANOSECONDS_PER_MILLISECOND)

static tfrt_lane_outgoing_t* find(tfrt_lane_peer_t* peer, uint64_t want) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->outgoing, &want);
  return node ? TFRT_CONTAINER_OF(node, tfrt_lane_outgoing_t, by_want) : NULL;
}

static tfrt_lane_outgoing_t* find_by_name(tfrt_lane_manager_t* manager, uint64_t incarnation,
                                          uint64_t want) {
  tfrt_lane_peer_t* peer = tfrt_lane_peer_find(manager, incarnation);
  return peer ? find(peer, want) : NULL;
}

// --- Begin and end -----------------------------------------------------------

static tfrt_status_t encode(tfrt_async_value_t* value, tfrt_encoding_t* out_encoding,
                            const char** out_type) {
  if (tfrt_async_value_state(value) != TFRT_ASYNC_VALUE_AVAILABLE ||
      value->kind != TFRT_ASYNC_VALUE_CONCRETE) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the value has no payload here");
  }
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  *out_type = type->name;
  return tfrt_type_encode(type, tfrt_async_value_payload(value), out_encoding);
}

static tfrt_status_t check_send(tfrt_lane_manager_t* manager, tfrt_lane_peer_t* peer,
                                const tfrt_lane_send_t* send) {
  if (!peer || manager->is_closed) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "no session to send a payload to");
  }
  if (find(peer, send->want)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "want %llu is served already",
                              (unsigned long long)send->want);
  }
  return NULL;
}

// Makes one for |send|, in no table yet.
static tfrt_status_t create(tfrt_lane_manager_t* manager, tfrt_lane_peer_t* peer,
                            const tfrt_lane_send_t* send, tfrt_lane_outgoing_t** out_outgoing) {
  *out_outgoing = NULL;
  tfrt_lane_outgoing_t* outgoing =
      tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*outgoing));
  if (!outgoing) return tfrt_status_out_of_memory();
  tfrt_list_initialize(&outgoing->link);
  outgoing->manager = manager;
  outgoing->peer = peer;
  outgoing->want = send->want;
  outgoing->offset = send->offset;
  outgoing->limit = send->limit;
  outgoing->is_described = send->offset > 0;
  outgoing->done = send->done;
  outgoing->context = send->context;
  tfrt_status_t status = NULL;
  if (send->source) {
    status = tfrt_lane_reader_allocate_take(outgoing, send->source, &outgoing->reader);
  }
  if (status) {
    tfrt_allocator_free(manager->allocator, outgoing, sizeof(*outgoing));
    return status;
  }
  outgoing->value = tfrt_async_value_retain(send->value);
  *out_outgoing = outgoing;
  return NULL;
}

tfrt_status_t tfrt_lane_manager_send(tfrt_lane_manager_t* manager, uint64_t incarnation,
                                     const tfrt_lane_send_t* send) {
  tfrt_lane_peer_t* peer = tfrt_lane_peer_find(manager, incarnation);
  TFRT_RETURN_IF_ERROR(check_send(manager, peer, send));
  tfrt_encoding_t encoding;
  const char* type = NULL;
  TFRT_RETURN_IF_ERROR(encode(send->value, &encoding, &type));
  if (send->offset > encoding.body_size) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "a payload of %zu bytes can't be sent from byte %llu on",
                              encoding.body_size, (unsigned long long)send->offset);
  }
  tfrt_lane_outgoing_t* outgoing;
  TFRT_RETURN_IF_ERROR(create(manager, peer, send, &outgoing));
  outgoing->type = type;
  outgoing->encoding = encoding;
  tfrt_hash_table_insert(&peer->outgoing, &outgoing->want, &outgoing->by_want);
  ++manager->live;
  ++manager->counts.sending;
  tfrt_lane_outgoing_place(outgoing);
  if (outgoing->reader) tfrt_lane_reader_start(outgoing->reader);
  tfrt_lane_peer_need(peer);
  return NULL;
}

// Nothing borrows the value any more. Takes the lock.
static void finish(tfrt_task_t* task) {
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(task, tfrt_lane_outgoing_t, task);
  tfrt_lane_manager_t* manager = outgoing->manager;
  if (outgoing->done) outgoing->done(outgoing->context, outgoing->result);
  tfrt_lane_reader_free(outgoing->reader);
  tfrt_async_value_release(outgoing->value);
  tfrt_status_release(outgoing->result);
  tfrt_status_release(outgoing->failure);
  tfrt_allocator_free(manager->allocator, outgoing, sizeof(*outgoing));
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_node_lock_lock(lock);
  --manager->counts.sending;
  tfrt_lane_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
}

static void finish_if_over(tfrt_lane_outgoing_t* outgoing) {
  if (outgoing->state != TFRT_LANE_OUTGOING_OVER || outgoing->writes > 0) return;
  if (!tfrt_lane_reader_is_idle(outgoing->reader)) return;
  outgoing->state = TFRT_LANE_OUTGOING_FINISHING;
  tfrt_task_initialize(&outgoing->task, finish);
  tfrt_node_lock_defer(outgoing->manager->lock, &outgoing->task);
}

void tfrt_lane_outgoing_end(tfrt_lane_outgoing_t* outgoing, tfrt_status_t status) {
  tfrt_hash_table_remove(&outgoing->peer->outgoing, &outgoing->by_want);
  tfrt_list_remove(&outgoing->link);
  outgoing->peer = NULL;
  outgoing->state = TFRT_LANE_OUTGOING_OVER;
  outgoing->result = tfrt_status_retain(status);
  finish_if_over(outgoing);
}

void tfrt_lane_manager_cancel_send(tfrt_lane_manager_t* manager, uint64_t incarnation,
                                   uint64_t want) {
  tfrt_lane_outgoing_t* outgoing = find_by_name(manager, incarnation, want);
  if (!outgoing) return;
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_CANCELLED, "no longer wanted");
  tfrt_lane_outgoing_end(outgoing, status);
  tfrt_status_release(status);
}

void tfrt_lane_manager_abort_send(tfrt_lane_manager_t* manager, uint64_t incarnation, uint64_t want,
                                  tfrt_status_t status) {
  tfrt_lane_outgoing_t* outgoing = find_by_name(manager, incarnation, want);
  if (!outgoing) return;
  tfrt_lane_peer_t* peer = outgoing->peer;
  tfrt_lane_peer_abort_transfer(peer, want, true, status);
  tfrt_lane_outgoing_end(outgoing, status);
  tfrt_lane_pump(peer->lane);
}

void tfrt_lane_outgoing_fail(tfrt_lane_outgoing_t* outgoing, tfrt_status_t status) {
  if (outgoing->state != TFRT_LANE_OUTGOING_GOING || outgoing->failure) return;
  outgoing->failure = tfrt_status_retain(status);
  tfrt_lane_outgoing_place(outgoing);
  tfrt_lane_pump(outgoing->peer->lane);
}

// --- Chunks ------------------------------------------------------------------

// The bytes at the transfer's offset that can be sent as far as the payload goes: sets |*out_data|.
static uint64_t find_bytes(const tfrt_lane_outgoing_t* outgoing, const char** out_data) {
  const tfrt_encoding_t* encoding = &outgoing->encoding;
  *out_data = NULL;
  if (outgoing->offset == encoding->body_size) return 0;
  if (outgoing->reader) return tfrt_lane_reader_find(outgoing->reader, outgoing->offset, out_data);
  *out_data = (const char*)encoding->body + outgoing->offset;
  return encoding->body_size - outgoing->offset;
}

void tfrt_lane_outgoing_place(tfrt_lane_outgoing_t* outgoing) {
  tfrt_lane_peer_t* peer = outgoing->peer;
  tfrt_list_remove(&outgoing->link);
  if (outgoing->failure) {
    tfrt_list_push_back(&peer->failed, &outgoing->link);
    return;
  }
  if (outgoing->is_interrupted) {
    tfrt_list_push_back(&peer->interrupted, &outgoing->link);
    return;
  }
  size_t size = outgoing->encoding.body_size;
  // The empty payload needs no credit, only its description.
  const char* data;
  bool is_ready = outgoing->offset < size
                      ? outgoing->offset < outgoing->limit && find_bytes(outgoing, &data) > 0
                      : !outgoing->is_described;
  if (!is_ready) return;
  bool is_small = size < TFRT_WIRE_SMALL_TRANSFER_SIZE;
  tfrt_list_push_back(is_small ? &peer->small : &peer->large, &outgoing->link);
}

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

// The most bytes of |outgoing| that may go in one chunk.
static uint64_t max_chunk_size(const tfrt_lane_outgoing_t* outgoing) {
  tfrt_lane_manager_t* manager = outgoing->peer->manager;
  uint64_t most = outgoing->peer->session.chunk_bytes;
  if (outgoing->encoding.body_size < manager->options.long_size) return most;
  int64_t now_ns = tfrt_lane_manager_now_ns(manager);
  if (manager->known_frame_count != manager->frame_count) {
    manager->known_frame_count = manager->frame_count;
    manager->polite_until_ns = tfrt_deadline_after(now_ns, POLITE_NS);
  }
  return now_ns < manager->polite_until_ns ? min_u64(most, manager->options.polite_chunk_bytes)
                                           : most;
}

tfrt_lane_outgoing_t* tfrt_lane_outgoing_next(tfrt_lane_peer_t* peer,
                                              tfrt_wire_chunk_t* out_chunk) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->small);
  if (!link) link = tfrt_list_pop_front(&peer->large);
  if (!link) return NULL;
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_lane_outgoing_t, link);
  const tfrt_encoding_t* encoding = &outgoing->encoding;
  const char* data;
  uint64_t end = outgoing->offset + find_bytes(outgoing, &data);
  end = min_u64(end, outgoing->limit);
  end = min_u64(end, outgoing->offset + max_chunk_size(outgoing));
  if (end < outgoing->offset) end = outgoing->offset;
  *out_chunk = (tfrt_wire_chunk_t){
      .want = outgoing->want, .offset = outgoing->offset, .last = end == encoding->body_size};
  if (end > outgoing->offset) {
    out_chunk->payload = tfrt_string_view_make(data, (size_t)(end - outgoing->offset));
  }
  if (!outgoing->is_described) {
    out_chunk->type = tfrt_string_view_of(outgoing->type);
    out_chunk->header = tfrt_string_view_make((const char*)encoding->header, encoding->header_size);
    out_chunk->total_size = encoding->body_size;
  }
  outgoing->is_described = true;
  outgoing->was_written = true;
  if (TFRT_COUNTERS) peer->traffic.sent += end - outgoing->offset;
  outgoing->offset = end;
  ++outgoing->writes;
  tfrt_lane_outgoing_place(outgoing);
  return outgoing;
}

void tfrt_lane_outgoing_finish_write(tfrt_lane_outgoing_t* outgoing) {
  --outgoing->writes;
  if (outgoing->reader && outgoing->writes == 0) tfrt_lane_reader_trim(outgoing->reader);
  finish_if_over(outgoing);
}

void tfrt_lane_outgoing_go_on(tfrt_lane_outgoing_t* outgoing) {
  if (outgoing->state != TFRT_LANE_OUTGOING_GOING) {
    finish_if_over(outgoing);
    return;
  }
  if (outgoing->writes == 0) tfrt_lane_reader_trim(outgoing->reader);
  if (outgoing->failure) return;
  tfrt_lane_reader_start(outgoing->reader);
  // Keeps its turn, if it has one.
  if (!tfrt_list_is_linked(&outgoing->link)) tfrt_lane_outgoing_place(outgoing);
  tfrt_lane_pump(outgoing->peer->lane);
}

void tfrt_lane_outgoing_on_window(tfrt_lane_peer_t* peer, const tfrt_wire_window_t* window) {
  tfrt_lane_outgoing_t* outgoing = find(peer, window->want);
  if (!outgoing) {
    ++peer->manager->counts.ignored;
    return;
  }
  if (window->limit <= outgoing->limit) return;
  outgoing->limit = window->limit;
  // Keeps its turn, if it has one. An interrupted or failed transfer needs none: its borrower hears
  // of that instead.
  bool has_turn = outgoing->is_interrupted || outgoing->failure;
  if (!has_turn && !tfrt_list_is_linked(&outgoing->link)) tfrt_lane_outgoing_place(outgoing);
}

void tfrt_lane_outgoing_on_abort(tfrt_lane_peer_t* peer, const tfrt_wire_abort_t* abort) {
  tfrt_lane_outgoing_t* outgoing = find(peer, abort->want);
  if (!outgoing) {
    ++peer->manager->counts.ignored;
    return;
  }
  tfrt_status_t status = tfrt_wire_error_to_status(abort->error);
  tfrt_lane_outgoing_end(outgoing, status);
  tfrt_status_release(status);
}

// --- Interruption ------------------------------------------------------------

void tfrt_lane_outgoing_interrupt_all(tfrt_lane_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing); node;
       node = tfrt_hash_table_next(&peer->outgoing, node)) {
    tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(node, tfrt_lane_outgoing_t, by_want);
    // The borrower hears again of an interrupted or failed one: the earlier message may be lost,
    // too.
    if (!outgoing->was_written && !outgoing->is_interrupted && !outgoing->failure) continue;
    outgoing->was_written = false;
    outgoing->is_interrupted = true;
    tfrt_lane_outgoing_place(outgoing);
  }
}

tfrt_status_t tfrt_lane_manager_resume_send(tfrt_lane_manager_t* manager, uint64_t incarnation,
                                            uint64_t old_want, uint64_t want, uint64_t offset,
                                            uint64_t limit) {
  tfrt_lane_outgoing_t* outgoing = find_by_name(manager, incarnation, old_want);
  if (!outgoing || outgoing->failure) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "want %llu is not being served",
                              (unsigned long long)old_want);
  }
  if (offset > outgoing->offset) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "want %llu can't be resumed at byte %llu: %llu bytes were sent",
                              (unsigned long long)old_want, (unsigned long long)offset,
                              (unsigned long long)outgoing->offset);
  }
  tfrt_lane_peer_t* peer = outgoing->peer;
  if (find(peer, want)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "want %llu is served already",
                              (unsigned long long)want);
  }
  tfrt_hash_table_remove(&peer->outgoing, &outgoing->by_want);
  outgoing->want = want;
  tfrt_hash_table_insert(&peer->outgoing, &outgoing->want, &outgoing->by_want);
  outgoing->offset = offset;
  outgoing->limit = limit;
  outgoing->is_described = offset > 0;
  outgoing->was_written = false;
  outgoing->is_interrupted = false;
  if (outgoing->reader) {
    tfrt_lane_reader_move(outgoing->reader, offset);
    if (outgoing->writes == 0) tfrt_lane_reader_trim(outgoing->reader);
    tfrt_lane_reader_start(outgoing->reader);
  }
  tfrt_lane_outgoing_place(outgoing);
  tfrt_lane_peer_need(peer);
  return NULL;
}
