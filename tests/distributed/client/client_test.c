// SPDX-License-Identifier: Apache-2.0
//
// The errors that a client reports: the table of distributed/client/client.h.
#include <stdio.h>
#include <string.h>

#include "distributed/host/node.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/distributed/program/program.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static void end(void) {
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}

// A world of two hosts in which nobody has dialled anybody yet.
static void begin(tfrt_node_world_configure_fn_t configure) {
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_job_drop_client(&world);
}

static bool is_here(void* value) { return tfrt_async_value_is_available(value); }

static int64_t now_ns(void) {
  return tfrt_clock_now_ns(tfrt_simulated_network_clock(world.network));
}

// --- The job can't be opened -------------------------------------------------

// Opens a job on host 0 and |address|, starts something, and checks that both are the error.
static void expect_unopened(const char* address, tfrt_status_code_t code, const char* message) {
  const char* const addresses[] = {"n0:1", address};
  tfrt_job_open_client(&world, addresses, 2, 0);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_status_t status = tfrt_job_await_open(&world);
  tfrt_job_expect_error(status, code, message);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), code, message);
}

START_TEST(nobody_listens) {
  begin(NULL);
  expect_unopened("nowhere:1", TFRT_STATUS_UNAVAILABLE,
                  "host 1 (nowhere:1) is not there: nobody listens at nowhere:1; start a worker "
                  "there, or correct the address");
  end();
}
END_TEST

// Whether the job was known not to be open by the time when a value came.
typedef struct look_s {
  tfrt_task_t task;
  bool was_unopened;
} look_t;

static void look_at_opened(tfrt_task_t* task) {
  look_t* look = TFRT_CONTAINER_OF(task, look_t, task);
  look->was_unopened = tfrt_async_value_is_error(tfrt_client_opened(world.client));
}

static void look_behind(tfrt_async_value_t* value, look_t* look) {
  *look = (look_t){0};
  tfrt_task_initialize(&look->task, look_at_opened);
  tfrt_async_value_and_then(value, &look->task);
}

START_TEST(who_sees_a_result_fail_for_want_of_a_job_finds_the_job_unopened) {
  begin(NULL);
  const char* const addresses[] = {"n0:1", "nowhere:1"};
  tfrt_job_open_client(&world, addresses, 2, 0);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  look_t look;
  look_behind(world.results[0], &look);
  tfrt_node_world_await(&world);
  ck_assert(tfrt_async_value_is_error(world.results[0]));
  ck_assert(look.was_unopened);
  end();
}
END_TEST

// Starts |text| with 1 and sets |*out_ended| (+1); returns its number.
static uint64_t start_with_end(const char* text, tfrt_async_value_t** out_ended) {
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, text);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_client_start_t start = {.program = tfrt_string_view_make(program.bytes, program.size),
                               .function = program.function,
                               .arguments = &argument,
                               .argument_count = 1,
                               .result_count = 1,
                               .out_ended = out_ended};
  uint64_t number = tfrt_client_start(world.client, &start, world.results);
  world.result_count = 1;
  tfrt_async_value_release(argument);
  tfrt_test_program_deinitialize(&program);
  return number;
}

// A start that a task makes.
typedef struct late_start_s {
  tfrt_task_t task;
  tfrt_async_value_t* ended;
  look_t result_look;
  look_t ended_look;
} late_start_t;

static void start_late(tfrt_task_t* task) {
  late_start_t* late = TFRT_CONTAINER_OF(task, late_start_t, task);
  ck_assert(!tfrt_async_value_is_available(tfrt_client_opened(world.client)));
  start_with_end(tfrt_job_simple_program, &late->ended);
  look_behind(world.results[0], &late->result_look);
  look_behind(late->ended, &late->ended_look);
}

