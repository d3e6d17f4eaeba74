// SPDX-License-Identifier: Apache-2.0
//
// `%r = tfrt.add.i32 %a, %b`: an op that is a name and its fixed operands, with at most one result
// of a known type, as most of a program are. Or the same in generic form, with a signature that was
// met before and a few attributes. It is parsed in one go, without tokens and without the stacks on
// which lists of any length are gathered.
//
// An op with anything unusual (a region, a location, a value that isn't known yet, an error) is
// left to operation_parser.c. That one parses the op from its beginning, and alone reports errors.

#include "compiler/ir/context_entry.h"
#include "compiler/ir/operation_maker.h"
#include "compiler/parser/parser_impl.h"

// The beginning of an op: `%r`, or nothing.
typedef struct plain_result_s {
  bool is_there;
  tfrt_string_view_t name;
  uint64_t hash;
  size_t offset;  // of the op, in the text
} plain_result_t;

// The parts of an op that were read; no IR has been made of them yet.
typedef struct plain_op_s {
  const tfrt_ir_string_t* name;
  const tfrt_kernel_descriptor_t* descriptor;
  const tfrt_ir_type_t* const* result_types;
  uint32_t result_count;
  uint32_t operand_count;
  tfrt_parser_place_t place;
  const char* end;  // of the text of its last operand
  tfrt_value_reference_t result;
  tfrt_ir_value_t* operands[TFRT_OP_FORM_MAX_PLAIN];
  tfrt_parser_few_attributes_t attributes;
} plain_op_t;

// --- What it reads ------------------------------------------------------------------------

// The form of the op called |name|, if it is plain; else NULL.
static const tfrt_op_form_t* find_form(tfrt_parser_t* parser, tfrt_string_view_t name) {
  const tfrt_op_index_entry_t* entry = tfrt_parser_op_entry(parser, name);
  if (!entry || !entry->form || !entry->form->is_plain) return NULL;
  return parser->plain.form = entry->form;
}

// The form of the op whose name |cursor| stands at; NULL if that isn't the name of a plain one.
// Many ops are like the one before.
TFRT_ALWAYS_INLINE const tfrt_op_form_t* take_form(tfrt_parser_t* parser,
                                                   tfrt_text_cursor_t* cursor) {
  const tfrt_op_form_t* recent = parser->plain.form;
  if (recent && tfrt_text_cursor_take_known_word(cursor, recent->name)) return recent;
  tfrt_string_view_t name;
  return tfrt_text_cursor_take_word(cursor, &name) ? find_form(parser, name) : NULL;
}

// `%r`, if there, of the op that |cursor| stands at.
TFRT_ALWAYS_INLINE plain_result_t take_result(const tfrt_parser_t* parser,
                                              tfrt_text_cursor_t* cursor) {
  plain_result_t result = {.offset = (size_t)(cursor->at - parser->lexer.text.data)};
  result.is_there = tfrt_text_cursor_take_value(cursor, &result.name, &result.hash);
  return result;
}

// The same for the op whose first token is at hand: the lexer has read the name for that token.
TFRT_ALWAYS_INLINE plain_result_t take_result_of_token(const tfrt_parser_t* parser,
                                                       tfrt_text_cursor_t* cursor) {
  const tfrt_token_t* token = &parser->token;
  plain_result_t result = {.is_there = token->kind == TFRT_TOKEN_PERCENT,
                           .name = token->text,
                           .hash = token->hash,
                           .offset = token->offset};
  if (result.is_there) cursor->at = token->text.data + token->text.size;
  return result;
}

// Sets the place of |op|, whose name begins at |begin|.
TFRT_ALWAYS_INLINE void set_place(const tfrt_parser_t* parser, const tfrt_text_cursor_t* cursor,
                                  const char* begin, plain_op_t* op) {
  op->place = (tfrt_parser_place_t){.offset = (size_t)(begin - parser->lexer.text.data),
                                    .line = cursor->line,
                                    .column = (uint32_t)(begin - cursor->line_begin) + 1};
}

