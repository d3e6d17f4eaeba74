// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/softmax_row.h"

#include <math.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

enum { MOST = 70 };

typedef void (*softmax_fn_t)(const float* x, float* out, int64_t count);
static const softmax_fn_t forms[] = {tfrt_nn_softmax_row, tfrt_nn_softmax_row_narrow};

// Numbers; some are far below the greatest, and some are hidden.
static void make_row(int64_t count, float* x) {
  uint32_t seed = (uint32_t)count;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const float number = (float)(int32_t)seed / 2147483648.0f;
    x[i] = i % 7 == 3 ? -INFINITY : i % 5 == 2 ? number * 100 : number;
  }
}

START_TEST(rows_of_all_lengths_are_right) {
  for (size_t form = 0; form < TFRT_ARRAY_SIZE(forms); ++form) {
    for (int64_t count = 1; count <= MOST; ++count) {
      float x[MOST], out[MOST + 1] = {0};
      double sum = 0, greatest = -INFINITY;
      make_row(count, x);
      for (int64_t i = 0; i < count; ++i) greatest = fmax(greatest, (double)x[i]);
      for (int64_t i = 0; i < count; ++i) sum += exp((double)x[i] - greatest);
      forms[form](x, out, count);
      for (int64_t i = 0; i < count; ++i) {
        const double wanted = exp((double)x[i] - greatest) / sum;
        // The difference to the greatest is rounded to 24 bits.
        ck_assert_double_le(fabs((double)out[i] - wanted), 1e-5 * wanted + 1e-37);
      }
      ck_assert_float_eq(out[count], 0);
      forms[form](x, x, count);
      ck_assert_mem_eq(x, out, (size_t)count * sizeof(float));
    }
  }
}
END_TEST

START_TEST(a_nan_or_an_infinity_makes_the_row_nan) {
  static const float odd[] = {NAN, INFINITY};
  for (size_t form = 0; form < TFRT_ARRAY_SIZE(forms); ++form) {
    for (size_t kind = 0; kind < TFRT_ARRAY_SIZE(odd); ++kind) {
      for (int64_t at = 0; at < 40; ++at) {
        float x[40];
        for (int64_t i = 0; i < 40; ++i) x[i] = (float)i;
        x[at] = odd[kind];
        forms[form](x, x, 40);
        ck_assert(isnan(x[at]));
        ck_assert(isnan(x[0]) || kind == 1);
      }
    }
    float hidden[20];
    for (int i = 0; i < 20; ++i) hidden[i] = -INFINITY;
    forms[form](hidden, hidden, 20);
    ck_assert(isnan(hidden[0]) && isnan(hidden[19]));
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("softmax row");
  TCase* tests = tcase_create("rows");
  tcase_add_test(tests, rows_of_all_lengths_are_right);
  tcase_add_test(tests, a_nan_or_an_infinity_makes_the_row_nan);
  suite_add_tcase(suite, tests);
  return suite;
}
