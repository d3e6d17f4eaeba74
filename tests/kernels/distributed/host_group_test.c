// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/host_group.h"

#include <string.h>

#include "tests/support/test_main.h"

static void set_up(void) {
  tfrt_status_t status = tfrt_host_group_register();
  ck_assert_ptr_null(status);
}

static tfrt_string_view_t no_name(void) { return tfrt_string_view_make(NULL, 0); }

static void expect_refused(const uint32_t* ranks, uint32_t count, uint32_t host_count,
                           const char* message) {
  tfrt_status_t status =
      tfrt_host_group_check(ranks, count, no_name(), host_count, tfrt_allocator_system());
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(tfrt_status_message(status), message);
  tfrt_status_release(status);
}

START_TEST(what_is_no_group_is_refused) {
  static const uint32_t twice[3] = {0, 2, 0};
  static const uint32_t high[2] = {3, 4};
  static const uint32_t negative[1] = {UINT32_MAX};
  expect_refused(NULL, 0, 4, "a group needs a host; tfrt_dist.world has all of them");
  expect_refused(twice, 3, 4, "host 0 is in the group twice; each host is a member once");
  expect_refused(high, 2, 4, "the group names host 4, the job has 4 hosts");
  expect_refused(negative, 1, 4, "the group names host -1, the job has 4 hosts");
  expect_refused(high, 2, 1, "the group names host 3, the job has 1 host");
  tfrt_status_t status =
      tfrt_host_group_check(twice, 2, tfrt_string_view_make("", TFRT_HOST_GROUP_MAX_NAME_SIZE + 1),
                            4, tfrt_allocator_system());
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
  ck_assert_ptr_null(tfrt_host_group_check(twice, 2, no_name(), 4, tfrt_allocator_system()));
}
END_TEST

START_TEST(a_group_knows_its_members_and_says_who_they_are) {
  static const uint32_t ranks[7] = {3, 0, 1, 2, 9, 7, 6};
  tfrt_async_value_t* value =
      tfrt_async_value_create_group(ranks, 7, tfrt_string_view_of("rows"), tfrt_allocator_system());
  const tfrt_host_group_t* group = tfrt_async_value_payload(value);
  ck_assert_uint_eq(tfrt_host_group_position(group, 3), 0);
  ck_assert_uint_eq(tfrt_host_group_position(group, 6), 6);
  ck_assert_uint_eq(tfrt_host_group_position(group, 5), TFRT_HOST_GROUP_NOBODY);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_type_get(value->type_id)->print(group, &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), "group of hosts 3,0-2,9,7,6 named rows");
  tfrt_string_builder_deinitialize(&text);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(a_group_goes_into_bytes_and_back) {
  static const uint32_t ranks[3] = {5, 1, 0};
  tfrt_async_value_t* value =
      tfrt_async_value_create_group(ranks, 3, tfrt_string_view_of("ab"), tfrt_allocator_system());
  const tfrt_type_t* type = tfrt_type_get(tfrt_host_group_type_id());
  tfrt_encoding_t encoding;
  ck_assert_ptr_null(type->codec->encode(tfrt_async_value_payload(value), &encoding));
  ck_assert_uint_eq(encoding.body_size, 14);
  tfrt_host_group_t copy;
  void* body = NULL;
  ck_assert_ptr_null(type->codec->decode(encoding.header, encoding.header_size, encoding.body_size,
                                         tfrt_allocator_system(), &copy, &body));
  memcpy(body, encoding.body, encoding.body_size);
  ck_assert_ptr_null(type->codec->complete(&copy));
  ck_assert_uint_eq(copy.count, 3);
  ck_assert_uint_eq(tfrt_host_group_position(&copy, 1), 1);
  ck_assert(tfrt_string_view_equal(tfrt_host_group_name(&copy), tfrt_string_view_of("ab")));
  // A rank that no job can have.
  ((uint32_t*)body)[0] = UINT32_MAX;
  tfrt_status_t status = type->codec->complete(&copy);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
  type->destroy(&copy);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(bytes_of_another_size_are_refused) {
  const tfrt_codec_t* codec = tfrt_type_get(tfrt_host_group_type_id())->codec;
  // Ranks, bytes of the name, size of the body.
  static const uint32_t cases[][3] = {{0, 0, 0}, {1, 0, 3},     {1, 1, 4},
                                      {2, 0, 4}, {1, 200, 204}, {UINT32_MAX, 0, 8}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    tfrt_host_group_t group;
    void* body = &group;
    tfrt_status_t status = codec->decode((const uint8_t*)cases[i], 8, cases[i][2],
                                         tfrt_allocator_system(), &group, &body);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_null(body);
    tfrt_status_release(status);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* groups = tcase_create("groups");
  tcase_add_checked_fixture(groups, set_up, NULL);
  tcase_add_test(groups, what_is_no_group_is_refused);
  tcase_add_test(groups, a_group_knows_its_members_and_says_who_they_are);
  tcase_add_test(groups, a_group_goes_into_bytes_and_back);
  tcase_add_test(groups, bytes_of_another_size_are_refused);
  Suite* suite = suite_create("host groups");
  suite_add_tcase(suite, groups);
  return suite;
}
