// SPDX-License-Identifier: Apache-2.0
//
// Text or bytes that grow. Used for everything that is printed or encoded.
//
// Life:
//  1. Initialised with an allocator; nothing is allocated yet.
//  2. Appended to. When memory is out the builder becomes *failed*: it drops what
//     follows, so that a chain of appends needs one check at its end.
//  3. Read through |data| and |size|, or taken.
//  4. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: see 2.; tfrt_string_builder_status() tells.
#ifndef TFRT_HOST_RUNTIME_BASE_STRING_BUILDER_H_
#define TFRT_HOST_RUNTIME_BASE_STRING_BUILDER_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

typedef struct tfrt_string_builder_s {
  char* data;  // NUL-terminated once anything was appended; NULL before
  size_t size;
  size_t capacity;
  bool failed;
  tfrt_allocator_t allocator;
} tfrt_string_builder_t;

// Makes |builder| empty. Thread-compatible.
void tfrt_string_builder_initialize(tfrt_string_builder_t* builder, tfrt_allocator_t allocator);

// Gives back the memory of |builder|. Thread-compatible.
void tfrt_string_builder_deinitialize(tfrt_string_builder_t* builder);

// Makes |builder| empty, keeping its memory. Thread-compatible.
void tfrt_string_builder_clear(tfrt_string_builder_t* builder);

// Makes room for |size| bytes more. A text that is known to become long isn't moved then while it
// grows. Thread-compatible.
void tfrt_string_builder_reserve(tfrt_string_builder_t* builder, size_t size);

// Appends |size| bytes at |data|. Thread-compatible.
void tfrt_string_builder_append(tfrt_string_builder_t* builder, const void* data, size_t size);

// Appends a NUL-terminated text, one byte, |count| copies of one byte, or a view.
// Thread-compatible.
void tfrt_string_builder_append_text(tfrt_string_builder_t* builder, const char* text);
void tfrt_string_builder_append_char(tfrt_string_builder_t* builder, char byte);
void tfrt_string_builder_append_fill(tfrt_string_builder_t* builder, char byte, size_t count);
void tfrt_string_builder_append_view(tfrt_string_builder_t* builder, tfrt_string_view_t view);

// Appends the |size| bytes at |data|, a block of the builder's allocator of just that size, which
// the builder takes: without a copy if it is empty. For bytes and no text: no NUL need be behind
// them. Thread-compatible.
void tfrt_string_builder_append_take(tfrt_string_builder_t* builder, void* data, size_t size);

// The same for the first |size| bytes of a block of |capacity|, which is more. Thread-compatible.
void tfrt_string_builder_append_take_room(tfrt_string_builder_t* builder, void* data, size_t size,
                                          size_t capacity);

// Appends |text| as tfrt_utf8_show() shows it: one line without terminal commands.
// Thread-compatible.
void tfrt_string_builder_append_shown(tfrt_string_builder_t* builder, tfrt_string_view_t text);

// Appends formatted text. Thread-compatible.
void tfrt_string_builder_append_format(tfrt_string_builder_t* builder, const char* format, ...)
    TFRT_PRINTF(2, 3);
void tfrt_string_builder_append_format_v(tfrt_string_builder_t* builder, const char* format,
                                         va_list arguments);

// The text so far, NUL-terminated; "" when nothing was appended. Lives until the next
// change. Thread-compatible.
const char* tfrt_string_builder_text(const tfrt_string_builder_t* builder);

// The text that was appended so far. Lives until the next change. Thread-compatible.
tfrt_string_view_t tfrt_string_builder_view(const tfrt_string_builder_t* builder);

// OK, or RESOURCE_EXHAUSTED if anything was dropped. Thread-compatible.
tfrt_status_t tfrt_string_builder_status(const tfrt_string_builder_t* builder) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_STRING_BUILDER_H_
