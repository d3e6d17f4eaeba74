// SPDX-License-Identifier: Apache-2.0
//
// Payloads that are too big for a message, between whole nodes: from the client, between
// hosts, and back.
#include <stdio.h>
#include <string.h>

#include "distributed/domain/domain.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/random.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define INLINE (64 * KIB)  // a payload up to here goes in a message

static tfrt_node_world_t world;

// --- Payloads ----------------------------------------------------------------

static char byte_of(uint64_t seed, uint64_t offset) {
  return (char)(uint8_t)((seed * UINT64_C(0x9e3779b97f4a7c15) + offset * 31) >> 5);
}

// A string (+1) of |size| bytes that follow from |seed|.
static tfrt_async_value_t* make_text(uint64_t size, uint64_t seed) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size + 1);
  for (uint64_t i = 0; i < size; ++i) bytes[i] = byte_of(seed, i);
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_make(bytes, size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size + 1);
  return text;
}

// Checks that result |index| is |times| times the text of |size| bytes made from |seed|.
static void expect_text(uint32_t index, uint64_t size, uint64_t seed, uint64_t times) {
  tfrt_string_view_t text = tfrt_node_world_text(&world, index);
  ck_assert_uint_eq(text.size, size * times);
  for (uint64_t i = 0; i < text.size; ++i) {
    if (text.data[i] == byte_of(seed, i % size)) continue;
    ck_abort_msg("byte %llu of %llu is wrong", (unsigned long long)i,
                 (unsigned long long)text.size);
  }
}

static void start(const char* program, uint64_t size, uint64_t seed, uint32_t result_count) {
  tfrt_async_value_t* text = make_text(size, seed);
  tfrt_node_world_start(&world, program, &text, 1, result_count);
  tfrt_async_value_release(text);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// --- Programs ----------------------------------------------------------------

#define DOUBLE                                              \
  "func.func @double(%s: !tfrt.string) -> !tfrt.string {\n" \
  "  %t = \"tfrt_test.append_string\"(%s, %s)\n"            \
  "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"  \
  "  tfrt.return %t : !tfrt.string\n"                       \
  "}\n"
#define CALL " : (!tfrt.string) -> !tfrt.string\n"

static const char line_program[] = DOUBLE
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  %b = tfrt.call @double(%a) {host = 2 : i32}" CALL
    "  %c = tfrt.call @double(%b) {host = 3 : i32}" CALL
    "  tfrt.return %c : !tfrt.string\n"
    "}\n";

static const char one_call_program[] = DOUBLE
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  tfrt.return %a : !tfrt.string\n"
    "}\n";

static const char two_calls_program[] = DOUBLE
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  %b = tfrt.call @double(%a) {host = 2 : i32}" CALL
    "  tfrt.return %b : !tfrt.string\n"
    "}\n";

// The result of host 1 is used on 2, 3 and 0, and passed on unseen by 2.
static const char fan_program[] = DOUBLE
    "func.func @pass(%s: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n"
    "func.func @relay(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = tfrt.call @double(%s) {host = 3 : i32}" CALL
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @main(%s: !tfrt.string) -> (!tfrt.string, !tfrt.string, !tfrt.string) {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  %b = tfrt.call @relay(%a) {host = 2 : i32}" CALL
    "  %c = tfrt.call @pass(%a) {host = 2 : i32}" CALL
    "  %d = tfrt.call @double(%a) {host = 0 : i32}" CALL
    "  tfrt.return %b, %c, %d : !tfrt.string, !tfrt.string, !tfrt.string\n"
    "}\n";

// --- Ways --------------------------------------------------------------------

START_TEST(a_large_argument_and_a_large_result_cross_hosts) {
  tfrt_node_world_initialize(&world, 4, NULL);
  start(line_program, MIB, 7, 1);
  tfrt_node_world_await(&world);
  expect_text(0, MIB, 7, 8);
  end();
}
END_TEST

START_TEST(one_host_runs_what_the_client_uploads) {
  static const char program[] = DOUBLE
      "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
      "  %a = tfrt.call @double(%s)" CALL
      "  tfrt.return %a : !tfrt.string\n"
      "}\n";
  tfrt_node_world_initialize(&world, 1, NULL);
  start(program, 3 * MIB, 1, 1);
  tfrt_node_world_await(&world);
  expect_text(0, 3 * MIB, 1, 2);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 1, 0), 3 * MIB);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 0, 1), 6 * MIB);
  end();
}
END_TEST

