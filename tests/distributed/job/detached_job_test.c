// SPDX-License-Identifier: Apache-2.0
//
// Jobs that outlive their client, and the clients that follow them: distributed/job/detached_job.h
// and distributed/service/following.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distributed/host/node.h"
#include "distributed/job/detached_job.h"
#include "distributed/service/following.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

// @main(n, text): n times, one behind the other, host 1 and then host 0 print how often it was; in
// the end host 1 makes a copy of the text, which it got from host 0.
static const char counting_program[] =
    "func.func @step(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  %ch1 = tfrt.print.i32 %y, %ch\n"
    "  tfrt.return %y, %ch1 : i32, !tfrt.chain\n"
    "}\n"
    "func.func @keep(%t: !tfrt.string, %ch: !tfrt.chain) -> !tfrt.string {\n"
    "  %u = \"tfrt_test.identity\"(%ch, %t) : (!tfrt.chain, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    "func.func @main(%n: i32, %text: !tfrt.string) -> (i32, !tfrt.string) {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %ch = tfrt.new.chain\n"
    "  %end:2 = tfrt.repeat.i32 %n, %zero, %ch : i32, !tfrt.chain {\n"
    "    %a, %ch1 = tfrt.call @step(%zero, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> (i32, "
    "!tfrt.chain)\n"
    "    %ch2 = tfrt.print.i32 %a, %ch1\n"
    "    tfrt.return %a, %ch2 : i32, !tfrt.chain\n"
    "  }\n"
    "  %copy = tfrt.call @keep(%text, %end#1) {host = 1 : i32} : (!tfrt.string, !tfrt.chain) -> "
    "!tfrt.string\n"
    "  tfrt.return %end#0, %copy : i32, !tfrt.string\n"
    "}\n";

// @main(n, text) prints the text n times.
static const char long_lines_program[] =
    "func.func @main(%n: i32, %text: !tfrt.string) -> (i32, !tfrt.string) {\n"
    "  %ch = tfrt.new.chain\n"
    "  %end:2 = tfrt.repeat.i32 %n, %text, %ch : !tfrt.string, !tfrt.chain {\n"
    "    %ch1 = \"tfrt_test.print_string\"(%text, %ch) : (!tfrt.string, !tfrt.chain) -> "
    "!tfrt.chain\n"
    "    tfrt.return %text, %ch1 : !tfrt.string, !tfrt.chain\n"
    "  }\n"
    "  tfrt.return %n, %end#0 : i32, !tfrt.string\n"
    "}\n";

static const char* program = counting_program;

#define TEXT_SIZE 100000u

static tfrt_node_world_t world;
static char id[TFRT_CLIENT_JOB_ID_SIZE];

// The clients on host 2 are of a version before FEATURE_FOLLOW, which follows in text.
static bool followers_are_old;

static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (!followers_are_old || index != 2) return;
  options->session.features &= ~(tfrt_wire_features_t)TFRT_WIRE_FEATURE_FOLLOW;
}

// --- The client ----------------------------------------------------------------

static void open_detached(uint64_t keep_ms) {
  tfrt_string_view_t addresses[TFRT_NODE_WORLD_MAX_HOSTS];
  for (uint32_t i = 0; i < world.host_count; ++i) {
    addresses[i] = tfrt_string_view_of(world.hosts[i].address);
  }
  tfrt_client_options_t options = {.addresses = addresses,
                                   .host_count = world.host_count,
                                   .name = tfrt_string_view_of("count"),
                                   .is_detached = true,
                                   .keep_results_ms = keep_ms};
  tfrt_status_t status =
      tfrt_client_create(world.hosts[world.host_count].node, &options, &world.client);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

static void start(int32_t n) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), TEXT_SIZE);
  memset(bytes, 'a', TEXT_SIZE);
  tfrt_async_value_t* arguments[2] = {
      tfrt_async_value_create_i32(n),
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, TEXT_SIZE))};
  tfrt_allocator_free(tfrt_allocator_system(), bytes, TEXT_SIZE);
  tfrt_node_world_start(&world, program, arguments, 2, 2);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}

// A world of three hosts and a detached job on them that counts to |n|.
static void begin(int32_t n) {
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_job_drop_client(&world);
  open_detached(60000);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_client_job_id(world.client, id);
  ck_assert_uint_eq(strlen(id), 32);
  start(n);
}

