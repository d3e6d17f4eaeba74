// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/lane_reader.h"

// One is read while one is sent.
#define TFRT_LANE_READER_PIECES 2

typedef enum tfrt_lane_piece_state_e {
  TFRT_LANE_PIECE_FREE = 0,
  TFRT_LANE_PIECE_READING,
  TFRT_LANE_PIECE_READY,
  TFRT_LANE_PIECE_RELEASING,
} tfrt_lane_piece_state_t;

typedef struct tfrt_lane_piece_s {
  tfrt_lane_reader_t* reader;
  tfrt_lane_piece_state_t state;
  bool is_stale;  // nobody is going to send it
  uint64_t offset;
  size_t size;
  tfrt_payload_piece_t payload;
  tfrt_task_t task;
} tfrt_lane_piece_t;

struct tfrt_lane_reader_s {
  tfrt_lane_outgoing_t* outgoing;
  tfrt_payload_source_t* source;  // owned
  uint64_t next;                  // the first byte that was not asked for
  bool has_task;
  tfrt_task_t task;  // calls the source
  tfrt_lane_piece_t pieces[TFRT_LANE_READER_PIECES];
};

static tfrt_node_lock_t* lock_of(const tfrt_lane_reader_t* reader) {
  return reader->outgoing->manager->lock;
}

// --- Reading -----------------------------------------------------------------

// Runs when the bytes of a piece are here, or don't come. Takes the lock.
static void run_ready(tfrt_task_t* task) {
  tfrt_lane_piece_t* piece = TFRT_CONTAINER_OF(task, tfrt_lane_piece_t, task);
  tfrt_lane_outgoing_t* outgoing = piece->reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(piece->reader);
  tfrt_node_lock_lock(lock);
  piece->state = TFRT_LANE_PIECE_READY;
  if (tfrt_async_value_is_error(piece->payload.ready)) {
    tfrt_lane_outgoing_fail(outgoing, tfrt_async_value_error(piece->payload.ready));
  }
  tfrt_lane_outgoing_go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

// The piece that is to be read next, or NULL; takes its part of the payload.
static tfrt_lane_piece_t* take_next(tfrt_lane_reader_t* reader) {
  const tfrt_lane_outgoing_t* outgoing = reader->outgoing;
  uint64_t left = outgoing->encoding.body_size - reader->next;
  bool is_needed = outgoing->state == TFRT_LANE_OUTGOING_GOING && !outgoing->is_interrupted &&
                   !outgoing->failure;
  if (!is_needed || left == 0) return NULL;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    tfrt_lane_piece_t* piece = &reader->pieces[i];
    if (piece->state != TFRT_LANE_PIECE_FREE) continue;
    uint64_t most = outgoing->peer->session.chunk_bytes;
    piece->state = TFRT_LANE_PIECE_READING;
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
  tfrt_lane_reader_t* reader = TFRT_CONTAINER_OF(task, tfrt_lane_reader_t, task);
  tfrt_lane_outgoing_t* outgoing = reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(reader);
  tfrt_node_lock_lock(lock);
  for (tfrt_lane_piece_t* piece; (piece = take_next(reader));) {
    tfrt_node_lock_unlock_and_run(lock);
    tfrt_status_t status =
        reader->source->vtable->read(reader->source, piece->offset, piece->size, &piece->payload);
    if (!status) {
      tfrt_task_initialize(&piece->task, run_ready);
      tfrt_async_value_and_then(piece->payload.ready, &piece->task);
    }
    tfrt_node_lock_lock(lock);
    if (!status) continue;
    piece->state = TFRT_LANE_PIECE_FREE;
    tfrt_lane_outgoing_fail(outgoing, status);
    tfrt_status_release(status);
  }
  reader->has_task = false;
  tfrt_lane_outgoing_go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

void tfrt_lane_reader_start(tfrt_lane_reader_t* reader) {
  bool has_room = false;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    has_room |= reader->pieces[i].state == TFRT_LANE_PIECE_FREE;
  }
  const tfrt_lane_outgoing_t* outgoing = reader->outgoing;
  if (reader->has_task || !has_room || outgoing->state != TFRT_LANE_OUTGOING_GOING ||
      outgoing->is_interrupted)
    return;
  if (reader->next == outgoing->encoding.body_size) return;
  reader->has_task = true;
  tfrt_task_initialize(&reader->task, run_reads);
  tfrt_node_lock_defer(lock_of(reader), &reader->task);
}

uint64_t tfrt_lane_reader_find(const tfrt_lane_reader_t* reader, uint64_t offset,
                               const char** out_data) {
  *out_data = NULL;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    const tfrt_lane_piece_t* piece = &reader->pieces[i];
    if (piece->state != TFRT_LANE_PIECE_READY || piece->is_stale) continue;
    if (offset < piece->offset || offset >= piece->offset + piece->size) continue;
    *out_data = (const char*)piece->payload.data + (offset - piece->offset);
    return piece->offset + piece->size - offset;
  }
  return 0;
}

