// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/transport.h"

#include <assert.h>
#include <string.h>

// --- Bases -------------------------------------------------------------------

void tfrt_transport_initialize(tfrt_transport_t* transport, const tfrt_transport_vtable_t* vtable) {
  transport->vtable = vtable;
  tfrt_ref_count_initialize(&transport->ref_count);
}

void tfrt_transport_connection_initialize(tfrt_transport_connection_t* connection,
                                          const tfrt_transport_connection_vtable_t* vtable,
                                          tfrt_transport_kind_t kind,
                                          tfrt_transport_handler_t* handler) {
  connection->vtable = vtable;
  tfrt_ref_count_initialize(&connection->ref_count);
  connection->kind = kind;
  atomic_init(&connection->in_flight, NULL);
  connection->handler = handler;
}

void tfrt_transport_connection_report_written(tfrt_transport_connection_t* connection,
                                              tfrt_status_t status) {
  // The slot is free before the callback, which may write again. Acquire and release: with
  // the exchange in tfrt_transport_connection_write(), so that what one writer did to the
  // write is seen here, and what was done here by the next writer.
  tfrt_transport_write_t* write =
      atomic_exchange_explicit(&connection->in_flight, NULL, memory_order_acq_rel);
  assert(write);
  write->on_written(write, status);
}

void tfrt_transport_connection_report_message(tfrt_transport_connection_t* connection,
                                              const tfrt_transport_span_t* spans,
                                              size_t span_count) {
  assert(connection->handler);
  connection->handler->vtable->on_message(connection->handler, connection, spans, span_count);
}

void tfrt_transport_connection_report_closed(tfrt_transport_connection_t* connection,
                                             tfrt_transport_end_t end, tfrt_status_t status) {
  // A write may be in flight here: one that another thread has begun too late, which the
  // implementation still completes.
  assert((end == TFRT_TRANSPORT_ENDED) == tfrt_status_is_ok(status));
  tfrt_transport_handler_t* handler = connection->handler;
  connection->handler = NULL;
  assert(handler);
  handler->vtable->on_closed(handler, connection, end, status);
}

// --- Transports --------------------------------------------------------------

tfrt_transport_t* tfrt_transport_retain(tfrt_transport_t* transport) {
  tfrt_ref_count_increment(&transport->ref_count);
  return transport;
}

void tfrt_transport_release(tfrt_transport_t* transport) {
  if (!transport || !tfrt_ref_count_decrement(&transport->ref_count)) return;
  transport->vtable->close(transport);
  transport->vtable->drain(transport);
  transport->vtable->destroy(transport);
}

tfrt_status_t tfrt_transport_listen(tfrt_transport_t* transport, tfrt_string_view_t address,
                                    tfrt_transport_acceptor_t* acceptor,
                                    char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  out_address[0] = '\0';
  if (address.size == 0 || address.size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an address to listen on has 1 to %d bytes, not %zu",
                              TFRT_TRANSPORT_ADDRESS_SIZE - 1, address.size);
  }
  return transport->vtable->listen(transport, address, acceptor, out_address);
}

static bool is_metadata_name(tfrt_string_view_t name) {
  for (size_t i = 0; i < name.size; ++i) {
    char c = name.data[i];
    bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (!is_fit) return false;
  }
  return name.size > 0;
}

static bool is_metadata_value(tfrt_string_view_t value) {
  for (size_t i = 0; i < value.size; ++i) {
    if (value.data[i] < ' ' || value.data[i] > '~') return false;
  }
  return true;
}

static tfrt_status_t check_dial_options(const tfrt_transport_dial_options_t* options) {
  if (options->address.size == 0 || options->address.size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an address to dial has 1 to %d bytes, not %zu",
                              TFRT_TRANSPORT_ADDRESS_SIZE - 1, options->address.size);
  }
  if (options->kind != TFRT_TRANSPORT_CONTROL && options->kind != TFRT_TRANSPORT_BULK) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "no kind of connection: %d",
                              (int)options->kind);
  }
  if (options->timeout_ns <= 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a dial needs a positive time limit, not %lld ns",
                              (long long)options->timeout_ns);
  }
  for (size_t i = 0; i < options->metadata_count; ++i) {
    if (is_metadata_name(options->metadata[i].name) &&
        is_metadata_value(options->metadata[i].value)) {
      continue;
    }
    // The value may be a secret: it is not shown.
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "metadata %zu: a name has letters a-z, digits and '-', a value "
                              "printable ASCII only",
                              i);
  }
  return NULL;
}