static void release_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

// The client's process ends, without a word.
static void kill_client(void) {
  tfrt_simulated_endpoint_kill(world.hosts[world.host_count].endpoint);
  tfrt_job_drop_client(&world);
  tfrt_node_world_kill(&world, world.host_count);
}

static void leave(void) {
  tfrt_client_end(world.client, TFRT_CLIENT_LEAVES_JOB, NULL);
  release_results();
  tfrt_client_release(world.client);
  world.client = NULL;
}

// --- Who follows ---------------------------------------------------------------

typedef tfrt_async_value_t* (*question_fn_t)(tfrt_client_t* client, uint64_t number);

static bool is_here(void* value) { return tfrt_async_value_is_available(value); }

static void await(tfrt_async_value_t* value) {
  ck_assert(
      tfrt_simulated_network_run_until(world.network, is_here, value, 60 * TFRT_NODE_WORLD_SECOND));
}

// A client on host 2, of a job on host 0 in which it only asks.
static tfrt_client_t* open_asker(void) {
  tfrt_string_view_t address = tfrt_string_view_of(world.hosts[0].address);
  tfrt_client_options_t options = {.addresses = &address,
                                   .host_count = 1,
                                   .name = tfrt_string_view_of("asker"),
                                   .asks_only = true};
  tfrt_client_t* client = NULL;
  tfrt_status_t status = tfrt_client_create(world.hosts[2].node, &options, &client);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  await(tfrt_client_opened(client));
  ck_assert(!tfrt_async_value_is_error(tfrt_client_opened(client)));
  return client;
}

static void close_asker(tfrt_client_t* client) {
  tfrt_client_close(client, NULL);
  tfrt_client_release(client);
}

static tfrt_async_value_t* ask_as(tfrt_client_t* client, question_fn_t question, uint64_t number) {
  tfrt_async_value_t* answer = question(client, number);
  tfrt_async_value_demand(answer);
  await(answer);
  return answer;
}

// The answer of host 0 to a client that asks only this question.
static tfrt_async_value_t* ask(question_fn_t question, uint64_t number) {
  tfrt_client_t* client = open_asker();
  tfrt_async_value_t* answer = ask_as(client, question, number);
  close_asker(client);
  return answer;
}

static tfrt_async_value_t* ask_follow(tfrt_client_t* client, uint64_t number) {
  const tfrt_client_question_t question = {
      .kind = TFRT_CLIENT_ASK_FOLLOW, .about = tfrt_string_view_of(id), .number = number};
  return tfrt_client_ask(client, 0, &question);
}

static tfrt_async_value_t* ask_result(tfrt_client_t* client, uint64_t number) {
  const tfrt_client_question_t question = {
      .kind = TFRT_CLIENT_ASK_KEPT_RESULT, .about = tfrt_string_view_of(id), .number = number};
  return tfrt_client_ask(client, 0, &question);
}

static tfrt_async_value_t* ask_cancel(tfrt_client_t* client, uint64_t number) {
  (void)number;
  char what[64];
  snprintf(what, sizeof(what), "job %s", id);
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_CANCEL,
                                           .about = tfrt_string_view_of(what)};
  return tfrt_client_ask(client, 0, &question);
}

static void expect_refusal(question_fn_t question, uint64_t number, tfrt_status_code_t code) {
  tfrt_async_value_t* answer = ask(question, number);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_status_t status = tfrt_async_value_error(answer);
  ck_assert_msg(tfrt_status_code(status) == code, "%s", tfrt_status_message(status));
  tfrt_async_value_release(answer);
}

static void cancel(void) {
  tfrt_async_value_t* answer = ask(ask_cancel, 0);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_async_value_release(answer);
}

static tfrt_async_value_t* ask_inventory(tfrt_client_t* client, uint64_t number) {
  (void)number;
  return tfrt_client_ask(client, 0, &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_INVENTORY});
}

