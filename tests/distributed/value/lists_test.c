// SPDX-License-Identifier: Apache-2.0
//
// Lists that cross hosts: as references to their elements, wherever those are.
#include <string.h>

#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define LIST "!tfrt_dist.list"
#define MIB (UINT64_C(1) << 20)

static tfrt_node_world_t world;

static void start(const char* text, uint32_t host_count, const tfrt_simulated_options_t* options,
                  int32_t x, uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_node_world_start_i32(&world, text, x, result_count);
}

static void run(const char* text, uint32_t host_count, int32_t x, uint32_t result_count) {
  start(text, host_count, NULL, x, result_count);
  tfrt_node_world_await(&world);
}

// Runs |text| on four hosts, with 5 for its argument, and messages in the order of |seed|.
static void run_in_an_order(const char* text, uint32_t result_count, uint64_t seed) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)(seed % 5) * 4 * options.delay_ns;
  start(text, 4, &options, 5, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const tfrt_status_fields_t* error_of(uint32_t index) {
  return tfrt_status_fields(tfrt_node_world_error(&world, index));
}

static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

#define FUNCTIONS                                             \
  "func.func @add_rank(%x: i32) -> i32 {\n"                   \
  "  %me = tfrt_dist.rank\n"                                  \
  "  %y = tfrt.add.i32 %x, %me\n"                             \
  "  tfrt.return %y : i32\n"                                  \
  "}\n"                                                       \
  "func.func @make(%x: i32) -> " LIST                         \
  " {\n"                                                      \
  "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (" LIST \
  ")\n"                                                       \
  "  tfrt.return %l : " LIST                                  \
  "\n"                                                        \
  "}\n"                                                       \
  "func.func @sum(%l: " LIST                                  \
  ") -> i32 {\n"                                              \
  "  %s = tfrt_dist.list.sum %l : i32\n"                      \
  "  tfrt.return %s : i32\n"                                  \
  "}\n"                                                       \
  "func.func @size(%l: " LIST                                 \
  ") -> i32 {\n"                                              \
  "  %n = tfrt_dist.list.size %l\n"                           \
  "  tfrt.return %n : i32\n"                                  \
  "}\n"                                                       \
  "func.func @at(%l: " LIST                                   \
  ", %i: i32) -> i32 {\n"                                     \
  "  %e = tfrt_dist.list.get %l, %i : i32\n"                  \
  "  tfrt.return %e : i32\n"                                  \
  "}\n"                                                       \
  "func.func @same(%l: " LIST ") -> " LIST                    \
  " {\n"                                                      \
  "  tfrt.return %l : " LIST                                  \
  "\n"                                                        \
  "}\n"

// --- Arguments and results -----------------------------------------------------

// The elements live on all hosts; the fourth host sums them.
static const char argument_program[] = FUNCTIONS
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (" LIST
    ")\n"
    "  %s = tfrt.call @sum(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  %n = tfrt.call @size(%l) {host = 2 : i32} : (" LIST
    ") -> i32\n"
    "  %e = tfrt.call @at(%l, %two) {host = 1 : i32} : (" LIST
    ", i32) -> i32\n"
    "  tfrt.return %s, %n, %e : i32, i32, i32\n"
    "}\n";

START_TEST(a_list_is_an_argument) {
  run(argument_program, 4, 5, 3);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 4 * 5 + 0 + 1 + 2 + 3);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 7);
  end();
}
END_TEST

// The list is used on its maker, on the caller, and on a host that neither made nor called it.
static const char result_program[] = FUNCTIONS
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %l = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> " LIST
    "\n"
    "  %here = tfrt_dist.list.sum %l : i32\n"
    "  %far = tfrt.call @sum(%l) {host = 2 : i32} : (" LIST
    ") -> i32\n"
    "  %home = tfrt.call @sum(%l) {host = 1 : i32} : (" LIST
    ") -> i32\n"
    "  %m = tfrt.call @same(%l) {host = 3 : i32} : (" LIST ") -> " LIST
    "\n"
    "  %e = tfrt.call @at(%m, %one) {host = 2 : i32} : (" LIST
    ", i32) -> i32\n"
    "  tfrt.return %here, %far, %home, %e : i32, i32, i32, i32\n"
    "}\n";

