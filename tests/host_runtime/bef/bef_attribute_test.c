// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_attribute.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/bef/bef_bytes.h"
#include "host_runtime/bef/bef_value.h"
#include "tests/host_runtime/bef/bef_test_files.h"
#include "tests/support/test_main.h"

// Encodes |value| behind |lead| other bytes, so that it needs its padding, in a section that
// ends where the value does.
typedef struct encoded_s {
  uint8_t* section;  // 8-byte aligned, exactly |size| bytes
  size_t size;
  uint32_t offset;
} encoded_t;

static encoded_t encode(const tfrt_bef_value_t* value, size_t lead) {
  tfrt_bef_bytes_t bytes;
  encoded_t encoded;
  tfrt_bef_bytes_initialize(&bytes, tfrt_allocator_system());
  for (size_t i = 0; i < lead; ++i) tfrt_bef_bytes_append_byte(&bytes, 0x55);
  encoded.offset = tfrt_bef_value_encode(value, &bytes);
  encoded.size = tfrt_bef_bytes_size(&bytes);
  encoded.section = test_allocate(encoded.size);
  memcpy(encoded.section, bytes.data, encoded.size);
  tfrt_bef_bytes_deinitialize(&bytes);
  return encoded;
}

static bool check(const encoded_t* encoded, size_t size, tfrt_bef_attribute_type_t type) {
  tfrt_status_t status = tfrt_bef_attribute_check(encoded->section, size, encoded->offset, type);
  bool good = tfrt_status_is_ok(status);
  if (!good) ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
  return good;
}

// The value passes whole, at any place, and in no shorter section.
static void check_value(const tfrt_bef_value_t* value) {
  for (size_t lead = 0; lead < 9; ++lead) {
    encoded_t encoded = encode(value, lead);
    ck_assert(check(&encoded, encoded.size, value->type));
    for (size_t size = 0; size < encoded.size; ++size) {
      ck_assert(!check(&encoded, size, value->type));
    }
    ck_assert_uint_eq(tfrt_bef_attribute_size(encoded.section + encoded.offset, value->type),
                      encoded.size - encoded.offset);
    test_free(encoded.section, encoded.size);
  }
}

START_TEST(scalars_are_checked_by_size_and_alignment) {
  for (uint32_t dtype = 1; dtype <= TFRT_BEF_DTYPE_LAST; ++dtype) {
    size_t size = tfrt_bef_dtype_size(dtype);
    if (size == 0 || size > 8 || dtype == TFRT_BEF_DTYPE_COMPLEX64) continue;
    tfrt_bef_value_t value = {.type = (tfrt_bef_attribute_type_t)dtype, .bits = 1};
    check_value(&value);
    if (size == 1) continue;
    encoded_t encoded = encode(&value, 1);
    encoded.offset -= 1;
    ck_assert(!check(&encoded, encoded.size, value.type));
    test_free(encoded.section, encoded.size);
  }
}
END_TEST

