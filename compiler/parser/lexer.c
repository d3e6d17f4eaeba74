// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/lexer.h"

#include <stdio.h>

#include "host_runtime/base/ascii.h"

void tfrt_lexer_initialize(tfrt_lexer_t* lexer, tfrt_diagnostics_t* diagnostics) {
  *lexer = (tfrt_lexer_t){
      .diagnostics = diagnostics, .text = diagnostics->text, .line = diagnostics->first_line};
  if (!lexer->text.data) lexer->text = tfrt_string_view_of("");
  lexer->line_begin = lexer->text.data;
}

// The byte |ahead| of the position, or 0 behind the end.
static char peek(const tfrt_lexer_t* lexer, size_t ahead) {
  size_t position = lexer->position + ahead;
  return position < lexer->text.size ? lexer->text.data[position] : 0;
}

// Where the word that begins at |at| ends. Many are like the one before, which is seen at once.
static const char* end_of_word(tfrt_lexer_t* lexer, const char* at, const char* end) {
  size_t size = lexer->last_word.size;
  bool is_same = (size_t)(end - at) > size && !tfrt_text_is_of(at[size], TFRT_TEXT_WORD) &&
                 tfrt_string_view_equal_short(tfrt_string_view_make(at, size), lexer->last_word);
  if (is_same) return at + size;
  const char* behind = tfrt_text_end_of(at + 1, end, TFRT_TEXT_WORD);
  lexer->last_word = tfrt_string_view_make(at, (size_t)(behind - at));
  return behind;
}

// Moves on while bytes are of one of the |wanted| classes.
static void skip_while(tfrt_lexer_t* lexer, int wanted) {
  const char* data = lexer->text.data;
  const char* at = tfrt_text_end_of(data + lexer->position, data + lexer->text.size, wanted);
  lexer->position = (size_t)(at - data);
}

// Each of the following moves behind one token, which begins at byte |begin|, and returns its
// kind.

static int fail(const tfrt_lexer_t* lexer, size_t begin, const char* message) {
  tfrt_diagnostics_report(lexer->diagnostics, TFRT_SEVERITY_ERROR, begin, "%s", message);
  return TFRT_TOKEN_ERROR;
}

static bool is_no_token(char c) { return !tfrt_text_is_of(c, ~TFRT_TEXT_NOT_IN_STRING); }

static int lex_unknown(tfrt_lexer_t* lexer, size_t begin) {
  unsigned char byte = (unsigned char)peek(lexer, 0);
  ++lexer->position;
  // One report for a run of them: binary data would drown everything else.
  while (lexer->position < lexer->text.size && is_no_token(peek(lexer, 0))) ++lexer->position;
  if (byte == 0) return fail(lexer, begin, "unexpected NUL byte; is this a text file?");
  char message[64];
  bool printable = byte > ' ' && byte < 127;
  snprintf(message, sizeof(message),
           printable ? "unexpected character '%c'" : "unexpected byte 0x%02X", byte);
  return fail(lexer, begin, message);
}

