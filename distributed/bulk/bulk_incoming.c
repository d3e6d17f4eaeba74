// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdint.h>
#include <sys/mman.h>

#include "distributed/bulk/bulk_impl.h"
#include "distributed/bulk/crc32c.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"

static tfrt_bulk_incoming_t* find(tfrt_bulk_peer_t* peer, uint64_t want) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->incoming, &want);
  return node ? TFRT_CONTAINER_OF(node, tfrt_bulk_incoming_t, by_want) : NULL;
}

static tfrt_bulk_transfer_t name_of(const tfrt_bulk_peer_t* peer, uint64_t want) {
  return (tfrt_bulk_transfer_t){peer->session.incarnation, peer->session.session, want};
}

// --- Begin and end -----------------------------------------------------------

// Makes a busy one for |want| of |total_size| bytes; NULL when memory is out.
static tfrt_bulk_incoming_t* create(tfrt_bulk_peer_t* peer, uint64_t want, uint64_t total_size) {
  tfrt_bulk_manager_t* manager = peer->manager;
  tfrt_bulk_incoming_t* incoming =
      tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*incoming));
  if (!incoming) return NULL;
  tfrt_list_initialize(&incoming->link);
  tfrt_list_initialize(&incoming->pieces);
  incoming->manager = manager;
  incoming->peer = peer;
  incoming->name = name_of(peer, want);
  incoming->total_size = total_size;
  incoming->granted = manager->options.window_size;
  incoming->limit = incoming->granted;
  incoming->is_busy = true;
  tfrt_hash_table_insert(&peer->incoming, &incoming->name.want, &incoming->by_want);
  ++manager->live;
  ++manager->counts.receiving;
  tfrt_bulk_peer_watch(peer);
  return incoming;
}

static void forget(tfrt_bulk_incoming_t* incoming) {
  tfrt_hash_table_remove(&incoming->peer->incoming, &incoming->by_want);
  tfrt_list_remove(&incoming->link);
  incoming->peer = NULL;
}

// Bytes that were received, on their way from there to where they belong. The manager lives until
// they are there.
typedef struct tfrt_bulk_piece_s {
  tfrt_list_link_t link;
  tfrt_task_t task;
  tfrt_bulk_manager_t* manager;
  tfrt_bulk_incoming_t* incoming;  // NULL: that is over
  uint64_t size;
  tfrt_async_value_t* stored;  // +1
} tfrt_bulk_piece_t;

// Gives back |incoming|, which is in no table. Takes the lock.
static void free_incoming(tfrt_bulk_incoming_t* incoming) {
  tfrt_bulk_manager_t* manager = incoming->manager;
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_node_lock_lock(lock);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&incoming->pieces));) {
    TFRT_CONTAINER_OF(l, tfrt_bulk_piece_t, link)->incoming = NULL;
    ++manager->counts.receiving;
  }
  tfrt_status_release(incoming->result);
  tfrt_allocator_free(manager->allocator, incoming, sizeof(*incoming));
  --manager->counts.receiving;
  tfrt_bulk_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
}

// Reports to the handler the events that happened meanwhile to |incoming|, which is busy for that.
// Takes the lock.
static void tell(tfrt_task_t* task) {
  tfrt_bulk_incoming_t* incoming = TFRT_CONTAINER_OF(task, tfrt_bulk_incoming_t, task);
  tfrt_bulk_manager_t* manager = incoming->manager;
  tfrt_bulk_handler_t* handler = manager->handler;
  tfrt_node_lock_lock(manager->lock);
  bool is_over = incoming->state == TFRT_BULK_INCOMING_OVER;
  if (is_over && incoming->is_making_room) {
    incoming->is_busy = false;
    tfrt_node_lock_unlock_and_run(manager->lock);
    return;
  }
  tfrt_bulk_transfer_t name = incoming->name;
  uint64_t offset = incoming->received;
  if (incoming->interruption == TFRT_BULK_INTERRUPTED) {
    incoming->interruption = TFRT_BULK_INTERRUPTED_TOLD;
  }
  // Not busy during interrupted(): inside, the handler resumes the transfer, whose next chunk may
  // come before interrupted() returns.
  incoming->is_busy = is_over;
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (!is_over) {
    handler->vtable->interrupted(handler, &name, offset);
    return;
  }
  if (incoming->must_tell_end) {
    handler->vtable->aborted(handler, &name, incoming->sink.context, incoming->result);
  }
  free_incoming(incoming);
}