// True if host 0 lists the job as one that is |state|.
static bool is_listed(const char* state) {
  tfrt_async_value_t* answer = tfrt_client_lines_take(ask(ask_inventory, 0));
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_string_view_t text = tfrt_async_value_string(answer);
  char* copy = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), text.size + 1);
  memcpy(copy, text.data, text.size);
  char line[64];
  snprintf(line, sizeof(line), "job job=%s ", id);
  char* found = strstr(copy, line);
  char* end = found ? strchr(found, '\n') : NULL;
  if (end) *end = '\0';
  snprintf(line, sizeof(line), " state=%s", state);
  bool is_it = found && strstr(found, line);
  tfrt_allocator_free(tfrt_allocator_system(), copy, text.size + 1);
  tfrt_async_value_release(answer);
  return is_it;
}

// One answer: the state, and how many lines it has.
typedef struct report_s {
  tfrt_client_following_t following;
  const char* state;
  uint64_t line_count;
  size_t line_bytes;
} report_t;

static void count_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  (void)rank;
  report_t* report = self;
  ++report->line_count;
  report->line_bytes += text.size;
}

// Line number i says (i / 2) + 1, and comes from host 1 if i is even.
static void check_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  report_t* report = self;
  uint64_t number = report->following.from + report->line_count;
  char right[32];
  snprintf(right, sizeof(right), "int32 = %d", (int)(number / 2) + 1);
  ck_assert_uint_eq(rank, number % 2 == 0);
  ck_assert_msg(tfrt_string_view_equal(text, tfrt_string_view_of(right)), "%.*s",
                TFRT_STRING_VIEW_ARGUMENTS(text));
  count_line(self, rank, text);
}

static report_t follow_with(uint64_t from, tfrt_client_print_fn_t on_line) {
  tfrt_async_value_t* answer = ask(ask_follow, from);
  ck_assert_msg(!tfrt_async_value_is_error(answer), "%s",
                tfrt_status_message(tfrt_async_value_error(answer)));
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(answer)->type_id);
  ck_assert_str_eq(type->name, followers_are_old ? "!tfrt.string" : "!tfrt.message");
  report_t report = {0};
  tfrt_status_t status = tfrt_client_read_following(answer, on_line, &report, &report.following);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  ck_assert_uint_eq(report.line_count, report.following.next - report.following.from);
  report.state = report.following.is_starting ? "starting"
                 : report.following.has_ended ? "ended"
                                              : "running";
  tfrt_async_value_release(answer);
  return report;
}

// Follows from line |from| on.
static report_t follow(uint64_t from) { return follow_with(from, check_line); }

// Lets time pass until the job is |state|.
static void await_state(const char* state) {
  for (int i = 0; strcmp(follow(UINT64_MAX).state, state) != 0; ++i) {
    ck_assert_int_lt(i, 1000);
    // A job does not run for long.
    bool is_end = strcmp(state, "ended") == 0;
    if (is_end) tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 100);
  }
}

// Any client gets the results of a job that has counted to |n|.
static void expect_results(int32_t n) {
  tfrt_async_value_t* answer = ask(ask_result, 0);
  ck_assert(!tfrt_async_value_is_error(answer));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(answer)), n);
  tfrt_async_value_release(answer);
  answer = ask(ask_result, 1);
  ck_assert(!tfrt_async_value_is_error(answer));
  ck_assert_uint_eq(tfrt_async_value_string(answer).size, TEXT_SIZE);
  tfrt_async_value_release(answer);
  answer = ask(ask_result, 2);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_async_value_release(answer);
}

// All jobs are over, and |kept| of them have left something at host 0.
static void end(size_t kept) {
  release_results();
  tfrt_job_await_count(&world, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, kept);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).kept_jobs, 0);
  tfrt_node_world_deinitialize(&world);
}

START_TEST(a_job_goes_on_when_its_client_is_killed) {
  begin(40);
  await_state("running");
  kill_client();
  report_t report = follow(0);
  ck_assert_str_eq(report.state, "running");
  ck_assert_str_eq(report.following.function, "main");
  expect_refusal(ask_result, 0, TFRT_STATUS_FAILED_PRECONDITION);
  await_state("ended");
  report = follow(0);
  ck_assert_uint_eq(report.following.next, 80);
  ck_assert_uint_eq(report.following.result_count, 2);
  ck_assert_int_eq(report.following.has_more, 0);
  ck_assert_int_eq(report.following.is_loss, 0);
  // As often as somebody asks.
  expect_results(40);
  expect_results(40);
  expect_refusal(ask_result, 3, TFRT_STATUS_NOT_FOUND);
  report = follow(70);
  ck_assert_uint_eq(report.following.from, 70);
  ck_assert_uint_eq(report.following.next, 80);
  tfrt_job_await_count(&world, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, 1);
  tfrt_node_world_run_for(&world, 61 * TFRT_NODE_WORLD_SECOND);
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  end(0);
}
END_TEST

