// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/tensor_streams.h"

#include <string.h>

#include "host_runtime/tensor/tensor_codec.h"
#include "kernels/device/device_types.h"
#include "kernels/device/host_devices.h"
#include "kernels/device/tensor_groups.h"

// --- The codec -----------------------------------------------------------------------

static tfrt_status_t gpu_tensor_encode(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_gpu_tensor_t* tensor = payload;
  tfrt_tensor_header_encode(tensor->dtype, &tensor->shape, out_encoding);
  out_encoding->body_size = tensor->buffer->size;
  return NULL;
}

static tfrt_status_t gpu_tensor_decode(const uint8_t* header, size_t header_size, size_t body_size,
                                       tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header;
  (void)header_size;
  (void)body_size;
  (void)allocator;
  (void)payload;
  *out_body = NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a tensor of a device came as a part of a message");
}

const tfrt_codec_t tfrt_gpu_tensor_codec = {
    .encode = gpu_tensor_encode, .decode = gpu_tensor_decode, .complete = NULL};

// The manager (+0) of |host|.
static tfrt_status_t gpu_find_manager(tfrt_host_context_t* host,
                                      tfrt_device_manager_t** out_manager) {
  *out_manager = tfrt_host_devices_find(host);
  if (*out_manager) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices");
}

// --- Reading -------------------------------------------------------------------------

typedef struct tfrt_gpu_source_s {
  tfrt_payload_source_t base;
  tfrt_device_manager_t* manager;  // the host's
  tfrt_device_buffer_t* buffer;    // +1
  tfrt_device_port_t* port;        // +1; NULL: nothing was read yet
  tfrt_device_loan_t* loan;        // owned; NULL: the buffer was not lent
} tfrt_gpu_source_t;

static void gpu_source_destroy(tfrt_payload_source_t* base) {
  tfrt_gpu_source_t* source = TFRT_CONTAINER_OF(base, tfrt_gpu_source_t, base);
  tfrt_device_loan_end(source->loan);
  tfrt_device_port_release(source->port);
  tfrt_device_buffer_release(source->buffer);
  tfrt_allocator_free(tfrt_allocator_system(), source, sizeof(*source));
}

static void gpu_release_staging(void* owner) { tfrt_device_buffer_release(owner); }

// Finds the port, and goes behind the tensor's work.
static tfrt_status_t gpu_source_begin(tfrt_gpu_source_t* source) {
  TFRT_RETURN_IF_ERROR(
      tfrt_device_manager_port(source->manager, source->buffer->device, &source->port));
  return tfrt_device_port_follow(source->port, source->buffer);
}

static tfrt_status_t gpu_source_read(tfrt_payload_source_t* base, uint64_t offset, size_t size,
                                     tfrt_payload_piece_t* out_piece) {
  tfrt_gpu_source_t* source = TFRT_CONTAINER_OF(base, tfrt_gpu_source_t, base);
  *out_piece = (tfrt_payload_piece_t){0};
  if (!source->port) TFRT_RETURN_IF_ERROR(gpu_source_begin(source));
  tfrt_device_buffer_t* staging;
  TFRT_RETURN_IF_ERROR(tfrt_device_port_read(source->port, source->buffer, (size_t)offset, size,
                                             &staging, &out_piece->ready));
  out_piece->data = tfrt_device_buffer_host_data(staging);
  out_piece->release = gpu_release_staging;
  out_piece->owner = staging;
  return NULL;
}

static tfrt_status_t gpu_source_lend(tfrt_payload_source_t* base,
                                     tfrt_payload_ticket_t* out_ticket) {
  tfrt_gpu_source_t* source = TFRT_CONTAINER_OF(base, tfrt_gpu_source_t, base);
  *out_ticket = (tfrt_payload_ticket_t){.size = 0};
  if (!source->port) TFRT_RETURN_IF_ERROR(gpu_source_begin(source));
  tfrt_device_lending_t* lending;
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_lending(source->manager, &lending));
  tfrt_device_ticket_t ticket;
  tfrt_status_t status = tfrt_device_lending_lend(lending, source->buffer, &source->loan, &ticket);
  tfrt_device_lending_release(lending);
  if (status) return status;
  memcpy(out_ticket->bytes, ticket.bytes, sizeof(ticket.bytes));
  out_ticket->size = sizeof(ticket.bytes);
  // The borrower's streams know nothing of ours: the host hears of the end of the tensor's work.
  out_ticket->ready = tfrt_device_port_await_reads(source->port);
  return NULL;
}

static const tfrt_payload_source_vtable_t source_vtable = {gpu_source_destroy, gpu_source_read,
                                                           gpu_source_lend};

