// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/host/node_harness.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "kernels/device/host_devices.h"
#include "tests/distributed/host/table_oracle.h"
#include "tests/distributed/program/program.h"
#include "tools/kernels/kernel_rooms.h"

#define FIRST_INCARNATION UINT64_C(0x1000)

static void expect_ok(tfrt_status_t status) {
  char text[2048];
  if (status) tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(!status, "%s", text);
}

static tfrt_node_world_configure_fn_t configure_node;

void tfrt_node_world_set_configure(tfrt_node_world_configure_fn_t configure) {
  configure_node = configure;
}

// Does what all tables together say?
static void check_tables(const tfrt_node_world_t* world) {
  tfrt_node_t* nodes[TFRT_NODE_WORLD_MAX_HOSTS + 1];
  bool any_death = false;
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    nodes[i] = world->hosts[i].node;
    if (!nodes[i]) any_death = true;
    if (!nodes[i] || any_death) continue;
    tfrt_session_counters_t counters;
    tfrt_node_session_counters(nodes[i], &counters);
    if (counters.deaths > 0) any_death = true;
  }
  tfrt_table_oracle_check(nodes, world->host_count + 1, any_death);
}

// Runs what a step has put into a host's queue.
static void run_queue(void* argument) {
  tfrt_node_host_t* host = argument;
  if (!host->context) return;
  tfrt_work_queue_quiesce(host->context->work_queue);
  // In a long run not at each step, which would take minutes.
  uint64_t step = ++host->world->step_count;
  if (step < 4096 || step % 64 == 0) check_tables(host->world);
}

static void add_host(tfrt_node_world_t* world, uint32_t index, uint64_t window_size) {
  bool listens = index < world->host_count;
  tfrt_node_host_t* host = &world->hosts[index];
  char name[16];
  snprintf(name, sizeof(name), "n%u", index);
  host->world = world;
  host->endpoint = tfrt_simulated_network_add_endpoint(world->network, name);
  tfrt_work_queue_t* queue = NULL;
  expect_ok(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  expect_ok(tfrt_host_context_allocate(tfrt_allocator_system(),
                                       tfrt_simulated_network_clock(world->network), queue,
                                       &host->context));
  expect_ok(tfrt_kernel_rooms_register(host->context->registry));
  tfrt_node_options_t options;
  tfrt_node_options_initialize(&options);
  options.allocator = tfrt_allocator_system();
  options.timers = tfrt_simulated_endpoint_timers(host->endpoint);
  options.transport = tfrt_simulated_endpoint_transport(host->endpoint);
  options.host = host->context;
  options.window_size = window_size;
  options.session.incarnation = FIRST_INCARNATION + index;
  options.session.name = tfrt_string_view_of(name);
  options.session.cluster_key = tfrt_string_view_of("key");
  if (configure_node) configure_node(index, &options);
  expect_ok(tfrt_node_create(&options, &host->node));
  if (listens) {
    char address[32];
    snprintf(address, sizeof(address), "%s:1", name);
    expect_ok(tfrt_node_listen(host->node, tfrt_string_view_of(address), host->address));
  }
  tfrt_simulated_endpoint_set_hook(host->endpoint, run_queue, host);
}

static void take_line(void* self, uint32_t rank, tfrt_string_view_t line) {
  tfrt_node_world_t* world = self;
  size_t used = strlen(world->printed);
  snprintf(world->printed + used, sizeof(world->printed) - used, "%u: %.*s\n", rank,
           TFRT_STRING_VIEW_ARGUMENTS(line));
}

static void open_job(tfrt_node_world_t* world) {
  tfrt_string_view_t addresses[TFRT_NODE_WORLD_MAX_HOSTS];
  for (uint32_t i = 0; i < world->host_count; ++i) {
    addresses[i] = tfrt_string_view_of(world->hosts[i].address);
  }
  tfrt_client_options_t options = {.addresses = addresses,
                                   .host_count = world->host_count,
                                   .name = tfrt_string_view_of("test"),
                                   .deadline_ns = TFRT_TIME_INFINITE,
                                   .print = take_line,
                                   .print_self = world};
  expect_ok(tfrt_client_create(world->hosts[world->host_count].node, &options, &world->client));
}

void tfrt_node_world_initialize(tfrt_node_world_t* world, uint32_t host_count,
                                const tfrt_simulated_options_t* options) {
  tfrt_node_world_initialize_with_window(world, host_count, options, 0);
}

void tfrt_node_world_initialize_with_window(tfrt_node_world_t* world, uint32_t host_count,
                                            const tfrt_simulated_options_t* options,
                                            uint64_t window_size) {
  memset(world, 0, sizeof(*world));
  tfrt_simulated_options_t defaults;
  tfrt_simulated_options_initialize(&defaults);
  world->network =
      tfrt_simulated_network_allocate(options ? options : &defaults, tfrt_allocator_system());
  world->frames = tfrt_frame_oracle_allocate(world->network, FIRST_INCARNATION);
  world->host_count = host_count;
  for (uint32_t i = 0; i <= host_count; ++i) add_host(world, i, window_size);
  open_job(world);
}

// --- Programs ----------------------------------------------------------------

void tfrt_node_world_start(tfrt_node_world_t* world, const char* text,
                           tfrt_async_value_t* const* arguments, uint32_t argument_count,
                           uint32_t result_count) {
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, text);
  ck_assert_uint_eq(program.result_count, result_count);
  world->result_count = result_count;
  world->start =
      tfrt_test_program_start(&program, world->client, arguments, argument_count, world->results);
  tfrt_test_program_deinitialize(&program);
}