START_TEST(a_client_may_leave_when_the_job_runs) {
  begin(40);
  await_state("running");
  leave();
  await_state("ended");
  expect_results(40);
  end(1);
}
END_TEST

START_TEST(a_client_that_stays_gets_its_results_and_closes_the_job) {
  begin(3);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 1).size, TEXT_SIZE);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 1);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  expect_results(3);
  end(1);
}
END_TEST

START_TEST(who_follows_a_job_counts_as_one_and_who_asks_for_more_does_not) {
  begin(40);
  await_state("running");
  leave();
  await_state("ended");
  tfrt_node_t* root = world.hosts[0].node;
  tfrt_job_await_count(&world, 0);
  tfrt_client_t* client = open_asker();
  tfrt_async_value_release(ask_as(client, ask_inventory, 0));
  ck_assert_uint_eq(tfrt_node_counts(root).jobs, 1);
  ck_assert_uint_eq(tfrt_node_counts(root).running_jobs, 0);
  tfrt_async_value_release(ask_as(client, ask_follow, 0));
  ck_assert_uint_eq(tfrt_node_counts(root).running_jobs, 1);
  close_asker(client);
  end(1);
}
END_TEST

// The arguments may be there or not, and hosts may know of the job or not.
START_TEST(a_client_that_is_killed_at_any_moment_leaves_no_job_that_never_ends) {
  for (int64_t delay_us = 0; delay_us <= 4000; delay_us += 100) {
    tfrt_node_world_initialize(&world, 3, NULL);
    tfrt_job_drop_client(&world);
    open_detached(60000);
    start(3);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    kill_client();
    tfrt_job_await_count(&world, 0);
    tfrt_node_world_deinitialize(&world);
  }
}
END_TEST

START_TEST(without_an_upload_the_job_ends_with_the_loss_of_its_client) {
  begin(3);
  tfrt_node_world_run_for(&world, 150 * TFRT_NANOSECONDS_PER_MICROSECOND);
  kill_client();
  await_state("ended");
  // The function was never called, so this is where its results would end.
  tfrt_async_value_t* answer = ask(ask_result, 0);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_UNAVAILABLE, "the client");
  tfrt_async_value_release(answer);
  end(1);
}
END_TEST

// @main(n, text) prints, and returns n: it needs the text for nothing.
static const char careless_program[] =
    "func.func @main(%n: i32, %text: !tfrt.string) -> (i32, i32) {\n"
    "  %ch = tfrt.new.chain\n"
    "  %ch1 = tfrt.print.i32 %n, %ch\n"
    "  tfrt.return %n, %n : i32, i32\n"
    "}\n";

// Also one that would do without what is lost.
START_TEST(without_all_arguments_the_function_is_not_called) {
  uint32_t uploads = 0;
  for (int64_t us = 100; us < 1500; us += 50) {
    program = careless_program;
    begin(3);
    tfrt_node_world_run_for(&world, us * TFRT_NANOSECONDS_PER_MICROSECOND);
    kill_client();
    tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
    tfrt_async_value_t* answer = ask(ask_result, 0);
    if (tfrt_async_value_is_error(answer)) {
      report_t report = follow(0);
      ck_assert_uint_eq(report.following.next, 0);
      tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_UNAVAILABLE, "the client");
      uploads += strstr(tfrt_status_message(tfrt_async_value_error(answer)), "program") == NULL;
    }
    tfrt_async_value_release(answer);
    end(1);
  }
  program = counting_program;
  // Some had the program, and waited for the text.
  ck_assert_uint_gt(uploads, 0);
}
END_TEST

