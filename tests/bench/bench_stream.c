// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_stream.h"

#include <string.h>

#include "host_runtime/base/clock.h"

#define PATIENCE_NS (60 * TFRT_NANOSECONDS_PER_SECOND)

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status);

// Writes the oldest message that is not written yet. Nothing is being written: |written| stays.
static void write_next(tfrt_bench_stream_t* stream) {
  stream->write.spans[0] = (tfrt_transport_span_t){
      stream->messages[stream->written % TFRT_BENCH_STREAM_ROOM], TFRT_BENCH_STREAM_MESSAGE_SIZE};
  stream->write.span_count = 1;
  stream->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(stream->connection, &stream->write);
  if (status) stream->on_broken(stream);
  tfrt_status_release(status);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  tfrt_bench_stream_t* stream = TFRT_CONTAINER_OF(write, tfrt_bench_stream_t, write);
  tfrt_mutex_lock(&stream->mutex);
  bool is_next = ++stream->written < stream->sent;
  tfrt_mutex_unlock(&stream->mutex);
  if (status) {
    stream->on_broken(stream);
  } else if (is_next) {
    write_next(stream);
  }
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_bench_stream_t* stream = TFRT_CONTAINER_OF(handler, tfrt_bench_stream_t, handler);
  char bytes[TFRT_BENCH_STREAM_MESSAGE_SIZE];
  size_t size = 0;
  for (size_t i = 0; i < span_count; ++i) {
    if (size + spans[i].size <= sizeof(bytes)) memcpy(bytes + size, spans[i].data, spans[i].size);
    size += spans[i].size;
  }
  // At once, as a session does: who asks when the next message is there wakes a thread for it.
  tfrt_transport_connection_receive(connection);
  if (size == sizeof(bytes)) {
    stream->on_message(stream, bytes);
  } else {
    stream->on_broken(stream);
  }
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  (void)end;
  (void)status;
  tfrt_bench_stream_t* stream = TFRT_CONTAINER_OF(handler, tfrt_bench_stream_t, handler);
  stream->on_broken(stream);
}

static const tfrt_transport_handler_vtable_t kHandlerVtable = {on_message, on_closed};

void tfrt_bench_stream_initialize(tfrt_bench_stream_t* stream,
                                  void (*on_message)(tfrt_bench_stream_t* stream,
                                                     const void* bytes),
                                  void (*on_broken)(tfrt_bench_stream_t* stream)) {
  *stream = (tfrt_bench_stream_t){
      .on_message = on_message, .on_broken = on_broken, .handler.vtable = &kHandlerVtable};
  tfrt_mutex_initialize(&stream->mutex);
}

tfrt_status_t tfrt_bench_stream_dial(tfrt_bench_stream_t* stream, tfrt_transport_t* transport,
                                     const char* address) {
  const tfrt_transport_dial_options_t options = {.address = tfrt_string_view_of(address),
                                                 .kind = TFRT_TRANSPORT_CONTROL,
                                                 .timeout_ns = PATIENCE_NS};
  TFRT_RETURN_IF_ERROR(
      tfrt_transport_dial(transport, &options, &stream->handler, &stream->connection));
  tfrt_transport_connection_receive(stream->connection);
  return NULL;
}

void tfrt_bench_stream_adopt(tfrt_bench_stream_t* stream, tfrt_transport_connection_t* connection) {
  stream->connection = tfrt_transport_connection_retain(connection);
  tfrt_transport_connection_receive(connection);
}

void tfrt_bench_stream_send(tfrt_bench_stream_t* stream, const void* bytes) {
  tfrt_mutex_lock(&stream->mutex);
  const uint64_t under_way = stream->sent - stream->written;
  if (under_way < TFRT_BENCH_STREAM_ROOM) {
    memcpy(stream->messages[stream->sent++ % TFRT_BENCH_STREAM_ROOM], bytes,
           TFRT_BENCH_STREAM_MESSAGE_SIZE);
  }
  tfrt_mutex_unlock(&stream->mutex);
  if (under_way == 0) {
    write_next(stream);
  } else if (under_way == TFRT_BENCH_STREAM_ROOM) {
    stream->on_broken(stream);
  }
}

void tfrt_bench_stream_deinitialize(tfrt_bench_stream_t* stream) {
  tfrt_transport_connection_release(stream->connection);
  tfrt_mutex_deinitialize(&stream->mutex);
}
