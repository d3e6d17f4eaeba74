// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>

#include "compiler/parser/parser_impl.h"

void tfrt_parser_move(tfrt_parser_t* parser, size_t position) {
  tfrt_lexer_move(&parser->lexer, &parser->token, position);
  parser->previous_end = position;
  tfrt_lexer_next(&parser->lexer, &parser->token);
}

bool tfrt_parser_fail(tfrt_parser_t* parser, const char* format, ...) {
  if (parser->token.kind == TFRT_TOKEN_ERROR) return false;
  va_list arguments;
  va_start(arguments, format);
  tfrt_diagnostics_report_v(parser->diagnostics, TFRT_SEVERITY_ERROR, parser->token.offset, format,
                            arguments);
  va_end(arguments);
  return false;
}

bool tfrt_parser_fail_at(tfrt_parser_t* parser, size_t offset, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_diagnostics_report_v(parser->diagnostics, TFRT_SEVERITY_ERROR, offset, format, arguments);
  va_end(arguments);
  return false;
}

bool tfrt_parser_miss(tfrt_parser_t* parser, const char* format, ...) {
  if (parser->token.kind == TFRT_TOKEN_ERROR) return false;
  bool is_elsewhere = parser->previous_end > 0 && tfrt_parser_begins_line(parser);
  va_list arguments;
  va_start(arguments, format);
  tfrt_diagnostics_report_v(parser->diagnostics, TFRT_SEVERITY_ERROR,
                            is_elsewhere ? parser->previous_end : parser->token.offset, format,
                            arguments);
  va_end(arguments);
  return false;
}

bool tfrt_parser_begins_line(const tfrt_parser_t* parser) {
  const char* text = parser->lexer.text.data;
  size_t gap = parser->token.offset - parser->previous_end;
  return parser->previous_end == 0 || memchr(text + parser->previous_end, '\n', gap);
}

bool tfrt_parser_at_word(const tfrt_parser_t* parser, const char* word) {
  return parser->token.kind == TFRT_TOKEN_WORD &&
         tfrt_string_view_equal(parser->token.text, tfrt_string_view_of(word));
}

bool tfrt_parser_accept_word(tfrt_parser_t* parser, const char* word) {
  if (!tfrt_parser_at_word(parser, word)) return false;
  tfrt_parser_advance(parser);
  return true;
}

// The text of a token of |kind|, for messages.
static const char* kind_text(int kind, char* buffer, size_t size) {
  switch (kind) {
    case TFRT_TOKEN_ARROW:
      return "'->'";
    case TFRT_TOKEN_STRING:
      return "a string";
    case TFRT_TOKEN_INTEGER:
      return "a number";
    case TFRT_TOKEN_AT:
      return "a symbol such as @name";
    case TFRT_TOKEN_PERCENT:
      return "a value such as %name";
    default:
      break;
  }
  snprintf(buffer, size, "'%c'", (char)kind);
  return buffer;
}

bool tfrt_parser_miss_kind(tfrt_parser_t* parser, int kind, const char* where) {
  char buffer[8];
  return tfrt_parser_miss(parser, "expected %s %s", kind_text(kind, buffer, sizeof(buffer)), where);
}

bool tfrt_parser_enter(tfrt_parser_t* parser) {
  if (parser->depth == TFRT_PARSER_MAX_NESTING) {
    return tfrt_parser_fail(parser, "nested too deeply: more than %d levels",
                            TFRT_PARSER_MAX_NESTING);
  }
  ++parser->depth;
  return true;
}

void tfrt_parser_leave(tfrt_parser_t* parser) { --parser->depth; }

// The bracket that closes |c|, or 0.
static char closing_of(char c) {
  switch (c) {
    case '<':
      return '>';
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return 0;
  }
}

// The position behind the string that begins at |position|.
static size_t skip_string(tfrt_string_view_t text, size_t position) {
  for (++position; position < text.size && text.data[position] != '"'; ++position) {
    if (text.data[position] == '\\') ++position;
  }
  return position + 1;
}

