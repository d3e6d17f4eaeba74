// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_codec.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/tensor/host_tensor.h"
#include "host_runtime/tensor/partial_shape.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

// Sends |tensor| and returns what arrives.
static tfrt_host_tensor_t sent(const tfrt_host_tensor_t* tensor) {
  tfrt_encoding_t encoding;
  testing_ok(tfrt_host_tensor_codec.encode(tensor, &encoding));
  tfrt_host_tensor_t copy = {0};
  void* body;
  testing_ok(tfrt_host_tensor_codec.decode(encoding.header, encoding.header_size,
                                           encoding.body_size, tfrt_allocator_system(), &copy,
                                           &body));
  if (encoding.body_size > 0) memcpy(body, encoding.body, encoding.body_size);
  testing_ok(tfrt_host_tensor_codec.complete(&copy));
  ck_assert_int_eq(copy.layout, tensor->layout);
  return copy;
}

static tfrt_host_tensor_t dense(tfrt_dense_host_tensor_t tensor) {
  return (tfrt_host_tensor_t){.layout = TFRT_TENSOR_LAYOUT_DENSE, .dense = tensor};
}

START_TEST(any_tensor_arrives_as_it_was_sent) {
  uint64_t seed = 1;
  for (int round = 0; round < 300; ++round) {
    int64_t dims[TFRT_SHAPE_MAX_RANK];
    size_t rank = (size_t)testing_random_number(&seed, 0, TFRT_SHAPE_MAX_RANK);
    for (size_t i = 0; i < rank; ++i) dims[i] = testing_random_number(&seed, i < 4 ? 0 : 1, 2);
    tfrt_host_tensor_t tensor = dense(testing_random(&seed, dims, rank));
    tfrt_host_tensor_t copy = sent(&tensor);
    ck_assert(tfrt_dense_host_tensor_equal(&tensor.dense, &copy.dense));
    tfrt_host_tensor_deinitialize(&copy);
    tfrt_host_tensor_deinitialize(&tensor);
  }
}
END_TEST

START_TEST(sparse_tensors_and_strings_arrive_as_they_were_sent) {
  const float elements[] = {0, 1, 0, 0, -2, 0};
  tfrt_dense_host_tensor_t whole = testing_tensor(TFRT_DTYPE_F32, elements, DIMS(3, 2));
  tfrt_host_tensor_t sparse = {.layout = TFRT_TENSOR_LAYOUT_COO};
  testing_ok(
      tfrt_coo_host_tensor_initialize_from_dense(&whole, tfrt_allocator_system(), &sparse.coo));
  tfrt_host_tensor_t copy = sent(&sparse);
  ck_assert(tfrt_coo_host_tensor_equal(&sparse.coo, &copy.coo));
  ck_assert(copy.coo.reversed);
  tfrt_host_tensor_deinitialize(&copy);
  tfrt_host_tensor_deinitialize(&sparse);
  tfrt_dense_host_tensor_deinitialize(&whole);

  const tfrt_string_view_t texts[] = {tfrt_string_view_of("a"), tfrt_string_view_of(""),
                                      tfrt_string_view_of("longer")};
  tfrt_shape_t shape = testing_shape(DIMS(3));
  tfrt_host_tensor_t strings = {.layout = TFRT_TENSOR_LAYOUT_STRING};
  testing_ok(tfrt_string_host_tensor_initialize(&shape, texts, 3, tfrt_allocator_system(),
                                                &strings.string));
  copy = sent(&strings);
  for (int64_t i = 0; i < 3; ++i) {
    ck_assert(tfrt_string_view_equal(tfrt_string_host_tensor_element(&copy.string, i), texts[i]));
  }
  tfrt_host_tensor_deinitialize(&copy);
  tfrt_host_tensor_deinitialize(&strings);
}
END_TEST

START_TEST(a_tensor_of_one_value_is_sent_as_that_value) {
  tfrt_shape_t shape = testing_shape(DIMS(1000, 1000, 1000));
  tfrt_host_tensor_t tensor = {.layout = TFRT_TENSOR_LAYOUT_SCALAR};
  testing_ok(tfrt_scalar_host_tensor_make(TFRT_DTYPE_F64, &shape, &(double){0.5}, &tensor.scalar));
  tfrt_encoding_t encoding;
  testing_ok(tfrt_host_tensor_codec.encode(&tensor, &encoding));
  ck_assert_uint_eq(encoding.body_size, sizeof(double));
  tfrt_host_tensor_t copy = sent(&tensor);
  ck_assert(tfrt_shape_equal(&copy.scalar.shape, &shape));
  ck_assert_mem_eq(copy.scalar.value, tensor.scalar.value, sizeof(tensor.scalar.value));

  void* body;
  testing_fails(tfrt_host_tensor_codec.decode(encoding.header, encoding.header_size, 9,
                                              tfrt_allocator_system(), &copy, &body),
                TFRT_STATUS_INVALID_ARGUMENT, "one element", "9 bytes", NULL);
}
END_TEST

