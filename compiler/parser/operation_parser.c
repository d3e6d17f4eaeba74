// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

// Most results that one name may stand for: `%r:65536`. It bounds what a few bytes of
// text can make us allocate.
#define MAX_RESULTS 65536

bool tfrt_parser_value_reference(tfrt_parser_t* parser, tfrt_value_reference_t* out_reference) {
  *out_reference = (tfrt_value_reference_t){.offset = parser->token.offset};
  if (parser->token.kind != TFRT_TOKEN_PERCENT) {
    return tfrt_parser_miss(parser, "expected a value such as %%name");
  }
  out_reference->name =
      tfrt_ir_string_get_hashed(parser->context, parser->token.text, parser->token.hash);
  tfrt_parser_advance(parser);
  if (parser->token.kind == TFRT_TOKEN_HASH) {
    // "#3" was lexed as a name; its text is the number.
    tfrt_token_t number = parser->token;
    number.kind = TFRT_TOKEN_INTEGER;
    parser->token = number;
    if (!tfrt_parser_small_number(parser, &out_reference->number)) return false;
  }
  return out_reference->name != NULL;
}

bool tfrt_parser_add_attribute(tfrt_parser_t* parser, const char* name,
                               const tfrt_ir_attribute_t* value) {
  tfrt_ir_named_attribute_t entry = {tfrt_ir_string_of(parser->context, name), value};
  return entry.name && value && tfrt_scratch_push(&parser->named, &entry);
}

bool tfrt_parser_resolve(tfrt_parser_t* parser, const tfrt_value_reference_t* reference,
                         const tfrt_ir_type_t* type) {
  tfrt_ir_value_t* value = tfrt_value_scopes_use(&parser->scopes, reference, type);
  tfrt_ir_value_t** top = value ? tfrt_scratch_add(&parser->values) : NULL;
  if (top) *top = value;
  return top != NULL;
}

bool tfrt_parser_add_missing_chain(tfrt_parser_t* parser) {
  tfrt_ir_value_t* value = tfrt_ir_value_create_missing(parser->context);
  tfrt_ir_value_t** top = value ? tfrt_scratch_add(&parser->values) : NULL;
  if (top) *top = value;
  return top != NULL;
}

uint32_t tfrt_parser_operand_chains(const tfrt_kernel_descriptor_t* descriptor) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < tfrt_kernel_descriptor_fixed_operands(descriptor); ++i) {
    count += tfrt_kernel_descriptor_is_chain(descriptor->operands[i].type);
  }
  return count;
}

uint32_t tfrt_parser_result_chains(const tfrt_kernel_descriptor_t* descriptor) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < tfrt_kernel_descriptor_fixed_results(descriptor); ++i) {
    count += tfrt_kernel_descriptor_is_chain(descriptor->results[i].type);
  }
  return count;
}

// `:2`, if there, behind the name of a result.
static bool parse_result_count(tfrt_parser_t* parser, tfrt_parser_result_name_t* name) {
  if (name->reference.number) {
    return tfrt_parser_fail_at(parser, name->reference.offset, "a result is named without '#'");
  }
  if (!tfrt_parser_accept(parser, ':')) return true;
  size_t offset = parser->token.offset;
  if (!tfrt_parser_small_number(parser, &name->count)) return false;
  if (name->count >= 1 && name->count <= MAX_RESULTS) return true;
  return tfrt_parser_fail_at(parser, offset, "a name stands for 1 to %d results", MAX_RESULTS);
}

// `%a =`, which most ops begin with: the rest of it, pushed on |result_names|.
static bool take_result_name(tfrt_parser_t* parser) {
  tfrt_parser_result_name_t* name = tfrt_scratch_add(&parser->result_names);
  if (!name) return false;
  name->count = 1;
  name->reference = (tfrt_value_reference_t){.offset = parser->token.offset};
  name->reference.name =
      tfrt_ir_string_get_hashed(parser->context, parser->token.text, parser->token.hash);
  tfrt_parser_advance(parser);
  return name->reference.name != NULL;
}

