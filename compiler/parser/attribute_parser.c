// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>

#include "compiler/parser/parser_impl.h"

static const tfrt_ir_attribute_t* parse_inner(tfrt_parser_t* parser);

const tfrt_ir_attribute_t* tfrt_parser_attribute(tfrt_parser_t* parser) {
  if (!tfrt_parser_enter(parser)) return NULL;
  size_t offset = parser->token.offset;
  const tfrt_ir_attribute_t* attribute = parse_inner(parser);
  tfrt_parser_leave(parser);
  if (!attribute || (attribute->weight <= TFRT_PARSER_MAX_ATTRIBUTE_WEIGHT &&
                     attribute->depth <= TFRT_PARSER_MAX_NESTING)) {
    return attribute;
  }
  tfrt_parser_fail_at(parser, offset, "this attribute is too big or nested too deeply");
  return NULL;
}

static const tfrt_ir_type_t* integer_type(tfrt_parser_t* parser, uint32_t width) {
  return tfrt_ir_type_integer(parser->context, width, TFRT_IR_SIGNLESS);
}

// A number with an optional type.
static const tfrt_ir_attribute_t* parse_number(tfrt_parser_t* parser) {
  bool negative = tfrt_parser_accept(parser, '-');
  tfrt_token_t token = parser->token;
  if (token.kind != TFRT_TOKEN_INTEGER && token.kind != TFRT_TOKEN_FLOAT) {
    tfrt_parser_miss(parser, "expected a number behind '-'");
    return NULL;
  }
  tfrt_parser_advance(parser);
  const tfrt_ir_type_t* type = NULL;
  if (tfrt_parser_accept(parser, ':')) {
    type = tfrt_parser_type(parser);
  } else if (token.kind == TFRT_TOKEN_FLOAT) {
    type = tfrt_ir_type_float(parser->context, tfrt_string_view_of("f64"));
  } else {
    type = integer_type(parser, 64);
  }
  return type ? tfrt_parser_number(parser, &token, negative, type) : NULL;
}

static const tfrt_ir_attribute_t* parse_string(tfrt_parser_t* parser) {
  const tfrt_ir_string_t* string = tfrt_parser_string(parser);
  if (!string) return NULL;
  const tfrt_ir_type_t* type = NULL;
  if (tfrt_parser_accept(parser, ':')) {
    type = tfrt_parser_type(parser);
    if (!type) return NULL;
  }
  return tfrt_ir_attribute_string(parser->context, tfrt_ir_string_view(string), type);
}

static const tfrt_ir_attribute_t* parse_array(tfrt_parser_t* parser) {
  size_t mark = parser->pointers.count;
  tfrt_parser_advance(parser);
  if (parser->token.kind != ']') {
    do {
      if (!tfrt_parser_push_pointer(parser, tfrt_parser_attribute(parser))) return NULL;
    } while (tfrt_parser_accept(parser, ','));
  }
  if (!tfrt_parser_expect(parser, ']', "at the end of an array")) return NULL;
  const tfrt_ir_attribute_t* array =
      tfrt_ir_attribute_array(parser->context, tfrt_scratch_at(&parser->pointers, mark),
                              (uint32_t)(parser->pointers.count - mark));
  parser->pointers.count = mark;
  return array;
}

// --- Attributes like one before ----------------------------------------------------------------

// The longest text of an attribute that is kept.
#define MAX_KNOWN_TEXT 64

// Where the attribute with the text at |at| is, if it was met lately: as its first bytes say.
static tfrt_parser_known_attribute_t* known_place(tfrt_parser_t* parser, const char* at) {
  uint64_t begin[2] = {0};
  size_t room = (size_t)(parser->lexer.text.data + parser->lexer.text.size - at);
  memcpy(begin, at, room < sizeof(begin) ? room : sizeof(begin));
  uint64_t hash = tfrt_hash_combine(begin[0], begin[1]);
  return &parser->generic.attributes[hash % TFRT_PARSER_RECENT_ATTRIBUTE_COUNT];
}

