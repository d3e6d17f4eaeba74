// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/dtype.h"

#include "tests/support/test_main.h"

START_TEST(codes_names_and_sizes_are_those_of_the_format) {
  static const char* const names[] = {
      "invalid", "ui8",      "ui16",    "ui32", "ui64",      "i1",         "i8",   "i16",
      "i32",     "i64",      "f32",     "f64",  "complex64", "complex128", "f16",  "bf16",
      "string",  "resource", "variant", "qui8", "qui16",     "qi8",        "qi16", "qi32"};
  static const size_t sizes[] = {0, 1,  2, 4, 8, 1, 1, 2, 4, 8, 4, 8,
                                 8, 16, 2, 2, 0, 0, 0, 1, 2, 1, 2, 4};
  for (int code = 0; code < TFRT_DTYPE_COUNT; ++code) {
    ck_assert_str_eq(tfrt_dtype_name((tfrt_dtype_t)code), names[code]);
    ck_assert_uint_eq(tfrt_dtype_size((tfrt_dtype_t)code), sizes[code]);
  }
}
END_TEST

START_TEST(a_number_that_is_no_dtype_is_harmless) {
  volatile int code = 200;
  ck_assert_str_eq(tfrt_dtype_name((tfrt_dtype_t)code), "invalid");
  ck_assert_uint_eq(tfrt_dtype_size((tfrt_dtype_t)code), 0);
  ck_assert(!tfrt_dtype_is_plain((tfrt_dtype_t)code));
}
END_TEST

static void prints(tfrt_dtype_t dtype, const void* element, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_dtype_print_element(dtype, element, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

START_TEST(elements_print_as_the_reference_prints_them) {
  prints(TFRT_DTYPE_I1, &(bool){true}, "1");
  prints(TFRT_DTYPE_I8, &(int8_t){-128}, "-128");
  prints(TFRT_DTYPE_UI8, &(uint8_t){255}, "255");
  prints(TFRT_DTYPE_I16, &(int16_t){-3}, "-3");
  prints(TFRT_DTYPE_UI16, &(uint16_t){65535}, "65535");
  prints(TFRT_DTYPE_I32, &(int32_t){INT32_MIN}, "-2147483648");
  prints(TFRT_DTYPE_UI32, &(uint32_t){UINT32_MAX}, "4294967295");
  prints(TFRT_DTYPE_I64, &(int64_t){INT64_MIN}, "-9223372036854775808");
  prints(TFRT_DTYPE_UI64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
  prints(TFRT_DTYPE_F32, &(float){1.5f}, "1.500000e+00");
  prints(TFRT_DTYPE_F64, &(double){-0.25}, "-2.500000e-01");
  prints(TFRT_DTYPE_F16, &(uint16_t){15360}, "fp16(15360)");
  prints(TFRT_DTYPE_BF16, &(uint16_t){16256}, "fp16(16256)");
  prints(TFRT_DTYPE_COMPLEX64, (const float[]){1, -2}, "(1.000000e+00,-2.000000e+00)");
  prints(TFRT_DTYPE_COMPLEX128, (const double[]){0.5, 0}, "(5.000000e-01,0.000000e+00)");
  prints(TFRT_DTYPE_QI32, (const uint8_t[]){1, 2, 3, 4}, "0x04030201");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("dtype");
  tcase_add_test(cases, codes_names_and_sizes_are_those_of_the_format);
  tcase_add_test(cases, a_number_that_is_no_dtype_is_harmless);
  tcase_add_test(cases, elements_print_as_the_reference_prints_them);
  Suite* suite = suite_create("dtype");
  suite_add_tcase(suite, cases);
  return suite;
}
