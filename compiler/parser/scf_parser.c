// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `scf`, of calls, and of what ends their regions:
//
//   scf.if %c -> (f32) { ... } else { ... }
//   scf.for %i = %a to %b step %s iter_args(%x = %y) -> (f32) : i32 { ... }
//   scf.while (%x = %y) : (f32) -> f32 { ... } do { ... }
//   scf.parallel (%i) = (%a) to (%b) step (%s) { ... }
//   scf.condition(%c) %x : f32
//   func.call @f(%a) : (i32) -> i32
//   scf.yield %a, %b : f32, i32

#include "compiler/parser/parser_impl.h"

static const tfrt_ir_type_t* index_type(tfrt_parser_t* parser) {
  return tfrt_ir_type_index(parser->context);
}

static bool make_region(tfrt_parser_t* parser, tfrt_parser_op_t* op, uint32_t index,
                        const tfrt_parser_region_style_t* style, const char* end) {
  return tfrt_parser_region(parser, &op->regions[index], style) &&
         (!end || tfrt_parser_end_region(parser, op, &op->regions[index], end));
}

// --- Calls, and ends of regions ---------------------------------------------------------------

bool tfrt_parser_call(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  const tfrt_ir_attribute_t* callee = tfrt_parser_symbol(parser);
  size_t mark = parser->operands.count;
  if (!callee || !tfrt_parser_add_attribute(parser, "callee", callee) ||
      !tfrt_parser_expect(parser, '(', "behind the name of a callee") ||
      !tfrt_parser_take_references(parser, ')') ||
      !tfrt_parser_expect(parser, ')', "behind the operands of a call") ||
      !tfrt_parser_optional_dictionary(parser) ||
      !tfrt_parser_expect(parser, ':', "and the type of a call")) {
    return false;
  }
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_function_type(parser);
  if (!type) return false;
  size_t count = parser->operands.count - mark;
  if (type->input_count != count) {
    return tfrt_parser_fail_at(parser, offset, "expected %zu operand types but had %u", count,
                               type->input_count);
  }
  for (uint32_t i = 0; i < type->input_count; ++i) {
    const tfrt_value_reference_t* reference = tfrt_scratch_at(&parser->operands, mark + i);
    if (!tfrt_parser_resolve(parser, reference, type->inputs[i])) return false;
  }
  parser->operands.count = mark;
  op->operand_count = type->input_count;
  op->result_types = type->results;
  op->result_count = type->result_count;
  return true;
}

// `%a, %b : T, T`, or nothing.
static bool parse_typed_list(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  if (parser->token.kind != TFRT_TOKEN_PERCENT) return tfrt_parser_optional_dictionary(parser);
  if (!tfrt_parser_take_references(parser, ':') || !tfrt_parser_optional_dictionary(parser) ||
      !tfrt_parser_expect(parser, ':', "and the types of the operands")) {
    return false;
  }
  size_t end = parser->operands.count;
  for (size_t i = mark; i < end; ++i) {
    if (i > mark && !tfrt_parser_expect(parser, ',', "and a type for each operand")) return false;
    const tfrt_ir_type_t* type = tfrt_parser_type(parser);
    const tfrt_value_reference_t* reference = tfrt_scratch_at(&parser->operands, i);
    if (!type || !tfrt_parser_resolve(parser, reference, type)) return false;
    ++op->operand_count;
  }
  parser->operands.count = mark;
  return true;
}

bool tfrt_parser_yield(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  return parse_typed_list(parser, op);
}

bool tfrt_parser_condition(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  const tfrt_ir_type_t* i1 = tfrt_ir_type_integer(parser->context, 1, TFRT_IR_SIGNLESS);
  return i1 && tfrt_parser_expect(parser, '(', "and a condition") &&
         tfrt_parser_take_operand(parser, op, i1) &&
         tfrt_parser_expect(parser, ')', "behind a condition") && parse_typed_list(parser, op);
}

// --- Branches ------------------------------------------------------------------------------------

// `-> (T, ...)` or `-> T`, if there: the results of |op|.
static bool parse_results(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  if (tfrt_parser_accept(parser, TFRT_TOKEN_ARROW)) {
    bool is_list = tfrt_parser_accept(parser, '(');
    bool is_empty = is_list && parser->token.kind == ')';
    bool ok = is_empty || (is_list ? tfrt_parser_type_list(parser)
                                   : tfrt_parser_push_pointer(parser, tfrt_parser_type(parser)));
    if (!ok || (is_list && !tfrt_parser_expect(parser, ')', "behind the types of the results"))) {
      return false;
    }
  }
  op->result_types = tfrt_parser_take_pointers(parser, mark, &op->result_count);
  return op->result_types != NULL;
}