// `%a, %b:2 =`, pushed on |result_names|.
static bool parse_result_names(tfrt_parser_t* parser) {
  if (parser->token.kind != TFRT_TOKEN_PERCENT) return true;
  if (tfrt_lexer_take(&parser->lexer, '=')) return take_result_name(parser);
  do {
    // It stays also where it is wrong from its number on: its name is known.
    tfrt_parser_result_name_t* name = tfrt_scratch_add(&parser->result_names);
    if (!name) return false;
    name->count = 1;
    if (!tfrt_parser_value_reference(parser, &name->reference)) return false;
    if (!parse_result_count(parser, name)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, '=', "behind the names of an op's results");
}

// `(%a, %b#1, ...)`, pushed on |operands|.
static bool parse_operand_list(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_expect(parser, '(', "and operands behind an op's name")) return false;
  if (tfrt_parser_accept(parser, ')')) return true;
  do {
    tfrt_value_reference_t* reference = tfrt_scratch_add(&parser->operands);
    if (!reference || !tfrt_parser_value_reference(parser, reference)) return false;
    ++op->operand_count;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, ')', "behind an op's operands");
}

// `[^bb1, ^bb2]`, if there. The blocks are those of the region that is being parsed.
static bool parse_successors(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_accept(parser, '[')) return true;
  size_t mark = parser->pointers.count;
  do {
    if (!tfrt_parser_push_pointer(parser, tfrt_parser_successor(parser, op->region))) return false;
  } while (tfrt_parser_accept(parser, ','));
  op->successors = (tfrt_ir_block_t**)tfrt_parser_take_pointers(parser, mark, &op->successor_count);
  return op->successors && tfrt_parser_expect(parser, ']', "behind an op's successors");
}

// True if nothing of the enclosing function is visible in the regions of |op|.
static bool is_isolated(const tfrt_parser_op_t* op) {
  if (op->descriptor) return !tfrt_kernel_descriptor_sees_outside(op->descriptor);
  return tfrt_ir_string_is(op->name, "func.func") || tfrt_ir_string_is(op->name, "builtin.module");
}

// `({ ... }, { ... })`, if there.
static bool parse_region_list(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!tfrt_parser_accept(parser, '(')) return true;
  tfrt_parser_region_style_t style = {.isolated = is_isolated(op),
                                      .is_module = tfrt_ir_string_is(op->name, "builtin.module")};
  size_t mark = parser->pointers.count;
  bool ok = true;
  do {
    tfrt_ir_region_t* region = tfrt_ir_context_allocate_array(parser->context, 1, sizeof(*region));
    if (!tfrt_parser_push_pointer(parser, region)) return false;
    size_t own = parser->pointers.count;
    ok = tfrt_parser_region(parser, region, &style) && ok;
    parser->pointers.count = own;  // an op that failed inside may have left its own
  } while (tfrt_parser_accept(parser, ','));
  uint32_t count = 0;
  tfrt_ir_region_t* const* regions = tfrt_parser_take_pointers(parser, mark, &count);
  if (!regions || !tfrt_parser_make_regions(parser, op, count)) return false;
  for (uint32_t i = 0; i < count; ++i) tfrt_ir_region_take_blocks(&op->regions[i], regions[i]);
  return ok && tfrt_parser_expect(parser, ')', "behind an op's regions");
}

// True if the operands of |type|, of an op of |descriptor|, are those of the table without chains.
static bool lacks_operand_chains(const tfrt_kernel_descriptor_t* descriptor,
                                 const tfrt_ir_type_t* type) {
  if (!descriptor) return false;
  uint32_t chains = tfrt_parser_operand_chains(descriptor);
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  if (!chains || type->input_count + chains < fixed_count) return false;
  bool variadic = fixed_count < descriptor->operand_count;
  if (!variadic) return type->input_count + chains == fixed_count;
  // With any number of operands, the types say whether the chains are there.
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (!tfrt_kernel_descriptor_is_chain(descriptor->operands[i].type)) continue;
    return i >= type->input_count || !tfrt_ir_type_is(type->inputs[i], "!tfrt.chain");
  }
  return false;
}

