// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

// --- Blocks by their label ------------------------------------------------------------------

typedef struct block_key_s {
  const tfrt_ir_region_t* region;
  const tfrt_ir_string_t* label;
} block_key_t;

typedef struct block_entry_s {
  tfrt_hash_node_t node;
  block_key_t key;
  tfrt_ir_block_t* block;
} block_entry_t;

static uint64_t block_hash(const void* key) {
  const block_key_t* wanted = key;
  return tfrt_hash_combine((uint64_t)(uintptr_t)wanted->region, (uint64_t)(uintptr_t)wanted->label);
}

static bool block_equal(const tfrt_hash_node_t* node, const void* key) {
  const block_entry_t* entry = TFRT_CONTAINER_OF(node, block_entry_t, node);
  const block_key_t* wanted = key;
  return entry->key.region == wanted->region && entry->key.label == wanted->label;
}

const tfrt_hash_table_vtable_t tfrt_parser_block_vtable = {block_hash, block_equal};

// The block of |region| whose label is at hand, made if need be; NULL when memory is out. One
// that is made is in no region yet: its label puts it behind the blocks before it.
static tfrt_ir_block_t* find_block(tfrt_parser_t* parser, tfrt_ir_region_t* region) {
  block_key_t key = {region, tfrt_ir_string_get(parser->context, parser->token.text)};
  if (!key.label) return NULL;
  tfrt_hash_node_t* node = tfrt_hash_table_find(&parser->blocks, &key);
  if (node) return TFRT_CONTAINER_OF(node, block_entry_t, node)->block;
  block_entry_t* entry = tfrt_ir_context_allocate_array(parser->context, 1, sizeof(*entry));
  tfrt_ir_block_t* block = entry ? tfrt_ir_block_make(parser->context) : NULL;
  if (!block) return NULL;
  block->label = key.label;
  *entry = (block_entry_t){.key = key, .block = block};
  tfrt_hash_table_insert(&parser->blocks, &entry->key, &entry->node);
  return block;
}

tfrt_ir_block_t* tfrt_parser_successor(tfrt_parser_t* parser, tfrt_ir_region_t* region) {
  if (parser->token.kind != TFRT_TOKEN_CARET) {
    tfrt_parser_miss(parser, "expected a block such as ^bb1");
    return NULL;
  }
  tfrt_ir_block_t* block = find_block(parser, region);
  tfrt_parser_early_block_t early = {block, parser->token.offset};
  if (!block || (!block->region && !tfrt_scratch_push(&parser->early_blocks, &early))) return NULL;
  tfrt_parser_advance(parser);
  return block;
}

// Reports the blocks that were referred to from |mark| on and never came.
static bool check_early_blocks(tfrt_parser_t* parser, size_t mark) {
  bool ok = true;
  for (size_t i = mark; i < parser->early_blocks.count; ++i) {
    const tfrt_parser_early_block_t* early = tfrt_scratch_at(&parser->early_blocks, i);
    if (early->block->region) continue;
    ok = tfrt_parser_fail_at(parser, early->offset, "reference to an undefined block '^%s'",
                             early->block->label->data);
  }
  parser->early_blocks.count = mark;
  return ok;
}

// --- Labels -----------------------------------------------------------------------------------

// One `%name: type loc(...)` of a label, added to |block|.
static bool parse_argument(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  tfrt_value_reference_t reference;
  if (!tfrt_parser_value_reference(parser, &reference)) return false;
  if (!tfrt_parser_expect(parser, ':', "behind a block's argument")) return false;
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  const tfrt_ir_location_t* location = NULL;
  if (!type) return false;
  if (tfrt_parser_at_word(parser, "loc")) {
    location = tfrt_parser_location(parser);
    if (!location) return false;
  }
  tfrt_ir_value_t* argument =
      tfrt_ir_block_add_argument(parser->context, block, type, reference.name, location);
  return argument && tfrt_value_scopes_define(&parser->scopes, &reference, argument);
}

// `^label(%a: T, ...):` of the block that begins. After a report |*out_block| is NULL if the text
// can't be gone on with.
static bool parse_label(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                        tfrt_ir_block_t** out_block) {
  *out_block = NULL;
  tfrt_ir_block_t* block = find_block(parser, region);
  if (!block) return false;
  bool is_new = !block->region;
  if (is_new) {
    tfrt_ir_region_append_block(region, block);
  } else {
    tfrt_parser_fail(parser, "redefinition of block '^%s'", block->label->data);
    // Its ops are looked at, too.
    block = tfrt_ir_block_create(parser->context, region);
    if (!block) return false;
  }
  tfrt_parser_advance(parser);
  if (tfrt_parser_accept(parser, '(') && !tfrt_parser_accept(parser, ')')) {
    do {
      if (!parse_argument(parser, block)) return false;
    } while (tfrt_parser_accept(parser, ','));
    if (!tfrt_parser_expect(parser, ')', "behind a block's arguments")) return false;
  }
  if (!tfrt_parser_expect(parser, ':', "behind a block's label")) return false;
  *out_block = block;
  return is_new;
}

