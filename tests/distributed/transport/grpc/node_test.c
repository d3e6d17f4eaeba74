// SPDX-License-Identifier: Apache-2.0
//
// Nodes as they run in real life: over gRPC, each with a pool of threads, the transport's
// threads and the timers' thread, and a client that starts programs while others are cancelled
// or a host closes. For the sanitizers: what each message means is tested over the simulated
// network.
#include <stdatomic.h>
#include <string.h>

#include "distributed/client/client.h"
#include "distributed/host/node.h"
#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "tests/distributed/program/program.h"
#include "tests/distributed/transport/brittle_transport.h"
#include "tests/support/test_main.h"
#include "tools/kernels/kernel_rooms.h"

#define HOSTS 3
#define CLIENT HOSTS
#define STARTS 6
#define MAX_RESULTS 3
#define KIB ((uint64_t)1024)

// --- A process ---------------------------------------------------------------

typedef struct process_s {
  tfrt_timer_queue_t timers;
  tfrt_brittle_transport_t transport;
  tfrt_host_context_t* host;
  tfrt_node_t* node;  // NULL once it is taken down
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
} process_t;

static process_t processes[HOSTS + 1];
static tfrt_client_t* client;

// Says why a host was lost, too: what a dial found, or how long the silence was.
static void expect_ok(tfrt_status_t status) {
  if (!status) return;
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  ck_abort_msg("%s%s%s", fields->message, fields->cause_count > 0 ? "; cause: " : "",
               fields->cause_count > 0 ? fields->causes[0] : "");
}

static void bring_up(process_t* process, uint64_t incarnation) {
  memset(process, 0, sizeof(*process));
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_timer_queue_initialize(&process->timers, tfrt_clock_system());
  expect_ok(tfrt_timer_queue_start_thread(&process->timers));
  tfrt_grpc_transport_options_t grpc = tfrt_grpc_transport_default_options();
  grpc.bulk_thread_count = 1;
  tfrt_transport_t* inner = NULL;
  expect_ok(tfrt_grpc_transport_create(&grpc, allocator, &inner));
  tfrt_brittle_transport_initialize(&process->transport, inner);
  tfrt_thread_pool_options_t pool = {.thread_count = 2};
  tfrt_work_queue_t* queue = NULL;
  expect_ok(tfrt_thread_pool_work_queue_create(&pool, allocator, &queue));
  expect_ok(tfrt_host_context_allocate(allocator, tfrt_clock_system(), queue, &process->host));
  expect_ok(tfrt_kernel_rooms_register(process->host->registry));
  tfrt_node_options_t options;
  tfrt_node_options_initialize(&options);
  options.allocator = allocator;
  options.timers = &process->timers;
  options.transport = &process->transport.base;
  options.host = process->host;
  options.window_size = 100 * KIB;
  options.session.incarnation = incarnation;
  options.session.cluster_key = tfrt_string_view_of("key");
  // Under a sanitizer on a busy machine, threads may wait for long.
  options.session.limits.silence_ms = 30000;
  options.session.dial_timeout_ns = 20 * TFRT_NANOSECONDS_PER_SECOND;
  expect_ok(tfrt_node_create(&options, &process->node));
}

static void take_down(process_t* process) {
  if (!process->node) return;
  tfrt_node_close(process->node);
  tfrt_node_drain(process->node);
  tfrt_work_queue_quiesce(process->host->work_queue);
  tfrt_transport_close(&process->transport.base);
  tfrt_transport_drain(&process->transport.base);
  tfrt_work_queue_quiesce(process->host->work_queue);
  ck_assert(tfrt_node_is_drained(process->node));
  tfrt_node_release(process->node);
  process->node = NULL;
  tfrt_transport_release(&process->transport.base);
  tfrt_host_context_free(process->host);
  tfrt_timer_queue_deinitialize(&process->timers);
}

// Lines that were printed.
static _Atomic int line_count;

static void note_line(void* self, uint32_t rank, tfrt_string_view_t line) {
  (void)self;
  (void)rank;
  (void)line;
  atomic_fetch_add(&line_count, 1);
}

static void begin(void) {
  tfrt_string_view_t addresses[HOSTS];
  for (uint32_t i = 0; i <= HOSTS; ++i) {
    bring_up(&processes[i], 0x1000 + i);
    if (i == CLIENT) continue;
    expect_ok(tfrt_node_listen(processes[i].node, tfrt_string_view_of("127.0.0.1:0"),
                               processes[i].address));
    addresses[i] = tfrt_string_view_of(processes[i].address);
  }
  tfrt_client_options_t options = {.addresses = addresses,
                                   .host_count = HOSTS,
                                   .name = tfrt_string_view_of("test"),
                                   .deadline_ns = TFRT_TIME_INFINITE,
                                   .print = note_line};
  expect_ok(tfrt_client_create(processes[CLIENT].node, &options, &client));
}