// No payload fits into what other links have carried.
static void expect_bytes(uint32_t from, uint32_t to, uint64_t payload) {
  uint64_t bytes = tfrt_node_world_bulk_bytes(&world, from, to);
  ck_assert_msg(bytes >= payload && bytes < payload + 32 * KIB, "%llu bytes went from %u to %u",
                (unsigned long long)bytes, from, to);
}

START_TEST(a_payload_goes_from_its_owner_to_its_users_and_nowhere_else) {
  tfrt_node_world_initialize(&world, 4, NULL);
  start(line_program, 256 * KIB, 3, 1);
  tfrt_node_world_await(&world);
  expect_text(0, 256 * KIB, 3, 8);
  const uint32_t client = 4;
  expect_bytes(1, 2, 512 * KIB);
  expect_bytes(2, 3, MIB);
  expect_bytes(3, client, 2 * MIB);
  // The argument: the root uploads it; who needs it takes it from there, or from the client.
  uint64_t to_user =
      tfrt_node_world_bulk_bytes(&world, 0, 1) + tfrt_node_world_bulk_bytes(&world, client, 1);
  ck_assert_uint_ge(to_user, 256 * KIB);
  ck_assert_uint_lt(to_user, 256 * KIB + 32 * KIB);
  expect_bytes(client, 0, 256 * KIB);
  expect_bytes(1, 0, 0);
  expect_bytes(2, 0, 0);
  expect_bytes(3, 0, 0);
  expect_bytes(0, client, 0);
  expect_bytes(1, client, 0);
  expect_bytes(2, client, 0);
  expect_bytes(1, 3, 0);
  end();
}
END_TEST

START_TEST(a_value_that_is_passed_on_is_fetched_by_who_uses_it) {
  tfrt_node_world_initialize(&world, 4, NULL);
  start(fan_program, 200 * KIB, 5, 3);
  tfrt_node_world_await(&world);
  expect_text(0, 200 * KIB, 5, 4);
  expect_text(1, 200 * KIB, 5, 2);
  expect_text(2, 200 * KIB, 5, 4);
  const uint32_t client = 4;
  expect_bytes(1, 3, 400 * KIB);
  expect_bytes(1, 0, 400 * KIB);
  // The second result is on 1, and by then perhaps on 0, where it was used.
  uint64_t to_client =
      tfrt_node_world_bulk_bytes(&world, 0, client) + tfrt_node_world_bulk_bytes(&world, 1, client);
  ck_assert_uint_ge(to_client, 1200 * KIB);
  ck_assert_uint_lt(to_client, 1200 * KIB + 32 * KIB);
  expect_bytes(1, 2, 0);
  expect_bytes(2, 3, 0);
  end();
}
END_TEST

// --- Sizes -------------------------------------------------------------------

START_TEST(every_size_around_an_edge_arrives_as_it_was) {
  static const uint64_t sizes[] = {
      0,      1,          4 * KIB, 4 * KIB + 1, 32 * KIB, 32 * KIB + 1, INLINE - 1,
      INLINE, INLINE + 1, MIB - 1, MIB,         MIB + 1,  5 * MIB + 3};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    tfrt_node_world_initialize(&world, 2, NULL);
    start(one_call_program, sizes[i], i, 1);
    tfrt_node_world_await(&world);
    expect_text(0, sizes[i], i, sizes[i] ? 2 : 0);
    bool is_large = sizes[i] > INLINE;
    ck_assert_int_eq(tfrt_node_world_bulk_bytes(&world, 2, 0) >= INLINE, is_large);
    end();
  }
}
END_TEST

