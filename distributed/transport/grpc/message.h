// SPDX-License-Identifier: Apache-2.0
//
// Spans of bytes to gRPC's byte buffers, and back, with no copy of what is big.
//
// A span of TFRT_GRPC_BORROW_SIZE bytes or more travels as a slice that borrows it. Smaller
// neighbours are copied into one slice, which is cheaper than tracking them. gRPC may release a
// borrowed slice at any time and on any thread, before or after it has completed the operation. So
// a message on its way out counts its *parts*:
//
//   parts = 1 for the operation + 1 for each borrowed slice
//   the operation is done: -1 ---+--> 0: the borrow of all bytes ends
//   a slice is let go:     -1 ---+
//
// Life of a message on its way out: filled, sent, finished once (the operation), and done
// when tfrt_grpc_outgoing_finish() has returned true or |on_released| was called: exactly
// one of the two happens. It can be filled again then.
//
// Thread rule: thread-compatible, but for the parts, which are counted from any thread.
// Failure rule: none fails; gRPC aborts when memory is out.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_MESSAGE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_MESSAGE_H_

#include <grpc/byte_buffer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/grpc/queue.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/macros.h"

typedef struct tfrt_grpc_outgoing_s tfrt_grpc_outgoing_t;

struct tfrt_grpc_outgoing_s {
  grpc_byte_buffer* buffer;
  _Atomic uint32_t parts;
  // The last slice was let go after the operation was done. Called from any thread, from
  // inside of gRPC: MAY do nothing but post an event.
  void (*on_released)(tfrt_grpc_outgoing_t* outgoing);
};

// Makes |outgoing->buffer| the message of |write|, whose bytes are borrowed until it is
// done. Thread-compatible.
void tfrt_grpc_outgoing_fill(tfrt_grpc_outgoing_t* outgoing, const tfrt_transport_write_t* write);

// Says that the operation that sends |outgoing| is done. Returns true if the bytes are no
// longer borrowed; else |on_released| will tell. Thread-compatible.
bool tfrt_grpc_outgoing_finish(tfrt_grpc_outgoing_t* outgoing) TFRT_MUST_USE;

// Sets |*out_spans| and |*out_count| to the pieces of |buffer|, which is not changed and
// must outlive them, and returns true, or returns false when memory is out. Belongs to the
// thread of |queue|, whose room it uses.
bool tfrt_grpc_message_spans(grpc_byte_buffer* buffer, tfrt_grpc_queue_t* queue,
                             const tfrt_transport_span_t** out_spans, size_t* out_count)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_MESSAGE_H_