START_TEST(a_host_that_is_lost_is_what_the_job_ends_with) {
  begin(40);
  await_state("running");
  kill_client();
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
  report_t report = follow(0);
  ck_assert_str_eq(report.state, "ended");
  ck_assert_int_eq(report.following.is_loss, 1);
  tfrt_async_value_t* answer = ask(ask_result, 0);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_UNAVAILABLE, "lost host 1");
  tfrt_async_value_release(answer);
  release_results();
  tfrt_job_await_count(&world, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, 1);
  tfrt_node_world_deinitialize(&world);
}
END_TEST

START_TEST(results_of_other_hosts_are_good_when_those_are_gone) {
  begin(3);
  await_state("ended");
  kill_client();
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
  expect_results(3);
  release_results();
  tfrt_node_world_deinitialize(&world);
}
END_TEST

// @main(n, text) returns a list of the text as each host has it, in another list, and n.
static const char list_program[] =
    "func.func @give(%text: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %text : !tfrt.string\n"
    "}\n"
    "func.func @inner(%text: !tfrt.string) -> !tfrt_dist.list {\n"
    "  %l = tfrt_dist.call_all @give(%text) : (!tfrt.string) -> (!tfrt_dist.list)\n"
    "  tfrt.return %l : !tfrt_dist.list\n"
    "}\n"
    "func.func @main(%n: i32, %text: !tfrt.string) -> (!tfrt_dist.list, i32) {\n"
    "  %l = tfrt_dist.call_all @inner(%text) : (!tfrt.string) -> (!tfrt_dist.list)\n"
    "  tfrt.return %l, %n : !tfrt_dist.list, i32\n"
    "}\n";

// The elements (+0) of |list|, one for each host.
static tfrt_async_value_t* const* elements_of(tfrt_async_value_t* list) {
  await(list);
  ck_assert(!tfrt_async_value_is_error(list));
  list = tfrt_async_value_resolved(list);
  uint32_t count = 0;
  tfrt_async_value_t* const* elements =
      tfrt_type_get(list->type_id)->aggregate->elements(tfrt_async_value_payload(list), &count);
  ck_assert_uint_eq(count, 3);
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_demand(elements[i]);
  return elements;
}

static tfrt_async_value_t* ask_list(tfrt_client_t* client, uint64_t number) {
  tfrt_async_value_t* list = ask_result(client, number);
  tfrt_async_value_demand(list);
  tfrt_async_value_t* const* lists = elements_of(list);
  for (uint32_t i = 0; i < 3; ++i) {
    tfrt_async_value_t* const* texts = elements_of(lists[i]);
    for (uint32_t j = 0; j < 3; ++j) {
      await(texts[j]);
      ck_assert_uint_eq(tfrt_async_value_string(texts[j]).size, TEXT_SIZE);
    }
  }
  return list;
}

// Elements that were elsewhere are here, and the job is over though the list is not.
START_TEST(a_list_is_kept_with_what_its_elements_are) {
  program = list_program;
  begin(3);
  await_state("running");
  kill_client();
  await_state("ended");
  program = counting_program;
  tfrt_job_await_count(&world, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, 1);
  ck_assert(is_listed("kept"));
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
  tfrt_async_value_release(ask(ask_list, 0));
  release_results();
  tfrt_node_world_deinitialize(&world);
}
END_TEST

START_TEST(with_its_root_a_job_is_gone) {
  begin(40);
  await_state("running");
  kill_client();
  tfrt_node_world_kill(&world, 0);
  release_results();
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}
END_TEST

START_TEST(a_cancelled_job_says_so_until_it_is_cancelled_again) {
  begin(40);
  await_state("running");
  kill_client();
  cancel();
  await_state("ended");
  tfrt_async_value_t* answer = ask(ask_result, 1);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_CANCELLED, "administrator");
  tfrt_async_value_release(answer);
  tfrt_job_await_count(&world, 0);
  cancel();
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  expect_refusal(ask_cancel, 0, TFRT_STATUS_NOT_FOUND);
  end(0);
}
END_TEST

