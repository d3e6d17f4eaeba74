// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/partial_shape.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

static void partial_prints(const tfrt_partial_shape_t* shape, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_partial_shape_print(shape, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

START_TEST(what_is_known_prints_as_the_reference_prints_it) {
  tfrt_partial_shape_t shape = tfrt_partial_shape_unranked();
  partial_prints(&shape, "Unknown rank");
  testing_ok(tfrt_partial_shape_make(NULL, 0, &shape));
  partial_prints(&shape, "[]");
  testing_ok(tfrt_partial_shape_make(DIMS(-1, 57, 0), &shape));
  partial_prints(&shape, "[-1, 57, 0]");
}
END_TEST

START_TEST(only_a_known_shape_is_a_shape) {
  tfrt_partial_shape_t partial = tfrt_partial_shape_unranked();
  tfrt_shape_t shape;
  testing_fails(tfrt_partial_shape_to_shape(&partial, &shape), TFRT_STATUS_INVALID_ARGUMENT,
                "Unknown rank", NULL);
  testing_ok(tfrt_partial_shape_make(DIMS(-1, 57, -1), &partial));
  testing_fails(tfrt_partial_shape_to_shape(&partial, &shape), TFRT_STATUS_INVALID_ARGUMENT,
                "Unknown dimensions at following indices = [0, 2]", NULL);
  tfrt_shape_t known = testing_shape(DIMS(2, 3));
  partial = tfrt_partial_shape_of(&known);
  testing_ok(tfrt_partial_shape_to_shape(&partial, &shape));
  ck_assert(tfrt_shape_equal(&shape, &known));
}
END_TEST

START_TEST(bad_lengths_and_too_many_axes_are_refused) {
  tfrt_partial_shape_t shape;
  testing_fails(tfrt_partial_shape_make(DIMS(1, -2), &shape), TFRT_STATUS_INVALID_ARGUMENT,
                "axis 1", "-2", NULL);
  ck_assert(!shape.ranked);
  int64_t ones[TFRT_SHAPE_MAX_RANK + 1] = {0};
  testing_fails(tfrt_partial_shape_make(ones, TFRT_SHAPE_MAX_RANK + 1, &shape),
                TFRT_STATUS_INVALID_ARGUMENT, "13 axes", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("partial_shape");
  tcase_add_test(cases, what_is_known_prints_as_the_reference_prints_it);
  tcase_add_test(cases, only_a_known_shape_is_a_shape);
  tcase_add_test(cases, bad_lengths_and_too_many_axes_are_refused);
  Suite* suite = suite_create("partial_shape");
  suite_add_tcase(suite, cases);
  return suite;
}
