// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/session.h"

#include "tests/support/test_main.h"

START_TEST(limits_in_force_are_the_smaller_ones) {
  tfrt_wire_limits_t ours = {.batch_bytes = 300000, .inline_bytes = 300, .silence_ms = 9000};
  tfrt_wire_limits_t theirs = {.batch_bytes = 400000, .inline_bytes = 200, .silence_ms = 8000};
  tfrt_wire_limits_t limits = tfrt_wire_limits_in_force(&ours, &theirs);
  ck_assert_uint_eq(limits.batch_bytes, 300000);
  ck_assert_uint_eq(limits.inline_bytes, 200);
  ck_assert_uint_eq(limits.silence_ms, 8000);
}
END_TEST

START_TEST(what_nobody_says_is_the_default) {
  tfrt_wire_limits_t limits = tfrt_wire_limits_in_force(NULL, NULL);
  ck_assert_uint_eq(limits.batch_bytes, TFRT_WIRE_MAX_BATCH_SIZE);
  ck_assert_uint_eq(limits.chunk_bytes, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE);
  ck_assert_uint_eq(limits.inline_bytes, TFRT_WIRE_DEFAULT_INLINE_SIZE);
  ck_assert_uint_eq(limits.replay_bytes, TFRT_WIRE_DEFAULT_REPLAY_SIZE);
  ck_assert_uint_eq(limits.objects, TFRT_WIRE_DEFAULT_OBJECTS);
  ck_assert_uint_eq(limits.heartbeat_period_ms, 1000);
  ck_assert_uint_eq(limits.silence_ms, 5000);
}
END_TEST

START_TEST(no_limit_rises_above_the_protocol) {
  tfrt_wire_limits_t huge = {
      .batch_bytes = UINT32_MAX, .chunk_bytes = UINT32_MAX, .inline_bytes = UINT32_MAX};
  tfrt_wire_limits_t limits = tfrt_wire_limits_in_force(&huge, &huge);
  ck_assert_uint_eq(limits.batch_bytes, TFRT_WIRE_MAX_BATCH_SIZE);
  ck_assert_uint_eq(limits.chunk_bytes, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE);
  ck_assert_uint_eq(limits.inline_bytes, TFRT_WIRE_MAX_INLINE_SIZE);
}
END_TEST

// The limits are the same on both sides, whichever side asks for less.
START_TEST(no_limit_falls_below_the_protocol) {
  const tfrt_wire_limits_t tiny = {.batch_bytes = 1,
                                   .chunk_bytes = 1,
                                   .inline_bytes = 1,
                                   .replay_bytes = 1,
                                   .heartbeat_period_ms = 1,
                                   .silence_ms = 1};
  for (int i = 0; i < 2; ++i) {
    tfrt_wire_limits_t limits =
        tfrt_wire_limits_in_force(i == 0 ? &tiny : NULL, i == 0 ? NULL : &tiny);
    ck_assert_uint_eq(limits.batch_bytes, 262144);
    ck_assert_uint_eq(limits.chunk_bytes, 4096);
    ck_assert_uint_eq(limits.inline_bytes, 1);
    ck_assert_uint_eq(limits.replay_bytes, 65536);
    ck_assert_uint_eq(limits.heartbeat_period_ms, 10);
    ck_assert_uint_eq(limits.silence_ms, 20);
  }
}
END_TEST

START_TEST(silence_is_two_periods_in_force_at_least) {
  const tfrt_wire_limits_t slow = {.heartbeat_period_ms = 4000, .silence_ms = 30000};
  const tfrt_wire_limits_t hasty = {.heartbeat_period_ms = 3000, .silence_ms = 10};
  ck_assert_uint_eq(tfrt_wire_limits_in_force(&slow, &hasty).silence_ms, 6000);
  const tfrt_wire_limits_t huge = {.heartbeat_period_ms = UINT32_MAX, .silence_ms = 10};
  ck_assert_uint_eq(tfrt_wire_limits_in_force(&huge, &huge).silence_ms, UINT32_MAX);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* session = tcase_create("session");
  tcase_add_test(session, limits_in_force_are_the_smaller_ones);
  tcase_add_test(session, what_nobody_says_is_the_default);
  tcase_add_test(session, no_limit_rises_above_the_protocol);
  tcase_add_test(session, no_limit_falls_below_the_protocol);
  tcase_add_test(session, silence_is_two_periods_in_force_at_least);
  Suite* suite = suite_create("session");
  suite_add_tcase(suite, session);
  return suite;
}
