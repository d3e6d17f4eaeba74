// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/bulk_impl.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"

static tfrt_bulk_outgoing_t* find(tfrt_bulk_peer_t* peer, uint64_t want) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->outgoing, &want);
  return node ? TFRT_CONTAINER_OF(node, tfrt_bulk_outgoing_t, by_want) : NULL;
}

// No byte of |outgoing|, unless it is over, can be sent any more because of |status| (+0): tells
// the borrower, on each channel until |outgoing| ends.
static void fail(tfrt_bulk_outgoing_t* outgoing, tfrt_status_t status);

// Finishes |outgoing| if it is over and no worker uses it; else reads on and sends the bytes that
// are ready.
static void go_on(tfrt_bulk_outgoing_t* outgoing);

// Puts |outgoing| where it belongs: ready, interrupted, or neither.
static void place(tfrt_bulk_outgoing_t* outgoing);

// --- The reader ----------------------------------------------------------------
//
// The reader of a payload that is not in memory (payload_stream.h) reads ahead of the transfer that
// sends it: three pieces, so that one is being read while others are there and being sent.
//
//   piece:   FREE --read--> READING --ready--> READY --sent, or stale--> RELEASING --> FREE
//
//   the source   | read 1 | read 2 | read 3 | ...
//   the channel              | send 1 | send 2 | ...
//
// A resumed transfer moves it: pieces that it no longer needs are stale. It is freed with the
// transfer, when it is idle: no piece is being read or given back. The source is called, and pieces
// are given back, without the node's lock; one call at a time. An error of the source ends the
// transfer, which tells the borrower why.

typedef enum tfrt_bulk_piece_state_e {
  TFRT_BULK_PIECE_FREE = 0,
  TFRT_BULK_PIECE_READING,
  TFRT_BULK_PIECE_READY,
  TFRT_BULK_PIECE_RELEASING,
} tfrt_bulk_piece_state_t;

typedef struct tfrt_bulk_piece_s {
  tfrt_bulk_reader_t* reader;
  tfrt_bulk_piece_state_t state;
  bool is_stale;  // nobody is going to send it
  uint64_t offset;
  size_t size;
  tfrt_payload_piece_t payload;
  tfrt_task_t task;
} tfrt_bulk_piece_t;

// Memory that the source lends instead of being read from:
//
//   NONE --the peer is here--> MAKING --ready--> MADE --Offer--> OFFERED --Decline--> OVER
//                                 `--it can't, or won't--> OVER    | interrupted
//                                                    MADE <--------`
typedef enum tfrt_bulk_loan_e {
  TFRT_BULK_LOAN_NONE = 0,
  TFRT_BULK_LOAN_MAKING,
  TFRT_BULK_LOAN_MADE,
  TFRT_BULK_LOAN_OFFERED,
  TFRT_BULK_LOAN_OVER,  // pieces are read
} tfrt_bulk_loan_t;

struct tfrt_bulk_reader_s {
  tfrt_bulk_outgoing_t* outgoing;
  tfrt_payload_source_t* source;  // owned
  tfrt_bulk_loan_t loan;
  tfrt_task_t loan_task;
  tfrt_payload_ticket_t ticket;
  uint64_t next;  // the first byte that was not asked for
  bool has_task;
  tfrt_task_t task;  // calls the source
  tfrt_bulk_piece_t pieces[TFRT_BULK_READER_PIECES];
};

static tfrt_node_lock_t* lock_of(const tfrt_bulk_reader_t* reader) {
  return reader->outgoing->manager->lock;
}

// Whether no piece is read, because memory is lent, or will be.
static bool reader_lends(const tfrt_bulk_reader_t* reader) {
  return reader && reader->loan != TFRT_BULK_LOAN_NONE && reader->loan != TFRT_BULK_LOAN_OVER;
}

