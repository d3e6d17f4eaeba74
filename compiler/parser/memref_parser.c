// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of memory and of prints, as far as asynchronous programs need them:
//
//   memref.alloc(%n) : memref<?xf32>           memref.dealloc %m : memref<4xf32>
//   memref.load %m[%i] : memref<4xf32>         memref.store %x, %m[%i] : memref<4xf32>
//   memref.dim %m, %i : memref<?xf32>          memref.cast %m : memref<4xf32> to memref<?xf32>
//   memref.atomic_rmw addi %x, %m[%i] : (i32, memref<4xi32>) -> i32
//   linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
//   vector.print %x : f32                      vector.print str "text"

#include "compiler/op_table/predicates.h"
#include "compiler/parser/parser_impl.h"

static const tfrt_ir_type_t* index_type(tfrt_parser_t* parser) {
  return tfrt_ir_type_index(parser->context);
}

bool tfrt_parser_alloc(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  if (!tfrt_parser_expect(parser, '(', "and sizes") || !tfrt_parser_take_references(parser, ')') ||
      !tfrt_parser_expect(parser, ')', "behind sizes") ||
      !tfrt_parser_resolve_all(parser, op, mark, index_type(parser)) ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  int32_t sizes[2] = {(int32_t)op->operand_count, 0};
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_one_result(parser, op, type) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 2);
}

// `%m[%i, ...] : T` behind the references from |mark| on: those, the memory as T, the places.
static bool parse_place(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                        const tfrt_value_reference_t* stored) {
  tfrt_value_reference_t memory;
  size_t mark = parser->operands.count;
  if (!tfrt_parser_value_reference(parser, &memory) ||
      !tfrt_parser_expect(parser, '[', "before the place in memory") ||
      !tfrt_parser_take_references(parser, ']') ||
      !tfrt_parser_expect(parser, ']', "behind the place in memory") ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  if (!type) return false;
  if (type->kind != TFRT_IR_TYPE_MEMREF) {
    return tfrt_parser_fail(parser, "expected a memref, not '%s'", type->text->data);
  }
  op->operand_count = stored ? 2 : 1;
  if (stored && !tfrt_parser_resolve(parser, stored, type->element)) return false;
  return tfrt_parser_resolve(parser, &memory, type) &&
         tfrt_parser_resolve_all(parser, op, mark, index_type(parser)) &&
         (stored || tfrt_parser_one_result(parser, op, type->element));
}

bool tfrt_parser_load(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  return parse_place(parser, op, NULL);
}

bool tfrt_parser_store(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t stored;
  return tfrt_parser_value_reference(parser, &stored) &&
         tfrt_parser_expect(parser, ',', "behind what is stored") &&
         parse_place(parser, op, &stored);
}

// `(T, memref<...>) -> T` behind a colon: the type of the memory, or NULL.
static const tfrt_ir_type_t* parse_atomic_type(tfrt_parser_t* parser) {
  if (!tfrt_parser_expect(parser, ':', "and a type")) return NULL;
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_function_type(parser);
  if (!type) return NULL;
  bool fits = type->input_count == 2 && type->result_count == 1 &&
              type->inputs[1]->kind == TFRT_IR_TYPE_MEMREF &&
              type->inputs[0] == type->inputs[1]->element && type->results[0] == type->inputs[0];
  if (fits) return type->inputs[1];
  tfrt_parser_fail_at(parser, offset, "expected a type (T, memref<...xT>) -> T, not '%s'",
                      type->text->data);
  return NULL;
}

bool tfrt_parser_atomic(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  uint32_t change = tfrt_atomic_change_find(parser->token.text);
  if (parser->token.kind != TFRT_TOKEN_WORD || change == UINT32_MAX) {
    return tfrt_parser_fail(parser, "expected a change of memory such as 'addi'");
  }
  tfrt_parser_advance(parser);
  tfrt_value_reference_t operand;
  tfrt_value_reference_t memory;
  if (!tfrt_parser_value_reference(parser, &operand) ||
      !tfrt_parser_expect(parser, ',', "behind the operand") ||
      !tfrt_parser_value_reference(parser, &memory) ||
      !tfrt_parser_expect(parser, '[', "before the place in memory")) {
    return false;
  }
  size_t mark = parser->operands.count;
  const tfrt_ir_type_t* i64 = tfrt_ir_type_integer(parser->context, 64, TFRT_IR_SIGNLESS);
  if (!i64 || !tfrt_parser_take_references(parser, ']') ||
      !tfrt_parser_expect(parser, ']', "behind the place in memory") ||
      !tfrt_parser_optional_dictionary(parser) ||
      !tfrt_parser_add_attribute(parser, "kind",
                                 tfrt_ir_attribute_integer(parser->context, i64, change))) {
    return false;
  }
  const tfrt_ir_type_t* type = parse_atomic_type(parser);
  op->operand_count = 2;
  return type && tfrt_parser_resolve(parser, &operand, type->element) &&
         tfrt_parser_resolve(parser, &memory, type) &&
         tfrt_parser_resolve_all(parser, op, mark, index_type(parser)) &&
         tfrt_parser_one_result(parser, op, type->element);
}

bool tfrt_parser_dim(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t memory;
  tfrt_value_reference_t index;
  op->operand_count = 2;
  if (!tfrt_parser_optional_dictionary(parser) || !tfrt_parser_value_reference(parser, &memory) ||
      !tfrt_parser_expect(parser, ',', "and the number of a dimension") ||
      !tfrt_parser_value_reference(parser, &index)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_resolve(parser, &memory, type) &&
         tfrt_parser_resolve(parser, &index, index_type(parser)) &&
         tfrt_parser_one_result(parser, op, index_type(parser));
}

// `|word|(%x : T)`, resolved as an operand; its type, or NULL.
static const tfrt_ir_type_t* take_side(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                                       const char* word) {
  if (!tfrt_parser_accept_word(parser, word)) {
    tfrt_parser_miss(parser, "expected '%s' and one operand", word);
    return NULL;
  }
  tfrt_value_reference_t reference;
  if (!tfrt_parser_expect(parser, '(', "before an operand") ||
      !tfrt_parser_value_reference(parser, &reference)) {
    return NULL;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  ++op->operand_count;
  bool ok = type && tfrt_parser_resolve(parser, &reference, type) &&
            tfrt_parser_expect(parser, ')', "behind an operand");
  return ok ? type : NULL;
}

// The region of a fill, which the custom form leaves out: an element becomes the value.
static bool make_fill_region(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                             const tfrt_ir_type_t* value, const tfrt_ir_type_t* element) {
  tfrt_ir_context_t* context = parser->context;
  if (!tfrt_parser_make_regions(parser, op, 1)) return false;
  tfrt_ir_block_t* block = tfrt_ir_block_create(context, &op->regions[0]);
  tfrt_ir_value_t* given =
      block ? tfrt_ir_block_add_argument(context, block, value, NULL, NULL) : NULL;
  if (!given || !tfrt_ir_block_add_argument(context, block, element, NULL, NULL)) return false;
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, "linalg.yield"),
                                     .location = tfrt_parser_location_here(parser, &op->place),
                                     .operands = &given,
                                     .operand_count = 1};
  if (!parts.name || !parts.location) return false;
  parts.descriptor = tfrt_op_index_find(&parser->index, tfrt_ir_string_view(parts.name));
  tfrt_ir_operation_t* end = tfrt_ir_operation_create(context, &parts);
  if (!end) return false;
  end->text_offset = (uint32_t)op->place.offset;
  tfrt_ir_block_append(block, end);
  return true;
}

bool tfrt_parser_fill(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  const int32_t sizes[] = {1, 1};
  const tfrt_ir_type_t* value = take_side(parser, op, "ins");
  const tfrt_ir_type_t* memory = value ? take_side(parser, op, "outs") : NULL;
  if (!memory) return false;
  if (memory->kind != TFRT_IR_TYPE_MEMREF) {
    return tfrt_parser_fail(parser, "expected a memref, not '%s'", memory->text->data);
  }
  return make_fill_region(parser, op, value, memory->element) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 2);
}

