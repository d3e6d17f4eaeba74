// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/cuda/fake_cuda_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/clock.h"

tfrt_fake_t tfrt_fake;

void tfrt_fake_initialize(void) {
  tfrt_fake_t* fake = &tfrt_fake;
  tfrt_mutex_initialize(&fake->mutex);
  tfrt_condition_initialize(&fake->condition);
  tfrt_list_initialize(&fake->blocks);
  tfrt_list_initialize(&fake->pools);
  tfrt_list_initialize(&fake->old_pools);
  tfrt_list_initialize(&fake->streams);
  tfrt_list_initialize(&fake->events);
  tfrt_list_initialize(&fake->modules);
  tfrt_list_initialize(&fake->graphs);
  tfrt_list_initialize(&fake->graph_execs);
  tfrt_list_initialize(&fake->libraries);
  tfrt_list_initialize(&fake->ended_streams);
  for (int i = 0; i < TFRT_FAKE_CUDA_DEVICE_COUNT; ++i) fake->contexts[i].ordinal = i;
  fake->version = 13000;
  fake->held_ordinal = -1;
  fake->forgets = getenv("TFRT_FAKE_CUDA_FORGETS") != NULL;
}

void tfrt_fake_defect(const char* format, ...) {
  tfrt_fake_t* fake = &tfrt_fake;
  size_t used = strlen(fake->defects);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fake->defects + used, sizeof(fake->defects) - used - 1, format, arguments);
  va_end(arguments);
  strcat(fake->defects, "\n");
  ++fake->defect_count;
}

static void* fake_allocate(size_t size) {
  return tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
}

// --- Memory ----------------------------------------------------------------------------

tfrt_fake_block_t* tfrt_fake_block_create(tfrt_fake_memory_kind_t kind,
                                          tfrt_fake_context_t* context, void* data, size_t size) {
  tfrt_fake_block_t* block = fake_allocate(sizeof(*block));
  block->kind = kind;
  block->context = context;
  block->size = size;
  block->data =
      data ? data
           : tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, TFRT_DEVICE_ALIGNMENT);
  // Memory that was never written holds a number that no test expects.
  if (!data) memset(block->data, kind == TFRT_FAKE_MEMORY_GLOBAL ? 0 : 0xcd, size);
  if (kind <= TFRT_FAKE_MEMORY_GLOBAL) context->used_size += size;
  tfrt_list_push_front(&tfrt_fake.blocks, &block->link);
  return block;
}

tfrt_fake_block_t* tfrt_fake_block_find(const void* data, size_t size, bool is_required) {
  const char* start = data;
  tfrt_fake_block_t* dead = NULL;
  for (tfrt_list_link_t* l = tfrt_fake.blocks.next; l != &tfrt_fake.blocks; l = l->next) {
    tfrt_fake_block_t* block = TFRT_CONTAINER_OF(l, tfrt_fake_block_t, link);
    if (start < block->data || start >= block->data + block->size) continue;
    if (block->is_dead) {
      dead = block;
      continue;
    }
    if (size <= (size_t)(block->data + block->size - start)) return block;
    tfrt_fake_defect("%zu bytes from byte %zu of a block of %zu", size,
                     (size_t)(start - block->data), block->size);
    return NULL;
  }
  if (dead) {
    tfrt_fake_defect("a block of %zu bytes is used after it was freed", dead->size);
  } else if (is_required) {
    tfrt_fake_defect("%zu bytes of memory that is neither the device's nor pinned", size);
  }
  return NULL;
}

void tfrt_fake_block_kill(tfrt_fake_block_t* block) {
  block->is_dead = true;
  bool is_imported = block->pool && block->pool->is_imported;
  if (block->kind <= TFRT_FAKE_MEMORY_GLOBAL && !is_imported) {
    block->context->used_size -= block->size;
  }
  // Registered memory is the test's, and may come again.
  bool is_ours = block->kind != TFRT_FAKE_MEMORY_REGISTERED;
  if (block->pool) {
    tfrt_fake_part_end(block);
  } else if (is_ours) {
    memset(block->data, 0xdd, block->size);
  }
  if (is_ours && !tfrt_fake.forgets) return;
  if (is_ours && !block->pool) {
    tfrt_allocator_free_aligned(tfrt_allocator_system(), block->data, block->size,
                                TFRT_DEVICE_ALIGNMENT);
  }
  tfrt_list_remove(&block->link);
  tfrt_allocator_free(tfrt_allocator_system(), block, sizeof(*block));
}

