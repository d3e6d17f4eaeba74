// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

static const tfrt_ir_type_t* parse_inner(tfrt_parser_t* parser);

const tfrt_ir_type_t* tfrt_parser_type(tfrt_parser_t* parser) {
  if (!tfrt_parser_enter(parser)) return NULL;
  const tfrt_ir_type_t* type = parse_inner(parser);
  tfrt_parser_leave(parser);
  return type;
}

// Sets |*out_width| to N if |word| is |prefix| and a number N.
static bool match_integer(tfrt_string_view_t word, const char* prefix, uint32_t* out_width) {
  size_t length = strlen(prefix);
  *out_width = 0;
  if (word.size <= length || word.size > length + 8) return false;
  if (!tfrt_string_view_starts_with(word, tfrt_string_view_of(prefix))) return false;
  if (word.data[length] == '0') return false;
  for (size_t i = length; i < word.size; ++i) {
    if (word.data[i] < '0' || word.data[i] > '9') return false;
    *out_width = *out_width * 10 + (uint32_t)(word.data[i] - '0');
  }
  return *out_width < (1u << 24);
}

// The type that the single word |word| names, or NULL.
static const tfrt_ir_type_t* word_type(tfrt_ir_context_t* context, tfrt_string_view_t word) {
  const tfrt_ir_type_t* known = tfrt_ir_type_find(context, word);
  if (known) return known;
  uint32_t width = 0;
  if (match_integer(word, "i", &width)) {
    return tfrt_ir_type_integer(context, width, TFRT_IR_SIGNLESS);
  }
  if (match_integer(word, "ui", &width)) {
    return tfrt_ir_type_integer(context, width, TFRT_IR_UNSIGNED);
  }
  if (match_integer(word, "si", &width)) {
    return tfrt_ir_type_integer(context, width, TFRT_IR_SIGNED);
  }
  if (tfrt_string_view_equal(word, tfrt_string_view_of("index"))) {
    return tfrt_ir_type_index(context);
  }
  if (tfrt_string_view_equal(word, tfrt_string_view_of("none"))) return tfrt_ir_type_none(context);
  return tfrt_ir_type_float(context, word);
}

// True if the byte right behind the token at hand is `<`.
static bool is_bracket_next(const tfrt_parser_t* parser) {
  return parser->lexer.position < parser->lexer.text.size &&
         parser->lexer.text.data[parser->lexer.position] == '<';
}

bool tfrt_parser_at_type(const tfrt_parser_t* parser) {
  static const char* const bracketed[] = {"tensor", "vector", "memref", "tuple", "complex"};
  int kind = parser->token.kind;
  if (kind == '(' || kind == TFRT_TOKEN_BANG) return true;
  if (kind != TFRT_TOKEN_WORD) return false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bracketed); ++i) {
    if (tfrt_parser_at_word(parser, bracketed[i])) return is_bracket_next(parser);
  }
  return word_type(parser->context, parser->token.text) != NULL;
}

bool tfrt_parser_type_list(tfrt_parser_t* parser) {
  do {
    if (!tfrt_parser_push_pointer(parser, tfrt_parser_type(parser))) return false;
  } while (tfrt_parser_accept(parser, ','));
  return true;
}

// `(T, ...)`, pushed on |pointers|.
static bool parse_type_tuple(tfrt_parser_t* parser, const char* where) {
  if (!tfrt_parser_expect(parser, '(', where)) return false;
  if (tfrt_parser_accept(parser, ')')) return true;
  return tfrt_parser_type_list(parser) &&
         tfrt_parser_expect(parser, ')', "at the end of a list of types");
}

const tfrt_ir_type_t* tfrt_parser_function_type(tfrt_parser_t* parser) {
  size_t mark = parser->pointers.count;
  if (!parse_type_tuple(parser, "before the operand types of a function type")) return NULL;
  size_t middle = parser->pointers.count;
  if (!tfrt_parser_expect(parser, TFRT_TOKEN_ARROW, "in a function type")) return NULL;
  bool ok = parser->token.kind == '(' ? parse_type_tuple(parser, "")
                                      : tfrt_parser_push_pointer(parser, tfrt_parser_type(parser));
  if (!ok) return NULL;
  const tfrt_ir_type_t* const* types = tfrt_scratch_at(&parser->pointers, mark);
  uint32_t input_count = (uint32_t)(middle - mark);
  uint32_t result_count = (uint32_t)(parser->pointers.count - middle);
  const tfrt_ir_type_t* type = tfrt_ir_type_function(
      parser->context, types, input_count, types ? types + input_count : NULL, result_count);
  parser->pointers.count = mark;
  return type;
}