// |client| followed the job before the host forgot it: the answer says that the job was cancelled.
static void expect_told_of_cancel(tfrt_client_t* client) {
  tfrt_async_value_t* answer = ask_as(client, ask_follow, UINT64_MAX);
  ck_assert_msg(!tfrt_async_value_is_error(answer), "%s",
                tfrt_status_message(tfrt_async_value_error(answer)));
  report_t report = {0};
  ck_assert_ptr_null(tfrt_client_read_following(answer, count_line, &report, &report.following));
  ck_assert(report.following.has_ended);
  ck_assert_str_eq(report.following.function, "main");
  ck_assert_uint_eq(report.following.result_count, 2);
  tfrt_async_value_release(answer);
  answer = ask_as(client, ask_result, 1);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_job_expect_error(tfrt_async_value_error(answer), TFRT_STATUS_CANCELLED, "administrator");
  tfrt_async_value_release(answer);
  answer = ask_as(client, ask_result, 2);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_async_value_release(answer);
}

// A client on host 2 that follows the job, which runs.
static tfrt_client_t* open_follower(void) {
  tfrt_client_t* follower = open_asker();
  tfrt_async_value_t* answer = ask_as(follower, ask_follow, 0);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_async_value_release(answer);
  return follower;
}

START_TEST(who_follows_a_job_learns_its_end_when_it_is_cancelled_twice) {
  begin(40);
  await_state("running");
  kill_client();
  tfrt_client_t* follower = open_follower();
  cancel();
  while (!is_listed("kept")) ck_assert(is_listed("detached"));
  cancel();
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, 0);
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  expect_told_of_cancel(follower);
  close_asker(follower);
  end(0);
}
END_TEST

START_TEST(who_follows_a_job_learns_its_end_when_that_is_kept_for_no_time) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_job_drop_client(&world);
  open_detached(1);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_client_job_id(world.client, id);
  start(40);
  await_state("running");
  kill_client();
  tfrt_client_t* follower = open_follower();
  cancel();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).kept_jobs, 0);
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  expect_told_of_cancel(follower);
  // A client that asks for a job that is not there goes on to follow this one.
  char followed[TFRT_CLIENT_JOB_ID_SIZE];
  memcpy(followed, id, sizeof(followed));
  id[0] = id[0] == '0' ? '1' : '0';
  tfrt_async_value_t* answer = ask_as(follower, ask_follow, 0);
  ck_assert(tfrt_async_value_is_error(answer));
  tfrt_async_value_release(answer);
  memcpy(id, followed, sizeof(id));
  expect_told_of_cancel(follower);
  close_asker(follower);
  end(0);
}
END_TEST

START_TEST(a_job_is_listed_as_detached_until_it_is_kept_and_may_be_forgotten_at_once) {
  begin(40);
  await_state("running");
  kill_client();
  cancel();
  while (!is_listed("kept")) ck_assert(is_listed("detached"));
  cancel();
  ck_assert(!is_listed("kept"));
  ck_assert(!is_listed("detached"));
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  end(0);
}
END_TEST

START_TEST(of_many_lines_the_last_are_kept_and_the_others_counted) {
  program = long_lines_program;
  begin(12);
  await_state("ended");
  // Ten of them fill what there is but for less than one; the last answer is of the end alone.
  uint64_t size = sizeof(tfrt_detached_line_t) + TEXT_SIZE + strlen("string = ");
  uint64_t first = 12 - TFRT_DETACHED_JOB_MAX_LINE_BYTES / size;
  uint64_t next = 0;
  for (int more = 1; more;) {
    report_t report = follow_with(next, count_line);
    ck_assert_uint_lt(report.line_bytes, TFRT_FOLLOWING_MAX_ANSWER + size);
    ck_assert_uint_eq(report.line_bytes % report.line_count, 0);
    ck_assert_uint_eq(report.following.from, next == 0 ? first : next);
    ck_assert_uint_gt(report.following.next, report.following.from);
    next = report.following.next;
    more = report.following.has_more;
  }
  ck_assert_uint_eq(next, 12);
  leave();
  program = counting_program;
  end(1);
}
END_TEST

START_TEST(it_has_one_start) {
  begin(3);
  release_results();
  tfrt_job_start(&world, tfrt_job_simple_program, 1);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_FAILED_PRECONDITION,
                        "a detached job has one start");
  release_results();
  tfrt_job_drop_client(&world);
  await_state("ended");
  end(1);
}
END_TEST

START_TEST(a_job_that_was_never_started_leaves_nothing) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_job_drop_client(&world);
  open_detached(0);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  leave();
  end(0);
}
END_TEST

