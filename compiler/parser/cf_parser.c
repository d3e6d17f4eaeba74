// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `cf`:
//
//   cf.br ^bb1(%a, %b : i32, f32)
//   cf.cond_br %c weights([1, 2]), ^bb1(%a : i32), ^bb2
//   cf.switch %v : i32, [ default: ^bb1(%a : i32), 42: ^bb2 ]
//   cf.assert %c, "message"

#include "compiler/parser/parser_impl.h"

// `^bb1(%a, %b : T, T)`: the block on |pointers|, and its operands.
static bool parse_destination(tfrt_parser_t* parser, tfrt_parser_op_t* op, int32_t* out_count) {
  size_t reference_mark = parser->operands.count;
  *out_count = 0;
  if (!tfrt_parser_push_pointer(parser, tfrt_parser_successor(parser, op->region))) return false;
  if (!tfrt_parser_accept(parser, '(')) return true;
  do {
    tfrt_value_reference_t* reference = tfrt_scratch_add(&parser->operands);
    if (!reference || !tfrt_parser_value_reference(parser, reference)) return false;
  } while (tfrt_parser_accept(parser, ','));
  size_t count = parser->operands.count - reference_mark;
  if (!tfrt_parser_expect(parser, ':', "and the types of a block's arguments")) return false;
  for (size_t i = 0; i < count; ++i) {
    if (i && !tfrt_parser_expect(parser, ',', "and a type for each argument of a block")) {
      return false;
    }
    const tfrt_ir_type_t* type = tfrt_parser_type(parser);
    const tfrt_value_reference_t* reference =
        tfrt_scratch_at(&parser->operands, reference_mark + i);
    if (!type || !tfrt_parser_resolve(parser, reference, type)) return false;
  }
  parser->operands.count = reference_mark;
  op->operand_count += (uint32_t)count;
  *out_count = (int32_t)count;
  return tfrt_parser_expect(parser, ')', "behind the arguments of a block");
}

// Lets the blocks from |mark| on be the successors of |op|.
static bool take_successors(tfrt_parser_t* parser, tfrt_parser_op_t* op, size_t mark) {
  op->successors = (tfrt_ir_block_t**)tfrt_parser_take_pointers(parser, mark, &op->successor_count);
  return op->successors != NULL;
}

bool tfrt_parser_branch(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  int32_t count;
  return parse_destination(parser, op, &count) && take_successors(parser, op, mark) &&
         tfrt_parser_optional_dictionary(parser);
}

// `weights([1, 2])`, if there.
static bool parse_weights(tfrt_parser_t* parser) {
  int32_t weights[2];
  if (!tfrt_parser_accept_word(parser, "weights")) return true;
  if (!tfrt_parser_expect(parser, '(', "behind 'weights'") ||
      !tfrt_parser_expect(parser, '[', "and two weights")) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    uint32_t weight;
    if (i && !tfrt_parser_expect(parser, ',', "between two weights")) return false;
    if (!tfrt_parser_small_number(parser, &weight)) return false;
    weights[i] = (int32_t)weight;
  }
  return tfrt_parser_expect(parser, ']', "behind two weights") &&
         tfrt_parser_expect(parser, ')', "behind two weights") &&
         tfrt_parser_add_segments(parser, "branch_weights", weights, 2);
}

bool tfrt_parser_conditional_branch(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  int32_t sizes[3] = {1, 0, 0};
  return tfrt_parser_take_operand(parser, op, tfrt_parser_type_of_text(parser, "i1")) &&
         parse_weights(parser) && tfrt_parser_expect(parser, ',', "and the block for true") &&
         parse_destination(parser, op, &sizes[1]) &&
         tfrt_parser_expect(parser, ',', "and the block for false") &&
         parse_destination(parser, op, &sizes[2]) && take_successors(parser, op, mark) &&
         tfrt_parser_optional_dictionary(parser) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 3);
}

// --- The switch -------------------------------------------------------------------------------

// Its cases while they are parsed; numbers end on |dims|.
typedef struct cases_s {
  const tfrt_ir_type_t* type;
  size_t mark;  // on |dims|: of each case, the value and the number of operands
  uint32_t count;
  int32_t default_count;
  int32_t operand_count;  // of all cases
} cases_t;

// `42: ^bb2(%b : i32)`
static bool parse_case(tfrt_parser_t* parser, tfrt_parser_op_t* op, cases_t* cases) {
  bool negative = tfrt_parser_accept(parser, '-');
  tfrt_token_t token = parser->token;
  uint64_t bits = 0;
  if (token.kind != TFRT_TOKEN_INTEGER) return tfrt_parser_miss(parser, "expected a case's value");
  if (!tfrt_parser_number_bits(parser, &token, negative, cases->type, &bits)) return false;
  tfrt_parser_advance(parser);
  int32_t count = 0;
  if (!tfrt_parser_expect(parser, ':', "behind a case's value") ||
      !parse_destination(parser, op, &count)) {
    return false;
  }
  int64_t numbers[] = {(int64_t)bits, count};
  ++cases->count;
  cases->operand_count += count;
  return tfrt_scratch_push(&parser->dims, &numbers[0]) &&
         tfrt_scratch_push(&parser->dims, &numbers[1]);
}