// True if |at| is in front of the `,` or `}` that a value ends at.
static bool is_end_of_value(const char* at, const char* end) {
  return at < end && (*at == ',' || *at == '}');
}

// The attribute that |cursor| stands at, if its text is known: then the cursor is moved behind it.
static const tfrt_ir_attribute_t* take_known_text(tfrt_parser_t* parser,
                                                  tfrt_text_cursor_t* cursor) {
  tfrt_text_cursor_skip_spaces(cursor);
  const tfrt_parser_known_attribute_t* known = known_place(parser, cursor->at);
  size_t size = known->text.size;
  if (!known->attribute || (size_t)(cursor->end - cursor->at) <= size) return NULL;
  if (!is_end_of_value(cursor->at + size, cursor->end)) return NULL;
  if (memcmp(cursor->at, known->text.data, size) != 0) return NULL;
  cursor->at += size;
  return known->attribute;
}

// The same for the attribute behind the `=` at hand; both are consumed.
static const tfrt_ir_attribute_t* take_known(tfrt_parser_t* parser) {
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(&parser->lexer);
  const tfrt_ir_attribute_t* attribute = take_known_text(parser, &cursor);
  if (!attribute) return NULL;
  tfrt_lexer_follow(&parser->lexer, &cursor);
  tfrt_parser_advance(parser);
  return attribute;
}

// The same for any text.
static const tfrt_ir_attribute_t* parse_value(tfrt_parser_t* parser) {
  const tfrt_ir_attribute_t* known = take_known(parser);
  if (known) return known;
  tfrt_parser_advance(parser);
  size_t begin = parser->token.offset;
  const tfrt_ir_attribute_t* value = tfrt_parser_attribute(parser);
  // An attribute that may hold a location isn't kept: each has its own.
  bool is_kept = value && parser->previous_end - begin <= MAX_KNOWN_TEXT && value->depth == 1 &&
                 value->kind != TFRT_IR_ATTRIBUTE_LOCATION;
  if (is_kept) {
    const char* at = parser->lexer.text.data + begin;
    *known_place(parser, at) = (tfrt_parser_known_attribute_t){
        tfrt_string_view_make(at, parser->previous_end - begin), value};
  }
  return value;
}

// One `name` or `name = attribute`, pushed on |named|.
static bool parse_entry(tfrt_parser_t* parser) {
  tfrt_ir_named_attribute_t entry = {0};
  if (parser->token.kind == TFRT_TOKEN_WORD) {
    entry.name = tfrt_parser_name(parser, parser->token.text);
    tfrt_parser_advance(parser);
  } else if (parser->token.kind == TFRT_TOKEN_STRING) {
    entry.name = tfrt_parser_string(parser);
  } else {
    return tfrt_parser_miss(parser, "expected the name of an attribute");
  }
  if (!entry.name) return false;
  entry.value =
      parser->token.kind == '=' ? parse_value(parser) : tfrt_ir_attribute_unit(parser->context);
  return entry.value && tfrt_scratch_push(&parser->named, &entry);
}