START_TEST(a_window_smaller_than_the_payload_only_takes_longer) {
  static const uint64_t windows[] = {1000, INLINE, 100 * KIB, MIB};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(windows); ++i) {
    tfrt_node_world_initialize_with_window(&world, 3, NULL, windows[i]);
    start(two_calls_program, 300 * KIB, i, 1);
    tfrt_node_world_await(&world);
    expect_text(0, 300 * KIB, i, 4);
    end();
  }
}
END_TEST

START_TEST(a_program_of_more_than_a_message_is_fetched) {
  static char program[300 * 1024];
  char* at = program;
  at += sprintf(at, "%s",
                DOUBLE
                "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
                "  %k = \"tfrt_test.get_string\"() {value = \"");
  const size_t size = 200 * 1024;
  for (size_t i = 0; i < size; ++i) *at++ = (char)('a' + i * 7 % 26);
  sprintf(at, "%s",
          "\"} : () -> !tfrt.string\n"
          "  %a = tfrt.call @double(%k) {host = 1 : i32}" CALL
          "  tfrt.return %a : !tfrt.string\n"
          "}\n");
  tfrt_node_world_initialize(&world, 2, NULL);
  start(program, 1, 1, 1);
  tfrt_node_world_await(&world);
  tfrt_string_view_t text = tfrt_node_world_text(&world, 0);
  ck_assert_uint_eq(text.size, 2 * size);
  for (size_t i = 0; i < text.size; ++i) ck_assert_int_eq(text.data[i], 'a' + i % size * 7 % 26);
  // The image, to the root; then from the root to its member.
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 2, 0), size);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 0, 1), size);
  end();
}
END_TEST

START_TEST(many_payloads_at_once_share_a_channel) {
  char program[4096];
  size_t used = (size_t)snprintf(program, sizeof(program), "%s",
                                 DOUBLE "func.func @main(%s: !tfrt.string) -> (");
  const int count = 8;
  for (int i = 0; i < count; ++i) {
    used +=
        (size_t)snprintf(program + used, sizeof(program) - used, "%s!tfrt.string", i ? ", " : "");
  }
  used += (size_t)snprintf(program + used, sizeof(program) - used, ") {\n");
  for (int i = 0; i < count; ++i) {
    used += (size_t)snprintf(program + used, sizeof(program) - used,
                             "  %%r%d = tfrt.call @double(%%s) {host = %d : i32}" CALL, i, i % 3);
  }
  used += (size_t)snprintf(program + used, sizeof(program) - used, "  tfrt.return ");
  for (int i = 0; i < count; ++i) {
    used += (size_t)snprintf(program + used, sizeof(program) - used, "%s%%r%d", i ? ", " : "", i);
  }
  used += (size_t)snprintf(program + used, sizeof(program) - used, " : ");
  for (int i = 0; i < count; ++i) {
    used +=
        (size_t)snprintf(program + used, sizeof(program) - used, "%s!tfrt.string", i ? ", " : "");
  }
  snprintf(program + used, sizeof(program) - used, "\n}\n");
  tfrt_node_world_initialize(&world, 3, NULL);
  start(program, 150 * KIB, 9, 8);
  tfrt_node_world_await(&world);
  for (int i = 0; i < count; ++i) expect_text((uint32_t)i, 150 * KIB, 9, 2);
  end();
}
END_TEST

START_TEST(a_type_without_a_codec_stays_where_it_is) {
  static const char program[] =
      "func.func @read(%a: !test.atomic.i32) -> i32 {\n"
      "  %c = tfrt.new.chain\n"
      "  %x, %d = \"tfrt_test.atomic.get.i32\"(%a, %c)\n"
      "      : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @main(%s: !tfrt.string) -> (i32, i32) {\n"
      "  %a = \"tfrt_test.atomic.create.i32\"() : () -> !test.atomic.i32\n"
      "  %x = tfrt.call @read(%a) {host = 1 : i32} : (!test.atomic.i32) -> i32\n"
      "  %y = tfrt.call @read(%a) {host = 0 : i32} : (!test.atomic.i32) -> i32\n"
      "  tfrt.return %x, %y : i32, i32\n"
      "}\n";
  tfrt_node_world_initialize(&world, 2, NULL);
  start(program, 1, 1, 2);
  tfrt_node_world_await(&world);
  tfrt_status_t status = tfrt_node_world_error(&world, 0);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "!test.atomic.i32"));
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "call a function on host 0"));
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 0);
  end();
}
END_TEST

