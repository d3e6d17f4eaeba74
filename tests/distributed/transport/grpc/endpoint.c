// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/grpc/endpoint.h"

#include <check.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"

static void wait_for_change(tfrt_condition_t* changed, tfrt_mutex_t* mutex) {
  int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()),
                                            TFRT_ENDPOINT_PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_msg(tfrt_condition_wait_until(changed, mutex, deadline_ns), "waited in vain");
}

static void enter(tfrt_endpoint_t* endpoint) {
  tfrt_mutex_lock(&endpoint->mutex);
  ck_assert_int_eq(endpoint->callbacks_running++, 0);
}

static void leave(tfrt_endpoint_t* endpoint) {
  --endpoint->callbacks_running;
  tfrt_condition_broadcast(&endpoint->changed);
  tfrt_mutex_unlock(&endpoint->mutex);
}

static void start_write(tfrt_endpoint_t* endpoint) {
  tfrt_status_t status = tfrt_transport_connection_write(endpoint->connection, &endpoint->write);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

// --- Callbacks ---------------------------------------------------------------

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  tfrt_endpoint_t* endpoint = TFRT_CONTAINER_OF(write, tfrt_endpoint_t, write);
  enter(endpoint);
  ++endpoint->written_count;
  endpoint->written_code = tfrt_status_code(status);
  bool is_again = endpoint->is_pouring && tfrt_status_is_ok(status);
  endpoint->is_write_done = !is_again;
  leave(endpoint);
  if (endpoint->is_echoing) tfrt_transport_connection_receive(endpoint->connection);
  if (is_again) start_write(endpoint);
}

static void keep_message(tfrt_endpoint_t* endpoint, const tfrt_transport_span_t* spans,
                         size_t span_count) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, endpoint->last, endpoint->last_size);
  endpoint->last_size = 0;
  for (size_t i = 0; i < span_count; ++i) endpoint->last_size += spans[i].size;
  endpoint->last = tfrt_allocator_allocate(allocator, endpoint->last_size);
  ck_assert_ptr_nonnull(endpoint->last);
  size_t at = 0;
  for (size_t i = 0; i < span_count; ++i) {
    memcpy(endpoint->last + at, spans[i].data, spans[i].size);
    at += spans[i].size;
  }
  for (size_t i = 0; i < endpoint->last_size; ++i) {
    endpoint->checksum = endpoint->checksum * 31 + (unsigned char)endpoint->last[i];
  }
  ++endpoint->message_count;
  endpoint->byte_count += endpoint->last_size;
}

static void send_back(tfrt_endpoint_t* endpoint) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, endpoint->echo, endpoint->echo_size);
  endpoint->echo = endpoint->last;
  endpoint->echo_size = endpoint->last_size;
  endpoint->last = NULL;
  endpoint->last_size = 0;
  tfrt_endpoint_begin_write(endpoint, endpoint->echo, endpoint->echo_size);
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_endpoint_t* endpoint = TFRT_CONTAINER_OF(handler, tfrt_endpoint_t, handler);
  enter(endpoint);
  ck_assert(!endpoint->is_closed);
  keep_message(endpoint, spans, span_count);
  leave(endpoint);
  if (endpoint->is_greedy) tfrt_transport_connection_receive(connection);
  if (endpoint->is_echoing) send_back(endpoint);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  tfrt_endpoint_t* endpoint = TFRT_CONTAINER_OF(handler, tfrt_endpoint_t, handler);
  enter(endpoint);
  ck_assert(!endpoint->is_closed);
  ck_assert_int_eq(end == TFRT_TRANSPORT_ENDED, tfrt_status_is_ok(status));
  endpoint->is_closed = true;
  endpoint->end = end;
  endpoint->status = tfrt_status_retain(status);
  leave(endpoint);
}

static const tfrt_transport_handler_vtable_t kHandlerVtable = {on_message, on_closed};