START_TEST(a_list_is_a_result) {
  run(result_program, 4, 5, 4);
  for (uint32_t i = 0; i < 3; ++i) {
    ck_assert_int_eq(tfrt_node_world_i32(&world, i), 4 * 5 + 0 + 1 + 2 + 3);
  }
  ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 6);
  end();
}
END_TEST

START_TEST(any_order_of_messages_gives_the_same) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    options.seed = seed;
    options.jitter_ns = 20 * options.delay_ns;
    options.break_chance = seed % 2 == 0 ? 3000 : 0;
    start(result_program, 4, &options, (int32_t)seed, 4);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 4 * (int32_t)seed + 6);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 4 * (int32_t)seed + 6);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 3), (int32_t)seed + 1);
    end();
  }
}
END_TEST

// Made and summed by one function, within a list of what all hosts make.
static const char nested_program[] =
    FUNCTIONS "func.func @at_at(%ll: " LIST
              ", %i: i32, %j: i32) -> i32 {\n"
              "  %l = tfrt_dist.list.get %ll, %i : " LIST
              "\n"
              "  %e = tfrt_dist.list.get %l, %j : i32\n"
              "  tfrt.return %e : i32\n"
              "}\n"
              "func.func @inner(%ll: " LIST ", %i: i32) -> " LIST
              " {\n"
              "  %l = tfrt_dist.list.get %ll, %i : " LIST
              "\n"
              "  tfrt.return %l : " LIST
              "\n"
              "}\n"
              "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
              "  %one = tfrt.constant.i32 1\n"
              "  %two = tfrt.constant.i32 2\n"
              "  %ll = tfrt_dist.call_all @make(%x) : (i32) -> (" LIST
              ")\n"
              "  %a = tfrt.call @at_at(%ll, %one, %two) {host = 2 : i32} : (" LIST
              ", i32, i32) -> i32\n"
              "  %b = tfrt.call @at_at(%ll, %two, %one) {host = 1 : i32} : (" LIST
              ", i32, i32) -> i32\n"
              "  %l = tfrt.call @inner(%ll, %two) {host = 1 : i32} : (" LIST ", i32) -> " LIST
              "\n"
              "  %s = tfrt_dist.list.sum %l : i32\n"
              "  tfrt.return %a, %b, %s : i32, i32, i32\n"
              "}\n";

START_TEST(lists_of_lists_travel_one_by_one) {
  run(nested_program, 3, 5, 3);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 7);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 6);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 3 * 5 + 0 + 1 + 2);
  end();
}
END_TEST

// --- Payloads ------------------------------------------------------------------

static const char payload_program[] =
    "func.func @fill() -> !tfrt_tensor.tensor {\n"
    "  %c = tfrt.new.chain\n"
    "  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t0, %c 1 : i32\n"
    "  %t = \"tfrt_test.identity\"(%c1, %t0) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  tfrt.return %t : !tfrt_tensor.tensor\n"
    "}\n"
    "func.func @length(%l: " LIST
    ") -> i32 {\n"
    "  %t = tfrt_dist.list.concat %l\n"
    "  %n = tfrt_tensor.dim %t axis 0\n"
    "  tfrt.return %n : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %l = tfrt_dist.call_all @fill() : () -> (" LIST
    ")\n"
    "  %n = tfrt.call @length(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  tfrt.return %n : i32\n"
    "}\n";

START_TEST(a_payload_goes_from_its_owner_to_who_uses_it) {
  run(payload_program, 4, 0, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 4 * 262144);
  for (uint32_t owner = 0; owner < 3; ++owner) {
    ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, owner, 3), MIB);
    ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, owner, 3), MIB + 64 * 1024);
    for (uint32_t other = 0; other < 3; ++other) {
      if (other == owner) continue;
      ck_assert_uint_eq(tfrt_node_world_bulk_bytes(&world, owner, other), 0);
    }
  }
  end();
}
END_TEST

// --- Life ----------------------------------------------------------------------

