// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/string_builder.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"
#include "host_runtime/base/utf8.h"

#define FIRST_CAPACITY 64

void tfrt_string_builder_initialize(tfrt_string_builder_t* builder, tfrt_allocator_t allocator) {
  *builder = (tfrt_string_builder_t){.allocator = allocator};
}

void tfrt_string_builder_deinitialize(tfrt_string_builder_t* builder) {
  tfrt_allocator_free(builder->allocator, builder->data, builder->capacity);
  tfrt_string_builder_initialize(builder, builder->allocator);
}

void tfrt_string_builder_clear(tfrt_string_builder_t* builder) {
  builder->size = 0;
  builder->failed = false;
  if (builder->data) builder->data[0] = '\0';
}

// Gives |builder| room for |capacity| bytes; false, and the builder is marked as failed, if that
// can't be, or it doesn't |fit|.
static bool grow(tfrt_string_builder_t* builder, size_t capacity, bool fits) {
  char* data = fits ? tfrt_allocator_reallocate(builder->allocator, builder->data,
                                                builder->capacity, capacity)
                    : NULL;
  if (!data) {
    builder->failed = true;
    return false;
  }
  builder->data = data;
  builder->capacity = capacity;
  return true;
}

// Makes room for |extra| bytes and the NUL behind them. Returns false, and marks the
// builder as failed, if that can't be.
static bool reserve(tfrt_string_builder_t* builder, size_t extra) {
  if (builder->failed) return false;
  size_t needed = 0;
  bool fits = tfrt_size_add(builder->size, extra, &needed) && tfrt_size_add(needed, 1, &needed);
  if (fits && needed <= builder->capacity) return true;
  // Doubling keeps the cost of each byte constant, however long the text becomes.
  size_t capacity = builder->capacity ? builder->capacity : FIRST_CAPACITY;
  while (fits && capacity < needed) {
    if (!tfrt_size_multiply(capacity, 2, &capacity)) capacity = needed;
  }
  return grow(builder, capacity, fits);
}

void tfrt_string_builder_reserve(tfrt_string_builder_t* builder, size_t size) {
  if (builder->failed) return;
  size_t needed = 0;
  bool fits = tfrt_size_add(builder->size, size, &needed) && tfrt_size_add(needed, 1, &needed);
  if (fits && needed <= builder->capacity) return;
  // Just that: there may be little more.
  (void)grow(builder, needed, fits);
}

static void advance(tfrt_string_builder_t* builder, size_t size) {
  builder->size += size;
  builder->data[builder->size] = '\0';
}

void tfrt_string_builder_append(tfrt_string_builder_t* builder, const void* data, size_t size) {
  if (!reserve(builder, size)) return;
  if (size) memcpy(builder->data + builder->size, data, size);
  advance(builder, size);
}

// Takes the block of |capacity| bytes at |data|, if the builder has nothing yet.
static void append_take(tfrt_string_builder_t* builder, void* data, size_t size, size_t capacity) {
  if (builder->size || builder->failed || !data) {
    tfrt_string_builder_append(builder, data, size);
    tfrt_allocator_free(builder->allocator, data, capacity);
    return;
  }
  tfrt_allocator_free(builder->allocator, builder->data, builder->capacity);
  builder->data = data;
  builder->size = size;
  builder->capacity = capacity;
}

void tfrt_string_builder_append_take(tfrt_string_builder_t* builder, void* data, size_t size) {
  append_take(builder, data, size, size);
}

void tfrt_string_builder_append_take_room(tfrt_string_builder_t* builder, void* data, size_t size,
                                          size_t capacity) {
  append_take(builder, data, size, capacity);
  if (builder->size < builder->capacity) builder->data[builder->size] = '\0';
}

void tfrt_string_builder_append_text(tfrt_string_builder_t* builder, const char* text) {
  tfrt_string_builder_append(builder, text, strlen(text));
}

void tfrt_string_builder_append_char(tfrt_string_builder_t* builder, char byte) {
  tfrt_string_builder_append(builder, &byte, 1);
}

void tfrt_string_builder_append_fill(tfrt_string_builder_t* builder, char byte, size_t count) {
  if (!reserve(builder, count)) return;
  memset(builder->data + builder->size, byte, count);
  advance(builder, count);
}

void tfrt_string_builder_append_view(tfrt_string_builder_t* builder, tfrt_string_view_t view) {
  tfrt_string_builder_append(builder, view.data, view.size);
}

void tfrt_string_builder_append_shown(tfrt_string_builder_t* builder, tfrt_string_view_t text) {
  while (text.size > 0) {
    char shown[TFRT_UTF8_SHOWN_SIZE];
    size_t size = tfrt_utf8_show(text, shown);
    tfrt_string_builder_append_text(builder, shown);
    text = tfrt_string_view_make(text.data + size, text.size - size);
  }
}

void tfrt_string_builder_append_format(tfrt_string_builder_t* builder, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_string_builder_append_format_v(builder, format, arguments);
  va_end(arguments);
}

void tfrt_string_builder_append_format_v(tfrt_string_builder_t* builder, const char* format,
                                         va_list arguments) {
  // Most texts fit into the room that is there: only the others are formatted twice.
  if (!reserve(builder, 0)) return;
  va_list again;
  va_copy(again, arguments);
  size_t room = builder->capacity - builder->size;
  int length = tfrt_number_text_format_v(builder->data + builder->size, room, format, arguments);
  if (length >= 0 && (size_t)length >= room) {
    // The first try overwrote the NUL at the old end; it is there again on failure.
    builder->data[builder->size] = '\0';
    if (reserve(builder, (size_t)length)) {
      tfrt_number_text_format_v(builder->data + builder->size, (size_t)length + 1, format, again);
    }
  }
  va_end(again);
  if (length < 0) {
    builder->failed = true;
    builder->data[builder->size] = '\0';
  }
  if (!builder->failed) advance(builder, (size_t)length);
}

const char* tfrt_string_builder_text(const tfrt_string_builder_t* builder) {
  return builder->data ? builder->data : "";
}

tfrt_string_view_t tfrt_string_builder_view(const tfrt_string_builder_t* builder) {
  return tfrt_string_view_make(tfrt_string_builder_text(builder), builder->size);
}

tfrt_status_t tfrt_string_builder_status(const tfrt_string_builder_t* builder) {
  if (!builder->failed) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "memory is out after %zu bytes of a text", builder->size);
}