// Runs when the bytes of a piece are here, or don't come. Takes the lock.
static void run_ready(tfrt_task_t* task) {
  tfrt_bulk_piece_t* piece = TFRT_CONTAINER_OF(task, tfrt_bulk_piece_t, task);
  tfrt_bulk_outgoing_t* outgoing = piece->reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(piece->reader);
  tfrt_node_lock_lock(lock);
  piece->state = TFRT_BULK_PIECE_READY;
  if (tfrt_async_value_is_error(piece->payload.ready)) {
    fail(outgoing, tfrt_async_value_error(piece->payload.ready));
  }
  go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

// The piece that is to be read next, or NULL; takes its part of the payload.
static tfrt_bulk_piece_t* take_next(tfrt_bulk_reader_t* reader) {
  const tfrt_bulk_outgoing_t* outgoing = reader->outgoing;
  uint64_t left = outgoing->encoding.body_size - reader->next;
  bool is_needed = outgoing->state == TFRT_BULK_OUTGOING_GOING && !outgoing->is_interrupted &&
                   !outgoing->failure && !reader_lends(reader);
  if (!is_needed || left == 0) return NULL;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    tfrt_bulk_piece_t* piece = &reader->pieces[i];
    if (piece->state != TFRT_BULK_PIECE_FREE) continue;
    uint64_t most = outgoing->encoding.body_size < TFRT_TUNING_BULK_READER_LARGE
                        ? outgoing->peer->session.chunk_bytes
                        : TFRT_TUNING_BULK_READER_PIECE_BYTES;
    piece->state = TFRT_BULK_PIECE_READING;
    piece->is_stale = false;
    piece->offset = reader->next;
    piece->size = (size_t)(left < most ? left : most);
    reader->next += piece->size;
    return piece;
  }
  return NULL;
}

// Calls the source as long as there is room for what it reads. Takes the lock.
static void run_reads(tfrt_task_t* task) {
  tfrt_bulk_reader_t* reader = TFRT_CONTAINER_OF(task, tfrt_bulk_reader_t, task);
  tfrt_bulk_outgoing_t* outgoing = reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(reader);
  tfrt_node_lock_lock(lock);
  for (tfrt_bulk_piece_t* piece; (piece = take_next(reader));) {
    tfrt_node_lock_unlock_and_run(lock);
    tfrt_status_t status =
        reader->source->vtable->read(reader->source, piece->offset, piece->size, &piece->payload);
    if (!status) {
      tfrt_task_initialize(&piece->task, run_ready);
      tfrt_async_value_and_then(piece->payload.ready, &piece->task);
    }
    tfrt_node_lock_lock(lock);
    if (!status) continue;
    piece->state = TFRT_BULK_PIECE_FREE;
    fail(outgoing, status);
    tfrt_status_release(status);
  }
  reader->has_task = false;
  go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

// Begins to read if there is room.
static void reader_start(tfrt_bulk_reader_t* reader) {
  bool has_room = false;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    has_room |= reader->pieces[i].state == TFRT_BULK_PIECE_FREE;
  }
  const tfrt_bulk_outgoing_t* outgoing = reader->outgoing;
  if (reader->has_task || !has_room || outgoing->state != TFRT_BULK_OUTGOING_GOING ||
      outgoing->is_interrupted || reader_lends(reader))
    return;
  if (reader->next == outgoing->encoding.body_size) return;
  reader->has_task = true;
  tfrt_task_initialize(&reader->task, run_reads);
  tfrt_node_lock_defer(lock_of(reader), &reader->task);
}

// Sets |*out_data| to the ready bytes at |offset|, and returns their number.
static uint64_t reader_find(const tfrt_bulk_reader_t* reader, uint64_t offset,
                            const char** out_data) {
  *out_data = NULL;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    const tfrt_bulk_piece_t* piece = &reader->pieces[i];
    if (piece->state != TFRT_BULK_PIECE_READY || piece->is_stale) continue;
    if (offset < piece->offset || offset >= piece->offset + piece->size) continue;
    *out_data = (const char*)piece->payload.data + (offset - piece->offset);
    return piece->offset + piece->size - offset;
  }
  return 0;
}