// Makes a name of |result|, if that is there; false if the name is taken.
TFRT_ALWAYS_INLINE bool name_result(tfrt_parser_t* parser, const plain_result_t* result,
                                    plain_op_t* op) {
  op->result = (tfrt_value_reference_t){.offset = result->offset};
  if (!result->is_there) return true;
  const tfrt_ir_entry_t* entry =
      tfrt_ir_entry_get(parser->context, TFRT_IR_TABLE_STRINGS, result->name, result->hash);
  op->result.name = entry ? &entry->key : NULL;
  return entry && tfrt_value_scopes_is_free(&parser->scopes, op->result.name);
}

// The value of |type| (NULL: any) that is operand |index|, at which |cursor| stands; NULL if there
// is none, or it isn't known. Many ops go on with what the one before them made, or share an
// operand with it: such a value is known by its name without being looked up.
TFRT_ALWAYS_INLINE tfrt_ir_value_t* take_operand(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                                 uint32_t index, const tfrt_ir_type_t* type) {
  tfrt_parser_known_value_t* recent = &parser->plain.operands[index];
  const tfrt_parser_known_value_t* first = index ? recent : &parser->plain.result;
  const tfrt_parser_known_value_t* second = index ? &parser->plain.result : recent;
  const tfrt_ir_string_t* name =
      tfrt_text_cursor_take_known_value(cursor, first->name, second->name);
  if (name) {
    tfrt_ir_value_t* value = name == first->name ? first->value : second->value;
    return !type || value->type == type ? value : NULL;
  }
  tfrt_string_view_t text;
  uint64_t hash;
  if (!tfrt_text_cursor_take_value(cursor, &text, &hash)) return NULL;
  name = tfrt_ir_string_get_hashed(parser->context, text, hash);
  tfrt_ir_value_t* value = name ? tfrt_value_scopes_find(&parser->scopes, name, type) : NULL;
  // A value without a producer may be a placeholder until the real value is defined.
  if (value && value->producer) *recent = (tfrt_parser_known_value_t){name, value};
  return value;
}

static TFRT_COLD void forget_values(tfrt_parser_t* parser) {
  memset(parser->plain.operands, 0, sizeof(parser->plain.operands));
  parser->plain.result.name = NULL;
  parser->plain.scope = parser->scopes.top;
}

// Forgets the values of another scope.
TFRT_ALWAYS_INLINE void enter_scope(tfrt_parser_t* parser) {
  if (parser->plain.scope != parser->scopes.top) forget_values(parser);
}

// `name %a, %b` on the same line, with as many operands as the form has. All of them are known, and
// of the right types.
TFRT_ALWAYS_INLINE bool take_custom(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                    const plain_result_t* result, plain_op_t* op) {
  const tfrt_op_form_t* form = take_form(parser, cursor);
  if (!form || form->fixed_result_count != result->is_there) return false;
  op->name = form->name;
  op->descriptor = form->descriptor;
  op->result_types = form->result_types;
  op->result_count = form->fixed_result_count;
  op->operand_count = form->fixed_operand_count;
  op->attributes.count = 0;
  set_place(parser, cursor, cursor->at - form->name->size, op);
  if (!name_result(parser, result, op)) return false;
  enter_scope(parser);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (i > 0 && !tfrt_text_cursor_take(cursor, ',')) return false;
    op->operands[i] = take_operand(parser, cursor, i, form->operand_types[i]);
    if (!op->operands[i]) return false;
  }
  return true;
}

// --- The generic form -----------------------------------------------------------------------

// `"name"`, which |cursor| stands at; or NULL.
TFRT_ALWAYS_INLINE tfrt_parser_known_op_t* take_quoted_name(tfrt_parser_t* parser,
                                                            tfrt_text_cursor_t* cursor) {
  const char* begin = cursor->at + 1;
  const char* end = tfrt_text_end_of(begin, cursor->end, TFRT_TEXT_WORD);
  if (end == begin || end == cursor->end || *end != '"') return NULL;
  cursor->at = end + 1;
  const tfrt_ir_string_t* name =
      tfrt_parser_name(parser, tfrt_string_view_make(begin, (size_t)(end - begin)));
  return name ? tfrt_parser_known_op(parser, name) : NULL;
}

