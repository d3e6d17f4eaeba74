// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/small_float.h"

#include <math.h>

// The parameters of a format: bits of the fraction, and the exponent of the smallest normal number.
typedef struct format_s {
  int fraction_bits;
  int min_exponent;
} format_t;

static const format_t f16 = {10, -14};
static const format_t bf16 = {7, -126};

// The bits of the infinite number: all ones in the exponent.
static uint32_t infinity_of(format_t format) {
  return 0x7FFFu >> format.fraction_bits << format.fraction_bits;
}

static double decode(format_t format, uint16_t bits) {
  uint32_t magnitude = bits & 0x7FFFu;
  uint32_t infinity = infinity_of(format);
  double value;
  if (magnitude >= infinity) {
    value = magnitude == infinity ? (double)INFINITY : (double)NAN;
  } else {
    int exponent = (int)(magnitude >> format.fraction_bits);
    int fraction = (int)(magnitude & ((1u << format.fraction_bits) - 1));
    // Subnormal numbers have the smallest exponent, without the leading one.
    if (exponent > 0) fraction += 1 << format.fraction_bits;
    if (exponent == 0) exponent = 1;
    value = ldexp(fraction, exponent - 1 + format.min_exponent - format.fraction_bits);
  }
  return bits & 0x8000u ? -value : value;
}

static uint16_t encode(format_t format, double value) {
  uint32_t sign = signbit(value) ? 0x8000u : 0;
  uint32_t infinity = infinity_of(format);
  if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (format.fraction_bits - 1));
  double magnitude = fabs(value);
  if (magnitude == 0) return (uint16_t)sign;
  if (isinf(magnitude)) return (uint16_t)(sign | infinity);
  int exponent;
  (void)frexp(magnitude, &exponent);
  exponent = exponent - 1 < format.min_exponent ? format.min_exponent : exponent - 1;
  // In units of the last place; the leading one, where there is one, counts the exponent
  // up when it is added, and so does a carry from rounding.
  if (exponent > 128) return (uint16_t)(sign | infinity);
  // Rounded as all arithmetic is, ties to even: from 2^52 on there are no fractions.
  double units = ldexp(magnitude, format.fraction_bits - exponent) + 0x1p52 - 0x1p52;
  uint32_t bits =
      ((uint32_t)(exponent - format.min_exponent) << format.fraction_bits) + (uint32_t)units;
  return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

double tfrt_f16_to_double(uint16_t bits) { return decode(f16, bits); }
double tfrt_bf16_to_double(uint16_t bits) { return decode(bf16, bits); }
uint16_t tfrt_f16_from_double(double value) { return encode(f16, value); }
uint16_t tfrt_bf16_from_double(double value) { return encode(bf16, value); }
