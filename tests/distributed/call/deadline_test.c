// SPDX-License-Identifier: Apache-2.0
//
// Deadlines of calls between hosts: they travel as budgets, which only shrink.

#include <stdio.h>
#include <string.h>

#include "compiler/translate.h"
#include "host_runtime/base/log.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/call/running_kernel.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

#define MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND
#define SECOND TFRT_NANOSECONDS_PER_SECOND

static tfrt_node_world_t world;

static int64_t now_ns(void) {
  return tfrt_clock_now_ns(tfrt_simulated_network_clock(world.network));
}

// --- Kernels that look at their request --------------------------------------

#define NO_DEADLINE (-1)

// How often the kernels below ran on each host.
static int runs[TFRT_NODE_WORLD_MAX_HOSTS + 1];
static int64_t last_run_ns[TFRT_NODE_WORLD_MAX_HOSTS + 1];

// When the operand of test.watch was resolved; 0: not yet.
static int64_t settled_ns;

// Values that test.never gave.
static tfrt_async_value_t* never[8];
static size_t never_count;

// The time of host |rank| by its own clock.
static int64_t host_now_ns(uint32_t rank) {
  return tfrt_clock_now_ns(tfrt_simulated_endpoint_timers(world.hosts[rank].endpoint)->clock);
}

static uint32_t note_run(const tfrt_kernel_frame_t* frame) {
  for (uint32_t i = 0; i <= world.host_count; ++i) {
    if (world.hosts[i].context != frame->context->host) continue;
    ++runs[i];
    last_run_ns[i] = now_ns();
    return i;
  }
  ck_abort_msg("a kernel runs on no host");
}

// The time of the deadline by the network's clock: now, and what is left of it by the host's.
static void run_due(tfrt_kernel_frame_t* frame) {
  uint32_t rank = note_run(frame);
  int64_t deadline_ns = frame->context->request->options.deadline_ns;
  int64_t due_ns = NO_DEADLINE;
  if (deadline_ns != TFRT_REQUEST_NO_DEADLINE) due_ns = now_ns() + deadline_ns - host_now_ns(rank);
  tfrt_kernel_frame_set_i64(frame, 0, due_ns);
}

static void run_step(tfrt_kernel_frame_t* frame) {
  note_run(frame);
  tfrt_kernel_frame_set_i32(frame, 0, tfrt_kernel_frame_i32(frame, 0) + 1);
}

static void note_settled(tfrt_task_t* task) {
  (void)task;
  settled_ns = now_ns();
}

// Runs at once, whatever its operand is, and notes when that is resolved.
static void run_watch(tfrt_kernel_frame_t* frame) {
  static tfrt_task_t watcher;
  tfrt_task_initialize(&watcher, note_settled);
  tfrt_async_value_watch(frame->arguments[0], &watcher);
  tfrt_kernel_frame_set_i32(frame, 0, 0);
}

// The site that running_kernel.h reports while test.never runs.
static const void* never_site;

static void run_never(tfrt_kernel_frame_t* frame) {
  note_run(frame);
  tfrt_running_kernel_thread_t thread;
  ck_assert_uint_eq(tfrt_running_kernel_list(&thread, 1), 1);
  never_site = thread.site;
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  ck_assert_uint_lt(never_count, TFRT_ARRAY_SIZE(never));
  never[never_count++] = tfrt_async_value_retain(value);
  tfrt_kernel_frame_set(frame, 0, value);
}

// While it is set, nobody runs what is in the queue of host 0: its workers are busy.
static bool is_busy;

static void run_unless_busy(void* argument) {
  tfrt_node_host_t* host = argument;
  if (!is_busy && host->context) tfrt_work_queue_quiesce(host->context->work_queue);
}

static tfrt_async_value_t* lingered;

static void end_lingering(tfrt_task_t* task) {
  (void)task;
  tfrt_async_value_set_available(lingered);
}

// Comes back when a second has passed and the queue has run what came meanwhile, as if by another
// thread. On host 0, under run_unless_busy().
static void run_linger(tfrt_kernel_frame_t* frame) {
  static tfrt_task_t task;
  ck_assert_uint_eq(note_run(frame), 0);
  is_busy = true;
  tfrt_simulated_network_run_until(world.network, NULL, NULL, SECOND);
  lingered = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_task_initialize(&task, end_lingering);
  tfrt_work_queue_add_task(frame->context->work_queue, &task);
  tfrt_work_queue_await(frame->context->work_queue, &lingered, 1);
  tfrt_async_value_release(lingered);
  is_busy = false;
  tfrt_kernel_frame_set_i32(frame, 0, 0);
}

