// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/send_queue.h"

#include <stdalign.h>
#include <string.h>

#include "host_runtime/base/macros.h"

// --- Memory of frames -------------------------------------------------------

// The bytes of a block, with its head; a bigger piece has one that is as big as it needs.
#if defined(TFRT_SANITIZED)
#define TFRT_SEND_BLOCK_SIZE ((size_t)0)
#else
#define TFRT_SEND_BLOCK_SIZE ((size_t)16 << 10)
#endif

struct tfrt_send_block_s {
  size_t size;
  size_t used;
  size_t live;  // pieces that were taken and not given back
  alignas(16) char bytes[];
};

void tfrt_send_memory_initialize(tfrt_send_memory_t* memory, tfrt_allocator_t allocator) {
  *memory = (tfrt_send_memory_t){.allocator = allocator};
}

void tfrt_send_memory_deinitialize(tfrt_send_memory_t* memory) {
  tfrt_send_block_t* block = memory->current;
  if (block) tfrt_allocator_free(memory->allocator, block, sizeof(*block) + block->size);
  memory->current = NULL;
}

// A new block with room for |size| bytes is the current one; false when memory is out.
static bool send_memory_grow(tfrt_send_memory_t* memory, size_t size) {
  size_t least = TFRT_SEND_BLOCK_SIZE > sizeof(tfrt_send_block_t)
                     ? TFRT_SEND_BLOCK_SIZE - sizeof(tfrt_send_block_t)
                     : 0;
  if (size < least) size = least;
  tfrt_send_block_t* block =
      tfrt_allocator_allocate(memory->allocator, sizeof(tfrt_send_block_t) + size);
  if (!block) return false;
  // Otherwise nothing would ever free the current block, whose pieces are all gone.
  if (memory->current && memory->current->live == 0) tfrt_send_memory_deinitialize(memory);
  block->size = size;
  block->used = 0;
  block->live = 0;
  memory->current = block;
  return true;
}

void* tfrt_send_memory_take(tfrt_send_memory_t* memory, size_t size,
                            tfrt_send_block_t** out_block) {
  size = (size + 15) & ~(size_t)15;
  tfrt_send_block_t* block = memory->current;
  if (TFRT_UNLIKELY(!block || block->size - block->used < size)) {
    if (!send_memory_grow(memory, size)) return NULL;
    block = memory->current;
  }
  void* piece = block->bytes + block->used;
  block->used += size;
  ++block->live;
  *out_block = block;
  return piece;
}

void tfrt_send_memory_give_back(tfrt_send_memory_t* memory, tfrt_send_block_t* block) {
  if (--block->live > 0) return;
  bool is_kept = block == memory->current && TFRT_SEND_BLOCK_SIZE > 0;
  if (is_kept) {
    block->used = 0;
    return;
  }
  if (block == memory->current) memory->current = NULL;
  tfrt_allocator_free(memory->allocator, block, sizeof(*block) + block->size);
}

// --- The queue --------------------------------------------------------------

static tfrt_send_entry_t* entry_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_send_entry_t, link);
}

static tfrt_send_memory_t* memory_of(tfrt_send_queue_t* queue, const tfrt_session_frame_t* frame) {
  return frame->call > 0 || frame->want > 0 ? &queue->gate_memory : &queue->memory;
}

static void free_entry(tfrt_send_queue_t* queue, tfrt_send_entry_t* entry) {
  tfrt_send_memory_give_back(memory_of(queue, &entry->frame), entry->block);
}

static tfrt_wire_frame_t wire_frame(const tfrt_send_entry_t* entry) {
  return (tfrt_wire_frame_t){
      .kind = entry->frame.kind,
      .job = entry->frame.job,
      .epoch = entry->frame.epoch,
      .request = entry->frame.request,
      .has_budget = entry->frame.deadline_ns != TFRT_TIME_INFINITE,
      .budget_us = entry->budget_us,
      .trace = entry->frame.trace,
      .body = entry->frame.body,
  };
}

