// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <math.h>

#include "compiler/parser/parser_impl.h"
#include "host_runtime/base/number_text.h"

// Longest decimal float that is read; more digits mean nothing.
#define MAX_FLOAT_TEXT 128

static bool is_hex(tfrt_string_view_t text) { return text.size > 2 && text.data[1] == 'x'; }

// The magnitude of the INTEGER |text|; false if it has more than 64 bits.
static bool parse_magnitude(tfrt_string_view_t text, uint64_t* out_value) {
  uint64_t base = is_hex(text) ? 16 : 10;
  uint64_t value = 0;
  for (size_t i = is_hex(text) ? 2 : 0; i < text.size; ++i) {
    char c = text.data[i];
    uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    if (__builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return false;
    }
  }
  *out_value = value;
  return true;
}

static bool fail_range(tfrt_parser_t* parser, const tfrt_token_t* token,
                       const tfrt_ir_type_t* type) {
  return tfrt_parser_fail_at(parser, token->offset, "this number is out of the range of '%s'",
                             type->text->data);
}

// A signless type takes what either a signed or an unsigned one would.
static bool integer_bits(tfrt_parser_t* parser, const tfrt_token_t* token, bool negative,
                         const tfrt_ir_type_t* type, uint64_t* out_bits) {
  if (token->kind != TFRT_TOKEN_INTEGER) {
    return tfrt_parser_fail_at(parser, token->offset, "expected an integer for type '%s'",
                               type->text->data);
  }
  if (type->width > 64) {
    return tfrt_parser_fail_at(parser, token->offset,
                               "integers of more than 64 bits are not supported");
  }
  uint64_t value = 0;
  if (!parse_magnitude(token->text, &value)) return fail_range(parser, token, type);
  uint64_t top = UINT64_C(1) << (type->width - 1);  // magnitude of the least signed value
  bool is_unsigned = type->signedness == TFRT_IR_UNSIGNED;
  bool is_signed = type->signedness == TFRT_IR_SIGNED || type->kind == TFRT_IR_TYPE_INDEX;
  uint64_t most = is_signed ? top - 1 : top - 1 + top;
  bool fits = negative ? value <= top && (!is_unsigned || value == 0) : value <= most;
  if (!fits || (type->width == 1 && negative && value)) return fail_range(parser, token, type);
  *out_bits = negative ? 0 - value : value;
  return true;
}

// The bits of a float written as such: `0x7FC00000 : f32`.
static bool hex_float_bits(tfrt_parser_t* parser, const tfrt_token_t* token,
                           const tfrt_ir_type_t* type, uint64_t* out_bits) {
  uint64_t value = 0;
  bool fits = parse_magnitude(token->text, &value) && type->width <= 64 &&
              (type->width == 64 || value >> type->width == 0);
  if (!fits) return fail_range(parser, token, type);
  *out_bits = value;
  return true;
}

static bool float_bits(tfrt_parser_t* parser, const tfrt_token_t* token, bool negative,
                       const tfrt_ir_type_t* type, uint64_t* out_bits) {
  if (token->kind == TFRT_TOKEN_INTEGER) {
    if (is_hex(token->text) && !negative) return hex_float_bits(parser, token, type, out_bits);
    return tfrt_parser_fail_at(parser, token->offset,
                               "expected a float for type '%s'; write a decimal point, as in 1.0",
                               type->text->data);
  }
  if (token->text.size >= MAX_FLOAT_TEXT) {
    return tfrt_parser_fail_at(parser, token->offset, "this number has too many digits");
  }
  char text[MAX_FLOAT_TEXT];
  memcpy(text, token->text.data, token->text.size);
  text[token->text.size] = 0;
  double value = tfrt_ir_type_is(type, "f32") ? (double)tfrt_number_text_parse_f32(text, NULL)
                                              : tfrt_number_text_parse_f64(text, NULL);
  const tfrt_ir_attribute_t* attribute =
      tfrt_ir_attribute_float(parser->context, type, negative ? -value : value);
  if (!attribute) {
    return tfrt_parser_fail_at(parser, token->offset,
                               "write a number of type '%s' in hexadecimal, as its bits",
                               type->text->data);
  }
  if (isinf(tfrt_ir_attribute_float_value(attribute))) return fail_range(parser, token, type);
  *out_bits = attribute->bits;
  return true;
}

bool tfrt_parser_number_bits(tfrt_parser_t* parser, const tfrt_token_t* token, bool negative,
                             const tfrt_ir_type_t* type, uint64_t* out_bits) {
  *out_bits = 0;
  if (type->kind == TFRT_IR_TYPE_FLOAT) return float_bits(parser, token, negative, type, out_bits);
  if (type->kind == TFRT_IR_TYPE_INTEGER || type->kind == TFRT_IR_TYPE_INDEX) {
    return integer_bits(parser, token, negative, type, out_bits);
  }
  return tfrt_parser_fail_at(parser, token->offset, "a number can't have the type '%s'",
                             type->text->data);
}

const tfrt_ir_attribute_t* tfrt_parser_number(tfrt_parser_t* parser, const tfrt_token_t* token,
                                              bool negative, const tfrt_ir_type_t* type) {
  uint64_t bits = 0;
  if (!tfrt_parser_number_bits(parser, token, negative, type, &bits)) return NULL;
  if (type->kind == TFRT_IR_TYPE_FLOAT) {
    return tfrt_ir_attribute_float_bits(parser->context, type, bits);
  }
  return tfrt_ir_attribute_integer(parser->context, type, (int64_t)bits);
}
