// SPDX-License-Identifier: Apache-2.0
//
// The allocator that keeps what is freed (device_allocator.h).
#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/sync.h"

#define TFRT_DEVICE_BLOCK_ROUNDING ((size_t)512)

typedef struct tfrt_caching_allocator_s tfrt_caching_allocator_t;

// Memory of the driver. In the list of free blocks, or with a buffer, or, when the allocator
// ends, with a task that waits for its last work.
typedef struct tfrt_device_block_s {
  tfrt_list_link_t link;
  tfrt_device_address_t address;
  size_t size;
  // For a free block: the stream (+1) whose earlier work may still use it; NULL: none.
  tfrt_device_stream_t* home;
  tfrt_device_event_t* event;  // +1, recorded at that point; made with the block
  bool is_unrecorded;          // the driver refused; to be tried again
  // For the end.
  tfrt_task_t task;
  tfrt_async_value_t* value;  // +1
  tfrt_device_t* device;      // +1
  tfrt_device_space_t space;
} tfrt_device_block_t;

struct tfrt_caching_allocator_s {
  tfrt_device_allocator_t base;
  tfrt_mutex_t mutex;       // guards the list
  tfrt_list_link_t blocks;  // free ones, by size, smallest first
};

static tfrt_caching_allocator_t* caching_allocator_of(tfrt_device_allocator_t* allocator) {
  return TFRT_CONTAINER_OF(allocator, tfrt_caching_allocator_t, base);
}

static tfrt_device_block_t* device_block_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_device_block_t, link);
}

// --- Blocks --------------------------------------------------------------------

// Forgets |block|, but not its memory.
static void device_block_forget(tfrt_device_block_t* block) {
  tfrt_device_t* device = block->device;
  tfrt_device_stream_release(block->home);
  tfrt_device_event_release(block->event);
  tfrt_async_value_release(block->value);
  tfrt_allocator_free(device->platform->allocator, block, sizeof(*block));
  tfrt_device_release(device);
}

// Gives the memory of |block|, which no work uses any more, back to the driver.
static void device_block_free(tfrt_device_block_t* block) {
  tfrt_device_t* device = block->device;
  tfrt_device_report_kept(
      device, block->size,
      device->vtable->deallocate(device, block->space, block->address, block->size));
  device_block_forget(block);
}

static tfrt_status_t device_block_allocate(tfrt_device_allocator_t* allocator, size_t size,
                                           tfrt_device_block_t** out_block) {
  tfrt_device_t* device = allocator->device;
  tfrt_device_block_t* block =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*block));
  if (!block) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_device_create_event(device, false, &block->event);
  if (!status) {
    status = device->vtable->allocate(device, allocator->space, size, &block->address);
  }
  if (status) {
    tfrt_device_event_release(block->event);
    tfrt_allocator_free(device->platform->allocator, block, sizeof(*block));
    return status;
  }
  block->size = size;
  block->device = tfrt_device_retain(device);
  block->space = allocator->space;
  *out_block = block;
  return NULL;
}

// Records the point behind which |block| is free; a later one is as good.
static void device_block_record(tfrt_device_block_t* block) {
  tfrt_status_t status = tfrt_device_stream_record(block->home, block->event);
  block->is_unrecorded = status != NULL;
  tfrt_status_release(status);
}

// Returns true if work of any stream may use the free |block| now. A block whose event can't be
// queried counts as in use.
static bool device_block_is_done(tfrt_device_block_t* block) {
  bool done = block->home == NULL;
  if (block->is_unrecorded) device_block_record(block);
  if (!done && !block->is_unrecorded) {
    tfrt_status_release(tfrt_device_event_query(block->event, &done));
  }
  return done;
}

// --- The cache -----------------------------------------------------------------

static size_t caching_allocator_round(size_t size) {
  size_t step = TFRT_DEVICE_BLOCK_ROUNDING;
  while (step < size / 32) step *= 2;
  size_t rounded = (size + step - 1) / step * step;
  return rounded < size ? size : rounded;
}

// Takes the smallest free block of |size| bytes or more, and not much more, that work of
// |home| may use now; NULL if there is none.
static tfrt_device_block_t* caching_allocator_take(tfrt_caching_allocator_t* cache,
                                                   tfrt_device_stream_t* home, size_t size) {
  tfrt_device_block_t* found = NULL;
  tfrt_mutex_lock(&cache->mutex);
  for (tfrt_list_link_t* l = cache->blocks.next; l != &cache->blocks && !found; l = l->next) {
    tfrt_device_block_t* block = device_block_of(l);
    if (block->size < size) continue;
    if (block->size / 2 > size) break;
    if ((home && block->home == home) || device_block_is_done(block)) found = block;
  }
  if (found) tfrt_list_remove(&found->link);
  tfrt_mutex_unlock(&cache->mutex);
  if (found) {
    tfrt_device_stream_release(found->home);
    found->home = NULL;
    found->is_unrecorded = false;
  }
  return found;
}

