// SPDX-License-Identifier: Apache-2.0
//
// The memory that one job may use on a host: distributed/value/job_budget.h.
#include <stdio.h>
#include <string.h>

#include "distributed/call/outgoing_call.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/executor/request/request_context.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

// Waits for a message that never comes.
#define WAIT                                      \
  "func.func @wait(%x: i32) -> i32 {\n"           \
  "  %c = tfrt.new.chain\n"                       \
  "  %zero = tfrt.constant.i32 0\n"               \
  "  %h = tfrt_dist.host %zero\n"                 \
  "  %k = tfrt_dist.key \"never\"\n"              \
  "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n" \
  "  tfrt.return %v : i32\n"                      \
  "}\n"

// @main(x) calls @wait and @f on host 1, the first with a deadline.
static const char calling_program[] = WAIT
    "func.func @f(%x: i32) -> i32 {\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %v = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 50 : i32} : (i32) -> i32\n"
    "  %y = tfrt.call @f(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %v, %y : i32, i32\n"
    "}\n";

// @main(a, b) gives each text to host 1, which returns it twice over.
static const char fetching_program[] =
    "func.func @take(%a: !tfrt.string) -> (i32, !tfrt.string) {\n"
    "  %c = tfrt.new.chain\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %b = \"tfrt_test.append_string\"(%a, %a) : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %one, %b : i32, !tfrt.string\n"
    "}\n"
    "func.func @main(%a: !tfrt.string, %b: !tfrt.string) -> (!tfrt.string, !tfrt.string) {\n"
    "  %n, %x = tfrt.call @take(%a) {host = 1 : i32} : (!tfrt.string) -> (i32, !tfrt.string)\n"
    "  %m, %y = tfrt.call @take(%b) {host = 1 : i32} : (!tfrt.string) -> (i32, !tfrt.string)\n"
    "  tfrt.return %x, %y : !tfrt.string, !tfrt.string\n"
    "}\n";

static tfrt_node_world_t world;
static tfrt_job_limits_t limits;  // of host |limited|
static uint32_t limited;

static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (index == limited) options->job_limits = limits;
}

static void begin(uint32_t host, tfrt_job_limits_t of_host) {
  limited = host;
  limits = of_host;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, 2, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
}

static void end(void) {
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}

static void release_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

static void run_calls(void) {
  tfrt_node_world_start_i32(&world, calling_program, 7, 2);
  tfrt_node_world_await(&world);
}

START_TEST(a_call_too_many_is_refused_and_the_next_is_not) {
  begin(1, (tfrt_job_limits_t){.calls = 1});
  run_calls();
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_DEADLINE_EXCEEDED, "");
  tfrt_job_expect_error(tfrt_node_world_error(&world, 1), TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "the job would have more than 1 calls at once on host 1, which is what "
                        "that allows a job: start tfrt_worker there with a larger --job-calls");
  release_results();
  tfrt_job_expect(&world, tfrt_job_simple_program, 2, 4);
  end();
}
END_TEST

#define ENDLESS(attributes)                                   \
  "func.func @f(%n: i32) -> i32" attributes                   \
  " {\n"                                                      \
  "  %r = tfrt.call @f(%n) : (i32) -> i32\n"                  \
  "  %s = tfrt.add.i32 %r, %n\n"                              \
  "  tfrt.return %s : i32\n"                                  \
  "}\n"                                                       \
  "func.func @main(%n: i32) -> i32 {\n"                       \
  "  %r = tfrt.call @f(%n) {host = 1 : i32} : (i32) -> i32\n" \
  "  tfrt.return %r : i32\n"                                  \
  "}\n"

// @f calls itself on host 1, asynchronously and synchronously.
static const char* const endless_programs[] = {
    ENDLESS(""),
    ENDLESS(" attributes {tfrt.sync}"),
};