// The task that starts the program stands in the queue before what the end of the client leads to:
// another thread may be as far ahead.
START_TEST(who_starts_a_client_that_has_just_ended_finds_the_job_unopened) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_work_queue_t* queue = world.hosts[2].context->work_queue;
  late_start_t late;
  tfrt_task_initialize(&late.task, start_late);
  tfrt_work_queue_add_task(queue, &late.task);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "host 1 is not there");
  tfrt_client_close(world.client, reason);
  tfrt_work_queue_quiesce(queue);
  ck_assert(tfrt_node_world_error(&world, 0) == reason);
  ck_assert(tfrt_async_value_error(late.ended) == reason);
  ck_assert(late.result_look.was_unopened);
  ck_assert(late.ended_look.was_unopened);
  tfrt_status_release(reason);
  tfrt_async_value_release(late.ended);
  end();
}
END_TEST

START_TEST(nobody_answers) {
  begin(NULL);
  tfrt_simulated_endpoint_t* client = world.hosts[2].endpoint;
  tfrt_simulated_endpoint_t* host = world.hosts[1].endpoint;
  tfrt_simulated_network_partition(world.network, client, host, true);
  // The error also says how the attempts failed, so that a user finds an unknown name.
  expect_unopened("n1:1", TFRT_STATUS_UNAVAILABLE,
                  "host 1 (n1:1) does not answer: tried for 5.0 s; n1:1: no answer; check that the "
                  "address is right");
  tfrt_simulated_network_heal(world.network, client, host, true);
  tfrt_job_drop_client(&world);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_job_expect(&world, tfrt_job_simple_program, 1, 2);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  // One that was there before.
  tfrt_simulated_network_partition(world.network, client, host, true);
  expect_unopened("n1:1", TFRT_STATUS_UNAVAILABLE,
                  "host 1 (n1, n1:1) is lost: no sign of life for");
  end();
}
END_TEST

static void give_host_1_another_key(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.cluster_key = tfrt_string_view_of("another");
}

START_TEST(the_cluster_key_is_wrong) {
  begin(give_host_1_another_key);
  expect_unopened("n1:1", TFRT_STATUS_UNAUTHENTICATED,
                  "host 1 (n1:1) does not let this process in: wrong cluster key, or none; use the "
                  "cluster key that it was started with");
  end();
}
END_TEST

static void give_host_1_later_versions(uint32_t index, tfrt_node_options_t* options) {
  if (index != 1) return;
  options->session.version_min += 7;
  options->session.version_max += 8;
}

START_TEST(versions_dont_meet) {
  begin(give_host_1_later_versions);
  expect_unopened("n1:1", TFRT_STATUS_ABORTED,
                  "host 1 (n1:1) refused the session: no common version: you speak 1 to 1, this "
                  "host 8 to 9; run the same release everywhere");
  end();
}
END_TEST

// The client and host 0 speak versions 1 and 2, host 1 only 1, host 2 only 2.
static void give_each_other_versions(uint32_t index, tfrt_node_options_t* options) {
  options->session.version_min = index == 2 ? 2 : 1;
  options->session.version_max = index == 1 ? 1 : 2;
}

START_TEST(members_whose_versions_dont_meet_are_told_from_lost_ones) {
  static const char program[] =
      "func.func @inner(%x: i32) -> i32 {\n"
      "  %y = tfrt.add.i32 %x, %x\n"
      "  tfrt.return %y : i32\n"
      "}\n"
      "func.func @outer(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
      "  tfrt.return %y : i32\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @outer(%x) {host = 1 : i32} : (i32) -> i32\n"
      "  tfrt.return %y : i32\n"
      "}\n";
  tfrt_node_world_set_configure(give_each_other_versions);
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_job_start(&world, program, 1);
  tfrt_node_world_await(&world);
  tfrt_status_t status = tfrt_node_world_error(&world, 0);
  tfrt_job_expect_error(status, TFRT_STATUS_ABORTED, "lost host ");
  tfrt_job_expect_error(status, TFRT_STATUS_ABORTED, "no common version");
  tfrt_job_drop_client(&world);
  // A member that can't talk to the root has no part in a job.
  static const char* const addresses[] = {"n1:1", "n0:1", "n2:1"};
  tfrt_job_open_client(&world, addresses, 3, 0);
  status = tfrt_job_await_open(&world);
  tfrt_job_expect_error(status, TFRT_STATUS_ABORTED, "host 2 (n2, n2:1) refuses the job");
  tfrt_job_expect_error(status, TFRT_STATUS_ABORTED, "no common version");
  end();
}
END_TEST

