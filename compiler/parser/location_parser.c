// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

static tfrt_ir_location_t* parse_inner(tfrt_parser_t* parser);

const tfrt_ir_location_t* tfrt_parser_location_here(tfrt_parser_t* parser,
                                                    const tfrt_parser_place_t* place) {
  return tfrt_ir_location_file(parser->context, parser->file, place->line, place->column);
}

tfrt_parser_alias_t* tfrt_parser_find_alias(tfrt_hash_table_t* table,
                                            const tfrt_ir_string_t* name) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(table, name);
  return node ? TFRT_CONTAINER_OF(node, tfrt_parser_alias_t, node) : NULL;
}

tfrt_parser_alias_t* tfrt_parser_alias(tfrt_parser_t* parser, tfrt_hash_table_t* table,
                                       const tfrt_ir_string_t* name) {
  tfrt_parser_alias_t* alias = tfrt_parser_find_alias(table, name);
  if (alias) return alias;
  alias = tfrt_ir_context_allocate_kept(parser->context, sizeof(*alias));
  if (!alias) return NULL;
  *alias = (tfrt_parser_alias_t){.name = name, .offset = parser->token.offset};
  tfrt_hash_table_insert(table, name, &alias->node);
  return alias;
}

tfrt_ir_location_t* tfrt_parser_location_alias(tfrt_parser_t* parser) {
  const tfrt_ir_string_t* name = tfrt_ir_string_get(parser->context, parser->token.text);
  tfrt_parser_alias_t* alias =
      name ? tfrt_parser_alias(parser, &parser->attribute_aliases, name) : NULL;
  if (!alias) return NULL;
  if (alias->attribute) {
    tfrt_parser_fail(parser, "'#%s' is an attribute and no location", name->data);
    return NULL;
  }
  if (!alias->is_defined && tfrt_parser_reads_bodies(parser)) {
    tfrt_parser_fail(parser, "undefined location alias '#%s'", name->data);
    return NULL;
  }
  tfrt_parser_advance(parser);
  if (!alias->location) {
    alias->location = tfrt_ir_context_allocate_kept(parser->context, sizeof(*alias->location));
    if (!alias->location) return NULL;
    *alias->location = (tfrt_ir_location_t){.kind = TFRT_IR_LOCATION_UNKNOWN};
  }
  return alias->location;
}

// `"file":1:2`, `"file":1:2 to 3:4`, `"name"`, `"name"(child)`.
static const tfrt_ir_location_t* parse_named(tfrt_parser_t* parser) {
  const tfrt_ir_string_t* name = tfrt_parser_string(parser);
  if (!name) return NULL;
  if (tfrt_parser_accept(parser, '(')) {
    const tfrt_ir_location_t* child = parse_inner(parser);
    if (!child || !tfrt_parser_expect(parser, ')', "behind a location's child")) return NULL;
    return tfrt_ir_location_name(parser->context, name, child);
  }
  if (!tfrt_parser_accept(parser, ':')) {
    return tfrt_ir_location_name(parser->context, name, NULL);
  }
  uint32_t numbers[4] = {0};
  bool ok = tfrt_parser_small_number(parser, &numbers[0]) &&
            tfrt_parser_expect(parser, ':', "and a column in a location") &&
            tfrt_parser_small_number(parser, &numbers[1]);
  if (ok && tfrt_parser_accept_word(parser, "to")) {
    numbers[2] = numbers[0];
    if (parser->token.kind == TFRT_TOKEN_INTEGER) {
      ok = tfrt_parser_small_number(parser, &numbers[2]);
    }
    ok = ok && tfrt_parser_expect(parser, ':', "and a column at the end of a range") &&
         tfrt_parser_small_number(parser, &numbers[3]);
  }
  if (!ok) return NULL;
  return tfrt_ir_location_file_range(parser->context, name, numbers[0], numbers[1], numbers[2],
                                     numbers[3]);
}

// `callsite(callee at caller)`
static const tfrt_ir_location_t* parse_call_site(tfrt_parser_t* parser) {
  if (!tfrt_parser_expect(parser, '(', "behind 'callsite'")) return NULL;
  const tfrt_ir_location_t* callee = parse_inner(parser);
  if (!callee) return NULL;
  if (!tfrt_parser_accept_word(parser, "at")) {
    tfrt_parser_miss(parser, "expected 'at' in a call site");
    return NULL;
  }
  const tfrt_ir_location_t* caller = parse_inner(parser);
  if (!caller || !tfrt_parser_expect(parser, ')', "at the end of a call site")) return NULL;
  return tfrt_ir_location_call_site(parser->context, callee, caller);
}

// `fused[a, b]`, `fused<metadata>[a, b]`
static const tfrt_ir_location_t* parse_fused(tfrt_parser_t* parser) {
  const tfrt_ir_attribute_t* metadata = NULL;
  if (tfrt_parser_accept(parser, '<')) {
    metadata = tfrt_parser_attribute(parser);
    if (!metadata || !tfrt_parser_expect(parser, '>', "behind a location's metadata")) return NULL;
  }
  if (!tfrt_parser_expect(parser, '[', "behind 'fused'")) return NULL;
  size_t mark = parser->pointers.count;
  if (parser->token.kind != ']') {
    do {
      if (!tfrt_parser_push_pointer(parser, parse_inner(parser))) return NULL;
    } while (tfrt_parser_accept(parser, ','));
  }
  if (!tfrt_parser_expect(parser, ']', "at the end of a fused location")) return NULL;
  const tfrt_ir_location_t* location =
      tfrt_ir_location_fused(parser->context, tfrt_scratch_at(&parser->pointers, mark),
                             (uint32_t)(parser->pointers.count - mark), metadata);
  parser->pointers.count = mark;
  return location;
}