static int64_t number_of_case(const tfrt_parser_t* parser, const cases_t* cases, uint32_t index) {
  return *(int64_t*)tfrt_scratch_at(&parser->dims, cases->mark + index);
}

// The values of the cases as `dense<[...]> : vector<Nxi32>`.
static bool add_values(tfrt_parser_t* parser, const cases_t* cases) {
  int64_t count = cases->count;
  uint32_t width = cases->type->width / 8;
  uint8_t* bytes = tfrt_ir_context_allocate_array(parser->context, cases->count, width);
  if (!bytes) return false;
  for (uint32_t i = 0; i < cases->count; ++i) {
    int64_t value = number_of_case(parser, cases, 2 * i);
    // Little-endian, as dense attributes are.
    for (uint32_t k = 0; k < width; ++k) bytes[i * width + k] = (uint8_t)(value >> (8 * k));
  }
  const tfrt_ir_type_t* type =
      tfrt_ir_type_shaped(parser->context, TFRT_IR_TYPE_VECTOR, true, &count, 1, cases->type, NULL);
  return type && tfrt_parser_add_attribute(parser, "case_values",
                                           tfrt_ir_attribute_dense(parser->context, type, bytes,
                                                                   (size_t)cases->count * width));
}

static bool add_segments(tfrt_parser_t* parser, const cases_t* cases) {
  int32_t* sizes = tfrt_ir_context_allocate_array(parser->context, cases->count, sizeof(*sizes));
  if (!sizes) return false;
  for (uint32_t i = 0; i < cases->count; ++i) {
    sizes[i] = (int32_t)number_of_case(parser, cases, 2 * i + 1);
  }
  int32_t groups[3] = {1, cases->default_count, cases->operand_count};
  return tfrt_parser_add_segments(parser, "case_operand_segments", sizes, cases->count) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", groups, 3);
}

static bool is_switchable(const tfrt_ir_type_t* type) {
  return tfrt_ir_type_is(type, "i8") || tfrt_ir_type_is(type, "i16") ||
         tfrt_ir_type_is(type, "i32") || tfrt_ir_type_is(type, "i64");
}

bool tfrt_parser_switch(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  cases_t cases = {.mark = parser->dims.count};
  tfrt_value_reference_t flag;
  if (!tfrt_parser_value_reference(parser, &flag) ||
      !tfrt_parser_expect(parser, ':', "and the type of what is switched on")) {
    return false;
  }
  cases.type = tfrt_parser_type(parser);
  if (!cases.type) return false;
  if (!is_switchable(cases.type)) {
    return tfrt_parser_fail(parser, "a switch is on i8, i16, i32 or i64 here");
  }
  ++op->operand_count;
  bool ok = tfrt_parser_resolve(parser, &flag, cases.type) &&
            tfrt_parser_expect(parser, ',', "and the cases of a switch") &&
            tfrt_parser_expect(parser, '[', "before the cases of a switch") &&
            tfrt_parser_accept_word(parser, "default");
  if (!ok) return tfrt_parser_miss(parser, "expected 'default' as the first case of a switch");
  if (!tfrt_parser_expect(parser, ':', "behind 'default'") ||
      !parse_destination(parser, op, &cases.default_count)) {
    return false;
  }
  while (tfrt_parser_accept(parser, ',')) {
    if (!parse_case(parser, op, &cases)) return false;
  }
  return tfrt_parser_expect(parser, ']', "behind the cases of a switch") &&
         take_successors(parser, op, mark) && (!cases.count || add_values(parser, &cases)) &&
         add_segments(parser, &cases) && tfrt_parser_optional_dictionary(parser);
}

// --- The assertion ------------------------------------------------------------------------------

bool tfrt_parser_assertion(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_take_operand(parser, op, tfrt_parser_type_of_text(parser, "i1")) ||
      !tfrt_parser_expect(parser, ',', "and the message of an assertion")) {
    return false;
  }
  if (parser->token.kind != TFRT_TOKEN_STRING) {
    return tfrt_parser_miss(parser, "expected the message of an assertion in quotes");
  }
  const tfrt_ir_string_t* message = tfrt_parser_string(parser);
  return message &&
         tfrt_parser_add_attribute(
             parser, "msg",
             tfrt_ir_attribute_string(parser->context, tfrt_ir_string_view(message), NULL)) &&
         tfrt_parser_optional_dictionary(parser);
}
