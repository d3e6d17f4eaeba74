// SPDX-License-Identifier: Apache-2.0
//
// The suite of all transports, over the simulated network.
#include "tests/distributed/simulated/network.h"
#include "tests/distributed/transport/transport_suite.h"
#include "tests/support/test_main.h"

typedef struct network_s {
  tfrt_simulated_network_t* network;
  tfrt_simulated_endpoint_t* endpoints[2];
  tfrt_simulated_endpoint_t* silent;
  char silent_address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_transport_acceptor_t acceptor;
} network_t;

static tfrt_status_t accept_nobody(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler) {
  (void)acceptor;
  (void)incoming;
  (void)out_handler;
  ck_abort_msg("a frozen process accepts nobody");
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {.accept = accept_nobody};

static void* network_create(void) {
  network_t* network = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*network));
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  network->network = tfrt_simulated_network_allocate(&options, tfrt_allocator_system());
  network->endpoints[0] = tfrt_simulated_network_add_endpoint(network->network, "a");
  network->endpoints[1] = tfrt_simulated_network_add_endpoint(network->network, "b");
  network->silent = tfrt_simulated_network_add_endpoint(network->network, "frozen");
  network->acceptor.vtable = &acceptor_vtable;
  tfrt_status_t status = tfrt_transport_listen(tfrt_simulated_endpoint_transport(network->silent),
                                               tfrt_string_view_of("frozen:0"), &network->acceptor,
                                               network->silent_address);
  ck_assert(tfrt_status_is_ok(status));
  tfrt_simulated_endpoint_freeze(network->silent);
  return network;
}

static void network_destroy(void* self) {
  network_t* network = self;
  ck_assert_uint_eq(tfrt_simulated_network_stream_count(network->network), 0);
  tfrt_simulated_network_free(network->network);
  tfrt_allocator_free(tfrt_allocator_system(), network, sizeof(*network));
}

static tfrt_transport_t* network_transport(void* self, int index) {
  return tfrt_simulated_endpoint_transport(((network_t*)self)->endpoints[index]);
}

static const char* network_listen_address(void* self) {
  (void)self;
  return "host:0";
}

static const char* network_refusing_address(void* self) {
  (void)self;
  return "nobody:1";
}

static const char* network_silent_address(void* self) { return ((network_t*)self)->silent_address; }

static bool network_run_until(void* self, tfrt_transport_suite_predicate_fn_t predicate,
                              void* argument) {
  // A minute of the network's time: nothing in the suite takes as long.
  return tfrt_simulated_network_run_until(((network_t*)self)->network, predicate, argument,
                                          60 * TFRT_NANOSECONDS_PER_SECOND);
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
  Suite* suite = suite_create("simulated transport");
  tfrt_transport_suite_add(suite, &vtable);
  return suite;
}
