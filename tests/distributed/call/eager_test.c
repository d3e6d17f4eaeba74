// SPDX-License-Identifier: Apache-2.0
//
// Single ops that a kernel runs on other hosts: host_runtime/eager/eager_op.h between hosts.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static void run(const char* text, int32_t x, uint32_t result_count) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_node_world_start_i32(&world, text, x, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static void expect_error(uint32_t index, tfrt_status_code_t code, const char* part) {
  tfrt_status_t status = tfrt_node_world_error(&world, index);
  char text[1024];
  tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(tfrt_status_code(status) == code, "%s", text);
  ck_assert_msg(strstr(text, part), "%s", text);
}

// The place of the test kernel, which is C.
static void expect_place(uint32_t index, const char* kernel, uint32_t rank) {
  const tfrt_status_fields_t* error = tfrt_status_fields(tfrt_node_world_error(&world, index));
  ck_assert_ptr_nonnull(strstr(error->origin.file, "kernels/test/eager_kernels.c"));
  ck_assert_uint_gt(error->origin.line, 0);
  ck_assert_str_eq(error->origin.kernel, kernel);
  ck_assert_uint_eq(error->origin.rank, rank);
}

static const char rank_program[] =
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %me = \"tfrt_test.run_op_on\"(%x) {op = \"tfrt_dist.rank\"} : (i32) -> (i32)\n"
    "  %sum = \"tfrt_test.run_op_on\"(%two, %me, %x) {op = \"tfrt.add.i32\"} : "
    "(i32, i32, i32) -> (i32)\n"
    "  tfrt.return %me, %sum : i32, i32\n"
    "}\n";

START_TEST(an_op_runs_on_the_host_that_is_asked) {
  for (int32_t rank = 0; rank < 3; ++rank) {
    run(rank_program, rank, 2);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), rank);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 2 * rank);
    end();
  }
}
END_TEST

START_TEST(a_host_that_there_is_not_is_an_error_with_the_place) {
  run(rank_program, 3, 2);
  expect_error(0, TFRT_STATUS_INVALID_ARGUMENT, "the call asks for host 3, the job has 3 hosts");
  expect_place(0, "tfrt_dist.rank", 0);
  end();
}
END_TEST

START_TEST(any_number_of_different_ops_runs_in_one_job) {
  run("func.func @main(%x: i32) -> i32 {\n"
      "  %y = \"tfrt_test.sum_on\"(%x) {count = 300 : i32} : (i32) -> (i32)\n"
      "  tfrt.return %y : i32\n"
      "}\n",
      1, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 300 * 301 / 2);
  end();
}
END_TEST

START_TEST(what_fails_there_says_where_it_is_made) {
  run("func.func @main(%x: i32) -> i32 {\n"
      "  %y = \"tfrt_test.run_op_on\"(%x) {op = \"tfrt_test.fail\"} : (i32) -> (i32)\n"
      "  tfrt.return %y : i32\n"
      "}\n",
      2, 1);
  expect_error(0, TFRT_STATUS_INTERNAL, "something bad happened");
  expect_place(0, "tfrt_test.fail", 2);
  end();
}
END_TEST

START_TEST(a_call_that_can_not_be_carried_is_an_error) {
  run("func.func @main(%x: i32) -> i32 {\n"
      "  %y = \"tfrt_test.run_op_on\"(%x) {op = \"tfrt_dist.rank\", retries = 1 : i32} : "
      "(i32) -> (i32)\n"
      "  tfrt.return %y : i32\n"
      "}\n",
      2, 1);
  expect_error(0, TFRT_STATUS_INVALID_ARGUMENT, "is not tried again, so leave retries out");
  expect_place(0, "tfrt_dist.rank", 0);
  end();
}
END_TEST

// The op waits for a message that nobody sends.
START_TEST(a_deadline_ends_an_op) {
  run("func.func @main(%x: i32) -> i32 {\n"
      "  %c = tfrt.new.chain\n"
      "  %h = tfrt_dist.host %x\n"
      "  %k = tfrt_dist.key \"never\"\n"
      "  %v, %c1 = \"tfrt_test.run_op_on\"(%x, %h, %k, %c) "
      "{deadline_ms = 20 : i32, op = \"tfrt_dist.recv\"} : "
      "(i32, !tfrt_dist.host, !tfrt.string, !tfrt.chain) -> (i32, !tfrt.chain)\n"
      "  tfrt.return %v : i32\n"
      "}\n",
      1, 1);
  expect_error(0, TFRT_STATUS_DEADLINE_EXCEEDED, "took too long");
  expect_place(0, "tfrt_dist.recv", 0);
  end();
}
END_TEST

static const char dying_program[] =
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = \"tfrt_test.sum_on\"(%x) {count = 20 : i32} : (i32) -> (i32)\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(the_loss_of_the_host_names_the_op_and_its_place) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_start_i32(&world, dying_program, 1, 1);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  expect_error(0, TFRT_STATUS_UNAVAILABLE, "host 1");
  expect_place(0, "tfrt.add.i32", 0);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* ops = tcase_create("ops");
  tcase_set_timeout(ops, 60);
  tcase_add_test(ops, an_op_runs_on_the_host_that_is_asked);
  tcase_add_test(ops, a_host_that_there_is_not_is_an_error_with_the_place);
  tcase_add_test(ops, any_number_of_different_ops_runs_in_one_job);
  tcase_add_test(ops, what_fails_there_says_where_it_is_made);
  tcase_add_test(ops, a_call_that_can_not_be_carried_is_an_error);
  tcase_add_test(ops, a_deadline_ends_an_op);
  tcase_add_test(ops, the_loss_of_the_host_names_the_op_and_its_place);
  Suite* suite = suite_create("eager");
  suite_add_tcase(suite, ops);
  return suite;
}