START_TEST(a_recursion_without_end_is_an_error_that_says_where_and_how_deep) {
  begin(1, (tfrt_job_limits_t){.calls = 5000});
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(endless_programs); ++i) {
    tfrt_node_world_start_i32(&world, endless_programs[i], 7, 1);
    tfrt_node_world_await(&world);
    tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_RESOURCE_EXHAUSTED,
                          "a call of @f on host 1 would be one of more than 5000 calls that are "
                          "open there at once, which is the limit of one request: does the "
                          "recursion end? tfrt_worker --job-calls raises the limit");
    release_results();
  }
  tfrt_job_expect(&world, tfrt_job_simple_program, 2, 4);
  end();
}
END_TEST

// Host 1, or each host, takes this few calls and wants at once of one host.
static uint64_t call_room = 1;
static bool is_everywhere;

static void configure_credit(uint32_t index, tfrt_node_options_t* options) {
  if (index != 1 && !is_everywhere) return;
  options->session.first_call_limit = call_room;
  options->session.first_want_limit = call_room;
}

// @main makes four calls of host 1, more than have room, and none ends in time.
static const char waiting_calls_program[] = WAIT
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %a = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %d = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32\n"
    "}\n";

// Host 2 wants three values of host 1, which aren't there in time.
static const char waiting_wants_program[] = WAIT
    "func.func @three(%x: i32) -> (i32, i32, i32) {\n"
    "  %a = tfrt.call @wait(%x) : (i32) -> i32\n"
    "  tfrt.return %a, %a, %a : i32, i32, i32\n"
    "}\n"
    "func.func @use(%a: i32, %b: i32, %c: i32) -> (i32, i32, i32) {\n"
    "  %x = tfrt.add.i32 %a, %a\n"
    "  %y = tfrt.add.i32 %b, %b\n"
    "  %z = tfrt.add.i32 %c, %c\n"
    "  tfrt.return %x, %y, %z : i32, i32, i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a:3 = tfrt.call @three(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> "
    "(i32, i32, i32)\n"
    "  %b:3 = tfrt.call @use(%a#0, %a#1, %a#2) {host = 2 : i32} : (i32, i32, i32) -> "
    "(i32, i32, i32)\n"
    "  tfrt.return %b#0, %b#1, %b#2 : i32, i32, i32\n"
    "}\n";

static void run_with_little_credit(const char* text, int32_t x, uint32_t count) {
  tfrt_node_world_set_configure(configure_credit);
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_node_world_start_i32(&world, text, x, count);
  tfrt_node_world_await(&world);
}

// Expects that the results |first| to |count| - 1 of @main have waited for their deadline.
static void expect_too_late(uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < count; ++i) {
    tfrt_status_t status = tfrt_node_world_error(&world, i);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_DEADLINE_EXCEEDED);
    ck_assert_str_eq(tfrt_status_fields(status)->origin.function, "main");
  }
}

START_TEST(calls_without_credit_wait_for_their_deadline) {
  run_with_little_credit(waiting_calls_program, 7, 4);
  expect_too_late(0, 4);
  end();
}
END_TEST

START_TEST(wants_without_credit_wait_for_their_deadline) {
  run_with_little_credit(waiting_wants_program, 7, 3);
  expect_too_late(0, 3);
  end();
}
END_TEST