static const char used_program[] = FUNCTIONS
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (" LIST
    ")\n"
    "  %s = tfrt.call @sum(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  %n = tfrt.call @size(%l) {host = 2 : i32} : (" LIST
    ") -> i32\n"
    "  tfrt.return %s, %n : i32, i32\n"
    "}\n";

// Nobody uses anything of the list beyond his call: nothing has to be held for anybody.
START_TEST(a_list_that_is_only_used_in_its_call_is_not_held) {
  run(used_program, 4, 5, 2);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 4 * 5 + 6);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t from = 0; from < 4; ++from) {
    for (uint32_t to = 0; to < 4; ++to) {
      ck_assert_uint_eq(count(from, to, TFRT_WIRE_FRAME_RETAIN), 0);
    }
  }
  end();
}
END_TEST

#define KEY "  %k = \"tfrt_test.get_string\"() {value = \"k\"} : () -> !tfrt.string\n"

// Host 1 sends on what it was lent: an element to host 2, the list to host 3; both use it when the
// call that lent it, and those that sent it, are over.
static const char kept_program[] =
    FUNCTIONS "func.func @post(%l: " LIST
              ") -> !tfrt.chain {\n"
              "  %two = tfrt.constant.i32 2\n"
              "  %three = tfrt.constant.i32 3\n"
              "  %h2 = tfrt_dist.host %two\n"
              "  %h3 = tfrt_dist.host %three\n"
              "  %e = tfrt_dist.list.get %l, %three : i32\n" KEY
              "  %c = tfrt.new.chain\n"
              "  %c1 = tfrt_dist.send %h2, %k, %e, %c\n"
              "  %c2 = tfrt_dist.send %h3, %k, %l, %c\n"
              "  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain\n"
              "  tfrt.return %c3 : !tfrt.chain\n"
              "}\n"
              "func.func @take_element(%c: !tfrt.chain) -> i32 {\n"
              "  %one = tfrt.constant.i32 1\n"
              "  %h = tfrt_dist.host %one\n" KEY
              "  %e, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
              "  tfrt.return %e : i32\n"
              "}\n"
              "func.func @take_list(%c: !tfrt.chain) -> i32 {\n"
              "  %one = tfrt.constant.i32 1\n"
              "  %h = tfrt_dist.host %one\n" KEY "  %l, %c1 = tfrt_dist.recv %h, %k, %c : " LIST
              "\n"
              "  %s = tfrt_dist.list.sum %l : i32\n"
              "  tfrt.return %s : i32\n"
              "}\n"
              "func.func @main(%x: i32) -> (i32, i32) {\n"
              "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (" LIST
              ")\n"
              "  %c = tfrt.call @post(%l) {host = 1 : i32} : (" LIST
              ") -> !tfrt.chain\n"
              "  %e = tfrt.call @take_element(%c) {host = 2 : i32} : (!tfrt.chain) -> i32\n"
              "  %s = tfrt.call @take_list(%c) {host = 3 : i32} : (!tfrt.chain) -> i32\n"
              "  tfrt.return %e, %s : i32, i32\n"
              "}\n";

START_TEST(what_is_sent_by_key_outlives_the_call_that_lent_it) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    run_in_an_order(kept_program, 2, seed);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 8);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 4 * 5 + 6);
    end();
  }
}
END_TEST

// Each host makes numbers that are late, host 1 takes one out of the list and returns that alone.
static const char picked_program[] = FUNCTIONS
    "func.func @late(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.call @at_home(%x) {host = 0 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @at_home(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @make_late(%x: i32) -> " LIST
    " {\n"
    "  %l = tfrt_dist.call_all @late(%x) : (i32) -> (" LIST
    ")\n"
    "  tfrt.return %l : " LIST
    "\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %l = tfrt.call @make_late(%x) {host = 2 : i32} : (i32) -> " LIST
    "\n"
    "  %e = tfrt.call @at(%l, %two) {host = 1 : i32} : (" LIST
    ", i32) -> i32\n"
    "  %f = tfrt_dist.list.get %l, %two : i32\n"
    "  %s = tfrt.call @sum(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  tfrt.return %e, %f, %s : i32, i32, i32\n"
    "}\n";

START_TEST(an_element_outlives_its_list) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    run_in_an_order(picked_program, 3, seed);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 10);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 10);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 40);
    end();
  }
}
END_TEST

