// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser.h"

#include "compiler/parser/parser_impl.h"

// --- Aliases, by the pointer of their name ---------------------------------------

static uint64_t alias_hash(const void* key) { return tfrt_hash_u64((uint64_t)(uintptr_t)key); }

static bool alias_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_parser_alias_t, node)->name == key;
}

static const tfrt_hash_table_vtable_t alias_vtable = {alias_hash, alias_equal};

// --- Life --------------------------------------------------------------------------

tfrt_status_t tfrt_parser_initialize(tfrt_parser_t* parser, tfrt_ir_context_t* context,
                                     const tfrt_op_tables_t* tables,
                                     tfrt_diagnostics_t* diagnostics) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  *parser = (tfrt_parser_t){.context = context, .diagnostics = diagnostics};
  tfrt_lexer_initialize(&parser->lexer, diagnostics);
  tfrt_value_scopes_initialize(&parser->scopes, context, diagnostics);
  tfrt_hash_table_initialize(&parser->attribute_aliases, &alias_vtable, allocator);
  tfrt_hash_table_initialize(&parser->type_aliases, &alias_vtable, allocator);
  tfrt_string_builder_initialize(&parser->text, allocator);
  tfrt_scratch_initialize(&parser->pointers, sizeof(void*), allocator);
  tfrt_scratch_initialize(&parser->named, sizeof(tfrt_ir_named_attribute_t), allocator);
  tfrt_scratch_initialize(&parser->result_names, sizeof(tfrt_parser_result_name_t), allocator);
  tfrt_scratch_initialize(&parser->operands, sizeof(tfrt_value_reference_t), allocator);
  tfrt_scratch_initialize(&parser->values, sizeof(tfrt_ir_value_t*), allocator);
  tfrt_scratch_initialize(&parser->dims, sizeof(int64_t), allocator);
  tfrt_scratch_initialize(&parser->literals, tfrt_parser_literal_size, allocator);
  tfrt_scratch_initialize(&parser->unmeasured, sizeof(tfrt_ir_location_t*), allocator);
  tfrt_hash_table_initialize(&parser->blocks, &tfrt_parser_block_vtable, allocator);
  tfrt_scratch_initialize(&parser->early_blocks, sizeof(tfrt_parser_early_block_t), allocator);
  parser->file = tfrt_ir_string_of(context, diagnostics->file ? diagnostics->file : "-");
  static const tfrt_op_tables_t no_tables = {.tables = NULL};
  return tfrt_op_index_initialize(&parser->index, tables ? tables : &no_tables, allocator);
}

void tfrt_parser_deinitialize(tfrt_parser_t* parser) {
  tfrt_op_index_deinitialize(&parser->index);
  tfrt_value_scopes_deinitialize(&parser->scopes);
  tfrt_hash_table_deinitialize(&parser->attribute_aliases);
  tfrt_hash_table_deinitialize(&parser->type_aliases);
  tfrt_string_builder_deinitialize(&parser->text);
  tfrt_scratch_deinitialize(&parser->pointers);
  tfrt_scratch_deinitialize(&parser->named);
  tfrt_scratch_deinitialize(&parser->result_names);
  tfrt_scratch_deinitialize(&parser->operands);
  tfrt_scratch_deinitialize(&parser->values);
  tfrt_scratch_deinitialize(&parser->dims);
  tfrt_scratch_deinitialize(&parser->literals);
  tfrt_scratch_deinitialize(&parser->unmeasured);
  tfrt_hash_table_deinitialize(&parser->blocks);
  tfrt_scratch_deinitialize(&parser->early_blocks);
}

// --- The whole text ------------------------------------------------------------------

// Reports a text that is none, or is too big. Its offsets are 32-bit numbers.
static bool check_text(const tfrt_parser_t* parser) {
  tfrt_string_view_t text = parser->diagnostics->text;
  const char* problem = NULL;
  if (text.size >= 4 && memcmp(text.data, "ML\xEFR", 4) == 0) {
    problem = "this is MLIR bytecode; expected text";
  } else if (text.size >= 2 && memcmp(text.data, "\x0B\xEF", 2) == 0) {
    problem = "this is a BEF file; expected text (bef_to_mlir makes text of it)";
  } else if (text.size > INT32_MAX) {
    problem = "this text is too big: more than 2 GiB";
  }
  if (!problem) return true;
  tfrt_diagnostics_report(parser->diagnostics, TFRT_SEVERITY_ERROR, 0, "%s", problem);
  return false;
}

