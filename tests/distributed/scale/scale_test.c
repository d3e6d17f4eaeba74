// SPDX-License-Identifier: Apache-2.0
//
// Clusters of many hosts, all in this process, on the simulated network, whose messages take 100 to
// 150 us. Control messages and simulated milliseconds are counted: to form the cluster, for two
// call_all, the first with a program that is not there yet, for a barrier, and until the client has
// the error of a host that died. So are the bytes that host 0 has for each peer. Nothing depends on
// how fast the machine is.
//
// With TFRT_SCALE_PAGE=FILE, clusters of up to 1,000 hosts are tried, and FILE becomes
// docs/scale.md.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distributed/client/client.h"
#include "distributed/host/node.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "kernels/device/host_devices.h"
#include "tests/distributed/program/program.h"
#include "tests/distributed/simulated/network.h"
#include "tests/support/test_main.h"
#include "tools/kernels/kernel_rooms.h"

#define FIRST_INCARNATION UINT64_C(0x1000)
#define MEETINGS 10
#define LIMIT_NS (120 * TFRT_NANOSECONDS_PER_SECOND)

// Every host gives its rank.
static const char all_text[] =
    "func.func @rank(%x: i32) -> i32 {\n"
    "  %r = tfrt_dist.rank\n"
    "  %s = tfrt.add.i32 %r, %x\n"
    "  tfrt.return %s : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %l = tfrt_dist.call_all @rank(%x) : (i32) -> (!tfrt_dist.list)\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  tfrt.return %s : i32\n"
    "}\n";

// All hosts meet |x| times.
static const char meet_text[] =
    "func.func @meet(%x: i32) -> i32 {\n"
    "  %ch = tfrt.new.chain\n"
    "  %g = tfrt_dist.world\n"
    "  %r:2 = tfrt.repeat.i32 %x, %g, %ch : !tfrt_dist.group, !tfrt.chain {\n"
    "    %c = tfrt_dist.barrier %g, %ch\n"
    "    tfrt.return %g, %c : !tfrt_dist.group, !tfrt.chain\n"
    "  }\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %s = \"tfrt_test.identity\"(%r#1, %one) : (!tfrt.chain, i32) -> i32\n"
    "  tfrt.return %s : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %l = tfrt_dist.call_all @meet(%x) : (i32) -> (!tfrt_dist.list)\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  tfrt.return %s : i32\n"
    "}\n";

// Host |x| waits for a message that nobody sends.
static const char wait_text[] =
    "func.func @wait(%x: i32) -> i32 {\n"
    "  %ch = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %h = tfrt_dist.host %x\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %r = tfrt_dist.call %h @wait(%zero) : (!tfrt_dist.host, i32) -> (i32)\n"
    "  tfrt.return %r : i32\n"
    "}\n";

typedef struct process_s {
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_host_context_t* context;
  tfrt_node_t* node;
  char name[16];
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
} process_t;

typedef struct cluster_s {
  tfrt_simulated_network_t* network;
  process_t* processes;  // |count| hosts, then the client's
  uint32_t count;
  tfrt_counting_allocator_t memory;  // of host 0
  tfrt_client_t* client;
  tfrt_async_value_t* result;
} cluster_t;

// Messages and time since the last look.
typedef struct cost_s {
  uint64_t messages;
  double ms;
} cost_t;

static void expect(bool is_right, const char* what) { ck_assert_msg(is_right, "%s", what); }

static void expect_ok(tfrt_status_t status) {
  char text[2048] = "";
  if (status) tfrt_status_format(status, text, sizeof(text));
  expect(!status, text);
}

static void run_queue(void* argument) {
  process_t* process = argument;
  if (process->context) tfrt_work_queue_quiesce(process->context->work_queue);
}