#define TENSOR "!tfrt_tensor.tensor"
#define CREATE(dims) " = tfrt_dht.create_uninitialized_tensor.f32.2 " dims "\n"
#define LARGE "[300 : i64, 200 : i64]"
#define SMALL "[3 : i64, 2 : i64]"
#define ONES(dims) \
  "func.func @is_ones(%t: " TENSOR                                        \
  ", %c: !tfrt.chain) -> (i1, !tfrt.chain) {\n"                           \
  "  %u" CREATE(dims)                                                     \
  "  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %u, %c 1.0 : f32\n"     \
  "  %e, %c2 = tfrt_dht.tensor_equal.f32 %t, %u, %c1\n"                   \
  "  tfrt.return %e, %c2 : i1, !tfrt.chain\n"                             \
  "}\n"                                                                   \
  "func.func @as_i32(%e: i1) -> i32 {\n"                                  \
  "  %one = tfrt.constant.i32 1\n"                                        \
  "  %zero = tfrt.constant.i32 0\n"                                       \
  "  %r = tfrt.if %e, %one, %zero : (i32, i32) -> (i32) {\n"              \
  "    tfrt.return %one : i32\n"                                          \
  "  } else {\n"                                                          \
  "    tfrt.return %zero : i32\n"                                         \
  "  }\n"                                                                 \
  "  tfrt.return %r : i32\n"                                              \
  "}\n"
#define IS_ONES " : (" TENSOR ", !tfrt.chain) -> (i1, !tfrt.chain)\n"

// Runs |program|, whose result says whether tensors are right, for some orders of messages.
static void expect_ordered(const char* program, int32_t second) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    options.seed = seed;
    options.jitter_ns = 10 * options.delay_ns;
    tfrt_node_world_initialize_with_window(&world, 4, &options, 50 * KIB);
    start(program, 1, 1, 2);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 1);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), second);
    end();
  }
}

// The tensor is filled, lent, and filled again when that call is over: each call sees what the
// chains say.
START_TEST(a_tensor_is_lent_as_it_is_when_its_chain_comes) {
#define LENT(dims) \
  ONES(dims)       \
  "func.func @main(%s: !tfrt.string) -> (i32, i32) {\n"                                   \
  "  %c0 = tfrt.new.chain\n"                                                              \
  "  %t" CREATE(dims)                                                                     \
  "  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 1.0 : f32\n"                    \
  "  %e, %c2 = tfrt.call @is_ones(%t, %c1) {host = 1 : i32}" IS_ONES                      \
  "  %c3 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c2 2.0 : f32\n"                    \
  "  %f, %c4 = tfrt.call @is_ones(%t, %c3) {host = 1 : i32}" IS_ONES                      \
  "  %x = tfrt.call @as_i32(%e) : (i1) -> i32\n"                                          \
  "  %y = tfrt.call @as_i32(%f) : (i1) -> i32\n"                                          \
  "  tfrt.return %x, %y : i32, i32\n"                                                     \
  "}\n"
  expect_ordered(LENT(LARGE), 0);
  expect_ordered(LENT(SMALL), 0);
}
END_TEST

