// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/memory/memory_network.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/list.h"

struct tfrt_memory_network_s {
  tfrt_allocator_t allocator;
  tfrt_list_link_t transports;
  tfrt_list_link_t streams;
  uint32_t next_port;
};

typedef struct memory_transport_s {
  tfrt_transport_t base;
  tfrt_list_link_t link;
  tfrt_memory_network_t* network;
  tfrt_transport_acceptor_t* acceptor;  // NULL: it doesn't listen
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  bool is_closed;
} memory_transport_t;

typedef struct memory_stream_s memory_stream_t;

// One side's connection. It has a reference to itself until on_closed.
typedef struct memory_end_s {
  tfrt_transport_connection_t base;
  memory_stream_t* stream;
  memory_transport_t* transport;  // NULL: nobody has accepted yet
  tfrt_transport_write_t* write;  // in flight
  size_t wanted;                  // messages that it still asks for
  bool is_closing;                // ends once |write| is done
} memory_end_t;

// DIALLED --accepted--> OPEN --ended, aborted--> OVER; or OVER at once
typedef enum memory_state_e { MEMORY_DIALLED, MEMORY_OPEN, MEMORY_OVER } memory_state_t;

struct memory_stream_s {
  tfrt_list_link_t link;
  tfrt_memory_network_t* network;
  memory_state_t state;
  bool is_aborted;
  size_t users;          // ends with references, and a step at work
  memory_end_t ends[2];  // the dialler's, the listener's
  // Until it is OPEN: a copy of the dialler's options.
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_transport_metadata_t* metadata;
  size_t metadata_count;
  size_t metadata_size;  // in bytes, with the texts behind
};

// --- Streams -------------------------------------------------------------------

static void free_metadata(memory_stream_t* stream) {
  tfrt_allocator_free(stream->network->allocator, stream->metadata, stream->metadata_size);
  stream->metadata = NULL;
  stream->metadata_count = 0;
}

static void release_stream(memory_stream_t* stream) {
  if (--stream->users > 0) return;
  tfrt_list_remove(&stream->link);
  free_metadata(stream);
  tfrt_allocator_free(stream->network->allocator, stream, sizeof(*stream));
}

static memory_end_t* end_of(tfrt_transport_connection_t* connection) {
  return TFRT_CONTAINER_OF(connection, memory_end_t, base);
}

static void connection_destroy(tfrt_transport_connection_t* connection) {
  release_stream(end_of(connection)->stream);
}

// No callback comes from inside a call: a step sees what is to be done. The write may come when the
// connection is over, and its owner may release that before the step.
static void connection_write(tfrt_transport_connection_t* connection,
                             tfrt_transport_write_t* write) {
  end_of(connection)->write = write;
  tfrt_transport_connection_retain(connection);
}

static void connection_receive(tfrt_transport_connection_t* connection) {
  ++end_of(connection)->wanted;
}

static void connection_close(tfrt_transport_connection_t* connection) {
  end_of(connection)->is_closing = true;
}

static void connection_abort(tfrt_transport_connection_t* connection) {
  end_of(connection)->stream->is_aborted = true;
}

static const tfrt_transport_connection_vtable_t connection_vtable = {
    .destroy = connection_destroy,
    .write = connection_write,
    .receive = connection_receive,
    .close = connection_close,
    .abort = connection_abort,
};

static void attach(memory_stream_t* stream, int side, memory_transport_t* transport,
                   tfrt_transport_kind_t kind, tfrt_transport_handler_t* handler) {
  memory_end_t* end = &stream->ends[side];
  tfrt_transport_connection_initialize(&end->base, &connection_vtable, kind, handler);
  end->stream = stream;
  end->transport = transport;
  ++stream->users;
}

// --- Steps ---------------------------------------------------------------------

static void finish_write(memory_end_t* end, tfrt_status_t status) {
  end->write = NULL;
  tfrt_transport_connection_report_written(&end->base, status);
  tfrt_transport_connection_release(&end->base);
}

static void fail_write(memory_end_t* end) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the connection is closed");
  finish_write(end, status);
  tfrt_status_release(status);
}

// Ends |stream| with |status| (consumed).
static void finish_take(memory_stream_t* stream, tfrt_transport_end_t reason,
                        tfrt_status_t status) {
  stream->state = MEMORY_OVER;
  for (int side = 0; side < 2; ++side) {
    memory_end_t* end = &stream->ends[side];
    if (!end->transport) continue;
    if (end->write) fail_write(end);
    tfrt_transport_connection_report_closed(&end->base, reason, status);
    tfrt_transport_connection_release(&end->base);
  }
  tfrt_status_release(status);
}

