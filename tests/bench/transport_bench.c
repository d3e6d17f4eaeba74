// SPDX-License-Identifier: Apache-2.0
//
// The transport over gRPC on the loopback interface. Measures a message of 64 bytes and its echo
// with one outstanding: both ends in this process, or in two processes, as between two workers.
// Also measures messages of one MiB one way. Each in plain text and over mutual TLS. And how long
// an echo takes while messages of one MiB go to the same process on a second connection.
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"
#include "tests/bench/round_trips.h"

enum { PING_PONG = 1, MEBIBYTES = 2, TLS = 4, PROCESSES = 8, BESIDE = 16 };

#define PING_SIZE 64
#define MEBIBYTE_SIZE ((size_t)1024 * 1024)
#define PATIENCE_S 60

// One end of the connection.
typedef struct end_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;  // +1, when there is one
  tfrt_transport_write_t write;
  bool is_writing;
  bool is_due;  // to answer, or to say that the sample is done, when the write is done
} end_t;

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  tfrt_certificate_folder_t certificates;
  tfrt_bench_worker_t echo;  // the process of the other end, if there is one
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
  int64_t unsent;  // of MiB, or of pings; belongs to the writing thread
  bool is_broken;  // guarded by |mutex|
  // For an echo beside MiB; |unsent| then counts the MiB.
  end_t carrier;
  atomic_bool is_carried;  // the ping that is away is the last one
  tfrt_bench_round_trips_t pings;
} state_t;

// Handlers find their state here: one benchmark runs at a time.
static state_t current;

static bool is_tls(void) { return current.benchmark->kind & TLS; }

static bool is_ping_pong(void) { return current.benchmark->kind & PING_PONG; }

static bool has_echo(void) { return current.benchmark->kind & PROCESSES; }

static bool is_beside(void) { return current.benchmark->kind & BESIDE; }

static bool sends_pings(const end_t* end) { return is_ping_pong() && end != &current.carrier; }

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
  end->write.spans[0].size = sends_pings(end) ? PING_SIZE : MEBIBYTE_SIZE;
  end->write.span_count = 1;
  end->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(end->connection, &end->write);
  if (status) settle(0, true);
  tfrt_status_release(status);
}

static void on_ping_written(tfrt_transport_write_t* write, tfrt_status_t status);

static void write_ping(end_t* end) {
  end->is_writing = true;
  if (is_beside()) tfrt_bench_round_trips_leave(&current.pings);
  write_message(end, on_ping_written);
}

// The answer to a ping is there; true if there shall be another one.
static bool wants_another(void) {
  if (!is_beside()) return --current.unsent > 0;
  tfrt_bench_round_trips_come_back(&current.pings);
  // Relaxed: a ping more or less.
  return !atomic_load_explicit(&current.is_carried, memory_order_relaxed);
}

// A message has come: the next one goes, if the last one is away, as there is one write at a time.
static void answer(end_t* end) {
  end->is_due = end->is_writing;
  if (end->is_due) return;
  if (end == &current.listener || wants_another()) {
    write_ping(end);
  } else {
    settle(1, false);
  }
}

static void on_ping_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  end_t* end = TFRT_CONTAINER_OF(write, end_t, write);
  end->is_writing = false;
  if (status) {
    settle(0, true);
  } else if (end->is_due) {
    answer(end);
  }
}

static void on_mebibyte_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  if (status) {
    settle(0, true);
  } else if (--current.unsent > 0) {
    write_message(TFRT_CONTAINER_OF(write, end_t, write), on_mebibyte_written);
  } else if (is_beside()) {
    atomic_store_explicit(&current.is_carried, true, memory_order_relaxed);
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
  // At once, as a session does: who asks when the next message is there wakes a thread for it.
  tfrt_transport_connection_receive(connection);
  if (is_ping_pong()) {
    answer(end);
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
  if (is_ping_pong()) {
    write_ping(&current.dialler);
  } else {
    write_message(&current.dialler, on_mebibyte_written);
  }
  TFRT_RETURN_IF_ERROR(await_messages());
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)current.size / 1e3;
  return NULL;
}

// The time that 99 of a hundred echoes don't exceed, while |size| MiB are carried.
static tfrt_status_t sample_beside(void* state, double* out_figure) {
  (void)state;
  current.unsent = current.size;
  current.pings.count = 0;
  atomic_store_explicit(&current.is_carried, false, memory_order_relaxed);
  tfrt_mutex_lock(&current.mutex);
  current.left = 1;
  tfrt_mutex_unlock(&current.mutex);
  write_message(&current.carrier, on_mebibyte_written);
  write_ping(&current.dialler);
  TFRT_RETURN_IF_ERROR(await_messages());
  *out_figure = tfrt_bench_round_trips_percentile(&current.pings, 99);
  return NULL;
}

// --- Life ----------------------------------------------------------------------

static tfrt_status_t create_transports(void) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  if (is_tls()) {
    options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    options.credentials.files =
        tfrt_certificate_folder_files(&current.certificates, TFRT_BENCH_CLUSTER_HOST);
  }
  // gRPC lets any idle queue of a process read for all of them.
  for (int i = has_echo() ? 1 : 0; i < 2; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &current.transports[i]));
  }
  return NULL;
}

