// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/small_product.h"

#include <math.h>

#include "host_runtime/base/allocator.h"
#include "tests/support/test_main.h"

// The place of element (|row|, |column|) of a matrix of |rows| and |columns|.
static int64_t place(bool is_transposed, int64_t rows, int64_t columns, int64_t row,
                     int64_t column) {
  return is_transposed ? column * rows + row : row * columns + column;
}

static float* make_matrix(int64_t count, uint32_t seed) {
  float* numbers = tfrt_allocator_allocate(tfrt_allocator_system(), (size_t)count * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (float)(int32_t)seed / 2147483648.0f;
  }
  return numbers;
}

static void free_matrix(float* numbers, int64_t count) {
  tfrt_allocator_free(tfrt_allocator_system(), numbers, (size_t)count * sizeof(float));
}

// Compares with sums of f64.
static void check(const tfrt_nn_product_t* p, float alpha, float beta) {
  float* a = make_matrix(p->m * p->k, 1);
  float* b = make_matrix(p->k * p->n, 2);
  float* c = make_matrix(p->m * p->n, 3);
  float* before = make_matrix(p->m * p->n, 3);
  ck_assert_ptr_null(tfrt_nn_product_f32(p, alpha, a, b, beta, c));
  for (int64_t i = 0; i < p->m; ++i) {
    for (int64_t j = 0; j < p->n; ++j) {
      double sum = 0, size = 1;
      for (int64_t l = 0; l < p->k; ++l) {
        double term = (double)a[place(p->a_is_transposed, p->m, p->k, i, l)] *
                      (double)b[place(p->b_is_transposed, p->k, p->n, l, j)];
        sum += term;
        size += fabs(term);
      }
      sum = sum * alpha + (double)beta * (double)before[i * p->n + j];
      ck_assert_double_le(fabs(sum - (double)c[i * p->n + j]), 1e-6 * size);
    }
  }
  free_matrix(a, p->m * p->k);
  free_matrix(b, p->k * p->n);
  free_matrix(c, p->m * p->n);
  free_matrix(before, p->m * p->n);
}

// Around the numbers of rows, lanes and columns that the loops take at once.
START_TEST(all_forms_are_right) {
  static const int64_t rows[] = {1, 2, 4, 5}, columns[] = {1, 3, 4, 7, 8, 9, 33, 8193},
                       depths[] = {1, 3, 7, 8, 9, 30};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rows); ++i) {
    for (size_t j = 0; j < TFRT_ARRAY_SIZE(columns); ++j) {
      for (size_t l = 0; l < TFRT_ARRAY_SIZE(depths); ++l) {
        for (int form = 0; form < 4; ++form) {
          const tfrt_nn_product_t product = {.m = rows[i],
                                             .n = columns[j],
                                             .k = depths[l],
                                             .a_is_transposed = form & 1,
                                             .b_is_transposed = form & 2};
          check(&product, 1.0f, 0.0f);
        }
      }
    }
  }
}
END_TEST

START_TEST(factors_and_summands_are_right) {
  tfrt_nn_product_t product = {.m = 3, .n = 20, .k = 12};
  check(&product, 0.25f, 0.0f);
  check(&product, 1.0f, 1.0f);
  check(&product, 0.25f, 1.0f);
  product.b_is_transposed = true;
  check(&product, 0.25f, 0.0f);
  check(&product, 1.0f, 1.0f);
}
END_TEST

START_TEST(few_rows_or_few_multiplications_are_small) {
  static const struct {
    tfrt_nn_product_t product;
    bool is_small;
  } cases[] = {
      {{.m = 1, .n = INT64_C(1) << 40, .k = INT64_C(1) << 40}, true},
      {{.m = 4, .n = 1 << 20, .k = 1 << 20}, true},
      {{.m = 5, .n = 1 << 20, .k = 1 << 20}, false},
      {{.m = INT64_C(1) << 62, .n = INT64_C(1) << 62, .k = INT64_C(1) << 62}, false},
      {{.m = 32, .n = 32, .k = 32}, true},
      {{.m = 32, .n = 32, .k = 33}, false},
      {{.m = 8, .n = 0, .k = 8}, true},
      {{.m = 2, .n = 2, .k = 2, .a_is_transposed = true}, false},
      {{.m = 1, .n = 2, .k = 2, .a_is_transposed = true}, true},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    ck_assert_int_eq(tfrt_nn_product_is_small(&cases[i].product), cases[i].is_small);
  }
}
END_TEST

// NaN and infinity of one row stay in it.
START_TEST(special_numbers_spread_no_further_than_they_should) {
  const float a[] = {1.0f, 2.0f, INFINITY, 0.0f, 3.0f, NAN};
  const float b[] = {1.0f, 0.0f, 0.0f, 1.0f};
  float c[6];
  const tfrt_nn_product_t product = {.m = 3, .n = 2, .k = 2};
  ck_assert_ptr_null(tfrt_nn_product_f32(&product, 1.0f, a, b, 0.0f, c));
  ck_assert_float_eq(c[0], 1.0f);
  ck_assert_float_eq(c[1], 2.0f);
  ck_assert(isinf(c[2]) && isnan(c[3]));
  ck_assert(isnan(c[4]) && isnan(c[5]));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("small product");
  TCase* tests = tcase_create("products");
  tcase_add_test(tests, all_forms_are_right);
  tcase_add_test(tests, factors_and_summands_are_right);
  tcase_add_test(tests, few_rows_or_few_multiplications_are_small);
  tcase_add_test(tests, special_numbers_spread_no_further_than_they_should);
  suite_add_tcase(suite, tests);
  return suite;
}
