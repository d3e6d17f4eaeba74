// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialects `arith` and `math`:
//
//   same      arith.addi %a, %b overflow<nsw> : i32        also fastmath<fast>
//   cast      arith.extsi %a : i32 to i64
//   constant  arith.constant 1 : i32
//   compare   arith.cmpi slt, %a, %b : i32
//   select    arith.select %c, %a, %b : i32

#include <stdio.h>

#include "compiler/op_table/predicates.h"
#include "compiler/parser/parser_impl.h"

// `word<...>`, if there: the attribute |name| in MLIR's form, without it `none`.
static bool parse_flags(tfrt_parser_t* parser, const char* word, const char* name) {
  tfrt_string_view_t text = tfrt_string_view_of("none");
  if (tfrt_parser_at_word(parser, word)) {
    size_t begin = parser->token.offset + strlen(word) + 1;
    size_t end = 0;
    tfrt_parser_advance(parser);
    if (parser->token.kind != '<')
      return tfrt_parser_miss(parser, "expected '<' behind '%s'", word);
    if (!tfrt_parser_find_closing(parser, begin, &end)) return false;
    text = tfrt_string_view_make(parser->lexer.text.data + begin, end - begin);
    tfrt_parser_move(parser, end + 1);
  }
  tfrt_string_builder_clear(&parser->text);
  tfrt_string_builder_append_format(&parser->text, "#arith.%s<%.*s>", word,
                                    TFRT_STRING_VIEW_ARGUMENTS(text));
  return tfrt_parser_add_attribute(
      parser, name,
      tfrt_ir_attribute_opaque(parser->context, tfrt_string_builder_view(&parser->text)));
}

// The flags of the family of |op|, if it has any.
static bool parse_all_flags(tfrt_parser_t* parser, const tfrt_parser_op_t* op) {
  const char* family = op->descriptor->assembly;
  bool is_left_out = strstr(family, " optional-") && !tfrt_parser_at_word(parser, "fastmath");
  if (is_left_out) return true;
  if (strstr(family, " overflow")) return parse_flags(parser, "overflow", "overflowFlags");
  return !strstr(family, "fastmath") || parse_flags(parser, "fastmath", "fastmath");
}

// Adds the attribute |name| with the text |value|, unless |op| has one.
static bool add_default(tfrt_parser_t* parser, const tfrt_parser_op_t* op, const char* name,
                        const char* value) {
  for (size_t i = op->attribute_mark; i < parser->named.count; ++i) {
    const tfrt_ir_named_attribute_t* named = tfrt_scratch_at(&parser->named, i);
    if (tfrt_ir_string_is(named->name, name)) return true;
  }
  return tfrt_parser_add_attribute(
      parser, name, tfrt_ir_attribute_opaque(parser->context, tfrt_string_view_of(value)));
}

// The attribute that MLIR gives an op of the language of |descriptor| by default, and the default;
// or NULL.
static const char* language_default(const tfrt_kernel_descriptor_t* descriptor,
                                    const char** out_value) {
  const char* family = descriptor->assembly;
  if (strstr(family, " overflow")) {
    *out_value = "#arith.overflow<none>";
    return "overflowFlags";
  }
  if (strstr(family, " fastmath")) {
    *out_value = "#arith.fastmath<none>";
    return "fastmath";
  }
  *out_value = "#vector.punctuation<newline>";
  return strcmp(family, "syntax print") == 0 ? "punctuation" : NULL;
}

bool tfrt_parser_language_defaults(tfrt_parser_t* parser, const tfrt_parser_op_t* op) {
  const char* value;
  const char* name = language_default(op->descriptor, &value);
  return !name || add_default(parser, op, name, value);
}

uint32_t tfrt_parser_count_defaults(const tfrt_kernel_descriptor_t* descriptor,
                                    const char** out_name) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    if (!descriptor->attributes[i].default_value) continue;
    *out_name = descriptor->attributes[i].name;
    ++count;
  }
  if (!(descriptor->flags & TFRT_KERNEL_LANGUAGE)) return count;
  const char* value;
  const char* name = language_default(descriptor, &value);
  if (name) *out_name = name;
  return name ? count + 1 : count;
}

bool tfrt_parser_same_types(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  if (!tfrt_parser_take_references(parser, ':') || !parse_all_flags(parser, op) ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_resolve_all(parser, op, mark, type) &&
         tfrt_parser_one_result(parser, op, type);
}

bool tfrt_parser_cast(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  if (!tfrt_parser_take_references(parser, ':') || !parse_all_flags(parser, op) ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* source = tfrt_parser_colon_type(parser);
  if (!source) return false;
  if (!tfrt_parser_accept_word(parser, "to")) return tfrt_parser_miss(parser, "expected 'to'");
  const tfrt_ir_type_t* target = tfrt_parser_type(parser);
  return target && tfrt_parser_resolve_all(parser, op, mark, source) &&
         tfrt_parser_one_result(parser, op, target);
}

bool tfrt_parser_constant(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_optional_dictionary(parser)) return false;
  size_t offset = parser->token.offset;
  const tfrt_ir_attribute_t* value = tfrt_parser_attribute(parser);
  if (!value) return false;
  if (!value->type) return tfrt_parser_fail_at(parser, offset, "a constant needs a type");
  return tfrt_parser_add_attribute(parser, "value", value) &&
         tfrt_parser_one_result(parser, op, value->type);
}

bool tfrt_parser_comparison(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  bool is_float = tfrt_ir_string_is(op->name, "arith.cmpf");
  uint32_t predicate = tfrt_predicate_find(is_float, parser->token.text);
  const tfrt_ir_type_t* i64 = tfrt_ir_type_integer(parser->context, 64, TFRT_IR_SIGNLESS);
  if (parser->token.kind != TFRT_TOKEN_WORD || predicate == UINT32_MAX) {
    return tfrt_parser_fail(parser, "expected a comparison such as '%s'", is_float ? "olt" : "slt");
  }
  tfrt_parser_advance(parser);
  if (!i64 || !tfrt_parser_expect(parser, ',', "behind the name of a comparison") ||
      !tfrt_parser_take_references(parser, ':') || !parse_all_flags(parser, op) ||
      !tfrt_parser_optional_dictionary(parser) ||
      !tfrt_parser_add_attribute(parser, "predicate",
                                 tfrt_ir_attribute_integer(parser->context, i64, predicate))) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_resolve_all(parser, op, mark, type) &&
         tfrt_parser_one_result(parser, op,
                                tfrt_ir_type_integer(parser->context, 1, TFRT_IR_SIGNLESS));
}

bool tfrt_parser_selection(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  const tfrt_ir_type_t* i1 = tfrt_ir_type_integer(parser->context, 1, TFRT_IR_SIGNLESS);
  if (!i1 || !tfrt_parser_take_operand(parser, op, i1) ||
      !tfrt_parser_expect(parser, ',', "behind the condition")) {
    return false;
  }
  size_t mark = parser->operands.count;
  if (!tfrt_parser_take_references(parser, ':') || !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_resolve_all(parser, op, mark, type) &&
         tfrt_parser_one_result(parser, op, type);
}
