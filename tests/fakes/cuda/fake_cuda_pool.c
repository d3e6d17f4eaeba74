// SPDX-License-Identifier: Apache-2.0
//
// Pools that are made, and those of other processes.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fakes/cuda/fake_cuda_call.h"

#define PAGE ((uint64_t)4096)
#define MAGIC UINT64_C(0x6b636f6c42656b61)

// An exported block, in the bytes that the driver keeps for itself.
typedef struct fake_exported_s {
  uint64_t magic;
  uint64_t pool;  // the file's number
  uint64_t offset;
  uint64_t size;
  int process;
} fake_exported_t;

// --- Pools -----------------------------------------------------------------------------------

bool tfrt_fake_pool_is_default(const tfrt_fake_pool_t* pool) {
  const void* address = pool;
  for (int i = 0; i < TFRT_FAKE_CUDA_DEVICE_COUNT; ++i) {
    if (address == (const void*)&tfrt_fake.contexts[i]) return true;
  }
  return false;
}

static tfrt_fake_pool_t* fake_pool_create(tfrt_fake_context_t* context, int file) {
  tfrt_fake_pool_t* pool = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*pool));
  pool->context = context;
  pool->file = file;
  tfrt_list_push_back(&tfrt_fake.pools, &pool->link);
  return pool;
}

tfrt_cuda_result_t tfrt_fake_MemPoolCreate(tfrt_cuda_pool_t* out_pool,
                                           const tfrt_cuda_pool_options_t* options) {
  int error = tfrt_fake_begin("cuMemPoolCreate");
  static const unsigned char zeros[sizeof(options->reserved)];
  bool is_right = options->allocation_type == TFRT_CUDA_ALLOCATION_PINNED &&
                  options->handle_types == TFRT_CUDA_HANDLE_DESCRIPTOR &&
                  options->location_type == TFRT_CUDA_LOCATION_DEVICE &&
                  options->location_id >= 100 &&
                  options->location_id < 100 + TFRT_FAKE_CUDA_DEVICE_COUNT && !options->security &&
                  options->max_size == 0 && memcmp(options->reserved, zeros, sizeof(zeros)) == 0;
  if (!error && !is_right) error = TFRT_CUDA_ERROR_INVALID_VALUE;
  int file = error ? -1 : memfd_create("fake-pool", MFD_CLOEXEC);
  if (!error && file < 0) error = TFRT_CUDA_ERROR_OUT_OF_MEMORY;
  if (error) return tfrt_fake_end(error);
  tfrt_fake_context_t* context = &tfrt_fake.contexts[options->location_id - 100];
  *out_pool = fake_pool_create(context, file);
  (*out_pool)->access[context->ordinal] = true;
  return tfrt_fake_end(0);
}

static void fake_pool_close_unused(tfrt_fake_pool_t* pool) {
  if (!pool->is_destroyed || pool->block_count > 0) return;
  close(pool->file);
  pool->file = -1;
}

const tfrt_fake_block_t* tfrt_fake_pool_find(const void* address) {
  for (tfrt_list_link_t* l = tfrt_fake.blocks.next; l != &tfrt_fake.blocks; l = l->next) {
    const tfrt_fake_block_t* block = TFRT_CONTAINER_OF(l, tfrt_fake_block_t, link);
    bool is_it = block->kind == TFRT_FAKE_MEMORY_POOL && block->data == address;
    if (is_it && !block->is_dead) return block;
  }
  return NULL;
}

tfrt_cuda_result_t tfrt_fake_MemPoolDestroy(tfrt_cuda_pool_t pool) {
  int error = tfrt_fake_begin("cuMemPoolDestroy");
  if (error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_handle(&tfrt_fake.pools, &pool->link, "pool")) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_list_remove(&pool->link);
  tfrt_list_push_back(&tfrt_fake.old_pools, &pool->link);
  // The driver keeps what it needs of it until the last block is freed.
  pool->is_destroyed = true;
  fake_pool_close_unused(pool);
  return tfrt_fake_end(0);
}

// Opens the part of |size| bytes with its page, at |offset| of |file|; NULL if that can't be.
static tfrt_fake_part_t* fake_part_open(int file, uint64_t offset, uint64_t size) {
  void* part = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
  return part == MAP_FAILED ? NULL : part;
}

static tfrt_fake_block_t* fake_pool_add(tfrt_fake_pool_t* pool, tfrt_fake_part_t* part,
                                        uint64_t offset, size_t size) {
  bool is_new = !pool->is_imported;
  size_t used = pool->context->used_size;
  tfrt_fake_block_t* block =
      tfrt_fake_block_create(TFRT_FAKE_MEMORY_POOL, pool->context, (char*)part + PAGE, size);
  if (!is_new) pool->context->used_size = used;
  block->pool = pool;
  block->part = part;
  block->offset = offset;
  ++pool->block_count;
  return block;
}

