// SPDX-License-Identifier: Apache-2.0
#include "devices/device_image.h"

#include <string.h>

#include "host_runtime/base/ascii.h"

static tfrt_status_t device_image_fail(const tfrt_device_image_cursor_t* cursor, const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "line %u of a module's text: %s",
                            cursor->line, what);
}

// --- Tokens --------------------------------------------------------------------

static void device_image_advance(tfrt_device_image_cursor_t* cursor, size_t size) {
  for (size_t i = 0; i < size; ++i) cursor->line += cursor->rest.data[i] == '\n';
  cursor->rest.data += size;
  cursor->rest.size -= size;
}

// The size of the blank or comment at the cursor; 0 if there is none.
static size_t device_image_blank_size(const tfrt_device_image_cursor_t* cursor) {
  const char* text = cursor->rest.data;
  size_t size = cursor->rest.size;
  if (size > 0 && tfrt_ascii_is_space(text[0])) return 1;
  if (size < 2 || text[0] != '/') return 0;
  const char* end = NULL;
  if (text[1] == '/') {
    end = memchr(text, '\n', size);
    return end ? (size_t)(end - text) : size;
  }
  if (text[1] != '*') return 0;
  end = memmem(text + 2, size - 2, "*/", 2);
  return end ? (size_t)(end - text) + 2 : size;
}

static bool device_image_is_word(char c) {
  return tfrt_ascii_is_letter_or_digit(c) || c == '_' || c == '$' || c == '.' || c == '%';
}

// The next token: a word (with its dot), a string in quotes, or a single character. Empty at
// the end.
static tfrt_string_view_t device_image_token(tfrt_device_image_cursor_t* cursor) {
  size_t blank;
  while ((blank = device_image_blank_size(cursor)) > 0) {
    device_image_advance(cursor, blank);
  }
  tfrt_string_view_t token = {cursor->rest.data, 0};
  if (cursor->rest.size == 0) return token;
  token.size = 1;
  if (token.data[0] == '"') {
    const char* end = memchr(token.data + 1, '"', cursor->rest.size - 1);
    token.size = end ? (size_t)(end - token.data) + 1 : cursor->rest.size;
  } else if (device_image_is_word(token.data[0])) {
    while (token.size < cursor->rest.size && device_image_is_word(token.data[token.size])) {
      ++token.size;
    }
  }
  device_image_advance(cursor, token.size);
  return token;
}

static bool device_image_token_is(tfrt_string_view_t token, const char* text) {
  return token.size == strlen(text) && memcmp(token.data, text, token.size) == 0;
}

// The value of |token| if it is a number below 2^31, else 0.
static size_t device_image_number(tfrt_string_view_t token) {
  size_t number = 0;
  for (size_t i = 0; i < token.size; ++i) {
    if (!tfrt_ascii_is_digit(token.data[i]) || number > INT32_MAX / 10 - 1) return 0;
    number = number * 10 + (size_t)(token.data[i] - '0');
  }
  return number;
}

// The bytes of an element of the type |token|, as ".f32"; 0 if it is no type.
static size_t device_image_type_size(tfrt_string_view_t token) {
  if (token.size < 3 || token.data[0] != '.' || !strchr("busf", token.data[1])) return 0;
  size_t bits = device_image_number((tfrt_string_view_t){token.data + 2, token.size - 2});
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / 8 : 0;
}

// --- Declarations --------------------------------------------------------------

// Reads the part that parameters and variables share: `.TYPE ... NAME[COUNT]`, up to a character of
// |ends|, which is |*out_end|.
static tfrt_status_t device_image_read_object(tfrt_device_image_cursor_t* cursor, const char* ends,
                                              tfrt_string_view_t* out_name, size_t* out_size,
                                              char* out_end) {
  size_t element = 0;
  size_t count = 1;
  *out_name = (tfrt_string_view_t){0};
  for (;;) {
    tfrt_string_view_t token = device_image_token(cursor);
    if (token.size == 0) return device_image_fail(cursor, "it ends in a declaration");
    if (token.size == 1 && strchr(ends, token.data[0])) {
      *out_end = token.data[0];
      break;
    }
    if (device_image_token_is(token, "[")) {
      count = device_image_number(device_image_token(cursor));
    } else if (element == 0) {
      element = device_image_type_size(token);
    } else if (!tfrt_ascii_is_digit(token.data[0]) && token.data[0] != '.' &&
               device_image_is_word(token.data[0])) {
      *out_name = token;
    }
  }
  *out_size = element * count;
  bool is_good = out_name->size > 0 && element > 0 && count > 0 && *out_size <= INT32_MAX;
  return is_good ? NULL : device_image_fail(cursor, "a declaration without size or name");
}

