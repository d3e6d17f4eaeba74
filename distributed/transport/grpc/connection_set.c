// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/connection_set.h"

#include "distributed/transport/grpc/connection.h"

void tfrt_grpc_connection_set_initialize(tfrt_grpc_connection_set_t* set) {
  tfrt_mutex_initialize(&set->mutex);
  tfrt_condition_initialize(&set->emptied);
  tfrt_list_initialize(&set->connections);
  set->is_closed = false;
}

void tfrt_grpc_connection_set_deinitialize(tfrt_grpc_connection_set_t* set) {
  tfrt_condition_deinitialize(&set->emptied);
  tfrt_mutex_deinitialize(&set->mutex);
}

bool tfrt_grpc_connection_set_add(tfrt_grpc_connection_set_t* set,
                                  tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&set->mutex);
  bool is_open = !set->is_closed;
  if (is_open) tfrt_list_push_back(&set->connections, &connection->set_link);
  tfrt_mutex_unlock(&set->mutex);
  return is_open;
}

void tfrt_grpc_connection_set_remove(tfrt_grpc_connection_set_t* set,
                                     tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&set->mutex);
  tfrt_list_remove(&connection->set_link);
  if (tfrt_list_is_empty(&set->connections)) tfrt_condition_broadcast(&set->emptied);
  tfrt_mutex_unlock(&set->mutex);
}

void tfrt_grpc_connection_set_close(tfrt_grpc_connection_set_t* set) {
  tfrt_mutex_lock(&set->mutex);
  set->is_closed = true;
  // With the lock held, so that no member can leave meanwhile. An abort calls nobody back:
  // all callbacks come from queue threads, which at worst wait here to leave the set.
  for (tfrt_list_link_t* link = set->connections.next; link != &set->connections;
       link = link->next) {
    tfrt_grpc_connection_t* connection = TFRT_CONTAINER_OF(link, tfrt_grpc_connection_t, set_link);
    tfrt_transport_connection_abort(&connection->base);
  }
  tfrt_mutex_unlock(&set->mutex);
}

bool tfrt_grpc_connection_set_drain(tfrt_grpc_connection_set_t* set, int64_t deadline_ns) {
  tfrt_mutex_lock(&set->mutex);
  bool is_in_time = true;
  while (is_in_time && !tfrt_list_is_empty(&set->connections)) {
    is_in_time = tfrt_condition_wait_until(&set->emptied, &set->mutex, deadline_ns);
  }
  bool is_empty = tfrt_list_is_empty(&set->connections);
  tfrt_mutex_unlock(&set->mutex);
  return is_empty;
}
