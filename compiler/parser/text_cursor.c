// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/text_cursor.h"

enum {
  BLANK = TFRT_TEXT_BLANK,
  DIGIT = TFRT_TEXT_DIGIT,
  WORD_BEGIN = TFRT_TEXT_WORD_BEGIN,
  WORD = TFRT_TEXT_WORD,
  SUFFIX = TFRT_TEXT_SUFFIX,
  PUNCTUATION = TFRT_TEXT_PUNCTUATION,
  DETAIL = TFRT_TEXT_DETAIL,
  NOT_IN_STRING = TFRT_TEXT_NOT_IN_STRING,
  IN_DIGIT = DIGIT | WORD | SUFFIX,
  IN_LETTER = WORD_BEGIN | WORD | SUFFIX
};

const unsigned char tfrt_text_classes[256] = {
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

const char* tfrt_text_end_of_comment(const char* at, const char* end) {
  size_t size = (size_t)(end - at);
  if (size < 2 || at[0] != '/' || at[1] != '/') return at;
  const char* newline = memchr(at, '\n', size);
  return newline ? newline : end;
}