// --- Endpoints ---------------------------------------------------------------

void tfrt_endpoint_initialize(tfrt_endpoint_t* endpoint) {
  memset(endpoint, 0, sizeof(*endpoint));
  endpoint->handler.vtable = &kHandlerVtable;
  endpoint->is_write_done = true;
  tfrt_mutex_initialize(&endpoint->mutex);
  tfrt_condition_initialize(&endpoint->changed);
}

void tfrt_endpoint_deinitialize(tfrt_endpoint_t* endpoint) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_transport_connection_release(endpoint->connection);
  tfrt_status_release(endpoint->status);
  tfrt_allocator_free(allocator, endpoint->last, endpoint->last_size);
  tfrt_allocator_free(allocator, endpoint->echo, endpoint->echo_size);
  tfrt_condition_deinitialize(&endpoint->changed);
  tfrt_mutex_deinitialize(&endpoint->mutex);
}

void tfrt_endpoint_dial(tfrt_endpoint_t* endpoint, tfrt_transport_t* transport, const char* address,
                        tfrt_transport_kind_t kind, const char* key, int64_t timeout_ms) {
  tfrt_transport_metadata_t metadata = {tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY),
                                        tfrt_string_view_of(key)};
  tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(address),
      .kind = kind,
      .metadata = &metadata,
      .metadata_count = key ? 1 : 0,
      .timeout_ns = timeout_ms * TFRT_NANOSECONDS_PER_MILLISECOND,
  };
  tfrt_status_t status =
      tfrt_transport_dial(transport, &options, &endpoint->handler, &endpoint->connection);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

void tfrt_endpoint_begin_write(tfrt_endpoint_t* endpoint, const void* data, size_t size) {
  tfrt_mutex_lock(&endpoint->mutex);
  ck_assert(endpoint->is_write_done);
  endpoint->is_write_done = false;
  tfrt_mutex_unlock(&endpoint->mutex);
  // In two pieces, so that both ways of sending are used: copied and borrowed.
  size_t head = size < 5 ? 0 : 5;
  endpoint->write.spans[0] = (tfrt_transport_span_t){data, head};
  endpoint->write.spans[1] = (tfrt_transport_span_t){(const char*)data + head, size - head};
  endpoint->write.span_count = 2;
  endpoint->write.on_written = on_written;
  start_write(endpoint);
}

tfrt_status_code_t tfrt_endpoint_wait_written(tfrt_endpoint_t* endpoint) {
  tfrt_mutex_lock(&endpoint->mutex);
  while (!endpoint->is_write_done) wait_for_change(&endpoint->changed, &endpoint->mutex);
  tfrt_status_code_t code = endpoint->written_code;
  tfrt_mutex_unlock(&endpoint->mutex);
  return code;
}

tfrt_status_code_t tfrt_endpoint_write(tfrt_endpoint_t* endpoint, const void* data, size_t size) {
  tfrt_endpoint_begin_write(endpoint, data, size);
  return tfrt_endpoint_wait_written(endpoint);
}

void tfrt_endpoint_wait_writes(tfrt_endpoint_t* endpoint, uint64_t count) {
  tfrt_mutex_lock(&endpoint->mutex);
  while (endpoint->written_count < count) wait_for_change(&endpoint->changed, &endpoint->mutex);
  tfrt_mutex_unlock(&endpoint->mutex);
}

void tfrt_endpoint_wait_messages(tfrt_endpoint_t* endpoint, uint64_t count) {
  tfrt_mutex_lock(&endpoint->mutex);
  while (endpoint->message_count < count) {
    ck_assert_msg(!endpoint->is_closed, "closed (%s: %s) after %llu messages",
                  tfrt_transport_end_name(endpoint->end), tfrt_status_message(endpoint->status),
                  (unsigned long long)endpoint->message_count);
    wait_for_change(&endpoint->changed, &endpoint->mutex);
  }
  tfrt_mutex_unlock(&endpoint->mutex);
}

