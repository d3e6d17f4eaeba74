// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/argument_values.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/number_text.h"
#include "tools/command_line/tensor_file.h"

// One `--arg`.
typedef struct tfrt_argument_s {
  tfrt_string_view_t name;  // or position
  const char* value;
} tfrt_argument_t;

static tfrt_status_t tfrt_argument_split(const char* text, tfrt_argument_t* out_argument) {
  const char* equals = strchr(text, '=');
  if (!equals || equals == text) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--arg wants NAME=VALUE or POSITION=VALUE, not '%s'", text);
  }
  out_argument->name = tfrt_string_view_make(text, (size_t)(equals - text));
  out_argument->value = equals + 1;
  return NULL;
}

// The names of the parameters of |function|, for messages.
static void tfrt_argument_append_names(const tfrt_bef_function_t* function,
                                       tfrt_string_builder_t* out) {
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    bool named = function->argument_names && function->argument_names[i][0] != '\0';
    tfrt_string_builder_append_format(out, "%s%u%s%s (%s)", i > 0 ? ", " : "", i,
                                      named ? " or " : "", named ? function->argument_names[i] : "",
                                      function->argument_types[i]);
  }
  if (function->argument_count == 0) tfrt_string_builder_append_text(out, "none");
}

static tfrt_status_t tfrt_argument_unknown(const tfrt_bef_function_t* function,
                                           tfrt_string_view_t name) {
  tfrt_string_builder_t names;
  tfrt_string_builder_initialize(&names, tfrt_allocator_system());
  tfrt_argument_append_names(function, &names);
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_NOT_FOUND, "--arg %.*s: function '%s' has no such parameter; it has %s",
      TFRT_STRING_VIEW_ARGUMENTS(name), function->name, tfrt_string_builder_text(&names));
  tfrt_string_builder_deinitialize(&names);
  return status;
}

// Sets |*out_index| to the parameter called |name|, by name first and then by position.
static tfrt_status_t tfrt_argument_find(const tfrt_bef_function_t* function,
                                        tfrt_string_view_t name, uint32_t* out_index) {
  for (uint32_t i = 0; function->argument_names && i < function->argument_count; ++i) {
    if (tfrt_string_view_equal(tfrt_string_view_of(function->argument_names[i]), name)) {
      *out_index = i;
      return NULL;
    }
  }
  // A file has no names where they are the default ones.
  bool has_names = function->argument_names != NULL;
  if (!has_names && name.size > 3 && memcmp(name.data, "arg", 3) == 0) {
    name = tfrt_string_view_make(name.data + 3, name.size - 3);
  }
  uint64_t position = 0;
  for (size_t i = 0; i < name.size; ++i) {
    if (name.data[i] < '0' || name.data[i] > '9' || position >= function->argument_count) {
      return tfrt_argument_unknown(function, name);
    }
    position = 10 * position + (uint64_t)(name.data[i] - '0');
  }
  if (position >= function->argument_count) return tfrt_argument_unknown(function, name);
  *out_index = (uint32_t)position;
  return NULL;
}

// The whole numbers that the command line may give, with their ranges.
static const struct {
  const char* type;
  tfrt_type_id_t id;
  size_t size;
  int64_t minimum;
  uint64_t maximum;
} tfrt_argument_integers[] = {
    {"i8", TFRT_TYPE_I8, 1, INT8_MIN, INT8_MAX},
    {"i16", TFRT_TYPE_I16, 2, INT16_MIN, INT16_MAX},
    {"i32", TFRT_TYPE_I32, 4, INT32_MIN, INT32_MAX},
    {"i64", TFRT_TYPE_I64, 8, INT64_MIN, INT64_MAX},
    {"ui8", TFRT_TYPE_UI8, 1, 0, UINT8_MAX},
    {"ui16", TFRT_TYPE_UI16, 2, 0, UINT16_MAX},
    {"ui32", TFRT_TYPE_UI32, 4, 0, UINT32_MAX},
    {"ui64", TFRT_TYPE_UI64, 8, 0, UINT64_MAX},
};