static tfrt_send_entry_t* allocate_entry(tfrt_send_queue_t* queue,
                                         const tfrt_session_frame_t* frame, int64_t now_ns) {
  tfrt_send_block_t* block = NULL;
  tfrt_send_entry_t* entry =
      tfrt_send_memory_take(memory_of(queue, frame), sizeof(*entry) + frame->body.size, &block);
  if (!entry) return NULL;
  *entry = (tfrt_send_entry_t){.frame = *frame, .appended_ns = now_ns, .block = block};
  tfrt_list_initialize(&entry->link);
  char* body = (char*)(entry + 1);
  if (frame->body.size > 0) memcpy(body, frame->body.data, frame->body.size);
  entry->frame.body.data = body;
  if (frame->trace) {
    entry->trace = *frame->trace;
    entry->frame.trace = &entry->trace;
  }
  // The largest budget, so that the size is never less than what is written.
  entry->budget_us = UINT64_MAX;
  tfrt_wire_frame_t wire = wire_frame(entry);
  entry->encoded_size = tfrt_wire_frame_encoded_size(&wire);
  entry->budget_us = 0;
  return entry;
}

void tfrt_send_queue_initialize(tfrt_send_queue_t* queue, uint64_t first_call,
                                tfrt_allocator_t allocator) {
  *queue = (tfrt_send_queue_t){
      .allocator = allocator,
      .next_seq = 1,
      .sequenced_call = first_call - 1,
      .written_call = first_call - 1,
      .window_limit = TFRT_WIRE_DEFAULT_REPLAY_SIZE,
  };
  tfrt_list_initialize(&queue->gates[0]);
  tfrt_list_initialize(&queue->gates[1]);
  tfrt_list_initialize(&queue->sequence);
  queue->cursor = &queue->sequence;
  tfrt_send_memory_initialize(&queue->gate_memory, allocator);
  tfrt_send_memory_initialize(&queue->memory, allocator);
}

static void free_all(tfrt_send_queue_t* queue, tfrt_list_link_t* list) {
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(list));) free_entry(queue, entry_of(l));
}

void tfrt_send_queue_deinitialize(tfrt_send_queue_t* queue) {
  free_all(queue, &queue->gates[0]);
  free_all(queue, &queue->gates[1]);
  free_all(queue, &queue->sequence);
  queue->cursor = &queue->sequence;
  tfrt_send_memory_deinitialize(&queue->gate_memory);
  tfrt_send_memory_deinitialize(&queue->memory);
}

// --- Gates -------------------------------------------------------------------

static bool needs_credit(const tfrt_send_entry_t* entry) {
  return entry->frame.kind == TFRT_WIRE_FRAME_INVOKE || entry->frame.kind == TFRT_WIRE_FRAME_WANT;
}

static bool has_credit(const tfrt_send_queue_t* queue, const tfrt_send_entry_t* entry) {
  if (queue->window_size >= queue->window_limit) return false;
  if (entry->frame.kind == TFRT_WIRE_FRAME_WANT) return queue->want_count < queue->want_limit;
  return queue->call_count < queue->call_limit;
}

// A frame that comes after a call stands behind that call in the gate of calls. A Want is the
// exception: it must not overtake earlier Wants, so it stands in the gate of wants. A frame that
// comes after a Want may stand in either gate.
static bool may_pass(const tfrt_send_queue_t* queue, const tfrt_send_entry_t* entry) {
  if (entry->frame.want > 0 && entry->frame.after_call > queue->sequenced_call) return false;
  if (entry->frame.after_want > queue->sequenced_want) return false;
  return !needs_credit(entry) || has_credit(queue, entry);
}

// The counter of unwritten frames that counts |entry|.
static size_t* unwritten_count(tfrt_send_queue_t* queue, const tfrt_send_entry_t* entry) {
  return entry->frame.can_wait ? &queue->waiting_count : &queue->due_count;
}