// The rest of the line from |at| on, without a location and blanks at its end: where a signature
// stands in generic form.
static tfrt_string_view_t signature_text(const char* at, const char* end) {
  const char* newline = memchr(at, '\n', (size_t)(end - at));
  if (newline) end = newline;
  for (const char* found = at; (found = memchr(found, 'l', (size_t)(end - found))); ++found) {
    bool is_location =
        end - found >= 4 && found > at && found[-1] == ' ' && memcmp(found, "loc(", 4) == 0;
    if (!is_location) continue;
    end = found;
    break;
  }
  while (end > at && end[-1] == ' ') --end;
  return tfrt_string_view_make(at, (size_t)(end - at));
}

// Where the signature with |text| is, if it was met lately.
static size_t signature_place(tfrt_string_view_t text) {
  return tfrt_hash_bytes(text.data, text.size) % TFRT_PARSER_RECENT_SIGNATURE_COUNT;
}

static bool is_known_signature(const tfrt_parser_known_signature_t* known,
                               tfrt_string_view_t text) {
  // The text means the same everywhere: an alias is defined once, before its uses.
  return known->type && text.size && tfrt_string_view_equal(known->text, text);
}

bool tfrt_parser_take_known_signature(const tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                      tfrt_parser_known_signature_t* out_known) {
  tfrt_text_cursor_skip_spaces(cursor);
  tfrt_string_view_t text = signature_text(cursor->at, cursor->end);
  const tfrt_parser_known_signature_t* known = &parser->generic.signatures[signature_place(text)];
  if (!is_known_signature(known, text)) return false;
  *out_known = *known;
  cursor->at = text.data + text.size;
  return true;
}

const tfrt_ir_type_t* tfrt_parser_signature(tfrt_parser_t* parser) {
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(&parser->lexer);
  tfrt_text_cursor_skip_spaces(&cursor);
  tfrt_string_view_t text = {0};
  if (parser->token.kind == ':') text = signature_text(cursor.at, cursor.end);
  tfrt_parser_known_signature_t* recent = &parser->generic.signatures[signature_place(text)];
  if (is_known_signature(recent, text)) {
    cursor.at = text.data + text.size;
    tfrt_lexer_follow(&parser->lexer, &cursor);
    tfrt_parser_advance(parser);
    return recent->type;
  }
  if (!tfrt_parser_expect(parser, ':', "and a function type behind an op")) return NULL;
  const tfrt_ir_type_t* type = tfrt_parser_function_type(parser);
  // A comment, or whatever else stands behind it, is part of |text| but not of the type.
  bool is_whole =
      type && parser->previous_end == (size_t)(text.data + text.size - parser->lexer.text.data);
  if (is_whole) *recent = (tfrt_parser_known_signature_t){text, type};
  return type;
}

// Pushes the dimensions that begin at byte |position| on |dims|. Moves |position| to the
// element type.
static bool scan_dims(tfrt_parser_t* parser, size_t* position, bool* out_is_ranked) {
  tfrt_string_view_t text = parser->lexer.text;
  *out_is_ranked = true;
  for (;;) {
    while (*position < text.size && strchr(" \t\r\n", text.data[*position])) ++*position;
    char c = *position < text.size ? text.data[*position] : 0;
    int64_t dim = 0;
    if (c == '?') dim = TFRT_IR_DYNAMIC;
    bool is_digit = c >= '0' && c <= '9';
    if (c != '?' && c != '*' && !is_digit) return true;
    if (!is_digit) ++*position;
    while (is_digit && *position < text.size && text.data[*position] >= '0' &&
           text.data[*position] <= '9') {
      if (__builtin_mul_overflow(dim, 10, &dim) ||
          __builtin_add_overflow(dim, text.data[*position] - '0', &dim)) {
        return tfrt_parser_fail_at(parser, *position, "this dimension is too big");
      }
      ++*position;
    }
    if (*position >= text.size || text.data[*position] != 'x') {
      return tfrt_parser_fail_at(parser, *position, "expected 'x' behind a dimension");
    }
    ++*position;
    if (c == '*') {
      *out_is_ranked = false;
      return true;
    }
    if (!tfrt_scratch_push(&parser->dims, &dim)) return false;
  }
}