START_TEST(an_i1_is_zero_or_one) {
  tfrt_bef_value_t value = {.type = TFRT_BEF_DTYPE_I1, .bits = 2};
  encoded_t encoded = encode(&value, 0);
  ck_assert(!check(&encoded, encoded.size, TFRT_BEF_DTYPE_I1));
  ck_assert(check(&encoded, encoded.size, TFRT_BEF_DTYPE_I8));
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(strings_are_read_in_place) {
  tfrt_bef_value_t value = {.type = TFRT_BEF_DTYPE_STRING, .data = tfrt_string_view_of("abc")};
  check_value(&value);
  encoded_t encoded = encode(&value, 3);
  tfrt_string_view_t text = tfrt_bef_attribute_string(encoded.section + encoded.offset);
  ck_assert(tfrt_string_view_equal(text, value.data));
  test_free(encoded.section, encoded.size);
  value.data = tfrt_string_view_of("");
  check_value(&value);
}
END_TEST

START_TEST(arrays_are_aligned_behind_their_count) {
  static const int64_t kNumbers[] = {1, -2, 3};
  tfrt_bef_value_t value = {
      .type = TFRT_BEF_ATTRIBUTE_ARRAY_BIT | TFRT_BEF_DTYPE_I64,
      .count = 3,
      .data = tfrt_string_view_make((const char*)kNumbers, sizeof(kNumbers)),
  };
  check_value(&value);
  encoded_t encoded = encode(&value, 1);
  tfrt_bef_array_t array = tfrt_bef_attribute_array(encoded.section + encoded.offset);
  ck_assert_uint_eq(array.count, 3);
  ck_assert_uint_eq((uintptr_t)array.data % 8, 0);
  ck_assert_mem_eq(array.data, kNumbers, sizeof(kNumbers));
  test_free(encoded.section, encoded.size);
  tfrt_bef_value_t strings = {.type = TFRT_BEF_ATTRIBUTE_ARRAY_BIT | TFRT_BEF_DTYPE_STRING};
  encoded = encode(&strings, 0);
  ck_assert(!check(&encoded, encoded.size, strings.type));
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(an_empty_array_passes_for_any_array) {
  tfrt_bef_value_t value = {.type = TFRT_BEF_ATTRIBUTE_EMPTY_ARRAY};
  check_value(&value);
  encoded_t encoded = encode(&value, 0);
  ck_assert(check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_ARRAY_BIT | TFRT_BEF_DTYPE_F64));
  ck_assert(check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_AGGREGATE));
  ck_assert_uint_eq(tfrt_bef_attribute_aggregate_count(encoded.section), 0);
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(shapes_have_dims_or_no_rank) {
  static const int64_t kDims[] = {2, -1, 3};
  tfrt_bef_value_t value = {.type = TFRT_BEF_ATTRIBUTE_SHAPE, .count = 3, .dims = kDims};
  check_value(&value);
  encoded_t encoded = encode(&value, 1);
  tfrt_bef_shape_t shape = tfrt_bef_attribute_shape(encoded.section + encoded.offset);
  ck_assert(shape.ranked);
  ck_assert_uint_eq(shape.rank, 3);
  ck_assert_mem_eq(shape.dims, kDims, sizeof(kDims));
  test_free(encoded.section, encoded.size);
  tfrt_bef_value_t scalar = {.type = TFRT_BEF_ATTRIBUTE_SHAPE};
  check_value(&scalar);
  tfrt_bef_value_t unranked = {.type = TFRT_BEF_ATTRIBUTE_SHAPE, .is_unranked = true};
  check_value(&unranked);
  encoded = encode(&unranked, 0);
  ck_assert(!tfrt_bef_attribute_shape(encoded.section).ranked);
  test_free(encoded.section, encoded.size);
}
END_TEST

static const int64_t kDenseDims[] = {2, 2};
static const float kDenseData[] = {1, 2, 3, 4};
static const tfrt_bef_value_t kDense = {
    .type = TFRT_BEF_ATTRIBUTE_DENSE,
    .dtype = TFRT_BEF_DTYPE_F32,
    .count = 2,
    .dims = kDenseDims,
    .data = {(const char*)kDenseData, sizeof(kDenseData)},
};

START_TEST(dense_values_are_read_in_place) {
  check_value(&kDense);
  encoded_t encoded = encode(&kDense, 1);
  tfrt_bef_dense_t dense = tfrt_bef_attribute_dense(encoded.section + encoded.offset);
  ck_assert_int_eq(dense.dtype, TFRT_BEF_DTYPE_F32);
  ck_assert_uint_eq(dense.rank, 2);
  ck_assert_uint_eq(dense.element_count, 4);
  ck_assert_uint_eq((uintptr_t)dense.data % 8, 0);
  ck_assert_uint_eq(dense.data_size, sizeof(kDenseData));
  ck_assert_mem_eq(dense.data, kDenseData, sizeof(kDenseData));
  test_free(encoded.section, encoded.size);
}
END_TEST

// Byte |position| of the dense value set to |byte| must be refused.
static void refuse_dense(size_t position, uint8_t byte) {
  encoded_t encoded = encode(&kDense, 0);
  encoded.section[encoded.offset + position] = byte;
  ck_assert(!check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_DENSE));
  test_free(encoded.section, encoded.size);
}

START_TEST(dense_values_that_contradict_themselves_are_refused) {
  refuse_dense(1, TFRT_BEF_DTYPE_STRING);  // element type without a size
  refuse_dense(1, TFRT_BEF_DTYPE_F64);     // elements beyond the end
  refuse_dense(4, 8);                      // total size too small
  refuse_dense(8, 4);                      // data inside the dimensions
  refuse_dense(8, 37);                     // data beyond the end, and not aligned
  refuse_dense(12, 5);                     // element count is not the product
  refuse_dense(16, 200);                   // rank beyond the end
  refuse_dense(20, 3);                     // a dimension
  refuse_dense(27, 0x80);                  // a negative dimension
  refuse_dense(26, 0xFF);                  // a product over 64 bits
}
END_TEST

// [1 : i32, "two", [3 : i64 as an aggregate], []]
static encoded_t encode_nested(void) {
  static const tfrt_bef_value_t kInner[] = {{.type = TFRT_BEF_DTYPE_I64, .bits = 3},
                                            {.type = TFRT_BEF_DTYPE_I1, .bits = 1}};
  const tfrt_bef_value_t elements[] = {
      {.type = TFRT_BEF_DTYPE_I32, .bits = 1},
      {.type = TFRT_BEF_DTYPE_STRING, .data = tfrt_string_view_of("two")},
      {.type = TFRT_BEF_ATTRIBUTE_AGGREGATE, .count = 2, .elements = kInner},
      {.type = TFRT_BEF_ATTRIBUTE_EMPTY_ARRAY},
  };
  const tfrt_bef_value_t value = {
      .type = TFRT_BEF_ATTRIBUTE_AGGREGATE, .count = 4, .elements = elements};
  check_value(&value);
  return encode(&value, 3);
}

