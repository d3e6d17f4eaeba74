// SPDX-License-Identifier: Apache-2.0
//
// Custom forms: walks the words of the op table's |assembly| and the tokens of the text
// side by side.

#include "compiler/op_table/schema.h"
#include "compiler/parser/parser_impl.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/descriptor/assembly.h"

// Where a walk stands.
typedef struct walk_s {
  tfrt_parser_t* parser;
  tfrt_parser_op_t* op;
  const tfrt_op_form_t* form;
  bool resolved;      // the operands have their values
  bool lacks_chains;  // the text has left out the chains among the fixed operands
  // Types of the variadic operands and results, where a word gave them.
  const tfrt_ir_type_t* const* operand_types;
  const tfrt_ir_type_t* const* result_types;
  uint32_t operand_type_count;
  uint32_t result_type_count;
  bool has_operand_types;
  bool has_result_types;
  // Types of the fixed results that the table leaves open, in order.
  const tfrt_ir_type_t* const* open_types;
  uint32_t open_type_count;
  // Types of the first TFRT_ASSEMBLY_MAX_TYPED fixed operands, where a word gave one; else NULL.
  // The array itself is NULL before the first such word.
  const tfrt_ir_type_t** given_types;
} walk_t;

static bool parse_operand(walk_t* walk) {
  tfrt_value_reference_t* reference = tfrt_scratch_add(&walk->parser->operands);
  if (!reference || !tfrt_parser_value_reference(walk->parser, reference)) return false;
  ++walk->op->operand_count;
  return true;
}

static size_t skip(tfrt_string_view_t text, size_t position, const char* characters) {
  while (position < text.size && text.data[position] && strchr(characters, text.data[position])) {
    ++position;
  }
  return position;
}

// True if the token at hand begins the results of the next op, `%x, %y:2 = `, and no operands: an
// op whose chain the text leaves out may have none.
static bool is_before_results(const tfrt_parser_t* parser) {
  static const char blanks[] = " \t\r\n";
  static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.-";
  tfrt_string_view_t text = parser->lexer.text;
  size_t at = parser->token.offset;
  while (at < text.size && text.data[at] == '%') {
    at = skip(text, skip(text, at + 1, name), blanks);
    if (at < text.size && text.data[at] == ':') {
      at = skip(text, skip(text, skip(text, at + 1, blanks), "0123456789"), blanks);
    }
    if (at >= text.size || text.data[at] != ',') break;
    at = skip(text, at + 1, blanks);
  }
  return at < text.size && text.data[at] == '=';
}

// All operands that are left. Fixed ones must be there; more than the table allows are
// reported here, where the place is known.
static bool parse_operands(walk_t* walk, bool typed) {
  tfrt_parser_t* parser = walk->parser;
  size_t mark = parser->pointers.count;
  bool may_have_none =
      !walk->op->operand_count &&
      tfrt_parser_operand_chains(walk->op->descriptor) == walk->op->descriptor->operand_count;
  bool has_some = !may_have_none || !is_before_results(parser);
  if (parser->token.kind == TFRT_TOKEN_PERCENT && has_some) {
    do {
      if (!parse_operand(walk)) return false;
      if (!typed) continue;
      if (!tfrt_parser_expect(parser, ':', "and a type behind an operand")) return false;
      if (!tfrt_parser_push_pointer(parser, tfrt_parser_type(parser))) return false;
    } while (tfrt_parser_accept(parser, ','));
  }
  if (typed) {
    walk->operand_types = tfrt_parser_take_pointers(parser, mark, &walk->operand_type_count);
    walk->has_operand_types = true;
    return walk->operand_types != NULL;
  }
  return true;
}

// The type of operand |index|, or NULL if only its definition knows.
static const tfrt_ir_type_t* operand_type(const walk_t* walk, uint32_t index) {
  uint32_t fixed_count = walk->form->fixed_operand_count;
  if (index >= fixed_count && walk->has_operand_types) {
    return walk->operand_types[index - fixed_count];
  }
  const tfrt_ir_type_t* type = tfrt_op_form_operand_type(walk->form, index);
  bool may_be_given = !type && walk->given_types && index < TFRT_ASSEMBLY_MAX_TYPED;
  return may_be_given ? walk->given_types[index] : type;
}