static void advance_cursor(tfrt_send_queue_t* queue) {
  --*unwritten_count(queue, entry_of(queue->cursor));
  queue->cursor = queue->cursor->next;
}

static void enter_sequence(tfrt_send_queue_t* queue, tfrt_send_entry_t* entry) {
  entry->seq = queue->next_seq++;
  tfrt_list_push_back(&queue->sequence, &entry->link);
  if (queue->cursor == &queue->sequence) queue->cursor = &entry->link;
  ++*unwritten_count(queue, entry);
  queue->window_size += entry->encoded_size;
  if (entry->frame.call > 0) {
    queue->sequenced_call = entry->frame.call;
    ++queue->call_count;
  }
  if (entry->frame.want > 0) {
    queue->sequenced_want = entry->frame.want;
    ++queue->want_count;
  }
}

static bool open_gate(tfrt_send_queue_t* queue, tfrt_list_link_t* gate) {
  if (tfrt_list_is_empty(gate)) return false;
  tfrt_send_entry_t* entry = entry_of(gate->next);
  if (!may_pass(queue, entry)) return false;
  if (queue->looked_at == &entry->link) queue->looked_at = NULL;
  tfrt_list_remove(&entry->link);
  enter_sequence(queue, entry);
  return true;
}

static void open_gates(tfrt_send_queue_t* queue) {
  // A frame that passes one gate may be the one that the other gate waits for.
  while (open_gate(queue, &queue->gates[TFRT_SEND_GATE_CALLS]) ||
         open_gate(queue, &queue->gates[TFRT_SEND_GATE_WANTS])) {
  }
}

tfrt_status_t tfrt_send_queue_append(tfrt_send_queue_t* queue, const tfrt_session_frame_t* frame,
                                     int64_t now_ns) {
  tfrt_send_entry_t* entry = allocate_entry(queue, frame, now_ns);
  if (!entry) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a frame of %zu bytes",
                              frame->body.size);
  }
  bool is_after_call = frame->want == 0 && frame->after_call > queue->sequenced_call;
  if (frame->call > 0 || is_after_call) {
    tfrt_list_push_back(&queue->gates[TFRT_SEND_GATE_CALLS], &entry->link);
  } else if (frame->want > 0 || frame->after_want > queue->sequenced_want) {
    tfrt_list_push_back(&queue->gates[TFRT_SEND_GATE_WANTS], &entry->link);
  } else {
    enter_sequence(queue, entry);
  }
  open_gates(queue);
  return NULL;
}

bool tfrt_send_queue_is_due(const tfrt_send_queue_t* queue) {
  return queue->due_count > 0 || queue->waiting_count >= TFRT_SEND_QUEUE_MAX_WAITING;
}

void tfrt_send_queue_grant(tfrt_send_queue_t* queue, uint64_t calls, uint64_t wants) {
  if (calls <= queue->call_limit && wants <= queue->want_limit) return;
  if (queue->first_call_limit == 0) queue->first_call_limit = calls;
  if (calls > queue->call_limit) queue->call_limit = calls;
  if (wants > queue->want_limit) queue->want_limit = wants;
  open_gates(queue);
}

// --- Other bodies ------------------------------------------------------------

// |entry| takes the place of |old|, which is freed.
static void put_in_place(tfrt_send_queue_t* queue, tfrt_send_entry_t* old,
                         tfrt_send_entry_t* entry) {
  entry->seq = old->seq;
  tfrt_list_insert_after(&old->link, &entry->link);
  if (queue->cursor == &old->link) queue->cursor = &entry->link;
  if (queue->looked_at == &old->link) queue->looked_at = &entry->link;
  tfrt_list_remove(&old->link);
  if (old->seq > 0) queue->window_size += entry->encoded_size - old->encoded_size;
  free_entry(queue, old);
}