// Finds the operands' values, of |type|; chains that the text has left out are put in.
static bool resolve_generic(tfrt_parser_t* parser, const tfrt_parser_op_t* op,
                            const tfrt_ir_type_t* type) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  bool lacks_chains = lacks_operand_chains(descriptor, type);
  uint32_t fixed_count = lacks_chains ? tfrt_kernel_descriptor_fixed_operands(descriptor) : 0;
  uint32_t next = 0;
  for (uint32_t i = 0; i < fixed_count || next < op->operand_count; ++i) {
    bool is_missing =
        i < fixed_count && tfrt_kernel_descriptor_is_chain(descriptor->operands[i].type);
    if (is_missing) {
      if (!tfrt_parser_add_missing_chain(parser)) return false;
      continue;
    }
    const tfrt_value_reference_t* reference =
        tfrt_scratch_at(&parser->operands, op->operand_mark + next);
    if (!tfrt_parser_resolve(parser, reference, type->inputs[next++])) return false;
  }
  return true;
}

// True if the results of |op| are those of the table without chains.
static bool lacks_result_chains(const tfrt_parser_op_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  if (!descriptor) return false;
  uint32_t chains = tfrt_parser_result_chains(descriptor);
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  if (!chains || op->result_count + chains < fixed_count) return false;
  if (fixed_count == descriptor->result_count) return op->result_count + chains == fixed_count;
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (!tfrt_kernel_descriptor_is_chain(descriptor->results[i].type)) continue;
    return i >= op->result_count || !tfrt_ir_type_is(op->result_types[i], "!tfrt.chain");
  }
  return false;
}

// Adds to the result types of |op| the chains that the text has left out.
static bool add_chain_results(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  if (!lacks_result_chains(op)) return true;
  op->lacks_chain_results = true;
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  const tfrt_ir_type_t* chain =
      tfrt_ir_type_dialect(parser->context, tfrt_string_view_of("!tfrt.chain"));
  size_t mark = parser->pointers.count;
  uint32_t next = 0;
  for (uint32_t i = 0; i < fixed_count || next < op->result_count; ++i) {
    bool is_missing =
        i < fixed_count && tfrt_kernel_descriptor_is_chain(descriptor->results[i].type);
    const tfrt_ir_type_t* type = is_missing ? chain : op->result_types[next++];
    if (!tfrt_parser_push_pointer(parser, type)) return false;
  }
  op->result_types = tfrt_parser_take_pointers(parser, mark, &op->result_count);
  return op->result_types != NULL;
}

// `: (T, ...) -> R`: resolves the operands and gives the result types.
static bool parse_signature(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(&parser->lexer);
  const tfrt_ir_type_t* type = tfrt_parser_signature(parser);
  if (!type) return false;
  if (type->input_count != op->operand_count) {
    tfrt_text_cursor_skip_lines(&cursor);
    size_t offset = (size_t)(cursor.at - parser->lexer.text.data);
    return tfrt_parser_fail_at(parser, offset, "expected %u operand types but had %u",
                               op->operand_count, type->input_count);
  }
  op->result_types = type->results;
  op->result_count = type->result_count;
  return resolve_generic(parser, op, type) && add_chain_results(parser, op);
}

// Whether the parser itself knows the op called |name|, which stands in no table then: the index
// need not be searched to its end for it.
static bool is_known_without_table(tfrt_string_view_t name) {
  static const char* const names[] = {"func.func", "func", "builtin.module", "module"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(names[i]))) return true;
  }
  return false;
}

// Most ops of a program are like one before: these are known at sight.
tfrt_op_index_entry_t* tfrt_parser_op_entry(tfrt_parser_t* parser, tfrt_string_view_t name) {
  size_t place = (name.size + (unsigned char)name.data[name.size / 2]) % TFRT_PARSER_RECENT_COUNT;
  tfrt_op_index_entry_t** recent = &parser->recent[place];
  if (*recent && tfrt_string_view_equal_short((*recent)->name, name)) return *recent;
  if (is_known_without_table(name)) return NULL;
  tfrt_op_index_entry_t* entry = tfrt_op_index_find_entry(&parser->index, name);
  if (entry) *recent = entry;
  return entry;
}

// `{...}>` behind the `<` of the properties of an op that a table knows: attributes like the
// others. The properties of another op may be any attribute, and are kept.
static bool parse_properties(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  static const char where[] = "at the end of an op's properties";
  if (op->descriptor || is_known_without_table(tfrt_ir_string_view(op->name))) {
    return tfrt_parser_expect(parser, '{', "behind '<'") && tfrt_parser_attribute_entries(parser) &&
           tfrt_parser_expect(parser, '>', where);
  }
  op->properties = tfrt_parser_attribute(parser);
  return op->properties && tfrt_parser_expect(parser, '>', where);
}

