// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/brittle_transport.h"

#include <string.h>

static tfrt_brittle_transport_t* cast(tfrt_transport_t* transport) {
  return TFRT_CONTAINER_OF(transport, tfrt_brittle_transport_t, base);
}

static void brittle_destroy(tfrt_transport_t* transport) {
  tfrt_brittle_transport_t* brittle = cast(transport);
  for (size_t i = 0; i < TFRT_BRITTLE_TRANSPORT_KEPT; ++i) {
    tfrt_transport_connection_release(brittle->kept[i]);
  }
  tfrt_transport_release(brittle->inner);
  tfrt_mutex_deinitialize(&brittle->mutex);
}

static tfrt_status_t brittle_listen(tfrt_transport_t* transport, tfrt_string_view_t address,
                                    tfrt_transport_acceptor_t* acceptor,
                                    char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  return tfrt_transport_listen(cast(transport)->inner, address, acceptor, out_address);
}

static tfrt_status_t brittle_dial(tfrt_transport_t* transport,
                                  const tfrt_transport_dial_options_t* options,
                                  tfrt_transport_handler_t* handler,
                                  tfrt_transport_connection_t** out_connection) {
  tfrt_brittle_transport_t* brittle = cast(transport);
  TFRT_RETURN_IF_ERROR(tfrt_transport_dial(brittle->inner, options, handler, out_connection));
  tfrt_mutex_lock(&brittle->mutex);
  size_t place = brittle->next++ % TFRT_BRITTLE_TRANSPORT_KEPT;
  tfrt_transport_connection_t* old = brittle->kept[place];
  brittle->kept[place] = tfrt_transport_connection_retain(*out_connection);
  tfrt_mutex_unlock(&brittle->mutex);
  tfrt_transport_connection_release(old);
  return NULL;
}

static void brittle_close(tfrt_transport_t* transport) {
  tfrt_transport_close(cast(transport)->inner);
}

static void brittle_drain(tfrt_transport_t* transport) {
  tfrt_transport_drain(cast(transport)->inner);
}

static const tfrt_transport_vtable_t brittle_vtable = {
    .destroy = brittle_destroy,
    .listen = brittle_listen,
    .dial = brittle_dial,
    .close = brittle_close,
    .drain = brittle_drain,
};

void tfrt_brittle_transport_initialize(tfrt_brittle_transport_t* brittle, tfrt_transport_t* inner) {
  memset(brittle, 0, sizeof(*brittle));
  tfrt_transport_initialize(&brittle->base, &brittle_vtable);
  tfrt_mutex_initialize(&brittle->mutex);
  brittle->inner = inner;
}

void tfrt_brittle_transport_break(tfrt_brittle_transport_t* brittle) {
  for (size_t i = 0; i < TFRT_BRITTLE_TRANSPORT_KEPT; ++i) {
    tfrt_mutex_lock(&brittle->mutex);
    tfrt_transport_connection_t* connection = brittle->kept[i];
    brittle->kept[i] = NULL;
    tfrt_mutex_unlock(&brittle->mutex);
    if (connection) tfrt_transport_connection_abort(connection);
    tfrt_transport_connection_release(connection);
  }
}