bool tfrt_parser_if(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_parser_region_style_t style = {.isolated = false};
  const tfrt_ir_type_t* i1 = tfrt_ir_type_integer(parser->context, 1, TFRT_IR_SIGNLESS);
  if (!i1 || !tfrt_parser_take_operand(parser, op, i1) || !parse_results(parser, op) ||
      !tfrt_parser_make_regions(parser, op, 2) ||
      !make_region(parser, op, 0, &style, "scf.yield")) {
    return false;
  }
  if (tfrt_parser_accept_word(parser, "else") && !make_region(parser, op, 1, &style, "scf.yield")) {
    return false;
  }
  return tfrt_parser_optional_dictionary(parser);
}

// --- Loops -------------------------------------------------------------------------------------

// The arguments of a region while they are parsed; the references that they begin with stand on
// |operands|.
typedef struct arguments_s {
  tfrt_value_reference_t* names;
  const tfrt_ir_type_t** types;
  uint32_t count;
  uint32_t capacity;
} arguments_t;

static bool add_argument(tfrt_parser_t* parser, arguments_t* arguments,
                         const tfrt_value_reference_t* name) {
  if (arguments->count == arguments->capacity) {
    uint32_t capacity = arguments->capacity ? 2 * arguments->capacity : 8;
    tfrt_value_reference_t* names =
        tfrt_ir_context_allocate_array(parser->context, capacity, sizeof(*names));
    const tfrt_ir_type_t** types =
        tfrt_ir_context_allocate_array(parser->context, capacity, sizeof(*types));
    if (!names || !types) return false;
    if (arguments->count) {
      memcpy(names, arguments->names, arguments->count * sizeof(*names));
      memcpy(types, arguments->types, arguments->count * sizeof(*types));
    }
    arguments->names = names;
    arguments->types = types;
    arguments->capacity = capacity;
  }
  arguments->names[arguments->count++] = *name;
  return true;
}

static tfrt_parser_region_style_t style_of(const arguments_t* arguments) {
  return (tfrt_parser_region_style_t){.argument_names = arguments->names,
                                      .argument_types = arguments->types,
                                      .argument_count = arguments->count};
}

