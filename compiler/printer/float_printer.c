// SPDX-License-Identifier: Apache-2.0
//
// Floats as stock MLIR writes them, digit by digit, so that its tools and ours give the same text.
// Six digits and a zero are written if they give the number back, else as many digits as the type
// can need, else the bits. Digits beyond that go in two steps. The first one leaves about the bits
// that the wanted digits need. The second one rounds half up.

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/printer/printer_impl.h"
#include "host_runtime/base/number_text.h"

// The digits of the shortest and of the longest form, and the most zeros in front of or behind the
// digits of a number that is written without exponent.
#define SHORT_DIGITS 6
#define MAX_PADDING 3
// The digits of the exact value of an f64, and a few bytes more.
#define MAX_EXACT 1500

// digits * 10^exponent
typedef struct decimal_s {
  char digits[MAX_EXACT];
  int count;
  int exponent;
} decimal_t;

// Takes the zeros at the end off.
static void trim(decimal_t* decimal) {
  while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0') {
    --decimal->count;
    ++decimal->exponent;
  }
}

// Sets |*decimal| to |value| > 0 exactly, and returns the number of bits of its digits as an
// integer.
static int make_exact(double value, decimal_t* decimal) {
  int exponent = 0;
  double mantissa = ldexp(frexp(value, &exponent), 53);
  exponent -= 53;
  uint64_t integer = (uint64_t)mantissa;
  int zeros = __builtin_ctzll(integer);
  integer >>= zeros;
  exponent += zeros;
  int places = exponent < 0 ? -exponent : 0;
  char text[MAX_EXACT];
  tfrt_number_text_format(text, sizeof(text), "%.*f", places, value);
  decimal->count = 0;
  decimal->exponent = -places;
  for (const char* at = text; *at; ++at) {
    bool leads = *at == '0' && !decimal->count;
    if (*at != '.' && !leads) decimal->digits[decimal->count++] = *at;
  }
  int bits = 64 - __builtin_clzll(integer);
  if (exponent >= 0) return bits + exponent;
  return (int)floorl(log2l((long double)integer) + (long double)places * log2l(5.0L)) + 1;
}

// Leaves at most |wanted| digits of |decimal|, which have |bits| bits.
static void shorten(decimal_t* decimal, int bits, int wanted) {
  // 196 / 59 bits are a digit.
  int needed = (wanted * 196 + 58) / 59;
  int dropped = bits > needed ? (bits - needed) * 59 / 196 : 0;
  decimal->count -= dropped;
  decimal->exponent += dropped;
  trim(decimal);
  if (decimal->count <= wanted) return;
  bool up = decimal->digits[wanted] >= '5';
  decimal->exponent += decimal->count - wanted;
  decimal->count = wanted;
  while (up && decimal->count && decimal->digits[decimal->count - 1] == '9') {
    --decimal->count;
    ++decimal->exponent;
  }
  if (up && decimal->count) ++decimal->digits[decimal->count - 1];
  if (!decimal->count) decimal->digits[decimal->count++] = '1';
  trim(decimal);
}

// The digits that tell any two floats of |type| apart.
static int exact_digits(const tfrt_ir_type_t* type) {
  if (type->width == 64) return 17;
  if (type->width == 32) return 9;
  return tfrt_ir_type_is(type, "bf16") || type->width == 8 ? 4 : 5;
}

// |decimal| with one digit before the point, |places| behind it (-1: as many as it has), and |mark|
// before the exponent.
static void format_scientific(const decimal_t* decimal, int places, char mark, char* text,
                              size_t size) {
  int exponent = decimal->exponent + decimal->count - 1;
  int rest = decimal->count - 1;
  int zeros = places < 0 ? (rest ? 0 : 1) : places - rest;
  tfrt_number_text_format(text, size, "%c.%.*s%.*s%c%c%0*d", decimal->digits[0], rest,
                          decimal->digits + 1, zeros, "000000", mark, exponent < 0 ? '-' : '+',
                          places < 0 ? 1 : 2, abs(exponent));
}

// |decimal| without exponent, unless that takes too many zeros, or more than |wanted| digits.
// False: there would be no point.
static bool format_plain(const decimal_t* decimal, int wanted, char* text, size_t size) {
  int first = decimal->exponent + decimal->count - 1;  // the power of ten of the first digit
  bool is_long = decimal->exponent >= 0 && first + 1 > wanted;
  if (decimal->exponent > MAX_PADDING || first < -MAX_PADDING || is_long) {
    format_scientific(decimal, -1, 'E', text, size);
    return true;
  }
  if (decimal->exponent >= 0) return false;
  if (first >= 0) {
    tfrt_number_text_format(text, size, "%.*s.%.*s", first + 1, decimal->digits,
                            decimal->count - first - 1, decimal->digits + first + 1);
  } else {
    tfrt_number_text_format(text, size, "0.%.*s%.*s", -first - 1, "000", decimal->count,
                            decimal->digits);
  }
  return true;
}

// True if the parser reads |text| as |value| of |type|.
static bool reads_as(const char* text, const tfrt_ir_type_t* type, double value) {
  // As the parser does: f32 in one rounding.
  double again = type->width == 32 ? (double)tfrt_number_text_parse_f32(text, NULL)
                                   : tfrt_number_text_parse_f64(text, NULL);
  return tfrt_ir_float_from_bits(type, tfrt_ir_float_to_bits(type, again)) == value;
}

bool tfrt_printer_float(tfrt_string_builder_t* builder, const tfrt_ir_type_t* type, uint64_t bits) {
  double value = tfrt_ir_float_has_values(type) ? tfrt_ir_float_from_bits(type, bits) : (double)NAN;
  if (isfinite(value)) {
    const char* sign = signbit(value) ? "-" : "";
    char text[64] = "0.000000e+00";
    bool fits = value == 0;
    if (!fits) {
      decimal_t decimal;
      int exact_bits = make_exact(fabs(value), &decimal);
      decimal_t shorter = decimal;
      shorten(&shorter, exact_bits, SHORT_DIGITS);
      format_scientific(&shorter, SHORT_DIGITS, 'e', text, sizeof(text));
      fits = reads_as(text, type, fabs(value));
      if (!fits) {
        shorten(&decimal, exact_bits, exact_digits(type));
        fits = format_plain(&decimal, exact_digits(type), text, sizeof(text));
      }
    }
    if (fits) {
      tfrt_string_builder_append_format(builder, "%s%s", sign, text);
      return true;
    }
  }
  tfrt_string_builder_append_format(builder, "0x%0*" PRIX64, (int)(type->width + 3) / 4, bits);
  return false;
}