// --- Moving --------------------------------------------------------------------

static const char moved_program[] =
    FUNCTIONS "func.func @main(%x: i32) -> (i32, i32, i32, " LIST
              ") {\n"
              "  %one = tfrt.constant.i32 1\n"
              "  %two = tfrt.constant.i32 2\n"
              "  %h1 = tfrt_dist.host %one\n"
              "  %h2 = tfrt_dist.host %two\n"
              "  %l = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> " LIST
              "\n"
              "  %there = tfrt_dist.copy_to %h2, %l : " LIST
              "\n"
              "  %a = tfrt_dist.call %h2 @sum(%there) : (!tfrt_dist.host, " LIST
              ") -> (i32)\n"
              "  %b = tfrt_dist.call %h1 @at(%there, %two) : (!tfrt_dist.host, " LIST
              ", i32) -> (i32)\n"
              "  %here = tfrt_dist.fetch %l : " LIST
              "\n"
              "  %c = tfrt_dist.prefetch %h2, %here\n"
              "  %m = \"tfrt_test.identity\"(%c, %here) : (!tfrt.chain, " LIST ") -> " LIST
              "\n"
              "  %d = tfrt_dist.call %h2 @at(%m, %one) : (!tfrt_dist.host, " LIST
              ", i32) -> (i32)\n"
              "  tfrt.return %a, %b, %d, %l : i32, i32, i32, " LIST
              "\n"
              "}\n";

START_TEST(a_list_is_copied_fetched_sent_ahead_and_given_to_the_client) {
  run(moved_program, 3, 5, 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3 * 5 + 3);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 6);
  tfrt_async_value_t* list = tfrt_async_value_resolved(world.results[3]);
  const tfrt_type_t* type = tfrt_type_get(list->type_id);
  ck_assert_str_eq(type->name, LIST);
  uint32_t element_count = 0;
  tfrt_async_value_t* const* elements =
      type->aggregate->elements(tfrt_async_value_payload(list), &element_count);
  ck_assert_uint_eq(element_count, 3);
  for (uint32_t i = 0; i < 3; ++i) tfrt_async_value_demand(elements[i]);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t i = 0; i < 3; ++i) {
    ck_assert(tfrt_async_value_is_available(elements[i]));
    const int32_t* number = tfrt_async_value_payload(tfrt_async_value_resolved(elements[i]));
    ck_assert_int_eq(*number, 5 + (int32_t)i);
  }
  end();
}
END_TEST

// --- Errors --------------------------------------------------------------------

// One element is an error: of host 2, if x is -2.
static const char error_program[] = FUNCTIONS
    "func.func @divide(%x: i32) -> i32 {\n"
    "  %me = tfrt_dist.rank\n"
    "  %ten = tfrt.constant.i32 10\n"
    "  %d = tfrt.add.i32 %me, %x\n"
    "  %q, %r = tfrt.div.i32 %ten, %d\n"
    "  tfrt.return %q : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %l = tfrt_dist.call_all @divide(%x) : (i32) -> (" LIST
    ")\n"
    "  %n = tfrt.call @size(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  %s = tfrt.call @sum(%l) {host = 3 : i32} : (" LIST
    ") -> i32\n"
    "  %e = tfrt.call @at(%l, %one) {host = 3 : i32} : (" LIST
    ", i32) -> i32\n"
    "  %f = tfrt.call @at(%l, %two) {host = 1 : i32} : (" LIST
    ", i32) -> i32\n"
    "  tfrt.return %n, %s, %e, %f : i32, i32, i32, i32\n"
    "}\n";

START_TEST(an_error_of_an_element_stays_its_own) {
  run(error_program, 4, -2, 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), -10);
  for (uint32_t i = 1; i < 4; i += 2) {
    const tfrt_status_fields_t* fields = error_of(i);
    ck_assert_uint_eq(fields->origin.rank, 2);
    ck_assert_str_eq(fields->origin.function, "divide");
    ck_assert_str_eq(fields->origin.kernel, "tfrt.div.i32");
  }
  end();
}
END_TEST