static tfrt_status_t seal_entry(tfrt_send_queue_t* queue, tfrt_send_entry_t* draft,
                                const tfrt_session_t* session, tfrt_string_builder_t* body) {
  tfrt_session_frame_t frame = draft->frame;
  tfrt_string_builder_clear(body);
  TFRT_RETURN_IF_ERROR(frame.seal(session, frame.body, body));
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(body));
  frame.seal = NULL;
  frame.body = tfrt_string_builder_view(body);
  tfrt_send_entry_t* entry = allocate_entry(queue, &frame, draft->appended_ns);
  if (!entry) return tfrt_status_out_of_memory();
  put_in_place(queue, draft, entry);
  return NULL;
}

tfrt_status_t tfrt_send_queue_seal(tfrt_send_queue_t* queue, const tfrt_session_t* session) {
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, queue->allocator);
  tfrt_status_t status = NULL;
  // Drafts wait for nothing, so all of them are in the sequence.
  for (tfrt_list_link_t* l = queue->sequence.next; l != &queue->sequence && !status;) {
    tfrt_send_entry_t* entry = entry_of(l);
    l = l->next;
    if (entry->frame.seal) status = seal_entry(queue, entry, session, &body);
  }
  tfrt_string_builder_deinitialize(&body);
  return status;
}

// The frame with the number of |call| in the gate, or NULL. Calls stand there in the order of their
// numbers, between frames that have none. It is looked for from where the last one was: a job that
// ends gives up one call after the other.
static tfrt_send_entry_t* find_in_gate(tfrt_send_queue_t* queue, uint64_t call) {
  tfrt_list_link_t* gate = &queue->gates[TFRT_SEND_GATE_CALLS];
  tfrt_list_link_t* l = queue->looked_at ? queue->looked_at : gate->next;
  bool is_up = !queue->looked_at || entry_of(l)->frame.call <= call;
  for (; l != gate; l = is_up ? l->next : l->previous) {
    uint64_t number = entry_of(l)->frame.call;
    if (number == 0) continue;
    queue->looked_at = l;
    if (number == call) return entry_of(l);
    if (is_up ? number > call : number < call) break;
  }
  return NULL;
}

static tfrt_send_entry_t* find_unwritten(tfrt_send_queue_t* queue, uint64_t call) {
  if (call <= queue->written_call) return NULL;
  if (call > queue->sequenced_call) return find_in_gate(queue, call);
  for (tfrt_list_link_t* l = queue->cursor; l != &queue->sequence; l = l->next) {
    if (entry_of(l)->frame.call == call) return entry_of(l);
  }
  return NULL;
}

static tfrt_send_entry_t* find_unwritten_invoke(tfrt_send_queue_t* queue, uint64_t call) {
  tfrt_send_entry_t* entry = find_unwritten(queue, call);
  return entry && entry->frame.kind == TFRT_WIRE_FRAME_INVOKE ? entry : NULL;
}

tfrt_status_t tfrt_send_queue_replace_by_void(tfrt_send_queue_t* queue, uint64_t call,
                                              tfrt_string_view_t body, bool* out_replaced) {
  *out_replaced = false;
  tfrt_send_entry_t* invoke = find_unwritten_invoke(queue, call);
  if (!invoke) return NULL;
  tfrt_session_frame_t frame = invoke->frame;
  frame.kind = TFRT_WIRE_FRAME_VOID;
  frame.body = body;
  tfrt_send_entry_t* entry = allocate_entry(queue, &frame, invoke->appended_ns);
  if (!entry) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a Void of %zu bytes",
                              body.size);
  }
  put_in_place(queue, invoke, entry);
  open_gates(queue);
  *out_replaced = true;
  return NULL;
}

// --- The sequence ------------------------------------------------------------

