// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/example_record.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

// { "label": [7] in one piece, "image": ["ab"], "many": [1, 2], "old": [5] on its own }
static const char record_bytes[] =
    "\x0a\x3e"
    "\x0a\x0e\x0a\x05\x6c\x61\x62\x65\x6c\x12\x05\x1a\x03\x0a\x01\x07"
    "\x0a\x0f\x0a\x05\x69\x6d\x61\x67\x65\x12\x06\x0a\x04\x0a\x02\x61\x62"
    "\x0a\x0e\x0a\x04\x6d\x61\x6e\x79\x12\x06\x1a\x04\x0a\x02\x01\x02"
    "\x0a\x0b\x0a\x03\x6f\x6c\x64\x12\x04\x1a\x02\x08\x05"
    "\x28\x00";

static tfrt_string_view_t record(void) {
  return tfrt_string_view_make(record_bytes, sizeof(record_bytes) - 1);
}

START_TEST(features_are_found_by_their_keys) {
  testing_ok(tfrt_example_check(record()));
  int64_t number;
  testing_ok(tfrt_example_find_i64(record(), tfrt_string_view_of("label"), &number));
  ck_assert_int_eq(number, 7);
  testing_ok(tfrt_example_find_i64(record(), tfrt_string_view_of("old"), &number));
  ck_assert_int_eq(number, 5);
  tfrt_string_view_t bytes;
  testing_ok(tfrt_example_find_bytes(record(), tfrt_string_view_of("image"), &bytes));
  ck_assert(tfrt_string_view_equal(bytes, tfrt_string_view_of("ab")));
  testing_fails(tfrt_example_find_bytes(record(), tfrt_string_view_of("none"), &bytes),
                TFRT_STATUS_INVALID_ARGUMENT, "key none is not found in the proto", NULL);
  testing_fails(tfrt_example_find_bytes(record(), tfrt_string_view_of("label"), &bytes),
                TFRT_STATUS_INVALID_ARGUMENT, "label has 0 values of bytes", NULL);
  testing_fails(tfrt_example_find_i64(record(), tfrt_string_view_of("many"), &number),
                TFRT_STATUS_INVALID_ARGUMENT, "many has 2 values of i64", NULL);
}
END_TEST

START_TEST(an_empty_record_has_no_features) {
  tfrt_string_view_t nothing = tfrt_string_view_make(NULL, 0);
  testing_ok(tfrt_example_check(nothing));
  int64_t number;
  testing_fails(tfrt_example_find_i64(nothing, tfrt_string_view_of("x"), &number),
                TFRT_STATUS_INVALID_ARGUMENT, "not found", NULL);
}
END_TEST

// Cut anywhere and with any bit flipped, a record is refused or read without harm.
START_TEST(broken_records_are_refused_or_harmless) {
  int refused = 0;
  for (size_t size = 1; size < record().size; ++size) {
    char* cut = tfrt_allocator_copy_string(tfrt_allocator_system(), record_bytes, size);
    tfrt_status_t status = tfrt_example_check(tfrt_string_view_make(cut, size));
    refused += status != NULL;
    tfrt_status_release(status);
    tfrt_allocator_free(tfrt_allocator_system(), cut, size + 1);
  }
  ck_assert_int_gt(refused, (int)record().size - 10);
  for (size_t bit = 0; bit < record().size * 8; ++bit) {
    char* flipped =
        tfrt_allocator_copy_string(tfrt_allocator_system(), record_bytes, record().size);
    flipped[bit / 8] = (char)(flipped[bit / 8] ^ 1 << bit % 8);
    tfrt_string_view_t bad = tfrt_string_view_make(flipped, record().size);
    tfrt_status_t status = tfrt_example_check(bad);
    int64_t number = 0;
    if (!status) status = tfrt_example_find_i64(bad, tfrt_string_view_of("label"), &number);
    tfrt_status_release(status);
    tfrt_allocator_free(tfrt_allocator_system(), flipped, record().size + 1);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("example_record");
  tcase_add_test(cases, features_are_found_by_their_keys);
  tcase_add_test(cases, an_empty_record_has_no_features);
  tcase_add_test(cases, broken_records_are_refused_or_harmless);
  Suite* suite = suite_create("example_record");
  suite_add_tcase(suite, cases);
  return suite;
}