// Reports that |given| operands are too many, or too few, for the op: how it is written.
static bool fail_operand_count(walk_t* walk, uint32_t given) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t fixed_count = walk->form->fixed_operand_count;
  bool variadic = fixed_count < descriptor->operand_count;
  tfrt_string_builder_t names;
  tfrt_string_builder_initialize(&names, tfrt_allocator_system());
  tfrt_string_builder_append_text(&names, descriptor->operand_count ? ": " : "");
  tfrt_schema_append_operands(&names, descriptor);
  tfrt_parser_fail_at(walk->parser, walk->op->place.offset,
                      "op '%s' takes %s%u operand%s, not %u%s", descriptor->name,
                      variadic ? "at least " : "", fixed_count, tfrt_plural(fixed_count), given,
                      tfrt_string_builder_text(&names));
  tfrt_string_builder_deinitialize(&names);
  return false;
}

// Finds the values of |count| operands; chains that the text has left out are put in.
static bool resolve_values(walk_t* walk, uint32_t count) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bool is_fixed = i < walk->form->fixed_operand_count;
    if (walk->lacks_chains && is_fixed &&
        tfrt_kernel_descriptor_is_chain(descriptor->operands[i].type)) {
      if (!tfrt_parser_add_missing_chain(parser)) return false;
      continue;
    }
    const tfrt_value_reference_t* reference =
        tfrt_scratch_at(&parser->operands, walk->op->operand_mark + next++);
    // The last one of a variadic op may be the chain that the table doesn't list.
    bool may_be_chain =
        descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN && !is_fixed && i + 1 == count;
    if (!tfrt_parser_resolve(parser, reference, may_be_chain ? NULL : operand_type(walk, i))) {
      return false;
    }
  }
  return true;
}

// Checks the number of operands and finds their values.
static bool resolve_operands(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  if (walk->resolved) return true;
  walk->resolved = true;
  uint32_t fixed_count = walk->form->fixed_operand_count;
  bool variadic = fixed_count < descriptor->operand_count;
  uint32_t chains = tfrt_parser_operand_chains(descriptor);
  uint32_t given = walk->op->operand_count;
  if (!variadic && chains && given + chains == fixed_count) walk->lacks_chains = true;
  uint32_t count = given + (walk->lacks_chains ? chains : 0);
  bool one_more = descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN && count == fixed_count + 1;
  if (count < fixed_count || (count > fixed_count && !variadic && !one_more)) {
    return fail_operand_count(walk, given);
  }
  if (walk->has_operand_types && walk->operand_type_count != count - fixed_count) {
    return tfrt_parser_fail_at(parser, walk->op->place.offset,
                               "op '%s' has %u operands to give types for, and %u types",
                               descriptor->name, count - fixed_count, walk->operand_type_count);
  }
  return resolve_values(walk, count);
}

// `, args(%a, %b) : (T, T)`, all of it left out when there are no variadic operands.
static bool parse_args(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  size_t mark = parser->pointers.count;
  if (tfrt_parser_accept(parser, ',')) {
    if (!tfrt_parser_accept_word(parser, "args")) {
      return tfrt_parser_miss(parser, "expected 'args' in this op");
    }
    if (!tfrt_parser_expect(parser, '(', "behind 'args'") || !parse_operands(walk, false) ||
        !tfrt_parser_expect(parser, ')', "behind the arguments") ||
        !tfrt_parser_expect(parser, ':', "and the types of the arguments") ||
        !tfrt_parser_expect(parser, '(', "before the types of the arguments") ||
        !tfrt_parser_type_list(parser) ||
        !tfrt_parser_expect(parser, ')', "behind the types of the arguments")) {
      return false;
    }
  }
  walk->operand_types = tfrt_parser_take_pointers(parser, mark, &walk->operand_type_count);
  walk->has_operand_types = true;
  return walk->operand_types != NULL;
}

// `: T, T`; left out when there are no variadic operands.
static bool parse_types(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  size_t mark = parser->pointers.count;
  if (tfrt_parser_accept(parser, ':') && !tfrt_parser_type_list(parser)) return false;
  walk->operand_types = tfrt_parser_take_pointers(parser, mark, &walk->operand_type_count);
  walk->has_operand_types = true;
  return walk->operand_types != NULL;
}

// `: (T) -> R`
static bool parse_function(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  if (!tfrt_parser_expect(parser, ':', "and a function type")) return false;
  const tfrt_ir_type_t* type = tfrt_parser_function_type(parser);
  if (!type) return false;
  walk->operand_types = type->inputs;
  walk->operand_type_count = type->input_count;
  walk->result_types = type->results;
  walk->result_type_count = type->result_count;
  walk->has_operand_types = true;
  walk->has_result_types = true;
  return true;
}

