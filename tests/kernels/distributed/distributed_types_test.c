// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/distributed_types.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static void set_up(void) {
  tfrt_status_t status = tfrt_distributed_types_register();
  ck_assert_ptr_null(status);
}

START_TEST(registering_again_changes_nothing) {
  tfrt_type_id_t host = tfrt_host_type_id();
  tfrt_type_id_t list = tfrt_value_list_type_id();
  ck_assert_uint_ne(host, list);
  set_up();
  ck_assert_uint_eq(tfrt_host_type_id(), host);
  ck_assert_uint_eq(tfrt_value_list_type_id(), list);
}
END_TEST

START_TEST(a_host_goes_into_bytes_and_back) {
  const tfrt_codec_t* codec = tfrt_type_get(tfrt_host_type_id())->codec;
  tfrt_async_value_t* host = tfrt_async_value_create_host(7);
  tfrt_encoding_t encoding;
  tfrt_status_t status = codec->encode(tfrt_async_value_payload(host), &encoding);
  ck_assert_ptr_null(status);
  ck_assert_uint_eq(encoding.header_size, 0);
  uint32_t copy = 0;
  void* body = NULL;
  status = codec->decode(encoding.header, encoding.header_size, encoding.body_size,
                         tfrt_allocator_system(), &copy, &body);
  ck_assert_ptr_null(status);
  memcpy(body, encoding.body, encoding.body_size);
  ck_assert_uint_eq(copy, 7);
  tfrt_async_value_release(host);
}
END_TEST

START_TEST(a_host_of_another_size_is_refused) {
  const tfrt_codec_t* codec = tfrt_type_get(tfrt_host_type_id())->codec;
  static const size_t sizes[][2] = {{0, 3}, {0, 5}, {1, 4}, {0, 0}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    uint32_t copy = 0;
    void* body = &copy;
    uint8_t header[1] = {0};
    tfrt_status_t status =
        codec->decode(header, sizes[i][0], sizes[i][1], tfrt_allocator_system(), &copy, &body);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_null(body);
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(a_list_gives_its_elements_back) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  int64_t before = tfrt_async_value_live_count();
  tfrt_async_value_t** elements = NULL;
  tfrt_async_value_t* list =
      tfrt_async_value_create_list(2, tfrt_counting_allocator_interface(&books), &elements);
  ck_assert_ptr_nonnull(elements);
  elements[0] = tfrt_async_value_create_i32(1);
  tfrt_indirect_value_t* late = tfrt_indirect_value_create();
  elements[1] = tfrt_async_value_retain(&late->base);
  ck_assert_uint_eq(((tfrt_value_list_t*)tfrt_async_value_payload(list))->count, 2);
  ck_assert(tfrt_async_value_is_available(list));
  tfrt_async_value_release(list);
  tfrt_async_value_release(&late->base);
  ck_assert_int_eq(tfrt_async_value_live_count(), before);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

START_TEST(without_memory_there_is_an_error_instead_of_a_list) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 8);
  tfrt_async_value_t** elements = NULL;
  tfrt_async_value_t* list =
      tfrt_async_value_create_list(100, tfrt_counting_allocator_interface(&books), &elements);
  ck_assert_ptr_null(elements);
  ck_assert(tfrt_async_value_is_error(list));
  tfrt_async_value_release(list);
}
END_TEST

START_TEST(hosts_and_lists_say_what_they_are) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  uint32_t rank = 3;
  tfrt_type_get(tfrt_host_type_id())->print(&rank, &text);
  tfrt_value_list_t list = {.count = 2};
  tfrt_string_builder_append_text(&text, ", ");
  tfrt_type_get(tfrt_value_list_type_id())->print(&list, &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), "host 3, list of 2");
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* types = tcase_create("distributed types");
  tcase_add_checked_fixture(types, set_up, NULL);
  tcase_add_test(types, registering_again_changes_nothing);
  tcase_add_test(types, a_host_goes_into_bytes_and_back);
  tcase_add_test(types, a_host_of_another_size_is_refused);
  tcase_add_test(types, a_list_gives_its_elements_back);
  tcase_add_test(types, without_memory_there_is_an_error_instead_of_a_list);
  tcase_add_test(types, hosts_and_lists_say_what_they_are);
  Suite* suite = suite_create("distributed types");
  suite_add_tcase(suite, types);
  return suite;
}