// The worker on |incoming| is done: schedules a task for the reports that became due meanwhile.
static void settle(tfrt_bulk_incoming_t* incoming) {
  // A transfer that is resumed has its whole window again.
  bool tells = incoming->interruption == TFRT_BULK_INTERRUPTED && incoming->storing == 0;
  // The handler hears of the end only when nobody works on the buffer.
  bool is_over = incoming->state == TFRT_BULK_INCOMING_OVER;
  incoming->is_busy = is_over ? !incoming->is_making_room : tells;
  if (!incoming->is_busy) return;
  tfrt_task_initialize(&incoming->task, tell);
  tfrt_node_lock_defer(incoming->manager->lock, &incoming->task);
}

// Ends |incoming| with |status| (+0).
static void end(tfrt_bulk_incoming_t* incoming, tfrt_status_t status) {
  forget(incoming);
  // The thread that has filled it doesn't come back to it.
  if (incoming->state == TFRT_BULK_INCOMING_FILLED) incoming->is_busy = false;
  incoming->state = TFRT_BULK_INCOMING_OVER;
  incoming->result = tfrt_status_retain(status);
  if (!incoming->is_busy) settle(incoming);
}

static void end_one(tfrt_bulk_peer_t* peer, uint64_t want, tfrt_status_t status) {
  tfrt_bulk_incoming_t* incoming = find(peer, want);
  if (!incoming) return;
  tfrt_status_t reason = status ? tfrt_status_retain(status)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "no longer wanted");
  end(incoming, reason);
  tfrt_status_release(reason);
}

tfrt_bulk_traffic_t tfrt_bulk_manager_traffic(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                              uint64_t want) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  const tfrt_bulk_incoming_t* incoming = peer ? find(peer, want) : NULL;
  tfrt_bulk_traffic_t traffic = peer ? peer->traffic : (tfrt_bulk_traffic_t){0};
  traffic.of_want = incoming ? incoming->received : 0;
  traffic.heard_ns = peer ? peer->heard_ns : 0;
  return traffic;
}

// --- Interruption ------------------------------------------------------------

static void interrupt(tfrt_bulk_incoming_t* incoming) {
  if (incoming->interruption != TFRT_BULK_NOT_INTERRUPTED) return;
  incoming->interruption = TFRT_BULK_INTERRUPTED;
  tfrt_list_remove(&incoming->link);
  if (!incoming->is_busy) settle(incoming);
}

static void interrupt_all(tfrt_bulk_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming); node;
       node = tfrt_hash_table_next(&peer->incoming, node)) {
    interrupt(TFRT_CONTAINER_OF(node, tfrt_bulk_incoming_t, by_want));
  }
}

static tfrt_status_t resume(tfrt_bulk_peer_t* peer, const tfrt_bulk_resumption_t* resumption) {
  tfrt_bulk_incoming_t* incoming = find(peer, resumption->old_want);
  if (!incoming || incoming->interruption == TFRT_BULK_NOT_INTERRUPTED) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "want %" PRIu64 " was not interrupted",
                              resumption->old_want);
  }
  if (find(peer, resumption->want)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "want %" PRIu64 " is being served",
                              resumption->want);
  }
  tfrt_hash_table_remove(&peer->incoming, &incoming->by_want);
  incoming->name.want = resumption->want;
  tfrt_hash_table_insert(&peer->incoming, &incoming->name.want, &incoming->by_want);
  incoming->interruption = TFRT_BULK_NOT_INTERRUPTED;
  incoming->granted = incoming->received + peer->manager->options.window_size;
  return NULL;
}

