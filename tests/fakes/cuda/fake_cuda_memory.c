// SPDX-License-Identifier: Apache-2.0
//
// Memory, and the copies and fills of it.
#include "tests/fakes/cuda/fake_cuda_call.h"

// --- Memory ----------------------------------------------------------------------------------

// Makes a block of |kind|, the call having begun with |error|.
static int fake_allocate(int error, tfrt_fake_memory_kind_t kind, size_t size,
                         tfrt_cuda_address_t* out_address) {
  if (error) return tfrt_fake_end(error);
  tfrt_fake_context_t* context = tfrt_fake_current();
  if (size == 0) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  if (size > TFRT_FAKE_CUDA_MEMORY_SIZE - context->used_size) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_OUT_OF_MEMORY);
  }
  tfrt_fake_block_t* block = tfrt_fake_block_create(kind, context, NULL, size);
  *out_address = (tfrt_cuda_address_t)(uintptr_t)block->data;
  return tfrt_fake_end(0);
}

// The block of |kind| that begins at |address|, marked as freed; NULL, and a defect, if there
// is none.
static tfrt_fake_block_t* fake_free(const char* name, tfrt_fake_memory_kind_t kind,
                                    tfrt_cuda_address_t address) {
  tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, 1, true);
  if (!block) return NULL;
  if (block->data != (char*)(uintptr_t)address || block->kind != kind || block->is_freed) {
    tfrt_fake_defect("%s: %s", name, block->is_freed ? "freed twice" : "not its memory");
    return NULL;
  }
  block->is_freed = true;
  return block;
}

static int fake_free_now(int error, const char* name, tfrt_fake_memory_kind_t kind,
                         tfrt_cuda_address_t address) {
  if (error) return tfrt_fake_end(error);
  tfrt_fake_block_t* block = fake_free(name, kind, address);
  if (block) tfrt_fake_block_kill(block);
  return tfrt_fake_end(block ? 0 : TFRT_CUDA_ERROR_INVALID_VALUE);
}

tfrt_cuda_result_t tfrt_fake_MemAlloc(tfrt_cuda_address_t* address, size_t size) {
  return fake_allocate(tfrt_fake_begin_in_context("cuMemAlloc", NULL), TFRT_FAKE_MEMORY_DEVICE,
                       size, address);
}

// Takes memory of a pool, too, if no work uses it.
tfrt_cuda_result_t tfrt_fake_MemFree(tfrt_cuda_address_t address) {
  int error = tfrt_fake_begin_in_context("cuMemFree", NULL);
  const tfrt_fake_block_t* block = tfrt_fake_pool_find((void*)(uintptr_t)address);
  if (block && tfrt_fake_is_in_use(block)) tfrt_fake_defect("cuMemFree of memory in use");
  return fake_free_now(error, "cuMemFree", block ? TFRT_FAKE_MEMORY_POOL : TFRT_FAKE_MEMORY_DEVICE,
                       address);
}

tfrt_cuda_result_t tfrt_fake_MemGetAddressRange(tfrt_cuda_address_t* start, size_t* size,
                                                tfrt_cuda_address_t address) {
  int error = tfrt_fake_begin_in_context("cuMemGetAddressRange", NULL);
  if (error) return tfrt_fake_end(error);
  const tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, 1, false);
  if (!block) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  *start = (tfrt_cuda_address_t)(uintptr_t)block->data;
  *size = block->size;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_MemAllocAsync(tfrt_cuda_address_t* address, size_t size,
                                           tfrt_cuda_stream_handle_t stream) {
  return fake_allocate(tfrt_fake_begin_in_stream("cuMemAllocAsync", stream), TFRT_FAKE_MEMORY_POOL,
                       size, address);
}