// Reports the type |given| of the fixed |what| number |index|, unless it is that of the table.
static bool check_fixed_type(walk_t* walk, const char* what, uint32_t index, const char* wanted,
                             const tfrt_ir_type_t* given) {
  // Whether it is of a choice the verifier says.
  if (!tfrt_kernel_descriptor_type_is_known(wanted) || tfrt_ir_type_is(given, wanted)) return true;
  return tfrt_parser_fail_at(walk->parser, walk->op->place.offset,
                             "op '%s' has '%s' for %s #%u, not '%s'", walk->op->descriptor->name,
                             wanted, what, index, given->text->data);
}

// The type of the fixed operand |name|.
static bool parse_operand_type(walk_t* walk, tfrt_string_view_t name) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t index = tfrt_assembly_operand_index(descriptor, name);
  const tfrt_ir_type_t* type = tfrt_parser_type(walk->parser);
  if (!walk->given_types) {
    walk->given_types = tfrt_ir_context_allocate_array(
        walk->parser->context, TFRT_ASSEMBLY_MAX_TYPED, sizeof(*walk->given_types));
  }
  if (!type || !walk->given_types) return false;
  walk->given_types[index] = type;
  return check_fixed_type(walk, "operand", index, descriptor->operands[index].type, type);
}

// `: (T) -> (R)` of all operands and results.
static bool parse_whole_signature(walk_t* walk) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t operands = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t results = tfrt_kernel_descriptor_fixed_results(descriptor);
  if (!parse_function(walk)) return false;
  if (walk->operand_type_count < operands || walk->result_type_count < results) {
    return tfrt_parser_fail_at(walk->parser, walk->op->place.offset,
                               "op '%s' needs types for at least %u operands and %u results",
                               descriptor->name, operands, results);
  }
  for (uint32_t i = 0; i < operands; ++i) {
    if (!check_fixed_type(walk, "operand", i, descriptor->operands[i].type,
                          walk->operand_types[i])) {
      return false;
    }
  }
  for (uint32_t i = 0; i < results; ++i) {
    if (!check_fixed_type(walk, "result", i, descriptor->results[i].type, walk->result_types[i])) {
      return false;
    }
  }
  walk->operand_types += operands;
  walk->operand_type_count -= operands;
  walk->result_types += results;
  walk->result_type_count -= results;
  return true;
}

// `: T, T` of the fixed results that the table leaves open.
static bool parse_result_types(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  size_t mark = parser->pointers.count;
  if (!tfrt_parser_expect(parser, ':', "and the types of the results")) return false;
  if (!tfrt_parser_type_list(parser)) return false;
  walk->open_types = tfrt_parser_take_pointers(parser, mark, &walk->open_type_count);
  return walk->open_types != NULL;
}

static const tfrt_attribute_descriptor_t* find_attribute(const walk_t* walk,
                                                         tfrt_string_view_t name) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(descriptor->attributes[i].name))) {
      return &descriptor->attributes[i];
    }
  }
  return NULL;
}

// The attribute that |word| names, in the form that it asks for.
static bool parse_attribute(walk_t* walk, const tfrt_assembly_word_t* word) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_attribute_descriptor_t* entry = find_attribute(walk, word->name);
  if (!entry) return tfrt_parser_fail(parser, "the op table has no such attribute");
  const tfrt_ir_attribute_t* value = NULL;
  if (word->kind == TFRT_ASSEMBLY_SYMBOL) {
    value = tfrt_parser_symbol(parser);
  } else if (word->kind == TFRT_ASSEMBLY_SYMBOL_ARRAY) {
    if (parser->token.kind != '[') return tfrt_parser_miss(parser, "expected [@f, @g, ...]");
    value = tfrt_parser_attribute(parser);
  } else if (word->kind == TFRT_ASSEMBLY_KEYWORD) {
    if (parser->token.kind != TFRT_TOKEN_WORD) {
      return tfrt_parser_miss(parser, "expected the name of a %s", entry->name);
    }
    value = tfrt_ir_attribute_string(parser->context, parser->token.text, NULL);
    tfrt_parser_advance(parser);
  } else if (word->kind == TFRT_ASSEMBLY_TYPED_ATTRIBUTE) {
    value = tfrt_parser_attribute(parser);
  } else {
    value = tfrt_parser_literal(parser, entry->kind);
  }
  return tfrt_parser_add_attribute(parser, entry->name, value);
}