void tfrt_fake_kill_blocks(const tfrt_fake_context_t* context) {
  for (tfrt_list_link_t* l = tfrt_fake.blocks.next; l != &tfrt_fake.blocks;) {
    tfrt_fake_block_t* block = TFRT_CONTAINER_OF(l, tfrt_fake_block_t, link);
    l = l->next;
    if (block->context == context && !block->is_dead) tfrt_fake_block_kill(block);
  }
}

// --- Ops -------------------------------------------------------------------------------

void tfrt_fake_event_release(tfrt_fake_event_t* event) {
  if (--event->ref_count > 0) return;
  tfrt_list_remove(&event->link);
  tfrt_allocator_free(tfrt_allocator_system(), event, sizeof(*event));
}

tfrt_fake_op_t* tfrt_fake_op_create(tfrt_fake_stream_t* stream, tfrt_fake_op_kind_t kind) {
  tfrt_fake_op_t* op = fake_allocate(sizeof(*op));
  op->kind = kind;
  op->stream = stream;
  return op;
}

void tfrt_fake_op_give(tfrt_fake_op_t* op) {
  tfrt_fake_stream_t* stream = op->stream;
  if (stream->is_capturing && op->kind > TFRT_FAKE_OP_LAUNCH) {
    tfrt_fake_defect("an event, memory or a library in a stream that captures");
  }
  tfrt_list_push_back(stream->is_capturing ? &stream->captured : &stream->ops, &op->link);
  tfrt_condition_broadcast(&tfrt_fake.condition);
}

// Whether the memory of |op| may be used now: it may have been freed since it was given.
static bool fake_op_check(const tfrt_fake_op_t* op) {
  if (op->target && !tfrt_fake_block_find(op->target, op->size, true)) return false;
  if (op->source && !tfrt_fake_block_find(op->source, op->size, true)) return false;
  for (uint32_t i = 0; i < op->range_count; ++i) {
    if (!tfrt_fake_block_find(op->ranges[i].data, op->ranges[i].size, true)) return false;
  }
  if (op->kind != TFRT_FAKE_OP_LAUNCH) return true;
  int defects = tfrt_fake.defect_count;
  for (uint32_t i = 0; i < op->parameter_count; ++i) {
    if (op->parameter_sizes[i] != sizeof(void*)) continue;
    tfrt_fake_block_find((void*)(uintptr_t)op->parameters[i], 1, false);
  }
  return defects == tfrt_fake.defect_count;
}

// The work itself, without the mutex. Returns the error that sticks, or 0.
static int fake_op_work(tfrt_fake_op_t* op) {
  if (op->kind == TFRT_FAKE_OP_COPY) memcpy(op->target, op->source, op->size);
  if (op->kind == TFRT_FAKE_OP_FILL) {
    for (size_t i = 0; i < op->size; i += op->width) {
      memcpy(op->target + i, &op->pattern, op->width);
    }
  }
  if (op->kind == TFRT_FAKE_OP_CALL) op->call(op->argument);
  if (op->kind != TFRT_FAKE_OP_LAUNCH) return 0;
  void* parameters[TFRT_DEVICE_MAX_PARAMETERS];
  for (uint32_t i = 0; i < op->parameter_count; ++i) parameters[i] = &op->parameters[i];
  tfrt_status_t status = op->kernel->run(&op->launch, parameters);
  int error = status ? TFRT_CUDA_ERROR_ILLEGAL_ADDRESS : 0;
  tfrt_status_release(status);
  return error;
}

// The remaining steps of |op| after its work is done, or left out.
static void fake_op_finish(tfrt_fake_op_t* op) {
  if (op->kind == TFRT_FAKE_OP_RECORD) {
    op->event->time_ns = tfrt_clock_now_ns(tfrt_clock_system());
    if (op->event->done < op->sequence) op->event->done = op->sequence;
  }
  if (op->event) tfrt_fake_event_release(op->event);
  if (op->block) tfrt_fake_block_kill(op->block);
  tfrt_allocator_free(tfrt_allocator_system(), op, sizeof(*op));
}

// Does |op|, called and returning with the mutex held.
static void fake_op_run(tfrt_fake_op_t* op) {
  tfrt_fake_t* fake = &tfrt_fake;
  tfrt_fake_context_t* context = op->stream->context;
  while (op->kind == TFRT_FAKE_OP_WAIT && op->event->done < op->sequence &&
         op->event->context->error == 0) {
    tfrt_condition_wait(&fake->condition, &fake->mutex);
  }
  bool is_good = context->error == 0 && fake_op_check(op);
  // Most ops go on at once: each pause hands the processor to all that is ready to run on the
  // machine, and a test of thousands of ops must also end on a busy one.
  uint64_t pauses = 0;
  if (tfrt_random_below(&op->stream->random, 8) == 0) {
    pauses = tfrt_random_below(&op->stream->random, 40);
  }
  tfrt_mutex_unlock(&fake->mutex);
  for (uint64_t i = 0; i < pauses; ++i) tfrt_thread_yield();
  int error = is_good ? fake_op_work(op) : 0;
  tfrt_mutex_lock(&fake->mutex);
  if (error) context->error = error;
  if (!is_good && op->drop) op->drop(op->argument);
  fake_op_finish(op);
  tfrt_condition_broadcast(&fake->condition);
}