bool tfrt_send_queue_acknowledge(tfrt_send_queue_t* queue, uint64_t seq, int64_t now_ns) {
  if (seq > queue->written_seq) return false;
  if (seq <= queue->acked_seq) return true;
  queue->acked_seq = seq;
  queue->acked_ns = now_ns;
  while (!tfrt_list_is_empty(&queue->sequence)) {
    tfrt_send_entry_t* entry = entry_of(queue->sequence.next);
    if (entry->seq > seq) break;
    // A resume may tell more than was written to this connection yet.
    if (queue->cursor == &entry->link) advance_cursor(queue);
    tfrt_list_remove(&entry->link);
    queue->window_size -= entry->encoded_size;
    free_entry(queue, entry);
  }
  open_gates(queue);
  return true;
}

void tfrt_send_queue_begin_connection(tfrt_send_queue_t* queue, size_t window_limit) {
  queue->window_limit = window_limit;
  open_gates(queue);
  while (queue->cursor != queue->sequence.next) {
    queue->cursor = queue->cursor->previous;
    ++*unwritten_count(queue, entry_of(queue->cursor));
  }
}

static uint64_t budget_us(const tfrt_send_entry_t* entry, int64_t now_ns) {
  if (entry->frame.deadline_ns <= now_ns) return 0;
  return (uint64_t)(entry->frame.deadline_ns - now_ns) / (uint64_t)TFRT_NANOSECONDS_PER_MICROSECOND;
}

static void mark_written(tfrt_send_queue_t* queue, tfrt_send_entry_t* entry, int64_t now_ns) {
  if (entry->is_written) return;
  entry->is_written = true;
  entry->encoded_ns = now_ns;
  entry->budget_us = budget_us(entry, now_ns);
  queue->written_seq = entry->seq;
  if (entry->frame.call > 0) queue->written_call = entry->frame.call;
}

void tfrt_send_queue_fill(tfrt_send_queue_t* queue, size_t target_size, int64_t now_ns,
                          tfrt_send_batch_t* out_batch) {
  out_batch->first_seq = 0;
  out_batch->age_us = 0;
  out_batch->count = 0;
  out_batch->replayed_count = 0;
  if (!tfrt_send_queue_has_unwritten(queue)) return;
  const tfrt_send_entry_t* first = entry_of(queue->cursor);
  const bool is_replay = first->is_written;
  const int64_t encoded_ns = first->encoded_ns;
  out_batch->first_seq = first->seq;
  if (is_replay) {
    out_batch->age_us = (uint64_t)((now_ns - encoded_ns) / TFRT_NANOSECONDS_PER_MICROSECOND);
  }
  size_t size = 0;
  while (queue->cursor != &queue->sequence && out_batch->count < TFRT_SEND_QUEUE_BATCH_FRAMES) {
    tfrt_send_entry_t* entry = entry_of(queue->cursor);
    if (entry->is_written != is_replay || (is_replay && entry->encoded_ns != encoded_ns)) break;
    if (size > 0 && size + entry->encoded_size > target_size) break;
    size += entry->encoded_size;
    mark_written(queue, entry, now_ns);
    out_batch->frames[out_batch->count++] = wire_frame(entry);
    advance_cursor(queue);
  }
  if (is_replay) out_batch->replayed_count = out_batch->count;
}

void tfrt_send_queue_drop_unwritten(tfrt_send_queue_t* queue, bool with_sequence) {
  free_all(queue, &queue->gates[0]);
  free_all(queue, &queue->gates[1]);
  queue->looked_at = NULL;
  if (!with_sequence || queue->cursor == &queue->sequence) return;
  queue->next_seq = entry_of(queue->cursor)->seq;
  while (queue->cursor != &queue->sequence) {
    tfrt_send_entry_t* entry = entry_of(queue->cursor);
    advance_cursor(queue);
    tfrt_list_remove(&entry->link);
    queue->window_size -= entry->encoded_size;
    free_entry(queue, entry);
  }
}
