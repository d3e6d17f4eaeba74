// SPDX-License-Identifier: Apache-2.0
//
// exp, tanh and erf of f32 without branches or calls, so that compilers vectorise the loops around
// them; the C library's take one element at a time. Largest errors, over all floats: exp 2 units in
// the last place, tanh 2.4e-7, erf 2.5e-7 (the tests check them).
//
// Thread rule: pure functions. Failure rule: none; NaN stays NaN.
#ifndef TFRT_KERNELS_NN_MATH_FAST_MATH_H_
#define TFRT_KERNELS_NN_MATH_FAST_MATH_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/macros.h"

// e to the power of |x|: 2^n * e^r with |r| <= ln(2) / 2, whose Taylor series is short. 2^n comes
// in two factors, so that denormal results are right, too.
TFRT_ALWAYS_INLINE float tfrt_nn_expf(float x) {
  float clipped = x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x;
  // Adding 1.5 * 2^23 rounds to a whole number, which the low bits are then.
  float shifted = clipped * 1.44269504f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = clipped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t whole = (int32_t)(n != n ? 0.0f : n);
  int32_t half = whole >> 1;
  uint32_t first_bits = (uint32_t)(half + 127) << 23;
  uint32_t second_bits = (uint32_t)(whole - half + 127) << 23;
  float first, second;
  memcpy(&first, &first_bits, sizeof(first));
  memcpy(&second, &second_bits, sizeof(second));
  return p * first * second;
}

// Near 0, where 1 - e^-2x loses its digits, the quotient of polynomials of the continued fraction.
TFRT_ALWAYS_INLINE float tfrt_nn_tanhf(float x) {
  float a = fabsf(x);
  float e = tfrt_nn_expf(-2.0f * a);
  float large = (1.0f - e) / (1.0f + e);
  float s = x * x;
  float small = a * (945.0f + s * (105.0f + s)) / (945.0f + s * (420.0f + s * 15.0f));
  return copysignf(a < 0.5f ? small : large, x);
}

// The Taylor series near 0, and elsewhere 1 - t * e^(P(t) - x^2) with t = 1 / (1 + x / 2), the
// Chebyshev fit of the complementary function in Numerical Recipes (fractional error 1.2e-7).
TFRT_ALWAYS_INLINE float tfrt_nn_erff(float x) {
  float a = fabsf(x);
  float s = x * x;
  float t = 1.0f / (1.0f + 0.5f * a);
  float p = 0.17087277f;
  p = p * t - 0.82215223f;
  p = p * t + 1.48851587f;
  p = p * t - 1.13520398f;
  p = p * t + 0.27886807f;
  p = p * t - 0.18628806f;
  p = p * t + 0.09678418f;
  p = p * t + 0.37409196f;
  p = p * t + 1.00002368f;
  p = p * t - 1.26551223f;
  float large = 1.0f - t * tfrt_nn_expf(-s + p);
  // erf(x) = 2/sqrt(pi) * (x - x^3/3 + x^5/10 - x^7/42 + x^9/216 - x^11/1320 + x^13/9360)
  float series =
      1.0f + s * (-0.33333334f +
                  s * (0.1f + s * (-0.023809524f + s * (0.0046296297f + s * (-7.5757576e-4f +
                                                                             s * 1.0683761e-4f)))));
  float small = 1.1283792f * a * series;
  return copysignf(a < 0.5f ? small : large, x);
}

// x * (1 + tanh(u)) / 2 with u = sqrt(2 / pi) * (x + 0.044715 * x^3), which is x / (1 + e^-2u).
TFRT_ALWAYS_INLINE float tfrt_nn_gelu_tanhf(float x) {
  return x / (1.0f + tfrt_nn_expf(-1.59576912f * (x + 0.044715f * x * x * x)));
}

#endif  // TFRT_KERNELS_NN_MATH_FAST_MATH_H_