// Ends everything, the client first, and checks that nothing is left.
static void end(void) {
  tfrt_client_close(client, NULL);
  tfrt_client_release(client);
  for (int i = HOSTS; i >= 0; --i) take_down(&processes[i]);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

// --- Programs ----------------------------------------------------------------

// Numbers: calls that nest to and fro.
static const char fib_text[] =
    "func.func @fib(%n: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %small, %n : (i32) -> (i32) {\n"
    "    tfrt.return %n : i32\n"
    "  } else {\n"
    "    %m1 = tfrt.constant.i32 -1\n"
    "    %m2 = tfrt.constant.i32 -2\n"
    "    %a = tfrt.add.i32 %n, %m1\n"
    "    %b = tfrt.add.i32 %n, %m2\n"
    "    %x = tfrt.call @fib(%a) {host = 1 : i32} : (i32) -> i32\n"
    "    %y = tfrt.call @fib(%b) {host = 2 : i32} : (i32) -> i32\n"
    "    %s = tfrt.add.i32 %x, %y\n"
    "    tfrt.return %s : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n"
    "func.func @main(%n: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %p = \"tfrt.print.i32\"(%n, %c) : (i32, !tfrt.chain) -> !tfrt.chain\n"
    "  %y = tfrt.call @fib(%n) {host = 0 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

#define CALL " : (!tfrt.string) -> !tfrt.string\n"

// Texts: payloads in every direction.
static const char text_text[] =
    "func.func @double(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = \"tfrt_test.append_string\"(%s, %s)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @back(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @main(%s: !tfrt.string) -> (!tfrt.string, !tfrt.string, !tfrt.string) {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  %b = tfrt.call @back(%a) {host = 2 : i32}" CALL
    "  %c = tfrt.call @double(%a) {host = 0 : i32}" CALL
    "  tfrt.return %a, %b, %c : !tfrt.string, !tfrt.string, !tfrt.string\n"
    "}\n";

static tfrt_test_program_t fib;
static tfrt_test_program_t text;

static void set_up(void) {
  tfrt_test_program_initialize(&fib, fib_text);
  tfrt_test_program_initialize(&text, text_text);
}

static void tear_down(void) {
  tfrt_test_program_deinitialize(&fib);
  tfrt_test_program_deinitialize(&text);
}

// One start and its results.
typedef struct run_s {
  uint64_t number;
  uint32_t result_count;
  tfrt_async_value_t* results[MAX_RESULTS];
} run_t;

static void start_fib(run_t* run, int32_t n) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(n);
  run->number = tfrt_test_program_start(&fib, client, &argument, 1, run->results);
  run->result_count = 1;
  tfrt_async_value_release(argument);
}

static char byte_of(uint64_t seed, uint64_t offset) {
  return (char)(uint8_t)((seed + offset * 31) >> 3);
}

static void start_text(run_t* run, uint64_t size, uint64_t seed) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  for (uint64_t i = 0; i < size; ++i) bytes[i] = byte_of(seed, i);
  tfrt_async_value_t* argument = tfrt_async_value_create_string(tfrt_string_view_make(bytes, size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  run->number = tfrt_test_program_start(&text, client, &argument, 1, run->results);
  run->result_count = 3;
  tfrt_async_value_release(argument);
}

static void await(run_t* run) {
  tfrt_work_queue_await(processes[CLIENT].host->work_queue, run->results, run->result_count);
}

static void release(run_t* run) {
  for (uint32_t i = 0; i < run->result_count; ++i) tfrt_async_value_release(run->results[i]);
}

static void expect_value(tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(value)) expect_ok(tfrt_async_value_error(value));
}

static void expect_i32(const run_t* run, int32_t expected) {
  expect_value(run->results[0]);
  tfrt_async_value_t* value = tfrt_async_value_resolved(run->results[0]);
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(value), expected);
}

static void expect_texts(const run_t* run, uint64_t size, uint64_t seed) {
  static const uint64_t times[] = {2, 4, 4};
  for (uint32_t r = 0; r < 3; ++r) {
    expect_value(run->results[r]);
    tfrt_string_view_t result = tfrt_async_value_string(run->results[r]);
    ck_assert_uint_eq(result.size, size * times[r]);
    bool is_equal = true;
    for (uint64_t i = 0; i < result.size && is_equal; ++i) {
      is_equal = result.data[i] == byte_of(seed, i % size);
    }
    ck_assert(is_equal);
  }
}

// Each result is a value, or an error of what was done to the job.
static void expect_value_or_end(const run_t* run) {
  for (uint32_t i = 0; i < run->result_count; ++i) {
    if (!tfrt_async_value_is_error(run->results[i])) continue;
    tfrt_status_t status = tfrt_async_value_error(run->results[i]);
    tfrt_status_code_t code = tfrt_status_code(status);
    ck_assert_msg(code == TFRT_STATUS_CANCELLED || code == TFRT_STATUS_UNAVAILABLE, "%s",
                  tfrt_status_message(status));
  }
}

// --- Tests -------------------------------------------------------------------