// Each call makes two others, on the next host and on the one behind it.
static const char fibonacci_program[] =
    "func.func @fib(%n: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %small, %n : (i32) -> (i32) {\n"
    "    tfrt.return %n : i32\n"
    "  } else {\n"
    "    %m1 = tfrt.constant.i32 -1\n"
    "    %m2 = tfrt.constant.i32 -2\n"
    "    %o = tfrt.constant.i32 1\n"
    "    %t = tfrt.constant.i32 2\n"
    "    %me = tfrt_dist.rank\n"
    "    %k = tfrt_dist.num_hosts\n"
    "    %p = tfrt.add.i32 %me, %o\n"
    "    %q = tfrt.add.i32 %me, %t\n"
    "    %d0, %a = tfrt.div.i32 %p, %k\n"
    "    %d1, %b = tfrt.div.i32 %q, %k\n"
    "    %ha = tfrt_dist.host %a\n"
    "    %hb = tfrt_dist.host %b\n"
    "    %n1 = tfrt.add.i32 %n, %m1\n"
    "    %n2 = tfrt.add.i32 %n, %m2\n"
    "    %f1 = tfrt_dist.call %ha @fib(%n1) : (!tfrt_dist.host, i32) -> (i32)\n"
    "    %f2 = tfrt_dist.call %hb @fib(%n2) : (!tfrt_dist.host, i32) -> (i32)\n"
    "    %s = tfrt.add.i32 %f1, %f2\n"
    "    tfrt.return %s : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n"
    "func.func @main(%n: i32) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %h = tfrt_dist.host %zero\n"
    "  %r = tfrt_dist.call %h @fib(%n) : (!tfrt_dist.host, i32) -> (i32)\n"
    "  tfrt.return %r : i32\n"
    "}\n";

START_TEST(calls_that_wait_for_each_other_never_lack_credit) {
  is_everywhere = true;
  for (call_room = 1; call_room <= 4; ++call_room) {
    run_with_little_credit(fibonacci_program, 11, 1);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 89);
    end();
  }
  call_room = 1;
  is_everywhere = false;
}
END_TEST

// Waits for a message of host 0.
#define TAKE                                      \
  "func.func @take(%x: i32) -> i32 {\n"           \
  "  %c = tfrt.new.chain\n"                       \
  "  %zero = tfrt.constant.i32 0\n"               \
  "  %h = tfrt_dist.host %zero\n"                 \
  "  %k = tfrt_dist.key \"late\"\n"               \
  "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n" \
  "  tfrt.return %v : i32\n"                      \
  "}\n"

// @main makes more calls of host 1 than have room, and the first waits for a message of @main that
// comes behind the others.
static const char message_behind_calls_program[] = WAIT TAKE
    "func.func @begin() -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a = tfrt.call @take(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %d = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @begin() {host = 2 : i32} : () -> !tfrt.chain\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %h = tfrt_dist.host %one\n"
    "  %k = tfrt_dist.key \"late\"\n"
    "  %c1 = tfrt_dist.send %h, %k, %x, %c\n"
    "  tfrt.return %a, %b, %d : i32, i32, i32\n"
    "}\n";

START_TEST(a_message_passes_calls_that_wait_for_it) {
  run_with_little_credit(message_behind_calls_program, 7, 3);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 7);
  expect_too_late(1, 3);
  end();
}
END_TEST

// @main has host 1 wait for a message, and sends it.
static const char message_program[] = TAKE
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @take(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %c = tfrt.new.chain\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %h = tfrt_dist.host %one\n"
    "  %k = tfrt_dist.key \"late\"\n"
    "  %c1 = tfrt_dist.send %h, %k, %x, %c\n"
    "  tfrt.return %a : i32\n"
    "}\n";

// Has no block of |scarce_size| bytes for the one that comes behind |scarce_after| others.
static size_t scarce_size;
static uint32_t scarce_after;
static uint32_t scarce_count;

static void* allocate_scarce(void* self, size_t size, size_t alignment) {
  (void)self;
  if (size == scarce_size && scarce_count++ == scarce_after) return NULL;
  return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, alignment);
}

static void deallocate_scarce(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  tfrt_allocator_free_aligned(tfrt_allocator_system(), pointer, size, alignment);
}

static void configure_scarce(uint32_t index, tfrt_node_options_t* options) {
  static const tfrt_allocator_vtable_t vtable = {.allocate = allocate_scarce,
                                                 .deallocate = deallocate_scarce};
  if (index == 0) options->allocator = (tfrt_allocator_t){.vtable = &vtable};
}