// Gives all free blocks that are done back to the driver; returns whether there were any.
static bool caching_allocator_trim(tfrt_caching_allocator_t* cache) {
  tfrt_list_link_t done;
  tfrt_list_initialize(&done);
  tfrt_mutex_lock(&cache->mutex);
  for (tfrt_list_link_t* l = cache->blocks.next; l != &cache->blocks;) {
    tfrt_device_block_t* block = device_block_of(l);
    l = l->next;
    if (!device_block_is_done(block)) continue;
    tfrt_list_remove(&block->link);
    tfrt_list_push_back(&done, &block->link);
  }
  tfrt_mutex_unlock(&cache->mutex);
  bool any = !tfrt_list_is_empty(&done);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&done));) {
    device_block_free(device_block_of(l));
  }
  return any;
}

static tfrt_status_t caching_allocator_allocate(tfrt_device_allocator_t* allocator,
                                                tfrt_device_stream_t* home, size_t size,
                                                tfrt_device_address_t* out_address,
                                                void** out_block) {
  tfrt_caching_allocator_t* cache = caching_allocator_of(allocator);
  size_t rounded = caching_allocator_round(size);
  tfrt_device_block_t* block = caching_allocator_take(cache, home, rounded);
  tfrt_status_t status = NULL;
  if (!block) {
    status = device_block_allocate(allocator, rounded, &block);
    if (tfrt_status_code(status) == TFRT_STATUS_RESOURCE_EXHAUSTED &&
        caching_allocator_trim(cache)) {
      tfrt_status_release(status);
      status = device_block_allocate(allocator, rounded, &block);
    }
  }
  if (status) return status;
  *out_address = block->address;
  *out_block = block;
  return NULL;
}

static void caching_allocator_deallocate(tfrt_device_allocator_t* allocator,
                                         tfrt_device_buffer_t* buffer,
                                         tfrt_device_stream_t* stream) {
  tfrt_caching_allocator_t* cache = caching_allocator_of(allocator);
  tfrt_device_block_t* block = buffer->block;
  if (stream) {
    block->home = tfrt_device_stream_retain(stream);
    device_block_record(block);
  }
  tfrt_mutex_lock(&cache->mutex);
  tfrt_list_link_t* position = cache->blocks.previous;
  while (position != &cache->blocks && device_block_of(position)->size > block->size) {
    position = position->previous;
  }
  tfrt_list_insert_after(position, &block->link);
  tfrt_mutex_unlock(&cache->mutex);
}

static void caching_allocator_forget(tfrt_device_allocator_t* allocator,
                                     tfrt_device_buffer_t* buffer) {
  (void)allocator;
  device_block_forget(buffer->block);
}

// --- The end -------------------------------------------------------------------

static void device_block_run(tfrt_task_t* task) {
  tfrt_device_block_t* block = TFRT_CONTAINER_OF(task, tfrt_device_block_t, task);
  tfrt_status_t lost = tfrt_device_check(block->device);
  if (lost || !tfrt_async_value_is_error(block->value)) {
    device_block_free(block);
  } else {
    tfrt_status_t why = tfrt_async_value_error(block->value);
    tfrt_device_report_kept(block->device, block->size, tfrt_status_retain(why));
    device_block_forget(block);
  }
  tfrt_status_release(lost);
}

// A value (+1) that becomes available when no work uses the free |block| any more.
static tfrt_async_value_t* device_block_await(tfrt_device_block_t* block) {
  if (!block->home) return tfrt_async_value_ready_chain();
  if (block->is_unrecorded) return tfrt_device_stream_await(block->home);
  return tfrt_device_event_await(block->event);
}

static void caching_allocator_destroy(tfrt_device_allocator_t* allocator) {
  tfrt_caching_allocator_t* cache = caching_allocator_of(allocator);
  tfrt_allocator_t memory = allocator->device->platform->allocator;
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&cache->blocks));) {
    tfrt_device_block_t* block = device_block_of(l);
    tfrt_task_initialize(&block->task, device_block_run);
    block->value = device_block_await(block);
    tfrt_async_value_and_then(block->value, &block->task);
  }
  tfrt_mutex_deinitialize(&cache->mutex);
  tfrt_allocator_free(memory, cache, sizeof(*cache));
}

static const tfrt_device_allocator_vtable_t caching_vtable = {
    caching_allocator_destroy, caching_allocator_allocate, caching_allocator_deallocate,
    caching_allocator_forget};

tfrt_status_t tfrt_device_allocator_create_caching(tfrt_device_t* device, tfrt_device_space_t space,
                                                   tfrt_device_allocator_t** out_allocator) {
  *out_allocator = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  tfrt_caching_allocator_t* cache =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*cache));
  if (!cache) return tfrt_status_out_of_memory();
  tfrt_device_allocator_initialize(&cache->base, &caching_vtable, device, space);
  tfrt_mutex_initialize(&cache->mutex);
  tfrt_list_initialize(&cache->blocks);
  *out_allocator = &cache->base;
  return NULL;
}