// `name = literal, name = literal`, in any order.
static bool parse_settings(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  if (parser->token.kind != TFRT_TOKEN_WORD) return true;
  do {
    if (parser->token.kind != TFRT_TOKEN_WORD) {
      return tfrt_parser_miss(parser, "expected the name of a setting");
    }
    const tfrt_attribute_descriptor_t* entry = find_attribute(walk, parser->token.text);
    if (!entry) {
      return tfrt_parser_fail(parser, "op '%s' has no setting '%.*s'", walk->op->descriptor->name,
                              TFRT_STRING_VIEW_ARGUMENTS(parser->token.text));
    }
    tfrt_parser_advance(parser);
    if (!tfrt_parser_expect(parser, '=', "behind the name of a setting")) return false;
    const tfrt_ir_attribute_t* value = tfrt_parser_literal(parser, entry->kind);
    if (!tfrt_parser_add_attribute(parser, entry->name, value)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return true;
}

// One region whose arguments are named like the operands that it gets.
static bool parse_region(walk_t* walk, uint32_t index) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_parser_op_t* op = walk->op;
  const tfrt_region_descriptor_t* entry = &op->descriptor->regions[index];
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op->descriptor);
  tfrt_parser_region_style_t style = {.isolated = true};
  tfrt_value_reference_t* names =
      tfrt_ir_context_allocate_array(parser->context, op->operand_count, sizeof(*names));
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(parser->context, op->operand_count, sizeof(*types));
  if (!names || !types) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    bool is_passed = i >= fixed_count || (i < 32 && (entry->lead_mask >> i & 1));
    if (!is_passed) continue;
    names[style.argument_count] =
        *(tfrt_value_reference_t*)tfrt_scratch_at(&parser->operands, op->operand_mark + i);
    types[style.argument_count++] =
        (*(tfrt_ir_value_t**)tfrt_scratch_at(&parser->values, op->value_mark + i))->type;
  }
  style.argument_names = names;
  style.argument_types = types;
  return tfrt_parser_region(parser, &op->regions[index], &style);
}

// A region that the text leaves out: it gets its operands and only returns.
static bool make_default_region(walk_t* walk, uint32_t index) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_parser_op_t* op = walk->op;
  tfrt_ir_context_t* context = parser->context;
  tfrt_ir_block_t* block = tfrt_ir_block_create(context, &op->regions[index]);
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, "tfrt.return"),
                                     .location = tfrt_parser_location_here(parser, &op->place)};
  if (!block || !parts.name || !parts.location) return false;
  parts.descriptor = tfrt_op_index_find(&parser->index, tfrt_ir_string_view(parts.name));
  const tfrt_ir_block_t* model = op->regions[0].first_block;
  for (uint32_t i = 0; model && i < model->argument_count; ++i) {
    if (!tfrt_ir_block_add_argument(context, block, model->arguments[i]->type,
                                    model->arguments[i]->name, NULL)) {
      return false;
    }
  }
  tfrt_ir_operation_t* operation = tfrt_ir_operation_create(context, &parts);
  if (!operation) return false;
  operation->text_offset = (uint32_t)op->place.offset;
  tfrt_ir_block_append(block, operation);
  return true;
}

static bool parse_regions(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  if (!resolve_operands(walk)) return false;
  if (!tfrt_parser_make_regions(parser, walk->op, descriptor->region_count)) return false;
  bool ok = true;
  for (uint32_t i = 0; i < descriptor->region_count; ++i) {
    bool is_here = i == 0 || tfrt_parser_accept_word(parser, "else");
    if (is_here) {
      ok = parse_region(walk, i) && ok;
    } else if (!descriptor->regions[i].optional || walk->result_type_count) {
      return tfrt_parser_fail_at(parser, walk->op->place.offset,
                                 "op '%s' has results, so it needs an 'else' region",
                                 descriptor->name);
    } else {
      ok = ok && make_default_region(walk, i);
    }
  }
  return ok;
}

// The type of the fixed result |index|, if the table says that or which operand has it; else NULL.
static const tfrt_ir_type_t* known_result_type(const walk_t* walk, uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t operand =
      tfrt_kernel_descriptor_type_operand(descriptor, descriptor->results[index].type);
  if (operand == UINT32_MAX) return walk->form->result_types[index];
  const tfrt_ir_value_t* value =
      *(tfrt_ir_value_t**)tfrt_scratch_at(&walk->parser->values, walk->op->value_mark + operand);
  return value->type;
}