static const tfrt_ir_location_t* parse_kind(tfrt_parser_t* parser) {
  if (parser->token.kind == TFRT_TOKEN_STRING) return parse_named(parser);
  if (parser->token.kind == TFRT_TOKEN_HASH) return tfrt_parser_location_alias(parser);
  if (tfrt_parser_accept_word(parser, "unknown")) {
    return tfrt_ir_location_unknown(parser->context);
  }
  if (tfrt_parser_accept_word(parser, "callsite")) return parse_call_site(parser);
  if (tfrt_parser_accept_word(parser, "fused")) return parse_fused(parser);
  tfrt_parser_miss(parser,
                   "expected a location: \"file\":line:column, \"name\", callsite, fused, "
                   "unknown or an alias");
  return NULL;
}

static bool check_size(tfrt_parser_t* parser, size_t offset, const tfrt_ir_location_t* location) {
  if (location->depth <= TFRT_PARSER_MAX_NESTING &&
      location->weight <= TFRT_PARSER_MAX_LOCATION_WEIGHT) {
    return true;
  }
  return tfrt_parser_fail_at(parser, offset, "this location is too big or nested too deeply");
}

static tfrt_ir_location_t* parse_inner(tfrt_parser_t* parser) {
  if (!tfrt_parser_enter(parser)) return NULL;
  size_t offset = parser->token.offset;
  bool is_alias = parser->token.kind == TFRT_TOKEN_HASH;
  // Just made, or an alias's placeholder: either way ours to change.
  tfrt_ir_location_t* location = (tfrt_ir_location_t*)parse_kind(parser);
  tfrt_parser_leave(parser);
  if (!location || !check_size(parser, offset, location)) return NULL;
  if (location->weight == 0 && !is_alias && !tfrt_scratch_push(&parser->unmeasured, &location))
    return NULL;
  return location;
}

const tfrt_ir_location_t* tfrt_parser_location(tfrt_parser_t* parser) {
  tfrt_parser_advance(parser);
  if (!tfrt_parser_expect(parser, '(', "behind 'loc'")) return NULL;
  const tfrt_ir_location_t* location = parse_inner(parser);
  if (!location || !tfrt_parser_expect(parser, ')', "at the end of a location")) return NULL;
  return location;
}

const tfrt_ir_attribute_t* tfrt_parser_location_attribute(tfrt_parser_t* parser) {
  // The attribute lives as long as the context, and so must what it points to.
  bool is_in_piece = tfrt_ir_context_is_in_piece(parser->context);
  tfrt_ir_context_leave_piece(parser->context);
  const tfrt_ir_location_t* location = parser->token.kind == TFRT_TOKEN_HASH
                                           ? tfrt_parser_location_alias(parser)
                                           : tfrt_parser_location(parser);
  if (is_in_piece) tfrt_ir_context_open_piece(parser->context);
  return location ? tfrt_ir_attribute_location(parser->context, location) : NULL;
}

// Marks a location whose parts are being measured.
#define IN_PROGRESS UINT32_MAX

// Measures |location| and what is in it; false if it contains itself or goes too deep.
static bool measure(tfrt_ir_location_t* location, uint32_t level) {
  if (location->weight == IN_PROGRESS || level > 2 * TFRT_PARSER_MAX_NESTING) return false;
  if (location->weight) return true;
  location->weight = IN_PROGRESS;
  bool ok = true;
  for (uint32_t i = 0; ok && i < tfrt_ir_location_part_count(location); ++i) {
    ok = measure((tfrt_ir_location_t*)tfrt_ir_location_part(location, i), level + 1);
  }
  if (ok) tfrt_ir_location_measure(location);
  return ok && location->depth <= TFRT_PARSER_MAX_NESTING &&
         location->weight <= TFRT_PARSER_MAX_LOCATION_WEIGHT;
}

// Measures |location|; a report if that fails.
static bool check_measure(tfrt_parser_t* parser, tfrt_ir_location_t* location) {
  return measure(location, 0) ||
         tfrt_parser_fail_at(parser, parser->lexer.text.size,
                             "a location alias contains itself, is too big or nested too deeply");
}

bool tfrt_parser_check_locations(tfrt_parser_t* parser) {
  bool ok = true;
  tfrt_hash_table_t* table = &parser->attribute_aliases;
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(table); node;
       node = tfrt_hash_table_next(table, node)) {
    const tfrt_parser_alias_t* alias = TFRT_CONTAINER_OF(node, tfrt_parser_alias_t, node);
    if (alias->is_defined) continue;
    ok = tfrt_parser_fail_at(parser, alias->offset, "undefined location alias '#%s'",
                             alias->name->data);
  }
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(table); ok && node;
       node = tfrt_hash_table_next(table, node)) {
    tfrt_parser_alias_t* alias = TFRT_CONTAINER_OF(node, tfrt_parser_alias_t, node);
    ok = !alias->location || check_measure(parser, alias->location);
  }
  for (size_t i = 0; ok && i < parser->unmeasured.count; ++i) {
    ok = check_measure(parser, *(tfrt_ir_location_t**)tfrt_scratch_at(&parser->unmeasured, i));
  }
  return ok;
}