bool tfrt_parser_block_body(tfrt_parser_t* parser, tfrt_ir_block_t* block) {
  int64_t brace_depth = parser->brace_depth;
  bool ok = true;
  for (;;) {
    if (!tfrt_parser_plain_operations(parser, block)) ok = false;
    int kind = parser->token.kind;
    if (kind == '}' || kind == TFRT_TOKEN_CARET || kind == TFRT_TOKEN_END) return ok;
    size_t offset = parser->token.offset;
    if (tfrt_parser_operation(parser, block)) continue;
    ok = false;
    // Go on behind what was wrong, always by at least a token.
    if (parser->token.offset == offset) tfrt_parser_advance(parser);
    tfrt_parser_recover(parser, brace_depth);
    if (parser->brace_depth < brace_depth) return false;
  }
}

// The arguments that the op, and not the text of the region, gives.
static bool add_given_arguments(tfrt_parser_t* parser, tfrt_ir_block_t* block,
                                const tfrt_parser_region_style_t* style) {
  bool ok = true;
  for (uint32_t i = 0; i < style->argument_count; ++i) {
    const tfrt_value_reference_t* reference = &style->argument_names[i];
    const tfrt_ir_location_t* location =
        style->argument_locations ? style->argument_locations[i] : NULL;
    tfrt_ir_value_t* argument = tfrt_ir_block_add_argument(
        parser->context, block, style->argument_types[i], reference->name, location);
    ok = argument && tfrt_value_scopes_define(&parser->scopes, reference, argument) && ok;
  }
  return ok;
}

// The blocks of |region|, behind its brace.
static bool parse_blocks(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                         const tfrt_parser_region_style_t* style) {
  bool ok = true;
  size_t early_mark = parser->early_blocks.count;
  if (style->argument_count || parser->token.kind != TFRT_TOKEN_CARET) {
    if (parser->token.kind == '}' && !style->argument_names) return true;
    tfrt_ir_block_t* block = tfrt_ir_block_create(parser->context, region);
    if (!block) return false;
    ok = add_given_arguments(parser, block, style);
    ok = tfrt_parser_block_body(parser, block) && ok;
  }
  while (parser->token.kind == TFRT_TOKEN_CARET) {
    tfrt_ir_block_t* block = NULL;
    ok = parse_label(parser, region, &block) && ok;
    if (!block) break;
    ok = tfrt_parser_block_body(parser, block) && ok;
  }
  if (ok) return check_early_blocks(parser, early_mark);
  parser->early_blocks.count = early_mark;
  return false;
}

bool tfrt_parser_region(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                        const tfrt_parser_region_style_t* style) {
  size_t offset = parser->token.offset;
  if (parser->pieces && tfrt_parser_skip_body(parser)) return true;
  if (!tfrt_parser_expect(parser, '{', "at the beginning of a region")) return false;
  if (!tfrt_parser_enter(parser)) return false;
  const struct tfrt_value_scope_s* module_scope = parser->module_scope;
  bool is_module = style->is_module && parser->scopes.top == module_scope;
  bool ok = tfrt_value_scopes_push(&parser->scopes, style->isolated);
  if (ok) {
    if (is_module) parser->module_scope = parser->scopes.top;
    ok = parse_blocks(parser, region, style);
    parser->module_scope = module_scope;
    tfrt_value_scopes_pop(&parser->scopes);
  }
  tfrt_parser_leave(parser);
  if (parser->token.kind == TFRT_TOKEN_END) {
    tfrt_parser_fail_at(parser, offset, "this region is never closed: a '}' is missing");
    return false;
  }
  return tfrt_parser_expect(parser, '}', "at the end of a region") && ok;
}

bool tfrt_parser_make_regions(tfrt_parser_t* parser, tfrt_parser_op_t* op, uint32_t count) {
  op->regions = tfrt_ir_context_allocate_array(parser->context, count, sizeof(*op->regions));
  if (!op->regions) return false;
  for (uint32_t i = 0; i < count; ++i) op->regions[i].index = i;
  op->region_count = count;
  return true;
}
