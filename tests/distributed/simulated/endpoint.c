// SPDX-License-Identifier: Apache-2.0
//
// The transport interface over the simulated network: what listens, dials and closes.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/distributed/simulated/network_internal.h"

static tfrt_simulated_endpoint_t* endpoint_of(tfrt_transport_t* transport) {
  return TFRT_CONTAINER_OF(transport, tfrt_simulated_endpoint_t, transport);
}

static void transport_destroy(tfrt_transport_t* transport) {
  // The network frees the endpoint: it drops the last reference.
  (void)transport;
}

// The endpoint that is, or was last, at |address|: the living one first.
static tfrt_simulated_endpoint_t* find_endpoint(tfrt_simulated_network_t* network,
                                                tfrt_string_view_t address) {
  tfrt_simulated_endpoint_t* found = NULL;
  for (tfrt_list_link_t* l = network->endpoints.next; l != &network->endpoints; l = l->next) {
    tfrt_simulated_endpoint_t* endpoint = TFRT_CONTAINER_OF(l, tfrt_simulated_endpoint_t, link);
    if (!tfrt_string_view_equal(tfrt_string_view_of(endpoint->address), address)) continue;
    if (!found || !endpoint->is_dead) found = endpoint;
  }
  return found;
}

static tfrt_status_t transport_listen(tfrt_transport_t* transport, tfrt_string_view_t address,
                                      tfrt_transport_acceptor_t* acceptor,
                                      char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  tfrt_simulated_endpoint_t* endpoint = endpoint_of(transport);
  if (endpoint->is_closed || endpoint->is_dead || endpoint->acceptor) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "this transport listens already, or is closed");
  }
  char text[TFRT_TRANSPORT_ADDRESS_SIZE];
  size_t size = address.size;
  memcpy(text, address.data, size);
  text[size] = '\0';
  if (size > 2 && strcmp(text + size - 2, ":0") == 0 && size + 10 < sizeof(text)) {
    snprintf(text + size - 1, sizeof(text) - size, "%" PRIu32, endpoint->network->next_port++);
  }
  tfrt_simulated_endpoint_t* owner = find_endpoint(endpoint->network, tfrt_string_view_of(text));
  if (owner && owner->acceptor) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "address %s is in use", text);
  }
  memcpy(endpoint->address, text, sizeof(text));
  memcpy(out_address, text, sizeof(text));
  endpoint->acceptor = acceptor;
  return NULL;
}

static tfrt_status_t transport_dial(tfrt_transport_t* transport,
                                    const tfrt_transport_dial_options_t* options,
                                    tfrt_transport_handler_t* handler,
                                    tfrt_transport_connection_t** out_connection) {
  tfrt_simulated_endpoint_t* endpoint = endpoint_of(transport);
  if (endpoint->is_closed || endpoint->is_dead) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "this transport is closed");
  }
  tfrt_simulated_endpoint_t* listener = find_endpoint(endpoint->network, options->address);
  *out_connection = tfrt_simulated_stream_open(endpoint, listener, options, handler);
  return NULL;
}

// Returns an end of |endpoint| that was not told yet, with no number below |*number|, which
// becomes the next one to look at; NULL if there is none.
static tfrt_simulated_end_t* next_end(tfrt_simulated_endpoint_t* endpoint, uint64_t* number) {
  tfrt_list_link_t* head = &endpoint->network->streams;
  for (tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    tfrt_simulated_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_simulated_stream_t, link);
    for (int side = 0; side < 2; ++side) {
      tfrt_simulated_end_t* end = &stream->ends[side];
      uint64_t end_number = 2 * stream->number + (uint64_t)side;
      if (end->endpoint != endpoint || !end->is_attached || end->is_told) continue;
      if (end_number < *number) continue;
      *number = end_number + 1;
      return end;
    }
  }
  return NULL;
}

static void transport_close(tfrt_transport_t* transport) {
  tfrt_simulated_endpoint_t* endpoint = endpoint_of(transport);
  if (endpoint->is_closed) return;
  endpoint->is_closed = true;
  endpoint->acceptor = NULL;
  uint64_t number = 0;
  for (tfrt_simulated_end_t* end; (end = next_end(endpoint, &number));) {
    tfrt_transport_connection_abort(&end->base);
  }
}

// Other transports' threads would tell the ends while drain waits; here it does so itself.
static void transport_drain(tfrt_transport_t* transport) {
  uint64_t number = 0;
  for (tfrt_simulated_end_t* end; (end = next_end(endpoint_of(transport), &number));) {
    tfrt_simulated_end_tell_error(end, TFRT_TRANSPORT_RESET, "the transport is closed");
  }
}

void tfrt_simulated_endpoint_drop_streams(tfrt_simulated_endpoint_t* endpoint) {
  uint64_t number = 0;
  for (tfrt_simulated_end_t* end; (end = next_end(endpoint, &number));) {
    tfrt_simulated_end_reset(end);
  }
}

const tfrt_transport_vtable_t tfrt_simulated_transport_vtable = {
    .destroy = transport_destroy,
    .listen = transport_listen,
    .dial = transport_dial,
    .close = transport_close,
    .drain = transport_drain,
};