// Host 1 has the tensor at once and fills it late: it is fetched, here and by host 2, when its
// chain says that it is full.
START_TEST(a_tensor_comes_back_as_it_is_when_its_chain_comes) {
#define BACK(dims) \
  ONES(dims)       \
  "func.func @later(%c: !tfrt.chain) -> !tfrt.chain {\n"                                  \
  "  tfrt.return %c : !tfrt.chain\n"                                                      \
  "}\n"                                                                                   \
  "func.func @late(%c: !tfrt.chain) -> !tfrt.chain {\n"                                   \
  "  %d = tfrt.call @later(%c) {host = 3 : i32} : (!tfrt.chain) -> !tfrt.chain\n"         \
  "  %e = tfrt.call @later(%d) {host = 2 : i32} : (!tfrt.chain) -> !tfrt.chain\n"         \
  "  tfrt.return %e : !tfrt.chain\n"                                                      \
  "}\n"                                                                                   \
  "func.func @make(%c: !tfrt.chain) -> (" TENSOR ", !tfrt.chain) {\n"                     \
  "  %t" CREATE(dims)                                                                     \
  "  %d = tfrt.call @late(%c) {host = 2 : i32} : (!tfrt.chain) -> !tfrt.chain\n"          \
  "  %e = tfrt_dht.fill_tensor_with_constant.f32 %t, %d 1.0 : f32\n"                      \
  "  tfrt.return %t, %e : " TENSOR ", !tfrt.chain\n"                                      \
  "}\n"                                                                                   \
  "func.func @main(%s: !tfrt.string) -> (i32, i32) {\n"                                   \
  "  %c0 = tfrt.new.chain\n"                                                              \
  "  %t, %c1 = tfrt.call @make(%c0) {host = 1 : i32}\n"                                   \
  "      : (!tfrt.chain) -> (" TENSOR ", !tfrt.chain)\n"                                  \
  "  %e, %c2 = tfrt.call @is_ones(%t, %c1) {host = 0 : i32}" IS_ONES                      \
  "  %f, %c3 = tfrt.call @is_ones(%t, %c1) {host = 2 : i32}" IS_ONES                      \
  "  %x = tfrt.call @as_i32(%e) : (i1) -> i32\n"                                          \
  "  %y = tfrt.call @as_i32(%f) : (i1) -> i32\n"                                          \
  "  tfrt.return %x, %y : i32, i32\n"                                                     \
  "}\n"
  expect_ordered(BACK(LARGE), 1);
  expect_ordered(BACK(SMALL), 1);
}
END_TEST

START_TEST(a_host_without_memory_for_a_payload_has_an_error_and_goes_on) {
  tfrt_counting_allocator_t memory;
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_host_context_t* host = world.hosts[2].context;
  tfrt_counting_allocator_initialize(&memory, host->allocator, 512 * KIB);
  host->allocator = tfrt_counting_allocator_interface(&memory);
  start(two_calls_program, MIB, 3, 1);
  tfrt_node_world_await(&world);
  tfrt_status_t status = tfrt_node_world_error(&world, 0);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "host 1"));
  tfrt_async_value_release(world.results[0]);
  // The host still receives payloads that fit.
  start(two_calls_program, 200 * KIB, 4, 1);
  tfrt_node_world_await(&world);
  expect_text(0, 200 * KIB, 4, 4);
  end();
}
END_TEST

// --- Losses ------------------------------------------------------------------

#define SMALL_WINDOW (64 * KIB)

START_TEST(a_broken_channel_goes_on_where_it_was) {
  for (uint64_t part = 0; part < 8; ++part) {
    tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
    start(two_calls_program, MIB, part, 1);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, 1 + part * 200 * KIB));
    tfrt_node_world_break(&world, 1, 2);
    tfrt_node_world_await(&world);
    expect_text(0, MIB, part, 4);
    // Resumed, not begun anew: not more than a window was sent twice.
    uint64_t bytes = tfrt_node_world_bulk_bytes(&world, 1, 2);
    ck_assert_msg(bytes < 2 * MIB + 2 * SMALL_WINDOW, "%llu bytes", (unsigned long long)bytes);
    end();
  }
}
END_TEST

START_TEST(uploads_and_downloads_go_on_when_the_client_is_cut_off_for_a_moment) {
  for (uint64_t part = 1; part < 6; ++part) {
    tfrt_node_world_initialize_with_window(&world, 2, NULL, SMALL_WINDOW);
    start(one_call_program, MIB, part, 1);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 2, 0, part * 150 * KIB));
    tfrt_node_world_break(&world, 2, 0);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, part * 300 * KIB));
    tfrt_node_world_break(&world, 2, 1);
    tfrt_node_world_await(&world);
    expect_text(0, MIB, part, 2);
    end();
  }
}
END_TEST

