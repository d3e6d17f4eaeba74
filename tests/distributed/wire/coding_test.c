// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/codec.h"

#include "tests/support/test_main.h"

static tfrt_wire_reader_t reader_of(const char* bytes, size_t size) {
  return tfrt_wire_reader_make(tfrt_string_view_make(bytes, size));
}

START_TEST(varints_survive_the_way_there_and_back) {
  static const uint64_t values[] = {
      0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_C(1) << 48, INT64_MAX, UINT64_MAX};
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
    uint8_t bytes[10];
    size_t size = (size_t)(tfrt_wire_write_varint(bytes, values[i]) - bytes);
    ck_assert_uint_eq(size, tfrt_wire_varint_size(values[i]));
    tfrt_wire_reader_t reader = reader_of((const char*)bytes, size);
    uint64_t value = 0;
    ck_assert(tfrt_wire_read_varint(&reader, &value));
    ck_assert(value == values[i]);
    ck_assert(tfrt_wire_reader_is_done(&reader));
    for (size_t cut = 0; cut < size; ++cut) {
      tfrt_wire_reader_t short_reader = reader_of((const char*)bytes, cut);
      ck_assert(!tfrt_wire_read_varint(&short_reader, &value));
    }
  }
}
END_TEST

START_TEST(a_varint_of_more_than_64_bits_is_refused) {
  uint64_t value = 0;
  tfrt_wire_reader_t bit_65 = reader_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
  ck_assert(!tfrt_wire_read_varint(&bit_65, &value));
  tfrt_wire_reader_t byte_11 = reader_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
  ck_assert(!tfrt_wire_read_varint(&byte_11, &value));
}
END_TEST

START_TEST(a_varint_with_needless_bytes_is_read) {
  uint64_t value = 0;
  tfrt_wire_reader_t reader = reader_of("\x81\x80\x00", 3);
  ck_assert(tfrt_wire_read_varint(&reader, &value));
  ck_assert_uint_eq(value, 1);
}
END_TEST

START_TEST(fixed_numbers_are_little_endian) {
  uint8_t bytes[12];
  uint8_t* end = tfrt_wire_write_fixed32(bytes, 0x04030201u);
  end = tfrt_wire_write_fixed64(end, UINT64_C(0x0c0b0a0908070605));
  ck_assert_ptr_eq(end, bytes + 12);
  for (unsigned i = 0; i < 12; ++i) ck_assert_uint_eq(bytes[i], i + 1);
  tfrt_wire_reader_t reader = reader_of((const char*)bytes, 12);
  uint32_t low = 0;
  uint64_t high = 0;
  ck_assert(tfrt_wire_read_fixed32(&reader, &low));
  ck_assert(tfrt_wire_read_fixed64(&reader, &high));
  ck_assert_uint_eq(low, 0x04030201u);
  ck_assert(high == UINT64_C(0x0c0b0a0908070605));
  ck_assert(!tfrt_wire_read_fixed32(&reader, &low));
  ck_assert(!tfrt_wire_read_fixed64(&reader, &high));
}
END_TEST

START_TEST(bytes_longer_than_what_is_left_are_refused) {
  tfrt_string_view_t bytes;
  tfrt_wire_reader_t cut = reader_of("\x03yo", 3);
  ck_assert(!tfrt_wire_read_bytes(&cut, &bytes));
  tfrt_wire_reader_t huge = reader_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01yo", 12);
  ck_assert(!tfrt_wire_read_bytes(&huge, &bytes));
  tfrt_wire_reader_t whole = reader_of("\x02yo", 3);
  ck_assert(tfrt_wire_read_bytes(&whole, &bytes));
  ck_assert(tfrt_string_view_equal(bytes, tfrt_string_view_of("yo")));
}
END_TEST

START_TEST(field_numbers_outside_their_range_are_refused) {
  uint32_t number = 0, type = 0;
  tfrt_wire_reader_t zero = reader_of("\x02", 1);
  ck_assert(!tfrt_wire_read_tag(&zero, &number, &type));
  tfrt_wire_reader_t highest = reader_of("\xf8\xff\xff\xff\x0f", 5);
  ck_assert(tfrt_wire_read_tag(&highest, &number, &type));
  ck_assert_uint_eq(number, TFRT_WIRE_MAX_FIELD_NUMBER);
  tfrt_wire_reader_t above = reader_of("\x80\x80\x80\x80\x10", 5);
  ck_assert(!tfrt_wire_read_tag(&above, &number, &type));
}
END_TEST

START_TEST(groups_and_unknown_wire_types_are_not_skipped) {
  for (uint32_t type = 0; type < 8; ++type) {
    tfrt_wire_reader_t reader = reader_of("\x00\x00\x00\x00\x00\x00\x00\x00", 8);
    bool is_known = type == TFRT_WIRE_TYPE_VARINT || type == TFRT_WIRE_TYPE_FIXED64 ||
                    type == TFRT_WIRE_TYPE_BYTES || type == TFRT_WIRE_TYPE_FIXED32;
    ck_assert(tfrt_wire_skip(&reader, type) == is_known);
  }
}
END_TEST

static size_t valid(const char* text, size_t size) {
  return tfrt_wire_utf8_prefix(tfrt_string_view_make(text, size));
}

START_TEST(valid_utf8_is_found_valid) {
  ck_assert_uint_eq(valid(NULL, 0), 0);
  ck_assert_uint_eq(valid("abc\x00"
                          "d",
                          5),
                    5);
  ck_assert_uint_eq(valid("\xc2\x80\xdf\xbf", 4), 4);
  ck_assert_uint_eq(valid("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 12), 12);
  ck_assert_uint_eq(valid("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8), 8);
}
END_TEST

START_TEST(invalid_utf8_ends_the_valid_beginning) {
  ck_assert_uint_eq(valid("a\x80", 2), 1);              // a byte of the inside, alone
  ck_assert_uint_eq(valid("a\xc0\x80", 3), 1);          // too long a form
  ck_assert_uint_eq(valid("a\xe0\x9f\xbf", 4), 1);      // the same, of three bytes
  ck_assert_uint_eq(valid("a\xf0\x8f\xbf\xbf", 5), 1);  // and of four
  ck_assert_uint_eq(valid("a\xed\xa0\x80", 4), 1);      // a surrogate
  ck_assert_uint_eq(valid("a\xf4\x90\x80\x80", 5), 1);  // above U+10FFFF
  ck_assert_uint_eq(valid("a\xf5\x80\x80\x80", 5), 1);
  ck_assert_uint_eq(valid("a\xe2\x82", 3), 1);  // cut off
  ck_assert_uint_eq(valid("a\xe2\x28\xa1", 4), 1);
  ck_assert_uint_eq(valid("a\xf0\x9f\x98\x28", 5), 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* coding = tcase_create("coding");
  tcase_add_test(coding, varints_survive_the_way_there_and_back);
  tcase_add_test(coding, a_varint_of_more_than_64_bits_is_refused);
  tcase_add_test(coding, a_varint_with_needless_bytes_is_read);
  tcase_add_test(coding, fixed_numbers_are_little_endian);
  tcase_add_test(coding, bytes_longer_than_what_is_left_are_refused);
  tcase_add_test(coding, field_numbers_outside_their_range_are_refused);
  tcase_add_test(coding, groups_and_unknown_wire_types_are_not_skipped);
  tcase_add_test(coding, valid_utf8_is_found_valid);
  tcase_add_test(coding, invalid_utf8_ends_the_valid_beginning);
  Suite* suite = suite_create("coding");
  suite_add_tcase(suite, coding);
  return suite;
}