// --- Streams ---------------------------------------------------------------------------

// Whether |link| of |stream| is a copy that a test holds back.
static bool fake_is_held(const tfrt_fake_stream_t* stream, const tfrt_list_link_t* link) {
  return stream->context->ordinal == tfrt_fake.held_ordinal &&
         TFRT_CONTAINER_OF(link, tfrt_fake_op_t, link)->kind == TFRT_FAKE_OP_COPY;
}

size_t tfrt_fake_held_size(void) {
  size_t size = 0;
  for (tfrt_list_link_t* l = tfrt_fake.streams.next; l != &tfrt_fake.streams; l = l->next) {
    const tfrt_fake_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_fake_stream_t, link);
    for (tfrt_list_link_t* o = stream->ops.next; o != &stream->ops; o = o->next) {
      if (fake_is_held(stream, o)) size += TFRT_CONTAINER_OF(o, tfrt_fake_op_t, link)->size;
    }
  }
  return size;
}

static void fake_stream_run(void* argument) {
  tfrt_fake_stream_t* stream = argument;
  tfrt_mutex_lock(&tfrt_fake.mutex);
  for (;;) {
    bool is_held = !tfrt_list_is_empty(&stream->ops) && fake_is_held(stream, stream->ops.next);
    tfrt_list_link_t* link = is_held ? NULL : tfrt_list_pop_front(&stream->ops);
    if (is_held) {
      tfrt_condition_wait(&tfrt_fake.condition, &tfrt_fake.mutex);
    } else if (link) {
      fake_op_run(TFRT_CONTAINER_OF(link, tfrt_fake_op_t, link));
    } else if (stream->is_destroyed) {
      break;
    } else {
      tfrt_condition_wait(&tfrt_fake.condition, &tfrt_fake.mutex);
    }
  }
  stream->is_over = true;
  tfrt_mutex_unlock(&tfrt_fake.mutex);
}

// Frees the streams whose threads have nothing left to do, with the mutex held: a thread that isn't
// joined keeps its stack.
static void fake_free_streams(void) {
  for (tfrt_list_link_t* l = tfrt_fake.ended_streams.next; l != &tfrt_fake.ended_streams;) {
    tfrt_fake_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_fake_stream_t, link);
    l = l->next;
    if (!stream->is_over) continue;
    tfrt_list_remove(&stream->link);
    tfrt_thread_join(&stream->thread);
    tfrt_allocator_free(tfrt_allocator_system(), stream, sizeof(*stream));
  }
}

tfrt_fake_stream_t* tfrt_fake_stream_create(tfrt_fake_context_t* context) {
  fake_free_streams();
  tfrt_fake_stream_t* stream = fake_allocate(sizeof(*stream));
  stream->context = context;
  tfrt_random_initialize(&stream->random, ++tfrt_fake.seed);
  tfrt_list_initialize(&stream->ops);
  tfrt_list_initialize(&stream->captured);
  tfrt_status_t status =
      tfrt_thread_create("fake-stream", fake_stream_run, stream, &stream->thread);
  if (status) {
    tfrt_status_release(status);
    tfrt_allocator_free(tfrt_allocator_system(), stream, sizeof(*stream));
    return NULL;
  }
  tfrt_list_push_back(&tfrt_fake.streams, &stream->link);
  return stream;
}

void tfrt_fake_join_streams(const tfrt_fake_context_t* context) {
  for (;;) {
    tfrt_mutex_lock(&tfrt_fake.mutex);
    tfrt_list_link_t* head = &tfrt_fake.ended_streams;
    tfrt_list_link_t* l = head->next;
    while (l != head && TFRT_CONTAINER_OF(l, tfrt_fake_stream_t, link)->context != context) {
      l = l->next;
    }
    if (l != head) tfrt_list_remove(l);
    tfrt_mutex_unlock(&tfrt_fake.mutex);
    if (l == head) return;
    tfrt_fake_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_fake_stream_t, link);
    tfrt_thread_join(&stream->thread);
    tfrt_allocator_free(tfrt_allocator_system(), stream, sizeof(*stream));
  }
}