// `%x = %y, ...` behind a parenthesis, and that which closes: arguments, and references.
static bool parse_initial_values(tfrt_parser_t* parser, arguments_t* arguments) {
  if (tfrt_parser_accept(parser, ')')) return true;
  do {
    tfrt_value_reference_t name;
    if (!tfrt_parser_value_reference(parser, &name) || !add_argument(parser, arguments, &name) ||
        !tfrt_parser_expect(parser, '=', "behind the name of a carried value")) {
      return false;
    }
    tfrt_value_reference_t* reference = tfrt_scratch_add(&parser->operands);
    if (!reference || !tfrt_parser_value_reference(parser, reference)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, ')', "behind the carried values");
}

// Resolves the carried values, whose references stand from |mark| on, as |types|.
static bool resolve_carried(tfrt_parser_t* parser, tfrt_parser_op_t* op, size_t mark,
                            const tfrt_ir_type_t* const* types, uint32_t count) {
  if (parser->operands.count - mark != count) {
    return tfrt_parser_fail_at(parser, op->place.offset, "op '%s' carries %zu values, not %u",
                               op->name->data, parser->operands.count - mark, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_value_reference_t* reference = tfrt_scratch_at(&parser->operands, mark + i);
    if (!tfrt_parser_resolve(parser, reference, types[i])) return false;
    ++op->operand_count;
  }
  parser->operands.count = mark;
  return true;
}

// `%a to %b step %s`: three references.
static bool parse_bounds(tfrt_parser_t* parser) {
  static const char* const words[] = {NULL, "to", "step"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(words); ++i) {
    if (words[i] && !tfrt_parser_accept_word(parser, words[i])) {
      return tfrt_parser_miss(parser, "expected '%s'", words[i]);
    }
    tfrt_value_reference_t* reference = tfrt_scratch_add(&parser->operands);
    if (!reference || !tfrt_parser_value_reference(parser, reference)) return false;
  }
  return true;
}

// Resolves the bounds of a loop, whose references stand from |mark| on, as |type|, and what is
// carried, as its results.
static bool resolve_loop(tfrt_parser_t* parser, tfrt_parser_op_t* op, size_t mark,
                         const tfrt_ir_type_t* type) {
  for (uint32_t i = 0; i < 3; ++i) {
    const tfrt_value_reference_t* reference = tfrt_scratch_at(&parser->operands, mark + i);
    if (!tfrt_parser_resolve(parser, reference, type)) return false;
    ++op->operand_count;
  }
  if (!resolve_carried(parser, op, mark + 3, op->result_types, op->result_count)) return false;
  parser->operands.count = mark;
  return true;
}

bool tfrt_parser_for(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  arguments_t arguments = {0};
  tfrt_value_reference_t variable;
  size_t mark = parser->operands.count;
  bool is_unsigned = tfrt_parser_accept_word(parser, "unsigned");
  if (is_unsigned &&
      !tfrt_parser_add_attribute(parser, "unsignedCmp", tfrt_ir_attribute_unit(parser->context))) {
    return false;
  }
  if (!tfrt_parser_value_reference(parser, &variable) ||
      !add_argument(parser, &arguments, &variable) ||
      !tfrt_parser_expect(parser, '=', "behind the variable of a loop") || !parse_bounds(parser)) {
    return false;
  }
  if (tfrt_parser_accept_word(parser, "iter_args")) {
    if (!tfrt_parser_expect(parser, '(', "behind 'iter_args'") ||
        !parse_initial_values(parser, &arguments)) {
      return false;
    }
  }
  if (!parse_results(parser, op)) return false;
  const tfrt_ir_type_t* type =
      tfrt_parser_accept(parser, ':') ? tfrt_parser_type(parser) : index_type(parser);
  if (!type || !resolve_loop(parser, op, mark, type)) return false;
  arguments.types[0] = type;
  for (uint32_t i = 0; i < op->result_count; ++i) arguments.types[i + 1] = op->result_types[i];
  tfrt_parser_region_style_t style = style_of(&arguments);
  return tfrt_parser_make_regions(parser, op, 1) &&
         make_region(parser, op, 0, &style, op->result_count ? NULL : "scf.yield") &&
         tfrt_parser_optional_dictionary(parser);
}

bool tfrt_parser_while(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  arguments_t arguments = {0};
  size_t mark = parser->operands.count;
  if (tfrt_parser_accept(parser, '(') && !parse_initial_values(parser, &arguments)) return false;
  if (!tfrt_parser_expect(parser, ':', "and the type of a loop")) return false;
  const tfrt_ir_type_t* type = tfrt_parser_function_type(parser);
  if (!type || !resolve_carried(parser, op, mark, type->inputs, type->input_count)) return false;
  op->result_types = type->results;
  op->result_count = type->result_count;
  for (uint32_t i = 0; i < arguments.count; ++i) arguments.types[i] = type->inputs[i];
  tfrt_parser_region_style_t before = style_of(&arguments);
  tfrt_parser_region_style_t after = {.isolated = false};
  if (!tfrt_parser_make_regions(parser, op, 2) || !make_region(parser, op, 0, &before, NULL)) {
    return false;
  }
  if (!tfrt_parser_accept_word(parser, "do")) return tfrt_parser_miss(parser, "expected 'do'");
  return make_region(parser, op, 1, &after, "scf.yield") && tfrt_parser_optional_attributes(parser);
}

// `(%a, ...)`: references on |operands|.
static bool parse_list(tfrt_parser_t* parser, int32_t* out_count) {
  size_t mark = parser->operands.count;
  bool ok = tfrt_parser_expect(parser, '(', "before the bounds of a loop") &&
            tfrt_parser_take_references(parser, ')') &&
            tfrt_parser_expect(parser, ')', "behind the bounds of a loop");
  *out_count = (int32_t)(parser->operands.count - mark);
  return ok;
}

bool tfrt_parser_parallel(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  static const char* const words[] = {NULL, "to", "step"};
  arguments_t arguments = {0};
  int32_t sizes[4] = {0};
  size_t mark = parser->operands.count;
  int32_t count;
  if (!parse_list(parser, &count)) return false;
  for (size_t i = mark; i < parser->operands.count; ++i) {
    tfrt_value_reference_t name = *(tfrt_value_reference_t*)tfrt_scratch_at(&parser->operands, i);
    if (!add_argument(parser, &arguments, &name)) return false;
    arguments.types[i - mark] = index_type(parser);
  }
  parser->operands.count = mark;
  if (!tfrt_parser_expect(parser, '=', "behind the variables of a loop")) return false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(words); ++i) {
    if (words[i] && !tfrt_parser_accept_word(parser, words[i])) {
      return tfrt_parser_miss(parser, "expected '%s'", words[i]);
    }
    if (!parse_list(parser, &sizes[i])) return false;
  }
  if (tfrt_parser_at_word(parser, "init")) {
    return tfrt_parser_fail(parser, "reductions of 'scf.parallel' are not supported");
  }
  tfrt_parser_region_style_t style = style_of(&arguments);
  return tfrt_parser_resolve_all(parser, op, mark, index_type(parser)) &&
         tfrt_parser_make_regions(parser, op, 1) &&
         make_region(parser, op, 0, &style, "scf.reduce") &&
         tfrt_parser_optional_dictionary(parser) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 4);
}

bool tfrt_parser_reduce(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  (void)op;
  if (parser->token.kind == '(') {
    return tfrt_parser_fail(parser, "reductions of 'scf.parallel' are not supported");
  }
  return tfrt_parser_optional_dictionary(parser);
}
