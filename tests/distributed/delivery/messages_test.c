// SPDX-License-Identifier: Apache-2.0
//
// Messages by key between hosts: tfrt_dist.send and tfrt_dist.recv, which side comes first, what is
// received, and what ends a wait.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

// Starts |text| on |host_count| hosts, with |x| for its only argument.
static void start(const char* text, uint32_t host_count, const tfrt_simulated_options_t* options,
                  int32_t x, uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_node_world_start_i32(&world, text, x, result_count);
}

// A network on which messages overtake each other, and with an odd |seed| connections break.
static tfrt_simulated_options_t out_of_order(uint64_t seed) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = 20 * options.delay_ns;
  options.break_chance = seed % 2 ? 10000 : 0;
  return options;
}

static void run(const char* text, uint32_t host_count, int32_t x, uint32_t result_count) {
  start(text, host_count, NULL, x, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const tfrt_status_fields_t* error_of(uint32_t index) {
  return tfrt_status_fields(tfrt_node_world_error(&world, index));
}

// Element 0 of result |index|, a tensor of i32.
static int32_t first_element(uint32_t index) {
  tfrt_async_value_t* value = world.results[index];
  ck_assert(!tfrt_async_value_is_error(value));
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  return *(const int32_t*)tfrt_dense_host_tensor_data(&tensor->dense);
}

// Each host sends its rank to the next one, and its square by another key, and gives what it
// got.
static const char ring_program[] =
    "func.func @turn(%x: i32, %n: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %me = tfrt_dist.rank\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %last = tfrt.constant.i32 -1\n"
    "  %up = tfrt.add.i32 %me, %one\n"
    "  %q, %next = tfrt.div.i32 %up, %n\n"
    "  %n1 = tfrt.add.i32 %n, %last\n"
    "  %down = tfrt.add.i32 %me, %n1\n"
    "  %q1, %before = tfrt.div.i32 %down, %n\n"
    "  %to = tfrt_dist.host %next\n"
    "  %from = tfrt_dist.host %before\n"
    "  %a = \"tfrt_test.get_string\"() {value = \"a\"} : () -> !tfrt.string\n"
    "  %b = \"tfrt_test.get_string\"() {value = \"b\"} : () -> !tfrt.string\n"
    "  %got, %c1 = tfrt_dist.recv %from, %a, %c : i32\n"
    "  %c2 = tfrt_dist.send %to, %b, %up, %c\n"
    "  %c3 = tfrt_dist.send %to, %a, %me, %c2\n"
    "  %got2, %c4 = tfrt_dist.recv %from, %b, %c1 : i32\n"
    "  %s = tfrt.add.i32 %got, %got2\n"
    "  %t = \"tfrt_test.identity\"(%c4, %s) : (!tfrt.chain, i32) -> i32\n"
    "  tfrt.return %t : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %n = tfrt_dist.num_hosts\n"
    "  %l = tfrt_dist.call_all @turn(%x, %n) : (i32, i32) -> (!tfrt_dist.list)\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %first = tfrt_dist.list.get %l, %zero : i32\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  tfrt.return %first, %s : i32, i32\n"
    "}\n";

START_TEST(either_side_of_a_message_may_come_first) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    tfrt_simulated_options_t options = out_of_order(seed);
    uint32_t count = (uint32_t)(1 + seed % 4);
    start(ring_program, count, &options, 2, 2);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 2 * (int32_t)count - 1);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), (int32_t)(count * count));
    end();
  }
}
END_TEST

