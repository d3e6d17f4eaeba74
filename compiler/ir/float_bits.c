// SPDX-License-Identifier: Apache-2.0
//
// Floats as bits: f64 and f32 as the machine has them, f16 and bf16 by hand.

#include <math.h>

#include "compiler/ir/attribute.h"

// A binary float format narrower than f64.
typedef struct format_s {
  int exponent_bits;
  int mantissa_bits;
} format_t;

static const format_t half_format = {5, 10};
static const format_t bfloat_format = {8, 7};

static uint64_t bits_of_double(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Rounds |value| >= 0 to the nearest integer, ties to even.
static uint64_t round_to_even(double value) {
  double below = floor(value);
  double rest = value - below;
  uint64_t result = (uint64_t)below;
  if (rest > 0.5 || (rest == 0.5 && (result & 1))) ++result;
  return result;
}

static uint64_t narrow(format_t format, double value) {
  uint64_t bits = bits_of_double(value);
  uint64_t sign = (bits >> 63) << (format.exponent_bits + format.mantissa_bits);
  uint64_t infinity = ((UINT64_C(1) << format.exponent_bits) - 1) << format.mantissa_bits;
  if (isnan(value)) return sign | infinity | (UINT64_C(1) << (format.mantissa_bits - 1));
  if (isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent = 0;
  frexp(fabs(value), &exponent);  // |value| = m * 2^exponent with m in [0.5, 1)
  int biased = exponent - 1 + bias;
  if (biased < 1) biased = 1;  // subnormal: the exponent field's smallest scale
  // In units of the last place; a carry out of the mantissa lands in the exponent.
  uint64_t units = round_to_even(ldexp(fabs(value), format.mantissa_bits - (biased - bias)));
  uint64_t hidden = UINT64_C(1) << format.mantissa_bits;
  uint64_t result =
      units < hidden ? units : ((uint64_t)biased << format.mantissa_bits) + (units - hidden);
  return sign | (result > infinity ? infinity : result);
}

static double widen(format_t format, uint64_t bits) {
  uint64_t mantissa = bits & ((UINT64_C(1) << format.mantissa_bits) - 1);
  int top = (1 << format.exponent_bits) - 1;
  int exponent = (int)(bits >> format.mantissa_bits) & top;
  bool negative = (bits >> (format.exponent_bits + format.mantissa_bits)) & 1;
  int bias = top >> 1;
  double value = 0;
  if (exponent == top) {
    value = mantissa ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = ldexp((double)mantissa, 1 - bias - format.mantissa_bits);
  } else {
    double full = (double)(mantissa | (UINT64_C(1) << format.mantissa_bits));
    value = ldexp(full, exponent - bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

uint64_t tfrt_ir_float_to_bits(const tfrt_ir_type_t* type, double value) {
  if (tfrt_ir_type_is(type, "f64")) return bits_of_double(value);
  if (tfrt_ir_type_is(type, "f32")) {
    float single = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &single, sizeof(bits));
    return bits;
  }
  return narrow(tfrt_ir_type_is(type, "bf16") ? bfloat_format : half_format, value);
}

double tfrt_ir_float_from_bits(const tfrt_ir_type_t* type, uint64_t bits) {
  if (tfrt_ir_type_is(type, "f64")) {
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (tfrt_ir_type_is(type, "f32")) {
    uint32_t low = (uint32_t)bits;
    float single = 0;
    memcpy(&single, &low, sizeof(single));
    return (double)single;
  }
  return widen(tfrt_ir_type_is(type, "bf16") ? bfloat_format : half_format, bits);
}
