// SPDX-License-Identifier: Apache-2.0
//
// Characters of UTF-8 (RFC 3629) in texts that may be none: paths, and what programs and peers say.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_UTF8_H_
#define TFRT_HOST_RUNTIME_BASE_UTF8_H_

#include <stddef.h>

#include "host_runtime/base/string_view.h"

// The size of the character that |text|, which isn't empty, begins with; 0 if it begins with none.
// Only the second byte's range depends on the first one: that rules out overlong forms (C0, C1,
// E0 80, F0 80), surrogates (ED A0) and what is above U+10FFFF (F4 90). Thread-safe.
static inline size_t tfrt_utf8_character_size(tfrt_string_view_t text) {
  const unsigned char* bytes = (const unsigned char*)text.data;
  unsigned char first = bytes[0];
  if (first < 0x80) return 1;
  size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size < size) return 0;
  unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < low || bytes[1] > high) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  }
  return size;
}

// Room for what stands for one character, with a NUL.
#define TFRT_UTF8_SHOWN_SIZE 8

// Sets |out_shown|, NUL-terminated, to a printable form of the first character of |text|, which
// isn't empty. It makes foreign text one line without terminal commands: escapes of JSON for
// control characters (below U+0020, and U+007F to U+009F), and \ufffd for a byte that begins no
// character. Returns the size of the character. Thread-safe.
size_t tfrt_utf8_show(tfrt_string_view_t text, char out_shown[TFRT_UTF8_SHOWN_SIZE]);

// The size of all of |text|, shown in that way. Thread-safe.
size_t tfrt_utf8_shown_size(tfrt_string_view_t text);

#endif  // TFRT_HOST_RUNTIME_BASE_UTF8_H_