START_TEST(a_job_that_is_not_detached_cant_be_followed) {
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_client_job_id(world.client, id);
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  snprintf(id, sizeof(id), "what is that");
  expect_refusal(ask_follow, 0, TFRT_STATUS_INVALID_ARGUMENT);
  // A job that can't be left is closed.
  leave();
  end(0);
}
END_TEST

START_TEST(the_oldest_results_go_when_there_are_too_many) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_job_drop_client(&world);
  char first[TFRT_CLIENT_JOB_ID_SIZE];
  for (uint32_t i = 0; i <= TFRT_DETACHED_JOB_MAX_KEPT; ++i) {
    open_detached(0);
    ck_assert_ptr_null(tfrt_job_await_open(&world));
    tfrt_client_job_id(world.client, id);
    if (i == 0) memcpy(first, id, sizeof(first));
    tfrt_job_start(&world, tfrt_job_simple_program, 1);
    tfrt_node_world_await(&world);
    tfrt_job_drop_client(&world);
    tfrt_job_await_count(&world, 0);
  }
  ck_assert_str_eq(follow(0).state, "ended");
  memcpy(id, first, sizeof(id));
  expect_refusal(ask_follow, 0, TFRT_STATUS_NOT_FOUND);
  end(TFRT_DETACHED_JOB_MAX_KEPT);
}
END_TEST

static void use_old_followers(void) { followers_are_old = true; }

Suite* tfrt_test_suite(void) {
  TCase* jobs = tcase_create("detached jobs");
  tcase_set_timeout(jobs, 120);
  tcase_add_test(jobs, a_job_goes_on_when_its_client_is_killed);
  tcase_add_test(jobs, a_client_may_leave_when_the_job_runs);
  tcase_add_test(jobs, a_client_that_stays_gets_its_results_and_closes_the_job);
  tcase_add_test(jobs, who_follows_a_job_counts_as_one_and_who_asks_for_more_does_not);
  tcase_add_test(jobs, a_client_that_is_killed_at_any_moment_leaves_no_job_that_never_ends);
  tcase_add_test(jobs, without_an_upload_the_job_ends_with_the_loss_of_its_client);
  tcase_add_test(jobs, without_all_arguments_the_function_is_not_called);
  tcase_add_test(jobs, a_host_that_is_lost_is_what_the_job_ends_with);
  tcase_add_test(jobs, a_list_is_kept_with_what_its_elements_are);
  tcase_add_test(jobs, results_of_other_hosts_are_good_when_those_are_gone);
  tcase_add_test(jobs, with_its_root_a_job_is_gone);
  tcase_add_test(jobs, a_cancelled_job_says_so_until_it_is_cancelled_again);
  tcase_add_test(jobs, who_follows_a_job_learns_its_end_when_it_is_cancelled_twice);
  tcase_add_test(jobs, who_follows_a_job_learns_its_end_when_that_is_kept_for_no_time);
  tcase_add_test(jobs, a_job_is_listed_as_detached_until_it_is_kept_and_may_be_forgotten_at_once);
  tcase_add_test(jobs, of_many_lines_the_last_are_kept_and_the_others_counted);
  tcase_add_test(jobs, it_has_one_start);
  tcase_add_test(jobs, a_job_that_was_never_started_leaves_nothing);
  tcase_add_test(jobs, a_job_that_is_not_detached_cant_be_followed);
  tcase_add_test(jobs, the_oldest_results_go_when_there_are_too_many);
  Suite* suite = suite_create("detached_job");
  suite_add_tcase(suite, jobs);
  TCase* texts = tcase_create("in text");
  tcase_set_timeout(texts, 120);
  tcase_add_checked_fixture(texts, use_old_followers, NULL);
  tcase_add_test(texts, a_job_goes_on_when_its_client_is_killed);
  tcase_add_test(texts, a_host_that_is_lost_is_what_the_job_ends_with);
  tcase_add_test(texts, a_list_is_kept_with_what_its_elements_are);
  tcase_add_test(texts, who_follows_a_job_learns_its_end_when_it_is_cancelled_twice);
  tcase_add_test(texts, of_many_lines_the_last_are_kept_and_the_others_counted);
  tcase_add_test(texts, a_job_that_is_not_detached_cant_be_followed);
  suite_add_tcase(suite, texts);
  return suite;
}