static void add_process(cluster_t* cluster, uint32_t index) {
  process_t* process = &cluster->processes[index];
  snprintf(process->name, sizeof(process->name), "n%u", index);
  process->endpoint = tfrt_simulated_network_add_endpoint(cluster->network, process->name);
  tfrt_work_queue_t* queue = NULL;
  expect_ok(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  expect_ok(tfrt_host_context_allocate(tfrt_allocator_system(),
                                       tfrt_simulated_network_clock(cluster->network), queue,
                                       &process->context));
  expect_ok(tfrt_kernel_rooms_register(process->context->registry));
  tfrt_node_options_t options;
  tfrt_node_options_initialize(&options);
  options.allocator =
      index == 0 ? tfrt_counting_allocator_interface(&cluster->memory) : tfrt_allocator_system();
  options.timers = tfrt_simulated_endpoint_timers(process->endpoint);
  options.transport = tfrt_simulated_endpoint_transport(process->endpoint);
  options.host = process->context;
  options.session.incarnation = FIRST_INCARNATION + index;
  options.session.name = tfrt_string_view_of(process->name);
  options.session.cluster_key = tfrt_string_view_of("key");
  expect_ok(tfrt_node_create(&options, &process->node));
  if (index < cluster->count) {
    char address[32];
    snprintf(address, sizeof(address), "%s:1", process->name);
    expect_ok(tfrt_node_listen(process->node, tfrt_string_view_of(address), process->address));
  }
  tfrt_simulated_endpoint_set_hook(process->endpoint, run_queue, process);
}

static void take_down(process_t* process) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(process->endpoint);
  tfrt_work_queue_quiesce(process->context->work_queue);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_host_devices_drain(process->context);
  tfrt_work_queue_quiesce(process->context->work_queue);
  tfrt_node_release(process->node);
  tfrt_host_context_free(process->context);
  process->node = NULL;
  process->context = NULL;
}

static bool is_known(void* argument) { return tfrt_async_value_is_available(argument); }

// Lets time pass until |value| is available, and says what that cost.
static cost_t await(cluster_t* cluster, tfrt_async_value_t* value) {
  tfrt_clock_t clock = tfrt_simulated_network_clock(cluster->network);
  int64_t begin_ns = tfrt_clock_now_ns(clock);
  uint64_t before = tfrt_simulated_network_message_count(cluster->network, TFRT_TRANSPORT_CONTROL);
  expect(tfrt_simulated_network_run_until(cluster->network, is_known, value, LIMIT_NS),
         "the result does not come");
  return (cost_t){
      .messages =
          tfrt_simulated_network_message_count(cluster->network, TFRT_TRANSPORT_CONTROL) - before,
      .ms = (double)(tfrt_clock_now_ns(clock) - begin_ns) / TFRT_NANOSECONDS_PER_MILLISECOND};
}

static void initialize(cluster_t* cluster, uint32_t count) {
  *cluster = (cluster_t){.count = count};
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  cluster->network = tfrt_simulated_network_allocate(&options, tfrt_allocator_system());
  tfrt_counting_allocator_initialize(&cluster->memory, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  cluster->processes =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), (count + 1) * sizeof(process_t));
  expect(cluster->processes != NULL, "no memory");
  for (uint32_t i = 0; i <= count; ++i) add_process(cluster, i);
}

static cost_t form(cluster_t* cluster) {
  size_t size = cluster->count * sizeof(tfrt_string_view_t);
  tfrt_string_view_t* addresses = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  expect(addresses != NULL, "no memory");
  for (uint32_t i = 0; i < cluster->count; ++i) {
    addresses[i] = tfrt_string_view_of(cluster->processes[i].address);
  }
  tfrt_client_options_t options = {.addresses = addresses,
                                   .host_count = cluster->count,
                                   .name = tfrt_string_view_of("scale"),
                                   .deadline_ns = TFRT_TIME_INFINITE};
  expect_ok(
      tfrt_client_create(cluster->processes[cluster->count].node, &options, &cluster->client));
  tfrt_allocator_free(tfrt_allocator_system(), addresses, size);
  cost_t cost = await(cluster, tfrt_client_opened(cluster->client));
  if (tfrt_async_value_is_error(tfrt_client_opened(cluster->client))) {
    expect_ok(tfrt_async_value_error(tfrt_client_opened(cluster->client)));
  }
  return cost;
}

static void start(cluster_t* cluster, const tfrt_test_program_t* program, int32_t x) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(x);
  tfrt_test_program_start(program, cluster->client, &argument, 1, &cluster->result);
  tfrt_async_value_release(argument);
}