// Host 0 has no block of |size| bytes for a message, the one behind |after| others: expects that
// host 0 reports this to host 1.
static void expect_unsent(size_t size, uint32_t after) {
  tfrt_node_world_set_configure(configure_scarce);
  tfrt_node_world_initialize(&world, 2, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  scarce_size = size;
  scarce_after = after;
  scarce_count = 0;
  tfrt_node_world_start_i32(&world, message_program, 7, 1);
  tfrt_node_world_await(&world);
  scarce_size = 0;
  tfrt_status_t error = tfrt_node_world_error(&world, 0);
  tfrt_job_expect_error(error, TFRT_STATUS_RESOURCE_EXHAUSTED, "memory is out");
  ck_assert_str_eq(tfrt_status_fields(error)->origin.function, "main");
  ck_assert_uint_eq(tfrt_status_fields(error)->origin.rank, 0);
  release_results();
  tfrt_job_expect(&world, tfrt_job_simple_program, 2, 4);
  end();
}

START_TEST(who_waits_for_a_message_that_its_host_has_no_memory_for_gets_that_error) {
  // The record of the call, behind that of @main's request if they are as large.
  size_t record = sizeof(tfrt_outgoing_call_t) + 2 * 2 * sizeof(void*) + sizeof(void*);
  expect_unsent(record, record == sizeof(tfrt_request_context_t) ? 1 : 0);
  // The placeholder for its result, behind that of @take's.
  expect_unsent(sizeof(tfrt_remote_value_t), 1);
}
END_TEST

// Host 1 has room for one of two calls of @main. The results of both are lent to host 2, which
// lends them to their namer, where the call is over when they are still asked for.
static const char loan_program[] = WAIT
    "func.func @peek(%a: i32, %b: i32) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %h = tfrt_dist.host %zero\n"
    "  %c = tfrt_dist.copy_to %h, %a : i32\n"
    "  %d = tfrt_dist.copy_to %h, %b : i32\n"
    "  tfrt.return %zero : i32\n"
    "}\n"
    "func.func @lend(%a: i32, %b: i32) -> i32 {\n"
    "  %c = tfrt.call @peek(%a, %b) {host = 0 : i32} : (i32, i32) -> i32\n"
    "  %d = tfrt.call @wait(%c) : (i32) -> i32\n"
    "  tfrt.return %d : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 15000 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @lend(%a, %b) {host = 2 : i32, deadline_ms = 15000 : i32} : (i32, i32) -> "
    "i32\n"
    "  tfrt.return %a, %b, %c : i32, i32, i32\n"
    "}\n";

START_TEST(what_had_no_credit_stays_lent_when_its_caller_gives_one_of_two_holds_back) {
  run_with_little_credit(loan_program, 7, 3);
  expect_too_late(0, 3);
  end();
}
END_TEST

#define PAIR(N)                                                \
  "    %a" N                                                   \
  " = tfrt.call @double(%v) {host = 1 : i32} : (i32) -> i32\n" \
  "    %b" N " = tfrt.call @double(%a" N ") {host = 2 : i32} : (i32) -> i32\n"

// Each round makes more calls of host 1 than that takes at once, and all rounds are begun together:
// calls of the next one wait, where they run, for those of the one before.
static const char rounds_program[] =
    "func.func @double(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%v: i32) -> i32 {\n"
    "  %rounds = tfrt.constant.i32 3\n"
    "  %r = tfrt.repeat.i32 %rounds, %v : i32 {\n" PAIR("0") PAIR("1") PAIR("2") PAIR("3") PAIR("4")
    "    %c1 = tfrt.add.i32 %b0, %b1\n"
    "    %c2 = tfrt.add.i32 %c1, %b2\n"
    "    %c3 = tfrt.add.i32 %c2, %b3\n"
    "    %c4 = tfrt.add.i32 %c3, %b4\n"
    "    tfrt.return %c4 : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n";

static void configure_few_calls(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.first_call_limit = 4;
}

// Nor may host 2 want more at once of host 1 than the calls of a round need.
static void configure_few_wants(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.first_want_limit = 8;
}

static void run_rounds(void (*configure_limits)(uint32_t index, tfrt_node_options_t* options)) {
  tfrt_node_world_set_configure(configure_limits);
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_node_world_start_i32(&world, rounds_program, 1, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 20 * 20 * 20);
  end();
}

START_TEST(calls_are_made_in_their_order_so_that_later_ones_do_not_take_their_room) {
  run_rounds(configure_few_calls);
}
END_TEST

START_TEST(calls_that_wait_for_their_program_start_in_their_order) {
  run_rounds(configure_few_wants);
}
END_TEST

START_TEST(as_many_calls_as_may_be_run) {
  begin(1, (tfrt_job_limits_t){.calls = 2});
  run_calls();
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
  end();
}
END_TEST

START_TEST(a_value_too_many_is_an_error_of_its_call) {
  begin(1, (tfrt_job_limits_t){.objects = 1});
  run_calls();
  // The first ones take the room: a result, and the program's placeholder or bytes.
  tfrt_status_t status = tfrt_node_world_error(&world, 1);
  tfrt_job_expect_error(status, TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "the job would have more than 1 values on host 1");
  tfrt_job_expect_error(status, TFRT_STATUS_RESOURCE_EXHAUSTED, "a larger --job-objects");
  end();
}
END_TEST

START_TEST(a_start_too_many_is_refused) {
  begin(0, (tfrt_job_limits_t){.requests = 1});
  tfrt_async_value_t* seven = tfrt_async_value_create_i32(7);
  tfrt_node_world_start(&world, calling_program, &seven, 1, 2);
  tfrt_async_value_t* first[2] = {world.results[0], world.results[1]};
  tfrt_node_world_start(&world, calling_program, &seven, 1, 2);
  tfrt_async_value_release(seven);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    tfrt_job_expect_error(tfrt_node_world_error(&world, i), TFRT_STATUS_RESOURCE_EXHAUSTED,
                          "the job would have more than 1 requests at once on host 0");
  }
  release_results();
  for (uint32_t i = 0; i < 2; ++i) world.results[i] = first[i];
  world.result_count = 2;
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
  end();
}
END_TEST