static const tfrt_operand_descriptor_t one_i32[] = {{"input", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_awaited[] = {{"input", "i32", TFRT_OPERAND_AWAITED}};
static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};
static const tfrt_result_descriptor_t i64_result[] = {{"result", "i64"}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "test.due",
     .summary = "When the request's deadline is.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i64_result)},
    {.name = "test.linger",
     .summary = "0, after a second.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result)},
    {.name = "test.never",
     .summary = "An i32 that the test resolves at its end.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result)},
    {.name = "test.step",
     .summary = "The operand plus 1.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result)},
    {.name = "test.watch",
     .summary = "0; for bef.nonstrict.",
     TFRT_OPERANDS(one_awaited),
     TFRT_RESULTS(i32_result)},
};

static const tfrt_kernel_table_t kernels = {descriptors, TFRT_ARRAY_SIZE(descriptors)};

static const tfrt_kernel_registration_t registrations[] = {{"test.due", run_due},
                                                           {"test.linger", run_linger},
                                                           {"test.never", run_never},
                                                           {"test.step", run_step},
                                                           {"test.watch", run_watch}};

// --- Worlds ------------------------------------------------------------------

static void expect_ok(tfrt_status_t status) {
  char text[1024];
  if (status) tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(!status, "%s", text);
}

static void ignore_line(void* self, uint32_t rank, tfrt_string_view_t line) {
  (void)self, (void)rank, (void)line;
}

// A world whose job has |budget_ns| from now on; TFRT_TIME_INFINITE: no deadline. Returns the
// deadline by the network's clock, as if the client's ran like that.
static int64_t begin(uint32_t host_count, const tfrt_simulated_options_t* options,
                     int64_t budget_ns) {
  tfrt_node_world_initialize(&world, host_count, options);
  for (uint32_t i = 0; i < host_count; ++i) {
    expect_ok(tfrt_kernel_registry_add_all(world.hosts[i].context->registry, &kernels,
                                           registrations, TFRT_ARRAY_SIZE(registrations)));
  }
  // In the place of the harness's client, which has no deadline.
  tfrt_client_close(world.client, NULL);
  tfrt_client_release(world.client);
  tfrt_string_view_t addresses[TFRT_NODE_WORLD_MAX_HOSTS];
  for (uint32_t i = 0; i < host_count; ++i) {
    addresses[i] = tfrt_string_view_of(world.hosts[i].address);
  }
  tfrt_client_options_t client = {
      .addresses = addresses,
      .host_count = host_count,
      .name = tfrt_string_view_of("test"),
      .deadline_ns = tfrt_deadline_after(host_now_ns(host_count), budget_ns),
      .print = ignore_line};
  expect_ok(tfrt_client_create(world.hosts[host_count].node, &client, &world.client));
  return tfrt_deadline_after(now_ns(), budget_ns);
}

// Starts @main(1) of |text|.
static void start(const char* text, uint32_t result_count) {
  const tfrt_op_tables_t* all = tfrt_all_op_tables();
  tfrt_kernel_table_t tables[32];
  ck_assert_uint_lt(all->count, TFRT_ARRAY_SIZE(tables));
  memcpy(tables, all->tables, all->count * sizeof(tables[0]));
  tables[all->count] = kernels;
  tfrt_op_tables_t more = {.tables = tables, .count = all->count + 1};
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_text_to_bef_options_t options = {0};
  void* bytes = NULL;
  size_t size = 0;
  tfrt_status_t status =
      tfrt_translate_text_to_bef("test.mlir", tfrt_string_view_of(text), &more, &options,
                                 tfrt_allocator_system(), &report, &bytes, &size);
  ck_assert_msg(!status, "%s", tfrt_string_builder_text(&report));
  tfrt_string_builder_deinitialize(&report);
  tfrt_bef_file_t* file = NULL;
  expect_ok(tfrt_bef_file_create(bytes, size, tfrt_allocator_system(), &file));
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_client_start_t wanted = {.program = tfrt_string_view_make(bytes, size),
                                .function = tfrt_bef_file_find_function(file, "main")->index,
                                .arguments = &argument,
                                .argument_count = 1,
                                .result_count = result_count};
  world.result_count = result_count;
  world.start = tfrt_client_start(world.client, &wanted, world.results);
  for (uint32_t i = 0; i < result_count; ++i) tfrt_async_value_demand(world.results[i]);
  tfrt_async_value_release(argument);
  tfrt_bef_file_release(file);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}

static void resolve_never(void) {
  for (size_t i = 0; i < never_count; ++i) {
    tfrt_async_value_set_available(never[i]);
    tfrt_async_value_release(never[i]);
  }
  never_count = 0;
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static int64_t i64_result_of(uint32_t index) {
  tfrt_async_value_t* value = world.results[index];
  if (tfrt_async_value_is_error(value)) expect_ok(tfrt_async_value_error(value));
  return *(int64_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
}

static void expect_deadline_exceeded(uint32_t index) {
  tfrt_status_t status = tfrt_node_world_error(&world, index);
  char text[1024];
  tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(tfrt_status_code(status) == TFRT_STATUS_DEADLINE_EXCEEDED, "%s", text);
}

// --- The end of time ---------------------------------------------------------

// Calls that never come to an end, one after the other.
static const char endless_program[] =
    "func.func @step(%x: i32) -> i32 {\n"
    "  %y = \"test.step\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @there(%x: i32) -> i32 {\n"
    "  %n = tfrt.constant.i32 2000000000\n"
    "  %y = tfrt.repeat.i32 %n, %x : i32 {\n"
    "    %z = tfrt.call @step(%x) {host = 2 : i32} : (i32) -> i32\n"
    "    tfrt.return %z : i32\n"
    "  }\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @there(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(what_never_ends_ends_at_the_jobs_deadline) {
  int64_t deadline_ns = begin(3, NULL, 300 * MILLISECOND);
  start(endless_program, 1);
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  ck_assert_int_ge(now_ns(), deadline_ns);
  // The way back to the client, over as many hops as there are calls.
  ck_assert_int_le(now_ns(), deadline_ns + 5 * MILLISECOND);
  ck_assert_int_gt(runs[2], 100);
  end();
}
END_TEST

START_TEST(after_the_deadline_no_kernel_starts) {
  int64_t deadline_ns = begin(3, NULL, 300 * MILLISECOND);
  start(endless_program, 1);
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_int_gt(runs[2], 100);
  // Each host on the way is late by the transit to it, never more: client, root, 1, 2.
  ck_assert_int_le(last_run_ns[2], deadline_ns + 3 * 150 * TFRT_NANOSECONDS_PER_MICROSECOND);
  end();
}
END_TEST

// Lets nothing through between {root, client} and {1, 2}, or everything again.
static void set_cut_off(bool is_cut_off) {
  static const uint32_t near[] = {0, 3};
  static const uint32_t far[] = {1, 2};
  for (size_t i = 0; i < 4; ++i) {
    tfrt_simulated_endpoint_t* a = world.hosts[near[i / 2]].endpoint;
    tfrt_simulated_endpoint_t* b = world.hosts[far[i % 2]].endpoint;
    if (is_cut_off) {
      tfrt_simulated_network_partition(world.network, a, b, true);
    } else {
      tfrt_simulated_network_heal(world.network, a, b, true);
    }
  }
}

// Hosts 1 and 2 call each other without end, and host 0 both.
static const char spinning_program[] =
    "func.func @step(%x: i32) -> i32 {\n"
    "  %y = \"test.step\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @spin(%h: !tfrt_dist.host, %x: i32) -> i32 {\n"
    "  %n = tfrt.constant.i32 2000000000\n"
    "  %y:2 = tfrt.repeat.i32 %n, %x, %h : i32, !tfrt_dist.host {\n"
    "    %z = tfrt_dist.call %h @step(%x) : (!tfrt_dist.host, i32) -> i32\n"
    "    tfrt.return %z, %h : i32, !tfrt_dist.host\n"
    "  }\n"
    "  tfrt.return %y#0 : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %two = tfrt.add.i32 %x, %x\n"
    "  %h1 = tfrt_dist.host %x\n"
    "  %h2 = tfrt_dist.host %two\n"
    "  %a = tfrt.call @spin(%h2, %x) {host = 1 : i32} : (!tfrt_dist.host, i32) -> i32\n"
    "  %b = tfrt.call @spin(%h1, %x) {host = 2 : i32} : (!tfrt_dist.host, i32) -> i32\n"
    "  %c = tfrt.call @spin(%h1, %x) : (!tfrt_dist.host, i32) -> i32\n"
    "  %d = tfrt.call @spin(%h2, %x) : (!tfrt_dist.host, i32) -> i32\n"
    "  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32\n"
    "}\n";

// Calls that are under way when the cancel comes run no kernel either.
START_TEST(after_a_cancel_no_kernel_starts) {
  for (int64_t delay = 0; delay < 20; ++delay) {
    memset(runs, 0, sizeof(runs));
    begin(3, NULL, TFRT_TIME_INFINITE);
    start(spinning_program, 4);
    tfrt_node_world_run_for(&world,
                            20 * MILLISECOND + delay * 53 * TFRT_NANOSECONDS_PER_MICROSECOND);
    int64_t cancelled_ns = now_ns();
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    tfrt_node_world_run_for(&world, SECOND);
    for (uint32_t host = 1; host < 3; ++host) {
      ck_assert_int_gt(runs[host], 100);
      // From the client to the root, and from there to each host.
      ck_assert_int_le(last_run_ns[host],
                       cancelled_ns + 2 * 150 * TFRT_NANOSECONDS_PER_MICROSECOND);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, i)), TFRT_STATUS_CANCELLED);
    }
    end();
  }
}
END_TEST

START_TEST(a_callee_that_hears_nothing_of_its_caller_stops_by_itself) {
  int64_t deadline_ns = begin(3, NULL, 300 * MILLISECOND);
  start(endless_program, 1);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  set_cut_off(true);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_int_gt(last_run_ns[2], deadline_ns - MILLISECOND);
  ck_assert_int_le(last_run_ns[2], deadline_ns + MILLISECOND);
  set_cut_off(false);
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  end();
}
END_TEST

static bool is_settled(void* argument) {
  (void)argument;
  return settled_ns != 0;
}

// The caller's result is settled at |deadline_ns| though a kernel of the callee stands still.
static void expect_settled_at(int64_t deadline_ns) {
  ck_assert(tfrt_simulated_network_run_until(world.network, is_settled, NULL, 10 * SECOND));
  ck_assert_int_ge(settled_ns, deadline_ns);
  ck_assert_int_le(settled_ns, deadline_ns + MILLISECOND);
  // The callee is late by the transit.
  tfrt_node_world_run_for(&world, MILLISECOND);
  resolve_never();
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 2);
}

static const char never_program[] =
    "func.func @never(%x: i32) -> i32 {\n"
    "  %y = \"test.never\"(%x) : (i32) -> i32\n"
    "  %z = \"test.step\"(%y) : (i32) -> i32\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %y = tfrt.call @never(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %s = \"test.watch\"(%y) {bef.nonstrict} : (i32) -> i32\n"
    "  %z = \"test.step\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y, %z, %s : i32, i32, i32\n"
    "}\n";

START_TEST(a_kernel_that_stands_still_does_not_keep_the_caller_waiting) {
  int64_t deadline_ns = begin(2, NULL, 300 * MILLISECOND);
  start(never_program, 3);
  expect_settled_at(deadline_ns);
  // It began, and what comes behind it did not.
  ck_assert_int_eq(runs[1], 1);
  end();
}
END_TEST

// --- Budgets -----------------------------------------------------------------

// The deadline as each host on the way sees it; @third asks for more than is left.
static const char nested_program[] =
    "func.func @third(%x: i32) -> i64 {\n"
    "  %due = \"test.due\"(%x) : (i32) -> i64\n"
    "  tfrt.return %due : i64\n"
    "}\n"
    "func.func @second(%x: i32) -> (i64, i64) {\n"
    "  %due = \"test.due\"(%x) : (i32) -> i64\n"
    "  %third = tfrt.call @third(%x) {host = 0 : i32, deadline_ms = 5000 : i32} : (i32) -> i64\n"
    "  tfrt.return %due, %third : i64, i64\n"
    "}\n"
    "func.func @first(%x: i32) -> (i64, i64, i64, i64) {\n"
    "  %due = \"test.due\"(%x) : (i32) -> i64\n"
    "  %second:2 = tfrt.call @second(%x) {host = 2 : i32, deadline_ms = 200 : i32}"
    " : (i32) -> (i64, i64)\n"
    "  %other = tfrt.call @third(%x) {host = 2 : i32} : (i32) -> i64\n"
    "  tfrt.return %due, %second#0, %second#1, %other : i64, i64, i64, i64\n"
    "}\n"
    "func.func @main(%x: i32) -> (i64, i64, i64, i64, i64) {\n"
    "  %due = \"test.due\"(%x) : (i32) -> i64\n"
    "  %first:4 = tfrt.call @first(%x) {host = 1 : i32} : (i32) -> (i64, i64, i64, i64)\n"
    "  tfrt.return %due, %first#0, %first#1, %first#2, %first#3 : i64, i64, i64, i64, i64\n"
    "}\n";

// How far the deadlines below may be off where clocks drift; 0: the clocks agree.
static int64_t slack_ns;

// |inner_ns| is |outer_ns|, late by at most one transit, and never early.
static void expect_handed_on(int64_t outer_ns, int64_t inner_ns, int64_t transit_ns) {
  // A budget is a whole number of microseconds.
  ck_assert_int_ge(inner_ns, outer_ns - TFRT_NANOSECONDS_PER_MICROSECOND - slack_ns);
  ck_assert_int_le(inner_ns, outer_ns + transit_ns + slack_ns);
}

static void run_nested(const tfrt_simulated_options_t* options) {
  int64_t transit_ns = options->delay_ns + options->jitter_ns;
  int64_t deadline_ns = begin(3, options, SECOND);
  start(nested_program, 5);
  tfrt_node_world_await(&world);
  int64_t root = i64_result_of(0);
  int64_t first = i64_result_of(1);
  int64_t second = i64_result_of(2);
  int64_t third = i64_result_of(3);
  int64_t other = i64_result_of(4);
  expect_handed_on(deadline_ns, root, transit_ns);
  expect_handed_on(root, first, transit_ns);
  // Its own deadline is the earlier one, and was set after the world began.
  ck_assert_int_lt(second, first - 200 * MILLISECOND);
  ck_assert_int_gt(second, deadline_ns - SECOND + 200 * MILLISECOND);
  // More than is left is not given.
  expect_handed_on(second, third, transit_ns);
  // A sibling has nothing to do with that.
  expect_handed_on(first, other, transit_ns);
  end();
}

START_TEST(budgets_only_shrink_on_their_way) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  run_nested(&options);
  options.delay_ns = 10 * MILLISECOND;
  options.jitter_ns = 5 * MILLISECOND;
  run_nested(&options);
}
END_TEST

