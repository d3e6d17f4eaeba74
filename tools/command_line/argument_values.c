// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/argument_values.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tools/command_line/number_value.h"
#include "tools/command_line/tensor_file.h"
#include "tools/command_line/tensor_text.h"

// One `--arg`.
typedef struct tfrt_argument_s {
  tfrt_string_view_t name;  // or position
  const char* value;
} tfrt_argument_t;

static tfrt_status_t argument_split(const char* flag, const char* text,
                                    tfrt_argument_t* out_argument) {
  const char* equals = strchr(text, '=');
  if (!equals || equals == text) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--%s wants NAME=VALUE or POSITION=VALUE, not '%s'", flag, text);
  }
  out_argument->name = tfrt_string_view_make(text, (size_t)(equals - text));
  out_argument->value = equals + 1;
  return NULL;
}

// The names of the parameters of |function|, for messages.
static void argument_append_names(const tfrt_bef_function_t* function, tfrt_string_builder_t* out) {
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    bool named = function->argument_names && function->argument_names[i][0] != '\0';
    tfrt_string_builder_append_format(out, "%s%u%s%s (%s)", i > 0 ? ", " : "", i,
                                      named ? " or " : "", named ? function->argument_names[i] : "",
                                      function->argument_types[i]);
  }
  if (function->argument_count == 0) tfrt_string_builder_append_text(out, "none");
}

static tfrt_status_t argument_unknown(const tfrt_bef_function_t* function,
                                      tfrt_string_view_t name) {
  tfrt_string_builder_t names;
  tfrt_string_builder_initialize(&names, tfrt_allocator_system());
  argument_append_names(function, &names);
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_NOT_FOUND, "--arg %.*s: function '%s' has no such parameter; it has %s",
      TFRT_STRING_VIEW_ARGUMENTS(name), function->name, tfrt_string_builder_text(&names));
  tfrt_string_builder_deinitialize(&names);
  return status;
}

// Sets |*out_index| to the parameter called |name|, by name first and then by position.
static tfrt_status_t argument_find(const tfrt_bef_function_t* function, tfrt_string_view_t name,
                                   uint32_t* out_index) {
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
      return argument_unknown(function, name);
    }
    position = 10 * position + (uint64_t)(name.data[i] - '0');
  }
  if (position >= function->argument_count) return argument_unknown(function, name);
  *out_index = (uint32_t)position;
  return NULL;
}

// Sets |*out_value| to the tensor that |text| says: a file, or the numbers themselves.
static tfrt_status_t argument_parse_tensor(const char* text, tfrt_async_value_t** out_value) {
  // The sign @ says that a file is meant.
  if (text[0] == '@') return tfrt_tensor_file_read(text + 1, out_value);
  if (!tfrt_tensor_text_matches(text)) return tfrt_tensor_file_read(text, out_value);
  tfrt_dense_host_tensor_t tensor;
  TFRT_RETURN_IF_ERROR(tfrt_tensor_text_parse(text, &tensor));
  *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}

static tfrt_status_t argument_parse_value(const char* type, const char* text,
                                          tfrt_async_value_t** out_value) {
  const tfrt_number_type_t* number = tfrt_number_type_find(type);
  if (number) {
    unsigned char bytes[TFRT_NUMBER_VALUE_SIZE];
    TFRT_RETURN_IF_ERROR(tfrt_number_value_parse(number, text, bytes));
    *out_value = tfrt_async_value_create_copy(number->id, bytes, number->size);
    return NULL;
  }
  if (strcmp(type, "!tfrt.string") == 0) {
    *out_value = tfrt_async_value_create_string(tfrt_string_view_of(text));
    return NULL;
  }
  if (strcmp(type, "!tfrt_tensor.tensor") == 0) {
    return argument_parse_tensor(text, out_value);
  }
  if (strcmp(type, "!tfrt.chain") == 0) {
    *out_value = tfrt_async_value_ready_chain();
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a value of type %s can't be given on the command line", type);
}

// Sets the value of one parameter as |text| says, behind the flag --arg, or --image if |images| is
// not NULL.
static tfrt_status_t argument_values_set(const tfrt_bef_function_t* function, const char* text,
                                         const tfrt_image_flags_t* images,
                                         tfrt_async_value_t** inout_values) {
  const char* flag = images ? "image" : "arg";
  tfrt_argument_t argument = {.value = NULL};
  uint32_t index = 0;
  TFRT_RETURN_IF_ERROR(argument_split(flag, text, &argument));
  TFRT_RETURN_IF_ERROR(argument_find(function, argument.name, &index));
  if (inout_values[index]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--%s %.*s is given twice", flag,
                              TFRT_STRING_VIEW_ARGUMENTS(argument.name));
  }
  const char* type = function->argument_types[index];
  tfrt_status_t status = NULL;
  if (!images) {
    status = argument_parse_value(type, argument.value, &inout_values[index]);
  } else if (strcmp(type, "!tfrt_tensor.tensor") == 0) {
    status = tfrt_image_file_read(argument.value, images, &inout_values[index]);
  } else {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the parameter is a %s, and an image is a tensor", type);
  }
  if (!status) return NULL;
  return tfrt_status_take_annotate(status, "--%s %.*s", flag,
                                   TFRT_STRING_VIEW_ARGUMENTS(argument.name));
}

// A chain that nobody gives is ready: nothing comes before the program.
static tfrt_status_t argument_values_complete(const tfrt_bef_function_t* function,
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
static bool argument_values_is_for(const tfrt_bef_function_t* function, const char* text,
                                   uint32_t index) {
  tfrt_argument_t argument = {.value = NULL};
  uint32_t found = 0;
  tfrt_status_t status = argument_split("arg", text, &argument);
  if (!status) status = argument_find(function, argument.name, &found);
  bool is_for = !status && found == index;
  tfrt_status_release(status);
  return is_for;
}

// True if argument |default_index|, of a file, is not needed: the command line has another.
static bool argument_values_is_replaced(const tfrt_bef_function_t* function,
                                        const tfrt_flag_list_t* arguments, size_t default_index) {
  const char* text = arguments->values[default_index];
  for (uint32_t index = 0; index < function->argument_count; ++index) {
    if (!argument_values_is_for(function, text, index)) continue;
    for (size_t i = arguments->default_count; i < arguments->count; ++i) {
      if (argument_values_is_for(function, arguments->values[i], index)) return true;
    }
  }
  return false;
}

tfrt_status_t tfrt_argument_values_parse(const tfrt_bef_function_t* function,
                                         const tfrt_flag_list_t* arguments,
                                         const tfrt_image_flags_t* images,
                                         tfrt_async_value_t** out_values) {
  for (uint32_t i = 0; i < function->argument_count; ++i) out_values[i] = NULL;
  tfrt_status_t status = NULL;
  for (size_t i = 0; i < arguments->count && !status; ++i) {
    if (i < arguments->default_count && argument_values_is_replaced(function, arguments, i)) {
      continue;
    }
    status = argument_values_set(function, arguments->values[i], NULL, out_values);
  }
  for (size_t i = 0; images && i < images->images.count && !status; ++i) {
    status = argument_values_set(function, images->images.values[i], images, out_values);
  }
  if (!status) status = argument_values_complete(function, out_values);
  for (uint32_t i = 0; status && i < function->argument_count; ++i) {
    tfrt_async_value_release(out_values[i]);
    out_values[i] = NULL;
  }
  return status;
}
