// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// Longer messages are cut: names in them come from the file.
#define MESSAGE_SIZE 256

// The numbers that are read at once if each has one byte, as most have.
#define GROUP_SIZE 8

// A word whose bytes are all 1.
#define EACH_BYTE UINT64_C(0x0101010101010101)

tfrt_status_t tfrt_bef_cursor_error(const tfrt_bef_cursor_t* cursor, const uint8_t* at,
                                    const char* format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  va_end(arguments);

  char function[MESSAGE_SIZE] = "";
  if (cursor->function != TFRT_BEF_NO_INDEX) {
    snprintf(function, sizeof(function), ", function %" PRIu32 " '%s'", cursor->function,
             cursor->function_name ? cursor->function_name : "?");
  }
  char kernel[32] = "";
  if (cursor->kernel != TFRT_BEF_NO_INDEX) {
    snprintf(kernel, sizeof(kernel), ", kernel %" PRIu32, cursor->kernel);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "bad BEF file: section %s%s%s, byte 0x%zx: %s", cursor->section,
                            function, kernel, (size_t)(at - cursor->image), message);
}

static tfrt_status_t unexpected_end(const tfrt_bef_cursor_t* cursor) {
  return tfrt_bef_cursor_error(cursor, cursor->position, "ends too early");
}

tfrt_status_t tfrt_bef_cursor_read_byte(tfrt_bef_cursor_t* cursor, uint8_t* out_byte) {
  *out_byte = 0;
  if (cursor->position == cursor->end) return unexpected_end(cursor);
  *out_byte = *cursor->position++;
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_read_vbr(tfrt_bef_cursor_t* cursor, uint64_t* out_value) {
  *out_value = 0;
  uint64_t value = 0;
  const uint8_t* position = cursor->position;
  while (position != cursor->end) {
    if (value >> 57 != 0) {
      return tfrt_bef_cursor_error(cursor, cursor->position, "an integer has more than 64 bits");
    }
    uint8_t byte = *position++;
    value = value << 7 | (byte & 0x7F);
    if (!(byte & 0x80)) {
      cursor->position = position;
      *out_value = value;
      return NULL;
    }
  }
  return unexpected_end(cursor);
}

tfrt_status_t tfrt_bef_cursor_read_u32(tfrt_bef_cursor_t* cursor, const char* what,
                                       uint32_t* out_value) {
  return tfrt_bef_cursor_read_index(cursor, what, (uint64_t)UINT32_MAX + 1, out_value);
}

tfrt_status_t tfrt_bef_cursor_read_any_index(tfrt_bef_cursor_t* cursor, const char* what,
                                             uint64_t limit, uint32_t* out_value) {
  *out_value = 0;
  const uint8_t* start = cursor->position;
  uint64_t value = 0;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_vbr(cursor, &value));
  if (TFRT_UNLIKELY(value >= limit)) {
    cursor->position = start;
    return tfrt_bef_cursor_error(cursor, start, "%s %" PRIu64 " is out of range (0 to %" PRId64 ")",
                                 what, value, (int64_t)limit - 1);
  }
  *out_value = (uint32_t)value;
  return NULL;
}

// Whether |group| is GROUP_SIZE numbers of one byte each, all below |limit|.
static bool is_short_group(uint64_t group, uint64_t limit) {
  if (group & TFRT_BEF_CURSOR_HIGH_BITS) return false;
  if (limit > 0x7F) return true;
  // To each byte, what lifts a number that is not below |limit| to 0x80; none carries.
  return ((group + (0x80 - limit) * EACH_BYTE) & TFRT_BEF_CURSOR_HIGH_BITS) == 0;
}

// tfrt_bef_cursor_read_indices(), one by one.
static tfrt_status_t read_some_indices(tfrt_bef_cursor_t* cursor, const char* what, uint64_t limit,
                                       uint32_t count, uint32_t* out_values) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t value;
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(cursor, what, limit, &value));
    if (out_values) out_values[i] = value;
  }
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_read_indices(tfrt_bef_cursor_t* cursor, const char* what,
                                           uint64_t limit, uint32_t count, uint32_t* out_values) {
  for (uint32_t done = 0; done < count;) {
    uint32_t some = count - done < GROUP_SIZE ? count - done : GROUP_SIZE;
    uint32_t* out = out_values ? out_values + done : NULL;
    uint64_t group = TFRT_BEF_CURSOR_HIGH_BITS;
    const bool may_be_group = some == GROUP_SIZE && tfrt_bef_cursor_left(cursor) >= sizeof(group);
    if (may_be_group) memcpy(&group, cursor->position, sizeof(group));
    if (TFRT_LIKELY(is_short_group(group, limit))) {
      for (uint32_t i = 0; out && i < GROUP_SIZE; ++i) out[i] = cursor->position[i];
      cursor->position += GROUP_SIZE;
    } else {
      TFRT_RETURN_IF_ERROR(read_some_indices(cursor, what, limit, some, out));
    }
    done += some;
  }
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_read_count(tfrt_bef_cursor_t* cursor, const char* what,
                                         size_t item_size, uint32_t* out_count) {
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, what, out_count));
  if (*out_count > tfrt_bef_cursor_left(cursor) / item_size) {
    uint32_t count = *out_count;
    *out_count = 0;
    cursor->position = start;
    return tfrt_bef_cursor_error(cursor, start, "%s %" PRIu32 " is more than the section can hold",
                                 what, count);
  }
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_read_string(tfrt_bef_cursor_t* cursor, const char** out_string) {
  *out_string = "";
  size_t left = tfrt_bef_cursor_left(cursor);
  const uint8_t* nul = left > 0 ? memchr(cursor->position, 0, left) : NULL;
  if (!nul) return tfrt_bef_cursor_error(cursor, cursor->position, "a string has no end");
  *out_string = (const char*)cursor->position;
  cursor->position = nul + 1;
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_align(tfrt_bef_cursor_t* cursor, size_t alignment) {
  size_t offset = (size_t)(cursor->position - cursor->image);
  size_t padding = (alignment - offset % alignment) % alignment;
  if (padding > tfrt_bef_cursor_left(cursor)) return unexpected_end(cursor);
  cursor->position += padding;
  return NULL;
}

tfrt_status_t tfrt_bef_cursor_expect_end(const tfrt_bef_cursor_t* cursor) {
  if (cursor->position == cursor->end) return NULL;
  return tfrt_bef_cursor_error(cursor, cursor->position, "%zu bytes too many",
                               tfrt_bef_cursor_left(cursor));
}