// Sends |tensor| with byte |index| of its body changed to |value|: it must not be completed.
static void arrives_broken(const tfrt_host_tensor_t* tensor, size_t index, uint8_t value,
                           const char* text) {
  tfrt_encoding_t encoding;
  testing_ok(tfrt_host_tensor_codec.encode(tensor, &encoding));
  tfrt_host_tensor_t copy = {0};
  void* body;
  testing_ok(tfrt_host_tensor_codec.decode(encoding.header, encoding.header_size,
                                           encoding.body_size, tfrt_allocator_system(), &copy,
                                           &body));
  memcpy(body, encoding.body, encoding.body_size);
  ck_assert_uint_lt(index, encoding.body_size);
  ((uint8_t*)body)[index] = value;
  testing_fails(tfrt_host_tensor_codec.complete(&copy), TFRT_STATUS_INVALID_ARGUMENT, text, NULL);
  tfrt_host_tensor_deinitialize(&copy);
}

START_TEST(coordinates_and_ends_from_outside_are_checked) {
  tfrt_shape_t shape = testing_shape(DIMS(3, 2));
  tfrt_host_tensor_t sparse = {.layout = TFRT_TENSOR_LAYOUT_COO};
  testing_ok(tfrt_coo_host_tensor_initialize(TFRT_DTYPE_I32, &shape, 1, tfrt_allocator_system(),
                                             &sparse.coo));
  memset(sparse.coo.buffer->data, 0, sparse.coo.buffer->size);
  arrives_broken(&sparse, 8, 2, "does not lie in the shape [3, 2]");
  arrives_broken(&sparse, 7, 0x80, "does not lie in the shape [3, 2]");
  tfrt_host_tensor_deinitialize(&sparse);
  const tfrt_string_view_t texts[] = {tfrt_string_view_of("ab"), tfrt_string_view_of("c")};
  tfrt_shape_t two = testing_shape(DIMS(2));
  tfrt_host_tensor_t strings = {.layout = TFRT_TENSOR_LAYOUT_STRING};
  testing_ok(
      tfrt_string_host_tensor_initialize(&two, texts, 2, tfrt_allocator_system(), &strings.string));
  arrives_broken(&strings, 0, 4, "string 0");
  arrives_broken(&strings, 8, 1, "string 1");
  arrives_broken(&strings, 8, 2, "of which 2 are used");
  tfrt_host_tensor_deinitialize(&strings);
}
END_TEST

// Decodes a header that says that a tensor is sparse, of i32, [3, 2], with |count| elements.
static tfrt_status_t decode_sparse(uint64_t count, size_t body_size) {
  uint64_t header[4] = {TFRT_DTYPE_I32 | 2 << 8 | TFRT_TENSOR_LAYOUT_COO << 16, 3, 2, count};
  tfrt_host_tensor_t tensor = {0};
  void* body;
  tfrt_status_t status = tfrt_host_tensor_codec.decode(
      (const uint8_t*)header, sizeof(header), body_size, tfrt_allocator_system(), &tensor, &body);
  if (!status) tfrt_host_tensor_deinitialize(&tensor);
  return status;
}

START_TEST(the_number_of_listed_elements_fits_the_body) {
  testing_ok(decode_sparse(2, 40));
  testing_fails(decode_sparse(3, 40), TFRT_STATUS_INVALID_ARGUMENT, "60", "40", NULL);
  testing_fails(decode_sparse(UINT64_MAX, 40), TFRT_STATUS_INVALID_ARGUMENT, "-1", NULL);
  testing_fails(decode_sparse((uint64_t)1 << 62, 40), TFRT_STATUS_INVALID_ARGUMENT, "[3, 2]", NULL);
}
END_TEST

START_TEST(partial_shapes_arrive) {
  const int64_t dims[] = {-1, 4};
  tfrt_partial_shape_t shapes[2] = {tfrt_partial_shape_unranked()};
  testing_ok(tfrt_partial_shape_make(dims, 2, &shapes[1]));
  for (size_t i = 0; i < 2; ++i) {
    tfrt_encoding_t encoding;
    testing_ok(tfrt_partial_shape_codec.encode(&shapes[i], &encoding));
    tfrt_partial_shape_t copy;
    void* body;
    testing_ok(tfrt_partial_shape_codec.decode(encoding.header, encoding.header_size, 0,
                                               tfrt_allocator_system(), &copy, &body));
    ck_assert(copy.ranked == shapes[i].ranked);
    ck_assert_uint_eq(copy.rank, shapes[i].rank);
    ck_assert_mem_eq(copy.dims, shapes[i].dims, sizeof(copy.dims));
  }
}
END_TEST