// --- Room ----------------------------------------------------------------------
//
// Memory for a large payload is made ready ahead of its bytes. The first touch of a page can take
// longer than all other work on its bytes, on a virtual machine many times longer. The thread that
// copies also reads for the whole process, so calls would wait behind it. So another thread touches
// the pages, and the owner is granted no byte whose page is not there.
//
//   body   [ received | granted | ready ....... | not there ]
//                               `-- at most TFRT_TUNING_BULK_ROOM_WINDOWS windows before the
//                               received
//
// The first window needs no room: its bytes were granted before there was a buffer. While the
// thread works, the transfer's buffer stays. Without a thread that makes memory ready, all of it
// counts as ready.

#define PAGE_SIZE ((size_t)4096)

// There is more room for |incoming|; nothing if it is over.
static void on_room(tfrt_bulk_incoming_t* incoming);

// Nobody makes room for |incoming| any more: if it is over, schedules the report of its end.
// Returns true if it is complete; then the caller reports that and frees it.
static bool leave_room(tfrt_bulk_incoming_t* incoming);

// Tells the handler that |incoming| is complete, and frees it. Takes the lock.
static void complete(tfrt_bulk_incoming_t* incoming);

// Has the system provide all whole pages of the |size| bytes at |begin| before it returns. The
// contents stay, and other threads may read and write them meanwhile.
static void prefault(void* begin, size_t size) {
#ifdef MADV_POPULATE_WRITE
  const size_t skipped = (PAGE_SIZE - (uintptr_t)begin % PAGE_SIZE) % PAGE_SIZE;
  if (size < skipped + PAGE_SIZE) return;
  // Systems before Linux 5.14 refuse.
  (void)madvise((char*)begin + skipped, (size - skipped) / PAGE_SIZE * PAGE_SIZE,
                MADV_POPULATE_WRITE);
#else
  (void)begin, (void)size;
#endif
}

static uint64_t ahead(const tfrt_bulk_incoming_t* incoming) {
  return TFRT_TUNING_BULK_ROOM_WINDOWS * incoming->manager->options.window_size;
}

// The bytes that are to be made ready next; 0: none, or not yet.
static uint64_t next_step(const tfrt_bulk_incoming_t* incoming) {
  if (incoming->state != TFRT_BULK_INCOMING_RECEIVING ||
      incoming->interruption != TFRT_BULK_NOT_INTERRUPTED) {
    return 0;
  }
  if (incoming->ready >= incoming->received + ahead(incoming)) return 0;
  uint64_t left = incoming->total_size - incoming->ready;
  uint64_t step = (incoming->manager->options.window_size + 1) / 2;
  return left < step ? left : step;
}

// Makes room, step by step. Takes the lock.
static void run_room(tfrt_task_t* task) {
  tfrt_bulk_incoming_t* incoming = TFRT_CONTAINER_OF(task, tfrt_bulk_incoming_t, room_task);
  tfrt_bulk_manager_t* manager = incoming->manager;
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_node_lock_lock(lock);
  for (uint64_t step; (step = next_step(incoming)) > 0;) {
    uint64_t begin = incoming->ready;
    tfrt_node_lock_unlock_and_run(lock);
    prefault((char*)incoming->sink.body + begin, step);
    tfrt_node_lock_lock(lock);
    // A resumed transfer may have been granted more meanwhile.
    if (incoming->ready < begin + step) incoming->ready = begin + step;
    on_room(incoming);
  }
  incoming->is_making_room = false;
  bool is_complete = leave_room(incoming);
  tfrt_bulk_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
  if (is_complete) complete(incoming);
}

static void start_room(tfrt_bulk_incoming_t* incoming) {
  tfrt_bulk_manager_t* manager = incoming->manager;
  incoming->is_making_room = true;
  ++manager->live;
  tfrt_task_initialize(&incoming->room_task, run_room);
  if (tfrt_work_queue_add_blocking_task(manager->options.work_queue, &incoming->room_task, false)) {
    return;
  }
  incoming->is_making_room = false;
  --manager->live;  // not the last one: that is |incoming|'s own
  incoming->ready = incoming->total_size;
}