// The types of the |count| fixed results: those of the table, or of the text where that leaves
// them open.
static bool push_fixed_results(walk_t* walk, uint32_t count) {
  tfrt_parser_t* parser = walk->parser;
  uint32_t open = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_ir_type_t* type = known_result_type(walk, i);
    bool is_open = type == NULL;
    if (is_open && open == walk->open_type_count) {
      return tfrt_parser_fail_at(parser, walk->op->place.offset,
                                 "op '%s' needs the type of result #%u", walk->op->descriptor->name,
                                 i);
    }
    if (is_open) type = walk->open_types[open++];
    if (!tfrt_parser_push_pointer(parser, type)) return false;
  }
  if (open == walk->open_type_count) return true;
  return tfrt_parser_fail_at(parser, walk->op->place.offset,
                             "op '%s' needs %u types of results, not %u",
                             walk->op->descriptor->name, open, walk->open_type_count);
}

// The result types: those of the table, then those of the text.
static bool set_results(walk_t* walk) {
  tfrt_parser_t* parser = walk->parser;
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  uint32_t fixed_count = walk->form->fixed_result_count;
  bool variadic = fixed_count < descriptor->result_count;
  if (walk->form->results_are_known && !walk->result_type_count && !walk->open_type_count) {
    walk->op->result_types = walk->form->result_types;
    walk->op->result_count = fixed_count;
    return true;
  }
  if (variadic && !walk->has_result_types) {
    walk->result_types = walk->operand_types;
    walk->result_type_count = walk->operand_type_count;
  }
  if (!variadic && walk->result_type_count) {
    return tfrt_parser_fail_at(parser, walk->op->place.offset, "op '%s' has no such results",
                               descriptor->name);
  }
  size_t mark = parser->pointers.count;
  if (!push_fixed_results(walk, fixed_count)) return false;
  for (uint32_t i = 0; i < walk->result_type_count; ++i) {
    if (!tfrt_parser_push_pointer(parser, walk->result_types[i])) return false;
  }
  walk->op->result_types = tfrt_parser_take_pointers(parser, mark, &walk->op->result_count);
  return walk->op->result_types != NULL;
}

static bool parse_text(walk_t* walk, const tfrt_assembly_word_t* word) {
  tfrt_parser_t* parser = walk->parser;
  if (tfrt_assembly_is_punctuation(word)) {
    return tfrt_parser_expect(parser, word->name.data[0], "in this op");
  }
  if (parser->token.kind == TFRT_TOKEN_WORD &&
      tfrt_string_view_equal(parser->token.text, word->name)) {
    tfrt_parser_advance(parser);
    return true;
  }
  return tfrt_parser_miss(parser, "expected '%.*s' in this op",
                          TFRT_STRING_VIEW_ARGUMENTS(word->name));
}

static bool parse_word(walk_t* walk, const tfrt_assembly_word_t* word) {
  tfrt_parser_t* parser = walk->parser;
  if (tfrt_assembly_is_attribute(word->kind)) return parse_attribute(walk, word);
  switch (word->kind) {
    case TFRT_ASSEMBLY_OPERANDS:
      return parse_operands(walk, false);
    case TFRT_ASSEMBLY_COMMA_OPERANDS:
      return !tfrt_parser_accept(parser, ',') || parse_operands(walk, false);
    case TFRT_ASSEMBLY_ARGS:
      return parse_args(walk);
    case TFRT_ASSEMBLY_TYPED_OPERANDS:
      return parse_operands(walk, true);
    case TFRT_ASSEMBLY_OPERAND:
      return parse_operand(walk);
    case TFRT_ASSEMBLY_SETTINGS:
      return parse_settings(walk);
    case TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY:
      return !tfrt_parser_accept(parser, '{') || tfrt_parser_attribute_entries(parser);
    case TFRT_ASSEMBLY_ATTRIBUTES:
      return !tfrt_parser_accept_word(parser, "attributes") ||
             (tfrt_parser_expect(parser, '{', "behind 'attributes'") &&
              tfrt_parser_attribute_entries(parser));
    case TFRT_ASSEMBLY_TYPES:
      return parse_types(walk);
    case TFRT_ASSEMBLY_FUNCTION:
    case TFRT_ASSEMBLY_SIGNATURE:
      return parse_function(walk);
    case TFRT_ASSEMBLY_WHOLE_SIGNATURE:
      return parse_whole_signature(walk);
    case TFRT_ASSEMBLY_OPERAND_TYPE:
      return parse_operand_type(walk, word->name);
    case TFRT_ASSEMBLY_RESULT_TYPES:
      return parse_result_types(walk);
    case TFRT_ASSEMBLY_REGIONS:
      return parse_regions(walk);
    default:
      return parse_text(walk, word);
  }
}