// The clocks of the hosts are hours apart; that of the fourth, the client, gains 3 ms in each
// second.
static tfrt_simulated_options_t clocks_that_differ(void) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.clock_offset_ns = 3600 * SECOND;
  options.clock_drift_ppm = 1000;
  slack_ns = 3 * MILLISECOND;
  return options;
}

START_TEST(budgets_are_the_same_by_clocks_that_differ) {
  tfrt_simulated_options_t options = clocks_that_differ();
  run_nested(&options);
  // Also if those who are asked are ahead. No clock shows less than 0.
  options.clock_offset_ns = -200 * MILLISECOND;
  options.clock_drift_ppm = -options.clock_drift_ppm;
  run_nested(&options);
}
END_TEST

START_TEST(a_deadline_is_kept_by_clocks_that_differ) {
  tfrt_simulated_options_t options = clocks_that_differ();
  int64_t deadline_ns = begin(3, &options, 300 * MILLISECOND);
  ck_assert_int_ge(host_now_ns(3) - host_now_ns(0), 3 * 3600 * SECOND);
  start(endless_program, 1);
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  ck_assert_int_ge(now_ns(), deadline_ns - slack_ns);
  ck_assert_int_le(now_ns(), deadline_ns + slack_ns + 5 * MILLISECOND);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_int_le(last_run_ns[2], deadline_ns + slack_ns + MILLISECOND);
  end();
}
END_TEST