// Puts the properties of |op|, which no table knows, among its attributes, unless one of these has
// the name of one of them.
static bool merge_properties(tfrt_parser_t* parser, const tfrt_parser_op_t* op) {
  const tfrt_ir_attribute_t* properties = op->properties;
  if (properties->kind != TFRT_IR_ATTRIBUTE_DICTIONARY) return true;
  for (size_t i = op->attribute_mark; i < parser->named.count; ++i) {
    const tfrt_ir_named_attribute_t* named = tfrt_scratch_at(&parser->named, i);
    if (tfrt_ir_named_attributes_find(properties->entries, properties->count, named->name->data)) {
      return true;
    }
  }
  for (uint32_t i = 0; i < properties->count; ++i) {
    if (!tfrt_scratch_push(&parser->named, &properties->entries[i])) return false;
  }
  return true;
}

// Also that an op is in no table is found out once.
tfrt_parser_known_op_t* tfrt_parser_known_op(tfrt_parser_t* parser, const tfrt_ir_string_t* name) {
  size_t place = (uintptr_t)name / sizeof(void*) % TFRT_PARSER_RECENT_COUNT;
  tfrt_parser_known_op_t* recent = &parser->generic.ops[place];
  if (recent->name == name) return recent;
  const tfrt_op_index_entry_t* entry = tfrt_parser_op_entry(parser, tfrt_ir_string_view(name));
  *recent = (tfrt_parser_known_op_t){.name = name};
  if (!entry) return recent;
  recent->descriptor = entry->descriptor;
  const char* default_name = NULL;
  uint32_t default_count = tfrt_parser_count_defaults(entry->descriptor, &default_name);
  recent->has_defaults = default_count > 0;
  if (default_count == 1) {
    recent->only_default = tfrt_ir_string_of(parser->context, default_name);
  }
  recent->has_chains =
      tfrt_parser_operand_chains(entry->descriptor) || tfrt_parser_result_chains(entry->descriptor);
  return recent;
}

static bool parse_generic(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  op->name = tfrt_parser_string(parser);
  if (!op->name) return false;
  if (!op->name->size) {
    return tfrt_parser_fail_at(parser, op->place.offset, "an op's name can't be empty");
  }
  const tfrt_parser_known_op_t* known = tfrt_parser_known_op(parser, op->name);
  op->descriptor = known->descriptor;
  bool has_defaults = known->has_defaults;
  tfrt_parser_begin_piece(parser, op);
  if (!parse_operand_list(parser, op)) return false;
  if (!parse_successors(parser, op)) return false;
  if (tfrt_parser_accept(parser, '<') && !parse_properties(parser, op)) return false;
  if (!parse_region_list(parser, op)) return false;
  if (tfrt_parser_accept(parser, '{') && !tfrt_parser_attribute_entries(parser)) return false;
  if (op->properties && !merge_properties(parser, op)) return false;
  bool is_language = has_defaults && (op->descriptor->flags & TFRT_KERNEL_LANGUAGE);
  if (is_language && !tfrt_parser_language_defaults(parser, op)) return false;
  return parse_signature(parser, op);
}

// Reports an op that has no custom form here.
static bool fail_custom(tfrt_parser_t* parser, const tfrt_parser_op_t* op) {
  const char* name = op->name->data;
  if (op->descriptor) {
    return tfrt_parser_fail_at(parser, op->place.offset,
                               "op '%s' has no custom form; write \"%s\"(...) : (...) -> ...", name,
                               name);
  }
  // The search compares the name with that of every op.
  const tfrt_kernel_descriptor_t* similar =
      tfrt_diagnostics_keeps_errors(parser->diagnostics)
          ? tfrt_op_index_suggest(&parser->index, tfrt_ir_string_view(op->name))
          : NULL;
  if (similar) {
    return tfrt_parser_fail_at(parser, op->place.offset,
                               "custom op '%s' is unknown; did you mean '%s'?", name,
                               similar->name);
  }
  return tfrt_parser_fail_at(parser, op->place.offset,
                             "custom op '%s' is unknown; an op that is not in the op tables is "
                             "written \"%s\"(...) : (...) -> ...%s",
                             name, name,
                             strchr(name, '.') ? ", and a kernel library that has it is named with "
                                                 "--shared_libs"
                                               : "");
}

