// SPDX-License-Identifier: Apache-2.0
//
// More results and arguments than fit into one message: all of them come.
#include <stdio.h>
#include <string.h>

#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define STRING "!tfrt.string"
#define MAX_COUNT TFRT_WIRE_MAX_RESULTS

static tfrt_node_world_t world;
static tfrt_string_builder_t program;

// 4,000 bytes: little enough for a message, where it is alone.
static char long_text[4001];

static void begin(void) {
  memset(long_text, 'x', sizeof(long_text) - 1);
  tfrt_string_builder_initialize(&program, tfrt_allocator_system());
  tfrt_node_world_initialize(&world, 2, NULL);
}

// Checks that no session has ended, and ends the world.
static void end(void) {
  for (uint32_t i = 0; i <= world.host_count; ++i) {
    tfrt_session_counters_t counters;
    tfrt_node_session_counters(world.hosts[i].node, &counters);
    ck_assert_uint_eq(counters.deaths, 0);
  }
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_string_builder_deinitialize(&program);
}

static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

static void write(const char* text) { tfrt_string_builder_append_text(&program, text); }

// Writes |text| |times| times, with commas between, and a number behind each if |is_numbered|.
static void write_many(const char* text, uint32_t times, bool is_numbered) {
  for (uint32_t i = 0; i < times; ++i) {
    tfrt_string_builder_append_format(&program, "%s%s", i > 0 ? ", " : "", text);
    if (is_numbered) tfrt_string_builder_append_format(&program, "%u", i);
  }
}

// Writes the end of a function that returns |value|, numbered or not, of |type|, |times| times.
static void write_return(const char* value, bool is_numbered, const char* type, uint32_t times) {
  write("  tfrt.return ");
  write_many(value, times, is_numbered);
  write(" : ");
  write_many(type, times, false);
  write("\n}\n");
}

// Writes @name(%x: type), which returns %x |times| times.
static void write_same(const char* name, const char* type, uint32_t times) {
  tfrt_string_builder_append_format(&program, "func.func @%s(%%x: %s) -> (", name, type);
  write_many(type, times, false);
  write(") {\n");
  write_return("%x", false, type, times);
}

// Runs the program with |argument| (+1) until all its |times| results have come.
static void run(tfrt_async_value_t* argument, uint32_t times) {
  ck_assert_ptr_null(tfrt_string_builder_status(&program));
  tfrt_node_world_start(&world, program.data, &argument, 1, times);
  tfrt_async_value_release(argument);
  tfrt_node_world_await(&world);
}

static tfrt_async_value_t* create_text(void) {
  return tfrt_async_value_create_string(tfrt_string_view_of(long_text));
}

// An error whose message is as long as it can be.
static tfrt_async_value_t* create_error(void) {
  return tfrt_async_value_create_error_take(
      tfrt_status_create(TFRT_STATUS_DATA_LOSS, "%.3000s", long_text));
}

static void expect_texts(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) {
    ck_assert_uint_eq(tfrt_node_world_text(&world, i).size, sizeof(long_text) - 1);
  }
}

// The whole text, as far as a message takes it, is there.
static void expect_error(uint32_t index) {
  const tfrt_status_fields_t* error = tfrt_status_fields(tfrt_node_world_error(&world, index));
  if (error->code == TFRT_STATUS_DATA_LOSS && strlen(error->message) >= 1000) return;
  ck_abort_msg("result %u is: %s", index, error->message);
}

static void expect_errors(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) expect_error(i);
}

// --- Of a start ----------------------------------------------------------------

static const uint32_t counts[] = {300, MAX_COUNT};

START_TEST(a_start_has_as_many_long_texts_as_it_has_results) {
  begin();
  write_same("main", STRING, counts[_i]);
  run(create_text(), counts[_i]);
  expect_texts(counts[_i]);
  ck_assert_uint_eq(count(0, 2, TFRT_WIRE_FRAME_JOB_END), 1);
  end();
}
END_TEST

