// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

// The block of |region| with label |label|, made if need be. Linear in the blocks,
// which are few: what goes to BEF has one.
static tfrt_ir_block_t* find_block(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                                   const tfrt_ir_string_t* label) {
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    if (block->label == label) return block;
  }
  tfrt_ir_block_t* block = tfrt_ir_block_create(parser->context, region);
  if (block) block->label = label;
  return block;
}

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

// `^label(%a: T, ...):` of the block that begins.
static bool parse_label(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                        tfrt_ir_block_t** out_block) {
  *out_block = NULL;
  const tfrt_ir_string_t* label = tfrt_ir_string_get(parser->context, parser->token.text);
  tfrt_ir_block_t* block = label ? find_block(parser, region, label) : NULL;
  if (!block) return false;
  // |scratch| tells a block that is there from one that is only referred to.
  if (block->scratch) {
    return tfrt_parser_fail(parser, "redefinition of block '^%s'", label->data);
  }
  block->scratch = 1;
  tfrt_parser_advance(parser);
  if (tfrt_parser_accept(parser, '(') && !tfrt_parser_accept(parser, ')')) {
    do {
      if (!parse_argument(parser, block)) return false;
    } while (tfrt_parser_accept(parser, ','));
    if (!tfrt_parser_expect(parser, ')', "behind a block's arguments")) return false;
  }
  *out_block = block;
  return tfrt_parser_expect(parser, ':', "behind a block's label");
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
  if (style->argument_count || parser->token.kind != TFRT_TOKEN_CARET) {
    if (parser->token.kind == '}' && !style->argument_names) return true;
    tfrt_ir_block_t* block = tfrt_ir_block_create(parser->context, region);
    if (!block) return false;
    block->scratch = 1;
    ok = add_given_arguments(parser, block, style);
    ok = tfrt_parser_block_body(parser, block) && ok;
  }
  while (parser->token.kind == TFRT_TOKEN_CARET) {
    tfrt_ir_block_t* block = NULL;
    if (!parse_label(parser, region, &block)) return false;
    ok = tfrt_parser_block_body(parser, block) && ok;
  }
  for (tfrt_ir_block_t* block = region->first_block; ok && block; block = block->next) {
    if (block->scratch) continue;
    ok = tfrt_parser_fail(parser, "undefined block '^%s'", block->label->data);
  }
  return ok;
}

bool tfrt_parser_region(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                        const tfrt_parser_region_style_t* style) {
  size_t offset = parser->token.offset;
  if (!tfrt_parser_expect(parser, '{', "at the beginning of a region")) return false;
  if (!tfrt_parser_enter(parser)) return false;
  bool ok = tfrt_value_scopes_push(&parser->scopes, style->isolated);
  if (ok) {
    ok = parse_blocks(parser, region, style);
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