void tfrt_node_world_start_i32(tfrt_node_world_t* world, const char* text, int32_t x,
                               uint32_t result_count) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(x);
  tfrt_node_world_start(world, text, &argument, 1, result_count);
  tfrt_async_value_release(argument);
}

static void describe(const tfrt_node_world_t* world, char* text, size_t size) {
  text[0] = '\0';
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    tfrt_node_t* node = world->hosts[i].node;
    if (!node) continue;
    tfrt_node_counts_t counts = tfrt_node_counts(node);
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "%u: %d objects %d remote %d out %d in %d wants %d transfers %d jobs; ", i,
             (int)counts.objects, (int)counts.remote_values, (int)counts.outgoing_calls,
             (int)counts.incoming_calls, (int)counts.incoming_wants, (int)counts.transfers,
             (int)tfrt_node_counts(node).jobs);
  }
}

static bool has_results(void* argument) {
  tfrt_node_world_t* world = argument;
  for (uint32_t i = 0; i < world->result_count; ++i) {
    if (!tfrt_async_value_is_available(world->results[i])) return false;
  }
  return true;
}

void tfrt_node_world_await(tfrt_node_world_t* world) {
  bool came = tfrt_simulated_network_run_until(world->network, has_results, world,
                                               60 * TFRT_NODE_WORLD_SECOND);
  char text[1024];
  describe(world, text, sizeof(text));
  ck_assert_msg(came, "the results don't come: %s\n%s", text, world->printed);
}

void tfrt_node_world_run_for(tfrt_node_world_t* world, int64_t duration_ns) {
  tfrt_simulated_network_run_until(world->network, NULL, NULL, duration_ns);
}

int32_t tfrt_node_world_i32(const tfrt_node_world_t* world, uint32_t index) {
  tfrt_async_value_t* value = world->results[index];
  if (tfrt_async_value_is_error(value)) expect_ok(tfrt_async_value_error(value));
  return *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
}

tfrt_string_view_t tfrt_node_world_text(const tfrt_node_world_t* world, uint32_t index) {
  tfrt_async_value_t* value = world->results[index];
  if (tfrt_async_value_is_error(value)) expect_ok(tfrt_async_value_error(value));
  return tfrt_async_value_string(value);
}

tfrt_status_t tfrt_node_world_error(const tfrt_node_world_t* world, uint32_t index) {
  ck_assert(tfrt_async_value_is_error(world->results[index]));
  return tfrt_async_value_error(world->results[index]);
}

// --- The end -----------------------------------------------------------------