tfrt_cuda_result_t tfrt_fake_MemAllocFromPoolAsync(tfrt_cuda_address_t* address, size_t size,
                                                   tfrt_cuda_pool_t pool,
                                                   tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_begin_in_stream("cuMemAllocFromPoolAsync", stream);
  if (error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_handle(&tfrt_fake.pools, &pool->link, "pool") || pool->is_imported ||
      pool->context != stream->context || size == 0) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  if (size > TFRT_FAKE_CUDA_MEMORY_SIZE - pool->context->used_size) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_OUT_OF_MEMORY);
  }
  uint64_t whole = PAGE + (size + PAGE - 1) / PAGE * PAGE;
  tfrt_fake_part_t* part = NULL;
  if (ftruncate(pool->file, (off_t)(pool->next + whole)) == 0) {
    part = fake_part_open(pool->file, pool->next, size);
  }
  if (!part) return tfrt_fake_end(TFRT_CUDA_ERROR_OUT_OF_MEMORY);
  tfrt_fake_block_t* block = fake_pool_add(pool, part, pool->next, size);
  pool->next += whole;
  memset(block->data, 0xcd, size);
  part->magic = MAGIC;
  part->size = size;
  // Relaxed: who imports it has heard of it by way of a message.
  atomic_store_explicit(&part->is_alive, 1, memory_order_relaxed);
  *address = (tfrt_cuda_address_t)(uintptr_t)block->data;
  return tfrt_fake_end(0);
}

bool tfrt_fake_is_in_use(const tfrt_fake_block_t* block) {
  for (tfrt_list_link_t* l = tfrt_fake.streams.next; l != &tfrt_fake.streams; l = l->next) {
    const tfrt_fake_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_fake_stream_t, link);
    for (tfrt_list_link_t* o = stream->ops.next; o != &stream->ops; o = o->next) {
      const tfrt_fake_op_t* op = TFRT_CONTAINER_OF(o, tfrt_fake_op_t, link);
      const char* ends[] = {op->target, op->source};
      for (int i = 0; i < 2; ++i) {
        if (ends[i] >= block->data && ends[i] < block->data + block->size) return true;
      }
    }
  }
  return false;
}

// --- Other processes -------------------------------------------------------------------------