// Only takes references: the driver is asked at the first read.
static tfrt_status_t gpu_open_source(const void* payload, tfrt_host_context_t* host,
                                     tfrt_payload_source_t** out_source) {
  const tfrt_gpu_tensor_t* tensor = payload;
  *out_source = NULL;
  tfrt_device_manager_t* manager;
  TFRT_RETURN_IF_ERROR(gpu_find_manager(host, &manager));
  tfrt_gpu_source_t* source =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*source));
  if (!source) return tfrt_status_out_of_memory();
  source->base.vtable = &source_vtable;
  source->manager = manager;
  source->buffer = tfrt_device_buffer_retain(tensor->buffer);
  *out_source = &source->base;
  return NULL;
}

// --- Writing -------------------------------------------------------------------------

// Tensors of this size and more are written in pieces of several chunks, as they are read
// (distributed/tuning/tuning.h has the same sizes for the sender).
#define TFRT_GPU_LARGE_TENSOR ((size_t)16 << 20)
#define TFRT_GPU_PIECE_SIZE ((size_t)4 << 20)

typedef struct tfrt_gpu_sink_s {
  tfrt_payload_sink_t base;
  tfrt_device_manager_t* manager;  // the host's
  tfrt_device_port_t* port;        // +1
  tfrt_device_buffer_t* buffer;    // +1
  tfrt_device_buffer_t* staging;   // +1 of the piece that is being filled in, or NULL
  uint64_t offset;                 // of that piece
  size_t filled;                   // its bytes that were committed
  size_t prepared;                 // those behind them that are being filled in
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
} tfrt_gpu_sink_t;

static void gpu_sink_destroy(tfrt_payload_sink_t* base) {
  tfrt_gpu_sink_t* sink = TFRT_CONTAINER_OF(base, tfrt_gpu_sink_t, base);
  tfrt_device_buffer_release(sink->staging);
  tfrt_device_buffer_release(sink->buffer);
  tfrt_device_port_release(sink->port);
  tfrt_allocator_free(tfrt_allocator_system(), sink, sizeof(*sink));
}

// Begins to write the piece to the device, and ends it here.
static tfrt_status_t gpu_sink_write(tfrt_gpu_sink_t* sink) {
  tfrt_status_t status = tfrt_device_port_write(sink->port, sink->buffer, (size_t)sink->offset,
                                                sink->staging, sink->filled);
  tfrt_device_buffer_release(sink->staging);
  sink->staging = NULL;
  return status;
}

// The bytes of the piece that begins with |size| bytes at |offset|: a device copies large pieces at
// its full rate, and one copy costs as much of the host's time as another.
static size_t gpu_sink_piece_size(const tfrt_gpu_sink_t* sink, uint64_t offset, size_t size) {
  if (sink->buffer->size < TFRT_GPU_LARGE_TENSOR || size > TFRT_GPU_PIECE_SIZE) return size;
  size_t left = sink->buffer->size - (size_t)offset;
  return left < TFRT_GPU_PIECE_SIZE ? left : TFRT_GPU_PIECE_SIZE;
}

static tfrt_status_t gpu_sink_prepare(tfrt_payload_sink_t* base, uint64_t offset, size_t size,
                                      void** out_target) {
  tfrt_gpu_sink_t* sink = TFRT_CONTAINER_OF(base, tfrt_gpu_sink_t, base);
  *out_target = NULL;
  if (sink->staging && sink->filled == 0) {
    // Releases the memory of a piece that was prepared and never arrived.
    tfrt_device_buffer_release(sink->staging);
    sink->staging = NULL;
  }
  if (sink->staging && size > sink->staging->size - sink->filled) {
    // The chunks are not those of the sender's pieces: a transfer was resumed.
    TFRT_RETURN_IF_ERROR(gpu_sink_write(sink));
  }
  if (!sink->staging) {
    TFRT_RETURN_IF_ERROR(tfrt_device_port_stage(sink->port, gpu_sink_piece_size(sink, offset, size),
                                                &sink->staging));
    sink->offset = offset;
    sink->filled = 0;
  }
  sink->prepared = size;
  *out_target = (char*)tfrt_device_buffer_host_data(sink->staging) + sink->filled;
  return NULL;
}

static tfrt_status_t gpu_sink_commit(tfrt_payload_sink_t* base, tfrt_async_value_t** out_stored) {
  tfrt_gpu_sink_t* sink = TFRT_CONTAINER_OF(base, tfrt_gpu_sink_t, base);
  *out_stored = NULL;
  sink->filled += sink->prepared;
  bool is_last = sink->offset + sink->filled == sink->buffer->size;
  if (!is_last && sink->filled < sink->staging->size) return NULL;
  TFRT_RETURN_IF_ERROR(gpu_sink_write(sink));
  *out_stored = tfrt_device_port_await_writes(sink->port);
  return NULL;
}

