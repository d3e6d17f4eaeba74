// SPDX-License-Identifier: Apache-2.0
//
// The memory that compiled programs know by address: which buffer an address lies in. Memory that
// no call has made or pinned is the host's.
//
//   address   | block | ... | block |     sorted
//
// Thread rule: thread-safe. Failure rule: RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_EMBEDDING_MGPU_MEMORY_H_
#define TFRT_EMBEDDING_MGPU_MEMORY_H_

#include "devices/device_buffer.h"

// Puts |buffer| in, which it takes, also when it fails. Thread-safe.
tfrt_status_t tfrt_mgpu_memory_add_take(tfrt_device_buffer_t* buffer) TFRT_MUST_USE;

// Takes out the buffer (+1) that begins at |pointer|; NULL if there is none. Thread-safe.
tfrt_device_buffer_t* tfrt_mgpu_memory_remove(const void* pointer);

// The buffer (+1) with |pointer| in it, and its offset; NULL if there is none. Thread-safe.
tfrt_device_buffer_t* tfrt_mgpu_memory_find(const void* pointer, size_t* out_offset);

// How many buffers are in. Thread-safe.
int64_t tfrt_mgpu_memory_count(void);

// Releases all. Thread-compatible.
void tfrt_mgpu_memory_clear(void);

#endif  // TFRT_EMBEDDING_MGPU_MEMORY_H_
