// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/grpc/suite_network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "tests/distributed/security/checked_certificate_folder.h"

#define PATIENCE_NS (60 * TFRT_NANOSECONDS_PER_SECOND)
#define A_WHILE_NS (20 * TFRT_NANOSECONDS_PER_MILLISECOND)

// A port of our own: bound, so that a dial is refused, or listening with nobody behind.
typedef struct port_s {
  int descriptor;
  char address[32];
} port_t;

typedef struct network_s {
  tfrt_certificate_folder_t* certificates;  // NULL: plain text
  tfrt_transport_t* transports[2];
  port_t refusing;
  port_t silent;
} network_t;

static port_t open_port(bool is_listening) {
  port_t port = {.descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(name);
  ck_assert_int_eq(bind(port.descriptor, (struct sockaddr*)&name, size), 0);
  if (is_listening) ck_assert_int_eq(listen(port.descriptor, 8), 0);
  ck_assert_int_eq(getsockname(port.descriptor, (struct sockaddr*)&name, &size), 0);
  snprintf(port.address, sizeof(port.address), "127.0.0.1:%d", ntohs(name.sin_port));
  return port;
}

static network_t* network_allocate(void) {
  network_t* network = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*network));
  ck_assert_ptr_nonnull(network);
  return network;
}

static network_t* network_open(network_t* network, const tfrt_grpc_credentials_t* credentials) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.credentials = *credentials;
  for (int i = 0; i < 2; ++i) {
    tfrt_status_t status =
        tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &network->transports[i]);
    ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  }
  network->refusing = open_port(false);
  network->silent = open_port(true);
  return network;
}

static void* network_create_plain_text(void) {
  const tfrt_grpc_credentials_t credentials = {.kind = TFRT_GRPC_CREDENTIALS_PLAIN_TEXT};
  return network_open(network_allocate(), &credentials);
}

static void* network_create_tls(void) {
  network_t* network = network_allocate();
  network->certificates =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*network->certificates));
  ck_assert_ptr_nonnull(network->certificates);
  tfrt_certificate_folder_initialize(network->certificates);
  tfrt_certificate_folder_issue(network->certificates, TFRT_CERTIFICATE_HOST, "127.0.0.1",
                                TFRT_A_DAY_S);
  const tfrt_grpc_credentials_t credentials = {
      .kind = TFRT_GRPC_CREDENTIALS_TLS,
      .files = tfrt_certificate_folder_files(network->certificates, "127.0.0.1")};
  return network_open(network, &credentials);
}

static void network_destroy(void* self) {
  network_t* network = self;
  for (int i = 0; i < 2; ++i) tfrt_transport_release(network->transports[i]);
  close(network->refusing.descriptor);
  close(network->silent.descriptor);
  if (network->certificates) {
    tfrt_certificate_folder_deinitialize(network->certificates);
    tfrt_allocator_free(tfrt_allocator_system(), network->certificates,
                        sizeof(*network->certificates));
  }
  tfrt_allocator_free(tfrt_allocator_system(), network, sizeof(*network));
}

static tfrt_transport_t* network_transport(void* self, int index) {
  return ((network_t*)self)->transports[index];
}

static const char* network_listen_address(void* self) {
  (void)self;
  return "127.0.0.1:0";
}

static const char* network_refusing_address(void* self) {
  return ((network_t*)self)->refusing.address;
}

static const char* network_silent_address(void* self) { return ((network_t*)self)->silent.address; }

// The network runs by itself, on threads of its own.
static bool network_run_until(void* self, tfrt_transport_suite_predicate_fn_t predicate,
                              void* argument) {
  (void)self;
  tfrt_clock_t clock = tfrt_clock_system();
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(clock), predicate ? PATIENCE_NS : A_WHILE_NS);
  while (tfrt_clock_now_ns(clock) < deadline_ns) {
    if (predicate && predicate(argument)) return true;
    tfrt_thread_yield();
  }
  return predicate == NULL;
}

const tfrt_transport_suite_network_vtable_t tfrt_suite_network_plain_text = {
    .destroy = network_destroy,
    .create = network_create_plain_text,
    .transport = network_transport,
    .listen_address = network_listen_address,
    .refusing_address = network_refusing_address,
    .silent_address = network_silent_address,
    .run_until = network_run_until,
};

const tfrt_transport_suite_network_vtable_t tfrt_suite_network_tls = {
    .destroy = network_destroy,
    .create = network_create_tls,
    .transport = network_transport,
    .listen_address = network_listen_address,
    .refusing_address = network_refusing_address,
    .silent_address = network_silent_address,
    .run_until = network_run_until,
};
