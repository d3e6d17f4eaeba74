// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/number_value.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

static const tfrt_number_type_t tfrt_number_types[] = {
    {"i8", TFRT_TYPE_I8, TFRT_DTYPE_I8, 1, INT8_MIN, INT8_MAX},
    {"i16", TFRT_TYPE_I16, TFRT_DTYPE_I16, 2, INT16_MIN, INT16_MAX},
    {"i32", TFRT_TYPE_I32, TFRT_DTYPE_I32, 4, INT32_MIN, INT32_MAX},
    {"i64", TFRT_TYPE_I64, TFRT_DTYPE_I64, 8, INT64_MIN, INT64_MAX},
    {"ui8", TFRT_TYPE_UI8, TFRT_DTYPE_UI8, 1, 0, UINT8_MAX},
    {"ui16", TFRT_TYPE_UI16, TFRT_DTYPE_UI16, 2, 0, UINT16_MAX},
    {"ui32", TFRT_TYPE_UI32, TFRT_DTYPE_UI32, 4, 0, UINT32_MAX},
    {"ui64", TFRT_TYPE_UI64, TFRT_DTYPE_UI64, 8, 0, UINT64_MAX},
    {"i1", TFRT_TYPE_I1, TFRT_DTYPE_I1, sizeof(bool), 0, 0},
    {"f32", TFRT_TYPE_F32, TFRT_DTYPE_F32, 4, 0, 0},
    {"f64", TFRT_TYPE_F64, TFRT_DTYPE_F64, 8, 0, 0},
};

const tfrt_number_type_t* tfrt_number_type_find(const char* name) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_number_types); ++i) {
    if (strcmp(tfrt_number_types[i].name, name) == 0) return &tfrt_number_types[i];
  }
  return NULL;
}

static tfrt_status_t number_value_refuse(const char* type, const char* text) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is no %s", text, type);
}

// Reads `[+-]DIGITS` or `[+-]0xDIGITS`.
static bool number_value_parse_magnitude(const char* text, uint64_t* out_magnitude) {
  const char* digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
  bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  return is_hex ? tfrt_number_text_parse_hex(tfrt_string_view_of(digits + 2), out_magnitude)
                : tfrt_number_text_parse_u64(tfrt_string_view_of(digits), out_magnitude);
}

static tfrt_status_t number_value_parse_integer(const tfrt_number_type_t* type, const char* text,
                                                void* out_bytes) {
  bool is_negative = text[0] == '-';
  uint64_t most = is_negative ? 0 - (uint64_t)type->minimum : type->maximum;
  uint64_t magnitude = 0;
  if (!number_value_parse_magnitude(text, &magnitude) || magnitude > most) {
    return number_value_refuse(type->name, text);
  }
  uint64_t bits = is_negative ? 0 - magnitude : magnitude;
  // Little-endian: the low bytes of the number come first, for any of the sizes.
  memcpy(out_bytes, &bits, type->size);
  return NULL;
}

// Reading a float passes over white space in front.
static bool number_value_begins_with_space(const char* text) {
  return strchr(" \t\n\v\f\r", text[0]) != NULL && text[0] != '\0';
}

static tfrt_status_t number_value_parse_float(const tfrt_number_type_t* type, const char* text,
                                              void* out_bytes) {
  const char* end = NULL;
  double number = 0;
  errno = 0;
  if (type->size == sizeof(float)) {
    // Not by way of a double: that would round twice.
    float narrow = tfrt_number_text_parse_f32(text, &end);
    memcpy(out_bytes, &narrow, sizeof(narrow));
    number = (double)narrow;
  } else {
    number = tfrt_number_text_parse_f64(text, &end);
    memcpy(out_bytes, &number, sizeof(number));
  }
  // A text that says "inf" is in range, and one that is too small for the type is rounded.
  bool overflows = errno == ERANGE && isinf(number);
  if (number_value_begins_with_space(text) || end == text || *end != '\0' || overflows) {
    return number_value_refuse(type->name, text);
  }
  return NULL;
}

static tfrt_status_t number_value_parse_bool(const char* text, void* out_bytes) {
  bool on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (!on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
    return number_value_refuse("i1 (true, false, 1 or 0)", text);
  }
  memcpy(out_bytes, &on, sizeof(on));
  return NULL;
}

tfrt_status_t tfrt_number_value_parse(const tfrt_number_type_t* type, const char* text,
                                      void* out_bytes) {
  if (type->maximum > 0) return number_value_parse_integer(type, text, out_bytes);
  if (type->id == TFRT_TYPE_I1) return number_value_parse_bool(text, out_bytes);
  return number_value_parse_float(type, text, out_bytes);
}