static bool define_type(tfrt_parser_t* parser, tfrt_parser_alias_t* alias, size_t offset) {
  alias->type = tfrt_parser_type(parser);
  if (!alias->type || alias->type->text->size <= TFRT_PARSER_MAX_ALIAS_TYPE_TEXT) {
    return alias->type != NULL;
  }
  alias->type = NULL;
  return tfrt_parser_fail_at(parser, offset, "the type of an alias may have %d characters at most",
                             TFRT_PARSER_MAX_ALIAS_TYPE_TEXT);
}

// A location stands for itself where the alias is an attribute, too.
static bool define_attribute(tfrt_parser_t* parser, tfrt_parser_alias_t* alias) {
  if (!tfrt_parser_at_word(parser, "loc")) {
    alias->attribute = tfrt_parser_attribute(parser);
    return alias->attribute != NULL;
  }
  tfrt_ir_location_t* location = (tfrt_ir_location_t*)tfrt_parser_location(parser);
  if (!location) return false;
  if (!alias->location) {
    alias->location = location;
  } else if (location == alias->location) {
    return tfrt_parser_fail(parser, "this location alias stands for itself");
  } else {
    *alias->location = *location;
  }
  return true;
}

// `#name = attribute`, `#name = loc(...)` or `!name = type`.
static bool parse_alias(tfrt_parser_t* parser) {
  tfrt_token_t token = parser->token;
  bool is_type = token.kind == TFRT_TOKEN_BANG;
  const tfrt_ir_string_t* name = tfrt_ir_string_get(parser->context, token.text);
  tfrt_hash_table_t* table = is_type ? &parser->type_aliases : &parser->attribute_aliases;
  tfrt_parser_alias_t* alias = name ? tfrt_parser_alias(parser, table, name) : NULL;
  if (!alias) return false;
  if (alias->is_defined) {
    return tfrt_parser_fail(parser, "redefinition of alias '%c%s'", is_type ? '!' : '#',
                            name->data);
  }
  if (memchr(name->data, '.', name->size)) {
    return tfrt_parser_fail(parser, "an alias's name can't have a '.'");
  }
  tfrt_parser_advance(parser);
  if (!tfrt_parser_expect(parser, '=', "behind the name of an alias")) return false;
  bool was_used = alias->location != NULL;
  bool ok = is_type ? define_type(parser, alias, token.offset) : define_attribute(parser, alias);
  if (ok && was_used && alias->attribute) {
    return tfrt_parser_fail_at(parser, token.offset, "'#%s' is used as a location before",
                               name->data);
  }
  alias->is_defined = true;
  if (ok && !tfrt_parser_alias_is_for_all(parser, name, alias->location != NULL)) {
    return tfrt_parser_fail_at(parser, token.offset, "this alias stands behind a function");
  }
  return ok;
}

// One thing at the top: an alias, or an op for |block|.
static bool parse_top(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  switch (parser->token.kind) {
    case TFRT_TOKEN_HASH:
    case TFRT_TOKEN_BANG:
      return parse_alias(parser);
    case TFRT_TOKEN_RESOURCES:
      return tfrt_parser_resources(parser);
    case '}':
      return tfrt_parser_fail(parser, "unexpected '}': no region is open here");
    default:
      return tfrt_parser_operation(parser, block);
  }
}

static void parse_all(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  tfrt_lexer_next(&parser->lexer, &parser->token);
  while (parser->token.kind != TFRT_TOKEN_END) {
    size_t offset = parser->token.offset;
    bool is_resources = parser->token.kind == TFRT_TOKEN_RESOURCES;
    if (parse_top(parser, block)) continue;
    if (is_resources) return;
    if (parser->token.offset == offset) tfrt_parser_advance(parser);
    if (parser->brace_depth < 0) parser->brace_depth = 0;
    tfrt_parser_recover(parser, 0);
  }
}

// The module of |wrapper|: what the text has as its only op, or |wrapper| itself.
static tfrt_ir_operation_t* unwrap(tfrt_ir_operation_t* wrapper) {
  tfrt_ir_operation_t* first = tfrt_ir_module_block(wrapper)->first;
  if (!first || first->next || !tfrt_ir_is_module(first)) return wrapper;
  tfrt_ir_block_remove(first);
  return first;
}