START_TEST(without_a_deadline_only_a_calls_own_one_counts) {
  begin(3, NULL, TFRT_TIME_INFINITE);
  start(nested_program, 5);
  int64_t started_ns = now_ns();
  tfrt_node_world_await(&world);
  ck_assert_int_eq(i64_result_of(0), NO_DEADLINE);
  ck_assert_int_eq(i64_result_of(1), NO_DEADLINE);
  ck_assert_int_eq(i64_result_of(4), NO_DEADLINE);
  ck_assert_int_gt(i64_result_of(2), started_ns + 200 * MILLISECOND);
  ck_assert_int_lt(i64_result_of(2), now_ns() + 200 * MILLISECOND);
  expect_handed_on(i64_result_of(2), i64_result_of(3), MILLISECOND);
  end();
}
END_TEST

static const char own_deadline_program[] =
    "func.func @never(%x: i32) -> i32 {\n"
    "  %y = \"test.never\"(%x) : (i32) -> i32\n"
    "  %z = \"test.step\"(%y) : (i32) -> i32\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @inner(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @never(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %z = \"test.step\"(%y) : (i32) -> i32\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %y = tfrt.call @inner(%x) {host = 1 : i32, deadline_ms = 300 : i32} : (i32) -> i32\n"
    "  %s = \"test.watch\"(%y) {bef.nonstrict} : (i32) -> i32\n"
    "  %z = \"test.step\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y, %z, %s : i32, i32, i32\n"
    "}\n";