static tfrt_status_t device_image_read_kernel(tfrt_device_image_cursor_t* cursor,
                                              tfrt_device_image_symbol_t* out_symbol) {
  out_symbol->is_kernel = true;
  out_symbol->name = device_image_token(cursor);
  if (out_symbol->name.size == 0) return device_image_fail(cursor, "a kernel without name");
  tfrt_device_image_cursor_t before = *cursor;
  if (!device_image_token_is(device_image_token(cursor), "(")) {
    *cursor = before;
    return NULL;
  }
  before = *cursor;
  if (device_image_token_is(device_image_token(cursor), ")")) return NULL;
  *cursor = before;
  for (char end = ','; end == ',';) {
    if (out_symbol->parameter_count == TFRT_DEVICE_MAX_PARAMETERS) {
      return device_image_fail(cursor, "a kernel with more than 64 parameters");
    }
    tfrt_string_view_t name;
    size_t size;
    TFRT_RETURN_IF_ERROR(device_image_read_object(cursor, ",)", &name, &size, &end));
    out_symbol->parameter_sizes[out_symbol->parameter_count++] = (uint32_t)size;
  }
  return NULL;
}

// A variable of the module; those inside of a kernel's braces have the same form and are
// never asked for by name.
static tfrt_status_t device_image_read_variable(tfrt_device_image_cursor_t* cursor,
                                                tfrt_device_image_symbol_t* out_symbol) {
  char end;
  TFRT_RETURN_IF_ERROR(
      device_image_read_object(cursor, ";=", &out_symbol->name, &out_symbol->size, &end));
  out_symbol->is_initialized = end == '=';
  return NULL;
}

tfrt_status_t tfrt_device_image_next(tfrt_device_image_cursor_t* cursor,
                                     tfrt_device_image_symbol_t* out_symbol, bool* out_found) {
  *out_symbol = (tfrt_device_image_symbol_t){0};
  *out_found = false;
  bool is_statement_start = true;
  for (;;) {
    tfrt_string_view_t token = device_image_token(cursor);
    if (token.size == 0) return NULL;
    bool is_kernel = device_image_token_is(token, ".entry");
    // `ld.global.f32` is one word; a declaration's `.global` stands alone, after linkage
    // words at most.
    bool is_variable = is_statement_start && device_image_token_is(token, ".global");
    if (is_kernel || is_variable) {
      *out_found = true;
      return is_kernel ? device_image_read_kernel(cursor, out_symbol)
                       : device_image_read_variable(cursor, out_symbol);
    }
    bool is_linkage = device_image_token_is(token, ".visible") ||
                      device_image_token_is(token, ".extern") ||
                      device_image_token_is(token, ".weak");
    is_statement_start = is_linkage || (token.size == 1 && strchr(";{}", token.data[0])) ||
                         tfrt_ascii_is_digit(token.data[0]);
  }
}

tfrt_status_t tfrt_device_image_find(tfrt_string_view_t image, bool is_kernel, const char* name,
                                     tfrt_device_image_symbol_t* out_symbol, bool* out_found) {
  tfrt_device_image_cursor_t cursor = {.rest = image, .line = 1};
  for (;;) {
    TFRT_RETURN_IF_ERROR(tfrt_device_image_next(&cursor, out_symbol, out_found));
    if (!*out_found) return NULL;
    if (out_symbol->is_kernel == is_kernel && device_image_token_is(out_symbol->name, name)) {
      return NULL;
    }
  }
}
