// SPDX-License-Identifier: Apache-2.0
#include "embedding/mgpu/memory.h"

#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

static struct {
  tfrt_mutex_t mutex;  // guards all below
  tfrt_device_buffer_t** buffers;
  size_t count;
  size_t capacity;
} memory = {.mutex = TFRT_MUTEX_INITIALIZER};

// The place of the first buffer that ends behind |address|.
static size_t place_locked(tfrt_device_address_t address) {
  size_t low = 0, high = memory.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (memory.buffers[middle]->address + memory.buffers[middle]->size <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool grow_locked(void) {
  if (memory.count < memory.capacity) return true;
  const size_t capacity = memory.capacity ? 2 * memory.capacity : 16;
  tfrt_device_buffer_t** buffers =
      tfrt_allocator_reallocate(tfrt_allocator_system(), memory.buffers,
                                memory.capacity * sizeof(*buffers), capacity * sizeof(*buffers));
  if (!buffers) return false;
  memory.buffers = buffers;
  memory.capacity = capacity;
  return true;
}

tfrt_status_t tfrt_mgpu_memory_add_take(tfrt_device_buffer_t* buffer) {
  tfrt_mutex_lock(&memory.mutex);
  const bool has_room = grow_locked();
  if (has_room) {
    const size_t place = place_locked(buffer->address);
    memmove(&memory.buffers[place + 1], &memory.buffers[place],
            (memory.count - place) * sizeof(buffer));
    memory.buffers[place] = buffer;
    ++memory.count;
  }
  tfrt_mutex_unlock(&memory.mutex);
  if (has_room) return NULL;
  tfrt_device_buffer_release(buffer);
  return tfrt_status_out_of_memory();
}

tfrt_device_buffer_t* tfrt_mgpu_memory_remove(const void* pointer) {
  const tfrt_device_address_t address = (uintptr_t)pointer;
  tfrt_device_buffer_t* found = NULL;
  tfrt_mutex_lock(&memory.mutex);
  const size_t place = place_locked(address);
  if (place < memory.count && memory.buffers[place]->address == address) {
    found = memory.buffers[place];
    --memory.count;
    memmove(&memory.buffers[place], &memory.buffers[place + 1],
            (memory.count - place) * sizeof(found));
  }
  tfrt_mutex_unlock(&memory.mutex);
  return found;
}

tfrt_device_buffer_t* tfrt_mgpu_memory_find(const void* pointer, size_t* out_offset) {
  const tfrt_device_address_t address = (uintptr_t)pointer;
  tfrt_device_buffer_t* found = NULL;
  *out_offset = 0;
  tfrt_mutex_lock(&memory.mutex);
  const size_t place = place_locked(address);
  if (place < memory.count && memory.buffers[place]->address <= address) {
    found = tfrt_device_buffer_retain(memory.buffers[place]);
    *out_offset = (size_t)(address - found->address);
  }
  tfrt_mutex_unlock(&memory.mutex);
  return found;
}

int64_t tfrt_mgpu_memory_count(void) {
  tfrt_mutex_lock(&memory.mutex);
  const int64_t count = (int64_t)memory.count;
  tfrt_mutex_unlock(&memory.mutex);
  return count;
}

void tfrt_mgpu_memory_clear(void) {
  while (memory.count > 0) tfrt_device_buffer_release(memory.buffers[--memory.count]);
  tfrt_allocator_free(tfrt_allocator_system(), memory.buffers,
                      memory.capacity * sizeof(*memory.buffers));
  memory.buffers = NULL;
  memory.capacity = 0;
}