// `(%a, %b)`, all of them known.
TFRT_ALWAYS_INLINE bool take_operand_list(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                          plain_op_t* op) {
  op->operand_count = 0;
  if (!tfrt_text_cursor_take(cursor, '(')) return false;
  if (tfrt_text_cursor_take(cursor, ')')) return true;
  do {
    if (op->operand_count == TFRT_OP_FORM_MAX_PLAIN) return false;
    tfrt_ir_value_t* value = take_operand(parser, cursor, op->operand_count, NULL);
    if (!value) return false;
    op->operands[op->operand_count++] = value;
  } while (tfrt_text_cursor_take(cursor, ','));
  return tfrt_text_cursor_take(cursor, ')');
}

// True if |attributes| has all those that |known| has defaults for.
static bool has_those_with_defaults(const tfrt_parser_few_attributes_t* attributes,
                                    const tfrt_parser_known_op_t* known) {
  bool has = !known->has_defaults;
  for (uint32_t i = 0; i < attributes->count; ++i) {
    has = has || attributes->entries[i].name == known->only_default;
  }
  return has;
}

// `<{...}>` and `{...}`, if there.
TFRT_ALWAYS_INLINE bool take_attributes(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                        const tfrt_parser_known_op_t* known, plain_op_t* op) {
  op->attributes.count = 0;
  if (tfrt_text_cursor_take(cursor, '<')) {
    // The properties of an op that no table knows are kept as they are.
    if (!known->descriptor || !tfrt_parser_take_few_entries(parser, cursor, &op->attributes) ||
        !tfrt_text_cursor_take(cursor, '>')) {
      return false;
    }
    tfrt_text_cursor_skip_spaces(cursor);
  }
  if (cursor->at < cursor->end && *cursor->at == '{' &&
      !tfrt_parser_take_few_entries(parser, cursor, &op->attributes)) {
    return false;
  }
  return has_those_with_defaults(&op->attributes, known);
}

// `: (T, T) -> R` at the end of a line. Most signatures are that of the op before of the same name.
TFRT_ALWAYS_INLINE const tfrt_ir_type_t* take_signature(tfrt_parser_t* parser,
                                                        tfrt_text_cursor_t* cursor,
                                                        tfrt_parser_known_op_t* known) {
  if (!tfrt_text_cursor_take(cursor, ':')) return NULL;
  tfrt_text_cursor_skip_spaces(cursor);
  tfrt_string_view_t text = known->signature.text;
  if (known->signature.type && (size_t)(cursor->end - cursor->at) > text.size &&
      cursor->at[text.size] == '\n' && memcmp(cursor->at, text.data, text.size) == 0) {
    cursor->at += text.size;
    return known->signature.type;
  }
  if (!tfrt_parser_take_known_signature(parser, cursor, &known->signature)) return NULL;
  return cursor->at < cursor->end && *cursor->at == '\n' ? known->signature.type : NULL;
}

// True if |op| has the operands and results of |type|, and all chains that its entry in the table
// has.
TFRT_ALWAYS_INLINE bool fits_signature(const plain_op_t* op, const tfrt_parser_known_op_t* known,
                                       const tfrt_ir_type_t* type) {
  if (op->operand_count != type->input_count) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (op->operands[i]->type != type->inputs[i]) return false;
  }
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  return !known->has_chains ||
         (tfrt_kernel_descriptor_fixed_operands(descriptor) == type->input_count &&
          tfrt_kernel_descriptor_fixed_results(descriptor) == type->result_count);
}