// A module in generic form may come without a block.
static bool complete_module(tfrt_parser_t* parser, tfrt_ir_operation_t* module) {
  if (module->region_count != 1) {
    return tfrt_parser_fail_at(parser, module->text_offset, "a module has one region");
  }
  return module->regions[0].first_block != NULL ||
         tfrt_ir_block_create(parser->context, &module->regions[0]) != NULL;
}

// Reports that memory is out, if nothing else was said.
static void report_memory(const tfrt_parser_t* parser, size_t errors_before) {
  if (parser->diagnostics->error_count > errors_before) return;
  tfrt_diagnostics_report(parser->diagnostics, TFRT_SEVERITY_ERROR, 0,
                          "out of memory for this program");
}

tfrt_ir_operation_t* tfrt_parser_text(tfrt_parser_t* parser) {
  if (!parser->file || !check_text(parser)) return NULL;
  if (!parser->pieces) tfrt_ir_context_reserve(parser->context, parser->diagnostics->text.size);
  tfrt_parser_place_t start = {.line = parser->diagnostics->first_line, .column = 1};
  const tfrt_ir_location_t* location = tfrt_parser_location_here(parser, &start);
  tfrt_ir_operation_t* wrapper = location ? tfrt_ir_module_create(parser->context, location) : NULL;
  if (!wrapper || !tfrt_value_scopes_push(&parser->scopes, true)) return NULL;
  parser->module_scope = parser->scopes.top;
  size_t errors_before = parser->diagnostics->error_count;
  parse_all(parser, tfrt_ir_module_block(wrapper));
  parser->module_scope = NULL;
  tfrt_value_scopes_pop(&parser->scopes);
  if (parser->diagnostics->error_count > errors_before) return NULL;
  if (!tfrt_parser_check_locations(parser)) return NULL;
  tfrt_ir_operation_t* module = unwrap(wrapper);
  return complete_module(parser, module) ? module : NULL;
}

tfrt_ir_operation_t* tfrt_parse_module(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                       tfrt_diagnostics_t* diagnostics) {
  tfrt_parser_t parser;
  size_t errors_before = diagnostics->error_count;
  tfrt_status_t status = tfrt_parser_initialize(&parser, context, tables, diagnostics);
  tfrt_ir_operation_t* module = status ? NULL : tfrt_parser_text(&parser);
  if (!status) status = tfrt_ir_context_status(context);
  if (status || !module) report_memory(&parser, errors_before);
  tfrt_parser_deinitialize(&parser);
  bool ok = !status;
  tfrt_status_release(status);
  return ok ? module : NULL;
}

// Parses all of the text by |parse|; |*in_out_result| is set to its result or NULL.
static const void* parse_one(tfrt_ir_context_t* context, tfrt_diagnostics_t* diagnostics,
                             bool is_type) {
  tfrt_parser_t parser;
  size_t errors_before = diagnostics->error_count;
  tfrt_status_t status = tfrt_parser_initialize(&parser, context, NULL, diagnostics);
  const void* result = NULL;
  if (!status && check_text(&parser)) {
    tfrt_lexer_next(&parser.lexer, &parser.token);
    result = is_type ? (const void*)tfrt_parser_type(&parser) : tfrt_parser_attribute(&parser);
    if (result && parser.token.kind != TFRT_TOKEN_END) {
      tfrt_parser_fail(&parser, "expected nothing more behind this %s",
                       is_type ? "type" : "attribute");
      result = NULL;
    }
    if (result && !tfrt_parser_check_locations(&parser)) result = NULL;
  }
  if (!result || diagnostics->error_count > errors_before) {
    report_memory(&parser, errors_before);
    result = NULL;
  }
  tfrt_status_release(status);
  tfrt_parser_deinitialize(&parser);
  return result;
}

const tfrt_ir_type_t* tfrt_parse_type(tfrt_ir_context_t* context, tfrt_diagnostics_t* diagnostics) {
  return parse_one(context, diagnostics, true);
}

const tfrt_ir_attribute_t* tfrt_parse_attribute(tfrt_ir_context_t* context,
                                                tfrt_diagnostics_t* diagnostics) {
  return parse_one(context, diagnostics, false);
}