// The decoder allocates memory only if the announced body needs it, for any header, and then a good
// tensor comes out.
START_TEST(corrupted_headers_are_refused_or_harmless) {
  tfrt_host_tensor_t tensor = dense(testing_zeros(TFRT_DTYPE_F32, DIMS(3, 4, 5)));
  tfrt_encoding_t good;
  testing_ok(tfrt_host_tensor_codec.encode(&tensor, &good));
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1 << 16);
  int refused = 0;
  for (size_t bit = 0; bit < good.header_size * 8; ++bit) {
    tfrt_encoding_t bad = good;
    bad.header[bit / 8] ^= (uint8_t)(1 << bit % 8);
    tfrt_host_tensor_t result;
    void* body;
    tfrt_status_t status =
        tfrt_host_tensor_codec.decode(bad.header, bad.header_size, bad.body_size,
                                      tfrt_counting_allocator_interface(&books), &result, &body);
    if (status) {
      ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
      tfrt_status_release(status);
      ++refused;
    } else {
      ck_assert_uint_eq(tfrt_dense_host_tensor_size(&result.dense), bad.body_size);
      tfrt_host_tensor_deinitialize(&result);
    }
  }
  // Only the dtype may change, to another one of the same size.
  ck_assert_int_ge(refused, (int)good.header_size * 8 - 3);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  tfrt_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(cut_headers_and_wrong_sizes_are_refused) {
  tfrt_host_tensor_t tensor = dense(testing_zeros(TFRT_DTYPE_I64, DIMS(2, 2)));
  tfrt_encoding_t good;
  testing_ok(tfrt_host_tensor_codec.encode(&tensor, &good));
  tfrt_host_tensor_t result;
  void* body;
  for (size_t size = 0; size < good.header_size; ++size) {
    testing_fails(tfrt_host_tensor_codec.decode(good.header, size, good.body_size,
                                                tfrt_allocator_system(), &result, &body),
                  TFRT_STATUS_INVALID_ARGUMENT, NULL);
  }
  testing_fails(tfrt_host_tensor_codec.decode(good.header, good.header_size, good.body_size + 1,
                                              tfrt_allocator_system(), &result, &body),
                TFRT_STATUS_INVALID_ARGUMENT, "[2, 2]", "33", NULL);
  ck_assert_ptr_null(body);
  tfrt_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(a_bool_is_0_or_1) {
  tfrt_host_tensor_t tensor = dense(testing_zeros(TFRT_DTYPE_I1, DIMS(4)));
  testing_ok(tfrt_host_tensor_codec.complete(&tensor));
  ((uint8_t*)tfrt_dense_host_tensor_data(&tensor.dense))[2] = 2;
  testing_fails(tfrt_host_tensor_codec.complete(&tensor), TFRT_STATUS_INVALID_ARGUMENT, "element 2",
                NULL);
  tfrt_host_tensor_deinitialize(&tensor);
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
  tfrt_host_tensor_t tensor;
  testing_fails(tfrt_host_tensor_codec.decode(encoding.header, encoding.header_size, 0,
                                              tfrt_allocator_system(), &tensor, &body),
                TFRT_STATUS_INVALID_ARGUMENT, "invalid", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_codec");
  tcase_add_test(cases, any_tensor_arrives_as_it_was_sent);
  tcase_add_test(cases, sparse_tensors_and_strings_arrive_as_they_were_sent);
  tcase_add_test(cases, coordinates_and_ends_from_outside_are_checked);
  tcase_add_test(cases, the_number_of_listed_elements_fits_the_body);
  tcase_add_test(cases, partial_shapes_arrive);
  tcase_add_test(cases, corrupted_headers_are_refused_or_harmless);
  tcase_add_test(cases, cut_headers_and_wrong_sizes_are_refused);
  tcase_add_test(cases, a_bool_is_0_or_1);
  tcase_add_test(cases, a_shape_arrives_and_is_no_tensor);
  tcase_add_test(cases, a_tensor_of_one_value_is_sent_as_that_value);
  Suite* suite = suite_create("tensor_codec");
  suite_add_tcase(suite, cases);
  return suite;
}
