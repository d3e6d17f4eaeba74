// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `async`:
//
//   async.execute [%token] (%value as %x: !async.value<f32>) -> !async.value<f32> attributes {} {}
//   async.await %value : !async.value<f32>            also async.runtime.await and the like
//   async.create_group %size : !async.group
//   async.add_to_group %token, %group : !async.token
//   async.await_all %group
//   async.runtime.load %value : <f32>                 and store
//   async.runtime.create : !async.token
//   async.runtime.await_and_resume %token, %handle : !async.token
//   async.coro.free %id, %handle                      and the like: the table has all types
//   async.coro.suspend %state, ^suspend, ^resume, ^cleanup

#include "compiler/parser/parser_impl.h"

static const tfrt_ir_type_t* token_type(tfrt_parser_t* parser) {
  return tfrt_parser_type_of_text(parser, "!async.token");
}

static const tfrt_ir_type_t* group_type(tfrt_parser_t* parser) {
  return tfrt_parser_type_of_text(parser, "!async.group");
}

static const tfrt_ir_type_t* index_type(tfrt_parser_t* parser) {
  return tfrt_ir_type_index(parser->context);
}

// --- Regions as tasks ------------------------------------------------------------------------

// The arguments of a region while they are parsed.
typedef struct arguments_s {
  size_t name_mark;  // references on |operands|: names and values in turn
  size_t type_mark;  // types on |pointers|
} arguments_t;

// `%value as %x: !async.value<T>`
static bool parse_value(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t value;
  tfrt_value_reference_t name;
  if (!tfrt_parser_value_reference(parser, &value)) return false;
  if (!tfrt_parser_accept_word(parser, "as")) {
    return tfrt_parser_miss(parser, "expected 'as' and a name behind an operand of a region");
  }
  if (!tfrt_parser_value_reference(parser, &name) ||
      !tfrt_parser_expect(parser, ':', "and the type of an operand of a region")) {
    return false;
  }
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  if (!type) return false;
  if (type->kind != TFRT_IR_TYPE_DIALECT || !type->element) {
    return tfrt_parser_fail_at(parser, offset,
                               "an operand of a region is of a type !async.value<...>");
  }
  ++op->operand_count;
  return tfrt_parser_resolve(parser, &value, type) && tfrt_scratch_push(&parser->operands, &name) &&
         tfrt_parser_push_pointer(parser, type->element);
}

// Copies the names and types of the arguments, and takes them off.
static bool take_arguments(tfrt_parser_t* parser, const arguments_t* arguments,
                           tfrt_parser_region_style_t* style) {
  size_t count = parser->operands.count - arguments->name_mark;
  tfrt_value_reference_t* names =
      tfrt_ir_context_allocate_array(parser->context, count, sizeof(*names));
  if (!names) return false;
  for (size_t i = 0; i < count; ++i) {
    names[i] =
        *(tfrt_value_reference_t*)tfrt_scratch_at(&parser->operands, arguments->name_mark + i);
  }
  parser->operands.count = arguments->name_mark;
  style->argument_types =
      tfrt_parser_take_pointers(parser, arguments->type_mark, &style->argument_count);
  // Without arguments an empty region has no block of its own yet.
  style->argument_names = count ? names : NULL;
  return style->argument_types != NULL;
}

// `-> T` or `-> (T, ...)`, which may be empty, if there, behind the token.
static bool parse_results(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  if (!tfrt_parser_push_pointer(parser, token_type(parser))) return false;
  if (tfrt_parser_accept(parser, TFRT_TOKEN_ARROW)) {
    bool is_list = tfrt_parser_accept(parser, '(');
    bool is_empty = is_list && parser->token.kind == ')';
    bool ok = is_empty  ? true
              : is_list ? tfrt_parser_type_list(parser)
                        : tfrt_parser_push_pointer(parser, tfrt_parser_type(parser));
    if (!ok || (is_list && !tfrt_parser_expect(parser, ')', "behind the types of the results"))) {
      return false;
    }
  }
  op->result_types = tfrt_parser_take_pointers(parser, mark, &op->result_count);
  return op->result_types != NULL;
}

bool tfrt_parser_execute(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  int32_t sizes[2] = {0, 0};
  arguments_t arguments = {parser->operands.count, parser->pointers.count};
  tfrt_parser_region_style_t style = {.isolated = false};
  if (tfrt_parser_accept(parser, '[')) {
    if (!tfrt_parser_take_references(parser, ']') ||
        !tfrt_parser_resolve_all(parser, op, arguments.name_mark, token_type(parser)) ||
        !tfrt_parser_expect(parser, ']', "behind the dependencies of a region")) {
      return false;
    }
    sizes[0] = (int32_t)op->operand_count;
  }
  if (tfrt_parser_accept(parser, '(') && !tfrt_parser_accept(parser, ')')) {
    do {
      if (!parse_value(parser, op)) return false;
    } while (tfrt_parser_accept(parser, ','));
    if (!tfrt_parser_expect(parser, ')', "behind the operands of a region")) return false;
  }
  sizes[1] = (int32_t)op->operand_count - sizes[0];
  return take_arguments(parser, &arguments, &style) && parse_results(parser, op) &&
         tfrt_parser_optional_attributes(parser) && tfrt_parser_make_regions(parser, op, 1) &&
         tfrt_parser_region(parser, &op->regions[0], &style) &&
         (op->result_count > 1 ||
          tfrt_parser_end_region(parser, op, &op->regions[0], "async.yield")) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 2);
}

// --- Waiting ------------------------------------------------------------------------------------