bool tfrt_parser_attribute_entries(tfrt_parser_t* parser) {
  if (tfrt_parser_accept(parser, '}')) return true;
  do {
    if (!parse_entry(parser)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, '}', "or ',' behind an attribute");
}

// --- Few attributes, without tokens
// ---------------------------------------------------------------

// Digits that fit into 64 bits, whatever they are.
#define MAX_DIGITS 18

// `12 : i32` at |cursor|, a number that is not below 0 and fits into the type whether this has a
// sign or not; NULL for anything else.
static const tfrt_ir_attribute_t* take_integer(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor) {
  const char* begin = cursor->at;
  int64_t value = 0;
  while (cursor->at < cursor->end && tfrt_text_is_of(*cursor->at, TFRT_TEXT_DIGIT)) {
    if (cursor->at - begin == MAX_DIGITS) return NULL;
    value = value * 10 + (*cursor->at++ - '0');
  }
  tfrt_string_view_t word;
  if (cursor->at == begin || !tfrt_text_cursor_take(cursor, ':') ||
      !tfrt_text_cursor_take_word(cursor, &word) || !is_end_of_value(cursor->at, cursor->end)) {
    return NULL;
  }
  const tfrt_ir_type_t* type = tfrt_ir_type_find(parser->context, word);
  bool fits = type && type->kind == TFRT_IR_TYPE_INTEGER && type->width > 1 && type->width <= 64 &&
              value >> (type->width - 1) == 0;
  return fits ? tfrt_ir_attribute_integer(parser->context, type, value) : NULL;
}

// One `name` or `name = value`, added to |few|.
static bool take_entry(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                       tfrt_parser_few_attributes_t* few) {
  tfrt_string_view_t name;
  if (few->count == TFRT_PARSER_MAX_FEW || !tfrt_text_cursor_take_word(cursor, &name)) return false;
  tfrt_ir_named_attribute_t* entry = &few->entries[few->count];
  entry->name = tfrt_parser_name(parser, name);
  for (uint32_t i = 0; i < few->count; ++i) {
    if (few->entries[i].name == entry->name) return false;
  }
  if (tfrt_text_cursor_take(cursor, '=')) {
    entry->value = take_known_text(parser, cursor);
    if (!entry->value) entry->value = take_integer(parser, cursor);
  } else {
    entry->value = tfrt_ir_attribute_unit(parser->context);
  }
  ++few->count;
  return entry->name && entry->value;
}

bool tfrt_parser_take_few_entries(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                  tfrt_parser_few_attributes_t* few) {
  if (!tfrt_text_cursor_take(cursor, '{')) return false;
  do {
    if (!take_entry(parser, cursor, few)) return false;
  } while (tfrt_text_cursor_take(cursor, ','));
  return tfrt_text_cursor_take(cursor, '}');
}

// --- Any attributes
// -------------------------------------------------------------------------------

// True if the |count| |entries| are in the order of their names, as printed ones are, with none
// twice.
static bool ascend(const tfrt_ir_named_attribute_t* entries, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    tfrt_string_view_t before = tfrt_ir_string_view(entries[i - 1].name);
    if (tfrt_string_view_compare(before, tfrt_ir_string_view(entries[i].name)) >= 0) return false;
  }
  return true;
}

bool tfrt_parser_check_names(tfrt_parser_t* parser, size_t mark, size_t offset) {
  uint32_t count = (uint32_t)(parser->named.count - mark);
  if (ascend(tfrt_scratch_at(&parser->named, mark), count)) return true;
  const tfrt_ir_named_attribute_t* sorted =
      tfrt_ir_named_attributes_sort(parser->context, tfrt_scratch_at(&parser->named, mark), count);
  if (!sorted) return false;
  for (uint32_t i = 1; i < count; ++i) {
    if (sorted[i].name != sorted[i - 1].name) continue;
    return tfrt_parser_fail_at(parser, offset, "the attribute '%s' is given twice",
                               sorted[i].name->data);
  }
  return true;
}

static const tfrt_ir_attribute_t* parse_dictionary(tfrt_parser_t* parser) {
  size_t mark = parser->named.count;
  size_t offset = parser->token.offset;
  tfrt_parser_advance(parser);
  if (!tfrt_parser_attribute_entries(parser)) return NULL;
  if (!tfrt_parser_check_names(parser, mark, offset)) return NULL;
  const tfrt_ir_attribute_t* dictionary =
      tfrt_ir_attribute_dictionary(parser->context, tfrt_scratch_at(&parser->named, mark),
                                   (uint32_t)(parser->named.count - mark));
  parser->named.count = mark;
  return dictionary;
}

const tfrt_ir_attribute_t* tfrt_parser_symbol(tfrt_parser_t* parser) {
  size_t mark = parser->pointers.count;
  do {
    if (!tfrt_parser_push_pointer(parser, tfrt_parser_symbol_name(parser))) return NULL;
  } while (tfrt_parser_accept(parser, TFRT_TOKEN_COLON_COLON));
  const tfrt_ir_attribute_t* symbol =
      tfrt_ir_attribute_symbol(parser->context, tfrt_scratch_at(&parser->pointers, mark),
                               (uint32_t)(parser->pointers.count - mark));
  parser->pointers.count = mark;
  return symbol;
}

