// SPDX-License-Identifier: Apache-2.0
//
// Calls of one client whose values wait for each other in a circle, which no right program makes.
// They wait until something ends them: a cancel, a deadline, the close of the job, the death of the
// client. Then nothing of them is left (tfrt_raw_client_end()).
#include <string.h>

#include "distributed/host/node.h"
#include "tests/distributed/job/raw_client.h"
#include "tests/distributed/program/program.h"
#include "tests/support/test_main.h"

#define OWN TFRT_RAW_CLIENT_INCARNATION
#define HOST TFRT_RAW_CLIENT_HOST

static tfrt_node_world_t world;

static tfrt_raw_client_t raw;

static void begin(void) {
  const uint64_t host = HOST;
  tfrt_raw_client_begin(&raw, &world);
  tfrt_raw_client_open(&raw, 1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
}

static void close_job(void) {
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  tfrt_raw_client_send(&raw, &close, 1, TFRT_TIME_INFINITE);
}

// The job is over within a second, and its session goes on. Nothing is left.
static void expect_end(void) {
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 0);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  tfrt_raw_client_end(&raw);
}

// Result 0 of the client's call |number|, which the host makes.
static tfrt_wire_item_t result_of(uint64_t number) {
  return (tfrt_wire_item_t){
      .kind = TFRT_WIRE_ITEM_REFERENCE,
      .reference = {
          .id = {.namer = OWN, .number = number}, .owner = HOST, .namer_rank = TFRT_WIRE_NO_RANK}};
}

// A value that the client owns, and never gives.
static tfrt_wire_item_t value_of_client(bool is_chain, bool is_mutable) {
  return (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                            .reference = {.id = {.namer = OWN, .number = 700},
                                          .owner = OWN,
                                          .owner_rank = TFRT_WIRE_NO_RANK,
                                          .namer_rank = TFRT_WIRE_NO_RANK,
                                          .is_chain = is_chain,
                                          .is_mutable = is_mutable}};
}

// Sends the call |number| of |function| with one argument, |item|. Its program goes with a call of
// BUILTIN_RUN.
static void call(uint64_t number, uint32_t function, const tfrt_test_program_t* program,
                 const tfrt_wire_item_t* item, int64_t deadline_ns) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_INVOKE,
                           .invoke = {.call = number,
                                      .function = function,
                                      .arguments = item,
                                      .argument_count = 1,
                                      .result_count = 1,
                                      .results_wanted = 1}};
  if (program) body.invoke.image = tfrt_string_view_make(program->bytes, program->size);
  tfrt_raw_client_post(&raw, &body, 1, deadline_ns);
}

// Copies, the calls 1 to |count|, each of the result of the next, and the last of that of the
// first.
static void call_circle(uint64_t count, int64_t deadline_ns) {
  for (uint64_t n = 1; n <= count; ++n) {
    const tfrt_wire_item_t item = result_of(n % count + 1);
    call(n, TFRT_WIRE_BUILTIN_COPY, NULL, &item, deadline_ns);
  }
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  ck_assert_str_eq(raw.said, "");
}

static const uint64_t circle_sizes[] = {2, 3, 50};

START_TEST(a_closed_job_leaves_nothing_of_calls_in_a_circle) {
  begin();
  call_circle(circle_sizes[_i], TFRT_TIME_INFINITE);
  close_job();
  expect_end();
}
END_TEST

START_TEST(a_client_that_dies_leaves_nothing_of_calls_in_a_circle) {
  begin();
  call_circle(circle_sizes[_i], TFRT_TIME_INFINITE);
  tfrt_raw_client_end(&raw);
}
END_TEST

// The deadline, or the cancel, of one call ends those that wait for it; the next job has room.
START_TEST(the_deadline_of_a_circle_ends_it) {
  begin();
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_simulated_network_clock(world.network));
  call_circle(circle_sizes[_i], now_ns + 100 * TFRT_NANOSECONDS_PER_MILLISECOND);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_str_ne(raw.said, "");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).incoming_calls, 0);
  close_job();
  expect_end();
}
END_TEST

START_TEST(the_cancel_of_one_call_ends_its_circle) {
  begin();
  call_circle(circle_sizes[_i], TFRT_TIME_INFINITE);
  const tfrt_wire_body_t cancel = {.kind = TFRT_WIRE_FRAME_CANCEL, .cancel = {.call = 1}};
  tfrt_raw_client_send(&raw, &cancel, 1, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_CANCELLED);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).incoming_calls, 0);
  close_job();
  expect_end();
}
END_TEST

static const char* const functions[] = {
    "func.func @main(%x: i32) -> i32 { tfrt.return %x : i32 }",
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n",
};

