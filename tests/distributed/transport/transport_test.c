// SPDX-License-Identifier: Apache-2.0
//
// The parts of the transport interface that need no transport; the rest is in
// transport_suite.c.
#include "distributed/transport/transport.h"

#include "tests/support/test_main.h"

START_TEST(secrets_are_equal_only_if_every_byte_is) {
  const tfrt_string_view_t secret = tfrt_string_view_of("secret");
  ck_assert(tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("secret")));
  ck_assert(!tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("secreT")));
  ck_assert(!tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("Secret")));
  ck_assert(!tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("secre")));
  ck_assert(!tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("secrets")));
  ck_assert(!tfrt_transport_secrets_are_equal(secret, tfrt_string_view_of("")));
  ck_assert(tfrt_transport_secrets_are_equal((tfrt_string_view_t){0}, tfrt_string_view_of("")));
}
END_TEST

START_TEST(metadata_is_found_by_its_whole_name) {
  const tfrt_transport_metadata_t metadata[] = {
      {tfrt_string_view_of("key"), tfrt_string_view_of("1")},
      {tfrt_string_view_of("key-2"), tfrt_string_view_of("2")},
  };
  tfrt_string_view_t value;
  ck_assert(tfrt_transport_metadata_find(metadata, 2, tfrt_string_view_of("key-2"), &value));
  ck_assert(tfrt_string_view_equal(value, tfrt_string_view_of("2")));
  ck_assert(!tfrt_transport_metadata_find(metadata, 2, tfrt_string_view_of("ke"), &value));
  ck_assert_uint_eq(value.size, 0);
  ck_assert(!tfrt_transport_metadata_find(NULL, 0, tfrt_string_view_of("key"), &value));
}
END_TEST

START_TEST(ends_have_names) {
  ck_assert_str_eq(tfrt_transport_end_name(TFRT_TRANSPORT_ENDED), "ENDED");
  ck_assert_str_eq(tfrt_transport_end_name(TFRT_TRANSPORT_NO_ANSWER), "NO_ANSWER");
  ck_assert_str_eq(tfrt_transport_end_name((tfrt_transport_end_t)99), "UNKNOWN");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("transport");
  TCase* helpers = tcase_create("helpers");
  tcase_add_test(helpers, secrets_are_equal_only_if_every_byte_is);
  tcase_add_test(helpers, metadata_is_found_by_its_whole_name);
  tcase_add_test(helpers, ends_have_names);
  suite_add_tcase(suite, helpers);
  return suite;
}