// Whether |process| has memory. One that was killed gives its memory up before it closes its
// sockets (exit_mm and exit_files of Linux), and only later ends: a lender sees its socket closed,
// and may free what was lent, while the process is still there.
static bool fake_has_memory(int process) {
  char path[64];
  char text[256] = "";
  snprintf(path, sizeof(path), "/proc/%d/statm", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  return size > 0 && strtoull(text, NULL, 10) > 0;
}

static void fake_part_end(tfrt_fake_block_t* block) {
  tfrt_fake_part_t* part = block->part;
  // Relaxed, all of them: only for what is found wrong.
  if (block->pool->is_imported) {
    if (!atomic_load_explicit(&part->is_alive, memory_order_relaxed)) {
      tfrt_fake_defect("memory of another process was freed there before it was freed here");
    }
    for (int i = 0; i < TFRT_FAKE_MAX_IMPORTERS; ++i) {
      int mine = getpid();
      if (atomic_compare_exchange_strong_explicit(&part->users[i], &mine, 0, memory_order_relaxed,
                                                  memory_order_relaxed)) {
        break;
      }
    }
    munmap(part, PAGE + block->size);
    return;
  }
  for (int i = 0; i < TFRT_FAKE_MAX_IMPORTERS; ++i) {
    int user = atomic_load_explicit(&part->users[i], memory_order_relaxed);
    if (user != 0 && fake_has_memory(user)) {
      tfrt_fake_defect("memory is freed that the process %d has open", user);
    }
  }
  atomic_store_explicit(&part->is_alive, 0, memory_order_relaxed);
  memset(block->data, 0xdd, block->size);
  // The system gets the pages back; the addresses are not used again, nor is the page that tells
  // other processes of the end, unless all is to be forgotten.
  uint64_t whole = (block->size + PAGE - 1) / PAGE * PAGE;
  uint64_t kept = tfrt_fake.forgets ? 0 : PAGE;
  fallocate(block->pool->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            (off_t)(block->offset + kept), (off_t)(PAGE - kept + whole));
  if (tfrt_fake.forgets) munmap(part, PAGE + block->size);
}

void tfrt_fake_part_end(tfrt_fake_block_t* block) {
  fake_part_end(block);
  --block->pool->block_count;
  fake_pool_close_unused(block->pool);
}

tfrt_cuda_result_t tfrt_fake_MemPoolExportToShareableHandle(void* handle, tfrt_cuda_pool_t pool,
                                                            int type, unsigned long long flags) {
  int error = tfrt_fake_begin("cuMemPoolExportToShareableHandle");
  if (error) return tfrt_fake_end(error);
  // A device's default pool has no handle, and an imported one is not the importer's to give away.
  if (tfrt_fake_pool_is_default(pool) || pool->is_imported || flags != 0 ||
      type != TFRT_CUDA_HANDLE_DESCRIPTOR) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  int file = fcntl(pool->file, F_DUPFD_CLOEXEC, 3);
  memcpy(handle, &file, sizeof(file));
  pool->is_exported |= file >= 0;
  return tfrt_fake_end(file >= 0 ? 0 : TFRT_CUDA_ERROR_OUT_OF_MEMORY);
}

static uint64_t fake_file_number(int file) {
  struct stat about;
  return fstat(file, &about) == 0 ? about.st_ino : 0;
}

tfrt_cuda_result_t tfrt_fake_MemPoolImportFromShareableHandle(tfrt_cuda_pool_t* out_pool,
                                                              void* handle, int type,
                                                              unsigned long long flags) {
  int error = tfrt_fake_begin_in_context("cuMemPoolImportFromShareableHandle", NULL);
  if (error) return tfrt_fake_end(error);
  int file = (int)(intptr_t)handle;
  // Only a file in memory that may still grow is one of ours.
  bool is_pool = type == TFRT_CUDA_HANDLE_DESCRIPTOR && flags == 0 && fcntl(file, F_GET_SEALS) >= 0;
  for (tfrt_list_link_t* l = tfrt_fake.pools.next; l != &tfrt_fake.pools; l = l->next) {
    const tfrt_fake_pool_t* pool = TFRT_CONTAINER_OF(l, tfrt_fake_pool_t, link);
    // Memory of this process has its addresses here already.
    is_pool &= pool->is_imported || fake_file_number(pool->file) != fake_file_number(file);
  }
  int copy = is_pool ? fcntl(file, F_DUPFD_CLOEXEC, 3) : -1;
  if (copy < 0) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  *out_pool = fake_pool_create(tfrt_fake_current(), copy);
  (*out_pool)->is_imported = true;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_MemPoolExportPointer(tfrt_cuda_exported_t* exported,
                                                  tfrt_cuda_address_t address) {
  int error = tfrt_fake_begin_in_context("cuMemPoolExportPointer", NULL);
  if (error) return tfrt_fake_end(error);
  const tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, 1, false);
  // Only whole blocks of a pool with a handle, which was asked for before, as drivers have it.
  if (!block || !block->pool || block->pool->is_imported || !block->pool->is_exported ||
      block->data != (char*)(uintptr_t)address || block->is_freed) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  const fake_exported_t what = {.magic = MAGIC,
                                .pool = fake_file_number(block->pool->file),
                                .offset = block->offset,
                                .size = block->size,
                                .process = getpid()};
  memset(exported->bytes, 0, sizeof(exported->bytes));
  memcpy(exported->bytes, &what, sizeof(what));
  return tfrt_fake_end(0);
}

// Writes this process down among the users of |part|; false if there is no room.
static bool fake_part_use(tfrt_fake_part_t* part) {
  for (int i = 0; i < TFRT_FAKE_MAX_IMPORTERS; ++i) {
    int none = 0;
    if (atomic_compare_exchange_strong_explicit(&part->users[i], &none, getpid(),
                                                memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

tfrt_cuda_result_t tfrt_fake_MemPoolImportPointer(tfrt_cuda_address_t* address,
                                                  tfrt_cuda_pool_t pool,
                                                  tfrt_cuda_exported_t* exported) {
  int error = tfrt_fake_begin_in_context("cuMemPoolImportPointer", NULL);
  if (error) return tfrt_fake_end(error);
  fake_exported_t what;
  memcpy(&what, exported->bytes, sizeof(what));
  struct stat about;
  bool is_good = tfrt_fake_is_handle(&tfrt_fake.pools, &pool->link, "pool") && pool->is_imported &&
                 what.magic == MAGIC && fstat(pool->file, &about) == 0 &&
                 what.pool == about.st_ino && what.offset % PAGE == 0 && what.size > 0 &&
                 what.size < (uint64_t)about.st_size &&
                 what.offset + PAGE + what.size <= (uint64_t)about.st_size;
  tfrt_fake_part_t* part = is_good ? fake_part_open(pool->file, what.offset, what.size) : NULL;
  if (!part) return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  if (part->magic != MAGIC || part->size != what.size ||
      !atomic_load_explicit(&part->is_alive, memory_order_relaxed) || !fake_part_use(part)) {
    munmap(part, PAGE + what.size);
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_fake_block_t* block = fake_pool_add(pool, part, what.offset, (size_t)what.size);
  *address = (tfrt_cuda_address_t)(uintptr_t)block->data;
  return tfrt_fake_end(0);
}