// Without lists in common the list stays, with one clear error, and everything else goes on.
static void forget_lists(uint32_t index, tfrt_node_options_t* options) {
  if (index == 2) options->session.features &= ~(tfrt_wire_features_t)TFRT_WIRE_FEATURE_LISTS;
}

static const char old_program[] = FUNCTIONS
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (" LIST
    ")\n"
    "  %s = tfrt.call @sum(%l) {host = 1 : i32} : (" LIST
    ") -> i32\n"
    "  %t = tfrt.call @sum(%l) {host = 2 : i32} : (" LIST
    ") -> i32\n"
    "  %e = tfrt_dist.list.get %l, %one : i32\n"
    "  tfrt.return %s, %t, %e : i32, i32, i32\n"
    "}\n";

START_TEST(a_host_of_a_version_without_lists_gets_one_clear_error) {
  tfrt_node_world_set_configure(forget_lists);
  run(old_program, 3, 5, 3);
  tfrt_node_world_set_configure(NULL);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3 * 5 + 3);
  ck_assert_int_eq(error_of(1)->code, TFRT_STATUS_FAILED_PRECONDITION);
  ck_assert_ptr_nonnull(strstr(error_of(1)->message, "knows no lists between hosts"));
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 6);
  end();
}
END_TEST

// --- Losses and cancels --------------------------------------------------------

static void expect_right_or(uint32_t index, int32_t right, tfrt_status_code_t code) {
  if (!tfrt_async_value_is_error(world.results[index])) {
    ck_assert_int_eq(tfrt_node_world_i32(&world, index), right);
    return;
  }
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  tfrt_status_code_t found = error_of(index)->code;
  ck_assert_msg(found == TFRT_STATUS_UNAVAILABLE || found == code, "%u: %s", index, text);
}

// Host 2, which has an element of the list that host 1 made, dies: only who uses that notices.
START_TEST(the_loss_of_an_element_owner_is_the_loss_of_its_element) {
  bool found = false;
  for (int64_t delay_us = 100; delay_us < 2500; delay_us += 100) {
    start(picked_program, 4, NULL, 5, 3);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 2);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 2 && is_open; ++i) {
      expect_right_or(i, 10, TFRT_STATUS_UNAVAILABLE);
      if (!tfrt_async_value_is_error(world.results[i])) continue;
      found = true;
      ck_assert_uint_eq(error_of(i)->root_key, 0x1002);
      ck_assert_str_eq(error_of(i)->origin.file, "test.mlir");
    }
    if (is_open) expect_right_or(2, 40, TFRT_STATUS_UNAVAILABLE);
    end();
  }
  ck_assert(found);
}
END_TEST

// A text that is too large to go with a list.
#define TEXT_FUNCTION                                                               \
  "func.func @text(%x: i32) -> !tfrt.string {\n" KEY                                \
  "  %big = tfrt.constant.i32 13\n"                                                 \
  "  %t = tfrt.repeat.i32 %big, %k : !tfrt.string {\n"                              \
  "    %b = \"tfrt_test.append_string\"(%k, %k) : (!tfrt.string, !tfrt.string) -> " \
  "!tfrt.string\n"                                                                  \
  "    tfrt.return %b : !tfrt.string\n"                                             \
  "  }\n"                                                                           \
  "  tfrt.return %t : !tfrt.string\n"                                               \
  "}\n"

// Host 0 takes a text of host 2 out of the list that host 1 made.
static const char taken_program[] =
    TEXT_FUNCTION "func.func @make(%x: i32) -> " LIST
                  " {\n"
                  "  %l = tfrt_dist.call_all @text(%x) : (i32) -> (" LIST
                  ")\n"
                  "  tfrt.return %l : " LIST
                  "\n"
                  "}\n"
                  "func.func @main(%x: i32) -> !tfrt.string {\n"
                  "  %l = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> " LIST
                  "\n"
                  "  %two = tfrt.constant.i32 2\n"
                  "  %e = tfrt_dist.list.get %l, %two : !tfrt.string\n"
                  "  %f = tfrt_dist.fetch %e : !tfrt.string\n"
                  "  tfrt.return %f : !tfrt.string\n"
                  "}\n";