// Calls a function of |program| on all hosts, with |x|; their results together are |sum|.
static cost_t call_all(cluster_t* cluster, const tfrt_test_program_t* program, int32_t x,
                       uint32_t sum) {
  start(cluster, program, x);
  cost_t cost = await(cluster, cluster->result);
  if (tfrt_async_value_is_error(cluster->result)) {
    expect_ok(tfrt_async_value_error(cluster->result));
  }
  int32_t result = *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(cluster->result));
  expect(result == (int32_t)sum, "the sum is wrong");
  tfrt_async_value_release(cluster->result);
  return cost;
}

// One barrier among many, where members that send each other something have sessions.
static cost_t meet(cluster_t* cluster) {
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, meet_text);
  call_all(cluster, &program, 1, cluster->count);
  cost_t one = call_all(cluster, &program, 1, cluster->count);
  cost_t many = call_all(cluster, &program, 1 + MEETINGS, cluster->count);
  tfrt_test_program_deinitialize(&program);
  expect((many.messages - one.messages) % MEETINGS == 0, "barriers don't cost the same");
  return (cost_t){.messages = (many.messages - one.messages) / MEETINGS,
                  .ms = (many.ms - one.ms) / MEETINGS};
}

// The last host dies while it works.
static cost_t lose_one(cluster_t* cluster) {
  uint32_t last = cluster->count - 1;
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, wait_text);
  start(cluster, &program, (int32_t)last);
  tfrt_test_program_deinitialize(&program);
  // By then it waits.
  tfrt_simulated_network_run_until(cluster->network, NULL, NULL, TFRT_NANOSECONDS_PER_SECOND);
  process_t* process = &cluster->processes[last];
  tfrt_simulated_endpoint_kill(process->endpoint);
  tfrt_node_close(process->node);
  take_down(process);
  cost_t cost = await(cluster, cluster->result);
  expect(tfrt_async_value_is_error(cluster->result), "the loss is no error");
  expect(tfrt_status_fields(tfrt_async_value_error(cluster->result))->root_key ==
             FIRST_INCARNATION + last,
         "the error names another host");
  tfrt_async_value_release(cluster->result);
  return cost;
}

static bool is_drained(void* argument) {
  const cluster_t* cluster = argument;
  for (uint32_t i = 0; i <= cluster->count; ++i) {
    tfrt_node_t* node = cluster->processes[i].node;
    if (node && !tfrt_node_is_drained(node)) return false;
  }
  return true;
}

static void deinitialize(cluster_t* cluster) {
  tfrt_client_close(cluster->client, NULL);
  tfrt_client_release(cluster->client);
  for (uint32_t i = 0; i <= cluster->count; ++i) {
    if (cluster->processes[i].node) tfrt_node_close(cluster->processes[i].node);
  }
  expect(tfrt_simulated_network_run_until(cluster->network, is_drained, cluster, LIMIT_NS),
         "nodes do not end");
  for (uint32_t i = 0; i <= cluster->count; ++i) {
    if (cluster->processes[i].node) take_down(&cluster->processes[i]);
  }
  tfrt_simulated_network_free(cluster->network);
  expect(tfrt_counting_allocator_counts(&cluster->memory).current_bytes == 0, "host 0 leaks");
  tfrt_allocator_free(tfrt_allocator_system(), cluster->processes,
                      (cluster->count + 1) * sizeof(process_t));
}

typedef struct row_s {
  uint32_t count;
  cost_t formed;
  cost_t first;
  cost_t second;
  cost_t met;
  cost_t lost;
  int64_t bytes_per_peer;
} row_t;

static row_t measure(uint32_t count) {
  cluster_t cluster;
  row_t row = {.count = count};
  initialize(&cluster, count);
  int64_t alone = tfrt_counting_allocator_counts(&cluster.memory).current_bytes;
  row.formed = form(&cluster);
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, all_text);
  const uint32_t sum = count * (count + 1) / 2;
  row.first = call_all(&cluster, &program, 1, sum);
  row.second = call_all(&cluster, &program, 1, sum);
  tfrt_test_program_deinitialize(&program);
  int64_t all = tfrt_counting_allocator_counts(&cluster.memory).current_bytes;
  row.bytes_per_peer = (all - alone) / count;
  row.met = meet(&cluster);
  row.lost = lose_one(&cluster);
  deinitialize(&cluster);
  return row;
}

