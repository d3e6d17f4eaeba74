// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/elementwise.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

// Casts |count| elements and expects |text| in what the result prints.
static void casts(tfrt_dtype_t from, const void* elements, int64_t count, tfrt_dtype_t to,
                  const char* text) {
  tfrt_dense_host_tensor_t x = testing_tensor(from, elements, DIMS(count));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_cast(&x, to, tfrt_allocator_system(), &result));
  testing_prints(&result, text);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&result);
}

START_TEST(casts_keep_what_fits_and_cut_what_does_not) {
  casts(TFRT_DTYPE_UI8, (const uint8_t[]){0, 128, 255}, 3, TFRT_DTYPE_F32,
        "DenseHostTensor dtype = f32, shape = [3], values = [0.000000e+00, 1.280000e+02, "
        "2.550000e+02]");
  casts(TFRT_DTYPE_F32, (const float[]){-1.9f, 300.0f, 1e30f, -1e30f, NAN}, 5, TFRT_DTYPE_I8,
        "DenseHostTensor dtype = i8, shape = [5], values = [-1, 127, 127, -128, 0]");
  casts(TFRT_DTYPE_F64, (const double[]){-1.0, 1e30, 2.7}, 3, TFRT_DTYPE_UI64,
        "DenseHostTensor dtype = ui64, shape = [3], values = [0, 18446744073709551615, 2]");
  casts(TFRT_DTYPE_F64, (const double[]){9.3e18, -9.3e18}, 2, TFRT_DTYPE_I64,
        "DenseHostTensor dtype = i64, shape = [2], values = [9223372036854775807, "
        "-9223372036854775808]");
  casts(TFRT_DTYPE_I64, (const int64_t[]){-1, 258}, 2, TFRT_DTYPE_UI8,
        "DenseHostTensor dtype = ui8, shape = [2], values = [255, 2]");
  casts(TFRT_DTYPE_I64, (const int64_t[]){INT64_MAX}, 1, TFRT_DTYPE_UI64,
        "DenseHostTensor dtype = ui64, shape = [1], values = [9223372036854775807]");
  casts(TFRT_DTYPE_UI64, (const uint64_t[]){UINT64_MAX}, 1, TFRT_DTYPE_F64,
        "DenseHostTensor dtype = f64, shape = [1], values = [1.844674e+19]");
  casts(TFRT_DTYPE_F32, (const float[]){0, 0.5f, NAN}, 3, TFRT_DTYPE_I1,
        "DenseHostTensor dtype = i1, shape = [3], values = [0, 1, 1]");
  casts(TFRT_DTYPE_F32, (const float[]){1, 65520, -2.5f}, 3, TFRT_DTYPE_F16,
        "DenseHostTensor dtype = f16, shape = [3], values = [fp16(15360), fp16(31744), "
        "fp16(49408)]");
  casts(TFRT_DTYPE_BF16, (const uint16_t[]){0x3F80, 0xC000}, 2, TFRT_DTYPE_I32,
        "DenseHostTensor dtype = i32, shape = [2], values = [1, -2]");
  casts(TFRT_DTYPE_I1, (const bool[]){true, false}, 2, TFRT_DTYPE_I32,
        "DenseHostTensor dtype = i32, shape = [2], values = [1, 0]");
}
END_TEST