// The outcome of |opened| when host |victim| dies |delay_ns| after a client has dialled it.
typedef enum fate_e { NOT_THERE, LOST, OPENED } fate_t;

static fate_t kill_after(uint32_t victim, int64_t delay_ns) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 2, 0);
  tfrt_node_world_run_for(&world, delay_ns);
  tfrt_node_world_kill(&world, victim);
  tfrt_status_t status = tfrt_job_await_open(&world);
  fate_t fate = OPENED;
  if (status) {
    char host[16];
    snprintf(host, sizeof(host), "host %u (", victim);
    tfrt_job_expect_error(status, TFRT_STATUS_UNAVAILABLE, host);
    fate = tfrt_client_has_lost(world.client, status) ? LOST : NOT_THERE;
  }
  end();
  return fate;
}

// One that has answered is lost, and any other is not there: how `tfrt run` ends goes by that.
START_TEST(a_host_that_dies_before_the_job_is_open_is_lost_if_it_has_answered) {
  for (uint32_t victim = 0; victim < 2; ++victim) {
    uint32_t counts[3] = {0};
    fate_t last = NOT_THERE;
    for (int64_t delay_us = 0; last != OPENED; delay_us += 20) {
      fate_t fate = kill_after(victim, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
      ck_assert_int_ge(fate, last);
      last = fate;
      ++counts[fate];
    }
    ck_assert_uint_gt(counts[NOT_THERE], 1);
    ck_assert_uint_gt(counts[LOST], 1);
  }
}
END_TEST

START_TEST(a_host_is_named_twice) {
  begin(NULL);
  expect_unopened("n0:1", TFRT_STATUS_INVALID_ARGUMENT,
                  "host 0 (n0:1) and host 1 (n0:1) are the same process; name each once");
  end();
}
END_TEST

START_TEST(a_job_that_is_closed_before_it_is_open_is_cancelled) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_close(world.client, reason);
  tfrt_status_release(reason);
  tfrt_job_expect_error(tfrt_job_await_open(&world), TFRT_STATUS_CANCELLED, "enough of that");
  end();
}
END_TEST

// --- Deadlines ---------------------------------------------------------------

START_TEST(a_deadline_before_the_job_is_open_names_who_has_not_answered) {
  begin(NULL);
  tfrt_simulated_network_partition(world.network, world.hosts[2].endpoint, world.hosts[1].endpoint,
                                   true);
  int64_t start_ns = now_ns();
  tfrt_job_open_client(&world, NULL, 0, start_ns + TFRT_NODE_WORLD_SECOND);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_job_expect_error(tfrt_job_await_open(&world), TFRT_STATUS_DEADLINE_EXCEEDED,
                        "the deadline passed before the job was open: host 1 (n1:1) has not "
                        "answered");
  ck_assert_int_eq(now_ns() - start_ns, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_DEADLINE_EXCEEDED,
                        "host 1 (n1:1)");
  end();
}
END_TEST

START_TEST(a_deadline_in_mid_run_ends_the_run) {
  begin(NULL);
  int64_t start_ns = now_ns();
  tfrt_job_open_client(&world, NULL, 0, start_ns + TFRT_NODE_WORLD_SECOND);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_simulated_endpoint_freeze(world.hosts[1].endpoint);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_node_world_run_for(&world, 2 * TFRT_NODE_WORLD_SECOND);
  tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_DEADLINE_EXCEEDED,
                        "deadline");
  end();
}
END_TEST

