// SPDX-License-Identifier: Apache-2.0

#include "compiler/lexer.h"

#include <stdio.h>

// Classes of bytes; ASCII only, whatever the locale.
enum {
  BLANK = 1,
  DIGIT = 2,
  WORD_BEGIN = 4,
  WORD = 8,
  SUFFIX = 16,         // what may stand in the name of a value
  PUNCTUATION = 32,    // always a token of its own
  DETAIL = 64,         // begins a token that more than its first byte tells
  NOT_IN_STRING = 128  // what a string ends with, or is looked at in it
};

enum { IN_DIGIT = DIGIT | WORD | SUFFIX, IN_LETTER = WORD_BEGIN | WORD | SUFFIX };

static const unsigned char classes[256] = {
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\n'] = BLANK | NOT_IN_STRING,
    ['\r'] = BLANK,
    ['0' ... '9'] = IN_DIGIT,
    ['a' ... 'z'] = IN_LETTER,
    ['A' ... 'Z'] = IN_LETTER,
    ['_'] = IN_LETTER,
    ['$'] = WORD | SUFFIX,
    ['.'] = WORD | SUFFIX,
    ['-'] = SUFFIX | DETAIL,
    ['('] = PUNCTUATION,
    [')'] = PUNCTUATION,
    ['{'] = DETAIL,
    ['}'] = PUNCTUATION,
    ['['] = PUNCTUATION,
    [']'] = PUNCTUATION,
    ['<'] = PUNCTUATION,
    ['>'] = PUNCTUATION,
    [','] = PUNCTUATION,
    [':'] = DETAIL,
    ['='] = PUNCTUATION,
    ['+'] = PUNCTUATION,
    ['*'] = PUNCTUATION,
    ['?'] = PUNCTUATION,
    ['/'] = DETAIL,
    ['|'] = PUNCTUATION,
    ['"'] = DETAIL | NOT_IN_STRING,
    ['\\'] = NOT_IN_STRING,
    ['%'] = DETAIL,
    ['@'] = DETAIL,
    ['^'] = DETAIL,
    ['#'] = DETAIL,
    ['!'] = DETAIL,
};

// True if |c| is of one of the |wanted| classes.
static bool is_of(char c, int wanted) { return classes[(unsigned char)c] & wanted; }