tfrt_status_t tfrt_transport_dial(tfrt_transport_t* transport,
                                  const tfrt_transport_dial_options_t* options,
                                  tfrt_transport_handler_t* handler,
                                  tfrt_transport_connection_t** out_connection) {
  *out_connection = NULL;
  TFRT_RETURN_IF_ERROR(check_dial_options(options));
  return transport->vtable->dial(transport, options, handler, out_connection);
}

void tfrt_transport_close(tfrt_transport_t* transport) { transport->vtable->close(transport); }

void tfrt_transport_drain(tfrt_transport_t* transport) { transport->vtable->drain(transport); }

// --- Connections -------------------------------------------------------------

tfrt_transport_connection_t* tfrt_transport_connection_retain(
    tfrt_transport_connection_t* connection) {
  tfrt_ref_count_increment(&connection->ref_count);
  return connection;
}

void tfrt_transport_connection_release(tfrt_transport_connection_t* connection) {
  if (!connection || !tfrt_ref_count_decrement(&connection->ref_count)) return;
  connection->vtable->destroy(connection);
}

tfrt_transport_kind_t tfrt_transport_connection_kind(
    const tfrt_transport_connection_t* connection) {
  return connection->kind;
}

tfrt_status_t tfrt_transport_connection_write(tfrt_transport_connection_t* connection,
                                              tfrt_transport_write_t* write) {
  if (write->span_count > TFRT_TRANSPORT_MAX_SPANS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a message has at most %d spans, not %zu", TFRT_TRANSPORT_MAX_SPANS,
                              write->span_count);
  }
  size_t size = 0;
  bool fits = true;
  for (size_t i = 0; i < write->span_count; ++i) {
    fits = fits && __builtin_add_overflow(size, write->spans[i].size, &size) == 0;
  }
  if (!fits || size == 0 || size > TFRT_TRANSPORT_MAX_MESSAGE_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a message has 1 to %zu bytes, not %zu",
                              TFRT_TRANSPORT_MAX_MESSAGE_SIZE, fits ? size : SIZE_MAX);
  }
  tfrt_transport_write_t* none = NULL;
  // Acquire and release: pairs with the exchange in
  // tfrt_transport_connection_report_written().
  if (!atomic_compare_exchange_strong_explicit(&connection->in_flight, &none, write,
                                               memory_order_acq_rel, memory_order_relaxed)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "a write is in flight already; wait for its on_written");
  }
  connection->vtable->write(connection, write);
  return NULL;
}

void tfrt_transport_connection_receive(tfrt_transport_connection_t* connection) {
  connection->vtable->receive(connection);
}

void tfrt_transport_connection_close(tfrt_transport_connection_t* connection) {
  connection->vtable->close(connection);
}

void tfrt_transport_connection_abort(tfrt_transport_connection_t* connection) {
  connection->vtable->abort(connection);
}

// --- Helpers -----------------------------------------------------------------

bool tfrt_transport_metadata_find(const tfrt_transport_metadata_t* metadata, size_t count,
                                  tfrt_string_view_t name, tfrt_string_view_t* out_value) {
  *out_value = (tfrt_string_view_t){0};
  for (size_t i = 0; i < count; ++i) {
    if (!tfrt_string_view_equal(metadata[i].name, name)) continue;
    *out_value = metadata[i].value;
    return true;
  }
  return false;
}

bool tfrt_transport_secrets_are_equal(tfrt_string_view_t a, tfrt_string_view_t b) {
  if (a.size != b.size) return false;
  // Volatile: the compiler may not stop at the first difference.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size; ++i) {
    difference =
        (unsigned char)(difference | ((unsigned char)a.data[i] ^ (unsigned char)b.data[i]));
  }
  return difference == 0;
}

const char* tfrt_transport_end_name(tfrt_transport_end_t end) {
  switch (end) {
    case TFRT_TRANSPORT_ENDED:
      return "ENDED";
    case TFRT_TRANSPORT_REFUSED:
      return "REFUSED";
    case TFRT_TRANSPORT_REJECTED:
      return "REJECTED";
    case TFRT_TRANSPORT_NO_ANSWER:
      return "NO_ANSWER";
    case TFRT_TRANSPORT_RESET:
      return "RESET";
  }
  return "UNKNOWN";
}