START_TEST(a_deadline_holds_though_the_root_stands_still) {
  begin(NULL);
  int64_t start_ns = now_ns();
  tfrt_job_open_client(&world, NULL, 0, start_ns + 2 * TFRT_NODE_WORLD_SECOND);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_simulated_endpoint_freeze(world.hosts[0].endpoint);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_node_world_run_for(&world, 4 * TFRT_NODE_WORLD_SECOND);
  tfrt_simulated_endpoint_thaw(world.hosts[0].endpoint);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_DEADLINE_EXCEEDED,
                        "deadline");
  end();
}
END_TEST

// --- Losses in mid-run -------------------------------------------------------

// Starts the program, whose call stays on host 1 that stands still.
static void begin_run(void) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 0, 0);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_simulated_endpoint_freeze(world.hosts[1].endpoint);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
}

// @f on host 1 waits for a message that is never sent.
static const char waiting_program[] =
    "func.func @f(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"never\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %c = tfrt.new.chain\n"
    "  %y = tfrt.call @f(%zero) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

static void expect_lost(const char* message, const char* function, uint32_t line, uint64_t key) {
  tfrt_node_world_await(&world);
  ck_assert(tfrt_async_value_is_available(tfrt_client_opened(world.client)));
  ck_assert(!tfrt_async_value_is_error(tfrt_client_opened(world.client)));
  tfrt_status_t status = tfrt_node_world_error(&world, 0);
  tfrt_job_expect_error(status, TFRT_STATUS_UNAVAILABLE, message);
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  ck_assert_str_eq(fields->message, message);
  ck_assert_str_eq(fields->origin.function, function);
  ck_assert_uint_eq(fields->origin.line, line);
  if (line > 0) ck_assert_str_eq(fields->origin.file, "test.mlir");
  ck_assert_uint_eq(fields->root_key, key);
}

START_TEST(a_lost_host_is_named_with_what_it_ran_and_where_that_was_called) {
  begin_run();
  tfrt_node_world_kill(&world, 1);
  expect_lost("host 0 lost host 1 (n1, n1:1) while it ran @f: its process is gone", "main", 6,
              0x1001);
  end();
}
END_TEST

START_TEST(a_silent_host_is_named_with_what_it_ran_and_where_that_was_called) {
  begin_run();
  expect_lost("host 0 lost host 1 (n1, n1:1) while it ran @f: no sign of life", "main", 6, 0x1001);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_uint_eq(fields->cause_count, 1);
  ck_assert_ptr_nonnull(strstr(fields->causes[0], "no sign of life for 5.0 s"));
  tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
  end();
}
END_TEST

START_TEST(the_first_loss_of_a_host_is_a_value_of_the_client) {
  begin_run();
  tfrt_async_value_t* loss = tfrt_client_first_loss(world.client);
  ck_assert(!tfrt_async_value_is_available(loss) && !tfrt_async_value_is_error(loss));
  tfrt_node_world_kill(&world, 1);
  expect_lost("host 0 lost host 1 (n1, n1:1) while it ran @f: its process is gone", "main", 6,
              0x1001);
  ck_assert(tfrt_async_value_is_error(loss));
  tfrt_status_t status = tfrt_async_value_error(loss);
  ck_assert_str_eq(tfrt_status_message(status),
                   "the client lost host 1 (n1, n1:1) while it took part in the job: its process "
                   "is gone");
  ck_assert(tfrt_client_has_lost(world.client, status));
  end();
}
END_TEST

START_TEST(a_lost_root_is_named_with_the_entry_function) {
  begin_run();
  tfrt_node_world_kill(&world, 0);
  expect_lost("the client lost host 0 (n0, n0:1) while it ran @main: its process is gone", "main",
              0, 0x1000);
  tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
  end();
}
END_TEST

START_TEST(what_is_asked_after_the_root_is_lost_says_so_too) {
  begin_run();
  tfrt_node_world_kill(&world, 0);
  expect_lost("the client lost host 0 (n0, n0:1) while it ran @main: its process is gone", "main",
              0, 0x1000);
  const char* message =
      "the client lost host 0 (n0, n0:1) while it ran the job: its process is gone";
  tfrt_async_value_t* answer =
      tfrt_client_ask(world.client, 0, &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_STATUS});
  tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_UNAVAILABLE, message);
  ck_assert(tfrt_client_has_lost(world.client, tfrt_async_value_error(answer)));
  tfrt_async_value_release(answer);
  tfrt_async_value_release(world.results[0]);
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_UNAVAILABLE, message);
  tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
  end();
}
END_TEST