// The op of the table's |entry| (NULL: there is none), behind its name.
static bool parse_known(tfrt_parser_t* parser, tfrt_parser_op_t* op, tfrt_op_index_entry_t* entry) {
  op->descriptor = entry ? entry->descriptor : NULL;
  if (!entry || !entry->descriptor->assembly) return fail_custom(parser, op);
  if (entry->descriptor->flags & TFRT_KERNEL_LANGUAGE) return tfrt_parser_syntax(parser, op);
  op->form = tfrt_parser_op_form(parser, entry);
  return op->form && tfrt_parser_assembly(parser, op);
}

// The entry of the op |name| of the dialect that may be left out here, whose full name |op| gets;
// NULL: there is none.
static tfrt_op_index_entry_t* find_in_default_dialect(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                                                      tfrt_string_view_t name) {
  tfrt_string_builder_clear(&parser->text);
  tfrt_string_builder_append_format(&parser->text, "%s.%.*s", parser->default_dialect,
                                    TFRT_STRING_VIEW_ARGUMENTS(name));
  tfrt_op_index_entry_t* entry =
      tfrt_op_index_find_entry(&parser->index, tfrt_string_builder_view(&parser->text));
  if (entry) op->name = tfrt_ir_string_of(parser->context, entry->descriptor->name);
  return op->name ? entry : NULL;
}

static bool parse_custom(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_string_view_t name = parser->token.text;
  tfrt_op_index_entry_t* entry = tfrt_parser_op_entry(parser, name);
  bool is_known = entry && entry->form;
  op->name = is_known ? entry->form->name : tfrt_ir_string_get(parser->context, name);
  tfrt_parser_advance(parser);
  if (!op->name) return false;
  if (is_known) return parse_known(parser, op, entry);
  if (tfrt_ir_string_is(op->name, "func.func") || tfrt_ir_string_is(op->name, "func")) {
    op->name = tfrt_ir_string_of(parser->context, "func.func");
    if (!op->name) return false;
    tfrt_parser_begin_piece(parser, op);
    return tfrt_parser_function(parser, op);
  }
  if (tfrt_ir_string_is(op->name, "async.func") && entry) {
    op->descriptor = entry->descriptor;
    tfrt_parser_begin_piece(parser, op);
    return tfrt_parser_function(parser, op);
  }
  if (tfrt_ir_string_is(op->name, "module") || tfrt_ir_string_is(op->name, "builtin.module")) {
    return tfrt_parser_nested_module(parser, op);
  }
  // Inside of functions their dialect may be left out.
  if (!entry && parser->default_dialect && !memchr(name.data, '.', name.size)) {
    entry = find_in_default_dialect(parser, op, name);
  }
  return parse_known(parser, op, entry);
}

// The op table's default for the attribute |entry|, which the text leaves out; NULL if the default
// doesn't parse as an attribute of its kind.
static const tfrt_ir_attribute_t* parse_default(tfrt_parser_t* parser,
                                                const tfrt_attribute_descriptor_t* entry) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(parser->context);
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of(entry->default_value),
                              allocator);
  tfrt_parser_t inner = {.context = parser->context, .diagnostics = &diagnostics};
  tfrt_lexer_initialize(&inner.lexer, &diagnostics);
  tfrt_string_builder_initialize(&inner.text, allocator);
  // Where the elements of an array are put down.
  tfrt_scratch_initialize(&inner.pointers, sizeof(void*), allocator);
  tfrt_lexer_next(&inner.lexer, &inner.token);
  const tfrt_ir_attribute_t* value = tfrt_parser_literal(&inner, entry->kind);
  tfrt_scratch_deinitialize(&inner.pointers);
  tfrt_string_builder_deinitialize(&inner.text);
  tfrt_diagnostics_deinitialize(&diagnostics);
  return value;
}

// Adds the attributes that the text left out and the op table has a default for.
static bool add_defaults(tfrt_parser_t* parser, const tfrt_parser_op_t* op) {
  uint32_t count = op->descriptor ? op->descriptor->attribute_count : 0;
  size_t given = parser->named.count;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->descriptor->attributes[i];
    bool found = !entry->default_value;
    for (size_t k = op->attribute_mark; !found && k < given; ++k) {
      const tfrt_ir_named_attribute_t* named = tfrt_scratch_at(&parser->named, k);
      found = tfrt_ir_string_is(named->name, entry->name);
    }
    if (found) continue;
    const tfrt_ir_attribute_t* value = parse_default(parser, entry);
    if (!value) {
      return tfrt_parser_fail(parser, "the op table has a bad default for attribute '%s'",
                              entry->name);
    }
    if (!tfrt_parser_add_attribute(parser, entry->name, value)) return false;
  }
  return true;
}

