// SPDX-License-Identifier: Apache-2.0
//
// Classes of ASCII characters. <ctype.h> and strcasecmp ask the locale of the process, which a
// program that embeds the runtime may set: a Turkish one has another capital of "i", and a
// one-byte one has letters above 127.
//
// Thread rule: thread-safe.
#ifndef TFRT_HOST_RUNTIME_BASE_ASCII_H_
#define TFRT_HOST_RUNTIME_BASE_ASCII_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

static inline bool tfrt_ascii_is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool tfrt_ascii_is_lower(char c) { return c >= 'a' && c <= 'z'; }

static inline bool tfrt_ascii_is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static inline bool tfrt_ascii_is_letter(char c) {
  return tfrt_ascii_is_lower(c) || tfrt_ascii_is_upper(c);
}

static inline bool tfrt_ascii_is_letter_or_digit(char c) {
  return tfrt_ascii_is_letter(c) || tfrt_ascii_is_digit(c);
}

// Blanks and the characters that end a line.
static inline bool tfrt_ascii_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline char tfrt_ascii_to_upper(char c) {
  return tfrt_ascii_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

// The value of the hexadecimal digit |c|, or -1.
static inline int tfrt_ascii_hex_digit(char c) {
  if (tfrt_ascii_is_digit(c)) return c - '0';
  char upper = tfrt_ascii_to_upper(c);
  return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

// Whether the |size| bytes at |a| and |b| are equal but for the case of letters.
static inline bool tfrt_ascii_equal_ignoring_case(const char* a, const char* b, size_t size) {
  size_t i = 0;
  while (i < size && tfrt_ascii_to_upper(a[i]) == tfrt_ascii_to_upper(b[i])) ++i;
  return i == size;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_ASCII_H_
