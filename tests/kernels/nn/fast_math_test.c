// SPDX-License-Identifier: Apache-2.0
//
// The vectorised functions against the C library's in double.
#include "kernels/nn/math/fast_math.h"

#include <math.h>

#include "tests/support/test_main.h"

// A sample of all floats: a prime step passes through each exponent.
#define STEP 39989

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

START_TEST(exp_is_right_to_two_units_in_the_last_place) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
    float x = float_of((uint32_t)bits);
    if (x != x) continue;
    double wanted = exp((double)x);
    float y = tfrt_nn_expf(x);
    if (wanted > 3.4028235e38) {
      ck_assert_msg(isinf(y) || y > 3.4e38f, "exp(%g) is %g", (double)x, (double)y);
    } else if (wanted > 1.2e-38) {
      ck_assert_msg(fabs((double)y - wanted) <= 2.4e-7 * wanted, "exp(%g) is %g", (double)x,
                    (double)y);
    } else {
      ck_assert_msg(fabs((double)y - wanted) <= 3e-45, "exp(%g) is %g", (double)x, (double)y);
    }
  }
}
END_TEST

START_TEST(tanh_and_erf_are_right_to_seven_digits) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
    float x = float_of((uint32_t)bits);
    if (x != x) continue;
    ck_assert_msg(fabs((double)tfrt_nn_tanhf(x) - tanh((double)x)) <= 2.4e-7, "tanh(%g)",
                  (double)x);
    ck_assert_msg(fabs((double)tfrt_nn_erff(x) - erf((double)x)) <= 2.5e-7, "erf(%g)", (double)x);
  }
}
END_TEST

START_TEST(gelu_is_right_to_six_digits) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
    float x = float_of((uint32_t)bits);
    if (x != x || isinf(x)) continue;
    double u = 0.79788456080286535588 * ((double)x + 0.044715 * pow((double)x, 3));
    double wanted = 0.5 * (double)x * (1.0 + tanh(u));
    ck_assert_msg(fabs((double)tfrt_nn_gelu_tanhf(x) - wanted) <= 1e-6 * fabs(wanted) + 1e-7,
                  "gelu(%g)", (double)x);
  }
}
END_TEST

START_TEST(the_ends_are_exact) {
  ck_assert(isinf(tfrt_nn_expf(INFINITY)));
  ck_assert(tfrt_nn_expf(-INFINITY) == 0.0f);
  ck_assert(tfrt_nn_tanhf(INFINITY) == 1.0f && tfrt_nn_tanhf(-INFINITY) == -1.0f);
  ck_assert(tfrt_nn_erff(INFINITY) == 1.0f && tfrt_nn_erff(-INFINITY) == -1.0f);
  ck_assert(isnan(tfrt_nn_expf(NAN)) && isnan(tfrt_nn_tanhf(NAN)) && isnan(tfrt_nn_erff(NAN)));
  ck_assert(tfrt_nn_gelu_tanhf(INFINITY) == INFINITY && tfrt_nn_gelu_tanhf(-1e30f) == 0.0f);
  ck_assert(tfrt_nn_gelu_tanhf(0.0f) == 0.0f && isnan(tfrt_nn_gelu_tanhf(NAN)));
  ck_assert(tfrt_nn_expf(0.0f) == 1.0f && tfrt_nn_tanhf(0.0f) == 0.0f);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* fast_math = tcase_create("fast_math");
  tcase_add_test(fast_math, gelu_is_right_to_six_digits);
  tcase_add_test(fast_math, exp_is_right_to_two_units_in_the_last_place);
  tcase_add_test(fast_math, tanh_and_erf_are_right_to_seven_digits);
  tcase_add_test(fast_math, the_ends_are_exact);
  Suite* suite = suite_create("fast_math");
  suite_add_tcase(suite, fast_math);
  return suite;
}