// Hosts 1 and 2 send under one key, twice each, and once more for nobody.
static const char one_key_program[] =
    "func.func @say(%to: !tfrt_dist.host, %ten: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %me = tfrt_dist.rank\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %first = tfrt.mul.i32 %me, %ten\n"
    "  %second = tfrt.add.i32 %first, %one\n"
    "  %key = tfrt_dist.key \"k\"\n"
    "  %c1 = tfrt_dist.send %to, %key, %first, %c\n"
    "  %c2 = tfrt_dist.send %to, %key, %second, %c1\n"
    "  %c3 = tfrt_dist.send %to, %key, %ten, %c2\n"
    "  tfrt.return %me : i32\n"
    "}\n"
    "func.func @main(%ten: i32) -> (i32, i32, i32, i32) {\n"
    "  %c = tfrt.new.chain\n"
    "  %me = tfrt_dist.rank\n"
    "  %here = tfrt_dist.host %me\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h1 = tfrt_dist.host %one\n"
    "  %h2 = tfrt_dist.host %two\n"
    "  %x = tfrt_dist.call %h1 @say(%here, %ten) : (!tfrt_dist.host, !tfrt_dist.host, i32) -> "
    "(i32)\n"
    "  %y = tfrt_dist.call %h2 @say(%here, %ten) : (!tfrt_dist.host, !tfrt_dist.host, i32) -> "
    "(i32)\n"
    "  %key = tfrt_dist.key \"k\"\n"
    "  %a, %c1 = tfrt_dist.recv %h2, %key, %c : i32\n"
    "  %b, %c2 = tfrt_dist.recv %h1, %key, %c1 : i32\n"
    "  %d, %c3 = tfrt_dist.recv %h1, %key, %c2 : i32\n"
    "  %e, %c4 = tfrt_dist.recv %h2, %key, %c3 : i32\n"
    "  tfrt.return %a, %b, %d, %e : i32, i32, i32, i32\n"
    "}\n";

START_TEST(messages_of_one_key_are_told_apart_by_their_senders_and_keep_their_order) {
  static const int32_t right[] = {20, 10, 11, 21};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    tfrt_simulated_options_t options = out_of_order(seed);
    start(one_key_program, 3, &options, 10, 4);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 4; ++i) {
      ck_assert_int_eq(tfrt_node_world_i32(&world, i), right[i]);
    }
    end();
  }
}
END_TEST

START_TEST(the_loss_of_a_sender_ends_the_wait_for_it) {
  uint32_t lost = 0;
  for (int64_t delay_us = 100; delay_us < 4000; delay_us += 100) {
    start(ring_program, 4, NULL, 2, 2);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 3);
    tfrt_node_world_await(&world);
    if (is_open && tfrt_async_value_is_error(world.results[0])) {
      ++lost;
      ck_assert_int_eq(error_of(0)->code, TFRT_STATUS_UNAVAILABLE);
      ck_assert_uint_eq(error_of(0)->root_key, 0x1003);
      ck_assert_str_eq(error_of(0)->origin.file, "test.mlir");
      ck_assert_uint_gt(error_of(0)->origin.line, 0);
    } else if (is_open) {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 7);
    }
    end();
  }
  ck_assert_uint_gt(lost, 0);
}
END_TEST

#define TENSOR "!tfrt_tensor.tensor"