// Takes the lock.
static void run_release(tfrt_task_t* task) {
  tfrt_bulk_piece_t* piece = TFRT_CONTAINER_OF(task, tfrt_bulk_piece_t, task);
  tfrt_bulk_outgoing_t* outgoing = piece->reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(piece->reader);
  tfrt_payload_piece_deinitialize(&piece->payload);
  tfrt_node_lock_lock(lock);
  piece->state = TFRT_BULK_PIECE_FREE;
  go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

// To be called when no write borrows a piece: gives back the pieces that were sent or are stale.
static void reader_trim(tfrt_bulk_reader_t* reader) {
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    tfrt_bulk_piece_t* piece = &reader->pieces[i];
    bool is_sent = piece->offset + piece->size <= reader->outgoing->offset;
    if (piece->state != TFRT_BULK_PIECE_READY || !(is_sent || piece->is_stale)) continue;
    piece->state = TFRT_BULK_PIECE_RELEASING;
    tfrt_task_initialize(&piece->task, run_release);
    tfrt_node_lock_defer(lock_of(reader), &piece->task);
  }
}

// The transfer goes on at |offset|.
static void reader_move(tfrt_bulk_reader_t* reader, uint64_t offset) {
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) reader->pieces[i].is_stale = true;
  reader->next = offset;
}

// Sets |*out_reader| to a new reader (single owner) for |outgoing|, from its offset on; |source| is
// consumed, unless memory is out.
static tfrt_status_t reader_allocate_take(tfrt_bulk_outgoing_t* outgoing,
                                          tfrt_payload_source_t* source,
                                          tfrt_bulk_reader_t** out_reader) {
  tfrt_bulk_reader_t* reader =
      tfrt_allocator_allocate_zeroed(outgoing->manager->allocator, sizeof(*reader));
  *out_reader = reader;
  if (!reader) return tfrt_status_out_of_memory();
  reader->outgoing = outgoing;
  reader->source = source;
  reader->next = outgoing->offset;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) reader->pieces[i].reader = reader;
  return NULL;
}

// Whether nothing is being read or given back; NULL is idle. If it isn't, the transfer is finished
// later, once it is.
static bool reader_is_idle(const tfrt_bulk_reader_t* reader) {
  if (!reader) return true;
  bool is_idle = !reader->has_task && reader->loan != TFRT_BULK_LOAN_MAKING;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    tfrt_bulk_piece_state_t state = reader->pieces[i].state;
    is_idle &= state == TFRT_BULK_PIECE_FREE || state == TFRT_BULK_PIECE_READY;
  }
  return is_idle;
}

// Frees |reader|, which is idle, with the bytes that it has read; NULL is allowed. Takes no lock,
// and must be called without it.
static void reader_free(tfrt_bulk_reader_t* reader) {
  if (!reader) return;
  for (int i = 0; i < TFRT_BULK_READER_PIECES; ++i) {
    tfrt_payload_piece_deinitialize(&reader->pieces[i].payload);
  }
  if (reader->ticket.ready) tfrt_async_value_release(reader->ticket.ready);
  tfrt_payload_source_destroy(reader->source);
  tfrt_allocator_free(reader->outgoing->manager->allocator, reader, sizeof(*reader));
}

// --- Loans -------------------------------------------------------------------

