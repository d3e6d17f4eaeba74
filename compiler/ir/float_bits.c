// SPDX-License-Identifier: Apache-2.0
//
// Floats as bits: f64 and f32 as the machine has them, the narrower types by hand.

#include <math.h>

#include "compiler/ir/attribute.h"

// The values that are no numbers, which the largest exponents of a format stand for.
typedef enum specials_e {
  SPECIALS_IEEE = 0,  // infinities and NaNs
  SPECIALS_ONE_NAN,   // numbers, but for all ones: NaN
  SPECIALS_NONE,      // numbers; what would be -0 is NaN
} specials_t;

// A binary float format narrower than f64.
typedef struct format_s {
  const char* type;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  specials_t specials;
} format_t;

static const format_t formats[] = {
    {"f16", 5, 10, 15, SPECIALS_IEEE},       {"bf16", 8, 7, 127, SPECIALS_IEEE},
    {"tf32", 8, 10, 127, SPECIALS_IEEE},     {"f8E5M2", 5, 2, 15, SPECIALS_IEEE},
    {"f8E4M3", 4, 3, 7, SPECIALS_IEEE},      {"f8E3M4", 3, 4, 3, SPECIALS_IEEE},
    {"f8E4M3FN", 4, 3, 7, SPECIALS_ONE_NAN}, {"f8E5M2FNUZ", 5, 2, 16, SPECIALS_NONE},
    {"f8E4M3FNUZ", 4, 3, 8, SPECIALS_NONE},  {"f8E4M3B11FNUZ", 4, 3, 11, SPECIALS_NONE},
};

// The format of |type|, or NULL.
static const format_t* find_format(const tfrt_ir_type_t* type) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(formats); ++i) {
    if (tfrt_ir_type_is(type, formats[i].type)) return &formats[i];
  }
  return NULL;
}

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

// The bits of the sign of |format|.
static uint64_t sign_bit(const format_t* format) {
  return UINT64_C(1) << (format->exponent_bits + format->mantissa_bits);
}

// The bits above those of the greatest number: an infinity, or the only NaN.
static uint64_t overflow_bits(const format_t* format) {
  uint64_t all = sign_bit(format) - 1;
  if (format->specials == SPECIALS_IEEE)
    return all >> format->mantissa_bits << format->mantissa_bits;
  return format->specials == SPECIALS_ONE_NAN ? all : all + 1;
}

static uint64_t narrow(const format_t* format, double value) {
  uint64_t sign = bits_of_double(value) >> 63 ? sign_bit(format) : 0;
  uint64_t overflow = overflow_bits(format);
  if (format->specials == SPECIALS_NONE && !isfinite(value)) return overflow;
  if (isnan(value)) {
    bool has_mantissa = format->specials == SPECIALS_IEEE;
    return sign | overflow | (has_mantissa ? UINT64_C(1) << (format->mantissa_bits - 1) : 0);
  }
  if (isinf(value)) return sign | overflow;
  if (value == 0) return format->specials == SPECIALS_NONE ? 0 : sign;
  int exponent = 0;
  frexp(fabs(value), &exponent);  // |value| = m * 2^exponent with m in [0.5, 1)
  int biased = exponent - 1 + format->bias;
  if (biased < 1) biased = 1;  // subnormal: the exponent field's smallest scale
  // In units of the last place; a carry out of the mantissa lands in the exponent.
  uint64_t units =
      round_to_even(ldexp(fabs(value), format->mantissa_bits - (biased - format->bias)));
  uint64_t hidden = UINT64_C(1) << format->mantissa_bits;
  uint64_t result =
      units < hidden ? units : ((uint64_t)biased << format->mantissa_bits) + (units - hidden);
  if (format->specials == SPECIALS_NONE) {
    if (result >= overflow) return overflow;
    return result ? sign | result : 0;
  }
  return sign | (result > overflow ? overflow : result);
}

// The number of |bits| as one of |format|, or an infinity or a NaN.
static double widen(const format_t* format, uint64_t bits) {
  uint64_t magnitude = bits & (sign_bit(format) - 1);
  bool negative = bits & sign_bit(format);
  uint64_t overflow = overflow_bits(format);
  if (format->specials == SPECIALS_NONE && bits == overflow) return NAN;
  if (format->specials != SPECIALS_NONE && magnitude >= overflow) {
    bool is_infinity = format->specials == SPECIALS_IEEE && magnitude == overflow;
    double special = is_infinity ? INFINITY : NAN;
    return negative ? -special : special;
  }
  uint64_t mantissa = magnitude & ((UINT64_C(1) << format->mantissa_bits) - 1);
  int exponent = (int)(magnitude >> format->mantissa_bits);
  uint64_t hidden = exponent ? UINT64_C(1) << format->mantissa_bits : 0;
  int scale = (exponent ? exponent : 1) - format->bias - format->mantissa_bits;
  double value = ldexp((double)(mantissa | hidden), scale);
  return negative ? -value : value;
}

bool tfrt_ir_float_has_values(const tfrt_ir_type_t* type) {
  return tfrt_ir_type_is(type, "f64") || tfrt_ir_type_is(type, "f32") || find_format(type);
}

uint64_t tfrt_ir_float_to_bits(const tfrt_ir_type_t* type, double value) {
  if (tfrt_ir_type_is(type, "f64")) return bits_of_double(value);
  if (tfrt_ir_type_is(type, "f32")) {
    float single = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &single, sizeof(bits));
    return bits;
  }
  const format_t* format = find_format(type);
  return format ? narrow(format, value) : 0;
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
  const format_t* format = find_format(type);
  return format ? widen(format, bits) : (double)NAN;
}