// The hosts hear each other, and only the client and host 1 do not: the error names these two.
START_TEST(a_client_that_is_cut_from_one_host_is_named_with_that) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 0, 0);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_simulated_network_partition(world.network, world.hosts[2].endpoint, world.hosts[1].endpoint,
                                   true);
  tfrt_job_start(&world, waiting_program, 1);
  expect_lost("host 1 (n1:1) lost the client without which the job can't go on: no sign of life",
              "f", 5, 0x1002);
  ck_assert(tfrt_client_has_lost(world.client, tfrt_node_world_error(&world, 0)));
  tfrt_simulated_network_heal(world.network, world.hosts[2].endpoint, world.hosts[1].endpoint,
                              true);
  end();
}
END_TEST

// Hosts 1 and 2 are cut from each other, and host 0, which gets the error, from none.
START_TEST(a_loss_further_down_names_who_is_cut_from_whom) {
  static const char program[] =
      "func.func @inner(%x: i32) -> i32 {\n"
      "  %y = tfrt.add.i32 %x, %x\n"
      "  tfrt.return %y : i32\n"
      "}\n"
      "func.func @outer(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
      "  %z = tfrt.add.i32 %y, %y\n"
      "  tfrt.return %z : i32\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @outer(%x) {host = 1 : i32} : (i32) -> i32\n"
      "  tfrt.return %y : i32\n"
      "}\n";
  tfrt_node_world_set_configure(NULL);
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_job_expect(&world, program, 1, 4);
  tfrt_simulated_network_partition(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                                   true);
  tfrt_job_start(&world, program, 1);
  expect_lost("host 1 lost host 2 (n2, n2:1) while it ran @inner: no sign of life", "outer", 6,
              0x1002);
  tfrt_simulated_network_heal(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                              true);
  end();
}
END_TEST

START_TEST(a_host_that_shuts_down_in_mid_run_is_a_lost_one) {
  for (uint32_t rank = 0; rank < 2; ++rank) {
    begin_run();
    tfrt_simulated_endpoint_thaw(world.hosts[1].endpoint);
    tfrt_node_close(world.hosts[rank].node);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_UNAVAILABLE,
                            rank == 0 ? "host 0" : "host 1");
    } else {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 2);
    }
    end();
  }
}
END_TEST

// --- The root ends the job ---------------------------------------------------

// Somebody else has host 0 cancel the world's job; what host 0 says to that is set (+1).
static tfrt_client_t* begin_cancel(tfrt_async_value_t** out_answer) {
  tfrt_string_view_t address = tfrt_string_view_of(world.hosts[0].address);
  tfrt_client_options_t options = {.addresses = &address,
                                   .host_count = 1,
                                   .name = tfrt_string_view_of("cancel"),
                                   .asks_only = true};
  tfrt_client_t* asker = NULL;
  tfrt_status_t status = tfrt_client_create(world.hosts[2].node, &options, &asker);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  ck_assert(tfrt_simulated_network_run_until(world.network, is_here, tfrt_client_opened(asker),
                                             60 * TFRT_NODE_WORLD_SECOND));
  char what[TFRT_CLIENT_JOB_ID_SIZE + 8] = "job ";
  tfrt_client_job_id(world.client, what + strlen(what));
  *out_answer = tfrt_client_ask(asker, 0,
                                &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_CANCEL,
                                                          .about = tfrt_string_view_of(what)});
  tfrt_async_value_demand(*out_answer);
  return asker;
}

