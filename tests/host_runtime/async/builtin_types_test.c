// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/builtin_types.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static void assert_printed(tfrt_async_value_t* value, const char* expected) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_type_get(value->type_id)->print(tfrt_async_value_payload(value), &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), expected);
  tfrt_string_builder_deinitialize(&text);
  tfrt_async_value_release(value);
}

START_TEST(scalars_print_as_bef_executor_prints_them) {
  assert_printed(tfrt_async_value_create_i1(true), "1");
  assert_printed(tfrt_async_value_create_i1(false), "0");
  assert_printed(tfrt_async_value_create_i32(-2147483647 - 1), "-2147483648");
  assert_printed(tfrt_async_value_create_i64(INT64_MAX), "9223372036854775807");
  assert_printed(tfrt_async_value_create_f32(42.0f), "4.200000e+01");
  assert_printed(tfrt_async_value_create_f64(-0.1), "-1.000000e-01");
  ck_assert_ptr_null(tfrt_type_get(TFRT_TYPE_CHAIN)->print);
  ck_assert_ptr_null(tfrt_type_get(TFRT_TYPE_STRING)->print);
}
END_TEST

// Sends |value| (consumed) through its codec and checks that it arrives.
static void assert_travels(tfrt_async_value_t* value) {
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  tfrt_encoding_t encoding;
  ck_assert_ptr_null(type->codec->encode(tfrt_async_value_payload(value), &encoding));
  tfrt_async_value_t* copy = tfrt_async_value_create_unconstructed(value->type_id);
  void* body = NULL;
  ck_assert_ptr_null(type->codec->decode(encoding.header, encoding.header_size, encoding.body_size,
                                         tfrt_allocator_system(), tfrt_async_value_payload(copy),
                                         &body));
  if (encoding.body_size) memcpy(body, encoding.body, encoding.body_size);
  if (type->codec->complete) {
    ck_assert_ptr_null(type->codec->complete(tfrt_async_value_payload(copy)));
  }
  tfrt_async_value_set_available(copy);
  if (value->type_id == TFRT_TYPE_STRING) {
    ck_assert(
        tfrt_string_view_equal(tfrt_async_value_string(copy), tfrt_async_value_string(value)));
  } else {
    ck_assert_int_eq(
        memcmp(tfrt_async_value_payload(copy), tfrt_async_value_payload(value), type->size), 0);
  }
  tfrt_async_value_release(copy);
  tfrt_async_value_release(value);
}

START_TEST(values_travel_as_bytes) {
  assert_travels(tfrt_async_value_create_i1(true));
  assert_travels(tfrt_async_value_create_i32(-7));
  assert_travels(tfrt_async_value_create_i64(INT64_MIN));
  assert_travels(tfrt_async_value_create_f32(1.5f));
  static const uint16_t half = 0x3E00;
  assert_travels(tfrt_async_value_create_copy(TFRT_TYPE_F16, &half, sizeof(half)));
  assert_travels(tfrt_async_value_create_copy(TFRT_TYPE_BF16, &half, sizeof(half)));
  static const float parts[2] = {1, -2.5f};
  assert_travels(tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX64, parts, sizeof(parts)));
  static const double long_parts[2] = {0.25, 4};
  assert_travels(
      tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX128, long_parts, sizeof(long_parts)));
  assert_travels(tfrt_async_value_create_f64(1e300));
  uint16_t number = 65535;
  assert_travels(tfrt_async_value_create_copy(TFRT_TYPE_UI16, &number, sizeof number));
  assert_travels(tfrt_async_value_retain(tfrt_async_value_ready_chain()));
  assert_travels(tfrt_async_value_create_string(tfrt_string_view_make("a\0b", 3)));
  assert_travels(tfrt_async_value_create_string(tfrt_string_view_of(NULL)));
}
END_TEST

static void assert_refused(tfrt_status_t status) {
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}

