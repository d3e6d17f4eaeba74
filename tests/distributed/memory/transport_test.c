// SPDX-License-Identifier: Apache-2.0
//
// The suite of all transports, over the smallest one.
#include "tests/distributed/memory/memory_network.h"

#include "tests/distributed/transport/transport_suite.h"
#include "tests/support/test_main.h"

typedef struct network_s {
  tfrt_memory_network_t* network;
  tfrt_transport_t* transports[2];
} network_t;

static void* network_create(void) {
  static network_t network;
  network.network = tfrt_memory_network_allocate(tfrt_allocator_system());
  for (int i = 0; i < 2; ++i) {
    network.transports[i] = tfrt_memory_network_create_transport(network.network);
  }
  return &network;
}

static void network_destroy(void* self) {
  network_t* network = self;
  for (int i = 0; i < 2; ++i) tfrt_transport_release(network->transports[i]);
  tfrt_memory_network_free(network->network);
}

static tfrt_transport_t* network_transport(void* self, int index) {
  return ((network_t*)self)->transports[index];
}

static const char* network_listen_address(void* self) {
  (void)self;
  return "here:0";
}

static const char* network_refusing_address(void* self) {
  (void)self;
  return "nobody:1";
}

// Nobody here is silent.
static const char* network_silent_address(void* self) {
  (void)self;
  return NULL;
}

static bool network_run_until(void* self, tfrt_transport_suite_predicate_fn_t predicate,
                              void* argument) {
  for (;;) {
    if (predicate && predicate(argument)) return true;
    if (!tfrt_memory_network_step(((network_t*)self)->network)) return false;
  }
}

static const tfrt_transport_suite_network_vtable_t vtable = {
    .destroy = network_destroy,
    .create = network_create,
    .transport = network_transport,
    .listen_address = network_listen_address,
    .refusing_address = network_refusing_address,
    .silent_address = network_silent_address,
    .run_until = network_run_until,
};

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("memory transport");
  tfrt_transport_suite_add(suite, &vtable);
  return suite;
}