// Kills host 2 at each moment of |text|: returns how many of its results are the loss of that, all
// with a place, in @|function| and with a message that has |part|.
static uint32_t count_losses(const char* text, const char* function, const char* part) {
  uint32_t lost = 0;
  for (int64_t delay_us = 100; delay_us < 4000; delay_us += 20) {
    start(text, 3, NULL, 5, 1);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 2);
    tfrt_node_world_await(&world);
    if (is_open && tfrt_async_value_is_error(world.results[0])) {
      ck_assert_uint_eq(error_of(0)->root_key, 0x1002);
      ck_assert_str_eq(error_of(0)->origin.file, "test.mlir");
      ck_assert_uint_gt(error_of(0)->origin.line, 0);
      lost += strcmp(error_of(0)->origin.function, function) == 0 &&
              strstr(error_of(0)->message, part) != NULL;
    }
    end();
  }
  return lost;
}

START_TEST(the_loss_of_an_element_has_the_place_where_its_list_was_made) {
  ck_assert_uint_gt(count_losses(taken_program, "main", "which had a result of @make"), 0);
}
END_TEST

// Host 0 joins a text of host 2, out of the list that host 1 lends to it; what comes of that is the
// result of host 1, and so comes home.
static const char lent_program[] =
    TEXT_FUNCTION "func.func @join(%l: " LIST
                  ") -> !tfrt.string {\n"
                  "  %two = tfrt.constant.i32 2\n"
                  "  %e = tfrt_dist.list.get %l, %two : !tfrt.string\n"
                  "  %t = \"tfrt_test.append_string\"(%e, %e) : (!tfrt.string, !tfrt.string) -> "
                  "!tfrt.string\n"
                  "  tfrt.return %t : !tfrt.string\n"
                  "}\n"
                  "func.func @make(%x: i32) -> !tfrt.string {\n"
                  "  %l = tfrt_dist.call_all @text(%x) : (i32) -> (" LIST
                  ")\n"
                  "  %t = tfrt.call @join(%l) {host = 0 : i32} : (" LIST
                  ") -> !tfrt.string\n"
                  "  tfrt.return %t : !tfrt.string\n"
                  "}\n"
                  "func.func @main(%x: i32) -> !tfrt.string {\n"
                  "  %t = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> !tfrt.string\n"
                  "  tfrt.return %t : !tfrt.string\n"
                  "}\n";

START_TEST(the_loss_of_what_was_lent_has_the_place_where_it_was_needed) {
  ck_assert_uint_gt(count_losses(lent_program, "join", "while a value of it was needed"), 0);
}
END_TEST

// Host 1 makes a list and sends it to host 0 by key. Host 0 takes a text of host 2 out of the list
// once the list is here. The loss concerns no call, and no value that was lent to a function.
#define SENT_PROGRAM(first, second)                                                           \
  TEXT_FUNCTION                                                                               \
  "func.func @give(%x: i32) -> !tfrt.chain {\n"                                               \
  "  %c = tfrt.new.chain\n"                                                                   \
  "  %zero = tfrt.constant.i32 0\n"                                                           \
  "  %h = tfrt_dist.host %zero\n" KEY "  %l = tfrt_dist.call_all @text(%x) : (i32) -> (" LIST \
  ")\n"                                                                                       \
  "  %c1 = tfrt_dist.send %h, %k, %l, %c\n"                                                   \
  "  tfrt.return %c1 : !tfrt.chain\n"                                                         \
  "}\n"                                                                                       \
  "func.func @main(%x: i32) -> !tfrt.string {\n"                                              \
  "  %c0 = tfrt.new.chain\n"                                                                  \
  "  %one = tfrt.constant.i32 1\n"                                                            \
  "  %h = tfrt_dist.host %one\n" KEY first second                                             \
  "  %p = tfrt.print.i32 %one, %c2\n"                                                         \
  "  %two = tfrt.call @after(%x, %p) {host = 1 : i32} : "                                     \
  "(i32, !tfrt.chain) -> i32\n"                                                               \
  "  %e = tfrt_dist.list.get %l, %two : !tfrt.string\n"                                       \
  "  %f = tfrt_dist.fetch %e : !tfrt.string\n"                                                \
  "  tfrt.return %f : !tfrt.string\n"                                                         \
  "}\n"                                                                                       \
  "func.func @after(%x: i32, %c: !tfrt.chain) -> i32 {\n"                                     \
  "  %one = tfrt.constant.i32 1\n"                                                            \
  "  %p = tfrt.print.i32 %one, %c\n"                                                          \
  "  %two = tfrt.constant.i32 2\n"                                                            \
  "  tfrt.return %two : i32\n"                                                                \
  "}\n"