static tfrt_status_t tfrt_argument_bad_literal(const char* type, const char* text) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is no %s", text, type);
}

// Reading a float passes over white space in front.
static bool tfrt_argument_begins_with_space(const char* text) {
  return strchr(" \t\n\v\f\r", text[0]) != NULL && text[0] != '\0';
}

// Reads `[+-]DIGITS` or `[+-]0xDIGITS`. Zeros in front mean nothing to people: they are not octal.
static bool tfrt_argument_parse_magnitude(const char* text, uint64_t* out_magnitude) {
  const char* digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
  bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  return is_hex ? tfrt_number_text_parse_hex(tfrt_string_view_of(digits + 2), out_magnitude)
                : tfrt_number_text_parse_u64(tfrt_string_view_of(digits), out_magnitude);
}

static tfrt_status_t tfrt_argument_parse_integer(size_t entry, const char* text,
                                                 tfrt_async_value_t** out_value) {
  const char* type = tfrt_argument_integers[entry].type;
  bool is_negative = text[0] == '-';
  uint64_t most = is_negative ? 0 - (uint64_t)tfrt_argument_integers[entry].minimum
                              : tfrt_argument_integers[entry].maximum;
  uint64_t magnitude = 0;
  if (!tfrt_argument_parse_magnitude(text, &magnitude) || magnitude > most) {
    return tfrt_argument_bad_literal(type, text);
  }
  uint64_t bits = is_negative ? 0 - magnitude : magnitude;
  // Little-endian: the low bytes of the number come first, for any of the sizes.
  *out_value = tfrt_async_value_create_copy(tfrt_argument_integers[entry].id, &bits,
                                            tfrt_argument_integers[entry].size);
  return NULL;
}

static tfrt_status_t tfrt_argument_parse_float(const char* type, const char* text,
                                               tfrt_async_value_t** out_value) {
  bool is_f32 = strcmp(type, "f32") == 0;
  const char* end = NULL;
  errno = 0;
  // Not by way of a double: that would round twice.
  double number = is_f32 ? (double)tfrt_number_text_parse_f32(text, &end)
                         : tfrt_number_text_parse_f64(text, &end);
  // A text that says "inf" is in range, and one that is too small for the type is rounded.
  bool overflows = errno == ERANGE && isinf(number);
  if (tfrt_argument_begins_with_space(text) || end == text || *end != '\0' || overflows) {
    return tfrt_argument_bad_literal(type, text);
  }
  *out_value =
      is_f32 ? tfrt_async_value_create_f32((float)number) : tfrt_async_value_create_f64(number);
  return NULL;
}

static tfrt_status_t tfrt_argument_parse_bool(const char* text, tfrt_async_value_t** out_value) {
  bool on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (!on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
    return tfrt_argument_bad_literal("i1 (true, false, 1 or 0)", text);
  }
  *out_value = tfrt_async_value_create_i1(on);
  return NULL;
}

static tfrt_status_t tfrt_argument_parse_value(const char* type, const char* text,
                                               tfrt_async_value_t** out_value) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_argument_integers); ++i) {
    if (strcmp(type, tfrt_argument_integers[i].type) == 0) {
      return tfrt_argument_parse_integer(i, text, out_value);
    }
  }
  if (strcmp(type, "i1") == 0) return tfrt_argument_parse_bool(text, out_value);
  if (strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0) {
    return tfrt_argument_parse_float(type, text, out_value);
  }
  if (strcmp(type, "!tfrt.string") == 0) {
    *out_value = tfrt_async_value_create_string(tfrt_string_view_of(text));
    return NULL;
  }
  if (strcmp(type, "!tfrt_tensor.tensor") == 0) {
    // The sign says that a file is meant; without, a tensor can be nothing else.
    return tfrt_tensor_file_read(text[0] == '@' ? text + 1 : text, out_value);
  }
  if (strcmp(type, "!tfrt.chain") == 0) {
    *out_value = tfrt_async_value_ready_chain();
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a value of type %s can't be given on the command line", type);
}