START_TEST(the_death_of_the_owner_in_the_middle_is_an_error_that_names_it) {
  for (uint64_t part = 1; part < 8; ++part) {
    tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
    start(two_calls_program, MIB, part, 1);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, part * 200 * KIB));
    ck_assert_uint_gt(tfrt_node_counts(world.hosts[2].node).transfers, 0);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    tfrt_status_t status = tfrt_node_world_error(&world, 0);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAVAILABLE);
    ck_assert_uint_eq(tfrt_status_fields(status)->root_key, 0x1001);
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "host 1"));
    end();
  }
}
END_TEST

START_TEST(the_death_of_the_borrower_frees_what_was_sent_to_it) {
  tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
  start(two_calls_program, MIB, 1, 1);
  ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, 500 * KIB));
  tfrt_node_world_kill(&world, 2);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_status_fields(tfrt_node_world_error(&world, 0))->root_key, 0x1002);
  // A host that the owner can't dial is dead when it has been silent for long enough.
  tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).transfers, 0);
  end();
}
END_TEST

START_TEST(a_cancel_in_the_middle_stops_the_transfer) {
  for (uint64_t part = 1; part < 8; ++part) {
    tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
    start(two_calls_program, MIB, part, 1);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, part * 200 * KIB));
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    ck_assert_str_eq(tfrt_status_message(tfrt_node_world_error(&world, 0)), "enough of that");
    end();
  }
}
END_TEST

START_TEST(closing_the_job_in_the_middle_leaves_nothing) {
  for (uint64_t part = 0; part < 12; ++part) {
    tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
    start(two_calls_program, MIB, part, 1);
    // At the upload, between the hosts, at the download.
    uint32_t from = part % 3 == 0 ? 3 : (uint32_t)(part % 3);
    uint32_t to = part % 3 == 0 ? 0 : from + 1;
    ck_assert(tfrt_node_world_run_until_bytes(&world, from, to, 1 + part / 3 * 250 * KIB));
    end();
  }
}
END_TEST

// More payloads at once from one host than it gives credit for Wants back before they are over.
#define OWNER_WANTS 64
#define MANY (OWNER_WANTS + 256)
#define MANY_SIZE (35 * 1000)  // of half of one

static void limit_wants(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.first_want_limit = OWNER_WANTS;
}

// A program (owned) whose result is in how many of |count| payloads from host 1 each byte is there.
static char* make_counting_program(int count) {
  size_t size = 2048 + (size_t)count * 256;
  char* program = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  char* at = program;
  at += sprintf(at, "%s",
                DOUBLE
                "func.func @count(%t: !tfrt.string) -> i32 {\n"
                "  %e = \"tfrt_test.string_equal\"(%t, %t)\n"
                "      : (!tfrt.string, !tfrt.string) -> i1\n"
                "  %one = tfrt.constant.i32 1\n"
                "  %zero = tfrt.constant.i32 0\n"
                "  %r = tfrt.if %e, %one, %zero : (i32, i32) -> (i32) {\n"
                "    tfrt.return %one : i32\n"
                "  } else {\n"
                "    tfrt.return %zero : i32\n"
                "  }\n"
                "  tfrt.return %r : i32\n"
                "}\n"
                "func.func @main(%s: !tfrt.string) -> i32 {\n"
                "  %x0 = tfrt.constant.i32 0\n");
  for (int i = 0; i < count; ++i) {
    at += sprintf(at, "  %%a%d = tfrt.call @double(%%s) {host = 1 : i32}" CALL, i);
    at += sprintf(at, "  %%n%d = tfrt.call @count(%%a%d) {host = 0 : i32}", i, i);
    at +=
        sprintf(at, " : (!tfrt.string) -> i32\n  %%x%d = tfrt.add.i32 %%x%d, %%n%d\n", i + 1, i, i);
  }
  sprintf(at, "  tfrt.return %%x%d : i32\n}\n", count);
  return program;
}