static memory_transport_t* find_listener(tfrt_memory_network_t* network, const char* address) {
  for (tfrt_list_link_t* link = network->transports.next; link != &network->transports;
       link = link->next) {
    memory_transport_t* transport = TFRT_CONTAINER_OF(link, memory_transport_t, link);
    if (transport->acceptor && strcmp(transport->address, address) == 0) return transport;
  }
  return NULL;
}

static void connect_stream(memory_stream_t* stream) {
  memory_transport_t* listener = find_listener(stream->network, stream->address);
  if (!listener) {
    finish_take(
        stream, TFRT_TRANSPORT_REFUSED,
        tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "nobody listens on %s", stream->address));
    return;
  }
  tfrt_transport_kind_t kind = stream->ends[0].base.kind;
  attach(stream, 1, listener, kind, NULL);
  memory_end_t* end = &stream->ends[1];
  tfrt_transport_incoming_t incoming = {.kind = kind,
                                        .metadata = stream->metadata,
                                        .metadata_count = stream->metadata_count,
                                        .connection = &end->base};
  tfrt_transport_handler_t* handler = NULL;
  stream->state = MEMORY_OPEN;
  tfrt_status_t status =
      listener->acceptor->vtable->accept(listener->acceptor, &incoming, &handler);
  free_metadata(stream);
  if (!status) {
    end->base.handler = handler;
    return;
  }
  end->transport = NULL;
  tfrt_transport_connection_release(&end->base);
  finish_take(stream, TFRT_TRANSPORT_REJECTED, status);
}

// Gives the message of |from| to |to|, which has asked for it, or no longer wants any.
static void carry(memory_end_t* from, memory_end_t* to) {
  if (!to->is_closing) {
    --to->wanted;
    tfrt_transport_connection_report_message(&to->base, from->write->spans,
                                             from->write->span_count);
  }
  finish_write(from, NULL);
}

static bool step_open(memory_stream_t* stream) {
  memory_end_t* ends = stream->ends;
  for (int side = 0; side < 2; ++side) {
    memory_end_t* to = &ends[1 - side];
    if (ends[side].write && (to->wanted > 0 || to->is_closing)) {
      carry(&ends[side], to);
      return true;
    }
  }
  for (int side = 0; side < 2; ++side) {
    if (ends[side].is_closing && !ends[side].write) {
      finish_take(stream, TFRT_TRANSPORT_ENDED, NULL);
      return true;
    }
  }
  return false;
}

static bool step_over(memory_stream_t* stream) {
  for (int side = 0; side < 2; ++side) {
    if (stream->ends[side].write) {
      fail_write(&stream->ends[side]);
      return true;
    }
  }
  return false;
}

static bool step_stream(memory_stream_t* stream) {
  if (stream->state == MEMORY_OVER) return step_over(stream);
  if (stream->is_aborted) {
    finish_take(stream, TFRT_TRANSPORT_RESET,
                tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the connection was aborted"));
    return true;
  }
  if (stream->state == MEMORY_OPEN) return step_open(stream);
  connect_stream(stream);
  return true;
}

bool tfrt_memory_network_step(tfrt_memory_network_t* network) {
  for (tfrt_list_link_t* link = network->streams.next; link != &network->streams;) {
    memory_stream_t* stream = TFRT_CONTAINER_OF(link, memory_stream_t, link);
    link = link->next;
    ++stream->users;
    bool did = step_stream(stream);
    release_stream(stream);
    // Callbacks may have changed the list.
    if (did) return true;
  }
  return false;
}

// --- Transports ----------------------------------------------------------------

static memory_transport_t* transport_of(tfrt_transport_t* transport) {
  return TFRT_CONTAINER_OF(transport, memory_transport_t, base);
}

static void transport_destroy(tfrt_transport_t* base) {
  memory_transport_t* transport = transport_of(base);
  tfrt_list_remove(&transport->link);
  tfrt_allocator_free(transport->network->allocator, transport, sizeof(*transport));
}

static tfrt_status_t transport_listen(tfrt_transport_t* base, tfrt_string_view_t address,
                                      tfrt_transport_acceptor_t* acceptor,
                                      char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  memory_transport_t* transport = transport_of(base);
  if (transport->is_closed || transport->acceptor) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "this transport listens already, or is closed");
  }
  bool is_free = address.size > 2 && memcmp(address.data + address.size - 2, ":0", 2) == 0;
  // Without the 0 of a free port.
  int size = (int)address.size - (is_free ? 1 : 0);
  char port[16] = "";
  if (is_free) snprintf(port, sizeof(port), "%u", ++transport->network->next_port);
  char text[TFRT_TRANSPORT_ADDRESS_SIZE + sizeof(port)];
  snprintf(text, sizeof(text), "%.*s%s", size, address.data, port);
  if (strlen(text) >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the address %s is too long", text);
  }
  if (find_listener(transport->network, text)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "the address %s is in use", text);
  }
  memcpy(transport->address, text, strlen(text) + 1);
  memcpy(out_address, text, strlen(text) + 1);
  transport->acceptor = acceptor;
  return NULL;
}

