// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_pool.h"

#include "host_runtime/base/sync.h"
#include "host_runtime/tensor/host_buffer.h"

// All blocks of the pool are aligned so, whatever is asked for.
#define ALIGNMENT TFRT_HOST_BUFFER_ALIGNMENT

// A free block: what is written at its begin.
typedef struct block_s {
  struct block_s* next;
  size_t size;
} block_t;

typedef struct pool_s {
  tfrt_resource_t resource;
  tfrt_allocator_t base;
  tfrt_mutex_t mutex;
  block_t* free_blocks;  // guarded by |mutex|, as all below; the last one that came is first
  size_t free_bytes;
  size_t blocks_out;  // small ones, too
  size_t bytes_out;   // of them
  size_t peak_bytes;  // the most that |bytes_out| was
  bool is_closed;     // the host has ended
} pool_t;

// |size| rounded up to its class: eighths between powers of two.
static size_t class_of(size_t size) {
  size_t step = (size_t)1 << (63 - __builtin_clzll(size) - 3);
  return (size + step - 1) / step * step;
}

static bool is_pooled(size_t size, size_t alignment) {
  return size >= TFRT_NN_POOL_SMALLEST && size < SIZE_MAX / 2 && alignment <= ALIGNMENT;
}

// A block of |size| bytes is out. The mutex is held.
static void note_out(pool_t* pool, size_t size) {
  ++pool->blocks_out;
  pool->bytes_out += size;
  if (pool->bytes_out > pool->peak_bytes) pool->peak_bytes = pool->bytes_out;
}

// It is no more. The mutex is held.
static void note_back(pool_t* pool, size_t size) {
  --pool->blocks_out;
  pool->bytes_out -= size;
}

// Takes the first free block of |size| bytes out of the list, or returns NULL. The mutex is held.
static block_t* take_block(pool_t* pool, size_t size) {
  block_t** link = &pool->free_blocks;
  while (*link && (*link)->size != size) link = &(*link)->next;
  block_t* block = *link;
  if (!block) return NULL;
  *link = block->next;
  pool->free_bytes -= size;
  return block;
}

static void free_list(pool_t* pool, block_t* blocks) {
  while (blocks) {
    block_t* block = blocks;
    blocks = block->next;
    tfrt_allocator_free_aligned(pool->base, block, block->size, ALIGNMENT);
  }
}

// Takes all free blocks. The mutex is held.
static block_t* take_all(pool_t* pool) {
  block_t* blocks = pool->free_blocks;
  pool->free_blocks = NULL;
  pool->free_bytes = 0;
  return blocks;
}

static void* allocate_block(pool_t* pool, size_t size) {
  tfrt_mutex_lock(&pool->mutex);
  block_t* block = take_block(pool, size);
  note_out(pool, size);
  tfrt_mutex_unlock(&pool->mutex);
  if (block) return block;
  void* fresh = tfrt_allocator_allocate_aligned(pool->base, size, ALIGNMENT);
  if (fresh) return fresh;
  // There may be enough when the free ones of other sizes are given back.
  tfrt_mutex_lock(&pool->mutex);
  block_t* others = take_all(pool);
  tfrt_mutex_unlock(&pool->mutex);
  free_list(pool, others);
  fresh = tfrt_allocator_allocate_aligned(pool->base, size, ALIGNMENT);
  if (fresh) return fresh;
  tfrt_mutex_lock(&pool->mutex);
  note_back(pool, size);
  tfrt_mutex_unlock(&pool->mutex);
  return NULL;
}

static void free_pool(pool_t* pool) {
  tfrt_mutex_deinitialize(&pool->mutex);
  tfrt_allocator_free(pool->base, pool, sizeof(*pool));
}

// Keeps the block of |size| bytes, or returns false if there are enough. The mutex is held.
static bool keep_block(pool_t* pool, void* pointer, size_t size) {
  block_t* block = pointer;
  if (pool->is_closed || pool->free_bytes + size > TFRT_NN_POOL_LIMIT) return false;
  block->size = size;
  block->next = pool->free_blocks;
  pool->free_blocks = block;
  pool->free_bytes += size;
  return true;
}

static void* allocate(void* self, size_t size, size_t alignment) {
  pool_t* pool = self;
  if (is_pooled(size, alignment)) return allocate_block(pool, class_of(size));
  void* block = tfrt_allocator_allocate_aligned(pool->base, size, alignment);
  if (!block) return NULL;
  tfrt_mutex_lock(&pool->mutex);
  note_out(pool, size);
  tfrt_mutex_unlock(&pool->mutex);
  return block;
}

static void deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  pool_t* pool = self;
  bool is_large = is_pooled(size, alignment);
  size_t whole = is_large ? class_of(size) : size;
  tfrt_mutex_lock(&pool->mutex);
  bool is_kept = is_large && keep_block(pool, pointer, whole);
  note_back(pool, whole);
  bool is_last = pool->blocks_out == 0 && pool->is_closed;
  tfrt_mutex_unlock(&pool->mutex);
  if (!is_kept) {
    tfrt_allocator_free_aligned(pool->base, pointer, whole, is_large ? ALIGNMENT : alignment);
  }
  if (is_last) free_pool(pool);
}

static const tfrt_allocator_vtable_t vtable = {allocate, deallocate};

static void close_pool(tfrt_resource_t* resource) {
  pool_t* pool = TFRT_CONTAINER_OF(resource, pool_t, resource);
  tfrt_mutex_lock(&pool->mutex);
  pool->is_closed = true;
  block_t* blocks = take_all(pool);
  bool is_last = pool->blocks_out == 0;
  tfrt_mutex_unlock(&pool->mutex);
  free_list(pool, blocks);
  if (is_last) free_pool(pool);
}

static tfrt_status_t create_pool(void* argument, tfrt_resource_t** out_resource) {
  const tfrt_host_context_t* host = argument;
  pool_t* pool = tfrt_allocator_allocate_zeroed(host->allocator, sizeof(*pool));
  if (!pool) return tfrt_status_out_of_memory();
  pool->resource.name = "tfrt_nn_pool";
  pool->resource.destroy = close_pool;
  pool->base = host->allocator;
  tfrt_mutex_initialize(&pool->mutex);
  *out_resource = &pool->resource;
  return NULL;
}

// The pool of |host|, or NULL.
static pool_t* find_pool(tfrt_host_context_t* host) {
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(&host->shared, "tfrt_nn_pool",
                                                             create_pool, host, &resource);
  tfrt_status_release(status);
  return resource ? TFRT_CONTAINER_OF(resource, pool_t, resource) : NULL;
}

tfrt_allocator_t tfrt_nn_pool_allocator(tfrt_host_context_t* host) {
  pool_t* pool = find_pool(host);
  return pool ? (tfrt_allocator_t){&vtable, pool} : host->allocator;
}

size_t tfrt_nn_pool_peak(tfrt_host_context_t* host) {
  pool_t* pool = find_pool(host);
  if (!pool) return 0;
  tfrt_mutex_lock(&pool->mutex);
  size_t peak = pool->peak_bytes;
  tfrt_mutex_unlock(&pool->mutex);
  return peak;
}
