// SPDX-License-Identifier: Apache-2.0
//
// Text to tokens, by MLIR's lexical rules. One token at a time, with its place, so
// that nothing has to be counted again for locations and messages.
//
// Text inside of types (the `2x3xf32` in a tensor's brackets, the free text of a dialect's type) is
// no token. The parser reads these bytes itself and moves the lexer behind them.
//
// Life:
//  1. Initialised on the text of some diagnostics.
//  2. tfrt_lexer_next() until the kind is END. Characters that belong to no token are
//     reported, once per run of them, and give an ERROR token.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: ERROR tokens, each reported already.
#ifndef TFRT_COMPILER_PARSER_LEXER_H_
#define TFRT_COMPILER_PARSER_LEXER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/parser/text_cursor.h"

typedef enum tfrt_token_kind_e {
  TFRT_TOKEN_END = 0,
  TFRT_TOKEN_ERROR,
  TFRT_TOKEN_WORD,     // tfrt.add.i32, true, x2
  TFRT_TOKEN_PERCENT,  // %name; the text is without the %
  TFRT_TOKEN_AT,       // @name or @"any name"; the text is without the @, quotes kept
  TFRT_TOKEN_CARET,    // ^bb0; without the ^
  TFRT_TOKEN_HASH,     // #alias, #dialect.name, and #3 behind a value; without the #
  TFRT_TOKEN_BANG,     // !tfrt.chain; without the !
  TFRT_TOKEN_INTEGER,  // 42, 0x2A
  TFRT_TOKEN_FLOAT,    // 1.5e+00
  TFRT_TOKEN_STRING,   // "text"; with its quotes, escapes as written
  TFRT_TOKEN_ARROW,    // ->
  TFRT_TOKEN_COLON_COLON,
  TFRT_TOKEN_RESOURCES,      // {-#, where the resources of a file begin
  TFRT_TOKEN_RESOURCES_END,  // #-}
  // The other kinds are punctuation: the character itself.
} tfrt_token_kind_t;

typedef struct tfrt_token_s {
  int kind;       // tfrt_token_kind_t, or a character
  uint64_t hash;  // of the text of a PERCENT (tfrt_ir_string_hash_add())
  tfrt_string_view_t text;
  size_t offset;    // of the token's first byte, its sigil included
  uint32_t line;    // 1-based
  uint32_t column;  // 1-based, in bytes
} tfrt_token_t;

typedef struct tfrt_lexer_s {
  tfrt_diagnostics_t* diagnostics;
  tfrt_string_view_t text;
  size_t position;
  const char* line_begin;        // of the line that the position is on
  uint32_t line;                 // its number
  tfrt_string_view_t last_word;  // the next one is often the same
} tfrt_lexer_t;

// Starts at the first byte of the text of |diagnostics|. Thread-compatible (caller
// synchronises).
void tfrt_lexer_initialize(tfrt_lexer_t* lexer, tfrt_diagnostics_t* diagnostics);

// Sets |*out_token| to the next token, skipping blanks and comments. Thread-compatible (caller
// synchronises).
void tfrt_lexer_next(tfrt_lexer_t* lexer, tfrt_token_t* out_token);

// Moves behind |c|, a punctuation character that is always a token of its own, and spaces before
// it, and returns true; false, and nothing has happened, if something else follows.
// Thread-compatible (caller synchronises).
bool tfrt_lexer_take(tfrt_lexer_t* lexer, char c);

// A cursor at the position. Thread-compatible (caller synchronises).
static inline tfrt_text_cursor_t tfrt_lexer_cursor(const tfrt_lexer_t* lexer) {
  return (tfrt_text_cursor_t){.at = lexer->text.data + lexer->position,
                              .end = lexer->text.data + lexer->text.size,
                              .line_begin = lexer->line_begin,
                              .line = lexer->line};
}

// A cursor at the first byte of |token|, the last one. Thread-compatible (caller synchronises).
static inline tfrt_text_cursor_t tfrt_lexer_cursor_at(const tfrt_lexer_t* lexer,
                                                      const tfrt_token_t* token) {
  const char* at = lexer->text.data + token->offset;
  return (tfrt_text_cursor_t){.at = at,
                              .end = lexer->text.data + lexer->text.size,
                              .line_begin = at + 1 - token->column,
                              .line = token->line};
}

// Moves to where |cursor| is, which was one at the position or at the last token. Thread-compatible
// (caller synchronises).
static inline void tfrt_lexer_follow(tfrt_lexer_t* lexer, const tfrt_text_cursor_t* cursor) {
  lexer->position = (size_t)(cursor->at - lexer->text.data);
  lexer->line_begin = cursor->line_begin;
  lexer->line = cursor->line;
}

// Lets the next token be looked for at byte |position|, which lies not before the end
// of the previous token's first byte and on a known line: at or behind the last
// token's begin. Thread-compatible (caller synchronises).
void tfrt_lexer_move(tfrt_lexer_t* lexer, const tfrt_token_t* from, size_t position);

// Decodes the STRING |token|, or the quoted name of an AT token, into |builder|
// (cleared first). Returns false, after a report, if an escape is malformed.
// Thread-compatible (caller synchronises).
bool tfrt_lexer_decode_string(tfrt_lexer_t* lexer, const tfrt_token_t* token,
                              tfrt_string_builder_t* builder);

#endif  // TFRT_COMPILER_PARSER_LEXER_H_