static bool has_called(void* argument) {
  (void)argument;
  return tfrt_node_counts(world.hosts[0].node).outgoing_calls > 0;
}

START_TEST(a_calls_own_deadline_ends_it_and_what_is_below_and_nothing_else) {
  begin(3, NULL, TFRT_TIME_INFINITE);
  start(own_deadline_program, 3);
  ck_assert(tfrt_simulated_network_run_until(world.network, has_called, NULL, SECOND));
  expect_settled_at(now_ns() + 300 * MILLISECOND);
  ck_assert_str_eq(tfrt_status_message(tfrt_node_world_error(&world, 0)),
                   "the call of @inner took too long");
  ck_assert_int_eq(runs[1], 0);
  ck_assert_int_eq(runs[2], 1);
  end();
}
END_TEST

// --- What was replayed -------------------------------------------------------

static const char due_program[] =
    "func.func @due(%x: i32) -> i64 {\n"
    "  %due = \"test.due\"(%x) : (i32) -> i64\n"
    "  tfrt.return %due : i64\n"
    "}\n"
    "func.func @main(%x: i32) -> (i64, i64) {\n"
    "  %root = \"test.due\"(%x) : (i32) -> i64\n"
    "  %due = tfrt.call @due(%x) {host = 1 : i32} : (i32) -> i64\n"
    "  tfrt.return %root, %due : i64, i64\n"
    "}\n";