// Host 0 sends a tensor of @SIZE@ elements to host @TO@, and writes to it behind the chain of the
// send. It is received, behind a message that comes after that, by @take.
#define REWRITTEN_PROGRAM(sent)                                                     \
  "func.func @take(%from: !tfrt_dist.host) -> " TENSOR                              \
  " {\n"                                                                            \
  "  %c = tfrt.new.chain\n"                                                         \
  "  %zero = tfrt.constant.i32 0\n"                                                 \
  "  %one = tfrt.constant.i32 1\n"                                                  \
  "  %go = tfrt_dist.key \"go\"\n"                                                  \
  "  %key = tfrt_dist.key \"tensor\"\n"                                             \
  "  %x, %c1 = tfrt_dist.recv %from, %go, %c : i32\n"                               \
  "  %v, %c2 = tfrt_dist.recv %from, %key, %c1 : " TENSOR                           \
  "\n"                                                                              \
  "  %part = tfrt_tensor.slice %v, %zero, %one\n"                                   \
  "  tfrt.return %part : " TENSOR                                                   \
  "\n"                                                                              \
  "}\n"                                                                             \
  "func.func @same(%c: !tfrt.chain) -> !tfrt.chain {\n"                             \
  "  tfrt.return %c : !tfrt.chain\n"                                                \
  "}\n"                                                                             \
  "func.func @main(%x: i32) -> " TENSOR                                             \
  " {\n"                                                                            \
  "  %c0 = tfrt.new.chain\n"                                                        \
  "  %me = tfrt_dist.rank\n"                                                        \
  "  %here = tfrt_dist.host %me\n"                                                  \
  "  %to = tfrt_dist.host %x\n"                                                     \
  "  %go = tfrt_dist.key \"go\"\n"                                                  \
  "  %key = tfrt_dist.key \"tensor\"\n"                                             \
  "  %r = tfrt_dist.call %to @take(%here)"                                          \
  " : (!tfrt_dist.host, !tfrt_dist.host) -> (" TENSOR                               \
  ")\n"                                                                             \
  "  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [@SIZE@ : i64]\n"              \
  "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32\n"                \
  "  %y = tfrt.call @same(%c1) {host = 1 : i32} : (!tfrt.chain) -> !tfrt.chain\n"   \
  "  %late = \"tfrt_test.identity\"(%y, %t) : (!tfrt.chain, " TENSOR ") -> " TENSOR \
  "\n"                                                                              \
  "  %c2 = tfrt_dist.send %to, %key, " sent                                         \
  ", %c1\n"                                                                         \
  "  %c3 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c2 2 : i32\n"                \
  "  %c4 = tfrt_dist.send %to, %go, %x, %c3\n"                                      \
  "  tfrt.return %r : " TENSOR                                                      \
  "\n"                                                                              \
  "}\n"

// One that is there when it is sent, or one that comes later.
static const char* const rewritten_programs[] = {REWRITTEN_PROGRAM("%t"),
                                                 REWRITTEN_PROGRAM("%late")};

// Starts rewritten program |index| with a tensor of |size| elements, which goes to host |to|.
static void start_rewritten(int index, unsigned size, int32_t to) {
  const char* program = rewritten_programs[index];
  char text[sizeof(REWRITTEN_PROGRAM("%late")) + 16];
  const char* place = strstr(program, "@SIZE@");
  snprintf(text, sizeof(text), "%.*s%u%s", (int)(place - program), program, size,
           place + strlen("@SIZE@"));
  start(text, 2, NULL, to, 1);
}

START_TEST(what_was_sent_may_be_written_to_behind_the_chain) {
  static const unsigned sizes[] = {4, 262144};
  for (int32_t to = 0; to < 2; ++to) {
    for (size_t i = 0; i < 2; ++i) {
      start_rewritten(_i, sizes[i], to);
      tfrt_node_world_await(&world);
      ck_assert_int_eq(first_element(0), 1);
      end();
    }
  }
}
END_TEST

// That nothing is left is seen at the end.
START_TEST(a_loss_while_such_a_message_is_under_way_leaves_nothing) {
  uint32_t lost = 0;
  for (int64_t delay_us = 500; delay_us < 8000; delay_us += 250) {
    start_rewritten(_i / 2, 262144, 1);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_node_world_kill(&world, (uint32_t)_i % 2);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      ++lost;
    } else {
      ck_assert_int_eq(first_element(0), 1);
    }
    end();
  }
  ck_assert_uint_gt(lost, 0);
}
END_TEST