// Returns the offset up to which bytes of |incoming| may be granted, when |stored| bytes are
// stored; UINT64_MAX when no byte waits for room. Begins to make more memory ready, if it is time.
static uint64_t reserve_room(tfrt_bulk_incoming_t* incoming, uint64_t stored) {
  const tfrt_bulk_options_t* options = &incoming->manager->options;
  if (!options->work_queue || !incoming->sink.body || incoming->total_size < options->room_size) {
    return UINT64_MAX;
  }
  if (incoming->ready < incoming->granted) incoming->ready = incoming->granted;
  bool is_low = incoming->ready < stored + ahead(incoming) / 2;
  if (is_low && !incoming->is_making_room && incoming->ready < incoming->total_size) {
    start_room(incoming);
  }
  return incoming->ready < incoming->total_size ? incoming->ready : UINT64_MAX;
}

// --- Storing -----------------------------------------------------------------

// Grants more when half of the window is used up, so that the owner never waits for it on a
// healthy network, as far as there is room. Bytes that aren't stored yet count as part of the
// window.
static void grant(tfrt_bulk_incoming_t* incoming) {
  uint64_t window = incoming->manager->options.window_size;
  // A piece counts as on its way a moment before it counts as received.
  uint64_t stored =
      incoming->received > incoming->storing ? incoming->received - incoming->storing : 0;
  if (incoming->interruption != TFRT_BULK_NOT_INTERRUPTED ||
      incoming->granted >= incoming->total_size)
    return;
  uint64_t room = reserve_room(incoming, stored);
  if (incoming->granted - stored > window / 2) return;
  uint64_t limit = stored + window < room ? stored + window : room;
  if (limit <= incoming->granted) return;
  incoming->granted = limit;
  if (!tfrt_list_is_linked(&incoming->link)) {
    tfrt_list_push_back(&incoming->peer->windows, &incoming->link);
  }
}

// A piece is stored: the owner may send as much more.
static void note_stored(tfrt_bulk_incoming_t* incoming, uint64_t size) {
  incoming->storing -= size;
  if (incoming->interruption != TFRT_BULK_NOT_INTERRUPTED) {
    if (!incoming->is_busy && incoming->state != TFRT_BULK_INCOMING_OVER) settle(incoming);
  } else if (incoming->peer) {
    grant(incoming);
    tfrt_bulk_channel_pump(incoming->peer->channel);
  }
}

// Errors are the sink's to report, when it is finished. Takes the lock.
static void run_stored(tfrt_task_t* task) {
  tfrt_bulk_piece_t* piece = TFRT_CONTAINER_OF(task, tfrt_bulk_piece_t, task);
  tfrt_bulk_manager_t* manager = piece->manager;
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_async_value_release(piece->stored);
  tfrt_node_lock_lock(lock);
  if (piece->incoming) {
    tfrt_list_remove(&piece->link);
    note_stored(piece->incoming, piece->size);
  } else {
    --manager->counts.receiving;
  }
  tfrt_allocator_free(manager->allocator, piece, sizeof(*piece));
  tfrt_bulk_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
}

// Counts |size| bytes of the busy |incoming| as on their way until |stored| (consumed) is
// available. Takes the lock.
static tfrt_status_t await_stored(tfrt_bulk_incoming_t* incoming, uint64_t size,
                                  tfrt_async_value_t* stored) {
  tfrt_bulk_manager_t* manager = incoming->manager;
  tfrt_bulk_piece_t* piece = tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*piece));
  if (!piece) {
    tfrt_async_value_release(stored);
    return tfrt_status_out_of_memory();
  }
  piece->manager = manager;
  piece->incoming = incoming;
  piece->size = size;
  piece->stored = stored;
  tfrt_task_initialize(&piece->task, run_stored);
  tfrt_node_lock_lock(manager->lock);
  incoming->storing += size;
  tfrt_list_push_back(&incoming->pieces, &piece->link);
  ++manager->live;
  tfrt_node_lock_unlock_and_run(manager->lock);
  tfrt_async_value_and_then(stored, &piece->task);
  return NULL;
}

// --- Chunks ------------------------------------------------------------------

