// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/sync_value.h"

#include <signal.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/support/test_main.h"

static int destroyed;

static void count_destroyed(void* payload) {
  (void)payload;
  ++destroyed;
}

// A type whose destruction is counted.
static tfrt_type_id_t counted_type(void) {
  static const tfrt_type_t type = {.name = "!test.counted", .size = 32, .destroy = count_destroyed};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return id;
}

START_TEST(a_number_lies_in_place) {
  tfrt_sync_value_t value = {.kind = TFRT_SYNC_VALUE_EMPTY};
  int32_t* payload = tfrt_sync_value_construct(&value, TFRT_TYPE_I32);
  *payload = 42;
  ck_assert_int_eq(value.kind, TFRT_SYNC_VALUE_PLAIN);
  ck_assert_int_eq(value.as.i32, 42);
  tfrt_sync_value_t borrowed = tfrt_sync_value_borrow(&value);
  ck_assert_int_eq(borrowed.as.i32, 42);
  tfrt_sync_value_clear(&value);
  ck_assert_int_eq(value.kind, TFRT_SYNC_VALUE_EMPTY);
}
END_TEST

START_TEST(what_has_a_destructor_is_destroyed_once_by_its_owner) {
  destroyed = 0;
  tfrt_sync_value_t value = {.kind = TFRT_SYNC_VALUE_EMPTY};
  ck_assert_ptr_nonnull(tfrt_sync_value_construct(&value, counted_type()));
  tfrt_sync_value_t borrowed = tfrt_sync_value_borrow(&value);
  ck_assert_int_eq(borrowed.kind, TFRT_SYNC_VALUE_BORROWED);
  ck_assert_ptr_eq(tfrt_sync_value_payload(&borrowed), tfrt_sync_value_payload(&value));
  tfrt_sync_value_clear(&borrowed);
  ck_assert_int_eq(destroyed, 0);
  tfrt_sync_value_clear(&value);
  ck_assert_int_eq(destroyed, 1);
  tfrt_sync_value_clear(&value);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(a_payload_moves_to_an_async_value) {
  destroyed = 0;
  tfrt_sync_value_t value = {.kind = TFRT_SYNC_VALUE_EMPTY};
  memcpy(tfrt_sync_value_construct(&value, counted_type()), "0123456789", 10);
  tfrt_async_value_t* moved = tfrt_sync_value_take_async(&value);
  ck_assert_int_eq(value.kind, TFRT_SYNC_VALUE_EMPTY);
  ck_assert_int_eq(destroyed, 0);
  ck_assert_str_eq(tfrt_async_value_payload(moved), "0123456789");
  tfrt_async_value_release(moved);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(what_an_async_value_lends_stays_its_own) {
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_of("lent"));
  tfrt_sync_value_t value = tfrt_sync_value_borrow_async(text);
  ck_assert_int_eq(value.kind, TFRT_SYNC_VALUE_BORROWED);
  const tfrt_string_t* payload = tfrt_sync_value_payload(&value);
  ck_assert_str_eq(payload->data, "lent");
  tfrt_sync_value_clear(&value);
  ck_assert_str_eq(tfrt_async_value_string(text).data, "lent");
  tfrt_async_value_release(text);
  tfrt_async_value_t* number = tfrt_async_value_create_f64(2.5);
  value = tfrt_sync_value_borrow_async(number);
  tfrt_async_value_release(number);
  ck_assert(value.as.f64 == 2.5);
}
END_TEST

START_TEST(a_small_type_that_may_change_is_shared_and_not_copied) {
  static const tfrt_type_t type = {
      .name = "!test.cell", .size = sizeof(int32_t), .flags = TFRT_TYPE_FLAG_MUTABLE};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  tfrt_sync_value_t value = {.kind = TFRT_SYNC_VALUE_EMPTY};
  int32_t* cell = tfrt_sync_value_construct(&value, id);
  tfrt_sync_value_t borrowed = tfrt_sync_value_borrow(&value);
  *(int32_t*)tfrt_sync_value_payload(&borrowed) = 7;
  ck_assert_int_eq(*cell, 7);
  tfrt_sync_value_clear(&value);
}
END_TEST

START_TEST(a_value_of_no_type_is_not_made) {
  tfrt_sync_value_t value;
  ck_abort_msg("made %p", tfrt_sync_value_construct(&value, TFRT_TYPE_NONE));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("sync_value");
  TCase* cases = tcase_create("sync_value");
  tcase_add_test(cases, a_number_lies_in_place);
  tcase_add_test(cases, what_has_a_destructor_is_destroyed_once_by_its_owner);
  tcase_add_test(cases, a_payload_moves_to_an_async_value);
  tcase_add_test(cases, what_an_async_value_lends_stays_its_own);
  tcase_add_test(cases, a_small_type_that_may_change_is_shared_and_not_copied);
  tcase_add_test_raise_signal(cases, a_value_of_no_type_is_not_made, SIGABRT);
  suite_add_tcase(suite, cases);
  return suite;
}