START_TEST(texts_that_differ_come_in_their_order) {
  begin();
  const uint32_t times = 300;
  write("func.func @main(%x: " STRING ") -> (");
  write_many(STRING, times, false);
  write(") {\n");
  for (uint32_t i = 0; i < times; ++i) {
    tfrt_string_builder_append_format(
        &program,
        "  %%k%u = \"tfrt_test.get_string\"() {value = \"%u\"} : () -> " STRING
        "\n"
        "  %%y%u = \"tfrt_test.append_string\"(%%x, %%k%u) : (" STRING ", " STRING ") -> " STRING
        "\n",
        i, i, i, i);
  }
  write_return("%y", true, STRING, times);
  run(create_text(), times);
  for (uint32_t i = 0; i < times; ++i) {
    char number[16];
    snprintf(number, sizeof(number), "%u", i);
    ck_assert_str_eq(tfrt_node_world_text(&world, i).data + sizeof(long_text) - 1, number);
  }
  end();
}
END_TEST

START_TEST(a_start_has_as_many_errors_as_it_has_results) {
  begin();
  write_same("main", "i32", counts[_i]);
  run(create_error(), counts[_i]);
  expect_errors(counts[_i]);
  end();
}
END_TEST

START_TEST(numbers_need_no_second_message) {
  begin();
  write_same("main", "i32", MAX_COUNT);
  run(tfrt_async_value_create_i32(7), MAX_COUNT);
  for (uint32_t i = 0; i < MAX_COUNT; ++i) ck_assert_int_eq(tfrt_node_world_i32(&world, i), 7);
  ck_assert_uint_eq(count(2, 0, TFRT_WIRE_FRAME_WANT), 0);
  end();
}
END_TEST

START_TEST(one_result_too_many_is_said_before_anything_runs) {
  begin();
  write_same("main", "i32", MAX_COUNT + 1);
  run(tfrt_async_value_create_i32(7), MAX_COUNT + 1);
  for (uint32_t i = 0; i <= MAX_COUNT; ++i) {
    const char* message = tfrt_status_message(tfrt_node_world_error(&world, i));
    ck_assert_ptr_nonnull(strstr(message, "gives 4097 results"));
  }
  end();
}
END_TEST

// Behind a JobClose nothing can be asked for, so the errors come with the end, shortened.
START_TEST(a_start_that_ends_with_its_job_fits_into_a_message) {
  begin();
  write("func.func @main(%x: i32) -> (");
  write_many("i32", MAX_COUNT, false);
  write(") {\n  %y = tfrt.add.i32 %x, %x\n");
  write_return("%y", false, "i32", MAX_COUNT);
  tfrt_indirect_value_t* never = tfrt_indirect_value_create();
  ck_assert_ptr_null(tfrt_string_builder_status(&program));
  tfrt_node_world_start(&world, program.data, &(tfrt_async_value_t*){&never->base}, 1, MAX_COUNT);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert_uint_eq(count(2, 0, TFRT_WIRE_FRAME_JOB_START), 1);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_DATA_LOSS, "%.3000s", long_text);
  tfrt_client_close(world.client, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  expect_errors(MAX_COUNT);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert_uint_eq(count(0, 2, TFRT_WIRE_FRAME_JOB_END), 1);
  tfrt_async_value_t* error = create_error();
  tfrt_indirect_value_forward_take(never, error);
  tfrt_async_value_release(&never->base);
  end();
}
END_TEST

static bool has_last_result(void* argument) {
  (void)argument;
  return tfrt_async_value_is_available(world.results[world.result_count - 1]);
}

// Texts, long ones and then short ones, take all the room; the message still contains the error.
START_TEST(the_first_error_of_a_start_comes_with_its_end) {
  begin();
  const uint32_t times = 300;
  write("func.func @main(%x: " STRING ", %s: " STRING ", %e: i32) -> (");
  write_many(STRING, 2 * times, false);
  write(", i32) {\n  tfrt.return ");
  write_many("%x", times, false);
  write(", ");
  write_many("%s", times, false);
  write(", %e : ");
  write_many(STRING, 2 * times, false);
  write(", i32\n}\n");
  ck_assert_ptr_null(tfrt_string_builder_status(&program));
  tfrt_async_value_t* arguments[] = {
      create_text(), tfrt_async_value_create_string(tfrt_string_view_make(long_text, 100)),
      create_error()};
  tfrt_node_world_start(&world, program.data, arguments, 3, 2 * times + 1);
  for (size_t i = 0; i < 3; ++i) tfrt_async_value_release(arguments[i]);
  ck_assert(tfrt_simulated_network_run_until(world.network, has_last_result, NULL,
                                             TFRT_NODE_WORLD_SECOND));
  ck_assert_uint_eq(count(0, 2, TFRT_WIRE_FRAME_RESOLVE), 0);
  expect_error(2 * times);
  tfrt_node_world_await(&world);
  expect_texts(times);
  ck_assert_uint_gt(count(0, 2, TFRT_WIRE_FRAME_RESOLVE), times);
  end();
}
END_TEST

