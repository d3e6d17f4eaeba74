// SPDX-License-Identifier: Apache-2.0
//
// A place in a text, and what can be taken there without making a token of it: what is as usual,
// on one line. The lexer makes tokens with the same classes of bytes and the same names.
//
//     %v12 = tfrt.add.i32 %v11, %c
//            at           behind a word was taken
//
// Life: begun at a place of the text, which outlives it; each take moves it behind what was there,
// or, where something else is, behind spaces at most.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: none fails; a take returns false or NULL where something else is.
#ifndef TFRT_COMPILER_PARSER_TEXT_CURSOR_H_
#define TFRT_COMPILER_PARSER_TEXT_CURSOR_H_

#include "compiler/ir/context.h"

// Classes of bytes; ASCII only, whatever the locale.
enum {
  TFRT_TEXT_BLANK = 1,
  TFRT_TEXT_DIGIT = 2,
  TFRT_TEXT_WORD_BEGIN = 4,
  TFRT_TEXT_WORD = 8,
  TFRT_TEXT_SUFFIX = 16,         // what may stand in the name of a value
  TFRT_TEXT_PUNCTUATION = 32,    // always a token of its own
  TFRT_TEXT_DETAIL = 64,         // begins a token that more than its first byte tells
  TFRT_TEXT_NOT_IN_STRING = 128  // what a string ends with, or is looked at in it
};

// The classes of each byte.
extern const unsigned char tfrt_text_classes[256];

typedef struct tfrt_text_cursor_s {
  const char* at;
  const char* end;         // of the text
  const char* line_begin;  // of the line that |at| is on
  uint32_t line;           // its number
} tfrt_text_cursor_t;

// True if |c| is of one of the |wanted| classes. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_text_is_of(char c, int wanted) {
  return tfrt_text_classes[(unsigned char)c] & wanted;
}

// Where the bytes from |at| on end that are of one of the |wanted| classes. Thread-safe.
TFRT_ALWAYS_INLINE const char* tfrt_text_end_of(const char* at, const char* end, int wanted) {
  while (at < end && tfrt_text_is_of(*at, wanted)) ++at;
  return at;
}

// True if the name of a value, with its `%`, begins at |at|. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_text_is_value(const char* at, const char* end) {
  return end - at >= 2 && at[0] == '%' && tfrt_text_is_of(at[1], TFRT_TEXT_SUFFIX);
}

// Where the name of a value from |at| on, behind its `%`, ends: digits alone, or any suffix. Names
// are looked up right away, so they are hashed while they are read. Thread-safe.
TFRT_ALWAYS_INLINE const char* tfrt_text_end_of_value(const char* at, const char* end,
                                                      uint64_t* out_hash) {
  bool is_number = tfrt_text_is_of(*at, TFRT_TEXT_DIGIT);
  uint64_t hash = 0;
  for (;;) {
    while (at < end && *at >= '0' && *at <= '9') hash = tfrt_ir_string_hash_add(hash, *at++);
    if (is_number || at == end || !tfrt_text_is_of(*at, TFRT_TEXT_SUFFIX)) break;
    hash = tfrt_ir_string_hash_add(hash, *at++);
  }
  *out_hash = hash;
  return at;
}

// Moves behind spaces, which most that stands between tokens is. Thread-compatible.
TFRT_ALWAYS_INLINE void tfrt_text_cursor_skip_spaces(tfrt_text_cursor_t* cursor) {
  while (cursor->at < cursor->end && *cursor->at == ' ') ++cursor->at;
}

// Where the comment that begins at |at| ends, at the end of its line; |at| if none begins there.
// Given no cursor, which so stays in registers where it moves. Thread-safe.
const char* tfrt_text_end_of_comment(const char* at, const char* end);

// Moves behind the end of a line. Thread-compatible.
TFRT_ALWAYS_INLINE void tfrt_text_cursor_end_line(tfrt_text_cursor_t* cursor) {
  cursor->line_begin = ++cursor->at;
  ++cursor->line;
}