static bool add_punctuation(tfrt_parser_t* parser, tfrt_string_view_t name) {
  tfrt_string_builder_clear(&parser->text);
  tfrt_string_builder_append_format(&parser->text, "#vector.punctuation<%.*s>",
                                    TFRT_STRING_VIEW_ARGUMENTS(name));
  return tfrt_parser_add_attribute(
      parser, "punctuation",
      tfrt_ir_attribute_opaque(parser->context, tfrt_string_builder_view(&parser->text)));
}

// `punctuation <name>`, if there; else a new line.
static bool parse_punctuation(tfrt_parser_t* parser) {
  if (!tfrt_parser_accept_word(parser, "punctuation")) {
    return add_punctuation(parser, tfrt_string_view_of("newline"));
  }
  if (!tfrt_parser_expect(parser, '<', "behind 'punctuation'")) return false;
  tfrt_string_view_t name = parser->token.text;
  if (parser->token.kind != TFRT_TOKEN_WORD) {
    return tfrt_parser_miss(parser, "expected the name of a punctuation");
  }
  tfrt_parser_advance(parser);
  return tfrt_parser_expect(parser, '>', "behind a punctuation") && add_punctuation(parser, name);
}

bool tfrt_parser_print(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (tfrt_parser_accept_word(parser, "str")) {
    if (parser->token.kind != TFRT_TOKEN_STRING) {
      return tfrt_parser_miss(parser, "expected a text in quotes");
    }
    const tfrt_ir_string_t* text = tfrt_parser_string(parser);
    return text &&
           tfrt_parser_add_attribute(
               parser, "stringLiteral",
               tfrt_ir_attribute_string(parser->context, tfrt_ir_string_view(text), NULL)) &&
           parse_punctuation(parser) && tfrt_parser_optional_dictionary(parser);
  }
  // A value on the next line belongs to the next op.
  if (parser->token.kind != TFRT_TOKEN_PERCENT || tfrt_parser_begins_line(parser)) {
    return parse_punctuation(parser) && tfrt_parser_optional_dictionary(parser);
  }
  tfrt_value_reference_t value;
  if (!tfrt_parser_value_reference(parser, &value)) return false;
  // The type stands in front of the punctuation.
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  op->operand_count = 1;
  return type && tfrt_parser_resolve(parser, &value, type) && parse_punctuation(parser) &&
         tfrt_parser_optional_dictionary(parser);
}