bool tfrt_parser_find_closing(tfrt_parser_t* parser, size_t begin, size_t* out_end) {
  tfrt_string_view_t text = parser->lexer.text;
  char expected[TFRT_PARSER_MAX_NESTING];
  size_t depth = 0;
  size_t i = begin;
  while (i < text.size) {
    char c = text.data[i];
    if (!c) return tfrt_parser_fail_at(parser, i, "unexpected NUL byte; is this a text file?");
    bool closes = c == '>' || c == ')' || c == ']' || c == '}';
    if (closes && depth == 0) {
      *out_end = i;
      return true;
    }
    if (closes && expected[--depth] != c) {
      return tfrt_parser_fail_at(parser, i, "unbalanced '%c': expected '%c' here", c,
                                 expected[depth]);
    }
    if (closing_of(c)) {
      if (depth == TFRT_PARSER_MAX_NESTING) {
        return tfrt_parser_fail_at(parser, i, "nested too deeply: more than %d levels",
                                   TFRT_PARSER_MAX_NESTING);
      }
      expected[depth++] = closing_of(c);
    }
    bool is_arrow = c == '-' && i + 1 < text.size && text.data[i + 1] == '>';
    i = c == '"' ? skip_string(text, i) : i + (is_arrow ? 2 : 1);
  }
  return tfrt_parser_fail_at(parser, begin ? begin - 1 : 0, "this bracket is never closed");
}

const tfrt_ir_string_t* tfrt_parser_name(tfrt_parser_t* parser, tfrt_string_view_t text) {
  if (!text.size) return tfrt_ir_string_get(parser->context, text);
  size_t place = text.size + 3u * (unsigned char)text.data[text.size / 2] +
                 5u * (unsigned char)text.data[text.size - 1] + (unsigned char)text.data[0];
  const tfrt_ir_string_t** recent = &parser->generic.names[place % TFRT_PARSER_RECENT_NAME_COUNT];
  if (*recent && tfrt_string_view_equal_short(tfrt_ir_string_view(*recent), text)) return *recent;
  const tfrt_ir_string_t* name = tfrt_ir_string_get(parser->context, text);
  if (name) *recent = name;
  return name;
}

const tfrt_ir_string_t* tfrt_parser_string(tfrt_parser_t* parser) {
  if (parser->token.kind != TFRT_TOKEN_STRING) {
    tfrt_parser_miss(parser, "expected a string");
    return NULL;
  }
  tfrt_string_view_t inside =
      tfrt_string_view_make(parser->token.text.data + 1, parser->token.text.size - 2);
  if (!memchr(inside.data, '\\', inside.size)) {
    tfrt_parser_advance(parser);
    return tfrt_parser_name(parser, inside);
  }
  if (!tfrt_lexer_decode_string(&parser->lexer, &parser->token, &parser->text)) return NULL;
  tfrt_parser_advance(parser);
  if (parser->text.failed) return NULL;
  return tfrt_ir_string_get(parser->context, tfrt_string_builder_view(&parser->text));
}

const tfrt_ir_string_t* tfrt_parser_symbol_name(tfrt_parser_t* parser) {
  if (parser->token.kind != TFRT_TOKEN_AT) {
    tfrt_parser_miss(parser, "expected a symbol such as @name");
    return NULL;
  }
  tfrt_token_t token = parser->token;
  if (token.text.data[0] != '"') {
    tfrt_parser_advance(parser);
    return tfrt_parser_name(parser, token.text);
  }
  if (!tfrt_lexer_decode_string(&parser->lexer, &token, &parser->text)) return NULL;
  if (parser->text.size == 0) {
    tfrt_parser_fail(parser, "a symbol's name can't be empty");
    return NULL;
  }
  tfrt_parser_advance(parser);
  if (parser->text.failed) return NULL;
  return tfrt_ir_string_get(parser->context, tfrt_string_builder_view(&parser->text));
}

bool tfrt_parser_small_number(tfrt_parser_t* parser, uint32_t* out_value) {
  *out_value = 0;
  if (parser->token.kind != TFRT_TOKEN_INTEGER) {
    return tfrt_parser_miss(parser, "expected a number");
  }
  uint32_t value = 0;
  for (size_t i = 0; i < parser->token.text.size; ++i) {
    char c = parser->token.text.data[i];
    if (c < '0' || c > '9') return tfrt_parser_miss(parser, "expected a decimal number");
    if (value > (INT32_MAX - 9) / 10) {
      return tfrt_parser_fail(parser, "this number is too big; it must be below 2^31");
    }
    value = value * 10 + (uint32_t)(c - '0');
  }
  tfrt_parser_advance(parser);
  *out_value = value;
  return true;
}

bool tfrt_parser_push_pointer(tfrt_parser_t* parser, const void* pointer) {
  return pointer && tfrt_scratch_push(&parser->pointers, &pointer);
}

const void* tfrt_parser_take_pointers(tfrt_parser_t* parser, size_t mark, uint32_t* out_count) {
  size_t count = parser->pointers.count - mark;
  const void** copy = tfrt_ir_context_allocate_array(parser->context, count, sizeof(*copy));
  if (copy && count) {
    memcpy(copy, tfrt_scratch_at(&parser->pointers, mark), count * sizeof(*copy));
  }
  parser->pointers.count = mark;
  *out_count = (uint32_t)count;
  return copy;
}