// Breaks the connection that an Invoke is on and holds up the next one for |pause_ns|.
static int64_t begin_with_a_break(int64_t budget_ns, int64_t pause_ns) {
  int64_t deadline_ns = begin(2, NULL, budget_ns);
  // Sessions and program are there when the call is made that counts.
  start(due_program, 2);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) tfrt_async_value_release(world.results[i]);
  ck_assert_int_eq(runs[1], 1);
  runs[1] = 0;
  start(due_program, 2);
  ck_assert(tfrt_simulated_network_run_until(world.network, has_called, NULL, SECOND));
  ck_assert_int_eq(runs[1], 0);
  tfrt_simulated_network_break(world.network, world.hosts[0].endpoint, world.hosts[1].endpoint);
  tfrt_simulated_endpoint_freeze(world.hosts[1].endpoint);
  tfrt_node_world_run_for(&world, pause_ns);
  ck_assert_int_eq(runs[1], 0);
  tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
  return deadline_ns;
}

START_TEST(a_replayed_call_has_lost_the_time_that_it_lay) {
  begin_with_a_break(2 * SECOND, 500 * MILLISECOND);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(runs[1], 1);
  expect_handed_on(i64_result_of(0), i64_result_of(1), 5 * MILLISECOND);
  end();
}
END_TEST

START_TEST(a_call_that_is_replayed_after_its_deadline_starts_no_kernel) {
  int64_t deadline_ns = begin_with_a_break(300 * MILLISECOND, SECOND);
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(1);
  ck_assert_int_gt(now_ns(), deadline_ns);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_int_eq(runs[1], 0);
  end();
}
END_TEST

// --- Calls that stay on their host ---------------------------------------------

static const char local_program[] =
    "func.func @never(%x: i32) -> i32 {\n"
    "  %y = \"test.never\"(%x) : (i32) -> i32\n"
    "  %z = \"test.step\"(%y) : (i32) -> i32\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %y = tfrt.call @never(%x) {host = 0 : i32, deadline_ms = 200 : i32} : (i32) -> i32\n"
    "  %s = \"test.watch\"(%y) {bef.nonstrict} : (i32) -> i32\n"
    "  %z = \"test.step\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y, %z, %s : i32, i32, i32\n"
    "}\n";

START_TEST(the_own_deadline_of_a_call_on_its_own_host_is_kept) {
  begin(2, NULL, TFRT_TIME_INFINITE);
  int64_t begun_ns = now_ns();
  start(local_program, 3);
  ck_assert(tfrt_simulated_network_run_until(world.network, is_settled, NULL, 10 * SECOND));
  ck_assert_int_ge(settled_ns, begun_ns + 200 * MILLISECOND);
  ck_assert_int_le(settled_ns, begun_ns + 210 * MILLISECOND);
  resolve_never();
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_str_eq(fields->message, "the deadline of the call of @never has passed");
  ck_assert_str_eq(fields->origin.function, "main");
  ck_assert_uint_eq(fields->origin.line, 7);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 2);
  // test.never and the step of @main; not the step behind test.never.
  ck_assert_int_eq(runs[0], 2);
  end();
}
END_TEST