// --- Giving back -------------------------------------------------------------

// Takes the lock.
static void run_release(tfrt_task_t* task) {
  tfrt_lane_piece_t* piece = TFRT_CONTAINER_OF(task, tfrt_lane_piece_t, task);
  tfrt_lane_outgoing_t* outgoing = piece->reader->outgoing;
  tfrt_node_lock_t* lock = lock_of(piece->reader);
  tfrt_payload_piece_deinitialize(&piece->payload);
  tfrt_node_lock_lock(lock);
  piece->state = TFRT_LANE_PIECE_FREE;
  tfrt_lane_outgoing_go_on(outgoing);
  tfrt_node_lock_unlock_and_run(lock);
}

void tfrt_lane_reader_trim(tfrt_lane_reader_t* reader) {
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    tfrt_lane_piece_t* piece = &reader->pieces[i];
    bool is_sent = piece->offset + piece->size <= reader->outgoing->offset;
    if (piece->state != TFRT_LANE_PIECE_READY || !(is_sent || piece->is_stale)) continue;
    piece->state = TFRT_LANE_PIECE_RELEASING;
    tfrt_task_initialize(&piece->task, run_release);
    tfrt_node_lock_defer(lock_of(reader), &piece->task);
  }
}

void tfrt_lane_reader_move(tfrt_lane_reader_t* reader, uint64_t offset) {
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) reader->pieces[i].is_stale = true;
  reader->next = offset;
}

// --- Life --------------------------------------------------------------------

tfrt_status_t tfrt_lane_reader_allocate_take(tfrt_lane_outgoing_t* outgoing,
                                             tfrt_payload_source_t* source,
                                             tfrt_lane_reader_t** out_reader) {
  tfrt_lane_reader_t* reader =
      tfrt_allocator_allocate_zeroed(outgoing->manager->allocator, sizeof(*reader));
  *out_reader = reader;
  if (!reader) return tfrt_status_out_of_memory();
  reader->outgoing = outgoing;
  reader->source = source;
  reader->next = outgoing->offset;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) reader->pieces[i].reader = reader;
  return NULL;
}

bool tfrt_lane_reader_is_idle(const tfrt_lane_reader_t* reader) {
  if (!reader) return true;
  bool is_idle = !reader->has_task;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    tfrt_lane_piece_state_t state = reader->pieces[i].state;
    is_idle &= state == TFRT_LANE_PIECE_FREE || state == TFRT_LANE_PIECE_READY;
  }
  return is_idle;
}

void tfrt_lane_reader_free(tfrt_lane_reader_t* reader) {
  if (!reader) return;
  for (int i = 0; i < TFRT_LANE_READER_PIECES; ++i) {
    tfrt_payload_piece_deinitialize(&reader->pieces[i].payload);
  }
  tfrt_payload_source_destroy(reader->source);
  tfrt_allocator_free(reader->outgoing->manager->allocator, reader, sizeof(*reader));
}