static void run_texts(size_t first, size_t second) {
  static char bytes[100000];
  memset(bytes, 'a', sizeof(bytes));
  tfrt_async_value_t* texts[2] = {
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, first)),
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, second))};
  tfrt_node_world_start(&world, fetching_program, texts, 2, 2);
  for (uint32_t i = 0; i < 2; ++i) tfrt_async_value_release(texts[i]);
  tfrt_node_world_await(&world);
}

START_TEST(a_payload_that_does_not_fit_is_an_error_of_its_value) {
  // Records of two calls, and values.
  begin(1, (tfrt_job_limits_t){.memory_bytes = 60000 + 2 * TFRT_JOB_BUDGET_CALL_BYTES});
  run_texts(100000, 50000);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "bytes of calls and of values of others on host 1");
  ck_assert_uint_eq(tfrt_node_world_text(&world, 1).size, 100000);
  release_results();
  // Values that were fetched before count no more.
  run_texts(6000, 50000);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 12000);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 1).size, 100000);
  end();
}
END_TEST

START_TEST(a_client_may_ask_for_less) {
  begin(1, (tfrt_job_limits_t){.calls = 5});
  tfrt_job_drop_client(&world);
  tfrt_string_view_t addresses[2] = {tfrt_string_view_of(world.hosts[0].address),
                                     tfrt_string_view_of(world.hosts[1].address)};
  tfrt_client_options_t options = {.addresses = addresses,
                                   .host_count = 2,
                                   .name = tfrt_string_view_of("modest"),
                                   .limits = {.calls = 1}};
  tfrt_status_t status = tfrt_client_create(world.hosts[2].node, &options, &world.client);
  ck_assert_ptr_null(status);
  run_calls();
  tfrt_job_expect_error(tfrt_node_world_error(&world, 1), TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "more than 1 calls at once on host 1, which is what its client allows it");
  end();
}
END_TEST

