// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_codec.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

// Sends |tensor| and returns what arrives.
static tfrt_dense_host_tensor_t sent(const tfrt_dense_host_tensor_t* tensor) {
  tfrt_encoding_t encoding;
  testing_ok(tfrt_dense_host_tensor_codec.encode(tensor, &encoding));
  tfrt_dense_host_tensor_t copy;
  void* body;
  testing_ok(tfrt_dense_host_tensor_codec.decode(encoding.header, encoding.header_size,
                                                 encoding.body_size, tfrt_allocator_system(), &copy,
                                                 &body));
  if (encoding.body_size > 0) memcpy(body, encoding.body, encoding.body_size);
  testing_ok(tfrt_dense_host_tensor_codec.complete(&copy));
  return copy;
}

START_TEST(any_tensor_arrives_as_it_was_sent) {
  uint64_t seed = 1;
  for (int round = 0; round < 300; ++round) {
    int64_t dims[TFRT_SHAPE_MAX_RANK];
    size_t rank = (size_t)testing_random_number(&seed, 0, TFRT_SHAPE_MAX_RANK);
    for (size_t i = 0; i < rank; ++i) dims[i] = testing_random_number(&seed, i < 4 ? 0 : 1, 2);
    tfrt_dense_host_tensor_t tensor = testing_random(&seed, dims, rank);
    tfrt_dense_host_tensor_t copy = sent(&tensor);
    ck_assert(tfrt_dense_host_tensor_equal(&tensor, &copy));
    tfrt_dense_host_tensor_deinitialize(&copy);
    tfrt_dense_host_tensor_deinitialize(&tensor);
  }
}
END_TEST

// Whatever a header says, memory is asked for only where the announced body needs it, and
// then a good tensor comes out.
START_TEST(corrupted_headers_are_refused_or_harmless) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 4, 5));
  tfrt_encoding_t good;
  testing_ok(tfrt_dense_host_tensor_codec.encode(&tensor, &good));
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1 << 16);
  int refused = 0;
  for (size_t bit = 0; bit < good.header_size * 8; ++bit) {
    tfrt_encoding_t bad = good;
    bad.header[bit / 8] ^= (uint8_t)(1 << bit % 8);
    tfrt_dense_host_tensor_t result;
    void* body;
    tfrt_status_t status = tfrt_dense_host_tensor_codec.decode(
        bad.header, bad.header_size, bad.body_size, tfrt_counting_allocator_interface(&books),
        &result, &body);
    if (status) {
      ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
      tfrt_status_release(status);
      ++refused;
    } else {
      ck_assert_uint_eq(tfrt_dense_host_tensor_size(&result), bad.body_size);
      tfrt_dense_host_tensor_deinitialize(&result);
    }
  }
  // Only the dtype may change, to another one of the same size.
  ck_assert_int_ge(refused, (int)good.header_size * 8 - 3);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(cut_headers_and_wrong_sizes_are_refused) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_I64, DIMS(2, 2));
  tfrt_encoding_t good;
  testing_ok(tfrt_dense_host_tensor_codec.encode(&tensor, &good));
  tfrt_dense_host_tensor_t result;
  void* body;
  for (size_t size = 0; size < good.header_size; ++size) {
    testing_fails(tfrt_dense_host_tensor_codec.decode(good.header, size, good.body_size,
                                                      tfrt_allocator_system(), &result, &body),
                  TFRT_STATUS_INVALID_ARGUMENT, NULL);
  }
  testing_fails(
      tfrt_dense_host_tensor_codec.decode(good.header, good.header_size, good.body_size + 1,
                                          tfrt_allocator_system(), &result, &body),
      TFRT_STATUS_INVALID_ARGUMENT, "[2, 2]", "33", NULL);
  ck_assert_ptr_null(body);
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(a_bool_is_0_or_1) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_I1, DIMS(4));
  testing_ok(tfrt_dense_host_tensor_codec.complete(&tensor));
  ((uint8_t*)tfrt_dense_host_tensor_data(&tensor))[2] = 2;
  testing_fails(tfrt_dense_host_tensor_codec.complete(&tensor), TFRT_STATUS_INVALID_ARGUMENT,
                "element 2", NULL);
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(a_shape_arrives_and_is_no_tensor) {
  tfrt_shape_t shape = testing_shape(DIMS(7, 0, 9));
  tfrt_encoding_t encoding;
  testing_ok(tfrt_shape_codec.encode(&shape, &encoding));
  ck_assert_uint_eq(encoding.body_size, 0);
  tfrt_shape_t copy;
  void* body;
  testing_ok(tfrt_shape_codec.decode(encoding.header, encoding.header_size, 0,
                                     tfrt_allocator_system(), &copy, &body));
  ck_assert(tfrt_shape_equal(&shape, &copy));
  testing_fails(tfrt_shape_codec.decode(encoding.header, encoding.header_size, 1,
                                        tfrt_allocator_system(), &copy, &body),
                TFRT_STATUS_INVALID_ARGUMENT, NULL);
  tfrt_dense_host_tensor_t tensor;
  testing_fails(tfrt_dense_host_tensor_codec.decode(encoding.header, encoding.header_size, 0,
                                                    tfrt_allocator_system(), &tensor, &body),
                TFRT_STATUS_INVALID_ARGUMENT, "invalid", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_codec");
  tcase_add_test(cases, any_tensor_arrives_as_it_was_sent);
  tcase_add_test(cases, corrupted_headers_are_refused_or_harmless);
  tcase_add_test(cases, cut_headers_and_wrong_sizes_are_refused);
  tcase_add_test(cases, a_bool_is_0_or_1);
  tcase_add_test(cases, a_shape_arrives_and_is_no_tensor);
  Suite* suite = suite_create("tensor_codec");
  suite_add_tcase(suite, cases);
  return suite;
}