#define GIVE "  %c1 = tfrt.call @give(%x) {host = 1 : i32} : (i32) -> !tfrt.chain\n"
#define TAKE(chain) "  %l, %c2 = tfrt_dist.recv %h, %k, " chain " : " LIST "\n"

// The receiver comes first; or the sender does.
static const char* const sent_programs[] = {
    SENT_PROGRAM(TAKE("%c0"), GIVE),
    SENT_PROGRAM(GIVE, TAKE("%c1")),
};

START_TEST(the_loss_of_an_element_that_was_sent_by_key_has_the_place_of_who_received) {
  uint32_t lost = count_losses(sent_programs[_i], "main", "while a value of it was needed");
  ck_assert_uint_gt(lost, 0);
}
END_TEST

// The maker of a text makes it again.
static const char retried_program[] =
    TEXT_FUNCTION "func.func @take(%l: " LIST
                  ", %x: i32) -> !tfrt.string {\n"
                  "  %two = tfrt.constant.i32 2\n"
                  "  %e = tfrt_dist.list.get %l, %two : !tfrt.string\n"
                  "  %f = tfrt_dist.fetch %e : !tfrt.string\n"
                  "  tfrt.return %f : !tfrt.string\n"
                  "}\n"
                  "func.func @main(%x: i32) -> !tfrt.string {\n"
                  "  %l = tfrt_dist.call_all @text(%x) {pure, retries = 2 : i32} : (i32) -> (" LIST
                  ")\n"
                  "  %t = tfrt.call @take(%l, %x) {host = 3 : i32} : (" LIST
                  ", i32) -> !tfrt.string\n"
                  "  tfrt.return %t : !tfrt.string\n"
                  "}\n";

START_TEST(an_element_that_may_be_made_again_is) {
  uint64_t asked = 0;
  for (int64_t delay_us = 50; delay_us < 2500; delay_us += 50) {
    start(retried_program, 4, NULL, 5, 1);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 2);
    tfrt_node_world_await(&world);
    if (is_open) ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 2u << 12);
    asked += count(3, 0, TFRT_WIRE_FRAME_LOST);
    end();
  }
  ck_assert_msg(asked > 0, "no run had the element lost before it came");
}
END_TEST

// Each of the hosts dies at any time: what is here is right, all else is an error, nothing is left.
START_TEST(the_loss_of_a_host_at_any_time_leaves_nothing) {
  static const char* const programs[] = {result_program, kept_program, nested_program};
  static const uint32_t host_counts[] = {4, 4, 3};
  static const uint32_t result_counts[] = {4, 2, 3};
  static const int32_t right[][4] = {{26, 26, 26, 6}, {8, 26}, {7, 6, 18}};
  for (uint32_t rank = 1; rank < host_counts[_i]; ++rank) {
    for (int64_t delay_us = 50; delay_us < 2500; delay_us += 150) {
      start(programs[_i], host_counts[_i], NULL, 5, result_counts[_i]);
      tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
      tfrt_node_world_kill(&world, rank);
      tfrt_node_world_await(&world);
      for (uint32_t i = 0; i < result_counts[_i]; ++i) {
        expect_right_or(i, right[_i][i], TFRT_STATUS_UNAVAILABLE);
      }
      end();
    }
  }
}
END_TEST

// The elements wait for a line that nobody sends.
static const char waiting_program[] = FUNCTIONS
    "func.func @never(%c: !tfrt.chain) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %h = tfrt_dist.host %zero\n" KEY
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %c = tfrt.new.chain\n"
    "  %l = tfrt_dist.call_all @never(%c) : (!tfrt.chain) -> (" LIST
    ")\n"
    "  %n = tfrt.call @size(%l) {host = 2 : i32} : (" LIST
    ") -> i32\n"
    "  %s = tfrt.call @sum(%l) {host = 1 : i32} : (" LIST
    ") -> i32\n"
    "  tfrt.return %n, %s : i32, i32\n"
    "}\n";