static bool is_empty(void* argument) {
  tfrt_node_world_t* world = argument;
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    tfrt_node_t* node = world->hosts[i].node;
    if (!node) continue;
    tfrt_node_counts_t counts = tfrt_node_counts(node);
    if (counts.objects || counts.remote_values || counts.outgoing_calls || counts.incoming_calls ||
        counts.incoming_wants || counts.transfers || tfrt_node_counts(node).jobs) {
      return false;
    }
  }
  return true;
}

static void release_results(tfrt_node_world_t* world) {
  for (uint32_t i = 0; i < world->result_count; ++i) tfrt_async_value_release(world->results[i]);
  world->result_count = 0;
}

void tfrt_node_world_finish(tfrt_node_world_t* world) {
  release_results(world);
  tfrt_client_close(world->client, NULL);
  bool empty = tfrt_simulated_network_run_until(world->network, is_empty, world,
                                                20 * TFRT_NODE_WORLD_SECOND);
  char text[1024];
  describe(world, text, sizeof(text));
  ck_assert_msg(empty, "something is left: %s", text);
}

static void take_down(tfrt_node_host_t* host) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(host->endpoint);
  tfrt_work_queue_quiesce(host->context->work_queue);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  // Devices work in real time.
  tfrt_host_devices_drain(host->context);
  ck_assert(tfrt_node_is_drained(host->node));
  tfrt_work_queue_quiesce(host->context->work_queue);
  tfrt_node_release(host->node);
  tfrt_host_context_free(host->context);
  host->node = NULL;
  host->context = NULL;
}

void tfrt_node_world_kill(tfrt_node_world_t* world, uint32_t rank) {
  tfrt_node_host_t* host = &world->hosts[rank];
  tfrt_simulated_endpoint_kill(host->endpoint);
  tfrt_frame_oracle_bury(world->frames, rank);
  tfrt_node_close(host->node);
  take_down(host);
}

void tfrt_node_world_break(tfrt_node_world_t* world, uint32_t a, uint32_t b) {
  tfrt_simulated_network_break(world->network, world->hosts[a].endpoint, world->hosts[b].endpoint);
}

uint64_t tfrt_node_world_bulk_bytes(const tfrt_node_world_t* world, uint32_t from, uint32_t to) {
  return tfrt_simulated_endpoint_received_bytes(world->hosts[to].endpoint,
                                                world->hosts[from].endpoint, TFRT_TRANSPORT_BULK);
}

typedef struct bytes_wait_s {
  const tfrt_node_world_t* world;
  uint32_t from;
  uint32_t to;
  uint64_t bytes;
} bytes_wait_t;

static bool has_bytes(void* argument) {
  const bytes_wait_t* wait = argument;
  return tfrt_node_world_bulk_bytes(wait->world, wait->from, wait->to) >= wait->bytes;
}

bool tfrt_node_world_run_until_bytes(tfrt_node_world_t* world, uint32_t from, uint32_t to,
                                     uint64_t bytes) {
  bytes_wait_t wait = {.world = world, .from = from, .to = to, .bytes = bytes};
  return tfrt_simulated_network_run_until(world->network, has_bytes, &wait,
                                          60 * TFRT_NODE_WORLD_SECOND);
}

static bool is_drained(void* argument) {
  tfrt_node_world_t* world = argument;
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    if (world->hosts[i].node && !tfrt_node_is_drained(world->hosts[i].node)) return false;
  }
  return true;
}

void tfrt_node_world_deinitialize(tfrt_node_world_t* world) {
  release_results(world);
  if (world->client) {
    tfrt_client_close(world->client, NULL);
    tfrt_client_release(world->client);
  }
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    if (world->hosts[i].node) tfrt_node_close(world->hosts[i].node);
  }
  ck_assert(tfrt_simulated_network_run_until(world->network, is_drained, world,
                                             10 * TFRT_NODE_WORLD_SECOND));
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    if (world->hosts[i].node) take_down(&world->hosts[i]);
  }
  tfrt_frame_oracle_free(world->frames);
  tfrt_simulated_network_free(world->network);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}
