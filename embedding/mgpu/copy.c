// SPDX-License-Identifier: Apache-2.0
#include "embedding/mgpu/copy.h"

#include <string.h>

#include "embedding/mgpu/memory.h"
#include "host_runtime/async/blocking_wait.h"

// One side of a copy.
typedef struct side_s {
  char* pointer;
  tfrt_device_buffer_t* buffer;  // +1; NULL: the host's own memory
  size_t offset;                 // in it
} side_t;

static side_t find_side(void* pointer) {
  side_t side = {.pointer = pointer};
  side.buffer = tfrt_mgpu_memory_find(pointer, &side.offset);
  return side;
}

tfrt_status_t tfrt_mgpu_wait_take(tfrt_async_value_t* chain) {
  tfrt_blocking_wait(&chain, 1);
  tfrt_status_t status =
      tfrt_async_value_is_error(chain) ? tfrt_status_retain(tfrt_async_value_error(chain)) : NULL;
  tfrt_async_value_release(chain);
  return status;
}

// Copies a piece, with one side in |pinned|.
static tfrt_status_t copy_piece(tfrt_device_stream_t* stream, const side_t* target,
                                const side_t* source, size_t done, size_t size,
                                tfrt_device_buffer_t* pinned) {
  char* bytes = tfrt_device_buffer_host_data(pinned);
  if (target->buffer) {
    memcpy(bytes, source->pointer + done, size);
    return tfrt_device_stream_copy(stream, target->buffer, target->offset + done, pinned, 0, size);
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_device_stream_copy(stream, pinned, 0, source->buffer, source->offset + done, size));
  TFRT_RETURN_IF_ERROR(tfrt_mgpu_wait_take(tfrt_device_stream_await(stream)));
  memcpy(target->pointer + done, bytes, size);
  return NULL;
}

static tfrt_status_t copy_in_pieces(tfrt_device_stream_t* stream, const side_t* target,
                                    const side_t* source, size_t size) {
  tfrt_device_allocator_t* allocator = tfrt_mgpu_session_find(stream->device)->shared_memory;
  tfrt_status_t status = NULL;
  for (size_t done = 0; done < size && !status; done += TFRT_MGPU_COPY_PIECE) {
    const size_t piece = size - done < TFRT_MGPU_COPY_PIECE ? size - done : TFRT_MGPU_COPY_PIECE;
    tfrt_device_buffer_t* pinned;
    TFRT_RETURN_IF_ERROR(tfrt_device_allocator_allocate(allocator, NULL, piece, &pinned));
    status = copy_piece(stream, target, source, done, piece, pinned);
    // Given back when the stream has come so far.
    tfrt_device_buffer_release(pinned);
  }
  return status;
}

static tfrt_status_t copy_on_host(tfrt_device_stream_t* stream, const side_t* target,
                                  const side_t* source, size_t size) {
  TFRT_RETURN_IF_ERROR(tfrt_mgpu_wait_take(tfrt_device_stream_await(stream)));
  memmove(target->pointer, source->pointer, size);
  return NULL;
}

tfrt_status_t tfrt_mgpu_copy(tfrt_device_stream_t* stream, void* target, void* source,
                             size_t size) {
  side_t to = find_side(target), from = find_side(source);
  tfrt_status_t status;
  if (to.buffer && from.buffer) {
    status = tfrt_device_stream_copy(stream, to.buffer, to.offset, from.buffer, from.offset, size);
  } else if (to.buffer || from.buffer) {
    status = copy_in_pieces(stream, &to, &from, size);
  } else {
    status = copy_on_host(stream, &to, &from, size);
  }
  tfrt_device_buffer_release(to.buffer);
  tfrt_device_buffer_release(from.buffer);
  return status;
}