// Has the other end, here or in a process beside |tools|, listen at |address|.
static tfrt_status_t start_listener(const char* tools, char address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  if (!has_echo()) {
    // A name, at which gRPC accepts by itself: the admission of strangers at a number wants a short
    // message first, as sessions send it, and a slow machine may see a MiB before it has accepted.
    // A certificate has the number.
    const char* host = is_tls() ? "127.0.0.1:0" : "localhost:0";
    return tfrt_transport_listen(current.transports[0], tfrt_string_view_of(host),
                                 &current.acceptor, address);
  }
  char program[PATH_MAX];
  snprintf(program, sizeof(program), "%s/../tests/bench/transport_echo", tools);
  const tfrt_certificate_files_t files =
      tfrt_certificate_folder_files(&current.certificates, TFRT_BENCH_CLUSTER_HOST);
  const char* arguments[] = {program, is_tls() ? files.authorities : NULL, files.certificate,
                             files.key, NULL};
  TFRT_RETURN_IF_ERROR(tfrt_bench_process_start(&current.echo, arguments));
  strcpy(address, current.echo.address);
  return NULL;
}

static tfrt_status_t dial(const char* address, end_t* end) {
  const tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(address),
      .kind = sends_pings(end) ? TFRT_TRANSPORT_CONTROL : TFRT_TRANSPORT_BULK,
      .timeout_ns = PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND};
  TFRT_RETURN_IF_ERROR(
      tfrt_transport_dial(current.transports[1], &options, &end->handler, &end->connection));
  tfrt_transport_connection_receive(end->connection);
  return NULL;
}

static tfrt_status_t connect_ends(const char* tools) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  TFRT_RETURN_IF_ERROR(start_listener(tools, address));
  TFRT_RETURN_IF_ERROR(dial(address, &current.dialler));
  return is_beside() ? dial(address, &current.carrier) : NULL;
}

static void close_ends(void* state) {
  (void)state;
  for (int i = 1; i >= 0; --i) {
    if (!current.transports[i]) continue;
    tfrt_transport_close(current.transports[i]);
    tfrt_transport_drain(current.transports[i]);
  }
  tfrt_transport_connection_release(current.carrier.connection);
  tfrt_transport_connection_release(current.dialler.connection);
  tfrt_transport_connection_release(current.listener.connection);
  for (int i = 0; i < 2; ++i) tfrt_transport_release(current.transports[i]);
  if (has_echo()) tfrt_bench_worker_stop(&current.echo);
  (void)tfrt_certificate_folder_remove(&current.certificates);
  tfrt_condition_deinitialize(&current.changed);
  tfrt_mutex_deinitialize(&current.mutex);
  tfrt_allocator_free(tfrt_allocator_system(), current.bytes, MEBIBYTE_SIZE);
}

static tfrt_status_t open_ends(const tfrt_benchmark_t* benchmark,
                               const tfrt_benchmark_files_t* files, int64_t size,
                               void** out_state) {
  *out_state = &current;
  memset(&current, 0, sizeof(current));
  current.echo.input = -1;
  current.benchmark = benchmark;
  current.size = size;
  current.acceptor.vtable = &kAcceptorVtable;
  current.dialler.handler.vtable = &kHandlerVtable;
  current.listener.handler.vtable = &kHandlerVtable;
  current.carrier.handler.vtable = &kHandlerVtable;
  tfrt_mutex_initialize(&current.mutex);
  tfrt_condition_initialize(&current.changed);
  current.bytes = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), MEBIBYTE_SIZE);
  tfrt_status_t status = current.bytes ? NULL : tfrt_status_out_of_memory();
  if (!status && is_tls()) status = tfrt_certificate_folder_make(&current.certificates);
  if (!status && is_tls()) {
    status = tfrt_certificate_folder_add(&current.certificates, TFRT_CERTIFICATE_HOST,
                                         TFRT_BENCH_CLUSTER_HOST, TFRT_A_DAY_S);
  }
  if (!status) status = create_transports();
  if (!status) status = connect_ends(files->tools);
  if (status) close_ends(NULL);
  return status;
}

// --- The table -----------------------------------------------------------------

#define BENCHMARK_OF(NAME, KIND, SIZE, SMALL_SIZE, LIMIT, SAMPLE)                                  \
  {                                                                                                \
    .name = "transport/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .limit = LIMIT, .open = open_ends, .sample = SAMPLE, .close = close_ends                       \
  }

#define BENCHMARK(NAME, KIND, SIZE, SMALL_SIZE, LIMIT) \
  BENCHMARK_OF(NAME, KIND, SIZE, SMALL_SIZE, LIMIT, sample)

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("ping_pong_64", PING_PONG, 5000, 20, NULL),
    BENCHMARK("ping_pong_64_tls", PING_PONG | TLS, 5000, 20, "transport/ping_pong_64"),
    BENCHMARK("ping_pong_64_processes", PING_PONG | PROCESSES, 5000, 20,
              "transport/grpc_ping_pong_64"),
    BENCHMARK("ping_pong_64_tls_processes", PING_PONG | PROCESSES | TLS, 5000, 20,
              "transport/grpc_ping_pong_64_tls"),
    BENCHMARK_OF("ping_pong_64_p99_beside_4_gib", PING_PONG | PROCESSES | BESIDE, 4096, 2, NULL,
                 sample_beside),
    BENCHMARK("mebibyte", MEBIBYTES, 256, 4, NULL),
    BENCHMARK("mebibyte_tls", MEBIBYTES | TLS, 256, 4, "transport/mebibyte"),
};

tfrt_benchmark_group_t tfrt_transport_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