// --- Of a call -----------------------------------------------------------------

// Writes @main, which calls @many on host 1 and returns all that it has.
static void write_call(const char* type, uint32_t times) {
  write_same("many", type, times);
  tfrt_string_builder_append_format(&program, "func.func @main(%%x: %s) -> (", type);
  write_many(type, times, false);
  tfrt_string_builder_append_format(
      &program, ") {\n  %%y:%u = tfrt.call @many(%%x) {host = 1 : i32} : (%s) -> (", times, type);
  write_many(type, times, false);
  write(")\n");
  write_return("%y#", true, type, times);
}

START_TEST(a_call_has_as_many_errors_as_it_has_results) {
  begin();
  write_call("i32", 1000);
  run(create_error(), 1000);
  expect_errors(1000);
  ck_assert_uint_gt(count(1, 0, TFRT_WIRE_FRAME_RESULT), 1);
  end();
}
END_TEST

START_TEST(a_call_has_as_many_long_texts_as_it_has_results) {
  begin();
  write_call(STRING, 1000);
  run(create_text(), 1000);
  expect_texts(1000);
  end();
}
END_TEST

// --- Arguments -----------------------------------------------------------------

#define ARGUMENT_COUNT 1100

// Writes @name, which has many arguments and returns the last one.
static void write_last(const char* name) {
  tfrt_string_builder_append_format(&program, "func.func @%s(", name);
  for (uint32_t i = 0; i < ARGUMENT_COUNT; ++i) {
    tfrt_string_builder_append_format(&program, "%s%%x%u: i32", i > 0 ? ", " : "", i);
  }
  tfrt_string_builder_append_format(&program, ") -> i32 {\n  tfrt.return %%x%u : i32\n}\n",
                                    ARGUMENT_COUNT - 1);
}

START_TEST(a_start_takes_as_many_errors_as_arguments) {
  begin();
  write_last("main");
  ck_assert_ptr_null(tfrt_string_builder_status(&program));
  tfrt_async_value_t* arguments[ARGUMENT_COUNT];
  for (uint32_t i = 0; i < ARGUMENT_COUNT; ++i) arguments[i] = create_error();
  tfrt_node_world_start(&world, program.data, arguments, ARGUMENT_COUNT, 1);
  for (uint32_t i = 0; i < ARGUMENT_COUNT; ++i) tfrt_async_value_release(arguments[i]);
  tfrt_node_world_await(&world);
  expect_errors(1);
  ck_assert_uint_eq(count(2, 0, TFRT_WIRE_FRAME_JOB_START), 1);
  end();
}
END_TEST

START_TEST(a_call_takes_as_many_errors_as_arguments) {
  begin();
  write_last("last");
  write("func.func @main(%x: i32) -> i32 {\n  %y = tfrt.call @last(");
  write_many("%x", ARGUMENT_COUNT, false);
  write(") {host = 1 : i32} : (");
  write_many("i32", ARGUMENT_COUNT, false);
  write(") -> i32\n  tfrt.return %y : i32\n}\n");
  run(create_error(), 1);
  expect_errors(1);
  ck_assert_uint_eq(count(0, 1, TFRT_WIRE_FRAME_INVOKE), 1);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* many = tcase_create("many");
  tcase_set_timeout(many, 60);
  tcase_add_loop_test(many, a_start_has_as_many_long_texts_as_it_has_results, 0, 2);
  tcase_add_test(many, texts_that_differ_come_in_their_order);
  tcase_add_loop_test(many, a_start_has_as_many_errors_as_it_has_results, 0, 2);
  tcase_add_test(many, numbers_need_no_second_message);
  tcase_add_test(many, one_result_too_many_is_said_before_anything_runs);
  tcase_add_test(many, a_call_has_as_many_errors_as_it_has_results);
  tcase_add_test(many, a_call_has_as_many_long_texts_as_it_has_results);
  tcase_add_test(many, the_first_error_of_a_start_comes_with_its_end);
  tcase_add_test(many, a_start_that_ends_with_its_job_fits_into_a_message);
  tcase_add_test(many, a_start_takes_as_many_errors_as_arguments);
  tcase_add_test(many, a_call_takes_as_many_errors_as_arguments);
  Suite* suite = suite_create("many results");
  suite_add_tcase(suite, many);
  return suite;
}