// The program number |number|: its @main(x) has host 1 add |number|. The text is valid until the
// next call.
static const char* numbered_program(int32_t number) {
  static char text[512];
  snprintf(text, sizeof(text),
           "func.func @add(%%x: i32) -> i32 {\n"
           "  %%n = tfrt.constant.i32 %d\n"
           "  %%y = tfrt.add.i32 %%x, %%n\n"
           "  tfrt.return %%y : i32\n"
           "}\n"
           "func.func @main(%%x: i32) -> i32 {\n"
           "  %%y = tfrt.call @add(%%x) {host = 1 : i32} : (i32) -> i32\n"
           "  tfrt.return %%y : i32\n"
           "}\n",
           number);
  return text;
}

START_TEST(a_program_too_many_is_refused_and_the_others_are_not) {
  begin(1, (tfrt_job_limits_t){0});
  for (int32_t i = 0; i < 64; ++i) tfrt_job_expect(&world, numbered_program(i), 1, i + 1);
  tfrt_node_world_start_i32(&world, numbered_program(64), 1, 1);
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "a host names at most 64 programs in a job: put their functions into one, "
                        "or open another job");
  release_results();
  for (int32_t i = 0; i < 64; ++i) tfrt_job_expect(&world, numbered_program(i), 2, i + 2);
  end();
}
END_TEST

// @main makes |n| calls of host 1, in turns that don't wait for each other.
static const char turns_program[] =
    "func.func @use(%a: i32) -> i32 {\n"
    "  tfrt.return %a : i32\n"
    "}\n"
    "func.func @main(%n: i32) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %r = tfrt.repeat.i32 %n, %zero : i32 {\n"
    "    %x = tfrt.call @use(%zero) {host = 1 : i32} : (i32) -> i32\n"
    "    tfrt.return %zero : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n";

// As many calls as may be made wait for a message that comes behind the loop.
static const char message_behind_loop_program[] = TAKE
    "func.func @main(%n: i32) -> (i32, i32) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %c = tfrt.new.chain\n"
    "  %a = tfrt.call @take(%n) {host = 1 : i32} : (i32) -> i32\n"
    "  %r:2 = tfrt.repeat.i32 %n, %one, %a : i32, i32 {\n"
    "    %x = tfrt.call @use(%a) {host = 1 : i32} : (i32) -> i32\n"
    "    tfrt.return %one, %x : i32, i32\n"
    "  }\n"
    "  %h = tfrt_dist.host %one\n"
    "  %k = tfrt_dist.key \"late\"\n"
    "  %c1 = tfrt_dist.send %h, %k, %r#0, %c\n"
    "  tfrt.return %a, %r#1 : i32, i32\n"
    "}\n"
    "func.func @use(%a: i32) -> i32 {\n"
    "  tfrt.return %a : i32\n"
    "}\n";

// @main makes more calls at once than it may.
static const char made_calls_program[] = WAIT
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 50 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 50 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 50 : i32} : (i32) -> i32\n"
    "  tfrt.return %a, %b, %c : i32, i32, i32\n"
    "}\n";

// Expects that one of the three calls of |made_calls_program| is refused because of |reason|, that
// the others are not, and that calls can be made again when they are over.
static void expect_one_refused(const char* reason) {
  tfrt_node_world_start_i32(&world, made_calls_program, 7, 3);
  tfrt_node_world_await(&world);
  uint32_t refused_count = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    tfrt_status_t status = tfrt_node_world_error(&world, i);
    ck_assert_str_eq(tfrt_status_fields(status)->origin.function, "main");
    if (tfrt_status_code(status) == TFRT_STATUS_DEADLINE_EXCEEDED) continue;
    tfrt_job_expect_error(status, TFRT_STATUS_RESOURCE_EXHAUSTED, reason);
    ++refused_count;
  }
  ck_assert_uint_eq(refused_count, 1);
  release_results();
  tfrt_job_expect(&world, tfrt_job_simple_program, 2, 4);
}