// Moves behind blanks and comments, from line to line. Thread-compatible.
TFRT_ALWAYS_INLINE void tfrt_text_cursor_skip_lines(tfrt_text_cursor_t* cursor) {
  for (;;) {
    tfrt_text_cursor_skip_spaces(cursor);
    if (cursor->at == cursor->end) return;
    if (*cursor->at == '\n') {
      tfrt_text_cursor_end_line(cursor);
    } else if (tfrt_text_is_of(*cursor->at, TFRT_TEXT_BLANK)) {
      ++cursor->at;
    } else {
      if (*cursor->at != '/') return;
      const char* behind = tfrt_text_end_of_comment(cursor->at, cursor->end);
      if (behind == cursor->at) return;
      cursor->at = behind;
    }
  }
}

// Takes |c|, a punctuation character. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_text_cursor_take(tfrt_text_cursor_t* cursor, char c) {
  tfrt_text_cursor_skip_spaces(cursor);
  if (cursor->at == cursor->end || *cursor->at != c) return false;
  ++cursor->at;
  return true;
}

// Takes the word |*out_word|. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_text_cursor_take_word(tfrt_text_cursor_t* cursor,
                                                   tfrt_string_view_t* out_word) {
  tfrt_text_cursor_skip_spaces(cursor);
  const char* begin = cursor->at;
  if (begin == cursor->end || !tfrt_text_is_of(*begin, TFRT_TEXT_WORD_BEGIN)) return false;
  cursor->at = tfrt_text_end_of(begin, cursor->end, TFRT_TEXT_WORD);
  *out_word = tfrt_string_view_make(begin, (size_t)(cursor->at - begin));
  return true;
}

// Takes `%name`; |*out_name| is the name and |*out_hash| its hash. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_text_cursor_take_value(tfrt_text_cursor_t* cursor,
                                                    tfrt_string_view_t* out_name,
                                                    uint64_t* out_hash) {
  tfrt_text_cursor_skip_spaces(cursor);
  if (!tfrt_text_is_value(cursor->at, cursor->end)) return false;
  const char* begin = cursor->at + 1;
  cursor->at = tfrt_text_end_of_value(begin, cursor->end, out_hash);
  *out_name = tfrt_string_view_make(begin, (size_t)(cursor->at - begin));
  return true;
}

// True if |known| stands at |at| and no byte of the class |more|, which would go on with it, is
// behind it. Something is behind the words and names of all but wrong programs. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_text_is_known(const char* at, const char* end,
                                           const tfrt_ir_string_t* known, int more) {
  size_t size = known->size;
  return (size_t)(end - at) > size && !tfrt_text_is_of(at[size], more) &&
         tfrt_string_view_equal_short(tfrt_string_view_make(at, size), tfrt_ir_string_view(known));
}

// Takes the word |known|. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_text_cursor_take_known_word(tfrt_text_cursor_t* cursor,
                                                         const tfrt_ir_string_t* known) {
  tfrt_text_cursor_skip_spaces(cursor);
  if (!tfrt_text_is_known(cursor->at, cursor->end, known, TFRT_TEXT_WORD)) return false;
  cursor->at += known->size;
  return true;
}

// Takes `%name` with one of two names (each may be NULL) of values that were read before, and
// returns which, or NULL. Thread-compatible.
TFRT_ALWAYS_INLINE const tfrt_ir_string_t* tfrt_text_cursor_take_known_value(
    tfrt_text_cursor_t* cursor, const tfrt_ir_string_t* first, const tfrt_ir_string_t* second) {
  tfrt_text_cursor_skip_spaces(cursor);
  if (cursor->at == cursor->end || *cursor->at != '%') return NULL;
  const char* name = cursor->at + 1;
  const tfrt_ir_string_t* found = first;
  if (!found || !tfrt_text_is_known(name, cursor->end, found, TFRT_TEXT_SUFFIX)) found = second;
  if (!found) return NULL;
  if (found == second && !tfrt_text_is_known(name, cursor->end, found, TFRT_TEXT_SUFFIX)) {
    return NULL;
  }
  cursor->at = name + found->size;
  return found;
}

#endif  // TFRT_COMPILER_PARSER_TEXT_CURSOR_H_