static void set_queue_by_hand(void) {
  is_busy = false;
  tfrt_simulated_endpoint_set_hook(world.hosts[0].endpoint, run_unless_busy, &world.hosts[0]);
}

START_TEST(the_own_deadline_of_a_call_on_its_own_host_does_not_wait_for_a_worker) {
  begin(2, NULL, TFRT_TIME_INFINITE);
  set_queue_by_hand();
  start(local_program, 3);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  // test.never and the step of @main.
  ck_assert_int_eq(runs[0], 2);
  is_busy = true;
  tfrt_node_world_run_for(&world, 200 * MILLISECOND);
  resolve_never();
  is_busy = false;
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  ck_assert_int_eq(runs[0], 2);
  end();
}
END_TEST

// The deadline passes within the last kernel that runs before @never returns.
static const char late_program[] =
    "func.func @never(%x: i32) -> (i32, i32) {\n"
    "  %y = \"test.never\"(%x) : (i32) -> i32\n"
    "  %z = \"test.linger\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y, %z : i32, i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %y, %z = tfrt.call @never(%x) {host = 0 : i32, deadline_ms = 200 : i32}\n"
    "      : (i32) -> (i32, i32)\n"
    "  %s = \"test.watch\"(%y) {bef.nonstrict} : (i32) -> i32\n"
    "  tfrt.return %y, %z, %s : i32, i32, i32\n"
    "}\n";

START_TEST(a_call_that_returns_after_its_own_deadline_keeps_nobody_waiting) {
  begin(2, NULL, TFRT_TIME_INFINITE);
  set_queue_by_hand();
  start(late_program, 3);
  ck_assert(tfrt_simulated_network_run_until(world.network, is_settled, NULL, 10 * SECOND));
  tfrt_node_world_run_for(&world, MILLISECOND);
  resolve_never();
  tfrt_node_world_await(&world);
  expect_deadline_exceeded(0);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 0);
  end();
}
END_TEST

// The calls of a call with a deadline have no more time than it, wherever they run.
static const char below_program[] =
    "func.func @due(%x: i32) -> i64 {\n"
    "  %d = \"test.due\"(%x) : (i32) -> i64\n"
    "  tfrt.return %d : i64\n"
    "}\n"
    "func.func @there(%x: i32) -> (i64, i64) {\n"
    "  %a = tfrt.call @due(%x) {host = 1 : i32, deadline_ms = 5000 : i32} : (i32) -> i64\n"
    "  %b = tfrt.call @due(%x) {host = 0 : i32, deadline_ms = 5000 : i32} : (i32) -> i64\n"
    "  tfrt.return %a, %b : i64, i64\n"
    "}\n"
    "func.func @main(%x: i32) -> (i64, i64, i64) {\n"
    "  %a, %b = tfrt.call @there(%x) {host = 0 : i32, deadline_ms = 200 : i32}\n"
    "      : (i32) -> (i64, i64)\n"
    "  %c = tfrt.call @due(%x) : (i32) -> i64\n"
    "  tfrt.return %a, %b, %c : i64, i64, i64\n"
    "}\n";

START_TEST(what_a_call_with_a_deadline_calls_has_no_more_time) {
  begin(2, NULL, TFRT_TIME_INFINITE);
  int64_t begun_ns = now_ns();
  start(below_program, 3);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    ck_assert_int_ge(i64_result_of(i), begun_ns + 200 * MILLISECOND);
    ck_assert_int_le(i64_result_of(i), begun_ns + 210 * MILLISECOND);
  }
  ck_assert_int_eq(i64_result_of(2), NO_DEADLINE);
  end();
}
END_TEST

START_TEST(a_cancel_reaches_a_call_with_a_deadline_of_its_own) {
  begin(2, NULL, TFRT_TIME_INFINITE);
  start(local_program, 3);
  tfrt_node_world_run_for(&world, 50 * MILLISECOND);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_run_for(&world, MILLISECOND);
  resolve_never();
  tfrt_node_world_await(&world);
  ck_assert_str_eq(tfrt_status_message(tfrt_node_world_error(&world, 0)), "enough of that");
  ck_assert_int_eq(runs[0], 2);
  end();
}
END_TEST