static tfrt_async_value_t* gpu_sink_fetch(tfrt_payload_sink_t* base, const void* ticket,
                                          size_t size) {
  tfrt_gpu_sink_t* sink = TFRT_CONTAINER_OF(base, tfrt_gpu_sink_t, base);
  tfrt_device_lending_t* lending;
  tfrt_status_t status = tfrt_device_manager_lending(sink->manager, &lending);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* fetched =
      tfrt_device_lending_fetch(lending, ticket, size, sink->port, sink->buffer);
  tfrt_device_lending_release(lending);
  return fetched;
}

// A tensor whose last pieces are on their way into its memory.
typedef struct tfrt_gpu_arrival_s {
  tfrt_task_t task;
  tfrt_async_value_t* ready;       // +1
  tfrt_async_value_t* tensor;      // +1
  tfrt_indirect_value_t* promise;  // +1
} tfrt_gpu_arrival_t;

static void gpu_arrival_run(tfrt_task_t* task) {
  tfrt_gpu_arrival_t* arrival = TFRT_CONTAINER_OF(task, tfrt_gpu_arrival_t, task);
  bool is_lost = tfrt_async_value_is_error(arrival->ready);
  tfrt_indirect_value_forward_take(arrival->promise, is_lost ? arrival->ready : arrival->tensor);
  tfrt_async_value_release(is_lost ? arrival->tensor : arrival->ready);
  tfrt_async_value_release(&arrival->promise->base);
  tfrt_allocator_free(tfrt_allocator_system(), arrival, sizeof(*arrival));
}

static tfrt_async_value_t* gpu_sink_finish(tfrt_payload_sink_t* base) {
  tfrt_gpu_sink_t* sink = TFRT_CONTAINER_OF(base, tfrt_gpu_sink_t, base);
  tfrt_gpu_arrival_t* arrival =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*arrival));
  if (!arrival) return tfrt_async_value_out_of_memory();
  arrival->promise = tfrt_indirect_value_create();
  if (!arrival->promise) {
    tfrt_allocator_free(tfrt_allocator_system(), arrival, sizeof(*arrival));
    return tfrt_async_value_out_of_memory();
  }
  tfrt_async_value_t* value = tfrt_async_value_retain(&arrival->promise->base);
  tfrt_task_initialize(&arrival->task, gpu_arrival_run);
  arrival->tensor = tfrt_gpu_value_create_tensor(sink->buffer, sink->dtype, &sink->shape);
  arrival->ready = tfrt_device_port_await_writes(sink->port);
  tfrt_async_value_and_then(arrival->ready, &arrival->task);
  return value;
}

static const tfrt_payload_sink_vtable_t sink_vtable = {
    gpu_sink_destroy, gpu_sink_prepare, gpu_sink_commit, gpu_sink_finish, gpu_sink_fetch};

static tfrt_status_t gpu_sink_open_device(tfrt_gpu_sink_t* sink, const tfrt_payload_place_t* place,
                                          size_t size) {
  tfrt_device_manager_t* manager;
  tfrt_device_t* device;
  const char* name = place->device[0] ? place->device : TFRT_GPU_HOST_DEVICE;
  TFRT_RETURN_IF_ERROR(gpu_find_manager(place->host, &manager));
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_device(manager, tfrt_string_view_of(name), &device));
  tfrt_status_t status = tfrt_device_manager_port(manager, device, &sink->port);
  tfrt_device_release(device);
  if (status) return status;
  sink->manager = manager;
  return tfrt_device_port_allocate(sink->port, size, &sink->buffer);
}

static tfrt_status_t gpu_open_sink(const tfrt_payload_place_t* place, const uint8_t* header,
                                   size_t header_size, size_t body_size,
                                   tfrt_payload_sink_t** out_sink) {
  *out_sink = NULL;
  tfrt_gpu_sink_t* sink = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*sink));
  if (!sink) return tfrt_status_out_of_memory();
  sink->base.vtable = &sink_vtable;
  tfrt_status_t status =
      tfrt_tensor_header_decode(header, header_size, body_size, &sink->dtype, &sink->shape);
  if (!status) status = gpu_sink_open_device(sink, place, body_size);
  if (status) {
    gpu_sink_destroy(&sink->base);
    return status;
  }
  *out_sink = &sink->base;
  return NULL;
}

static const char* gpu_tensor_device(const void* payload) {
  return ((const tfrt_gpu_tensor_t*)payload)->buffer->device->name;
}

const tfrt_payload_streams_t tfrt_gpu_tensor_streams = {.open_source = gpu_open_source,
                                                        .open_sink = gpu_open_sink,
                                                        .device = gpu_tensor_device,
                                                        .groups = &tfrt_gpu_tensor_groups};