// The loan of |outgoing| is made, or not because of |status| (+0). Takes the lock.
static void finish_loan(tfrt_bulk_outgoing_t* outgoing, tfrt_status_t status) {
  tfrt_bulk_reader_t* reader = outgoing->reader;
  tfrt_node_lock_t* lock = lock_of(reader);
  if (status) {
    tfrt_log(TFRT_LOG_DEBUG, NULL, "%zu bytes of a %s are not lent but sent: %s",
             outgoing->encoding.body_size, outgoing->type, tfrt_status_message(status));
  }
  tfrt_node_lock_lock(lock);
  reader->loan = status ? TFRT_BULK_LOAN_OVER : TFRT_BULK_LOAN_MADE;
  // An interrupted one, or one that has failed, has its place.
  bool has_place =
      outgoing->state != TFRT_BULK_OUTGOING_GOING || outgoing->is_interrupted || outgoing->failure;
  if (!has_place) place(outgoing);
  go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

static void run_loan_ready(tfrt_task_t* task) {
  tfrt_bulk_reader_t* reader = TFRT_CONTAINER_OF(task, tfrt_bulk_reader_t, loan_task);
  tfrt_async_value_t* ready = reader->ticket.ready;
  finish_loan(reader->outgoing,
              tfrt_async_value_is_error(ready) ? tfrt_async_value_error(ready) : NULL);
}

static void run_loan(tfrt_task_t* task) {
  tfrt_bulk_reader_t* reader = TFRT_CONTAINER_OF(task, tfrt_bulk_reader_t, loan_task);
  tfrt_status_t status = reader->source->vtable->lend(reader->source, &reader->ticket);
  if (status) {
    finish_loan(reader->outgoing, status);
    tfrt_status_release(status);
    return;
  }
  tfrt_task_initialize(&reader->loan_task, run_loan_ready);
  tfrt_async_value_and_then(reader->ticket.ready, &reader->loan_task);
}

// Begins to lend the memory of |outgoing|, if no byte was sent and its peer may have it. Returns
// false if pieces are sent.
static bool begin_loan(tfrt_bulk_outgoing_t* outgoing) {
  tfrt_bulk_reader_t* reader = outgoing->reader;
  const tfrt_bulk_peer_t* peer = outgoing->peer;
  if (!reader || reader->loan != TFRT_BULK_LOAN_NONE || !reader->source->vtable->lend) return false;
  if (outgoing->offset > 0 || outgoing->is_described || !peer->is_here ||
      peer->declines >= TFRT_TUNING_BULK_DECLINES ||
      outgoing->encoding.body_size < peer->manager->options.lend_size) {
    return false;
  }
  reader->loan = TFRT_BULK_LOAN_MAKING;
  tfrt_task_initialize(&reader->loan_task, run_loan);
  tfrt_node_lock_defer(lock_of(reader), &reader->loan_task);
  return true;
}

static bool next_message(tfrt_bulk_peer_t* peer, tfrt_wire_bulk_t* out_message) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->offers);
  if (!link) return false;
  tfrt_bulk_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_bulk_outgoing_t, link);
  tfrt_bulk_reader_t* reader = outgoing->reader;
  const tfrt_encoding_t* encoding = &outgoing->encoding;
  *out_message = (tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_OFFER};
  out_message->offer = (tfrt_wire_offer_t){
      .want = outgoing->want,
      .type = tfrt_string_view_of(outgoing->type),
      .header = tfrt_string_view_make((const char*)encoding->header, encoding->header_size),
      .total_size = encoding->body_size,
      .ticket = tfrt_string_view_make((const char*)reader->ticket.bytes, reader->ticket.size)};
  reader->loan = TFRT_BULK_LOAN_OFFERED;
  outgoing->was_written = true;
  return true;
}