static int hex_value(char c) {
  if (is_of(c, DIGIT)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void tfrt_lexer_initialize(tfrt_lexer_t* lexer, tfrt_diagnostics_t* diagnostics) {
  *lexer = (tfrt_lexer_t){
      .diagnostics = diagnostics, .text = diagnostics->text, .line = diagnostics->first_line};
  if (!lexer->text.data) lexer->text = tfrt_string_view_of("");
}

// The byte |ahead| of the position, or 0 behind the end.
static char peek(const tfrt_lexer_t* lexer, size_t ahead) {
  size_t position = lexer->position + ahead;
  return position < lexer->text.size ? lexer->text.data[position] : 0;
}

// Where the bytes from |at| on end that are of one of the |wanted| classes.
static const char* end_of(const char* at, const char* end, int wanted) {
  while (at < end && is_of(*at, wanted)) ++at;
  return at;
}

// Where the word that begins at |at| ends. Many are like the one before, which is seen at once.
static const char* end_of_word(tfrt_lexer_t* lexer, const char* at, const char* end) {
  size_t size = lexer->last_word.size;
  bool is_same = (size_t)(end - at) > size && !is_of(at[size], WORD) &&
                 tfrt_string_view_equal_short(tfrt_string_view_make(at, size), lexer->last_word);
  if (is_same) return at + size;
  const char* behind = end_of(at + 1, end, WORD);
  lexer->last_word = tfrt_string_view_make(at, (size_t)(behind - at));
  return behind;
}

// Moves on while bytes are of one of the |wanted| classes.
static void skip_while(tfrt_lexer_t* lexer, int wanted) {
  const char* data = lexer->text.data;
  const char* at = end_of(data + lexer->position, data + lexer->text.size, wanted);
  lexer->position = (size_t)(at - data);
}

// Where blanks from |at| on end; keeps account of lines.
static const char* skip_blanks(tfrt_lexer_t* lexer, const char* at, const char* end) {
  for (;; ++at) {
    while (at < end && *at == ' ') ++at;
    if (at == end || !is_of(*at, BLANK)) return at;
    if (*at != '\n') continue;
    ++lexer->line;
    lexer->line_begin = (size_t)(at + 1 - lexer->text.data);
  }
}

static bool is_comment(const char* at, const char* end) {
  return end - at >= 2 && at[0] == '/' && at[1] == '/';
}

// Where the comments that begin at |at| end, and what is blank behind them.
static const char* skip_comments(tfrt_lexer_t* lexer, const char* at, const char* end) {
  while (is_comment(at, end)) {
    const char* newline = memchr(at, '\n', (size_t)(end - at));
    at = skip_blanks(lexer, newline ? newline : end, end);
  }
  return at;
}

// Each of the following moves behind one token, which begins at byte |begin|, and returns its
// kind.

static int fail(const tfrt_lexer_t* lexer, size_t begin, const char* message) {
  if (lexer->is_quiet) return TFRT_TOKEN_ERROR;
  tfrt_diagnostics_report(lexer->diagnostics, TFRT_SEVERITY_ERROR, begin, "%s", message);
  return TFRT_TOKEN_ERROR;
}

static bool is_no_token(char c) { return !is_of(c, ~NOT_IN_STRING); }

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
  if (peek(lexer, 0) == '0' && peek(lexer, 1) == 'x' && hex_value(peek(lexer, 2)) >= 0) {
    lexer->position += 2;
    while (hex_value(peek(lexer, 0)) >= 0) ++lexer->position;
    return TFRT_TOKEN_INTEGER;
  }
  skip_while(lexer, DIGIT);
  if (peek(lexer, 0) != '.') return TFRT_TOKEN_INTEGER;
  ++lexer->position;
  skip_while(lexer, DIGIT);
  size_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 1 : 0;
  if ((peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') && is_of(peek(lexer, 1 + sign), DIGIT)) {
    lexer->position += 1 + sign;
    skip_while(lexer, DIGIT);
  }
  return TFRT_TOKEN_FLOAT;
}

// Moves behind the string that begins at the position; false if it doesn't end on its
// line.
static bool skip_string(tfrt_lexer_t* lexer) {
  const char* end = lexer->text.data + lexer->text.size;
  const char* at = lexer->text.data + lexer->position + 1;
  for (;; at += at + 1 < end && at[1] != '\n' ? 2 : 1) {
    while (at < end && !is_of(*at, NOT_IN_STRING)) ++at;
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

static bool is_value_name(const char* at, const char* end) {
  return end - at >= 2 && at[0] == '%' && is_of(at[1], SUFFIX);
}

// Where the name of a value from |at| on ends: digits alone, or any suffix. Names are looked up
// right away, so they are hashed while they are read.
static const char* end_of_value_name(const char* at, const char* end, uint64_t* out_hash) {
  bool is_number = is_of(*at, DIGIT);
  uint64_t hash = 0;
  for (;;) {
    while (at < end && *at >= '0' && *at <= '9') hash = tfrt_ir_string_hash_add(hash, *at++);
    if (is_number || at == end || !is_of(*at, SUFFIX)) break;
    hash = tfrt_ir_string_hash_add(hash, *at++);
  }
  *out_hash = hash;
  return at;
}

// A sigil and a name: ^bb0, #alias, !tfrt.chain.
static int lex_name(tfrt_lexer_t* lexer, size_t begin, int kind) {
  ++lexer->position;
  if (is_of(peek(lexer, 0), DIGIT)) {
    skip_while(lexer, DIGIT);
  } else {
    skip_while(lexer, kind == TFRT_TOKEN_BANG || kind == TFRT_TOKEN_HASH ? WORD : SUFFIX);
  }
  if (lexer->position == begin + 1) {
    return fail(lexer, begin, "expected a name behind this character");
  }
  return kind;
}

static int lex_at(tfrt_lexer_t* lexer, size_t begin) {
  ++lexer->position;
  if (peek(lexer, 0) == '"') return lex_string(lexer, begin, TFRT_TOKEN_AT);
  if (!is_of(peek(lexer, 0), WORD_BEGIN)) return fail(lexer, begin, "expected a name behind '@'");
  skip_while(lexer, WORD);
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

// What is no value, whose names are hashed, and none of the tokens that most are.
static int lex_detail(tfrt_lexer_t* lexer, size_t begin) {
  char c = peek(lexer, 0);
  if (is_of(c, DIGIT)) return lex_number(lexer);
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

// At |at| is none of the tokens that most are, or a comment.
static TFRT_COLD void next_detail(tfrt_lexer_t* lexer, tfrt_token_t* out_token, const char* at) {
  const char* end = lexer->text.data + lexer->text.size;
  bool is_behind = is_comment(at, end);
  if (is_behind) at = skip_comments(lexer, at, end);
  lexer->position = (size_t)(at - lexer->text.data);
  if (is_behind) {
    tfrt_lexer_next(lexer, out_token);
    return;
  }
  int kind = lex_detail(lexer, lexer->position);
  end_token(lexer, out_token, kind, at + (has_sigil(kind) ? 1 : 0),
            lexer->text.data + lexer->position);
}

_Static_assert(TFRT_TOKEN_BANG - TFRT_TOKEN_PERCENT == 4 && TFRT_TOKEN_AT > TFRT_TOKEN_PERCENT &&
                   TFRT_TOKEN_CARET > TFRT_TOKEN_AT && TFRT_TOKEN_HASH > TFRT_TOKEN_CARET,
               "the kinds with a sigil stand together");

void tfrt_lexer_next(tfrt_lexer_t* lexer, tfrt_token_t* out_token) {
  const char* data = lexer->text.data;
  const char* end = data + lexer->text.size;
  const char* at = skip_blanks(lexer, data + lexer->position, end);
  size_t begin = (size_t)(at - data);
  out_token->offset = begin;
  out_token->line = lexer->line;
  out_token->column = (uint32_t)(begin - lexer->line_begin) + 1;
  // Most tokens are values, words, or one byte.
  unsigned char lead = at < end ? classes[(unsigned char)*at] : DETAIL;
  if (lead & PUNCTUATION) {
    end_token(lexer, out_token, *at, at, at + 1);
  } else if (lead & WORD_BEGIN) {
    end_token(lexer, out_token, TFRT_TOKEN_WORD, at, end_of_word(lexer, at, end));
  } else if (is_value_name(at, end)) {
    const char* name = at + 1;
    end_token(lexer, out_token, TFRT_TOKEN_PERCENT, name,
              end_of_value_name(name, end, &out_token->hash));
  } else {
    next_detail(lexer, out_token, at);
  }
}

// Where the spaces from the position on end, which most that stands between tokens is.
static const char* skip_spaces(const tfrt_lexer_t* lexer, const char* end) {
  const char* at = lexer->text.data + lexer->position;
  while (at < end && *at == ' ') ++at;
  return at;
}

bool tfrt_lexer_take(tfrt_lexer_t* lexer, char c) {
  const char* end = lexer->text.data + lexer->text.size;
  const char* at = skip_spaces(lexer, end);
  if (at == end || *at != c) return false;
  lexer->position = (size_t)(at + 1 - lexer->text.data);
  return true;
}

bool tfrt_lexer_take_value(tfrt_lexer_t* lexer, tfrt_string_view_t* out_name, uint64_t* out_hash) {
  const char* end = lexer->text.data + lexer->text.size;
  const char* at = skip_spaces(lexer, end);
  if (!is_value_name(at, end)) return false;
  const char* behind = end_of_value_name(at + 1, end, out_hash);
  *out_name = tfrt_string_view_make(at + 1, (size_t)(behind - at - 1));
  lexer->position = (size_t)(behind - lexer->text.data);
  return true;
}

// True if the name of a value that begins at |at| is |known|. Something is behind the names of all
// but wrong programs.
static bool is_known_name(const char* at, const char* end, const tfrt_ir_string_t* known) {
  return known && (size_t)(end - at) > known->size && !is_of(at[known->size], SUFFIX) &&
         tfrt_string_view_equal_short(tfrt_string_view_make(at, known->size),
                                      tfrt_ir_string_view(known));
}

const tfrt_ir_string_t* tfrt_lexer_take_known_value(tfrt_lexer_t* lexer,
                                                    const tfrt_ir_string_t* first,
                                                    const tfrt_ir_string_t* second) {
  const char* end = lexer->text.data + lexer->text.size;
  const char* at = skip_spaces(lexer, end);
  if (at == end || *at != '%') return NULL;
  const char* name = at + 1;
  const tfrt_ir_string_t* found = is_known_name(name, end, first)    ? first
                                  : is_known_name(name, end, second) ? second
                                                                     : NULL;
  if (found) lexer->position = (size_t)(name + found->size - lexer->text.data);
  return found;
}

void tfrt_lexer_move(tfrt_lexer_t* lexer, const tfrt_token_t* from, size_t position) {
  lexer->line = from->line;
  lexer->line_begin = from->offset + 1 - from->column;
  for (size_t i = from->offset; i < position; ++i) {
    if (lexer->text.data[i] != '\n') continue;
    ++lexer->line;
    lexer->line_begin = i + 1;
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
    int high = hex_value(escaped);
    int low = i + 2 < text.size ? hex_value(text.data[i + 1]) : -1;
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