static bool have_all_begun(void* argument) {
  (void)argument;
  return tfrt_node_counts(world.hosts[0].node).transfers >= MANY;
}

START_TEST(a_channel_that_is_lost_when_all_credit_is_on_it_takes_no_wish_with_it) {
  tfrt_node_world_set_configure(limit_wants);
  tfrt_node_world_initialize_with_window(&world, 2, NULL, 2 * KIB);
  tfrt_node_world_set_configure(NULL);
  char* program = make_counting_program(MANY);
  start(program, MANY_SIZE, 1, 1);
  tfrt_allocator_free(tfrt_allocator_system(), program, 2048 + MANY * 256);
  ck_assert(tfrt_simulated_network_run_until(world.network, have_all_begun, NULL,
                                             TFRT_NODE_WORLD_SECOND));
  tfrt_node_world_break(&world, 1, 0);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), MANY);
  tfrt_async_value_release(world.results[0]);
  program = make_counting_program(1);
  start(program, MANY_SIZE, 2, 1);
  tfrt_allocator_free(tfrt_allocator_system(), program, 2048 + 256);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 1);
  end();
}
END_TEST

// --- What a bulk channel may say at any time -----------------------------------------

START_TEST(a_channel_that_can_not_be_had_ends_the_session_and_what_needs_it) {
  tfrt_node_world_initialize_with_window(&world, 3, NULL, SMALL_WINDOW);
  start(two_calls_program, MIB, 1, 1);
  ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, 500 * KIB));
  tfrt_bulk_handler_t* handler = &world.hosts[2].node->bulk_handler;
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no bulk channel, says the test");
  const tfrt_bulk_transfer_t other_session = {.incarnation = 0x1001, .session = 7};
  handler->vtable->lost(handler, &other_session, status);
  ck_assert_uint_gt(tfrt_node_counts(world.hosts[2].node).transfers, 0);
  const tfrt_bulk_transfer_t session = {.incarnation = 0x1001, .session = 1};
  handler->vtable->lost(handler, &session, status);
  tfrt_status_release(status);
  tfrt_node_world_await(&world);
  status = tfrt_node_world_error(&world, 0);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(tfrt_status_fields(status)->root_key, 0x1001);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "host 1"));
  end();
}
END_TEST

START_TEST(what_comes_for_a_want_that_is_not_open_is_late) {
  tfrt_node_world_initialize(&world, 2, NULL);
  start(one_call_program, 100, 1, 1);
  tfrt_node_world_await(&world);
  tfrt_bulk_handler_t* handler = &world.hosts[1].node->bulk_handler;
  static const tfrt_bulk_transfer_t late[] = {
      {.incarnation = 0x1000, .session = 1, .want = 77},
      {.incarnation = 0x1000, .session = 9, .want = 1},
      {.incarnation = 0x9999, .session = 1, .want = 1},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(late); ++i) {
    tfrt_bulk_sink_t sink = {0};
    tfrt_status_t status = handler->vtable->begin(
        handler, &late[i], tfrt_string_view_of("!tfrt.string"), tfrt_string_view_of(""), 9, &sink);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
    ck_assert_ptr_null(sink.body);
    handler->vtable->interrupted(handler, &late[i], 0);
    handler->vtable->aborted(handler, &late[i], NULL, status);
    tfrt_status_release(status);
  }
  expect_text(0, 100, 1, 2);
  end();
}
END_TEST

// --- Chance ------------------------------------------------------------------