// An attribute that is only carried along, from byte |begin| to the bracket that closes
// the one behind the token at hand, and further to the end of a type, if |typed|.
static const tfrt_ir_attribute_t* parse_opaque(tfrt_parser_t* parser, size_t begin, bool typed) {
  size_t end = 0;
  if (!tfrt_parser_find_closing(parser, parser->lexer.position + 1, &end)) return NULL;
  ++end;
  tfrt_parser_move(parser, end);
  if (typed && tfrt_parser_accept(parser, ':')) {
    // The type's text ends where its last token does, which is before the token at hand.
    if (!tfrt_parser_type(parser)) return NULL;
    end = parser->token.offset;
    while (end > begin && strchr(" \t\r\n", parser->lexer.text.data[end - 1])) --end;
  }
  return tfrt_ir_attribute_opaque(
      parser->context, tfrt_string_view_make(parser->lexer.text.data + begin, end - begin));
}

// Finds the '>' that closes the affine map or set behind byte |begin|: not one of `->` or `>=`.
static bool find_affine_end(tfrt_parser_t* parser, size_t begin, size_t* out_end) {
  tfrt_string_view_t text = parser->lexer.text;
  for (size_t i = begin; i < text.size && text.data[i] && text.data[i] != '"'; ++i) {
    if (text.data[i] != '>' || text.data[i - 1] == '-') continue;
    if (i + 1 < text.size && text.data[i + 1] == '=') continue;
    *out_end = i;
    return true;
  }
  return tfrt_parser_fail_at(parser, begin - 1, "this bracket is never closed");
}

// `affine_map<...>` or `affine_set<...>`, which is only carried along.
static const tfrt_ir_attribute_t* parse_affine(tfrt_parser_t* parser) {
  size_t begin = parser->token.offset;
  size_t end = 0;
  if (!find_affine_end(parser, parser->lexer.position + 1, &end)) return NULL;
  tfrt_parser_move(parser, end + 1);
  return tfrt_ir_attribute_opaque(
      parser->context, tfrt_string_view_make(parser->lexer.text.data + begin, end + 1 - begin));
}

static bool is_bracket_next(const tfrt_parser_t* parser) {
  size_t position = parser->lexer.position;
  return position < parser->lexer.text.size && parser->lexer.text.data[position] == '<';
}

// `distinct[0]<attribute>`
static const tfrt_ir_attribute_t* parse_distinct(tfrt_parser_t* parser) {
  size_t begin = parser->token.offset;
  tfrt_parser_advance(parser);
  uint32_t number = 0;
  if (!tfrt_parser_expect(parser, '[', "behind 'distinct'")) return NULL;
  if (!tfrt_parser_small_number(parser, &number)) return NULL;
  if (parser->token.kind != ']' || !is_bracket_next(parser)) {
    tfrt_parser_miss(parser, "expected ']<' in a distinct attribute");
    return NULL;
  }
  return parse_opaque(parser, begin, false);
}

// `#corert.shape<2x?x3>` or `#corert.shape<*>`, with its `<` at byte |position|.
static const tfrt_ir_attribute_t* parse_shape(tfrt_parser_t* parser, size_t position) {
  tfrt_string_view_t text = parser->lexer.text;
  size_t mark = parser->dims.count;
  size_t begin = position;
  size_t end = 0;
  if (!tfrt_parser_find_closing(parser, position + 1, &end)) return NULL;
  bool is_ranked = !(end == position + 2 && text.data[position + 1] == '*');
  while (is_ranked && ++position < end) {
    int64_t dim = 0;
    size_t digits = position;
    if (text.data[position] == '?') {
      dim = TFRT_IR_DYNAMIC;
      ++position;
    }
    while (position < end && text.data[position] >= '0' && text.data[position] <= '9') {
      if (position - digits > 17) break;
      dim = dim * 10 + (text.data[position++] - '0');
    }
    bool separated = position == end || (text.data[position] == 'x' && position + 1 < end);
    if (position == digits || !separated) {
      tfrt_parser_fail_at(parser, begin, "expected a shape such as <2x?x3> or <*>");
      return NULL;
    }
    if (!tfrt_scratch_push(&parser->dims, &dim)) return NULL;
  }
  tfrt_parser_move(parser, end + 1);
  uint32_t rank = (uint32_t)(parser->dims.count - mark);
  const tfrt_ir_attribute_t* shape = tfrt_ir_attribute_shape(
      parser->context, is_ranked, tfrt_scratch_at(&parser->dims, mark), rank);
  parser->dims.count = mark;
  return shape;
}