tfrt_cuda_result_t tfrt_fake_MemFreeAsync(tfrt_cuda_address_t address,
                                          tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_begin_in_stream("cuMemFreeAsync", stream);
  if (error) return tfrt_fake_end(error);
  tfrt_fake_block_t* block = fake_free("cuMemFreeAsync", TFRT_FAKE_MEMORY_POOL, address);
  if (!block) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_FREE);
  op->block = block;
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_DeviceGetDefaultMemPool(tfrt_cuda_pool_t* pool, int device) {
  int error = tfrt_fake_begin("cuDeviceGetDefaultMemPool");
  // A device's pool is its context.
  *pool = (tfrt_cuda_pool_t)(void*)&tfrt_fake.contexts[device - 100];
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_MemPoolSetAttribute(tfrt_cuda_pool_t pool, int attribute,
                                                 void* value) {
  (void)pool;
  (void)value;
  int error = tfrt_fake_begin("cuMemPoolSetAttribute");
  if (attribute != TFRT_CUDA_POOL_RELEASE_THRESHOLD) error = TFRT_CUDA_ERROR_INVALID_VALUE;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_MemPoolSetAccess(tfrt_cuda_pool_t pool,
                                              const tfrt_cuda_access_t* accesses, size_t count) {
  int error = tfrt_fake_begin("cuMemPoolSetAccess");
  tfrt_fake_context_t* context = (tfrt_fake_context_t*)(void*)pool;
  bool* access = tfrt_fake_pool_is_default(pool) ? context->pool_access : pool->access;
  for (size_t i = 0; i < count && !error; ++i) access[accesses[i].location_id - 100] = true;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_MemHostAlloc(void** data, size_t size, unsigned flags) {
  (void)flags;
  tfrt_cuda_address_t address = 0;
  int error = fake_allocate(tfrt_fake_begin_in_context("cuMemHostAlloc", NULL),
                            TFRT_FAKE_MEMORY_PINNED, size, &address);
  *data = (void*)(uintptr_t)address;
  return error;
}

tfrt_cuda_result_t tfrt_fake_MemFreeHost(void* data) {
  return fake_free_now(tfrt_fake_begin_in_context("cuMemFreeHost", NULL), "cuMemFreeHost",
                       TFRT_FAKE_MEMORY_PINNED, (tfrt_cuda_address_t)(uintptr_t)data);
}

tfrt_cuda_result_t tfrt_fake_MemHostRegister(void* data, size_t size, unsigned flags) {
  (void)flags;
  int error = tfrt_fake_begin_in_context("cuMemHostRegister", NULL);
  if (!error) tfrt_fake_block_create(TFRT_FAKE_MEMORY_REGISTERED, tfrt_fake_current(), data, size);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_MemHostUnregister(void* data) {
  return fake_free_now(tfrt_fake_begin_in_context("cuMemHostUnregister", NULL),
                       "cuMemHostUnregister", TFRT_FAKE_MEMORY_REGISTERED,
                       (tfrt_cuda_address_t)(uintptr_t)data);
}

// --- Copies and fills ------------------------------------------------------------------------

bool tfrt_fake_can_use(const tfrt_fake_context_t* context, tfrt_cuda_address_t address, size_t size,
                       bool is_peer_copy) {
  tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, size, true);
  if (!block) return false;
  if (block->is_freed) {
    tfrt_fake_defect("work is given with a block of %zu bytes that was freed", block->size);
    return false;
  }
  // Memory that another process has exported is nobody's at first, not even its own device's.
  bool is_foreign = block->pool && block->pool->is_imported;
  if (block->kind >= TFRT_FAKE_MEMORY_PINNED) return true;
  if (block->context == context && !is_foreign) return true;
  if (block->context == context && block->pool->access[context->ordinal]) return true;
  bool reaches = context->peers[block->context->ordinal];
  if (block->kind == TFRT_FAKE_MEMORY_POOL) {
    reaches = block->pool ? block->pool->access[context->ordinal]
                          : block->context->pool_access[context->ordinal];
  }
  if (is_peer_copy && reaches) return true;
  tfrt_fake_defect("memory of another context is used");
  return false;
}

static int fake_copy(int error, tfrt_cuda_address_t target, tfrt_cuda_address_t source, size_t size,
                     bool is_peer_copy, tfrt_fake_stream_t* stream) {
  if (error) return tfrt_fake_end(error);
  if (!tfrt_fake_can_use(stream->context, target, size, is_peer_copy) ||
      !tfrt_fake_can_use(stream->context, source, size, is_peer_copy)) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_COPY);
  op->target = (char*)(uintptr_t)target;
  op->source = (const char*)(uintptr_t)source;
  op->size = size;
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_MemcpyAsync(tfrt_cuda_address_t target, tfrt_cuda_address_t source,
                                         size_t size, tfrt_cuda_stream_handle_t stream) {
  return fake_copy(tfrt_fake_begin_in_stream("cuMemcpyAsync", stream), target, source, size, false,
                   stream);
}

tfrt_cuda_result_t tfrt_fake_MemcpyPeerAsync(tfrt_cuda_address_t target,
                                             tfrt_cuda_context_t target_context,
                                             tfrt_cuda_address_t source,
                                             tfrt_cuda_context_t source_context, size_t size,
                                             tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_begin_in_stream("cuMemcpyPeerAsync", stream);
  const tfrt_fake_block_t* to = tfrt_fake_block_find((void*)(uintptr_t)target, size, true);
  const tfrt_fake_block_t* from = tfrt_fake_block_find((void*)(uintptr_t)source, size, true);
  if (to && from && (to->context != target_context || from->context != source_context)) {
    tfrt_fake_defect("cuMemcpyPeerAsync with the wrong contexts");
  }
  return fake_copy(error, target, source, size, true, stream);
}

static int fake_fill(int error, tfrt_cuda_address_t target, unsigned pattern, unsigned width,
                     size_t count, tfrt_fake_stream_t* stream) {
  if (error) return tfrt_fake_end(error);
  if (!tfrt_fake_can_use(stream->context, target, count * width, false)) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_FILL);
  op->target = (char*)(uintptr_t)target;
  op->pattern = pattern;
  op->width = width;
  op->size = count * width;
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_MemsetD8Async(tfrt_cuda_address_t target, unsigned char pattern,
                                           size_t count, tfrt_cuda_stream_handle_t stream) {
  return fake_fill(tfrt_fake_begin_in_stream("cuMemsetD8Async", stream), target, pattern, 1, count,
                   stream);
}
tfrt_cuda_result_t tfrt_fake_MemsetD16Async(tfrt_cuda_address_t target, unsigned short pattern,
                                            size_t count, tfrt_cuda_stream_handle_t stream) {
  return fake_fill(tfrt_fake_begin_in_stream("cuMemsetD16Async", stream), target, pattern, 2, count,
                   stream);
}
tfrt_cuda_result_t tfrt_fake_MemsetD32Async(tfrt_cuda_address_t target, unsigned pattern,
                                            size_t count, tfrt_cuda_stream_handle_t stream) {
  return fake_fill(tfrt_fake_begin_in_stream("cuMemsetD32Async", stream), target, pattern, 4, count,
                   stream);
}