START_TEST(a_call_too_many_is_not_made) {
  begin(0, (tfrt_job_limits_t){.made = 2});
  expect_one_refused(
      "the job would have more than 2 calls of other hosts under way on host 0, which is what that "
      "allows a job: start tfrt_worker there with a larger --job-calls");
  end();
}
END_TEST

START_TEST(calls_that_are_made_take_memory_of_the_job) {
  begin(0, (tfrt_job_limits_t){.memory_bytes = 2 * TFRT_JOB_BUDGET_CALL_BYTES + 100});
  expect_one_refused("bytes of calls and of values of others on host 0");
  end();
}
END_TEST

START_TEST(a_loop_waits_while_many_of_its_calls_are_under_way) {
  begin(0, (tfrt_job_limits_t){.made = 8});
  tfrt_node_world_start_i32(&world, turns_program, 1000, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 0);
  end();
}
END_TEST

START_TEST(a_loop_goes_on_when_its_calls_wait_for_what_it_does_next) {
  begin(0, (tfrt_job_limits_t){.made = 40});
  tfrt_node_world_start_i32(&world, message_behind_loop_program, 30, 2);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) ck_assert_int_eq(tfrt_node_world_i32(&world, i), 1);
  end();
}
END_TEST

START_TEST(a_loop_that_waits_ends_with_its_job) {
  begin(0, (tfrt_job_limits_t){.made = 8});
  tfrt_node_world_start_i32(&world, message_behind_loop_program, 1000, 2);
  tfrt_node_world_run_for(&world, 2 * TFRT_NODE_WORLD_SECOND);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  release_results();
  tfrt_node_world_deinitialize(&world);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* budgets = tcase_create("budgets");
  tcase_set_timeout(budgets, 60);
  tcase_add_test(budgets, a_call_too_many_is_refused_and_the_next_is_not);
  tcase_add_test(budgets, a_recursion_without_end_is_an_error_that_says_where_and_how_deep);
  tcase_add_test(budgets, calls_without_credit_wait_for_their_deadline);
  tcase_add_test(budgets, wants_without_credit_wait_for_their_deadline);
  tcase_add_test(budgets, calls_that_wait_for_each_other_never_lack_credit);
  tcase_add_test(budgets, a_message_passes_calls_that_wait_for_it);
  tcase_add_test(budgets, who_waits_for_a_message_that_its_host_has_no_memory_for_gets_that_error);
  tcase_add_test(budgets,
                 what_had_no_credit_stays_lent_when_its_caller_gives_one_of_two_holds_back);
  tcase_add_test(budgets, calls_are_made_in_their_order_so_that_later_ones_do_not_take_their_room);
  tcase_add_test(budgets, calls_that_wait_for_their_program_start_in_their_order);
  tcase_add_test(budgets, as_many_calls_as_may_be_run);
  tcase_add_test(budgets, a_value_too_many_is_an_error_of_its_call);
  tcase_add_test(budgets, a_start_too_many_is_refused);
  tcase_add_test(budgets, a_program_too_many_is_refused_and_the_others_are_not);
  tcase_add_test(budgets, a_payload_that_does_not_fit_is_an_error_of_its_value);
  tcase_add_test(budgets, a_client_may_ask_for_less);
  tcase_add_test(budgets, a_call_too_many_is_not_made);
  tcase_add_test(budgets, calls_that_are_made_take_memory_of_the_job);
  tcase_add_test(budgets, a_loop_waits_while_many_of_its_calls_are_under_way);
  tcase_add_test(budgets, a_loop_goes_on_when_its_calls_wait_for_what_it_does_next);
  tcase_add_test(budgets, a_loop_that_waits_ends_with_its_job);
  Suite* suite = suite_create("job_budget");
  suite_add_tcase(suite, budgets);
  return suite;
}