static void on_decline(tfrt_bulk_peer_t* peer, const tfrt_wire_decline_t* decline) {
  tfrt_bulk_outgoing_t* outgoing = find(peer, decline->want);
  if (!outgoing || !outgoing->reader || outgoing->reader->loan != TFRT_BULK_LOAN_OFFERED ||
      outgoing->is_interrupted || outgoing->failure) {
    ++peer->manager->counts.ignored;
    return;
  }
  ++peer->declines;
  outgoing->reader->loan = TFRT_BULK_LOAN_OVER;
  place(outgoing);
  reader_start(outgoing->reader);
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

static tfrt_status_t check_send(tfrt_bulk_manager_t* manager, tfrt_bulk_peer_t* peer,
                                const tfrt_bulk_send_t* send) {
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
static tfrt_status_t create(tfrt_bulk_manager_t* manager, tfrt_bulk_peer_t* peer,
                            const tfrt_bulk_send_t* send, tfrt_bulk_outgoing_t** out_outgoing) {
  *out_outgoing = NULL;
  tfrt_bulk_outgoing_t* outgoing =
      tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*outgoing));
  if (!outgoing) return tfrt_status_out_of_memory();
  tfrt_list_initialize(&outgoing->link);
  outgoing->manager = manager;
  outgoing->peer = peer;
  outgoing->want = send->want;
  outgoing->offset = send->offset;
  outgoing->limit = send->limit;
  outgoing->is_described = send->offset > 0;
  tfrt_list_initialize(&outgoing->stall.link);
  outgoing->stall.arrived = send->offset;
  outgoing->stall.since_ns = TFRT_TIME_INFINITE;
  outgoing->done = send->done;
  outgoing->context = send->context;
  tfrt_status_t status = NULL;
  if (send->source) {
    status = reader_allocate_take(outgoing, send->source, &outgoing->reader);
  }
  if (status) {
    tfrt_allocator_free(manager->allocator, outgoing, sizeof(*outgoing));
    return status;
  }
  outgoing->value = tfrt_async_value_retain(send->value);
  *out_outgoing = outgoing;
  return NULL;
}

tfrt_status_t tfrt_bulk_manager_send(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                     const tfrt_bulk_send_t* send) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  TFRT_RETURN_IF_ERROR(check_send(manager, peer, send));
  tfrt_encoding_t encoding;
  const char* type = NULL;
  TFRT_RETURN_IF_ERROR(encode(send->value, &encoding, &type));
  if (send->offset > encoding.body_size) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "a payload of %zu bytes can't be sent from byte %llu on",
                              encoding.body_size, (unsigned long long)send->offset);
  }
  tfrt_bulk_outgoing_t* outgoing;
  TFRT_RETURN_IF_ERROR(create(manager, peer, send, &outgoing));
  outgoing->type = type;
  outgoing->encoding = encoding;
  tfrt_hash_table_insert(&peer->outgoing, &outgoing->want, &outgoing->by_want);
  ++manager->live;
  ++manager->counts.sending;
  begin_loan(outgoing);
  place(outgoing);
  if (outgoing->reader) reader_start(outgoing->reader);
  tfrt_bulk_peer_need(peer);
  return NULL;
}

// Nothing borrows the value any more. Takes the lock.
static void finish(tfrt_task_t* task) {
  tfrt_bulk_outgoing_t* outgoing = TFRT_CONTAINER_OF(task, tfrt_bulk_outgoing_t, task);
  tfrt_bulk_manager_t* manager = outgoing->manager;
  if (outgoing->done) outgoing->done(outgoing->context, outgoing->result);
  reader_free(outgoing->reader);
  tfrt_async_value_release(outgoing->value);
  tfrt_status_release(outgoing->result);
  tfrt_status_release(outgoing->failure);
  tfrt_allocator_free(manager->allocator, outgoing, sizeof(*outgoing));
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_node_lock_lock(lock);
  --manager->counts.sending;
  tfrt_bulk_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
}

static void finish_if_over(tfrt_bulk_outgoing_t* outgoing) {
  if (outgoing->state != TFRT_BULK_OUTGOING_OVER || outgoing->writes > 0) return;
  if (!reader_is_idle(outgoing->reader)) return;
  outgoing->state = TFRT_BULK_OUTGOING_FINISHING;
  tfrt_task_initialize(&outgoing->task, finish);
  tfrt_node_lock_defer(outgoing->manager->lock, &outgoing->task);
}

