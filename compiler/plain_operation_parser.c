// SPDX-License-Identifier: Apache-2.0
//
// `tfrt.add.i32 %a, %b`: an op that is a name and its fixed operands, with results of known types,
// as most of a program are. It is parsed in one go, without the stacks on which lists of any
// length are gathered.
//
// Whatever is not as usual (an attribute, a location, a value that isn't known yet, an error) is
// left to operation_parser.c, which finds everything as if nothing had been tried, and is alone to
// report.

#include "compiler/parser_impl.h"

// The name of operand |index|, at which the lexer stands, or NULL. Many ops go on with what the one
// before them made, or share an operand with it: such a name is known without being looked up.
static const tfrt_ir_string_t* take_name(tfrt_parser_t* parser, uint32_t index) {
  const tfrt_ir_string_t** recent = &parser->recent_operands[index];
  const tfrt_ir_string_t* known =
      tfrt_lexer_take_known_value(&parser->lexer, parser->recent_result, *recent);
  if (known) return known;
  tfrt_string_view_t text;
  uint64_t hash;
  if (!tfrt_lexer_take_value(&parser->lexer, &text, &hash)) return NULL;
  return *recent = tfrt_ir_string_get_hashed(parser->context, text, hash);
}

// The value that operand |index| of |form| is; NULL if it isn't there, isn't known, or is of
// another type.
static tfrt_ir_value_t* take_operand(tfrt_parser_t* parser, const tfrt_op_form_t* form,
                                     uint32_t index) {
  const tfrt_ir_string_t* name = take_name(parser, index);
  return name ? tfrt_value_scopes_find(&parser->scopes, name, form->operand_types[index]) : NULL;
}

// `%a, %b`: as many as |form| has.
static bool take_operands(tfrt_parser_t* parser, const tfrt_op_form_t* form,
                          tfrt_ir_value_t** out_operands) {
  for (uint32_t i = 0; i < form->fixed_operand_count; ++i) {
    if (i > 0 && !tfrt_lexer_take(&parser->lexer, ',')) return false;
    out_operands[i] = take_operand(parser, form, i);
    if (!out_operands[i]) return false;
  }
  return true;
}

// Whether the token at hand can't belong to the op before it.
static bool is_behind(const tfrt_parser_t* parser) {
  int kind = parser->token.kind;
  return kind == TFRT_TOKEN_PERCENT || kind == '}' ||
         (kind == TFRT_TOKEN_WORD && !tfrt_parser_at_word(parser, "loc"));
}

static bool build(tfrt_parser_t* parser, const tfrt_op_form_t* form,
                  const tfrt_parser_place_t* place, tfrt_ir_value_t* const* operands,
                  const tfrt_value_reference_t* result, tfrt_ir_block_t* block) {
  tfrt_ir_operation_parts_t parts = {
      .name = form->name,
      .descriptor = form->descriptor,
      .location = tfrt_parser_location_here(parser, place),
      .operands = operands,
      .operand_count = form->fixed_operand_count,
      .result_types = form->result_types,
      .result_count = form->fixed_result_count,
  };
  tfrt_ir_operation_t* operation =
      parts.location ? tfrt_ir_operation_create(parser->context, &parts) : NULL;
  if (!operation) return false;
  operation->text_offset = (uint32_t)place->offset;
  tfrt_ir_block_append(block, operation);
  if (!result) return true;
  operation->results[0].name = result->name;
  parser->recent_result = result->name;
  return tfrt_value_scopes_define_free(&parser->scopes, result, &operation->results[0]);
}

// Makes the token behind the op the one at hand; false if it may belong to the op. Then it is read
// again, and reported only then if it is none.
static bool advance_behind(tfrt_parser_t* parser) {
  parser->lexer.is_quiet = true;
  tfrt_parser_advance(parser);
  parser->lexer.is_quiet = false;
  return is_behind(parser);
}

bool tfrt_parser_plain_operation(tfrt_parser_t* parser, const tfrt_op_form_t* form,
                                 const tfrt_value_reference_t* result, tfrt_ir_block_t* block,
                                 bool* out_ok) {
  if (form->fixed_result_count != (result ? 1 : 0)) return false;
  if (result && !tfrt_value_scopes_is_free(&parser->scopes, result->name)) return false;
  size_t name_end = parser->lexer.position;
  tfrt_ir_value_t* operands[TFRT_OP_FORM_MAX_PLAIN];
  if (!take_operands(parser, form, operands)) {
    parser->lexer.position = name_end;
    return false;
  }
  tfrt_token_t name = parser->token;
  size_t previous_end = parser->previous_end;
  if (advance_behind(parser)) {
    tfrt_parser_place_t place = tfrt_parser_place_of(&name);
    *out_ok = build(parser, form, &place, operands, result, block);
    return true;
  }
  tfrt_lexer_move(&parser->lexer, &name, name_end);
  parser->token = name;
  parser->previous_end = previous_end;
  return false;
}