// Checks that |chunk| fits the state of the busy |incoming|. Without the lock.
static tfrt_status_t check_chunk(const tfrt_bulk_incoming_t* incoming,
                                 const tfrt_wire_chunk_t* chunk, bool is_first) {
  uint64_t behind = chunk->offset + chunk->payload.size;
  const char* mistake = NULL;
  // After an Offer that was declined, or that an interruption has cut short, it is described again.
  if (chunk->type.size > 0 && !is_first && incoming->received > 0) mistake = "described twice";
  if (chunk->type.size > 0 && chunk->total_size != incoming->total_size) {
    mistake = "of another size than before";
  }
  if (chunk->offset != incoming->received) mistake = "not the byte that comes next";
  if (behind > incoming->total_size) mistake = "behind the payload's end";
  if (behind > incoming->limit) mistake = "beyond the credit";
  if (chunk->last != (behind == incoming->total_size)) mistake = "a wrong mark of the last chunk";
  if (chunk->payload.size == 0 && !chunk->last) mistake = "empty";
  if (!mistake) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "chunk of want %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64
                            " of %" PRIu64 ", %" PRIu64 " received: %s",
                            chunk->want, chunk->offset, behind, incoming->total_size,
                            incoming->received, mistake);
}

// Copies the payload of a chunk to |target|, which has room for it, and returns its CRC-32C if
// |wants_checksum|, else 0. Without the lock.
static uint32_t copy_payload(const tfrt_bulk_message_t* message, void* target,
                             bool wants_checksum) {
  size_t skipped = message->payload_offset;
  size_t left = message->body.chunk.payload.size;
  uint8_t* out = target;
  uint32_t crc = 0;
  for (size_t i = 0; i < message->span_count && left > 0; ++i) {
    const tfrt_transport_span_t* span = &message->spans[i];
    if (skipped >= span->size) {
      skipped -= span->size;
      continue;
    }
    size_t part = span->size - skipped < left ? span->size - skipped : left;
    memcpy(out, (const uint8_t*)span->data + skipped, part);
    if (wants_checksum) crc = tfrt_crc32c_extend(crc, out, part);
    out += part;
    left -= part;
    skipped = 0;
  }
  return crc;
}

static tfrt_status_t copy(tfrt_bulk_incoming_t* incoming, const tfrt_bulk_message_t* message) {
  const tfrt_wire_chunk_t* chunk = &message->body.chunk;
  bool is_checked = chunk->checksum_kind == TFRT_WIRE_CHECKSUM_CRC32C;
  uint32_t checksum = 0;
  tfrt_payload_sink_t* stream = chunk->payload.size > 0 ? incoming->sink.stream : NULL;
  void* target = NULL;
  if (stream) {
    TFRT_RETURN_IF_ERROR(
        stream->vtable->prepare(stream, chunk->offset, chunk->payload.size, &target));
  } else if (chunk->payload.size > 0) {
    target = (uint8_t*)incoming->sink.body + chunk->offset;
  }
  if (target) checksum = copy_payload(message, target, is_checked);
  if (!is_checked || checksum == chunk->checksum) {
    if (!stream) return NULL;
    tfrt_async_value_t* stored;
    TFRT_RETURN_IF_ERROR(stream->vtable->commit(stream, &stored));
    uint64_t size = incoming->held + chunk->payload.size;
    incoming->held = stored ? 0 : size;
    return stored ? await_stored(incoming, size, stored) : NULL;
  }
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS,
                            "chunk of want %" PRIu64 " at byte %" PRIu64
                            ": checksum %08x, computed %08x",
                            chunk->want, chunk->offset, chunk->checksum, checksum);
}

// Asks the handler for a place for the busy |incoming|. Without the lock.
static tfrt_status_t begin_sink(tfrt_bulk_incoming_t* incoming, tfrt_string_view_t type,
                                tfrt_string_view_t header) {
  tfrt_bulk_handler_t* handler = incoming->manager->handler;
  const tfrt_bulk_transfer_t name = incoming->name;
  TFRT_RETURN_IF_ERROR(
      handler->vtable->begin(handler, &name, type, header, incoming->total_size, &incoming->sink));
  incoming->must_tell_end = true;
  return NULL;
}