START_TEST(a_cancel_ends_what_waits_for_elements) {
  for (int64_t delay_us = 200; delay_us < 6000; delay_us += 400) {
    start(waiting_program, 3, NULL, 0, 2);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    ck_assert_str_eq(error_of(1)->message, "enough of that");
    expect_right_or(0, 3, TFRT_STATUS_CANCELLED);
    end();
  }
}
END_TEST

// One run with resets, and by chance a kill, a cancel, or both.
static void run_with_faults(uint64_t seed) {
  static const char* const programs[] = {result_program, kept_program, picked_program,
                                         argument_program, moved_program};
  static const uint32_t result_counts[] = {4, 2, 3, 3, 3};
  static const int32_t right[][4] = {
      {26, 26, 26, 6}, {8, 26}, {10, 10, 40}, {26, 4, 7}, {26, 7, 6}};
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)(seed % 7) * options.delay_ns;
  options.break_chance = seed % 3 == 0 ? 5000 : 0;
  uint32_t which = (uint32_t)(seed % TFRT_ARRAY_SIZE(programs));
  start(programs[which], 4, &options, 5, which == 4 ? 4 : result_counts[which]);
  tfrt_random_t* random = tfrt_simulated_network_random(world.network);
  uint64_t step = 4 * TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, step));
  if (tfrt_random_below(random, 2) == 0) {
    tfrt_node_world_kill(&world, (uint32_t)tfrt_random_below(random, 4));
  }
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, step));
  if (tfrt_random_below(random, 3) == 0) {
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
  }
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < result_counts[which]; ++i) {
    expect_right_or(i, right[which][i], TFRT_STATUS_CANCELLED);
  }
  end();
}

START_TEST(random_faults_leave_right_results_or_errors_and_nothing_else) {
  for (uint64_t seed = 1; seed <= 60; ++seed) run_with_faults(60 * (uint64_t)_i + seed);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* lists = tcase_create("lists");
  tcase_set_timeout(lists, 60);
  tcase_add_test(lists, a_list_is_an_argument);
  tcase_add_test(lists, a_list_is_a_result);
  tcase_add_test(lists, any_order_of_messages_gives_the_same);
  tcase_add_test(lists, lists_of_lists_travel_one_by_one);
  tcase_add_test(lists, a_payload_goes_from_its_owner_to_who_uses_it);
  tcase_add_test(lists, a_list_that_is_only_used_in_its_call_is_not_held);
  tcase_add_test(lists, what_is_sent_by_key_outlives_the_call_that_lent_it);
  tcase_add_test(lists, an_element_outlives_its_list);
  tcase_add_test(lists, a_list_is_copied_fetched_sent_ahead_and_given_to_the_client);
  tcase_add_test(lists, an_error_of_an_element_stays_its_own);
  tcase_add_test(lists, a_host_of_a_version_without_lists_gets_one_clear_error);
  tcase_add_test(lists, the_loss_of_an_element_owner_is_the_loss_of_its_element);
  tcase_add_test(lists, the_loss_of_an_element_has_the_place_where_its_list_was_made);
  tcase_add_test(lists, the_loss_of_what_was_lent_has_the_place_where_it_was_needed);
  tcase_add_loop_test(lists,
                      the_loss_of_an_element_that_was_sent_by_key_has_the_place_of_who_received, 0,
                      TFRT_ARRAY_SIZE(sent_programs));
  tcase_add_test(lists, an_element_that_may_be_made_again_is);
  tcase_add_loop_test(lists, the_loss_of_a_host_at_any_time_leaves_nothing, 0, 3);
  tcase_add_test(lists, a_cancel_ends_what_waits_for_elements);
  tcase_add_loop_test(lists, random_faults_leave_right_results_or_errors_and_nothing_else, 0, 5);
  Suite* suite = suite_create("lists");
  suite_add_tcase(suite, lists);
  return suite;
}