// The type that the table calls |text|, NULL if it leaves that open; false when memory is out.
static bool find_type(tfrt_parser_t* parser, const char* text, const tfrt_ir_type_t** out_type) {
  *out_type = NULL;
  if (!tfrt_kernel_descriptor_type_is_known(text)) return true;
  *out_type = tfrt_parser_type_of_text(parser, text);
  return *out_type != NULL;
}

const tfrt_op_form_t* tfrt_parser_op_form(tfrt_parser_t* parser, tfrt_op_index_entry_t* entry) {
  if (entry->form) return entry->form;
  const tfrt_kernel_descriptor_t* descriptor = entry->descriptor;
  // The entry keeps it, whatever piece of the text it is made for.
  bool is_in_piece = tfrt_ir_context_is_in_piece(parser->context);
  tfrt_ir_context_leave_piece(parser->context);
  tfrt_op_form_t* form = tfrt_op_form_create(parser->context, descriptor);
  if (is_in_piece) tfrt_ir_context_open_piece(parser->context);
  bool ok = form != NULL;
  for (uint32_t i = 0; ok && i < descriptor->operand_count; ++i) {
    ok = find_type(parser, descriptor->operands[i].type, &form->operand_types[i]);
  }
  for (uint32_t i = 0; ok && i < descriptor->result_count; ++i) {
    ok = find_type(parser, descriptor->results[i].type, &form->result_types[i]);
  }
  if (ok) entry->form = form;
  return entry->form;
}

// True if |word| names a chain among the fixed operands.
static bool is_chain_word(const walk_t* walk, const tfrt_assembly_word_t* word) {
  const tfrt_kernel_descriptor_t* descriptor = walk->op->descriptor;
  if (word->kind != TFRT_ASSEMBLY_OPERAND) return false;
  uint32_t index = tfrt_assembly_operand_index(descriptor, word->name);
  return index != UINT32_MAX && tfrt_kernel_descriptor_is_chain(descriptor->operands[index].type);
}

// True if a value's name follows the token at hand.
static bool is_before_value(const tfrt_parser_t* parser) {
  tfrt_string_view_t text = parser->lexer.text;
  size_t position = parser->lexer.position;
  while (position < text.size && strchr(" \t\r\n", text.data[position])) ++position;
  return position < text.size && text.data[position] == '%';
}

// The number of words from |index| on that stand for a chain that the text leaves out: it, and the
// comma before it. 0: there is none, or it is there.
static uint32_t missing_chain_words(const walk_t* walk, uint32_t index) {
  const tfrt_assembly_word_t* words = &walk->form->words[index];
  if (is_chain_word(walk, &words[0])) return walk->parser->token.kind != TFRT_TOKEN_PERCENT;
  bool is_comma = words[0].kind == TFRT_ASSEMBLY_TEXT &&
                  tfrt_string_view_equal(words[0].name, tfrt_string_view_of(","));
  if (!is_comma || index + 1 == walk->form->word_count || !is_chain_word(walk, &words[1])) return 0;
  return walk->parser->token.kind == ',' && is_before_value(walk->parser) ? 0 : 2;
}

// True if the custom form of |form| begins with a parenthesis.
static bool begins_with_parenthesis(const tfrt_op_form_t* form) {
  return form->word_count && form->words[0].kind == TFRT_ASSEMBLY_TEXT &&
         form->words[0].name.data[0] == '(';
}

bool tfrt_parser_assembly(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (parser->token.kind == '(' && !begins_with_parenthesis(op->form)) {
    return tfrt_parser_fail(parser,
                            "the operands of '%s' are written without parentheses; the generic "
                            "form has quotes, \"%s\"(...) : (...) -> ...",
                            op->name->data, op->name->data);
  }
  walk_t walk = {.parser = parser, .op = op, .form = op->form};
  for (uint32_t i = 0; i < op->form->word_count;) {
    uint32_t missing = missing_chain_words(&walk, i);
    walk.lacks_chains = walk.lacks_chains || missing;
    i += missing;
    if (missing) continue;
    if (!parse_word(&walk, &op->form->words[i++])) return false;
  }
  return resolve_operands(&walk) && set_results(&walk);
}