// Ends |outgoing| with |status| (+0).
static void end(tfrt_bulk_outgoing_t* outgoing, tfrt_status_t status) {
  bool was_taken = outgoing->reader && outgoing->reader->loan == TFRT_BULK_LOAN_OFFERED;
  if (was_taken) outgoing->peer->declines = 0;
  tfrt_hash_table_remove(&outgoing->peer->outgoing, &outgoing->by_want);
  tfrt_list_remove(&outgoing->link);
  tfrt_list_remove(&outgoing->stall.link);
  outgoing->peer = NULL;
  outgoing->state = TFRT_BULK_OUTGOING_OVER;
  outgoing->result = tfrt_status_retain(status);
  finish_if_over(outgoing);
}

static void end_one(tfrt_bulk_peer_t* peer, uint64_t want, tfrt_status_t status) {
  tfrt_bulk_outgoing_t* outgoing = find(peer, want);
  if (!outgoing) return;
  if (!status) {
    status = tfrt_status_create(TFRT_STATUS_CANCELLED, "no longer wanted");
    end(outgoing, status);
    tfrt_status_release(status);
    return;
  }
  tfrt_bulk_peer_abort_transfer(peer, want, true, status);
  end(outgoing, status);
  tfrt_bulk_channel_pump(peer->channel);
}

static void fail(tfrt_bulk_outgoing_t* outgoing, tfrt_status_t status) {
  if (outgoing->state != TFRT_BULK_OUTGOING_GOING || outgoing->failure) return;
  outgoing->failure = tfrt_status_retain(status);
  place(outgoing);
  tfrt_bulk_channel_pump(outgoing->peer->channel);
}

// --- Chunks ------------------------------------------------------------------

// The bytes at the transfer's offset that can be sent as far as the payload goes: sets |*out_data|.
static uint64_t find_bytes(const tfrt_bulk_outgoing_t* outgoing, const char** out_data) {
  const tfrt_encoding_t* encoding = &outgoing->encoding;
  *out_data = NULL;
  if (outgoing->offset == encoding->body_size) return 0;
  if (outgoing->reader) return reader_find(outgoing->reader, outgoing->offset, out_data);
  *out_data = (const char*)encoding->body + outgoing->offset;
  return encoding->body_size - outgoing->offset;
}

