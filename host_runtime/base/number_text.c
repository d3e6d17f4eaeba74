// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/number_text.h"

#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_runtime/base/ascii.h"

// --- The locale --------------------------------------------------------------------

// The locale "C". It lives as long as the process.
static locale_t plain_locale(void) {
  static _Atomic(locale_t) made = (locale_t)0;
  // Acquire: pairs with the exchange below, which publishes what newlocale() wrote.
  locale_t locale = atomic_load_explicit(&made, memory_order_acquire);
  if (TFRT_LIKELY(locale != (locale_t)0)) return locale;
  locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t expected = (locale_t)0;
  // Release: pairs with the load above; acquire: with another thread that was faster.
  if (atomic_compare_exchange_strong_explicit(&made, &expected, locale, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return locale;
  }
  freelocale(locale);
  return expected;
}

// --- Writing -----------------------------------------------------------------------

int tfrt_number_text_format_v(char* buffer, size_t size, const char* format, va_list arguments) {
  // No other than this thread sees the change.
  locale_t before = uselocale(plain_locale());
  int length = vsnprintf(buffer, size, format, arguments);
  uselocale(before);
  return length;
}

int tfrt_number_text_format(char* buffer, size_t size, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = tfrt_number_text_format_v(buffer, size, format, arguments);
  va_end(arguments);
  return length;
}

// Digits that always suffice.
#define F32_DIGITS 9
#define F64_DIGITS 17

static bool reads_back_f64(const char* text, double value) {
  return tfrt_number_text_parse_f64(text, NULL) == value;
}

// Most readers know only f64, and round its value again.
static bool reads_back_f32(const char* text, double value) {
  return (double)tfrt_number_text_parse_f32(text, NULL) == value &&
         (double)(float)tfrt_number_text_parse_f64(text, NULL) == value;
}

// Writes the exponent as JSON and C have it, without "+" and zeros in front: 1e+07 becomes 1e7.
static void shorten_exponent(char* exponent) {
  const char* digits = exponent + 2;
  while (digits[0] == '0' && digits[1] != '\0') ++digits;
  char* target = exponent + (exponent[1] == '-' ? 2 : 1);
  memmove(target, digits, strlen(digits) + 1);
}

static const char* shortest(double value, int most_digits, bool (*reads_back)(const char*, double),
                            char out[TFRT_NUMBER_TEXT_SIZE]) {
  if (isnan(value) || isinf(value)) {
    strcpy(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return out;
  }
  int digits = 1;
  tfrt_number_text_format(out, TFRT_NUMBER_TEXT_SIZE, "%.*e", digits - 1, value);
  while (digits < most_digits && !reads_back(out, value)) {
    ++digits;
    tfrt_number_text_format(out, TFRT_NUMBER_TEXT_SIZE, "%.*e", digits - 1, value);
  }
  char* exponent = strchr(out, 'e');
  int64_t power = 0;
  tfrt_number_text_parse_i64(tfrt_string_view_of(exponent + 1), &power);
  if (power < -5 || power > 16) {
    shorten_exponent(exponent);
    return out;
  }
  int behind_point = digits - 1 - (int)power;
  if (behind_point >= 0) {
    tfrt_number_text_format(out, TFRT_NUMBER_TEXT_SIZE, "%.*f", behind_point, value);
    return out;
  }
  // Zeros stand for the digits that don't matter.
  bool is_negative = out[0] == '-';
  char* first = out + (is_negative ? 1 : 0);
  if (first[1] == '.') memmove(first + 1, first + 2, (size_t)digits - 1);
  memset(first + digits, '0', (size_t)-behind_point);
  first[digits - behind_point] = '\0';
  return out;
}

const char* tfrt_number_text_shortest_f64(double value, char out[TFRT_NUMBER_TEXT_SIZE]) {
  return shortest(value, F64_DIGITS, reads_back_f64, out);
}

const char* tfrt_number_text_shortest_f32(float value, char out[TFRT_NUMBER_TEXT_SIZE]) {
  return shortest((double)value, F32_DIGITS, reads_back_f32, out);
}

const char* tfrt_number_text_date(int64_t seconds, char separator,
                                  char out[TFRT_NUMBER_TEXT_DATE_SIZE]) {
  time_t time = (time_t)seconds;
  struct tm parts = {0};
  gmtime_r(&time, &parts);
  // The remainders only tell the compiler that the text fits.
  snprintf(out, TFRT_NUMBER_TEXT_DATE_SIZE, "%04u-%02u-%02u%c%02u:%02u:%02u",
           ((unsigned)parts.tm_year + 1900) % 1000000, ((unsigned)parts.tm_mon + 1) % 100,
           (unsigned)parts.tm_mday % 100, separator, (unsigned)parts.tm_hour % 100,
           (unsigned)parts.tm_min % 100, (unsigned)parts.tm_sec % 100);
  return out;
}

// --- Reading -----------------------------------------------------------------------

double tfrt_number_text_parse_f64(const char* text, const char** out_end) {
  char* end = NULL;
  double value = strtod_l(text, &end, plain_locale());
  if (out_end) *out_end = end;
  return value;
}

float tfrt_number_text_parse_f32(const char* text, const char** out_end) {
  char* end = NULL;
  float value = strtof_l(text, &end, plain_locale());
  if (out_end) *out_end = end;
  return value;
}

static bool parse_digits(tfrt_string_view_t text, uint64_t base, uint64_t* out_value) {
  uint64_t value = 0;
  bool is_good = text.size > 0;
  for (size_t i = 0; i < text.size && is_good; ++i) {
    int digit = tfrt_ascii_hex_digit(text.data[i]);
    is_good = digit >= 0 && (uint64_t)digit < base &&
              !__builtin_mul_overflow(value, base, &value) &&
              !__builtin_add_overflow(value, (uint64_t)digit, &value);
  }
  *out_value = is_good ? value : 0;
  return is_good;
}

bool tfrt_number_text_parse_u64(tfrt_string_view_t text, uint64_t* out_value) {
  return parse_digits(text, 10, out_value);
}

bool tfrt_number_text_parse_hex(tfrt_string_view_t text, uint64_t* out_value) {
  return parse_digits(text, 16, out_value);
}

bool tfrt_number_text_parse_i64(tfrt_string_view_t text, int64_t* out_value) {
  bool is_negative = text.size > 0 && text.data[0] == '-';
  bool has_sign = is_negative || (text.size > 0 && text.data[0] == '+');
  uint64_t magnitude = 0;
  if (has_sign) text = tfrt_string_view_make(text.data + 1, text.size - 1);
  bool is_good =
      parse_digits(text, 10, &magnitude) && magnitude <= (uint64_t)INT64_MAX + is_negative;
  *out_value = !is_good ? 0 : is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return is_good;
}