static tfrt_status_t tfrt_argument_values_set(const tfrt_bef_function_t* function, const char* text,
                                              tfrt_async_value_t** inout_values) {
  tfrt_argument_t argument = {.value = NULL};
  uint32_t index = 0;
  TFRT_RETURN_IF_ERROR(tfrt_argument_split(text, &argument));
  TFRT_RETURN_IF_ERROR(tfrt_argument_find(function, argument.name, &index));
  if (inout_values[index]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--arg %.*s is given twice",
                              TFRT_STRING_VIEW_ARGUMENTS(argument.name));
  }
  tfrt_status_t status = tfrt_argument_parse_value(function->argument_types[index], argument.value,
                                                   &inout_values[index]);
  if (!status) return NULL;
  return tfrt_status_take_annotate(status, "--arg %.*s", TFRT_STRING_VIEW_ARGUMENTS(argument.name));
}

// A chain that nobody gives is ready: nothing comes before the program.
static tfrt_status_t tfrt_argument_values_complete(const tfrt_bef_function_t* function,
                                                   tfrt_async_value_t** values) {
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    if (!values[i] && strcmp(function->argument_types[i], "!tfrt.chain") == 0) {
      values[i] = tfrt_async_value_ready_chain();
    }
    if (values[i]) continue;
    bool named = function->argument_names && function->argument_names[i][0] != '\0';
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "function '%s' wants its parameter %u%s%s, a %s: give --arg %s=VALUE",
                              function->name, i, named ? ", " : "",
                              named ? function->argument_names[i] : "", function->argument_types[i],
                              named ? function->argument_names[i] : "POSITION");
  }
  return NULL;
}

// True if |text| is for the parameter |index|.
static bool tfrt_argument_values_is_for(const tfrt_bef_function_t* function, const char* text,
                                        uint32_t index) {
  tfrt_argument_t argument = {.value = NULL};
  uint32_t found = 0;
  tfrt_status_t status = tfrt_argument_split(text, &argument);
  if (!status) status = tfrt_argument_find(function, argument.name, &found);
  bool is_for = !status && found == index;
  tfrt_status_release(status);
  return is_for;
}

// True if argument |default_index|, of a file, is not needed: the command line has another.
static bool tfrt_argument_values_is_replaced(const tfrt_bef_function_t* function,
                                             const tfrt_flag_list_t* arguments,
                                             size_t default_index) {
  const char* text = arguments->values[default_index];
  for (uint32_t index = 0; index < function->argument_count; ++index) {
    if (!tfrt_argument_values_is_for(function, text, index)) continue;
    for (size_t i = arguments->default_count; i < arguments->count; ++i) {
      if (tfrt_argument_values_is_for(function, arguments->values[i], index)) return true;
    }
  }
  return false;
}

tfrt_status_t tfrt_argument_values_parse(const tfrt_bef_function_t* function,
                                         const tfrt_flag_list_t* arguments,
                                         tfrt_async_value_t** out_values) {
  for (uint32_t i = 0; i < function->argument_count; ++i) out_values[i] = NULL;
  tfrt_status_t status = NULL;
  for (size_t i = 0; i < arguments->count && !status; ++i) {
    if (i < arguments->default_count && tfrt_argument_values_is_replaced(function, arguments, i)) {
      continue;
    }
    status = tfrt_argument_values_set(function, arguments->values[i], out_values);
  }
  if (!status) status = tfrt_argument_values_complete(function, out_values);
  for (uint32_t i = 0; status && i < function->argument_count; ++i) {
    tfrt_async_value_release(out_values[i]);
    out_values[i] = NULL;
  }
  return status;
}