// The same with functions of a program: one that gives its argument, and one that needs it.
START_TEST(a_closed_job_leaves_nothing_of_functions_in_a_circle) {
  tfrt_test_program_t program;
  tfrt_test_program_initialize(&program, functions[_i]);
  begin();
  const tfrt_wire_item_t first = result_of(1);
  const tfrt_wire_item_t second = result_of(2);
  call(1, TFRT_WIRE_BUILTIN_RUN, &program, &second, TFRT_TIME_INFINITE);
  call(2, TFRT_WIRE_BUILTIN_RUN, &program, &first, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  close_job();
  expect_end();
  tfrt_test_program_deinitialize(&program);
}
END_TEST

START_TEST(a_call_of_its_own_result_is_an_error_at_once) {
  begin();
  const tfrt_wire_item_t item = result_of(1);
  call(1, TFRT_WIRE_BUILTIN_COPY, NULL, &item, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  ck_assert_str_eq(raw.said, "Result");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_NOT_FOUND);
  close_job();
  expect_end();
}
END_TEST

START_TEST(a_closed_job_leaves_nothing_of_a_call_of_a_result_that_is_never_made) {
  begin();
  const tfrt_wire_item_t item = result_of(99);
  call(1, TFRT_WIRE_BUILTIN_COPY, NULL, &item, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  close_job();
  expect_end();
}
END_TEST

// A value that is asked for behind the chains of its call would wait for itself.
START_TEST(a_closed_job_leaves_nothing_of_a_chain_that_may_be_written) {
  begin();
  const tfrt_wire_item_t item = value_of_client(true, true);
  for (uint64_t n = 1; n <= 50; ++n) {
    call(n, TFRT_WIRE_BUILTIN_COPY, NULL, &item, TFRT_TIME_INFINITE);
  }
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  close_job();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).remote_values, 0);
  expect_end();
}
END_TEST

// The host prints, and the client answers that the chain of that is a result of its own call: the
// one that |functions_of_prints| makes of it, so that each waits for the other.
static const char* const functions_of_prints[] = {
    "func.func @main(%x: i32) -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  tfrt.return %d : !tfrt.chain\n"
    "}\n",
    "func.func @main(%x: i32) -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  %e = tfrt.print.i32 %x, %d\n"
    "  tfrt.return %e : !tfrt.chain\n"
    "}\n",
    "func.func @main(%x: i32) -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  %e = tfrt.merge.chains %d, %c : !tfrt.chain, !tfrt.chain\n"
    "  tfrt.return %e : !tfrt.chain\n"
    "}\n",
};

// Makes |program| the one of |text|, and calls it with 7.
static void call_with_seven(tfrt_test_program_t* program, const char* text) {
  static const char bytes[4] = {7};
  const tfrt_wire_item_t seven = {
      .kind = TFRT_WIRE_ITEM_INLINE,
      .value = {.type = tfrt_string_view_of("i32"), .body = tfrt_string_view_make(bytes, 4)}};
  tfrt_test_program_initialize(program, text);
  call(1, TFRT_WIRE_BUILTIN_RUN, program, &seven, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
}

START_TEST(a_closed_job_leaves_nothing_of_a_message_that_waits_for_itself) {
  tfrt_test_program_t program;
  begin();
  call_with_seven(&program,
                  "func.func @main(%x: i32) -> i32 {\n"
                  "  %c = tfrt.new.chain\n"
                  "  %rank = tfrt_dist.rank\n"
                  "  %me = tfrt_dist.host %rank\n"
                  "  %key = tfrt_dist.key \"k\"\n"
                  "  %m, %c1 = tfrt_dist.recv %me, %key, %c : i32\n"
                  "  %s = tfrt.add.i32 %m, %x\n"
                  "  %c2 = tfrt_dist.send %me, %key, %s, %c\n"
                  "  tfrt.return %m : i32\n"
                  "}\n");
  ck_assert_str_eq(raw.said, "");
  close_job();
  expect_end();
  tfrt_test_program_deinitialize(&program);
}
END_TEST

START_TEST(a_closed_job_leaves_nothing_of_a_print_that_waits_for_itself) {
  tfrt_test_program_t program;
  begin();
  call_with_seven(&program, functions_of_prints[_i]);
  ck_assert_ptr_nonnull(strstr(raw.said, "Invoke"));
  const tfrt_wire_result_item_t answer = {.item = result_of(1)};
  const tfrt_wire_body_t result = {
      .kind = TFRT_WIRE_FRAME_RESULT,
      .result = {.call = 1, .results = &answer, .result_count = 1, .done = true}};
  tfrt_raw_client_send(&raw, &result, raw.host_handle, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  close_job();
  expect_end();
  tfrt_test_program_deinitialize(&program);
}
END_TEST

Suite* tfrt_test_suite(void) {
  const int count = sizeof(circle_sizes) / sizeof(circle_sizes[0]);
  TCase* circle = tcase_create("circle");
  tcase_add_loop_test(circle, a_closed_job_leaves_nothing_of_calls_in_a_circle, 0, count);
  tcase_add_loop_test(circle, a_client_that_dies_leaves_nothing_of_calls_in_a_circle, 0, count);
  tcase_add_loop_test(circle, the_deadline_of_a_circle_ends_it, 0, count);
  tcase_add_loop_test(circle, the_cancel_of_one_call_ends_its_circle, 0, count);
  tcase_add_loop_test(circle, a_closed_job_leaves_nothing_of_functions_in_a_circle, 0, 2);
  tcase_add_test(circle, a_call_of_its_own_result_is_an_error_at_once);
  tcase_add_test(circle, a_closed_job_leaves_nothing_of_a_call_of_a_result_that_is_never_made);
  tcase_add_test(circle, a_closed_job_leaves_nothing_of_a_chain_that_may_be_written);
  tcase_add_test(circle, a_closed_job_leaves_nothing_of_a_message_that_waits_for_itself);
  tcase_add_loop_test(circle, a_closed_job_leaves_nothing_of_a_print_that_waits_for_itself, 0, 3);
  Suite* suite = suite_create("circle");
  suite_add_tcase(suite, circle);
  return suite;
}