// `#dialect.name<free text>`, or an alias.
static const tfrt_ir_attribute_t* parse_hash(tfrt_parser_t* parser) {
  tfrt_token_t token = parser->token;
  bool has_dot = memchr(token.text.data, '.', token.text.size) != NULL;
  if (is_bracket_next(parser)) {
    if (tfrt_string_view_equal(token.text, tfrt_string_view_of("corert.shape"))) {
      return parse_shape(parser, parser->lexer.position);
    }
    return parse_opaque(parser, token.offset, false);
  }
  const tfrt_ir_string_t* name = tfrt_ir_string_get(parser->context, token.text);
  tfrt_parser_alias_t* alias =
      name ? tfrt_parser_find_alias(&parser->attribute_aliases, name) : NULL;
  // MLIR's printer calls locations loc, loc1 ..., and defines them behind their uses.
  bool may_come = !alias && !has_dot && name && strncmp(name->data, "loc", 3) == 0;
  if (may_come || (alias && alias->location)) {
    return tfrt_parser_location_attribute(parser);
  }
  tfrt_parser_advance(parser);
  if (has_dot) {
    tfrt_string_view_t text = tfrt_string_view_make(token.text.data - 1, token.text.size + 1);
    return tfrt_ir_attribute_opaque(parser->context, text);
  }
  if (!name) return NULL;
  if (alias && alias->attribute) return alias->attribute;
  tfrt_parser_fail_at(parser, token.offset, "undefined attribute alias '#%s'", name->data);
  return NULL;
}

// An attribute that begins with a word; NULL without a report if it can only be a type.
static const tfrt_ir_attribute_t* parse_word(tfrt_parser_t* parser, bool* out_is_type) {
  static const char* const affine[] = {"affine_map", "affine_set"};
  static const char* const opaque[] = {"strided", "opaque"};
  tfrt_token_t word = parser->token;
  *out_is_type = false;
  for (int truth = 0; truth < 2; ++truth) {
    if (!tfrt_parser_accept_word(parser, truth ? "true" : "false")) continue;
    return tfrt_ir_attribute_integer(parser->context, integer_type(parser, 1), truth);
  }
  if (tfrt_parser_accept_word(parser, "unit")) return tfrt_ir_attribute_unit(parser->context);
  if (tfrt_parser_at_word(parser, "loc")) return tfrt_parser_location_attribute(parser);
  if (tfrt_parser_at_word(parser, "distinct")) return parse_distinct(parser);
  if (is_bracket_next(parser)) {
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(affine); ++i) {
      if (tfrt_parser_at_word(parser, affine[i])) return parse_affine(parser);
    }
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(opaque); ++i) {
      if (tfrt_parser_at_word(parser, opaque[i])) return parse_opaque(parser, word.offset, false);
    }
    if (tfrt_parser_at_word(parser, "sparse")) return parse_opaque(parser, word.offset, true);
    if (tfrt_parser_accept_word(parser, "dense_resource")) {
      return tfrt_parser_resource_reference(parser);
    }
    if (tfrt_parser_accept_word(parser, "dense")) return tfrt_parser_dense(parser, &word);
    if (tfrt_parser_accept_word(parser, "array")) return tfrt_parser_dense_array(parser);
  }
  *out_is_type = true;
  return NULL;
}

