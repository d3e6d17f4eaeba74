// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/shape.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(a_shape_counts_its_elements_and_strides) {
  tfrt_shape_t shape = testing_shape(DIMS(2, 3, 4));
  ck_assert_int_eq(tfrt_shape_element_count(&shape), 24);
  ck_assert_int_eq(tfrt_shape_stride(&shape, 0), 12);
  ck_assert_int_eq(tfrt_shape_stride(&shape, 2), 1);
  tfrt_shape_t scalar = testing_shape(NULL, 0);
  ck_assert_int_eq(tfrt_shape_element_count(&scalar), 1);
  tfrt_shape_t empty = testing_shape(DIMS(5, 0, 7));
  ck_assert_int_eq(tfrt_shape_element_count(&empty), 0);
}
END_TEST

START_TEST(bad_lengths_are_refused) {
  tfrt_shape_t shape;
  testing_fails(tfrt_shape_make(DIMS(2, -1), &shape), TFRT_STATUS_INVALID_ARGUMENT, "axis 1", "-1",
                NULL);
  ck_assert_uint_eq(shape.rank, 0);
  testing_fails(tfrt_shape_make(DIMS(INT64_MAX, 2), &shape), TFRT_STATUS_INVALID_ARGUMENT,
                "overflows", NULL);
  // Zeros don't hide an overflow: a part of the shape would be one.
  testing_fails(tfrt_shape_make(DIMS(0, INT64_MAX, 2), &shape), TFRT_STATUS_INVALID_ARGUMENT,
                "overflows", NULL);
  int64_t ones[TFRT_SHAPE_MAX_RANK + 1];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(ones); ++i) ones[i] = 1;
  testing_ok(tfrt_shape_make(ones, TFRT_SHAPE_MAX_RANK, &shape));
  testing_fails(tfrt_shape_make(ones, TFRT_SHAPE_MAX_RANK + 1, &shape),
                TFRT_STATUS_INVALID_ARGUMENT, "13 axes", NULL);
}
END_TEST

START_TEST(an_unbounded_shape_is_no_tensors_until_it_is_checked) {
  tfrt_shape_t shape;
  testing_ok(tfrt_shape_make_unbounded(DIMS(INT64_MAX, 2), &shape));
  ck_assert_str_eq(tfrt_shape_text(&shape).text, "[9223372036854775807, 2]");
  testing_fails(tfrt_shape_check(&shape), TFRT_STATUS_INVALID_ARGUMENT,
                "[9223372036854775807, 2] overflows", NULL);
  int64_t count;
  testing_fails(tfrt_shape_count_elements(&shape, &count), TFRT_STATUS_INVALID_ARGUMENT,
                "overflows", NULL);
  // Nothing is nothing, however often.
  testing_ok(tfrt_shape_make_unbounded(DIMS(INT64_MAX, 0, 2), &shape));
  testing_ok(tfrt_shape_count_elements(&shape, &count));
  ck_assert_int_eq(count, 0);
  testing_fails(tfrt_shape_make_unbounded(DIMS(-2), &shape), TFRT_STATUS_INVALID_ARGUMENT, "-2",
                NULL);
}
END_TEST

START_TEST(shapes_are_equal_only_with_equal_axes) {
  tfrt_shape_t a = testing_shape(DIMS(2, 3));
  tfrt_shape_t b = testing_shape(DIMS(2, 3, 1));
  tfrt_shape_t c = testing_shape(DIMS(2, 4));
  ck_assert(tfrt_shape_equal(&a, &a));
  ck_assert(!tfrt_shape_equal(&a, &b));
  ck_assert(!tfrt_shape_equal(&a, &c));
}
END_TEST

START_TEST(shapes_are_stretched_to_each_other) {
  tfrt_shape_t a = testing_shape(DIMS(4, 1, 3));
  tfrt_shape_t b = testing_shape(DIMS(2, 1));
  tfrt_shape_t result;
  testing_ok(tfrt_shape_broadcast(&a, &b, &result));
  ck_assert_str_eq(tfrt_shape_text(&result).text, "[4, 2, 3]");
  tfrt_shape_t c = testing_shape(DIMS(4));
  testing_fails(tfrt_shape_broadcast(&a, &c, &result), TFRT_STATUS_INVALID_ARGUMENT, "[4, 1, 3]",
                "[4]", NULL);
  tfrt_shape_t none = testing_shape(DIMS(0));
  tfrt_shape_t one = testing_shape(DIMS(1));
  testing_ok(tfrt_shape_broadcast(&none, &one, &result));
  ck_assert_str_eq(tfrt_shape_text(&result).text, "[0]");
  tfrt_shape_t tall = testing_shape(DIMS(INT64_MAX, 1));
  tfrt_shape_t wide = testing_shape(DIMS(1, 2));
  testing_fails(tfrt_shape_broadcast(&tall, &wide, &result), TFRT_STATUS_INVALID_ARGUMENT,
                "overflows", NULL);
}
END_TEST

START_TEST(the_longest_text_fits) {
  int64_t dims[TFRT_SHAPE_MAX_RANK] = {INT64_MAX};
  for (size_t i = 1; i < TFRT_SHAPE_MAX_RANK; ++i) dims[i] = 0;
  tfrt_shape_t shape = testing_shape(dims, TFRT_SHAPE_MAX_RANK);
  // Not good, but messages show such ones as well.
  for (size_t i = 0; i < TFRT_SHAPE_MAX_RANK; ++i) shape.dims[i] = INT64_MIN;
  tfrt_shape_text_t text = tfrt_shape_text(&shape);
  ck_assert_uint_eq(strlen(text.text), TFRT_SHAPE_MAX_RANK * 22);
  tfrt_shape_t scalar = testing_shape(NULL, 0);
  ck_assert_str_eq(tfrt_shape_text(&scalar).text, "[]");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("shape");
  tcase_add_test(cases, a_shape_counts_its_elements_and_strides);
  tcase_add_test(cases, bad_lengths_are_refused);
  tcase_add_test(cases, an_unbounded_shape_is_no_tensors_until_it_is_checked);
  tcase_add_test(cases, shapes_are_equal_only_with_equal_axes);
  tcase_add_test(cases, shapes_are_stretched_to_each_other);
  tcase_add_test(cases, the_longest_text_fits);
  Suite* suite = suite_create("shape");
  suite_add_tcase(suite, cases);
  return suite;
}