START_TEST(sizes_that_do_not_fit_are_refused) {
  uint64_t payload[4];
  uint8_t header[1] = {0};
  void* body = &payload;
  for (int id = TFRT_TYPE_CHAIN; id < TFRT_TYPE_STRING; ++id) {
    const tfrt_type_t* type = tfrt_type_get((tfrt_type_id_t)id);
    assert_refused(
        type->codec->decode(header, 0, type->size + 1, tfrt_allocator_system(), payload, &body));
    ck_assert_ptr_null(body);
    assert_refused(
        type->codec->decode(header, 1, type->size, tfrt_allocator_system(), payload, &body));
  }
  assert_refused(tfrt_type_get(TFRT_TYPE_STRING)
                     ->codec->decode(header, 1, 3, tfrt_allocator_system(), payload, &body));
}
END_TEST

START_TEST(an_i1_is_zero_or_one) {
  unsigned char byte = 2;
  assert_refused(tfrt_type_get(TFRT_TYPE_I1)->codec->complete(&byte));
}
END_TEST

START_TEST(a_string_that_is_too_big_for_its_budget_is_refused) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 100);
  const tfrt_codec_t* codec = tfrt_type_get(TFRT_TYPE_STRING)->codec;
  tfrt_string_t string;
  void* body = NULL;
  size_t sizes[] = {100, SIZE_MAX};
  for (int i = 0; i < 2; ++i) {
    tfrt_status_t status =
        codec->decode(NULL, 0, sizes[i], tfrt_counting_allocator_interface(&books), &string, &body);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
    tfrt_status_release(status);
  }
  ck_assert_ptr_null(
      codec->decode(NULL, 0, 99, tfrt_counting_allocator_interface(&books), &string, &body));
  tfrt_type_get(TFRT_TYPE_STRING)->destroy(&string);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

// An allocator of one block, whose bytes are 'x' until somebody writes to them.
static char painted[64];

static void* allocate_painted(void* self, size_t size, size_t alignment) {
  (void)self, (void)alignment;
  ck_assert_uint_le(size, sizeof(painted));
  return memset(painted, 'x', sizeof(painted));
}

static void deallocate_painted(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self, (void)pointer, (void)size, (void)alignment;
}

// A program of hundreds of megabytes is a string, and the thread that makes room for it also reads
// heartbeats.
START_TEST(the_room_for_a_string_is_not_touched_before_its_bytes_come) {
  static const tfrt_allocator_vtable_t vtable = {.allocate = allocate_painted,
                                                 .deallocate = deallocate_painted};
  const tfrt_allocator_t allocator = {.vtable = &vtable};
  tfrt_string_t string;
  void* body = NULL;
  ck_assert_ptr_null(tfrt_type_get(TFRT_TYPE_STRING)
                         ->codec->decode(NULL, 0, sizeof(painted) - 1, allocator, &string, &body));
  const char* bytes = body;
  for (size_t i = 0; i + 1 < sizeof(painted); ++i) ck_assert_int_eq(bytes[i], 'x');
  ck_assert_int_eq(bytes[sizeof(painted) - 1], 0);
  tfrt_type_get(TFRT_TYPE_STRING)->destroy(&string);
}
END_TEST

START_TEST(a_string_is_read_through_an_indirect) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_indirect_value_forward_take(indirect,
                                   tfrt_async_value_create_string(tfrt_string_view_of("hi")));
  tfrt_string_view_t text = tfrt_async_value_string(&indirect->base);
  ck_assert(tfrt_string_view_equal(text, tfrt_string_view_of("hi")));
  ck_assert_str_eq(text.data, "hi");
  tfrt_async_value_release(&indirect->base);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("builtin_types");
  tcase_add_test(tests, scalars_print_as_bef_executor_prints_them);
  tcase_add_test(tests, values_travel_as_bytes);
  tcase_add_test(tests, sizes_that_do_not_fit_are_refused);
  tcase_add_test(tests, an_i1_is_zero_or_one);
  tcase_add_test(tests, a_string_that_is_too_big_for_its_budget_is_refused);
  tcase_add_test(tests, the_room_for_a_string_is_not_touched_before_its_bytes_come);
  tcase_add_test(tests, a_string_is_read_through_an_indirect);
  Suite* suite = suite_create("builtin_types");
  suite_add_tcase(suite, tests);
  return suite;
}