START_TEST(all_pairs_of_plain_dtypes_cast_small_numbers) {
  uint8_t numbers[1000];
  for (size_t i = 0; i < sizeof(numbers); ++i) numbers[i] = (uint8_t)(i % 2);
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_UI8, numbers, DIMS(1000));
  for (int from = TFRT_DTYPE_UI8; from <= TFRT_DTYPE_F64; ++from) {
    for (int to = TFRT_DTYPE_UI8; to <= TFRT_DTYPE_F64; ++to) {
      tfrt_dense_host_tensor_t first, second, third;
      testing_ok(tfrt_tensor_cast(&x, (tfrt_dtype_t)from, tfrt_allocator_system(), &first));
      testing_ok(tfrt_tensor_cast(&first, (tfrt_dtype_t)to, tfrt_allocator_system(), &second));
      testing_ok(tfrt_tensor_cast(&second, TFRT_DTYPE_UI8, tfrt_allocator_system(), &third));
      ck_assert_int_eq(second.dtype, to);
      ck_assert(tfrt_dense_host_tensor_equal(&x, &third));
      tfrt_dense_host_tensor_deinitialize(&first);
      tfrt_dense_host_tensor_deinitialize(&second);
      tfrt_dense_host_tensor_deinitialize(&third);
    }
  }
  tfrt_dense_host_tensor_t result;
  testing_fails(tfrt_tensor_cast(&x, TFRT_DTYPE_COMPLEX64, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "ui8 [1000]", "complex64", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(scale_and_relu_work_on_each_element) {
  const float elements[] = {-2, 0, 3};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_F32, elements, DIMS(3));
  tfrt_dense_host_tensor_t scaled, cut, result;
  testing_ok(tfrt_tensor_scale(&x, 0.5f, tfrt_allocator_system(), &scaled));
  testing_ok(tfrt_tensor_relu(&x, tfrt_allocator_system(), &cut));
  ck_assert_float_eq(testing_f32(&scaled, 0), -1);
  ck_assert_float_eq(testing_f32(&scaled, 2), 1.5f);
  ck_assert_float_eq(testing_f32(&cut, 0), 0);
  ck_assert_float_eq(testing_f32(&cut, 2), 3);
  tfrt_dense_host_tensor_t integers = testing_zeros(TFRT_DTYPE_I32, DIMS(3));
  testing_fails(tfrt_tensor_scale(&integers, 1, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "i32 [3]", NULL);
  testing_fails(tfrt_tensor_relu(&integers, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "i32 [3]", NULL);
  tfrt_dense_host_tensor_deinitialize(&integers);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&scaled);
  tfrt_dense_host_tensor_deinitialize(&cut);
}
END_TEST

// Where an element of the sum comes from in an operand, by the definition of stretching.
static int64_t source_of(const tfrt_shape_t* operand, const tfrt_shape_t* sum, int64_t index) {
  int64_t source = 0;
  for (uint32_t i = 0; i < operand->rank; ++i) {
    uint32_t axis = i + sum->rank - operand->rank;
    int64_t place = index / tfrt_shape_stride(sum, axis) % sum->dims[axis];
    if (operand->dims[i] != 1) source += place * tfrt_shape_stride(operand, i);
  }
  return source;
}

START_TEST(sums_of_random_shapes_are_stretched) {
  uint64_t seed = 41;
  for (int round = 0; round < 300; ++round) {
    int64_t a_dims[4], b_dims[4];
    for (int i = 0; i < 4; ++i) {
      int64_t length = testing_random_number(&seed, 0, 4);
      a_dims[i] = testing_random_number(&seed, 0, 2) ? length : 1;
      b_dims[i] = testing_random_number(&seed, 0, 2) ? length : 1;
    }
    size_t a_rank = (size_t)testing_random_number(&seed, 0, 4);
    size_t b_rank = (size_t)testing_random_number(&seed, 0, 4);
    tfrt_dense_host_tensor_t a = testing_random(&seed, a_dims + 4 - a_rank, a_rank);
    tfrt_dense_host_tensor_t b = testing_random(&seed, b_dims + 4 - b_rank, b_rank);
    tfrt_dense_host_tensor_t sum;
    testing_ok(tfrt_tensor_add(&a, &b, tfrt_allocator_system(), &sum));
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&sum); ++i) {
      float expected = testing_f32(&a, source_of(&a.shape, &sum.shape, i)) +
                       testing_f32(&b, source_of(&b.shape, &sum.shape, i));
      ck_assert_float_eq(testing_f32(&sum, i), expected);
    }
    tfrt_dense_host_tensor_deinitialize(&a);
    tfrt_dense_host_tensor_deinitialize(&b);
    tfrt_dense_host_tensor_deinitialize(&sum);
  }
}
END_TEST

START_TEST(integers_wrap_and_dtypes_must_agree) {
  tfrt_dense_host_tensor_t a =
      testing_tensor(TFRT_DTYPE_I32, (const int32_t[]){INT32_MAX}, DIMS(1));
  tfrt_dense_host_tensor_t b = testing_tensor(TFRT_DTYPE_I32, (const int32_t[]){1}, DIMS(1));
  tfrt_dense_host_tensor_t c = testing_zeros(TFRT_DTYPE_F32, DIMS(1));
  tfrt_dense_host_tensor_t d = testing_zeros(TFRT_DTYPE_I32, DIMS(2, 3));
  tfrt_dense_host_tensor_t e = testing_zeros(TFRT_DTYPE_I32, DIMS(4));
  tfrt_dense_host_tensor_t sum;
  testing_ok(tfrt_tensor_add(&a, &b, tfrt_allocator_system(), &sum));
  testing_prints(&sum, "DenseHostTensor dtype = i32, shape = [1], values = [-2147483648]");
  tfrt_dense_host_tensor_deinitialize(&sum);
  testing_fails(tfrt_tensor_add(&a, &c, tfrt_allocator_system(), &sum),
                TFRT_STATUS_INVALID_ARGUMENT, "i32 [1]", "f32 [1]", NULL);
  testing_fails(tfrt_tensor_add(&d, &e, tfrt_allocator_system(), &sum),
                TFRT_STATUS_INVALID_ARGUMENT, "add", "[2, 3]", "[4]", NULL);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&d);
  tfrt_dense_host_tensor_deinitialize(&e);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("elementwise");
  tcase_add_test(cases, casts_keep_what_fits_and_cut_what_does_not);
  tcase_add_test(cases, all_pairs_of_plain_dtypes_cast_small_numbers);
  tcase_add_test(cases, scale_and_relu_work_on_each_element);
  tcase_add_test(cases, sums_of_random_shapes_are_stretched);
  tcase_add_test(cases, integers_wrap_and_dtypes_must_agree);
  Suite* suite = suite_create("elementwise");
  suite_add_tcase(suite, cases);
  return suite;
}