// Makes room for, checks and copies the chunk of the busy |incoming|. Without the lock. The handler
// is asked first: about a transfer that nobody waits for nothing is said, whatever it sends.
static tfrt_status_t receive(tfrt_bulk_incoming_t* incoming, const tfrt_bulk_message_t* message,
                             bool is_first) {
  const tfrt_wire_chunk_t* chunk = &message->body.chunk;
  if (is_first) TFRT_RETURN_IF_ERROR(begin_sink(incoming, chunk->type, chunk->header));
  TFRT_RETURN_IF_ERROR(check_chunk(incoming, chunk, is_first));
  return copy(incoming, message);
}

// The busy |incoming| has taken |size| bytes, or failed with |status| (+0). Returns true if it is
// complete; the caller then reports that and frees it.
static bool note_received(tfrt_bulk_incoming_t* incoming, size_t size, tfrt_status_t status) {
  if (!tfrt_status_is_ok(status) && incoming->state != TFRT_BULK_INCOMING_OVER) {
    tfrt_bulk_peer_t* peer = incoming->peer;
    if (tfrt_status_code(status) == TFRT_STATUS_NOT_FOUND) {
      ++incoming->manager->counts.ignored;
    } else {
      tfrt_bulk_peer_abort_transfer(peer, incoming->name.want, false, status);
    }
    end(incoming, status);
    tfrt_bulk_channel_pump(peer->channel);
  }
  if (incoming->state != TFRT_BULK_INCOMING_OVER) {
    incoming->received += size;
    if (incoming->received == incoming->total_size) {
      incoming->state = TFRT_BULK_INCOMING_FILLED;
      if (!incoming->is_making_room) forget(incoming);
      return !incoming->is_making_room;
    }
    tfrt_bulk_peer_t* peer = incoming->peer;
    grant(incoming);
    tfrt_bulk_channel_pump(peer->channel);
  }
  settle(incoming);
  return false;
}

// The transfer |want|, made busy, or NULL if what came of it is late. If it |describes| a payload
// of |total_size| bytes, there may be none yet. Sets |*out_status| (+1) when there is no memory for
// a new one.
static tfrt_bulk_incoming_t* open_transfer(tfrt_bulk_peer_t* peer, uint64_t want, bool describes,
                                           uint64_t total_size, bool* out_is_first,
                                           tfrt_status_t* out_status) {
  tfrt_bulk_incoming_t* incoming = find(peer, want);
  *out_is_first = !incoming;
  if (incoming && incoming->interruption == TFRT_BULK_NOT_INTERRUPTED && !incoming->is_busy) {
    incoming->is_busy = true;
    // The owner has not waited for the Decline, or begins anew.
    incoming->borrowing = TFRT_BULK_NOT_BORROWING;
    incoming->limit = incoming->granted;
    return incoming;
  }
  if (incoming || !describes) {
    ++peer->manager->counts.ignored;
    return NULL;
  }
  incoming = create(peer, want, total_size);
  if (!incoming) {
    *out_status = tfrt_status_out_of_memory();
    tfrt_bulk_peer_abort_transfer(peer, want, false, *out_status);
    tfrt_bulk_channel_pump(peer->channel);
  }
  return incoming;
}

// A message about |want| came: returns its transfer, busy now, or NULL. The handler hears of one
// that can't begin. Takes the lock.
static tfrt_bulk_incoming_t* enter(tfrt_bulk_channel_t* channel, uint64_t want, bool describes,
                                   uint64_t total_size, bool* out_is_first) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_bulk_handler_t* handler = manager->handler;
  tfrt_bulk_incoming_t* incoming = NULL;
  tfrt_bulk_transfer_t name = {0};
  tfrt_status_t status = NULL;
  *out_is_first = false;
  tfrt_node_lock_lock(manager->lock);
  if (channel->peer) {
    name = name_of(channel->peer, want);
    incoming = open_transfer(channel->peer, want, describes, total_size, out_is_first, &status);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (status) handler->vtable->aborted(handler, &name, NULL, status);
  tfrt_status_release(status);
  return incoming;
}

