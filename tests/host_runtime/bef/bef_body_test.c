// SPDX-License-Identifier: Apache-2.0
//
// Bodies of many kernels; most are checked the short way (bef_body.c). A right kernel is read as it
// is; a wrong one gives the same error as a kernel that stands alone.
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "tests/host_runtime/bef/bef_test_files.h"
#include "tests/support/test_main.h"

// More kernels than can be checked the long way because they stand at the end of the section.
enum { COUNT = 60 };

START_TEST(each_kernel_of_a_chain_is_as_written) {
  test_bytes_t bytes = test_chain_file(COUNT);
  tfrt_bef_file_t* file = test_load(bytes);
  const tfrt_bef_function_t* function = tfrt_bef_file_function(file, 0);
  ck_assert_uint_eq(function->kernel_count, COUNT + 1);
  ck_assert_uint_eq(function->register_count, COUNT + 1);
  ck_assert_uint_eq(function->stream_count, 1);
  ck_assert_uint_eq(function->attribute_count, 0);
  // The pseudo kernel has two results.
  ck_assert_uint_eq(function->value_count, 2 + 3 * COUNT);
  for (uint32_t k = 1; k <= COUNT; ++k) {
    tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(file, function, k);
    ck_assert_uint_eq(kernel.arguments[0], k - 1);
    ck_assert_uint_eq(kernel.arguments[1], 0);
    ck_assert_uint_eq(kernel.results[0], k);
    ck_assert_uint_eq(function->use_counts[k], 1);
    tfrt_bef_source_location_t place;
    ck_assert(tfrt_bef_file_source_location(file, kernel.location, &place));
    ck_assert_uint_eq(place.line, 2 + 100 * (k - 1));
  }
  ck_assert_uint_eq(function->use_counts[0], COUNT + 1);
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}
END_TEST

// Kernel 2, from its argument count on: 2 arguments, no attributes and functions, 1 result with 1
// user, registers 1 and 0, result register 2, user 3.
static const uint32_t kSecond[] = {2, 0, 0, 1, 1, 1, 0, 2, 3};

// Word |index| of that, or before it, set to |word| must be refused with |part|.
static void refuse(int index, uint32_t word, const char* part) {
  test_bytes_t bytes = test_chain_file(COUNT);
  uint8_t* record = memmem(bytes.data, bytes.size, kSecond, sizeof(kSecond));
  ck_assert_ptr_nonnull(record);
  memcpy(record + index * (int)sizeof(word), &word, sizeof(word));
  const char* parts[] = {"section Functions, function 0 'f'", part};
  test_refuse(bytes, parts, 2);
  test_free(bytes.data, bytes.size);
}

START_TEST(what_is_wrong_with_a_kernel_among_many_is_said) {
  refuse(0, 1, "kernel 2, byte 0x");
  refuse(0, UINT32_MAX, "goes beyond the section");
  refuse(1, 1, "kernel 2, byte 0x");
  refuse(1, 1, "attribute offset 2 is out of range");
  refuse(2, 1, "function 2 is out of range");
  refuse(3, UINT32_MAX, "goes beyond the section");
  refuse(4, 100000, "goes beyond the section");
  refuse(4, 0, "kernel 3, byte 0x");
  refuse(5, 2, "register 2 is used before any kernel sets it");
  refuse(5, COUNT + 1, "register 61 is out of range (there are 61)");
  refuse(6, 1, "register 0 has 60 uses, but its use count is 61");
  refuse(7, 1, "register 1 is set by kernel 1 already");
  refuse(7, COUNT + 1, "result register 61 is out of range");
  refuse(7, COUNT, "register 2 is used before any kernel sets it");
  refuse(8, 4, "kernel 4 is listed as a user of register 2 more often than it uses it");
}
END_TEST

START_TEST(a_bad_code_or_location_among_many_is_said) {
  refuse(-2, 7, "kernel code 7 is out of range (there are 1)");
  refuse(-1, 1, "location 0x1 is not that of a record");
}
END_TEST

START_TEST(no_word_can_be_changed_unseen) {
  test_bytes_t bytes = test_chain_file(COUNT);
  uint8_t* record = memmem(bytes.data, bytes.size, kSecond, sizeof(kSecond));
  ck_assert_ptr_nonnull(record);
  // From there to the last kernel all words but locations and codes bind each other.
  const size_t stride = sizeof(kSecond) + 2 * sizeof(uint32_t);
  for (size_t k = 0; k < COUNT - 2; ++k) {
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(kSecond); ++i) {
      uint8_t* word = record + k * stride + i * sizeof(uint32_t);
      *word ^= 1;
      ck_assert_msg(!test_loads(bytes), "word %zu of kernel %zu", i, k + 2);
      *word ^= 1;
    }
  }
  ck_assert(test_loads(bytes));
  test_free(bytes.data, bytes.size);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("bodies");
  tcase_add_test(cases, each_kernel_of_a_chain_is_as_written);
  tcase_add_test(cases, what_is_wrong_with_a_kernel_among_many_is_said);
  tcase_add_test(cases, a_bad_code_or_location_among_many_is_said);
  tcase_add_test(cases, no_word_can_be_changed_unseen);
  Suite* suite = suite_create("bef_body");
  suite_add_tcase(suite, cases);
  return suite;
}
