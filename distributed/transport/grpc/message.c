// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/message.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <string.h>

static bool drop_part(tfrt_grpc_outgoing_t* outgoing) {
  // Release: this thread's use of the bytes is over; acquire, for the last one: so is
  // everybody else's. Both sides are this very operation in other threads.
  return atomic_fetch_sub_explicit(&outgoing->parts, 1, memory_order_acq_rel) == 1;
}

static void let_slice_go(void* user_data) {
  tfrt_grpc_outgoing_t* outgoing = user_data;
  if (drop_part(outgoing)) outgoing->on_released(outgoing);
}

// Makes one slice of copies of the spans from |first| on that are too small to be
// borrowed, and sets |*out_end| behind them.
static grpc_slice copy_small_spans(const tfrt_transport_write_t* write, size_t first,
                                   size_t* out_end) {
  size_t size = 0;
  size_t end = first;
  for (; end < write->span_count && write->spans[end].size < TFRT_GRPC_BORROW_SIZE; ++end) {
    size += write->spans[end].size;
  }
  grpc_slice slice = grpc_slice_malloc(size);
  unsigned char* target = GRPC_SLICE_START_PTR(slice);
  for (size_t i = first; i < end; ++i) {
    if (write->spans[i].size == 0) continue;
    memcpy(target, write->spans[i].data, write->spans[i].size);
    target += write->spans[i].size;
  }
  *out_end = end;
  return slice;
}

void tfrt_grpc_outgoing_fill(tfrt_grpc_outgoing_t* outgoing, const tfrt_transport_write_t* write) {
  grpc_slice slices[TFRT_TRANSPORT_MAX_SPANS];
  size_t count = 0;
  uint32_t borrowed = 0;
  for (size_t i = 0; i < write->span_count;) {
    if (write->spans[i].size < TFRT_GRPC_BORROW_SIZE) {
      slices[count++] = copy_small_spans(write, i, &i);
      continue;
    }
    slices[count++] = grpc_slice_new_with_user_data((void*)write->spans[i].data,
                                                    write->spans[i].size, let_slice_go, outgoing);
    ++borrowed;
    ++i;
  }
  // Relaxed: gRPC has not seen the slices yet.
  atomic_store_explicit(&outgoing->parts, 1 + borrowed, memory_order_relaxed);
  outgoing->buffer = grpc_raw_byte_buffer_create(slices, count);
  // The byte buffer has taken references of its own.
  for (size_t i = 0; i < count; ++i) grpc_slice_unref(slices[i]);
}

bool tfrt_grpc_outgoing_finish(tfrt_grpc_outgoing_t* outgoing) {
  grpc_byte_buffer_destroy(outgoing->buffer);
  outgoing->buffer = NULL;
  return drop_part(outgoing);
}

static size_t read_spans(grpc_byte_buffer* buffer, tfrt_transport_span_t* spans) {
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, buffer)) return 0;
  size_t count = 0;
  for (grpc_slice* slice; grpc_byte_buffer_reader_peek(&reader, &slice);) {
    // The slice stays where it is, in the byte buffer, and with it bytes that lie inside of
    // the slice itself.
    if (spans) {
      spans[count] =
          (tfrt_transport_span_t){GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice)};
    }
    ++count;
  }
  grpc_byte_buffer_reader_destroy(&reader);
  return count;
}

bool tfrt_grpc_message_spans(grpc_byte_buffer* buffer, tfrt_grpc_queue_t* queue,
                             const tfrt_transport_span_t** out_spans, size_t* out_count) {
  *out_spans = NULL;
  *out_count = read_spans(buffer, NULL);
  tfrt_transport_span_t* spans = tfrt_grpc_queue_spans(queue, *out_count);
  if (!spans) return false;
  *out_count = read_spans(buffer, spans);
  *out_spans = spans;
  return true;
}