// Builds the op that was parsed, at |location| (NULL: at its place in the text); NULL after a
// report.
static tfrt_ir_operation_t* build(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                                  const tfrt_ir_location_t* location) {
  if (!add_defaults(parser, op)) return NULL;
  bool has_several = parser->named.count > op->attribute_mark + 1;
  if (has_several && !tfrt_parser_check_names(parser, op->attribute_mark, op->place.offset)) {
    return NULL;
  }
  tfrt_ir_operation_parts_t parts = {
      .name = op->name,
      .descriptor = op->descriptor,
      .location = location,
      .file = parser->file,
      .line = op->place.line,
      .column = op->place.column,
      .operands = tfrt_scratch_at(&parser->values, op->value_mark),
      .operand_count = (uint32_t)(parser->values.count - op->value_mark),
      .result_types = op->result_types,
      .result_count = op->result_count,
      .attributes = tfrt_scratch_at(&parser->named, op->attribute_mark),
      .attribute_count = (uint32_t)(parser->named.count - op->attribute_mark),
      .successors = op->successors,
      .successor_count = op->successor_count,
      .region_count = op->region_count,
  };
  tfrt_ir_operation_t* operation = tfrt_ir_operation_create(parser->context, &parts);
  if (!operation) return NULL;
  operation->text_offset = (uint32_t)op->place.offset;
  operation->lacks_chain_results = op->lacks_chain_results;
  operation->properties = op->properties;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    tfrt_ir_region_take_blocks(&operation->regions[i], &op->regions[i]);
  }
  return operation;
}

// True if the text has left out chains among the operands of |operation|.
static bool lacks_operands(const tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    if (tfrt_ir_value_is_missing(operation->operands[i].value)) return true;
  }
  return false;
}

// Lets the names that stand before |op| name the results of |operation|.
static bool define_results(tfrt_parser_t* parser, const tfrt_parser_op_t* op,
                           tfrt_ir_operation_t* operation) {
  size_t mark = op->result_name_mark;
  uint32_t named = 0;
  for (size_t i = mark; i < parser->result_names.count; ++i) {
    named += ((tfrt_parser_result_name_t*)tfrt_scratch_at(&parser->result_names, i))->count;
  }
  if (!named && lacks_operands(operation) && tfrt_parser_result_chains(operation->descriptor)) {
    operation->lacks_chain_results = true;
  }
  // Results may be dropped all together, and so may the chains among them.
  if (named && named != tfrt_ir_operation_written_results(operation)) {
    bool lacked = operation->lacks_chain_results;
    operation->lacks_chain_results = true;
    if (lacked || named != tfrt_ir_operation_written_results(operation)) {
      operation->lacks_chain_results = lacked;
      return tfrt_parser_fail_at(
          parser, op->place.offset, "op '%s' has %u results, but the names stand for %u",
          op->name->data, tfrt_ir_operation_written_results(operation), named);
    }
  }
  bool ok = true;
  uint32_t index = 0;
  for (size_t i = mark; i < parser->result_names.count; ++i) {
    const tfrt_parser_result_name_t* name = tfrt_scratch_at(&parser->result_names, i);
    for (uint32_t k = 0; k < name->count; ++k, ++index) {
      while (tfrt_ir_operation_lacks_result(operation, index)) ++index;
      tfrt_value_reference_t reference = name->reference;
      reference.number = k;
      operation->results[index].name = reference.name;
      ok = tfrt_value_scopes_define(&parser->scopes, &reference, &operation->results[index]) && ok;
    }
  }
  return ok;
}

