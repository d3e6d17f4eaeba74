// SPDX-License-Identifier: Apache-2.0
//
// A chain of calls over several hosts on bare streams (relayed_chain.h): what the messages of
// cluster/chain_over_* cost by themselves where as many processes share the machine's processors.
// In the same form, per N / 2 + 1 round trips; their own limit is that round trip.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/clock.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"
#include "tests/bench/relayed_chain.h"

#define MAX_RELAYS 8
#define PATIENCE_S 60

typedef struct state_s {
  int64_t size;  // chains of a sample
  int relays;
  tfrt_bench_worker_t workers[MAX_RELAYS];
  int started;
  tfrt_transport_t* transport;
  tfrt_bench_stream_t streams[MAX_RELAYS];
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  int64_t chains;  // guarded by |mutex|, like all below: those of the sample that have their result
  bool is_broken;
} state_t;

// Handlers find their state here: one benchmark runs at a time.
static state_t current;

static void begin_chain(int64_t argument) {
  tfrt_bench_relayed_t message = {.kind = TFRT_BENCH_RELAYED_INVOKE, .value = argument};
  for (int i = 0; i < current.relays; ++i) {
    message.is_last = i + 1 == current.relays;
    tfrt_bench_stream_send(&current.streams[i], &message);
  }
}

// With the lock held: notes the result of a chain, from the |i|-th relay. True if the next one may
// begin.
static bool take_result(int i, const tfrt_bench_relayed_t* message) {
  const int64_t expected = ++current.chains * current.relays;
  if (message->kind != TFRT_BENCH_RELAYED_RESULT || message->value != expected ||
      i + 1 != current.relays) {
    current.is_broken = true;
  }
  bool is_over = current.is_broken || current.chains == current.size;
  if (is_over) tfrt_condition_signal(&current.changed);
  return !is_over;
}

static void on_message(tfrt_bench_stream_t* stream, const void* bytes) {
  tfrt_bench_relayed_t message;
  memcpy(&message, bytes, sizeof(message));
  tfrt_mutex_lock(&current.mutex);
  bool is_next = take_result((int)(stream - current.streams), &message);
  tfrt_mutex_unlock(&current.mutex);
  if (is_next) begin_chain(message.value);
}

static void on_broken(tfrt_bench_stream_t* stream) {
  (void)stream;
  tfrt_mutex_lock(&current.mutex);
  current.is_broken = true;
  tfrt_condition_signal(&current.changed);
  tfrt_mutex_unlock(&current.mutex);
}

// One sample in microseconds: a chain's share of its round trips.
static tfrt_status_t sample(void* state, double* out_figure) {
  (void)state;
  int64_t begin = tfrt_benchmark_now_ns();
  int64_t deadline_ns = tfrt_deadline_after(begin, PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND);
  tfrt_mutex_lock(&current.mutex);
  current.chains = 0;
  tfrt_mutex_unlock(&current.mutex);
  begin_chain(0);
  tfrt_mutex_lock(&current.mutex);
  bool is_in_time = true;
  while (current.chains < current.size && !current.is_broken && is_in_time) {
    is_in_time = tfrt_condition_wait_until(&current.changed, &current.mutex, deadline_ns);
  }
  bool is_ok = current.chains == current.size && !current.is_broken;
  tfrt_mutex_unlock(&current.mutex);
  if (!is_ok) return tfrt_status_create(TFRT_STATUS_INTERNAL, "a chain broke");
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / 1e3 / (double)current.size /
                (0.5 * current.relays + 1);
  return NULL;
}

// --- Life ----------------------------------------------------------------------

static void close_chain(void* state) {
  (void)state;
  if (current.transport) {
    tfrt_transport_close(current.transport);
    tfrt_transport_drain(current.transport);
  }
  for (int i = 0; i < MAX_RELAYS; ++i) tfrt_bench_stream_deinitialize(&current.streams[i]);
  tfrt_transport_release(current.transport);
  for (int i = 0; i < current.started; ++i) tfrt_bench_worker_stop(&current.workers[i]);
  tfrt_condition_deinitialize(&current.changed);
  tfrt_mutex_deinitialize(&current.mutex);
}

static tfrt_status_t start_relays(const char* tools) {
  char program[PATH_MAX];
  snprintf(program, sizeof(program), "%s/../tests/bench/transport_relay", tools);
  for (; current.started < current.relays; ++current.started) {
    const int i = current.started;
    const char* arguments[] = {program, i > 0 ? current.workers[i - 1].address : NULL, NULL};
    TFRT_RETURN_IF_ERROR(tfrt_bench_process_start(&current.workers[i], arguments));
  }
  return NULL;
}

static tfrt_status_t dial_relays(void) {
  const tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  TFRT_RETURN_IF_ERROR(
      tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &current.transport));
  for (int i = 0; i < current.relays; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_bench_stream_dial(&current.streams[i], current.transport, current.workers[i].address));
  }
  return NULL;
}

static tfrt_status_t open_chain(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  *out_state = &current;
  memset(&current, 0, sizeof(current));
  current.size = size;
  current.relays = benchmark->kind;
  tfrt_mutex_initialize(&current.mutex);
  tfrt_condition_initialize(&current.changed);
  for (int i = 0; i < MAX_RELAYS; ++i) {
    tfrt_bench_stream_initialize(&current.streams[i], on_message, on_broken);
  }
  tfrt_status_t status = start_relays(files->tools);
  if (!status) status = dial_relays();
  if (status) close_chain(NULL);
  return status;
}

// |kind| is the number of relays.
#define CHAIN(NAME, RELAYS, SIZE, SMALL_SIZE, LIMIT, IS_BOUND)                                  \
  {                                                                                             \
    .name = "transport/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE,            \
    .kind = RELAYS, .is_bound = IS_BOUND, .limit = LIMIT, .open = open_chain, .sample = sample, \
    .close = close_chain                                                                        \
  }
#define FREE(NAME, RELAYS, SIZE, SMALL_SIZE) \
  CHAIN(NAME, RELAYS, SIZE, SMALL_SIZE, "transport/grpc_ping_pong_64", false)
#define BOUND(NAME, RELAYS, SIZE, SMALL_SIZE) \
  CHAIN(NAME, RELAYS, SIZE, SMALL_SIZE, "transport/grpc_ping_pong_64_bound", true)

static const tfrt_benchmark_t benchmarks[] = {
    FREE("chain_over_2", 2, 500, 3),        FREE("chain_over_4", 4, 250, 2),
    FREE("chain_over_8", 8, 100, 1),        BOUND("chain_over_2_bound", 2, 500, 3),
    BOUND("chain_over_4_bound", 4, 250, 2), BOUND("chain_over_8_bound", 8, 100, 1),
};

tfrt_benchmark_group_t tfrt_relayed_chain_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
