// SPDX-License-Identifier: Apache-2.0
//
// The transport over gRPC on the loopback interface, both ends in this process: a message of
// 64 bytes and its echo with one outstanding, and messages of one MiB one way; each in plain
// text and over mutual TLS.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "distributed/grpc/grpc_transport.h"
#include "distributed/security/certificates.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "tests/bench/benchmark.h"

enum { PING_PONG, PING_PONG_TLS, MEBIBYTES, MEBIBYTES_TLS };

#define PING_SIZE 64
#define MEBIBYTE_SIZE ((size_t)1024 * 1024)
#define PATIENCE_S 60
#define VALID_S (60 * 60)

// One end of the connection.
typedef struct end_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;  // +1, when there is one
  tfrt_transport_write_t write;
} end_t;

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  char folder[64];  // of certificates
  tfrt_transport_t* transports[2];
  tfrt_transport_acceptor_t acceptor;
  end_t dialler;
  end_t listener;
  char* bytes;
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  // Guarded by |mutex|: what has to happen until the sample is done. The last message, and of
  // MiB each one, and that the last one was written.
  int64_t left;
  int64_t unsent;  // of MiB; belongs to whoever writes
  bool is_broken;  // guarded by |mutex|
} state_t;

// Handlers find their state here: one benchmark runs at a time.
static state_t current;

static bool is_tls(void) {
  return current.benchmark->kind == PING_PONG_TLS || current.benchmark->kind == MEBIBYTES_TLS;
}

static bool is_ping_pong(void) {
  return current.benchmark->kind == PING_PONG || current.benchmark->kind == PING_PONG_TLS;
}

// --- Both ends -----------------------------------------------------------------

static void settle(int64_t events, bool is_broken) {
  tfrt_mutex_lock(&current.mutex);
  current.left -= events;
  current.is_broken = current.is_broken || is_broken;
  tfrt_condition_broadcast(&current.changed);
  tfrt_mutex_unlock(&current.mutex);
}

static void write_message(end_t* end, tfrt_transport_written_fn_t on_written) {
  end->write.spans[0].data = current.bytes;
  end->write.spans[0].size = is_ping_pong() ? PING_SIZE : MEBIBYTE_SIZE;
  end->write.span_count = 1;
  end->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(end->connection, &end->write);
  if (status) settle(0, true);
  tfrt_status_release(status);
}

// The next message is asked for when the last write is done: there is one write at a time.
static void on_ping_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  end_t* end = TFRT_CONTAINER_OF(write, end_t, write);
  if (status) {
    settle(0, true);
  } else {
    tfrt_transport_connection_receive(end->connection);
  }
}

static void on_mebibyte_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  if (status) {
    settle(0, true);
  } else if (--current.unsent > 0) {
    write_message(TFRT_CONTAINER_OF(write, end_t, write), on_mebibyte_written);
  } else {
    settle(1, false);
  }
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  end_t* end = TFRT_CONTAINER_OF(handler, end_t, handler);
  size_t size = 0;
  for (size_t i = 0; i < span_count; ++i) size += spans[i].size;
  if (size != (is_ping_pong() ? PING_SIZE : MEBIBYTE_SIZE)) settle(0, true);
  if (!is_ping_pong()) {
    tfrt_transport_connection_receive(connection);
    settle(1, false);
  } else if (end == &current.listener) {
    write_message(end, on_ping_written);
  } else if (--current.unsent > 0) {
    write_message(end, on_ping_written);
  } else {
    settle(1, false);
  }
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)handler;
  (void)connection;
  (void)end;
  (void)status;
  settle(0, true);
}

static const tfrt_transport_handler_vtable_t kHandlerVtable = {on_message, on_closed};

static tfrt_status_t accept(tfrt_transport_acceptor_t* acceptor,
                            const tfrt_transport_incoming_t* incoming,
                            tfrt_transport_handler_t** out_handler) {
  (void)acceptor;
  current.listener.connection = tfrt_transport_connection_retain(incoming->connection);
  *out_handler = &current.listener.handler;
  tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t kAcceptorVtable = {accept};

// --- Samples -------------------------------------------------------------------

static tfrt_status_t await_messages(void) {
  int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()),
                                            PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND);
  tfrt_mutex_lock(&current.mutex);
  bool is_in_time = true;
  while (current.left > 0 && !current.is_broken && is_in_time) {
    is_in_time = tfrt_condition_wait_until(&current.changed, &current.mutex, deadline_ns);
  }
  bool is_ok = current.left == 0 && !current.is_broken;
  tfrt_mutex_unlock(&current.mutex);
  return is_ok ? NULL : tfrt_status_create(TFRT_STATUS_INTERNAL, "the connection broke");
}

static tfrt_status_t sample(void* state, double* out_figure) {
  (void)state;
  current.unsent = current.size;
  tfrt_mutex_lock(&current.mutex);
  current.left = is_ping_pong() ? 1 : current.size + 1;
  tfrt_mutex_unlock(&current.mutex);
  int64_t begin = tfrt_benchmark_now_ns();
  write_message(&current.dialler, is_ping_pong() ? on_ping_written : on_mebibyte_written);
  TFRT_RETURN_IF_ERROR(await_messages());
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)current.size / 1e3;
  return NULL;
}