// The two hosts send each other a tensor, and each receives behind the chain of its own send. Then
// they send a hundred more, each behind the one before it, that nobody receives.
static const char buffered_program[] =
    "func.func @more(%i: i32, %to: !tfrt_dist.host, %t: " TENSOR
    ", %c: !tfrt.chain) -> (i32, !tfrt_dist.host, " TENSOR
    ", !tfrt.chain, i1) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %end = tfrt.constant.i32 100\n"
    "  %next = tfrt.add.i32 %i, %one\n"
    "  %goes_on = \"tfrt.lessequal.i32\"(%next, %end) : (i32, i32) -> i1\n"
    "  %key = tfrt_dist.key \"unreceived\"\n"
    "  %c1 = tfrt_dist.send %to, %key, %t, %c\n"
    "  %c2 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c1 3 : i32\n"
    "  tfrt.return %next, %to, %t, %c2, %goes_on : i32, !tfrt_dist.host, " TENSOR
    ", !tfrt.chain, i1\n"
    "}\n"
    "func.func @swap(%other: i32) -> (" TENSOR
    ", i32) {\n"
    "  %c0 = tfrt.new.chain\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %true = tfrt.constant.i1 true\n"
    "  %to = tfrt_dist.host %other\n"
    "  %key = tfrt_dist.key \"tensor\"\n"
    "  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [4096 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32\n"
    "  %c2 = tfrt_dist.send %to, %key, %t, %c1\n"
    "  %v, %c3 = tfrt_dist.recv %to, %key, %c2 : " TENSOR
    "\n"
    "  %part = tfrt_tensor.slice %v, %zero, %one\n"
    "  %n, %h, %u, %c4 = tfrt.while %true @more(%zero, %to, %t, %c3) parallel_iterations(1) "
    ": (i32, !tfrt_dist.host, " TENSOR ", !tfrt.chain) -> (i32, !tfrt_dist.host, " TENSOR
    ", !tfrt.chain)\n"
    "  %m = \"tfrt_test.identity\"(%c4, %n) : (!tfrt.chain, i32) -> i32\n"
    "  tfrt.return %part, %m : " TENSOR
    ", i32\n"
    "}\n"
    "func.func @main(%one: i32) -> (" TENSOR ", i32, " TENSOR
    ", i32) {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %a, %m = tfrt.call @swap(%one) {host = 0 : i32} : (i32) -> (" TENSOR
    ", i32)\n"
    "  %b, %n = tfrt.call @swap(%zero) {host = 1 : i32} : (i32) -> (" TENSOR
    ", i32)\n"
    "  tfrt.return %a, %m, %b, %n : " TENSOR ", i32, " TENSOR
    ", i32\n"
    "}\n";

START_TEST(a_send_waits_for_no_receive) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    tfrt_simulated_options_t options = out_of_order(seed);
    start(buffered_program, 2, &options, 1, 4);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 4; i += 2) {
      ck_assert_int_eq(first_element(i), 1);
      ck_assert_int_eq(tfrt_node_world_i32(&world, i + 1), 101);
    }
    end();
  }
}
END_TEST

// Host 2 receives a tensor of host 3, behind the chain that |wait| makes.
#define LARGE_PROGRAM(wait)                                         \
  "func.func @give(%t: " TENSOR                                     \
  ", %to: !tfrt_dist.host) -> i32 {\n"                              \
  "  %c = tfrt.new.chain\n"                                         \
  "  %zero = tfrt.constant.i32 0\n"                                 \
  "  %rows = tfrt.constant.i32 150000\n"                            \
  "  %own = tfrt_tensor.slice %t, %zero, %rows\n"                   \
  "  %key = tfrt_dist.key \"large\"\n"                              \
  "  %c1 = tfrt_dist.send %to, %key, %own, %c\n"                    \
  "  tfrt.return %zero : i32\n"                                     \
  "}\n"                                                             \
  "func.func @take(%from: !tfrt_dist.host, %given: i32) -> " TENSOR \
  " {\n"                                                            \
  "  %c = tfrt.new.chain\n" wait                                    \
  "  %key = tfrt_dist.key \"large\"\n"                              \
  "  %v, %c2 = tfrt_dist.recv %from, %key, %c1 : " TENSOR           \
  "\n"                                                              \
  "  tfrt.return %v : " TENSOR                                      \
  "\n"                                                              \
  "}\n"                                                             \
  "func.func @main(%t: " TENSOR ") -> " TENSOR                      \
  " {\n"                                                            \
  "  %two = tfrt.constant.i32 2\n"                                  \
  "  %three = tfrt.constant.i32 3\n"                                \
  "  %taker = tfrt_dist.host %two\n"                                \
  "  %giver = tfrt_dist.host %three\n"                              \
  "  %g = tfrt_dist.call %giver @give(%t, %taker)"                  \
  " : (!tfrt_dist.host, " TENSOR                                    \
  ", !tfrt_dist.host) -> (i32)\n"                                   \
  "  %v = tfrt_dist.call %taker @take(%giver, %g)"                  \
  " : (!tfrt_dist.host, !tfrt_dist.host, i32) -> (" TENSOR          \
  ")\n"                                                             \
  "  tfrt.return %v : " TENSOR                                      \
  "\n"                                                              \
  "}\n"