static int lex_number(tfrt_lexer_t* lexer) {
  if (peek(lexer, 0) == '0' && peek(lexer, 1) == 'x' && tfrt_ascii_hex_digit(peek(lexer, 2)) >= 0) {
    lexer->position += 2;
    while (tfrt_ascii_hex_digit(peek(lexer, 0)) >= 0) ++lexer->position;
    return TFRT_TOKEN_INTEGER;
  }
  skip_while(lexer, TFRT_TEXT_DIGIT);
  if (peek(lexer, 0) != '.') return TFRT_TOKEN_INTEGER;
  ++lexer->position;
  skip_while(lexer, TFRT_TEXT_DIGIT);
  size_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 1 : 0;
  if ((peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') &&
      tfrt_text_is_of(peek(lexer, 1 + sign), TFRT_TEXT_DIGIT)) {
    lexer->position += 1 + sign;
    skip_while(lexer, TFRT_TEXT_DIGIT);
  }
  return TFRT_TOKEN_FLOAT;
}

// Moves behind the string that begins at the position; false if it doesn't end on its
// line.
static bool skip_string(tfrt_lexer_t* lexer) {
  const char* end = lexer->text.data + lexer->text.size;
  const char* at = lexer->text.data + lexer->position + 1;
  for (;; at += at + 1 < end && at[1] != '\n' ? 2 : 1) {
    while (at < end && !tfrt_text_is_of(*at, TFRT_TEXT_NOT_IN_STRING)) ++at;
    if (at == end || *at != '\\') break;
  }
  bool ends = at < end && *at == '"';
  lexer->position = (size_t)(at - lexer->text.data) + (ends ? 1 : 0);
  return ends;
}

static int lex_string(tfrt_lexer_t* lexer, size_t begin, int kind) {
  if (!skip_string(lexer)) {
    return fail(lexer, begin, "this string doesn't end on its line; write '\\n' for a new line");
  }
  return kind;
}

// A sigil and a name: ^bb0, #alias, !tfrt.chain.
static int lex_name(tfrt_lexer_t* lexer, size_t begin, int kind) {
  ++lexer->position;
  if (tfrt_text_is_of(peek(lexer, 0), TFRT_TEXT_DIGIT)) {
    skip_while(lexer, TFRT_TEXT_DIGIT);
  } else {
    skip_while(lexer, kind == TFRT_TOKEN_BANG || kind == TFRT_TOKEN_HASH ? TFRT_TEXT_WORD
                                                                         : TFRT_TEXT_SUFFIX);
  }
  if (lexer->position == begin + 1) {
    return fail(lexer, begin, "expected a name behind this character");
  }
  return kind;
}

static int lex_at(tfrt_lexer_t* lexer, size_t begin) {
  ++lexer->position;
  if (peek(lexer, 0) == '"') return lex_string(lexer, begin, TFRT_TOKEN_AT);
  if (!tfrt_text_is_of(peek(lexer, 0), TFRT_TEXT_WORD_BEGIN)) {
    return fail(lexer, begin, "expected a name behind '@'");
  }
  skip_while(lexer, TFRT_TEXT_WORD);
  return TFRT_TOKEN_AT;
}

// A byte that stands for itself, unless the next one makes another token of it.
static int lex_punctuation(tfrt_lexer_t* lexer) {
  char c = peek(lexer, 0);
  ++lexer->position;
  if (c == '-' && peek(lexer, 0) == '>') {
    ++lexer->position;
    return TFRT_TOKEN_ARROW;
  }
  if (c == ':' && peek(lexer, 0) == ':') {
    ++lexer->position;
    return TFRT_TOKEN_COLON_COLON;
  }
  if (c == '{' && peek(lexer, 0) == '-' && peek(lexer, 1) == '#') {
    lexer->position += 2;
    return TFRT_TOKEN_RESOURCES;
  }
  return c;
}

// Reads the tokens that are neither values, whose names are hashed, nor of the most frequent kinds.
static int lex_detail(tfrt_lexer_t* lexer, size_t begin) {
  char c = peek(lexer, 0);
  if (tfrt_text_is_of(c, TFRT_TEXT_DIGIT)) return lex_number(lexer);
  if (begin >= lexer->text.size) return TFRT_TOKEN_END;
  switch (c) {
    case '%':
      ++lexer->position;
      return fail(lexer, begin, "expected a name behind this character");
    case '"':
      return lex_string(lexer, begin, TFRT_TOKEN_STRING);
    case '^':
      return lex_name(lexer, begin, TFRT_TOKEN_CARET);
    case '#':
      if (peek(lexer, 1) == '-' && peek(lexer, 2) == '}') {
        lexer->position += 3;
        return TFRT_TOKEN_RESOURCES_END;
      }
      return lex_name(lexer, begin, TFRT_TOKEN_HASH);
    case '!':
      return lex_name(lexer, begin, TFRT_TOKEN_BANG);
    case '@':
      return lex_at(lexer, begin);
    case '-':
    case ':':
    case '{':
    case '/':
      return lex_punctuation(lexer);
    default:
      return lex_unknown(lexer, begin);
  }
}

// True if the text of a token of |kind| leaves its first byte out.
static bool has_sigil(int kind) { return kind >= TFRT_TOKEN_PERCENT && kind <= TFRT_TOKEN_BANG; }

// Makes |*out_token| one of |kind|, whose text is from |at| to |behind|.
static void end_token(tfrt_lexer_t* lexer, tfrt_token_t* out_token, int kind, const char* at,
                      const char* behind) {
  lexer->position = (size_t)(behind - lexer->text.data);
  out_token->kind = kind;
  out_token->text = tfrt_string_view_make(at, (size_t)(behind - at));
}

// At |at|, the position, is none of the tokens that most are.
static TFRT_COLD void next_detail(tfrt_lexer_t* lexer, tfrt_token_t* out_token, const char* at) {
  int kind = lex_detail(lexer, lexer->position);
  end_token(lexer, out_token, kind, at + (has_sigil(kind) ? 1 : 0),
            lexer->text.data + lexer->position);
}

_Static_assert(TFRT_TOKEN_BANG - TFRT_TOKEN_PERCENT == 4 && TFRT_TOKEN_AT > TFRT_TOKEN_PERCENT &&
                   TFRT_TOKEN_CARET > TFRT_TOKEN_AT && TFRT_TOKEN_HASH > TFRT_TOKEN_CARET,
               "the kinds with a sigil stand together");

void tfrt_lexer_next(tfrt_lexer_t* lexer, tfrt_token_t* out_token) {
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(lexer);
  tfrt_text_cursor_skip_lines(&cursor);
  tfrt_lexer_follow(lexer, &cursor);
  const char* at = cursor.at;
  const char* end = cursor.end;
  out_token->offset = lexer->position;
  out_token->line = cursor.line;
  out_token->column = (uint32_t)(at - cursor.line_begin) + 1;
  // Most tokens are values, words, or one byte.
  unsigned char lead = at < end ? tfrt_text_classes[(unsigned char)*at] : TFRT_TEXT_DETAIL;
  if (lead & TFRT_TEXT_PUNCTUATION) {
    end_token(lexer, out_token, *at, at, at + 1);
  } else if (lead & TFRT_TEXT_WORD_BEGIN) {
    end_token(lexer, out_token, TFRT_TOKEN_WORD, at, end_of_word(lexer, at, end));
  } else if (tfrt_text_is_value(at, end)) {
    const char* name = at + 1;
    end_token(lexer, out_token, TFRT_TOKEN_PERCENT, name,
              tfrt_text_end_of_value(name, end, &out_token->hash));
  } else {
    next_detail(lexer, out_token, at);
  }
}

bool tfrt_lexer_take(tfrt_lexer_t* lexer, char c) {
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(lexer);
  if (!tfrt_text_cursor_take(&cursor, c)) return false;
  tfrt_lexer_follow(lexer, &cursor);
  return true;
}

void tfrt_lexer_move(tfrt_lexer_t* lexer, const tfrt_token_t* from, size_t position) {
  lexer->line = from->line;
  lexer->line_begin = lexer->text.data + (from->offset + 1 - from->column);
  for (size_t i = from->offset; i < position; ++i) {
    if (lexer->text.data[i] != '\n') continue;
    ++lexer->line;
    lexer->line_begin = lexer->text.data + (i + 1);
  }
  lexer->position = position;
}

bool tfrt_lexer_decode_string(tfrt_lexer_t* lexer, const tfrt_token_t* token,
                              tfrt_string_builder_t* builder) {
  tfrt_string_builder_clear(builder);
  tfrt_string_view_t text = token->text;
  if (!memchr(text.data, '\\', text.size)) {
    tfrt_string_builder_append(builder, text.data + 1, text.size - 2);
    return true;
  }
  for (size_t i = 1; i + 1 < text.size; ++i) {
    char c = text.data[i];
    if (c != '\\') {
      tfrt_string_builder_append_char(builder, c);
      continue;
    }
    char escaped = text.data[++i];
    int high = tfrt_ascii_hex_digit(escaped);
    int low = i + 2 < text.size ? tfrt_ascii_hex_digit(text.data[i + 1]) : -1;
    if (escaped == '"' || escaped == '\\') {
      tfrt_string_builder_append_char(builder, escaped);
    } else if (escaped == 'n' || escaped == 't') {
      tfrt_string_builder_append_char(builder, escaped == 'n' ? '\n' : '\t');
    } else if (high >= 0 && low >= 0) {
      tfrt_string_builder_append_char(builder, (char)(high * 16 + low));
      ++i;
    } else {
      size_t offset = (size_t)(text.data - lexer->text.data) + i - 1;
      tfrt_diagnostics_report(lexer->diagnostics, TFRT_SEVERITY_ERROR, offset,
                              "unknown escape in a string; known are \\\\, \\\", \\n, \\t and two "
                              "hexadecimal digits");
      return false;
    }
  }
  return true;
}