// The busy |incoming| has |size| bytes more, or fails because of |status| (consumed). Takes the
// lock.
static void leave(tfrt_bulk_incoming_t* incoming, uint64_t size, tfrt_status_t status) {
  tfrt_node_lock_t* lock = incoming->manager->lock;
  tfrt_node_lock_lock(lock);
  bool is_complete = note_received(incoming, size, status);
  tfrt_node_lock_unlock_and_run(lock);
  tfrt_status_release(status);
  if (is_complete) complete(incoming);
}

static void on_chunk(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  const tfrt_wire_chunk_t* chunk = &message->body.chunk;
  bool describes = chunk->type.size > 0 && chunk->offset == 0;
  bool is_first;
  tfrt_bulk_incoming_t* incoming =
      enter(channel, chunk->want, describes, chunk->total_size, &is_first);
  if (incoming) leave(incoming, chunk->payload.size, receive(incoming, message, is_first));
}

static void complete(tfrt_bulk_incoming_t* incoming) {
  tfrt_bulk_handler_t* handler = incoming->manager->handler;
  handler->vtable->complete(handler, &incoming->name, incoming->sink.context);
  free_incoming(incoming);
}

// --- Offers ------------------------------------------------------------------

// The busy |incoming| has all bytes, or can't have them because of |status| (+0). Returns true if
// it is complete.
static bool note_fetched(tfrt_bulk_incoming_t* incoming, tfrt_status_t status) {
  tfrt_async_value_release(incoming->fetched);
  incoming->fetched = NULL;
  incoming->borrowing = TFRT_BULK_NOT_BORROWING;
  if (incoming->state == TFRT_BULK_INCOMING_OVER) {
    settle(incoming);
    return false;
  }
  tfrt_bulk_peer_t* peer = incoming->peer;
  if (!status) {
    if (TFRT_COUNTERS) peer->traffic.borrowed += incoming->total_size;
    incoming->received = incoming->total_size;
    incoming->state = TFRT_BULK_INCOMING_FILLED;
    forget(incoming);
    return true;
  }
  if (incoming->interruption == TFRT_BULK_NOT_INTERRUPTED) {
    incoming->borrowing = TFRT_BULK_DECLINING;
    tfrt_list_push_back(&peer->windows, &incoming->link);
  }
  settle(incoming);
  tfrt_bulk_channel_pump(peer->channel);
  return false;
}

// Takes the lock.
static void run_fetched(tfrt_task_t* task) {
  tfrt_bulk_incoming_t* incoming = TFRT_CONTAINER_OF(task, tfrt_bulk_incoming_t, fetch_task);
  tfrt_node_lock_t* lock = incoming->manager->lock;
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(incoming->fetched)) {
    status = tfrt_status_retain(tfrt_async_value_error(incoming->fetched));
    tfrt_log(TFRT_LOG_DEBUG, NULL, "%llu bytes are not borrowed but sent: %s",
             (unsigned long long)incoming->total_size, tfrt_status_message(status));
  }
  tfrt_node_lock_lock(lock);
  bool is_complete = note_fetched(incoming, status);
  tfrt_node_lock_unlock_and_run(lock);
  tfrt_status_release(status);
  if (is_complete) complete(incoming);
}

// Has the sink of the busy |incoming| fetch what |offer| names. Without the lock.
static tfrt_status_t fetch(tfrt_bulk_incoming_t* incoming, const tfrt_wire_offer_t* offer,
                           bool is_first) {
  if (is_first) TFRT_RETURN_IF_ERROR(begin_sink(incoming, offer->type, offer->header));
  if (incoming->received > 0 || offer->total_size != incoming->total_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an Offer of %" PRIu64 " bytes for want %" PRIu64
                              ", which has %" PRIu64 " of %" PRIu64 " bytes already",
                              offer->total_size, offer->want, incoming->received,
                              incoming->total_size);
  }
  tfrt_payload_sink_t* stream = incoming->sink.stream;
  incoming->borrowing = TFRT_BULK_BORROWING;
  incoming->fetched =
      stream && stream->vtable->fetch
          ? stream->vtable->fetch(stream, offer->ticket.data, offer->ticket.size)
          : tfrt_async_value_create_error_take(tfrt_status_create(
                TFRT_STATUS_UNIMPLEMENTED, "memory is offered for a payload that can't take it"));
  tfrt_task_initialize(&incoming->fetch_task, run_fetched);
  tfrt_async_value_and_then(incoming->fetched, &incoming->fetch_task);
  return NULL;
}