// The receiver comes before the sender, or after it.
static const char* const large_programs[] = {
    LARGE_PROGRAM("  %c1 = tfrt.merge.chains %c : !tfrt.chain\n"),
    LARGE_PROGRAM("  %c1 = tfrt.print.i32 %given, %c\n"),
};

static tfrt_async_value_t* make_rows(int64_t rows) {
  tfrt_shape_t shape;
  tfrt_dense_host_tensor_t tensor;
  ck_assert_ptr_null(tfrt_shape_make(&rows, 1, &shape));
  ck_assert_ptr_null(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, tfrt_allocator_system(), &tensor));
  memset(tfrt_dense_host_tensor_data(&tensor), 0, tfrt_dense_host_tensor_size(&tensor));
  return tfrt_async_value_create_tensor_take(&tensor);
}

START_TEST(the_loss_of_a_sender_within_a_message_has_the_place_of_who_receives) {
  for (uint64_t part = 0; part < 6; ++part) {
    tfrt_node_world_initialize_with_window(&world, 4, NULL, 65536);
    tfrt_async_value_t* argument = make_rows(150000);
    tfrt_node_world_start(&world, large_programs[_i], &argument, 1, 1);
    tfrt_async_value_release(argument);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 3, 2, 1 + part * 100000));
    tfrt_node_world_kill(&world, 3);
    tfrt_node_world_await(&world);
    const tfrt_status_fields_t* fields = error_of(0);
    ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(fields->message, "lost host 3"));
    ck_assert_uint_eq(fields->root_key, 0x1003);
    ck_assert_str_eq(fields->origin.function, "take");
    ck_assert_str_eq(fields->origin.kernel, "tfrt_dist.recv");
    ck_assert_str_eq(fields->origin.file, "test.mlir");
    ck_assert_uint_eq(fields->origin.line, 14);
    end();
  }
}
END_TEST

static const char never_program[] =
    "func.func @wait(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = \"tfrt_test.get_string\"() {value = \"never\"} : () -> !tfrt.string\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  %c2 = tfrt_dist.send %h, %k, %x, %c\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %h = tfrt_dist.host %one\n"
    "  %v = tfrt_dist.call %h @wait(%x) {deadline_ms = 200 : i32} : (!tfrt_dist.host, i32) -> "
    "(i32)\n"
    "  tfrt.return %v : i32\n"
    "}\n";

START_TEST(a_wait_for_what_is_never_sent_ends_with_the_deadline) {
  run(never_program, 3, 2, 1);
  ck_assert_int_eq(error_of(0)->code, TFRT_STATUS_DEADLINE_EXCEEDED);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* messages = tcase_create("messages");
  tcase_set_timeout(messages, 60);
  tcase_add_test(messages, either_side_of_a_message_may_come_first);
  tcase_add_test(messages,
                 messages_of_one_key_are_told_apart_by_their_senders_and_keep_their_order);
  tcase_add_test(messages, the_loss_of_a_sender_ends_the_wait_for_it);
  tcase_add_loop_test(messages, what_was_sent_may_be_written_to_behind_the_chain, 0, 2);
  tcase_add_loop_test(messages, a_loss_while_such_a_message_is_under_way_leaves_nothing, 0, 4);
  tcase_add_test(messages, a_send_waits_for_no_receive);
  tcase_add_loop_test(messages, the_loss_of_a_sender_within_a_message_has_the_place_of_who_receives,
                      0, 2);
  tcase_add_test(messages, a_wait_for_what_is_never_sent_ends_with_the_deadline);
  Suite* suite = suite_create("messages");
  suite_add_tcase(suite, messages);
  return suite;
}