static const tfrt_ir_attribute_t* parse_inner(tfrt_parser_t* parser) {
  bool is_type = false;
  switch (parser->token.kind) {
    case '-':
    case TFRT_TOKEN_INTEGER:
    case TFRT_TOKEN_FLOAT:
      return parse_number(parser);
    case TFRT_TOKEN_STRING:
      return parse_string(parser);
    case '[':
      return parse_array(parser);
    case '{':
      return parse_dictionary(parser);
    case TFRT_TOKEN_AT:
      return tfrt_parser_symbol(parser);
    case TFRT_TOKEN_HASH:
      return parse_hash(parser);
    case TFRT_TOKEN_WORD: {
      const tfrt_ir_attribute_t* attribute = parse_word(parser, &is_type);
      if (!is_type) return attribute;
      break;
    }
    default:
      break;
  }
  if (!tfrt_parser_at_type(parser)) {
    tfrt_parser_miss(parser, "expected an attribute: a number, a string, a symbol, a type ...");
    return NULL;
  }
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  return type ? tfrt_ir_attribute_type(parser->context, type) : NULL;
}

// The type of literals of |kind|, or NULL if they carry their own.
static const char* literal_type(tfrt_attribute_kind_t kind) {
  switch (kind) {
    case TFRT_ATTRIBUTE_I1:
      return "i1";
    case TFRT_ATTRIBUTE_I8:
      return "i8";
    case TFRT_ATTRIBUTE_I16:
      return "i16";
    case TFRT_ATTRIBUTE_I32:
      return "i32";
    case TFRT_ATTRIBUTE_I64:
      return "i64";
    case TFRT_ATTRIBUTE_UI8:
      return "ui8";
    case TFRT_ATTRIBUTE_UI16:
      return "ui16";
    case TFRT_ATTRIBUTE_UI32:
      return "ui32";
    case TFRT_ATTRIBUTE_UI64:
      return "ui64";
    case TFRT_ATTRIBUTE_F32:
      return "f32";
    case TFRT_ATTRIBUTE_F64:
      return "f64";
    case TFRT_ATTRIBUTE_F16:
      return "f16";
    case TFRT_ATTRIBUTE_BF16:
      return "bf16";
    default:
      return NULL;
  }
}

// Whether the current token is the colon before the function type of an op. No string is of such a
// type.
static bool is_at_function_type(const tfrt_parser_t* parser) {
  tfrt_string_view_t text = parser->lexer.text;
  size_t position = parser->lexer.position;
  while (position < text.size && text.data[position] == ' ') ++position;
  return parser->token.kind == ':' && position < text.size && text.data[position] == '(';
}

const tfrt_ir_attribute_t* tfrt_parser_literal(tfrt_parser_t* parser, tfrt_attribute_kind_t kind) {
  if (kind == TFRT_ATTRIBUTE_STRING && parser->token.kind == TFRT_TOKEN_STRING) {
    const tfrt_ir_string_t* string = tfrt_parser_string(parser);
    if (!string) return NULL;
    bool has_type = !is_at_function_type(parser) && tfrt_parser_accept(parser, ':');
    const tfrt_ir_type_t* type = has_type ? tfrt_parser_type(parser) : NULL;
    if (has_type && !type) return NULL;
    return tfrt_ir_attribute_string(parser->context, tfrt_ir_string_view(string), type);
  }
  const char* type_text = literal_type(kind);
  int token_kind = parser->token.kind;
  bool is_number =
      token_kind == '-' || token_kind == TFRT_TOKEN_INTEGER || token_kind == TFRT_TOKEN_FLOAT;
  if (!type_text || !is_number) return tfrt_parser_attribute(parser);
  bool negative = tfrt_parser_accept(parser, '-');
  tfrt_token_t token = parser->token;
  if (token.kind != TFRT_TOKEN_INTEGER && token.kind != TFRT_TOKEN_FLOAT) {
    tfrt_parser_miss(parser, "expected a number behind '-'");
    return NULL;
  }
  tfrt_parser_advance(parser);
  const tfrt_ir_type_t* type = tfrt_parser_type_of_text(parser, type_text);
  // The text may still give a type: a colon can mean nothing else here.
  if (tfrt_parser_accept(parser, ':')) type = tfrt_parser_type(parser);
  return type ? tfrt_parser_number(parser, &token, negative, type) : NULL;
}
