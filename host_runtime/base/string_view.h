// SPDX-License-Identifier: Apache-2.0
//
// A borrowed piece of text or bytes: pointer and length, not NUL-terminated. Its
// bytes belong to somebody else, who must outlive it.
//
// Thread rule: a value. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_STRING_VIEW_H_
#define TFRT_HOST_RUNTIME_BASE_STRING_VIEW_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_string_view_s {
  const char* data;
  size_t size;
} tfrt_string_view_t;

// For printf: "%.*s" takes TFRT_STRING_VIEW_ARGUMENTS(view).
#define TFRT_STRING_VIEW_ARGUMENTS(view) (int)(view).size, (view).data

static inline tfrt_string_view_t tfrt_string_view_make(const char* data, size_t size) {
  tfrt_string_view_t view = {data, size};
  return view;
}

// The view of a NUL-terminated string; NULL gives an empty view.
static inline tfrt_string_view_t tfrt_string_view_of(const char* text) {
  return tfrt_string_view_make(text, text ? strlen(text) : 0);
}

static inline bool tfrt_string_view_equal(tfrt_string_view_t a, tfrt_string_view_t b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

// The same where most are names of up to 16 bytes, and to call memcmp() would take longer than to
// compare: words that overlap are read from both ends.
TFRT_ALWAYS_INLINE bool tfrt_string_view_equal_short(tfrt_string_view_t a, tfrt_string_view_t b) {
  size_t size = a.size;
  if (size != b.size) return false;
  if (size > 16) return memcmp(a.data, b.data, size) == 0;
  if (size >= 8) {
    uint64_t words[4];
    memcpy(&words[0], a.data, 8);
    memcpy(&words[1], b.data, 8);
    memcpy(&words[2], a.data + size - 8, 8);
    memcpy(&words[3], b.data + size - 8, 8);
    return words[0] == words[1] && words[2] == words[3];
  }
  if (size >= 4) {
    uint32_t words[4];
    memcpy(&words[0], a.data, 4);
    memcpy(&words[1], b.data, 4);
    memcpy(&words[2], a.data + size - 4, 4);
    memcpy(&words[3], b.data + size - 4, 4);
    return words[0] == words[1] && words[2] == words[3];
  }
  return !size || (a.data[0] == b.data[0] && a.data[size / 2] == b.data[size / 2] &&
                   a.data[size - 1] == b.data[size - 1]);
}

// Copies |text| to |target|, likewise.
TFRT_ALWAYS_INLINE void tfrt_string_view_copy_short(char* target, tfrt_string_view_t text) {
  size_t size = text.size;
  if (size > 16) {
    memcpy(target, text.data, size);
  } else if (size >= 8) {
    uint64_t words[2];
    memcpy(&words[0], text.data, 8);
    memcpy(&words[1], text.data + size - 8, 8);
    memcpy(target, &words[0], 8);
    memcpy(target + size - 8, &words[1], 8);
  } else if (size >= 4) {
    uint32_t words[2];
    memcpy(&words[0], text.data, 4);
    memcpy(&words[1], text.data + size - 4, 4);
    memcpy(target, &words[0], 4);
    memcpy(target + size - 4, &words[1], 4);
  } else {
    for (size_t i = 0; i < size; ++i) target[i] = text.data[i];
  }
}

static inline bool tfrt_string_view_starts_with(tfrt_string_view_t text,
                                                tfrt_string_view_t prefix) {
  return text.size >= prefix.size &&
         (prefix.size == 0 || memcmp(text.data, prefix.data, prefix.size) == 0);
}

// Orders by bytes, then by length: less than, equal to, or greater than 0.
static inline int tfrt_string_view_compare(tfrt_string_view_t a, tfrt_string_view_t b) {
  size_t common = a.size < b.size ? a.size : b.size;
  int order = common ? memcmp(a.data, b.data, common) : 0;
  if (order != 0) return order;
  return a.size < b.size ? -1 : a.size > b.size;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_STRING_VIEW_H_