// A start that is on its way when the root ends the job finds nobody who would answer it.
START_TEST(a_start_that_crosses_the_end_of_its_job_ends_with_it) {
  uint32_t crossed = 0;
  for (int64_t us = 0; us < 600; us += 20) {
    begin(NULL);
    tfrt_job_open_client(&world, NULL, 0, 0);
    tfrt_job_expect(&world, tfrt_job_simple_program, 1, 2);
    tfrt_async_value_t* answer = NULL;
    tfrt_client_t* asker = begin_cancel(&answer);
    tfrt_node_world_run_for(&world, us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_told = tfrt_async_value_is_available(answer);
    tfrt_job_start(&world, tfrt_job_simple_program, 1);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_CANCELLED,
                            "administrator");
      crossed += !is_told;
    }
    tfrt_async_value_release(answer);
    tfrt_client_close(asker, NULL);
    tfrt_client_release(asker);
    end();
  }
  ck_assert_uint_gt(crossed, 0);
}
END_TEST

// --- What no result needs ----------------------------------------------------

// @main(x) has host 1 wait for what nobody sends, and returns x.
static const char unused_program[] =
    "func.func @wait(%x: i32) -> i32 {\n"
    "  %ch0 = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %key = \"tfrt_test.get_string\"() {value = \"never\"} : () -> !tfrt.string\n"
    "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch0 : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %v = tfrt.call @wait(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %x : i32\n"
    "}\n";

// The result is still a value.
START_TEST(who_asks_for_the_end_learns_what_was_cut_off_that_no_result_needs) {
  begin(NULL);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_async_value_t* ended = NULL;
  uint64_t number = start_with_end(unused_program, &ended);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert(!tfrt_async_value_is_available(ended));
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, number, reason);
  tfrt_status_release(reason);
  ck_assert(
      tfrt_simulated_network_run_until(world.network, is_here, ended, 60 * TFRT_NODE_WORLD_SECOND));
  tfrt_job_expect_error(tfrt_async_value_error(ended), TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 1);
  tfrt_async_value_release(ended);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* clients = tcase_create("clients");
  tcase_set_timeout(clients, 60);
  tcase_add_test(clients, nobody_listens);
  tcase_add_test(clients, who_sees_a_result_fail_for_want_of_a_job_finds_the_job_unopened);
  tcase_add_test(clients, who_starts_a_client_that_has_just_ended_finds_the_job_unopened);
  tcase_add_test(clients, nobody_answers);
  tcase_add_test(clients, the_cluster_key_is_wrong);
  tcase_add_test(clients, versions_dont_meet);
  tcase_add_test(clients, members_whose_versions_dont_meet_are_told_from_lost_ones);
  tcase_add_test(clients, a_host_that_dies_before_the_job_is_open_is_lost_if_it_has_answered);
  tcase_add_test(clients, a_host_is_named_twice);
  tcase_add_test(clients, a_job_that_is_closed_before_it_is_open_is_cancelled);
  tcase_add_test(clients, a_deadline_before_the_job_is_open_names_who_has_not_answered);
  tcase_add_test(clients, a_deadline_in_mid_run_ends_the_run);
  tcase_add_test(clients, a_deadline_holds_though_the_root_stands_still);
  tcase_add_test(clients, a_lost_host_is_named_with_what_it_ran_and_where_that_was_called);
  tcase_add_test(clients, a_silent_host_is_named_with_what_it_ran_and_where_that_was_called);
  tcase_add_test(clients, the_first_loss_of_a_host_is_a_value_of_the_client);
  tcase_add_test(clients, a_lost_root_is_named_with_the_entry_function);
  tcase_add_test(clients, what_is_asked_after_the_root_is_lost_says_so_too);
  tcase_add_test(clients, a_client_that_is_cut_from_one_host_is_named_with_that);
  tcase_add_test(clients, a_loss_further_down_names_who_is_cut_from_whom);
  tcase_add_test(clients, a_host_that_shuts_down_in_mid_run_is_a_lost_one);
  tcase_add_test(clients, a_start_that_crosses_the_end_of_its_job_ends_with_it);
  tcase_add_test(clients, who_asks_for_the_end_learns_what_was_cut_off_that_no_result_needs);
  Suite* suite = suite_create("clients");
  suite_add_tcase(suite, clients);
  return suite;
}