tfrt_transport_end_t tfrt_endpoint_wait_closed(tfrt_endpoint_t* endpoint) {
  tfrt_mutex_lock(&endpoint->mutex);
  while (!endpoint->is_closed) wait_for_change(&endpoint->changed, &endpoint->mutex);
  tfrt_transport_end_t end = endpoint->end;
  tfrt_mutex_unlock(&endpoint->mutex);
  return end;
}

// --- Hosts -------------------------------------------------------------------

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler) {
  tfrt_endpoint_host_t* host = TFRT_CONTAINER_OF(acceptor, tfrt_endpoint_host_t, acceptor);
  tfrt_string_view_t key;
  tfrt_transport_metadata_find(incoming->metadata, incoming->metadata_count,
                               tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY), &key);
  tfrt_mutex_lock(&host->mutex);
  ++host->judged_count;
  tfrt_mutex_unlock(&host->mutex);
  if (host->key && !tfrt_transport_secrets_are_equal(key, tfrt_string_view_of(host->key))) {
    return tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED, "the cluster's key is another");
  }
  tfrt_endpoint_t* endpoint =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*endpoint));
  ck_assert_ptr_nonnull(endpoint);
  tfrt_endpoint_initialize(endpoint);
  endpoint->connection = tfrt_transport_connection_retain(incoming->connection);
  endpoint->is_greedy = host->is_greedy;
  endpoint->is_echoing = host->is_echoing;
  if (host->is_greedy || host->is_echoing) {
    tfrt_transport_connection_receive(endpoint->connection);
  }
  tfrt_mutex_lock(&host->mutex);
  size_t size = host->accepted_count * sizeof(host->accepted[0]);
  host->accepted = tfrt_allocator_reallocate(tfrt_allocator_system(), host->accepted, size,
                                             size + sizeof(host->accepted[0]));
  ck_assert_ptr_nonnull(host->accepted);
  host->accepted[host->accepted_count++] = endpoint;
  tfrt_condition_broadcast(&host->changed);
  tfrt_mutex_unlock(&host->mutex);
  *out_handler = &endpoint->handler;
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t kAcceptorVtable = {accept_stream};

void tfrt_endpoint_host_listen(tfrt_endpoint_host_t* host, tfrt_transport_t* transport,
                               const char* address) {
  host->acceptor.vtable = &kAcceptorVtable;
  host->transport = tfrt_transport_retain(transport);
  tfrt_mutex_initialize(&host->mutex);
  tfrt_condition_initialize(&host->changed);
  tfrt_status_t status = tfrt_transport_listen(transport, tfrt_string_view_of(address),
                                               &host->acceptor, host->address);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

tfrt_endpoint_t* tfrt_endpoint_host_wait(tfrt_endpoint_host_t* host, size_t index) {
  tfrt_mutex_lock(&host->mutex);
  while (host->accepted_count <= index) wait_for_change(&host->changed, &host->mutex);
  tfrt_endpoint_t* endpoint = host->accepted[index];
  tfrt_mutex_unlock(&host->mutex);
  return endpoint;
}

void tfrt_endpoint_host_stop(tfrt_endpoint_host_t* host) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_transport_close(host->transport);
  tfrt_transport_drain(host->transport);
  for (size_t i = 0; i < host->accepted_count; ++i) {
    ck_assert(host->accepted[i]->is_closed);
    tfrt_endpoint_deinitialize(host->accepted[i]);
    tfrt_allocator_free(allocator, host->accepted[i], sizeof(tfrt_endpoint_t));
  }
  tfrt_allocator_free(allocator, host->accepted, host->accepted_count * sizeof(host->accepted[0]));
  tfrt_condition_deinitialize(&host->changed);
  tfrt_mutex_deinitialize(&host->mutex);
  tfrt_transport_release(host->transport);
}