// `"name"(%a, %b) <{...}> {...} : (T, T) -> R` on the same line, with all operands known.
TFRT_ALWAYS_INLINE bool take_generic(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                     const plain_result_t* result, plain_op_t* op) {
  set_place(parser, cursor, cursor->at, op);
  tfrt_parser_known_op_t* known = take_quoted_name(parser, cursor);
  if (!known) return false;
  op->name = known->name;
  op->descriptor = known->descriptor;
  enter_scope(parser);
  if (!take_operand_list(parser, cursor, op)) return false;
  if (!take_attributes(parser, cursor, known, op)) return false;
  const tfrt_ir_type_t* type = take_signature(parser, cursor, known);
  if (!type || type->result_count != result->is_there || !fits_signature(op, known, type))
    return false;
  op->result_types = type->results;
  op->result_count = type->result_count;
  return name_result(parser, result, op);
}

// --- What follows ---------------------------------------------------------------------------

// Moves |cursor| to what follows, and returns whether that can't belong to the op before it.
TFRT_ALWAYS_INLINE bool is_behind(tfrt_text_cursor_t* cursor) {
  tfrt_text_cursor_skip_lines(cursor);
  if (cursor->at == cursor->end) return false;
  if (*cursor->at == '%' || *cursor->at == '}' || *cursor->at == '"') return true;
  tfrt_string_view_t rest = tfrt_string_view_make(cursor->at, (size_t)(cursor->end - cursor->at));
  return tfrt_text_is_of(*cursor->at, TFRT_TEXT_WORD_BEGIN) &&
         !tfrt_string_view_starts_with(rest, tfrt_string_view_of("loc"));
}

// --- What it makes of it ------------------------------------------------------------------

static bool build(tfrt_parser_t* parser, const plain_op_t* op, tfrt_ir_block_t* block) {
  tfrt_ir_operation_parts_t parts = {
      .name = op->name,
      .descriptor = op->descriptor,
      .file = parser->file,
      .line = op->place.line,
      .column = op->place.column,
      .operands = op->operands,
      .operand_count = op->operand_count,
      .attributes = op->attributes.entries,
      .attribute_count = op->attributes.count,
      .result_types = op->result_types,
      .result_count = op->result_count,
  };
  tfrt_ir_operation_t* operation = tfrt_ir_operation_make(parser->context, &parts);
  if (!operation) return false;
  operation->text_offset = (uint32_t)op->place.offset;
  tfrt_ir_block_append(block, operation);
  if (!op->result.name) return true;
  operation->results[0].name = op->result.name;
  parser->plain.result = (tfrt_parser_known_value_t){op->result.name, &operation->results[0]};
  return tfrt_value_scopes_define_free(&parser->scopes, &op->result, &operation->results[0]);
}

// Reads the op behind |result|, and moves |cursor| to the next one; false, and nothing has happened
// to |parser|, if the op isn't plain or anything of it is unusual.
TFRT_ALWAYS_INLINE bool take_op(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                const plain_result_t* result, plain_op_t* op) {
  if (result->is_there && !tfrt_text_cursor_take(cursor, '=')) return false;
  tfrt_text_cursor_skip_spaces(cursor);
  bool is_generic = cursor->at < cursor->end && *cursor->at == '"';
  if (!(is_generic ? take_generic(parser, cursor, result, op)
                   : take_custom(parser, cursor, result, op))) {
    return false;
  }
  op->end = cursor->at;
  return is_behind(cursor);
}

bool tfrt_parser_plain_operations(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  if (parser->depth == TFRT_PARSER_MAX_NESTING) return true;
  tfrt_text_cursor_t next = tfrt_lexer_cursor_at(&parser->lexer, &parser->token);
  tfrt_text_cursor_t cursor = next;
  plain_result_t result = take_result_of_token(parser, &cursor);
  plain_op_t op;
  bool ok = true;
  while (ok && take_op(parser, &cursor, &result, &op)) {
    ok = build(parser, &op, block);
    parser->previous_end = (size_t)(op.end - parser->lexer.text.data);
    next = cursor;
    result = take_result(parser, &cursor);
  }
  // The token at hand is still that of the op that wasn't taken if that is the first one.
  if (next.at == parser->lexer.text.data + parser->token.offset) return ok;
  tfrt_lexer_follow(&parser->lexer, &next);
  tfrt_lexer_next(&parser->lexer, &parser->token);
  return ok;
}
