// SPDX-License-Identifier: Apache-2.0
//
// A position in a section of a BEF image that never leaves it: how the loader reads
// what nobody has checked yet. Private to this room.
//
//   image ....[ section: done | position -> rest ]end ....
//
// Life:
//  1. A plain value, made for a section, or a part of one.
//  2. Read from; each read moves |position| or fails and names the place.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT with section, function, kernel and byte offset in the
// file; the cursor then stays where the bad value begins.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_CURSOR_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_CURSOR_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

#define TFRT_BEF_NO_INDEX UINT32_MAX

typedef struct tfrt_bef_cursor_s {
  const uint8_t* image;  // byte 0 of the file
  const uint8_t* position;
  const uint8_t* end;
  // For messages: where in the file this is.
  const char* section;
  const char* function_name;  // NULL: unknown
  uint32_t function;          // TFRT_BEF_NO_INDEX: none
  uint32_t kernel;            // TFRT_BEF_NO_INDEX: none
} tfrt_bef_cursor_t;

// The number of bytes left. Thread-compatible.
static inline size_t tfrt_bef_cursor_left(const tfrt_bef_cursor_t* cursor) {
  return (size_t)(cursor->end - cursor->position);
}

// Returns INVALID_ARGUMENT (+1) with the formatted message about the byte at |at| behind the
// place of |cursor|. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_error(const tfrt_bef_cursor_t* cursor, const uint8_t* at,
                                    const char* format, ...) TFRT_MUST_USE TFRT_PRINTF(3, 4);

// Reads one byte. Errors: the end. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_byte(tfrt_bef_cursor_t* cursor, uint8_t* out_byte) TFRT_MUST_USE;

// Reads one VBR integer of at most 64 bits. Errors: the end, or more bits. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_vbr(tfrt_bef_cursor_t* cursor, uint64_t* out_value)
    TFRT_MUST_USE;

// Reads one VBR integer of at most 32 bits, which is |what|. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_u32(tfrt_bef_cursor_t* cursor, const char* what,
                                       uint32_t* out_value) TFRT_MUST_USE;

// Reads one VBR integer below |limit|, which is |what|. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_any_index(tfrt_bef_cursor_t* cursor, const char* what,
                                             uint64_t limit, uint32_t* out_value) TFRT_MUST_USE;

// In a word of the image: the bits of its bytes that say that a VBR integer goes on.
#define TFRT_BEF_CURSOR_HIGH_BITS UINT64_C(0x8080808080808080)

// The most bytes that tfrt_bef_cursor_read_short() looks at.
#define TFRT_BEF_CURSOR_SHORT_SIZE sizeof(uint32_t)

// The number whose VBR has the bytes of |word| up to byte |last| < 4, the first one lowest.
// Thread-safe.
static inline uint32_t tfrt_bef_cursor_join(uint32_t word, unsigned last) {
  // Pairs of 7 bits, and then of 14, are moved together.
  uint32_t bits = __builtin_bswap32(word) >> (24 - 8 * last) & 0x7F7F7F7F;
  bits = (bits & 0x007F007F) | (bits & 0x7F007F00) >> 1;
  return (bits & 0x00003FFF) | (bits & 0x3FFF0000) >> 2;
}

// Reads the VBR integer at |at|, behind which TFRT_BEF_CURSOR_SHORT_SIZE bytes can be read, and
// returns what is behind it; NULL if it is longer than that. Nearly all of a program are shorter.
// Thread-safe.
TFRT_ALWAYS_INLINE const uint8_t* tfrt_bef_cursor_read_short(const uint8_t* at,
                                                             uint32_t* out_value) {
  *out_value = *at;
  if (TFRT_LIKELY(*at < 0x80)) return at + 1;
  uint32_t word;
  memcpy(&word, at, sizeof(word));
  const uint32_t ends = ~word & (uint32_t)TFRT_BEF_CURSOR_HIGH_BITS;
  if (TFRT_UNLIKELY(ends == 0)) return NULL;
  const unsigned last = (unsigned)__builtin_ctz(ends) / 8;
  *out_value = tfrt_bef_cursor_join(word, last);
  return at + last + 1;
}

// The same; inline for short numbers.
static inline TFRT_MUST_USE tfrt_status_t tfrt_bef_cursor_read_index(tfrt_bef_cursor_t* cursor,
                                                                     const char* what,
                                                                     uint64_t limit,
                                                                     uint32_t* out_value) {
  const uint8_t* at = cursor->position;
  if (TFRT_LIKELY(tfrt_bef_cursor_left(cursor) >= TFRT_BEF_CURSOR_SHORT_SIZE)) {
    uint32_t value;
    const uint8_t* behind = tfrt_bef_cursor_read_short(at, &value);
    if (TFRT_LIKELY(behind && value < limit)) {
      cursor->position = behind;
      *out_value = value;
      return NULL;
    }
  }
  return tfrt_bef_cursor_read_any_index(cursor, what, limit, out_value);
}

// Reads |count| VBR integers below |limit|, which are |what|, into |out_values|, which may be NULL:
// then they are only looked at. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_indices(tfrt_bef_cursor_t* cursor, const char* what,
                                           uint64_t limit, uint32_t count, uint32_t* out_values)
    TFRT_MUST_USE;

// Reads the number of items of at least |item_size| bytes each that follow. A number that
// can't fit in what is left is an error, so that it may be allocated for. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_count(tfrt_bef_cursor_t* cursor, const char* what,
                                         size_t item_size, uint32_t* out_count) TFRT_MUST_USE;

// Reads a NUL-terminated string in place. Errors: no NUL before the end. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_read_string(tfrt_bef_cursor_t* cursor, const char** out_string)
    TFRT_MUST_USE;

// Moves |cursor| up to the next multiple of |alignment| from the start of the file. Errors:
// the end. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_align(tfrt_bef_cursor_t* cursor, size_t alignment) TFRT_MUST_USE;

// Checks that the |count| words at |words|, which are |what| and lie in the image, are below
// |limit|. Thread-compatible.
static inline TFRT_MUST_USE tfrt_status_t
tfrt_bef_cursor_check_range(const tfrt_bef_cursor_t* cursor, const char* what,
                            const uint32_t* words, uint32_t count, size_t limit) {
  for (uint32_t i = 0; i < count; ++i) {
    if (TFRT_LIKELY(words[i] < limit)) continue;
    return tfrt_bef_cursor_error(cursor, (const uint8_t*)(const void*)&words[i],
                                 "%s %" PRIu32 " is out of range (there are %zu)", what, words[i],
                                 limit);
  }
  return NULL;
}

// OK if all bytes were read, else an error. Thread-compatible.
tfrt_status_t tfrt_bef_cursor_expect_end(const tfrt_bef_cursor_t* cursor) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_CURSOR_H_