// --- Life ----------------------------------------------------------------------

static tfrt_status_t make_certificate(void) {
  strcpy(current.folder, "/tmp/tfrt-bench-XXXXXX");
  if (!mkdtemp(current.folder)) return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no folder in /tmp");
  int64_t now_s = (int64_t)time(NULL);
  const tfrt_certificate_validity_t validity = {now_s - VALID_S, now_s + VALID_S};
  TFRT_RETURN_IF_ERROR(tfrt_certificates_create_authority(current.folder, validity));
  const char* name = "127.0.0.1";
  const tfrt_certificate_request_t request = {
      .role = TFRT_CERTIFICATE_HOST, .names = &name, .name_count = 1, .validity = validity};
  return tfrt_certificates_issue(current.folder, &request);
}

static void remove_folder(void) {
  DIR* directory = current.folder[0] ? opendir(current.folder) : NULL;
  if (!directory) return;
  for (struct dirent* entry; (entry = readdir(directory));) {
    if (entry->d_name[0] != '.') unlinkat(dirfd(directory), entry->d_name, 0);
  }
  closedir(directory);
  rmdir(current.folder);
}

static tfrt_status_t create_transports(void) {
  char paths[3][128];
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  if (is_tls()) {
    static const char* const kNames[] = {"ca.pem", "127.0.0.1.pem", "127.0.0.1.key"};
    for (int i = 0; i < 3; ++i) {
      snprintf(paths[i], sizeof(paths[i]), "%s/%s", current.folder, kNames[i]);
    }
    options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    options.credentials.files = (tfrt_certificate_files_t){paths[0], paths[1], paths[2]};
  }
  for (int i = 0; i < 2; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &current.transports[i]));
  }
  return NULL;
}

static tfrt_status_t connect_ends(void) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_transport_listen(
      current.transports[0], tfrt_string_view_of("127.0.0.1:0"), &current.acceptor, address));
  const tfrt_transport_dial_options_t dial = {
      .address = tfrt_string_view_of(address),
      .kind = is_ping_pong() ? TFRT_TRANSPORT_CONTROL : TFRT_TRANSPORT_BULK,
      .timeout_ns = PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND};
  return tfrt_transport_dial(current.transports[1], &dial, &current.dialler.handler,
                             &current.dialler.connection);
}

static void close_ends(void* state) {
  (void)state;
  for (int i = 1; i >= 0; --i) {
    if (!current.transports[i]) continue;
    tfrt_transport_close(current.transports[i]);
    tfrt_transport_drain(current.transports[i]);
  }
  tfrt_transport_connection_release(current.dialler.connection);
  tfrt_transport_connection_release(current.listener.connection);
  for (int i = 0; i < 2; ++i) tfrt_transport_release(current.transports[i]);
  remove_folder();
  tfrt_condition_deinitialize(&current.changed);
  tfrt_mutex_deinitialize(&current.mutex);
  tfrt_allocator_free(tfrt_allocator_system(), current.bytes, MEBIBYTE_SIZE);
}

static tfrt_status_t open_ends(const tfrt_benchmark_t* benchmark,
                               const tfrt_benchmark_files_t* files, int64_t size,
                               void** out_state) {
  (void)files;
  *out_state = &current;
  memset(&current, 0, sizeof(current));
  current.benchmark = benchmark;
  current.size = size;
  current.acceptor.vtable = &kAcceptorVtable;
  current.dialler.handler.vtable = &kHandlerVtable;
  current.listener.handler.vtable = &kHandlerVtable;
  tfrt_mutex_initialize(&current.mutex);
  tfrt_condition_initialize(&current.changed);
  current.bytes = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), MEBIBYTE_SIZE);
  tfrt_status_t status = current.bytes ? NULL : tfrt_status_out_of_memory();
  if (!status && is_tls()) status = make_certificate();
  if (!status) status = create_transports();
  if (!status) status = connect_ends();
  if (status) close_ends(NULL);
  return status;
}

// --- The table -----------------------------------------------------------------

#define BENCHMARK(NAME, KIND, SIZE, SMALL_SIZE, LIMIT)                                             \
  {                                                                                                \
    .name = "transport/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .limit = LIMIT, .open = open_ends, .sample = sample, .close = close_ends                       \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("ping_pong_64", PING_PONG, 5000, 20, NULL),
    BENCHMARK("ping_pong_64_tls", PING_PONG_TLS, 5000, 20, "transport/ping_pong_64"),
    BENCHMARK("mebibyte", MEBIBYTES, 256, 4, NULL),
    BENCHMARK("mebibyte_tls", MEBIBYTES_TLS, 256, 4, "transport/mebibyte"),
};

tfrt_benchmark_group_t tfrt_transport_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
