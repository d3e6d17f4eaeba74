// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, in both directions, the same in every locale. The C library's own functions
// (strtod, printf of a float, scanf) ask the locale of the process for the decimal point, and
// a program that embeds the runtime may have set one with a comma. tests/layers/source_rules.py
// refuses them elsewhere.
//
// Thread rule: thread-safe; a call of setlocale on another thread changes nothing here.
#ifndef TFRT_HOST_RUNTIME_BASE_NUMBER_TEXT_H_
#define TFRT_HOST_RUNTIME_BASE_NUMBER_TEXT_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

// --- Writing -----------------------------------------------------------------------

// Format as snprintf and vsnprintf do in the locale "C". Each function of the project that takes a
// format passes it here. Thread-safe.
int tfrt_number_text_format(char* buffer, size_t size, const char* format, ...) TFRT_PRINTF(3, 4);
int tfrt_number_text_format_v(char* buffer, size_t size, const char* format, va_list arguments);

// |value|, but without a sign if it is NaN: printf shows one as "-nan", and which sign a NaN has
// says nothing. Thread-safe.
static inline double tfrt_number_text_unsigned_nan(double value) {
  return value != value ? __builtin_nan("") : value;
}

// Room for any text of tfrt_number_text_shortest_*(), with its NUL.
#define TFRT_NUMBER_TEXT_SIZE 40

// Writes the decimal text with the fewest digits that reads back as |value|, bit for bit, both as a
// number of its own type and as an f64 that is then rounded to that type: what JSON shows. Numbers
// from 1e-5 to below 1e17 have no exponent. An infinity is "inf" or "-inf", and any NaN is "nan".
// Returns |out|. Thread-safe.
const char* tfrt_number_text_shortest_f64(double value, char out[TFRT_NUMBER_TEXT_SIZE]);
const char* tfrt_number_text_shortest_f32(float value, char out[TFRT_NUMBER_TEXT_SIZE]);

// Room for a date with its time of day, and a NUL.
#define TFRT_NUMBER_TEXT_DATE_SIZE 32

// Writes the second |seconds| since 1970, in UTC, as "YYYY-MM-DD", |separator|, "HH:MM:SS".
// Returns |out|. Thread-safe.
const char* tfrt_number_text_date(int64_t seconds, char separator,
                                  char out[TFRT_NUMBER_TEXT_DATE_SIZE]);

// --- Reading -----------------------------------------------------------------------

// Read as strtod and strtof do in the locale "C". They set errno to ERANGE when |text| is out of
// range, and |*out_end|, if that isn't NULL, to behind the number, or to |text| if there is none.
// Thread-safe.
double tfrt_number_text_parse_f64(const char* text, const char** out_end);
float tfrt_number_text_parse_f32(const char* text, const char** out_end);

// Sets |*out_value| to the number that all of |text| is: decimal digits; a sign and decimal digits;
// hexadecimal digits without a prefix. False, and |*out_value| is 0, if |text| is anything else or
// is out of range. Thread-safe.
bool tfrt_number_text_parse_u64(tfrt_string_view_t text, uint64_t* out_value);
bool tfrt_number_text_parse_i64(tfrt_string_view_t text, int64_t* out_value);
bool tfrt_number_text_parse_hex(tfrt_string_view_t text, uint64_t* out_value);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_NUMBER_TEXT_H_