// --- Tests -----------------------------------------------------------------------

// Messages grow as the hosts do, and no faster; time and memory for each peer hardly at all.
START_TEST(costs_grow_as_hosts_do) {
  row_t small = measure(16);
  row_t large = measure(64);
  ck_assert_uint_le(large.formed.messages, 5 * small.formed.messages);
  ck_assert_uint_le(large.first.messages, 5 * small.first.messages);
  ck_assert_uint_le(large.second.messages, 5 * small.second.messages);
  ck_assert(large.formed.ms <= 2 * small.formed.ms + 10);
  ck_assert(large.second.ms <= 2 * small.second.ms + 10);
  // The silence that means death, and a heartbeat.
  ck_assert(large.lost.ms < 7000);
  ck_assert_int_le(large.bytes_per_peer, 2 * small.bytes_per_peer);
}
END_TEST

// Each member but the first sends a message up the tree and gets one; no answer to them is a
// message of its own.
START_TEST(a_barrier_takes_two_messages_for_each_member) {
  static const uint32_t counts[] = {128, 200};
  const uint32_t count = counts[_i];
  cluster_t cluster;
  initialize(&cluster, count);
  form(&cluster);
  cost_t cost = meet(&cluster);
  ck_assert_uint_eq(cost.messages, 2 * (count - 1));
  // Two levels, up and down.
  ck_assert(cost.ms <= 4 * 0.15);
  deinitialize(&cluster);
}
END_TEST

static const char page_head[] =
    "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
    "# How costs grow with the number of hosts\n"
    "\n"
    "Clusters in one process on the simulated network, where a message takes 100 to 150 us, and "
    "code takes no time.\n"
    "This page is made by the test:\n"
    "\n"
    "    bazel build -c opt //tests/distributed/scale:scale_test\n"
    "    TFRT_SCALE_PAGE=docs/scale.md bazel-bin/tests/distributed/scale/scale_test\n"
    "\n"
    "Each pair is the control messages of all hosts, and simulated milliseconds. *Open* is a job "
    "on "
    "all hosts. The\n"
    "first `call_all` ships the program; the list that it makes is summed. The barrier is one of "
    "many that follow each\n"
    "other: up to 8 hosts tell each other in rounds, and more along a tree. *Notice a death* is "
    "from the death of the\n"
    "last host, which ran a call, to the error at the client: its port refuses at once. Memory is "
    "what host 0 has after\n"
    "the second `call_all`, for each of the hosts.\n"
    "\n"
    "| hosts | open | first `call_all` | second `call_all` | barrier | notice a death | memory per "
    "peer |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n";

static void write_cost(FILE* page, cost_t cost) {
  fprintf(page, " %llu, %.1f ms |", (unsigned long long)cost.messages, cost.ms);
}

START_TEST(the_page_is_written) {
  static const uint32_t counts[] = {3, 10, 30, 100, 300, 1000};
  FILE* page = fopen(getenv("TFRT_SCALE_PAGE"), "w");
  ck_assert_ptr_nonnull(page);
  fputs(page_head, page);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(counts); ++i) {
    row_t row = measure(counts[i]);
    fprintf(page, "| %u |", row.count);
    write_cost(page, row.formed);
    write_cost(page, row.first);
    write_cost(page, row.second);
    write_cost(page, row.met);
    write_cost(page, row.lost);
    fprintf(page, " %.1f KiB |\n", (double)row.bytes_per_peer / 1024);
    fflush(page);
  }
  ck_assert_int_eq(fclose(page), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("scale");
  TCase* costs = tcase_create("costs");
  tcase_set_timeout(costs, getenv("TFRT_SCALE_PAGE") ? 3600 : 60);
  if (getenv("TFRT_SCALE_PAGE")) {
    tcase_add_test(costs, the_page_is_written);
  } else {
    tcase_add_test(costs, costs_grow_as_hosts_do);
    tcase_add_loop_test(costs, a_barrier_takes_two_messages_for_each_member, 0, 2);
  }
  suite_add_tcase(suite, costs);
  return suite;
}