START_TEST(aggregates_hold_elements_of_any_type) {
  encoded_t encoded = encode_nested();
  const uint8_t* attribute = encoded.section + encoded.offset;
  tfrt_bef_attribute_type_t type;
  ck_assert_uint_eq(tfrt_bef_attribute_aggregate_count(attribute), 4);
  const void* two = tfrt_bef_attribute_aggregate_element(attribute, 1, &type);
  ck_assert_uint_eq(type, TFRT_BEF_DTYPE_STRING);
  ck_assert(tfrt_string_view_equal(tfrt_bef_attribute_string(two), tfrt_string_view_of("two")));
  const void* inner = tfrt_bef_attribute_aggregate_element(attribute, 2, &type);
  ck_assert_uint_eq(type, TFRT_BEF_ATTRIBUTE_AGGREGATE);
  const void* three = tfrt_bef_attribute_aggregate_element(inner, 0, &type);
  ck_assert_uint_eq(type, TFRT_BEF_DTYPE_I64);
  ck_assert_uint_eq(tfrt_bef_attribute_read_u64(three), 3);
  tfrt_bef_attribute_aggregate_element(attribute, 3, &type);
  ck_assert_uint_eq(type, TFRT_BEF_ATTRIBUTE_EMPTY_ARRAY);
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(elements_of_an_aggregate_may_not_overlap) {
  encoded_t encoded = encode_nested();
  uint8_t* offsets = encoded.section + encoded.offset + 12;
  memcpy(offsets + 4, offsets, 4);  // the second one where the first one is
  ck_assert(!check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_AGGREGATE));
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(any_flipped_bit_of_an_aggregate_is_refused_or_harmless) {
  encoded_t encoded = encode_nested();
  for (size_t i = 0; i < encoded.size * 8; ++i) {
    encoded.section[i / 8] ^= (uint8_t)(1u << i % 8);
    check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_AGGREGATE);
    encoded.section[i / 8] ^= (uint8_t)(1u << i % 8);
  }
  ck_assert(check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_AGGREGATE));
  test_free(encoded.section, encoded.size);
}
END_TEST

START_TEST(symbols_hold_names_and_text) {
  static const tfrt_string_view_t kNames[] = {{"kernels", 7}, {"main", 4}};
  tfrt_bef_value_t value = {
      .type = TFRT_BEF_ATTRIBUTE_SYMBOL,
      .bits = 300,
      .count = 2,
      .names = kNames,
      .data = tfrt_string_view_of("module {}"),
  };
  check_value(&value);
}
END_TEST

START_TEST(types_have_names_and_functions_are_no_values) {
  tfrt_bef_value_t value = {.type = TFRT_BEF_DTYPE_I64};
  encoded_t encoded = encode(&value, 0);
  ck_assert(!check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_FUNCTION));
  ck_assert(!check(&encoded, encoded.size, TFRT_BEF_ATTRIBUTE_UNSUPPORTED));
  ck_assert(!check(&encoded, encoded.size, 0));
  ck_assert(!check(&encoded, encoded.size, 0x7F));
  test_free(encoded.section, encoded.size);
  ck_assert_str_eq(tfrt_bef_attribute_type_name(TFRT_BEF_DTYPE_I32), "i32");
  ck_assert_str_eq(tfrt_bef_attribute_type_name(TFRT_BEF_ATTRIBUTE_AGGREGATE), "aggregate");
  ck_assert_str_eq(tfrt_bef_attribute_type_name(0x80 | TFRT_BEF_DTYPE_F64), "array of f64");
  ck_assert_str_eq(tfrt_bef_attribute_type_name(0x7F), "unknown type");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* values = tcase_create("values");
  tcase_add_test(values, scalars_are_checked_by_size_and_alignment);
  tcase_add_test(values, an_i1_is_zero_or_one);
  tcase_add_test(values, strings_are_read_in_place);
  tcase_add_test(values, arrays_are_aligned_behind_their_count);
  tcase_add_test(values, an_empty_array_passes_for_any_array);
  tcase_add_test(values, shapes_have_dims_or_no_rank);
  tcase_add_test(values, dense_values_are_read_in_place);
  tcase_add_test(values, dense_values_that_contradict_themselves_are_refused);
  tcase_add_test(values, aggregates_hold_elements_of_any_type);
  tcase_add_test(values, elements_of_an_aggregate_may_not_overlap);
  tcase_add_test(values, any_flipped_bit_of_an_aggregate_is_refused_or_harmless);
  tcase_add_test(values, symbols_hold_names_and_text);
  tcase_add_test(values, types_have_names_and_functions_are_no_values);
  Suite* suite = suite_create("bef_attribute");
  suite_add_tcase(suite, values);
  return suite;
}