static void on_offer(tfrt_bulk_channel_t* channel, const tfrt_wire_offer_t* offer) {
  bool is_first;
  tfrt_bulk_incoming_t* incoming = enter(channel, offer->want, true, offer->total_size, &is_first);
  tfrt_status_t status = incoming ? fetch(incoming, offer, is_first) : NULL;
  if (status) leave(incoming, 0, status);
}

// --- Room --------------------------------------------------------------------

static void on_room(tfrt_bulk_incoming_t* incoming) {
  tfrt_bulk_peer_t* peer = incoming->peer;
  if (!peer) return;
  grant(incoming);
  tfrt_bulk_channel_pump(peer->channel);
}

static bool leave_room(tfrt_bulk_incoming_t* incoming) {
  if (incoming->state == TFRT_BULK_INCOMING_OVER) {
    if (!incoming->is_busy) settle(incoming);
    return false;
  }
  bool is_filled = incoming->state == TFRT_BULK_INCOMING_FILLED;
  if (is_filled) forget(incoming);
  return is_filled;
}

// --- Aborts of the owner -----------------------------------------------------

static void on_abort(tfrt_bulk_channel_t* channel, const tfrt_wire_abort_t* abort) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_bulk_handler_t* handler = manager->handler;
  tfrt_status_t status = tfrt_wire_error_to_status(abort->error);
  bool is_interruption = !abort->is_final && tfrt_status_code(status) == TFRT_STATUS_ABORTED;
  bool has_begun = true;
  tfrt_bulk_transfer_t name = {0};
  tfrt_node_lock_lock(manager->lock);
  if (channel->peer) {
    name = name_of(channel->peer, abort->want);
    tfrt_bulk_incoming_t* incoming = find(channel->peer, abort->want);
    has_begun = incoming != NULL;
    if (incoming && is_interruption) interrupt(incoming);
    if (incoming && !is_interruption) end(incoming, status);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (!has_begun && is_interruption) handler->vtable->interrupted(handler, &name, 0);
  if (!has_begun && !is_interruption) handler->vtable->aborted(handler, &name, NULL, status);
  tfrt_status_release(status);
}

static void on_message(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  if (message->body.kind == TFRT_WIRE_BULK_CHUNK) {
    on_chunk(channel, message);
  } else if (message->body.kind == TFRT_WIRE_BULK_OFFER) {
    on_offer(channel, &message->body.offer);
  } else {
    on_abort(channel, &message->body.abort);
  }
}

static bool next_message(tfrt_bulk_peer_t* peer, tfrt_wire_bulk_t* out_message) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->windows);
  if (!link) return false;
  tfrt_bulk_incoming_t* incoming = TFRT_CONTAINER_OF(link, tfrt_bulk_incoming_t, link);
  if (incoming->borrowing == TFRT_BULK_DECLINING) {
    incoming->borrowing = TFRT_BULK_NOT_BORROWING;
    *out_message = (tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_DECLINE,
                                      .decline = {.want = incoming->name.want}};
  } else {
    *out_message =
        (tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_WINDOW,
                           .window = {.want = incoming->name.want, .limit = incoming->granted}};
  }
  return true;
}

static void end_all(tfrt_bulk_peer_t* peer, tfrt_status_t status) {
  for (tfrt_hash_node_t* node; (node = tfrt_hash_table_first(&peer->incoming));) {
    end(TFRT_CONTAINER_OF(node, tfrt_bulk_incoming_t, by_want), status);
  }
}

const tfrt_bulk_direction_t tfrt_bulk_incoming_direction = {on_message, interrupt_all, next_message,
                                                            resume,     end_one,       end_all};