// --- No deadline, but a kernel that does not come back ------------------------

static char logged[4096];

static void take_log_line(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self, (void)severity;
  size_t used = strlen(logged);
  snprintf(logged + used, sizeof(logged) - used, "%.*s", (int)size, line);
}

static void log_events(uint32_t index, tfrt_node_options_t* options) {
  options->logs_events = index < 3;
}

static int count_logged(const char* part) {
  int count = 0;
  for (const char* at = logged; (at = strstr(at, part)); ++at) ++count;
  return count;
}

static const char stuck_program[] =
    "func.func @never(%x: i32) -> i32 {\n"
    "  %y = \"test.never\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @never(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %z = tfrt.call @never(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(a_thread_that_stays_in_a_kernel_is_told_and_its_host_lives) {
  static const tfrt_log_sink_t sink = {.write = take_log_line};
  tfrt_log_set_sink(&sink);
  tfrt_log_set_level(TFRT_LOG_INFO);
  tfrt_node_world_set_configure(log_events);
  begin(3, NULL, TFRT_TIME_INFINITE);
  tfrt_node_world_set_configure(NULL);
  start(stuck_program, 1);
  tfrt_node_world_run_for(&world, SECOND);
  // From here on this thread is in the kernel that began last, for all who look.
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(NULL);
  tfrt_running_kernel_mark(never_site);
  tfrt_node_world_run_for(&world, 4 * SECOND);
  ck_assert_int_eq(count_logged("stuck"), 0);
  tfrt_node_world_run_for(&world, 4 * SECOND);
  ck_assert_int_eq(count_logged("a thread is in kernel test.never of @never at test.mlir:2:8 for"),
                   1);
  ck_assert_int_ge(
      count_logged("lives, and is in kernel test.never of @never at test.mlir:2:8 for"), 1);
  tfrt_node_world_run_for(&world, 4 * SECOND);
  ck_assert_int_eq(count_logged("a thread is in"), 1);
  ck_assert_int_eq(count_logged("gets on"), 0);
  tfrt_running_kernel_leave(outer);
  tfrt_node_world_run_for(&world, 2 * SECOND);
  ck_assert_int_eq(count_logged("gets on"), count_logged("lives, and is in"));
  ck_assert_int_eq(count_logged("lost"), 0);
  resolve_never();
  tfrt_node_world_await(&world);
  end();
  tfrt_log_set_sink(NULL);
}
END_TEST

static void add_tests(TCase* tests) {
  tcase_add_test(tests, what_never_ends_ends_at_the_jobs_deadline);
  tcase_add_test(tests, after_the_deadline_no_kernel_starts);
  tcase_add_test(tests, after_a_cancel_no_kernel_starts);
  tcase_add_test(tests, a_callee_that_hears_nothing_of_its_caller_stops_by_itself);
  tcase_add_test(tests, a_kernel_that_stands_still_does_not_keep_the_caller_waiting);
  tcase_add_test(tests, budgets_only_shrink_on_their_way);
  tcase_add_test(tests, budgets_are_the_same_by_clocks_that_differ);
  tcase_add_test(tests, a_deadline_is_kept_by_clocks_that_differ);
  tcase_add_test(tests, without_a_deadline_only_a_calls_own_one_counts);
  tcase_add_test(tests, a_calls_own_deadline_ends_it_and_what_is_below_and_nothing_else);
  tcase_add_test(tests, the_own_deadline_of_a_call_on_its_own_host_is_kept);
  tcase_add_test(tests, the_own_deadline_of_a_call_on_its_own_host_does_not_wait_for_a_worker);
  tcase_add_test(tests, a_call_that_returns_after_its_own_deadline_keeps_nobody_waiting);
  tcase_add_test(tests, what_a_call_with_a_deadline_calls_has_no_more_time);
  tcase_add_test(tests, a_cancel_reaches_a_call_with_a_deadline_of_its_own);
  tcase_add_test(tests, a_replayed_call_has_lost_the_time_that_it_lay);
  tcase_add_test(tests, a_thread_that_stays_in_a_kernel_is_told_and_its_host_lives);
  tcase_add_test(tests, a_call_that_is_replayed_after_its_deadline_starts_no_kernel);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("deadlines");
  TCase* tests = tcase_create("deadlines");
  add_tests(tests);
  suite_add_tcase(suite, tests);
  return suite;
}
