// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/scalar_host_tensor.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

static tfrt_scalar_host_tensor_t make(tfrt_dtype_t dtype, const void* value, const int64_t* dims,
                                      size_t rank) {
  tfrt_shape_t shape = testing_shape(dims, rank);
  tfrt_scalar_host_tensor_t tensor;
  testing_ok(tfrt_scalar_host_tensor_make(dtype, &shape, value, &tensor));
  return tensor;
}

static void prints(const tfrt_scalar_host_tensor_t* tensor, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_scalar_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

START_TEST(a_tensor_prints_its_one_value) {
  tfrt_scalar_host_tensor_t tensor = make(TFRT_DTYPE_I32, &(int32_t){1}, DIMS(2, 2));
  prints(&tensor, "ScalarHostTensor dtype = i32, shape = [2, 2], value = 1");
  tensor = make(TFRT_DTYPE_COMPLEX128, (double[]){1, -2}, DIMS(1000000, 1000000));
  prints(&tensor,
         "ScalarHostTensor dtype = complex128, shape = [1000000, 1000000], value = "
         "(1.000000e+00,-2.000000e+00)");
}
END_TEST

START_TEST(its_dense_form_has_the_value_everywhere_and_leads_back) {
  tfrt_scalar_host_tensor_t tensor = make(TFRT_DTYPE_F32, &(float){2.5f}, DIMS(3, 1));
  tfrt_dense_host_tensor_t dense;
  testing_ok(tfrt_scalar_host_tensor_to_dense(&tensor, tfrt_allocator_system(), &dense));
  testing_prints(&dense,
                 "DenseHostTensor dtype = f32, shape = [3, 1], values = "
                 "[2.500000e+00, 2.500000e+00, 2.500000e+00]");
  tfrt_scalar_host_tensor_t back;
  testing_ok(tfrt_scalar_host_tensor_from_dense(&dense, &back));
  prints(&back, "ScalarHostTensor dtype = f32, shape = [3, 1], value = 2.500000e+00");
  ((float*)tfrt_dense_host_tensor_data(&dense))[2] = 0;
  testing_fails(tfrt_scalar_host_tensor_from_dense(&dense, &back), TFRT_STATUS_INVALID_ARGUMENT,
                "element 2", NULL);
  tfrt_dense_host_tensor_deinitialize(&dense);

  tensor = make(TFRT_DTYPE_I8, &(int8_t){1}, DIMS(0, 4));
  testing_ok(tfrt_scalar_host_tensor_to_dense(&tensor, tfrt_allocator_system(), &dense));
  testing_fails(tfrt_scalar_host_tensor_from_dense(&dense, &back), TFRT_STATUS_INVALID_ARGUMENT,
                "[0, 4]", NULL);
  tfrt_dense_host_tensor_deinitialize(&dense);
}
END_TEST

START_TEST(what_is_no_tensor_is_refused) {
  tfrt_shape_t shape = testing_shape(DIMS(2));
  tfrt_scalar_host_tensor_t tensor;
  testing_fails(tfrt_scalar_host_tensor_make(TFRT_DTYPE_STRING, &shape, "", &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "string", NULL);
  testing_fails(tfrt_scalar_host_tensor_make(TFRT_DTYPE_INVALID, &shape, "", &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "invalid", NULL);
  const int64_t huge[] = {INT64_MAX, 2};
  testing_ok(tfrt_shape_make_unbounded(huge, 2, &shape));
  testing_fails(tfrt_scalar_host_tensor_make(TFRT_DTYPE_I8, &shape, "", &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "9223372036854775807", NULL);
  // A good shape whose elements have no room in memory is good as long as nobody wants them.
  tensor = make(TFRT_DTYPE_I64, &(int64_t){1}, DIMS(INT64_MAX));
  tfrt_dense_host_tensor_t dense;
  testing_fails(tfrt_scalar_host_tensor_to_dense(&tensor, tfrt_allocator_system(), &dense),
                TFRT_STATUS_INVALID_ARGUMENT, "overflows", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("scalar_host_tensor");
  tcase_add_test(cases, a_tensor_prints_its_one_value);
  tcase_add_test(cases, its_dense_form_has_the_value_everywhere_and_leads_back);
  tcase_add_test(cases, what_is_no_tensor_is_refused);
  Suite* suite = suite_create("scalar_host_tensor");
  suite_add_tcase(suite, cases);
  return suite;
}