START_TEST(calls_nest_to_and_fro) {
  begin();
  run_t run;
  start_fib(&run, 7);
  await(&run);
  expect_i32(&run, 13);
  release(&run);
  end();
  ck_assert_int_eq(atomic_load(&line_count), 1);
}
END_TEST

START_TEST(payloads_go_both_ways) {
  begin();
  run_t run;
  start_text(&run, 700 * KIB, 5);
  await(&run);
  expect_texts(&run, 700 * KIB, 5);
  release(&run);
  end();
}
END_TEST

START_TEST(many_programs_run_at_once) {
  begin();
  run_t runs[STARTS];
  for (int i = 0; i < STARTS; ++i) {
    if (i % 2 == 0) {
      start_fib(&runs[i], 6);
    } else {
      start_text(&runs[i], 60 * KIB + 80 * KIB * (uint64_t)i, (uint64_t)i);
    }
  }
  for (int i = 0; i < STARTS; ++i) {
    await(&runs[i]);
    if (i % 2 == 0) {
      expect_i32(&runs[i], 8);
    } else {
      expect_texts(&runs[i], 60 * KIB + 80 * KIB * (uint64_t)i, (uint64_t)i);
    }
    release(&runs[i]);
  }
  end();
}
END_TEST

static void start_load(run_t* runs) {
  for (int i = 0; i < STARTS; ++i) {
    if (i % 2 == 0) {
      start_fib(&runs[i], 8);
    } else {
      start_text(&runs[i], 500 * KIB, (uint64_t)i);
    }
  }
}

static void await_load(run_t* runs) {
  for (int i = 0; i < STARTS; ++i) {
    await(&runs[i]);
    expect_value_or_end(&runs[i]);
    release(&runs[i]);
  }
}

// Waits until the load is on its way: a small program has run.
static void await_one_more(void) {
  run_t run;
  start_fib(&run, 2);
  await(&run);
  expect_value_or_end(&run);
  release(&run);
}

START_TEST(cancels_end_what_runs) {
  begin();
  for (int round = 0; round < 5; ++round) {
    run_t runs[STARTS];
    start_load(runs);
    if (round > 0) await_one_more();
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    for (int i = 0; i < STARTS; ++i) tfrt_client_cancel(client, runs[i].number, reason);
    tfrt_status_release(reason);
    await_load(runs);
  }
  // All is well after that.
  run_t run;
  start_text(&run, 200 * KIB, 1);
  await(&run);
  expect_texts(&run, 200 * KIB, 1);
  release(&run);
  end();
}
END_TEST

static uint64_t count_resumes(void) {
  uint64_t resumes = 0;
  for (int p = 0; p <= HOSTS; ++p) {
    tfrt_session_counters_t counters;
    tfrt_node_session_counters(processes[p].node, &counters);
    ck_assert_uint_eq(counters.deaths, 0);
    resumes += counters.resumes;
  }
  return resumes;
}

START_TEST(connections_may_break_under_load) {
  begin();
  await_one_more();
  run_t runs[STARTS];
  for (int i = 0; i < STARTS; ++i) start_text(&runs[i], 400 * KIB, (uint64_t)i);
  run_t small;
  for (int i = 0; i < STARTS; ++i) {
    start_fib(&small, 4);
    for (int p = 0; p <= HOSTS; ++p) tfrt_brittle_transport_break(&processes[p].transport);
    await(&small);
    expect_i32(&small, 3);
    release(&small);
    await(&runs[i]);
    expect_texts(&runs[i], 400 * KIB, (uint64_t)i);
    release(&runs[i]);
  }
  ck_assert_uint_gt(count_resumes(), 0);
  end();
}
END_TEST

START_TEST(a_host_may_close_under_load) {
  for (int rank = 0; rank < HOSTS; ++rank) {
    begin();
    run_t runs[STARTS];
    start_load(runs);
    await_one_more();
    take_down(&processes[rank]);
    await_load(runs);
    end();
  }
}
END_TEST

START_TEST(the_client_may_close_under_load) {
  for (int round = 0; round < 4; ++round) {
    begin();
    run_t runs[STARTS];
    start_load(runs);
    if (round % 2 == 1) await_one_more();
    if (round >= 2) tfrt_client_close(client, NULL);
    if (round < 2) tfrt_node_close(processes[CLIENT].node);
    await_load(runs);
    end();
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("node");
  TCase* threads = tcase_create("threads");
  tcase_set_timeout(threads, 100);
  tcase_add_checked_fixture(threads, set_up, tear_down);
  tcase_add_test(threads, calls_nest_to_and_fro);
  tcase_add_test(threads, payloads_go_both_ways);
  tcase_add_test(threads, many_programs_run_at_once);
  tcase_add_test(threads, cancels_end_what_runs);
  tcase_add_test(threads, connections_may_break_under_load);
  tcase_add_test(threads, a_host_may_close_under_load);
  tcase_add_test(threads, the_client_may_close_under_load);
  suite_add_tcase(suite, threads);
  return suite;
}