// Copies the texts of |options|, which go after the dial; false when memory is out.
static bool copy_metadata(memory_stream_t* stream, const tfrt_transport_dial_options_t* options) {
  size_t size = options->metadata_count * sizeof(*stream->metadata);
  for (size_t i = 0; i < options->metadata_count; ++i) {
    size += options->metadata[i].name.size + options->metadata[i].value.size;
  }
  stream->metadata = tfrt_allocator_allocate(stream->network->allocator, size);
  if (!stream->metadata) return size == 0;
  stream->metadata_size = size;
  stream->metadata_count = options->metadata_count;
  char* text = (char*)(stream->metadata + options->metadata_count);
  for (size_t i = 0; i < options->metadata_count; ++i) {
    const tfrt_transport_metadata_t* from = &options->metadata[i];
    tfrt_transport_metadata_t* to = &stream->metadata[i];
    to->name = tfrt_string_view_make(text, from->name.size);
    memcpy(text, from->name.data, from->name.size);
    text += from->name.size;
    to->value = tfrt_string_view_make(text, from->value.size);
    memcpy(text, from->value.data, from->value.size);
    text += from->value.size;
  }
  return true;
}

static tfrt_status_t transport_dial(tfrt_transport_t* base,
                                    const tfrt_transport_dial_options_t* options,
                                    tfrt_transport_handler_t* handler,
                                    tfrt_transport_connection_t** out_connection) {
  memory_transport_t* transport = transport_of(base);
  if (transport->is_closed) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "this transport is closed");
  }
  tfrt_memory_network_t* network = transport->network;
  memory_stream_t* stream = tfrt_allocator_allocate_zeroed(network->allocator, sizeof(*stream));
  if (!stream) return tfrt_status_out_of_memory();
  stream->network = network;
  if (!copy_metadata(stream, options)) {
    tfrt_allocator_free(network->allocator, stream, sizeof(*stream));
    return tfrt_status_out_of_memory();
  }
  memcpy(stream->address, options->address.data, options->address.size);
  attach(stream, 0, transport, options->kind, handler);
  tfrt_list_push_back(&network->streams, &stream->link);
  *out_connection = tfrt_transport_connection_retain(&stream->ends[0].base);
  return NULL;
}

// A stream of |transport| that is not over; NULL if there is none.
static memory_stream_t* find_stream(memory_transport_t* transport, tfrt_list_link_t* from) {
  for (tfrt_list_link_t* link = from->next; link != &transport->network->streams;
       link = link->next) {
    memory_stream_t* stream = TFRT_CONTAINER_OF(link, memory_stream_t, link);
    bool is_of_it =
        stream->ends[0].transport == transport || stream->ends[1].transport == transport;
    if (is_of_it && stream->state != MEMORY_OVER) return stream;
  }
  return NULL;
}

static void transport_close(tfrt_transport_t* base) {
  memory_transport_t* transport = transport_of(base);
  transport->is_closed = true;
  transport->acceptor = NULL;
  tfrt_list_link_t* from = &transport->network->streams;
  for (memory_stream_t* stream; (stream = find_stream(transport, from)); from = &stream->link) {
    stream->is_aborted = true;
  }
}

static void transport_drain(tfrt_transport_t* base) {
  memory_transport_t* transport = transport_of(base);
  while (find_stream(transport, &transport->network->streams)) {
    tfrt_memory_network_step(transport->network);
  }
}

static const tfrt_transport_vtable_t transport_vtable = {
    .destroy = transport_destroy,
    .listen = transport_listen,
    .dial = transport_dial,
    .close = transport_close,
    .drain = transport_drain,
};

// --- The network ---------------------------------------------------------------

tfrt_memory_network_t* tfrt_memory_network_allocate(tfrt_allocator_t allocator) {
  tfrt_memory_network_t* network = tfrt_allocator_allocate_zeroed(allocator, sizeof(*network));
  if (!network) return NULL;
  network->allocator = allocator;
  tfrt_list_initialize(&network->transports);
  tfrt_list_initialize(&network->streams);
  return network;
}

void tfrt_memory_network_free(tfrt_memory_network_t* network) {
  tfrt_allocator_free(network->allocator, network, sizeof(*network));
}

tfrt_transport_t* tfrt_memory_network_create_transport(tfrt_memory_network_t* network) {
  memory_transport_t* transport =
      tfrt_allocator_allocate_zeroed(network->allocator, sizeof(*transport));
  if (!transport) return NULL;
  tfrt_transport_initialize(&transport->base, &transport_vtable);
  transport->network = network;
  tfrt_list_push_back(&network->transports, &transport->link);
  return &transport->base;
}
