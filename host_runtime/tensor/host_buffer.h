// SPDX-License-Identifier: Apache-2.0
//
// Counted memory for tensors. Several tensors may look at one buffer, or at slices of
// it; who has the last reference gives the memory back.
//
//   owned      | buffer | data ...           one block, data aligned to 64 bytes
//   external   | buffer | --> data           somebody's bytes and how to give them back
//   slice      | buffer | --> parent's data  keeps its parent alive
//
// Life:
//  1. Created at +1, in one of the three ways.
//  2. Shared by retaining. Its sharers decide about its content.
//  3. Released; the last release gives back the memory, or calls the deallocator, or
//     releases the parent.
//
// Thread rule: counting is thread-safe; the content is thread-compatible (chains order writes and
// reads).
// Failure rule: creation fails with RESOURCE_EXHAUSTED when memory or budget is out.
#ifndef TFRT_HOST_RUNTIME_TENSOR_HOST_BUFFER_H_
#define TFRT_HOST_RUNTIME_TENSOR_HOST_BUFFER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

// Alignment of owned data: a cache line, and the widest vector registers.
#define TFRT_HOST_BUFFER_ALIGNMENT 64

// Gives back the |size| bytes at |data| of an external buffer. Called once, on the
// thread that drops the last reference.
typedef void (*tfrt_host_buffer_deallocate_fn_t)(void* context, void* data, size_t size);

// How memory that somebody else allocated is given back.
typedef struct tfrt_host_buffer_external_s {
  tfrt_host_buffer_deallocate_fn_t deallocate;
  void* context;
} tfrt_host_buffer_external_t;

// All but |data| and |size| belongs to host_buffer.c.
typedef struct tfrt_host_buffer_s {
  tfrt_ref_count_t ref_count;
  uint32_t kind;
  void* data;  // of |size| bytes; may be NULL if that is 0
  size_t size;
  tfrt_allocator_t allocator;
  size_t block_size;
  union {
    struct tfrt_host_buffer_s* parent;  // +1, of a slice
    tfrt_host_buffer_external_t external;
  };
} tfrt_host_buffer_t;

// Sets |*out_buffer| to a new buffer (+1) with |size| bytes of its own, whose content
// is undefined. Thread-safe.
tfrt_status_t tfrt_host_buffer_create(size_t size, tfrt_allocator_t allocator,
                                      tfrt_host_buffer_t** out_buffer) TFRT_MUST_USE;

// Sets |*out_buffer| to a new buffer (+1) over the |size| bytes at |data|, which are
// given back by |deallocate| with |context|; not called if this fails. Thread-safe.
tfrt_status_t tfrt_host_buffer_create_external(void* data, size_t size,
                                               tfrt_host_buffer_deallocate_fn_t deallocate,
                                               void* context, tfrt_allocator_t allocator,
                                               tfrt_host_buffer_t** out_buffer) TFRT_MUST_USE;

// Sets |*out_buffer| to a new buffer (+1) over |size| bytes from |offset| of |parent|,
// which is kept alive. OUT_OF_RANGE if the parent has fewer. Thread-safe.
tfrt_status_t tfrt_host_buffer_create_slice(tfrt_host_buffer_t* parent, size_t offset, size_t size,
                                            tfrt_allocator_t allocator,
                                            tfrt_host_buffer_t** out_buffer) TFRT_MUST_USE;

// The buffer (+0) whose memory |buffer| is in: itself, unless it is a slice. Lives as long as
// |buffer|. Thread-safe.
const tfrt_host_buffer_t* tfrt_host_buffer_root(const tfrt_host_buffer_t* buffer);

// True if |buffer| has memory of its own, and only one reference: its owner may write there.
// Thread-safe.
bool tfrt_host_buffer_is_exclusive(const tfrt_host_buffer_t* buffer);

// Adds one reference to |buffer| and returns it. Thread-safe.
tfrt_host_buffer_t* tfrt_host_buffer_retain(tfrt_host_buffer_t* buffer);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_host_buffer_release(tfrt_host_buffer_t* buffer);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_HOST_BUFFER_H_
