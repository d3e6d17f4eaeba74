// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/string_builder.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_string_builder_t builder;

static void begin(void) { tfrt_string_builder_initialize(&builder, tfrt_allocator_system()); }
static void end(void) { tfrt_string_builder_deinitialize(&builder); }

START_TEST(an_empty_builder_is_an_empty_text) {
  begin();
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "");
  ck_assert_uint_eq(tfrt_string_builder_view(&builder).size, 0);
  ck_assert_ptr_null(tfrt_string_builder_status(&builder));
  end();
}
END_TEST

START_TEST(what_is_appended_follows_in_order) {
  begin();
  tfrt_string_builder_append_text(&builder, "a");
  tfrt_string_builder_append_char(&builder, 'b');
  tfrt_string_builder_append_fill(&builder, '-', 3);
  tfrt_string_builder_append_view(&builder, tfrt_string_view_of("c"));
  tfrt_string_builder_append_format(&builder, "%d%s", 4, "e");
  tfrt_string_builder_append(&builder, NULL, 0);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "ab---c4e");
  tfrt_string_builder_clear(&builder);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "");
  end();
}
END_TEST

START_TEST(a_formatted_text_may_be_longer_than_the_room) {
  char text[500];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  begin();
  tfrt_string_builder_append_text(&builder, "start ");
  tfrt_string_builder_append_format(&builder, "%s", text);
  ck_assert_uint_eq(builder.size, 6 + sizeof text - 1);
  ck_assert_str_eq(tfrt_string_builder_text(&builder) + 6, text);
  end();
}
END_TEST

START_TEST(without_memory_the_rest_is_dropped_and_the_status_tells) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 100);
  tfrt_string_builder_initialize(&builder, tfrt_counting_allocator_interface(&books));
  tfrt_string_builder_append_text(&builder, "kept");
  tfrt_string_builder_append_fill(&builder, 'x', 200);
  tfrt_string_builder_append_text(&builder, "dropped");
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "kept");
  tfrt_status_t status = tfrt_string_builder_status(&builder);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_status_release(status);
  tfrt_string_builder_clear(&builder);
  tfrt_string_builder_append_format(&builder, "%s %200d", "long", 1);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "");
  ck_assert(builder.failed);
  end();
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

START_TEST(a_block_with_room_is_taken_and_goes_on_growing) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_string_builder_initialize(&builder, allocator);
  for (int i = 0; i < 2; ++i) {
    char* block = tfrt_allocator_allocate(allocator, 8);
    memcpy(block, "abc?????", 8);
    tfrt_string_builder_append_take_room(&builder, block, 3, 8);
    ck_assert_int_eq(tfrt_string_builder_view(&builder).data == block, i == 0);
    ck_assert_str_eq(tfrt_string_builder_text(&builder), i == 0 ? "abc" : "abcdabc");
    tfrt_string_builder_append_text(&builder, "d");
  }
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "abcdabcd");
  tfrt_string_builder_deinitialize(&builder);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

START_TEST(room_that_was_reserved_is_not_left_while_the_text_grows) {
  begin();
  tfrt_string_builder_append_text(&builder, "ab");
  tfrt_string_builder_reserve(&builder, 1000);
  const char* data = builder.data;
  tfrt_string_builder_append_fill(&builder, '-', 1000);
  ck_assert_ptr_eq(builder.data, data);
  ck_assert_uint_eq(builder.size, 1002);
  ck_assert_int_eq(memcmp(data, "ab--", 4), 0);
  // More than there can be.
  tfrt_string_builder_reserve(&builder, SIZE_MAX);
  tfrt_status_t status = tfrt_string_builder_status(&builder);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_status_release(status);
  end();
}
END_TEST

START_TEST(bytes_are_taken_without_a_copy_where_nothing_is_yet) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_string_builder_initialize(&builder, allocator);
  tfrt_string_builder_append_take(&builder, NULL, 0);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "");
  tfrt_string_builder_clear(&builder);
  char* first = tfrt_allocator_allocate(allocator, 3);
  memcpy(first, "abc", 3);
  tfrt_string_builder_append_take(&builder, first, 3);
  ck_assert_ptr_eq(tfrt_string_builder_view(&builder).data, first);
  ck_assert_uint_eq(tfrt_string_builder_view(&builder).size, 3);
  char* second = tfrt_allocator_allocate(allocator, 2);
  memcpy(second, "de", 2);
  tfrt_string_builder_append_take(&builder, second, 2);
  tfrt_string_builder_append_text(&builder, "f");
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "abcdef");
  end();
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("string_builder");
  tcase_add_test(tests, an_empty_builder_is_an_empty_text);
  tcase_add_test(tests, what_is_appended_follows_in_order);
  tcase_add_test(tests, a_formatted_text_may_be_longer_than_the_room);
  tcase_add_test(tests, room_that_was_reserved_is_not_left_while_the_text_grows);
  tcase_add_test(tests, bytes_are_taken_without_a_copy_where_nothing_is_yet);
  tcase_add_test(tests, a_block_with_room_is_taken_and_goes_on_growing);
  tcase_add_test(tests, without_memory_the_rest_is_dropped_and_the_status_tells);
  Suite* suite = suite_create("string_builder");
  suite_add_tcase(suite, tests);
  return suite;
}