static void place(tfrt_bulk_outgoing_t* outgoing) {
  tfrt_bulk_peer_t* peer = outgoing->peer;
  tfrt_list_remove(&outgoing->link);
  if (outgoing->failure) {
    tfrt_list_push_back(&peer->failed, &outgoing->link);
    return;
  }
  if (outgoing->is_interrupted) {
    tfrt_list_push_back(&peer->interrupted, &outgoing->link);
    return;
  }
  if (reader_lends(outgoing->reader)) {
    if (outgoing->reader->loan == TFRT_BULK_LOAN_MADE) {
      tfrt_list_push_back(&peer->offers, &outgoing->link);
    }
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

// The most bytes that a chunk to |peer| should have: larger ones may get lost (bulk_stall.c).
static uint64_t passing_size(tfrt_bulk_peer_t* peer) {
  tfrt_bulk_chunk_limit_t* limit = &peer->chunks;
  if (limit->bytes == UINT64_MAX) return UINT64_MAX;
  const int64_t now_ns = tfrt_bulk_manager_now_ns(peer->manager);
  if (now_ns - limit->since_ns >= TFRT_TUNING_BULK_CHUNK_LIMIT_NS) {
    // The network may be another one by now.
    const bool is_over = limit->bytes >= peer->session.chunk_bytes;
    limit->bytes = is_over ? UINT64_MAX : 2 * limit->bytes;
    limit->since_ns = now_ns;
  }
  return limit->bytes;
}

// The most bytes of |outgoing| that may go in one chunk.
static uint64_t max_chunk_size(const tfrt_bulk_outgoing_t* outgoing) {
  tfrt_bulk_manager_t* manager = outgoing->peer->manager;
  uint64_t most = min_u64(outgoing->peer->session.chunk_bytes, passing_size(outgoing->peer));
  if (outgoing->encoding.body_size < manager->options.long_size) return most;
  int64_t now_ns = tfrt_bulk_manager_now_ns(manager);
  if (manager->known_frame_count != manager->frame_count) {
    manager->known_frame_count = manager->frame_count;
    manager->polite_until_ns = tfrt_deadline_after(now_ns, TFRT_TUNING_BULK_POLITE_NS);
  }
  return now_ns < manager->polite_until_ns ? min_u64(most, manager->options.polite_chunk_bytes)
                                           : most;
}

tfrt_bulk_outgoing_t* tfrt_bulk_outgoing_next(tfrt_bulk_peer_t* peer, uint64_t max_size,
                                              tfrt_wire_chunk_t* out_chunk) {
  tfrt_bulk_outgoing_t* outgoing = NULL;
  do {
    tfrt_list_link_t* link = tfrt_list_pop_front(&peer->small);
    if (!link) link = tfrt_list_pop_front(&peer->large);
    if (!link) return NULL;
    outgoing = TFRT_CONTAINER_OF(link, tfrt_bulk_outgoing_t, link);
    // Where the peer is, the channel has just told.
  } while (begin_loan(outgoing));
  const tfrt_encoding_t* encoding = &outgoing->encoding;
  const char* data;
  uint64_t end = outgoing->offset + find_bytes(outgoing, &data);
  end = min_u64(end, outgoing->limit);
  end = min_u64(end, outgoing->offset + min_u64(max_size, max_chunk_size(outgoing)));
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
  place(outgoing);
  return outgoing;
}

void tfrt_bulk_outgoing_finish_write(tfrt_bulk_outgoing_t* outgoing) {
  --outgoing->writes;
  if (outgoing->reader && outgoing->writes == 0) reader_trim(outgoing->reader);
  finish_if_over(outgoing);
}

static void go_on(tfrt_bulk_outgoing_t* outgoing) {
  if (outgoing->state != TFRT_BULK_OUTGOING_GOING) {
    finish_if_over(outgoing);
    return;
  }
  if (outgoing->writes == 0) reader_trim(outgoing->reader);
  if (outgoing->failure) return;
  reader_start(outgoing->reader);
  // Keeps its turn, if it has one.
  if (!tfrt_list_is_linked(&outgoing->link)) place(outgoing);
  tfrt_bulk_channel_pump(outgoing->peer->channel);
}

static void on_window(tfrt_bulk_peer_t* peer, const tfrt_wire_window_t* window) {
  tfrt_bulk_outgoing_t* outgoing = find(peer, window->want);
  if (!outgoing) {
    ++peer->manager->counts.ignored;
    return;
  }
  if (window->limit <= outgoing->limit) return;
  outgoing->limit = window->limit;
  tfrt_bulk_stall_note(peer, outgoing, TFRT_BULK_STALL_WINDOW);
  // Keeps its turn, if it has one. An interrupted or failed transfer needs none: its borrower hears
  // of that instead.
  bool has_turn = outgoing->is_interrupted || outgoing->failure;
  if (!has_turn && !tfrt_list_is_linked(&outgoing->link)) place(outgoing);
}

static void on_abort(tfrt_bulk_peer_t* peer, const tfrt_wire_abort_t* abort) {
  tfrt_bulk_outgoing_t* outgoing = find(peer, abort->want);
  if (!outgoing) {
    ++peer->manager->counts.ignored;
    return;
  }
  tfrt_status_t status = tfrt_wire_error_to_status(abort->error);
  end(outgoing, status);
  tfrt_status_release(status);
}

static void on_message(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  tfrt_node_lock_t* lock = channel->manager->lock;
  tfrt_node_lock_lock(lock);
  if (channel->peer && message->body.kind == TFRT_WIRE_BULK_WINDOW) {
    on_window(channel->peer, &message->body.window);
  } else if (channel->peer && message->body.kind == TFRT_WIRE_BULK_DECLINE) {
    on_decline(channel->peer, &message->body.decline);
  } else if (channel->peer) {
    on_abort(channel->peer, &message->body.abort);
  }
  tfrt_bulk_channel_pump(channel);
  tfrt_node_lock_unlock_and_run(lock);
}

// --- Interruption ------------------------------------------------------------

// Ends the sending of |outgoing| with |stalled| (consumed; NULL: nothing). Returns false if that is
// NULL.
static bool take_stall(tfrt_bulk_outgoing_t* outgoing, tfrt_status_t stalled) {
  if (!stalled) return false;
  fail(outgoing, stalled);
  tfrt_status_release(stalled);
  return true;
}

static void interrupt_all(tfrt_bulk_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing); node;
       node = tfrt_hash_table_next(&peer->outgoing, node)) {
    tfrt_bulk_outgoing_t* outgoing = TFRT_CONTAINER_OF(node, tfrt_bulk_outgoing_t, by_want);
    tfrt_status_t stalled = tfrt_bulk_stall_note_lost(outgoing);
    // The borrower hears again of an interrupted or failed one: the earlier message may be lost,
    // too.
    if (take_stall(outgoing, stalled)) continue;
    if (!outgoing->was_written && !outgoing->is_interrupted && !outgoing->failure) continue;
    outgoing->was_written = false;
    outgoing->is_interrupted = true;
    place(outgoing);
  }
  peer->held_since_ns = TFRT_TIME_INFINITE;
}