// One run with resets, and by chance a kill, a cancel, or both.
static void run_with_faults(uint64_t seed) {
  static const uint64_t sizes[] = {70 * 1024, 200 * 1024, 700 * 1024};
  static const uint64_t windows[] = {20 * 1024, 64 * 1024, 300 * 1024, 0};
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)(seed % 5) * options.delay_ns;
  options.break_chance = seed % 4 == 0 ? 0 : 10000;
  tfrt_node_world_initialize_with_window(&world, 4, &options, windows[seed % 4]);
  tfrt_random_t* random = tfrt_simulated_network_random(world.network);
  uint64_t size = sizes[tfrt_random_below(random, 3)];
  bool is_fan = tfrt_random_below(random, 2) == 0;
  uint32_t result_count = is_fan ? 3 : 1;
  start(is_fan ? fan_program : line_program, size, seed, result_count);
  bool is_killed = tfrt_random_below(random, 3) == 0;
  bool is_cancelled = tfrt_random_below(random, 4) == 0;
  uint64_t step_ns = 8 * TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, step_ns));
  if (is_killed) tfrt_node_world_kill(&world, (uint32_t)tfrt_random_below(random, 4));
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, step_ns));
  if (is_cancelled) {
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
  }
  tfrt_node_world_await(&world);
  static const uint64_t times[] = {4, 2, 4};
  for (uint32_t i = 0; i < result_count; ++i) {
    if (!tfrt_async_value_is_error(world.results[i])) {
      expect_text(i, size, seed, is_fan ? times[i] : 8);
      continue;
    }
    char text[1024];
    tfrt_status_format(tfrt_node_world_error(&world, i), text, sizeof(text));
    ck_assert_msg(is_killed || is_cancelled, "seed %llu: %s", (unsigned long long)seed, text);
    tfrt_status_code_t code = tfrt_status_code(tfrt_node_world_error(&world, i));
    ck_assert_msg(code == TFRT_STATUS_UNAVAILABLE || code == TFRT_STATUS_CANCELLED, "seed %llu: %s",
                  (unsigned long long)seed, text);
  }
  end();
}

START_TEST(random_faults_leave_the_right_bytes_or_errors_and_nothing_else) {
  for (uint64_t seed = 1; seed <= 30; ++seed) run_with_faults(30 * (uint64_t)_i + seed);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("transfer");
  TCase* ways = tcase_create("ways");
  tcase_set_timeout(ways, 60);
  tcase_add_test(ways, a_large_argument_and_a_large_result_cross_hosts);
  tcase_add_test(ways, one_host_runs_what_the_client_uploads);
  tcase_add_test(ways, a_payload_goes_from_its_owner_to_its_users_and_nowhere_else);
  tcase_add_test(ways, a_value_that_is_passed_on_is_fetched_by_who_uses_it);
  tcase_add_test(ways, every_size_around_an_edge_arrives_as_it_was);
  tcase_add_test(ways, a_window_smaller_than_the_payload_only_takes_longer);
  tcase_add_test(ways, a_program_of_more_than_a_message_is_fetched);
  tcase_add_test(ways, many_payloads_at_once_share_a_channel);
  tcase_add_test(ways, a_type_without_a_codec_stays_where_it_is);
  tcase_add_test(ways, a_tensor_is_lent_as_it_is_when_its_chain_comes);
  tcase_add_test(ways, a_tensor_comes_back_as_it_is_when_its_chain_comes);
  tcase_add_test(ways, a_host_without_memory_for_a_payload_has_an_error_and_goes_on);
  suite_add_tcase(suite, ways);
  TCase* losses = tcase_create("losses");
  tcase_set_timeout(losses, 60);
  tcase_add_test(losses, a_broken_channel_goes_on_where_it_was);
  tcase_add_test(losses, uploads_and_downloads_go_on_when_the_client_is_cut_off_for_a_moment);
  tcase_add_test(losses, the_death_of_the_owner_in_the_middle_is_an_error_that_names_it);
  tcase_add_test(losses, the_death_of_the_borrower_frees_what_was_sent_to_it);
  tcase_add_test(losses, a_cancel_in_the_middle_stops_the_transfer);
  tcase_add_test(losses, closing_the_job_in_the_middle_leaves_nothing);
  tcase_add_test(losses, a_channel_that_is_lost_when_all_credit_is_on_it_takes_no_wish_with_it);
  tcase_add_test(losses, a_channel_that_can_not_be_had_ends_the_session_and_what_needs_it);
  tcase_add_test(losses, what_comes_for_a_want_that_is_not_open_is_late);
  tcase_add_loop_test(losses, random_faults_leave_the_right_bytes_or_errors_and_nothing_else, 0, 8);
  suite_add_tcase(suite, losses);
  return suite;
}