// The text of a shaped type behind the comma at hand, as written, up to its `>`.
static const tfrt_ir_string_t* parse_suffix(tfrt_parser_t* parser) {
  tfrt_string_view_t text = parser->lexer.text;
  size_t begin = parser->token.offset + 1;
  size_t end = 0;
  if (!tfrt_parser_find_closing(parser, begin, &end)) return NULL;
  tfrt_parser_move(parser, end);
  while (begin < end && strchr(" \t\r\n", text.data[begin])) ++begin;
  return tfrt_ir_string_get(parser->context, tfrt_string_view_make(text.data + begin, end - begin));
}

// tensor, vector or memref, with that word at hand and `<` right behind it.
static const tfrt_ir_type_t* parse_shaped(tfrt_parser_t* parser, tfrt_ir_type_kind_t kind) {
  size_t mark = parser->dims.count;
  size_t begin = parser->token.offset;
  size_t position = parser->lexer.position + 1;
  bool is_ranked = true;
  if (!scan_dims(parser, &position, &is_ranked)) return NULL;
  if (kind == TFRT_IR_TYPE_VECTOR && position < parser->lexer.text.size &&
      parser->lexer.text.data[position] == '[') {
    // Scalable vectors are only carried along.
    size_t end = 0;
    if (!tfrt_parser_find_closing(parser, position, &end)) return NULL;
    parser->dims.count = mark;
    tfrt_string_view_t text =
        tfrt_string_view_make(parser->lexer.text.data + begin, end + 1 - begin);
    tfrt_parser_move(parser, end + 1);
    return tfrt_ir_type_dialect(parser->context, text);
  }
  tfrt_parser_move(parser, position);
  const tfrt_ir_type_t* element = tfrt_parser_type(parser);
  const tfrt_ir_string_t* suffix = NULL;
  if (!element) return NULL;
  if (parser->token.kind == ',') {
    suffix = parse_suffix(parser);
    if (!suffix) return NULL;
  }
  if (!tfrt_parser_expect(parser, '>', "at the end of a shaped type")) return NULL;
  uint32_t rank = (uint32_t)(parser->dims.count - mark);
  const tfrt_ir_type_t* type =
      tfrt_ir_type_shaped(parser->context, kind, is_ranked, tfrt_scratch_at(&parser->dims, mark),
                          rank, element, suffix);
  parser->dims.count = mark;
  return type;
}

static const tfrt_ir_type_t* parse_tuple(tfrt_parser_t* parser) {
  size_t mark = parser->pointers.count;
  tfrt_parser_advance(parser);
  if (!tfrt_parser_expect(parser, '<', "behind 'tuple'")) return NULL;
  if (parser->token.kind != '>' && !tfrt_parser_type_list(parser)) return NULL;
  if (!tfrt_parser_expect(parser, '>', "at the end of a tuple type")) return NULL;
  const tfrt_ir_type_t* type =
      tfrt_ir_type_tuple(parser->context, tfrt_scratch_at(&parser->pointers, mark),
                         (uint32_t)(parser->pointers.count - mark));
  parser->pointers.count = mark;
  return type;
}

static const tfrt_ir_type_t* parse_complex(tfrt_parser_t* parser) {
  tfrt_parser_advance(parser);
  if (!tfrt_parser_expect(parser, '<', "behind 'complex'")) return NULL;
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* element = tfrt_parser_type(parser);
  if (!element) return NULL;
  if (element->kind != TFRT_IR_TYPE_INTEGER && element->kind != TFRT_IR_TYPE_FLOAT) {
    tfrt_parser_fail_at(parser, offset, "the element of a complex type must be a number");
    return NULL;
  }
  if (!tfrt_parser_expect(parser, '>', "at the end of a complex type")) return NULL;
  return tfrt_ir_type_complex(parser->context, element);
}

