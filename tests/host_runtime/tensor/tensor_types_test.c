// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_types.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(types_are_registered_once_and_found_by_name) {
  testing_ok(tfrt_tensor_types_register());
  tfrt_type_id_t first = tfrt_host_tensor_type_id();
  testing_ok(tfrt_tensor_types_register());
  ck_assert_uint_eq(tfrt_host_tensor_type_id(), first);
  tfrt_type_id_t found;
  ck_assert(tfrt_type_find("!tfrt_tensor.tensor", &found));
  ck_assert_uint_eq(found, first);
  ck_assert(tfrt_type_get(found)->flags & TFRT_TYPE_FLAG_MUTABLE);
  ck_assert_ptr_nonnull(tfrt_type_get(found)->codec);
  ck_assert(tfrt_type_find("!ts.shape", &found));
  ck_assert_uint_eq(found, tfrt_shape_type_id());
  ck_assert(!(tfrt_type_get(found)->flags & TFRT_TYPE_FLAG_MUTABLE));
  ck_assert(tfrt_type_find("!ts.partial_shape", &found));
  ck_assert_uint_eq(found, tfrt_partial_shape_type_id());
  ck_assert(tfrt_type_find("!ts.fixed_rank_shape.3", &found));
  ck_assert_uint_eq(found, tfrt_fixed_rank_shape_type_id(3));
  ck_assert(tfrt_type_find("!ht.host_buffer", &found));
  ck_assert_uint_eq(found, tfrt_host_buffer_type_id());
  ck_assert_ptr_null(tfrt_type_get(found)->codec);
}
END_TEST

START_TEST(a_value_owns_what_it_took) {
  testing_ok(tfrt_tensor_types_register());
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_F32, DIMS(2));
  tfrt_host_buffer_t* buffer = tfrt_host_buffer_retain(tensor.buffer);
  tfrt_async_value_t* value = tfrt_async_value_create_tensor_take(&tensor);
  ck_assert_ptr_null(tensor.buffer);
  ck_assert(tfrt_async_value_is_available(value));
  ck_assert(!tfrt_ref_count_is_one(&buffer->ref_count));
  tfrt_async_value_release(value);
  ck_assert(tfrt_ref_count_is_one(&buffer->ref_count));
  tfrt_async_value_release(tfrt_async_value_create_host_buffer_take(buffer));
  tfrt_shape_t shape = testing_shape(DIMS(3));
  value = tfrt_async_value_create_shape(&shape);
  ck_assert(tfrt_shape_equal(tfrt_async_value_payload(value), &shape));
  tfrt_async_value_release(value);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_types");
  tcase_add_test(cases, types_are_registered_once_and_found_by_name);
  tcase_add_test(cases, a_value_owns_what_it_took);
  Suite* suite = suite_create("tensor_types");
  suite_add_tcase(suite, cases);
  return suite;
}