// The op behind the names of its results.
static bool parse_named(tfrt_parser_t* parser, tfrt_parser_op_t* op, tfrt_ir_block_t* block) {
  bool ok = false;
  op->place = tfrt_parser_place_of(&parser->token);
  op->region = block->region;
  if (parser->token.kind == TFRT_TOKEN_STRING) {
    ok = parse_generic(parser, op);
  } else if (parser->token.kind == TFRT_TOKEN_WORD) {
    ok = parse_custom(parser, op);
  } else {
    return tfrt_parser_fail(parser, "expected an op");
  }
  if (!ok) return false;
  bool has_location = tfrt_parser_at_word(parser, "loc");
  const tfrt_ir_location_t* location = has_location ? tfrt_parser_location(parser) : NULL;
  if (has_location && !location) return false;
  tfrt_ir_operation_t* operation = build(parser, op, location);
  if (!operation) return false;
  tfrt_ir_block_append(block, operation);
  if (!define_results(parser, op, operation)) return false;
  return !op->is_piece || tfrt_parser_end_piece(parser, op, operation);
}

// Field by field: clearing |op| as a whole first takes longer.
static void begin_op(const tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  op->operand_mark = parser->operands.count;
  op->value_mark = parser->values.count;
  op->attribute_mark = parser->named.count;
  op->name = NULL;
  op->descriptor = NULL;
  op->form = NULL;
  op->properties = NULL;
  op->operand_count = 0;
  op->result_count = 0;
  op->region_count = 0;
  op->successor_count = 0;
  op->lacks_chain_results = false;
  op->is_piece = false;
  op->result_types = NULL;
  op->successors = NULL;
  op->regions = NULL;
  op->region = NULL;
}

// The op behind the names of its results, which stand from |mark| on, as one of any form.
static bool parse_any(tfrt_parser_t* parser, size_t mark, tfrt_ir_block_t* block) {
  size_t pointer_mark = parser->pointers.count;
  size_t dim_mark = parser->dims.count;
  size_t literal_mark = parser->literals.count;
  tfrt_parser_op_t op;
  begin_op(parser, &op);
  op.result_name_mark = mark;
  bool ok = parse_named(parser, &op, block);
  parser->pointers.count = pointer_mark;
  parser->dims.count = dim_mark;
  parser->literals.count = literal_mark;
  parser->operands.count = op.operand_mark;
  parser->values.count = op.value_mark;
  parser->named.count = op.attribute_mark;
  return ok;
}

// Poisons the values behind the names from |mark| up to |end| on |result_names|.
static void poison_results(tfrt_parser_t* parser, size_t mark, size_t end) {
  for (size_t i = mark; i < end; ++i) {
    const tfrt_parser_result_name_t* name = tfrt_scratch_at(&parser->result_names, i);
    if (name->reference.name) tfrt_value_scopes_poison(&parser->scopes, &name->reference);
  }
}

bool tfrt_parser_operation(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  size_t mark = parser->result_names.count;
  if (!tfrt_parser_enter(parser)) return false;
  bool ok = parse_result_names(parser);
  // Ops inside of this one put the count back to this.
  size_t names_end = parser->result_names.count;
  if (ok) ok = parse_any(parser, mark, block);
  if (!ok) poison_results(parser, mark, names_end);
  tfrt_parser_leave(parser);
  parser->result_names.count = mark;
  return ok;
}

// True if the token at hand looks like the beginning of an op, or of an alias: at the beginning
// of a line, a result, a quoted name, a word with a dialect ...
static bool may_begin_op(const tfrt_parser_t* parser) {
  const tfrt_token_t* token = &parser->token;
  if (!tfrt_parser_begins_line(parser)) return false;
  if (token->kind == TFRT_TOKEN_PERCENT || token->kind == TFRT_TOKEN_STRING ||
      token->kind == TFRT_TOKEN_CARET || token->kind == TFRT_TOKEN_HASH ||
      token->kind == TFRT_TOKEN_BANG) {
    return true;
  }
  if (token->kind != TFRT_TOKEN_WORD) return false;
  return memchr(token->text.data, '.', token->text.size) != NULL ||
         tfrt_string_view_equal(token->text, tfrt_string_view_of("module"));
}

void tfrt_parser_recover(tfrt_parser_t* parser, int64_t brace_depth) {
  // A text with an error is parsed again as a whole.
  if (parser->pieces) parser->lexer.position = parser->lexer.text.size;
  for (;;) {
    int kind = parser->token.kind;
    if (kind == TFRT_TOKEN_END || parser->brace_depth < brace_depth) return;
    bool here = parser->brace_depth == brace_depth;
    if (here && (kind == '}' || may_begin_op(parser))) return;
    tfrt_parser_advance(parser);
  }
}