// `!dialect.name`, `!dialect.name<free text>`, or an alias.
// `!async.value<T>`, with the `!async.value` at hand.
static const tfrt_ir_type_t* parse_async_value(tfrt_parser_t* parser) {
  tfrt_parser_advance(parser);
  if (!tfrt_parser_expect(parser, '<', "behind 'async.value'") || !tfrt_parser_enter(parser)) {
    return NULL;
  }
  const tfrt_ir_type_t* element = tfrt_parser_type(parser);
  tfrt_parser_leave(parser);
  if (!element || !tfrt_parser_expect(parser, '>', "behind the type of an asynchronous value")) {
    return NULL;
  }
  return tfrt_ir_type_async_value(parser->context, element);
}

static const tfrt_ir_type_t* parse_bang(tfrt_parser_t* parser) {
  tfrt_token_t token = parser->token;
  tfrt_string_view_t name = token.text;
  if (is_bracket_next(parser) && tfrt_string_view_equal(name, tfrt_string_view_of("async.value"))) {
    return parse_async_value(parser);
  }
  if (is_bracket_next(parser)) {
    size_t end = 0;
    if (!tfrt_parser_find_closing(parser, parser->lexer.position + 1, &end)) return NULL;
    const char* begin = parser->lexer.text.data + token.offset;
    tfrt_parser_move(parser, end + 1);
    size_t size = end + 1 - token.offset;
    return tfrt_ir_type_dialect(parser->context, tfrt_string_view_make(begin, size));
  }
  tfrt_parser_advance(parser);
  if (memchr(name.data, '.', name.size)) {
    tfrt_string_view_t text = tfrt_string_view_make(name.data - 1, name.size + 1);
    const tfrt_ir_type_t* known = tfrt_ir_type_find(parser->context, text);
    return known ? known : tfrt_ir_type_dialect(parser->context, text);
  }
  const tfrt_ir_string_t* string = tfrt_ir_string_get(parser->context, name);
  tfrt_parser_alias_t* alias =
      string ? tfrt_parser_find_alias(&parser->type_aliases, string) : NULL;
  if (alias && alias->type) return alias->type;
  tfrt_parser_fail_at(parser, token.offset, "undefined type alias '!%.*s'",
                      TFRT_STRING_VIEW_ARGUMENTS(name));
  return NULL;
}

static const tfrt_ir_type_t* parse_inner(tfrt_parser_t* parser) {
  if (parser->token.kind == '(') return tfrt_parser_function_type(parser);
  if (parser->token.kind == TFRT_TOKEN_BANG) return parse_bang(parser);
  if (parser->token.kind == TFRT_TOKEN_WORD && is_bracket_next(parser)) {
    if (tfrt_parser_at_word(parser, "tensor")) return parse_shaped(parser, TFRT_IR_TYPE_TENSOR);
    if (tfrt_parser_at_word(parser, "vector")) return parse_shaped(parser, TFRT_IR_TYPE_VECTOR);
    if (tfrt_parser_at_word(parser, "memref")) return parse_shaped(parser, TFRT_IR_TYPE_MEMREF);
    if (tfrt_parser_at_word(parser, "tuple")) return parse_tuple(parser);
    if (tfrt_parser_at_word(parser, "complex")) return parse_complex(parser);
  }
  const tfrt_ir_type_t* type = NULL;
  if (parser->token.kind == TFRT_TOKEN_WORD) type = word_type(parser->context, parser->token.text);
  if (type) {
    tfrt_parser_advance(parser);
  } else if (parser->token.kind == TFRT_TOKEN_WORD) {
    tfrt_parser_fail(parser, "unknown type '%.*s'; a dialect's type begins with '!'",
                     TFRT_STRING_VIEW_ARGUMENTS(parser->token.text));
  } else {
    tfrt_parser_miss(parser, "expected a type");
  }
  return type;
}

const tfrt_ir_type_t* tfrt_parser_type_of_text(tfrt_parser_t* parser, const char* text) {
  tfrt_string_view_t view = tfrt_string_view_of(text);
  const tfrt_ir_type_t* type = word_type(parser->context, view);
  if (type) return type;
  if (strcmp(text, "complex<f32>") == 0 || strcmp(text, "complex<f64>") == 0) {
    return tfrt_ir_type_complex(parser->context,
                                word_type(parser->context, tfrt_string_view_make(text + 8, 3)));
  }
  return tfrt_ir_type_dialect(parser->context, view);
}