static tfrt_status_t resume(tfrt_bulk_peer_t* peer, const tfrt_bulk_resumption_t* resumption) {
  const uint64_t offset = resumption->offset;
  tfrt_bulk_outgoing_t* outgoing = find(peer, resumption->old_want);
  if (!outgoing) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "want %llu is not being served",
                              (unsigned long long)resumption->old_want);
  }
  if (offset > outgoing->offset) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "want %llu can't be resumed at byte %llu: %llu bytes were sent",
                              (unsigned long long)resumption->old_want, (unsigned long long)offset,
                              (unsigned long long)outgoing->offset);
  }
  if (find(peer, resumption->want)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "want %llu is served already",
                              (unsigned long long)resumption->want);
  }
  tfrt_hash_table_remove(&peer->outgoing, &outgoing->by_want);
  outgoing->want = resumption->want;
  tfrt_hash_table_insert(&peer->outgoing, &outgoing->want, &outgoing->by_want);
  if (outgoing->failure) {
    // The borrower, which has not heard of it, hears of it under the new number.
    place(outgoing);
    return NULL;
  }
  tfrt_status_t stalled = tfrt_bulk_stall_note_resumed(outgoing, offset, resumption->limit);
  outgoing->offset = offset;
  outgoing->limit = resumption->limit;
  outgoing->is_described = offset > 0;
  outgoing->was_written = false;
  outgoing->is_interrupted = false;
  if (take_stall(outgoing, stalled)) return NULL;
  if (outgoing->reader) {
    // The borrower may never have heard of it. If it has, it declines once more.
    if (outgoing->reader->loan == TFRT_BULK_LOAN_OFFERED) {
      outgoing->reader->loan = TFRT_BULK_LOAN_MADE;
    }
    reader_move(outgoing->reader, offset);
    if (outgoing->writes == 0) reader_trim(outgoing->reader);
    reader_start(outgoing->reader);
  }
  place(outgoing);
  return NULL;
}

static void end_all(tfrt_bulk_peer_t* peer, tfrt_status_t status) {
  for (tfrt_hash_node_t* node; (node = tfrt_hash_table_first(&peer->outgoing));) {
    end(TFRT_CONTAINER_OF(node, tfrt_bulk_outgoing_t, by_want), status);
  }
}

const tfrt_bulk_direction_t tfrt_bulk_outgoing_direction = {on_message, interrupt_all, next_message,
                                                            resume,     end_one,       end_all};