bool tfrt_parser_await(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->operands.count;
  if (!tfrt_parser_optional_dictionary(parser) || !tfrt_parser_take_references(parser, ':') ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  if (!type || !tfrt_parser_resolve_all(parser, op, mark, type)) return false;
  if (tfrt_ir_string_is(op->name, "async.runtime.is_error")) {
    return tfrt_parser_one_result(parser, op,
                                  tfrt_ir_type_integer(parser->context, 1, TFRT_IR_SIGNLESS));
  }
  bool unwraps = tfrt_ir_string_is(op->name, "async.await") && type->kind == TFRT_IR_TYPE_DIALECT &&
                 type->element;
  return !unwraps || tfrt_parser_one_result(parser, op, type->element);
}

// --- Groups ------------------------------------------------------------------------------------

bool tfrt_parser_create_group(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_take_operand(parser, op, index_type(parser))) return false;
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_one_result(parser, op, type) &&
         tfrt_parser_optional_dictionary(parser);
}

bool tfrt_parser_add_to_group(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t member;
  tfrt_value_reference_t group;
  if (!tfrt_parser_value_reference(parser, &member) ||
      !tfrt_parser_expect(parser, ',', "and a group") ||
      !tfrt_parser_value_reference(parser, &group) || !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  op->operand_count = 2;
  return type && tfrt_parser_resolve(parser, &member, type) &&
         tfrt_parser_resolve(parser, &group, group_type(parser)) &&
         tfrt_parser_one_result(parser, op, index_type(parser)) &&
         tfrt_parser_optional_dictionary(parser);
}

bool tfrt_parser_await_all(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  return tfrt_parser_take_operand(parser, op, group_type(parser)) &&
         tfrt_parser_optional_dictionary(parser);
}

// --- Payloads and coroutines ---------------------------------------------------------------------

// `: <T>` or `: !async.value<T>`
static const tfrt_ir_type_t* parse_value_type(tfrt_parser_t* parser) {
  if (!tfrt_parser_expect(parser, ':', "and the type of an asynchronous value")) return NULL;
  if (!tfrt_parser_accept(parser, '<')) {
    size_t offset = parser->token.offset;
    const tfrt_ir_type_t* type = tfrt_parser_type(parser);
    if (type && type->kind == TFRT_IR_TYPE_DIALECT && type->element) return type;
    if (type) tfrt_parser_fail_at(parser, offset, "expected a type !async.value<T>, or <T>");
    return NULL;
  }
  const tfrt_ir_type_t* element = tfrt_parser_type(parser);
  if (!element || !tfrt_parser_expect(parser, '>', "behind the type of an asynchronous value")) {
    return NULL;
  }
  return tfrt_ir_type_async_value(parser->context, element);
}

bool tfrt_parser_create(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_optional_dictionary(parser)) return false;
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && tfrt_parser_one_result(parser, op, type);
}

bool tfrt_parser_await_and_resume(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t value;
  tfrt_value_reference_t handle;
  if (!tfrt_parser_value_reference(parser, &value) ||
      !tfrt_parser_expect(parser, ',', "and the handle of a coroutine") ||
      !tfrt_parser_value_reference(parser, &handle) || !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  op->operand_count = 2;
  return type && tfrt_parser_resolve(parser, &value, type) &&
         tfrt_parser_resolve(parser, &handle,
                             tfrt_parser_type_of_text(parser, "!async.coro.handle"));
}

bool tfrt_parser_coro(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  for (uint32_t i = 0; i < descriptor->operand_count; ++i) {
    if (i && !tfrt_parser_expect(parser, ',', "and the next operand")) return false;
    const tfrt_ir_type_t* type = tfrt_parser_type_of_text(parser, descriptor->operands[i].type);
    if (!type || !tfrt_parser_take_operand(parser, op, type)) return false;
  }
  return (!descriptor->result_count ||
          tfrt_parser_one_result(parser, op,
                                 tfrt_parser_type_of_text(parser, descriptor->results[0].type))) &&
         tfrt_parser_optional_dictionary(parser);
}

bool tfrt_parser_runtime_load(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t value;
  if (!tfrt_parser_value_reference(parser, &value) || !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = parse_value_type(parser);
  op->operand_count = 1;
  return type && tfrt_parser_resolve(parser, &value, type) &&
         tfrt_parser_one_result(parser, op, type->element);
}

bool tfrt_parser_runtime_store(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_value_reference_t value;
  tfrt_value_reference_t storage;
  if (!tfrt_parser_value_reference(parser, &value) ||
      !tfrt_parser_expect(parser, ',', "and the value that it is stored in") ||
      !tfrt_parser_value_reference(parser, &storage) || !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  const tfrt_ir_type_t* type = parse_value_type(parser);
  op->operand_count = 2;
  return type && tfrt_parser_resolve(parser, &value, type->element) &&
         tfrt_parser_resolve(parser, &storage, type);
}

bool tfrt_parser_suspend(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  size_t mark = parser->pointers.count;
  if (!tfrt_parser_take_operand(parser, op,
                                tfrt_parser_type_of_text(parser, "!async.coro.state"))) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (!tfrt_parser_expect(parser, ',', "and the blocks to suspend, resume and clean up") ||
        !tfrt_parser_push_pointer(parser, tfrt_parser_successor(parser, op->region))) {
      return false;
    }
  }
  op->successors = (tfrt_ir_block_t**)tfrt_parser_take_pointers(parser, mark, &op->successor_count);
  return op->successors != NULL && tfrt_parser_optional_dictionary(parser);
}
