// SPDX-License-Identifier: Apache-2.0
#include "tools/output/result_printer.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/tensor/small_float.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tools/output/json.h"

// Elements that a line shows of a tensor.
#define ELEMENTS_OF_A_LINE 20

static void result_printer_append_error(tfrt_status_t status, bool print_error_code,
                                        tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "<<error: %s", tfrt_status_message(status));
  if (print_error_code) {
    tfrt_string_builder_append_format(out, ", code: %s",
                                      tfrt_status_code_name(tfrt_status_code(status)));
  }
  tfrt_string_builder_append_text(out, ">>");
}

static void result_printer_append_value(tfrt_async_value_t* value, tfrt_string_builder_t* out) {
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(resolved->type_id);
  // TFRT shows no more of its types than their names, whatever is known of them here.
  bool is_tfrt = strncmp(type->name, "!tfrt", 5) == 0;
  if (type->print && !is_tfrt) {
    type->print(tfrt_async_value_payload(resolved), out);
  } else {
    tfrt_string_builder_append_format(out, "%s value", type->name);
  }
}

void tfrt_result_printer_append(const char* function, tfrt_async_value_t* const* results,
                                uint32_t count, bool print_error_code, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "'%s' returned ", function);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) tfrt_string_builder_append_char(out, ',');
    if (tfrt_async_value_is_error(results[i])) {
      result_printer_append_error(tfrt_async_value_error(results[i]), print_error_code, out);
    } else {
      result_printer_append_value(results[i], out);
    }
  }
}

static void result_printer_append_member(const char* name, const char* text,
                                         tfrt_string_builder_t* out) {
  if (!text || text[0] == '\0') return;
  tfrt_string_builder_append_char(out, ',');
  tfrt_json_append_string(out, tfrt_string_view_of(name));
  tfrt_string_builder_append_char(out, ':');
  tfrt_json_append_string(out, tfrt_string_view_of(text));
}

void tfrt_result_printer_append_json_error_member(tfrt_status_t status,
                                                  tfrt_string_builder_t* out) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  tfrt_string_builder_append_format(out, "\"error\":{\"code\":\"%s\"",
                                    tfrt_status_code_name(fields->code));
  result_printer_append_member("message", fields->message, out);
  result_printer_append_member("function", fields->origin.function, out);
  result_printer_append_member("kernel", fields->origin.kernel, out);
  result_printer_append_member("file", fields->origin.file, out);
  if (fields->origin.line > 0) {
    tfrt_string_builder_append_format(out, ",\"line\":%u,\"column\":%u", fields->origin.line,
                                      fields->origin.column);
  }
  if (fields->origin.rank != TFRT_STATUS_NO_RANK) {
    tfrt_string_builder_append_format(out, ",\"rank\":%u", fields->origin.rank);
  }
  tfrt_string_builder_append_char(out, '}');
}

void tfrt_result_printer_append_json_error(tfrt_status_t status, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_char(out, '{');
  tfrt_result_printer_append_json_error_member(status, out);
  tfrt_string_builder_append_char(out, '}');
}

// Appends the float or complex number at |payload| in the shortest text that reads back exactly.
static void result_printer_append_json_float(tfrt_type_id_t type_id, const void* payload,
                                             tfrt_string_builder_t* out) {
  char text[2][TFRT_NUMBER_TEXT_SIZE] = {"", ""};
  const float* f32 = payload;
  const double* f64 = payload;
  uint16_t bits = *(const uint16_t*)payload;
  switch (type_id) {
    case TFRT_TYPE_F16:
      tfrt_number_text_shortest_f32((float)tfrt_f16_to_double(bits), text[0]);
      break;
    case TFRT_TYPE_BF16:
      tfrt_number_text_shortest_f32((float)tfrt_bf16_to_double(bits), text[0]);
      break;
    case TFRT_TYPE_F32:
      tfrt_number_text_shortest_f32(*f32, text[0]);
      break;
    case TFRT_TYPE_F64:
      tfrt_number_text_shortest_f64(*f64, text[0]);
      break;
    case TFRT_TYPE_COMPLEX64:
      tfrt_number_text_shortest_f32(f32[0], text[0]);
      tfrt_number_text_shortest_f32(f32[1], text[1]);
      break;
    default:
      tfrt_number_text_shortest_f64(f64[0], text[0]);
      tfrt_number_text_shortest_f64(f64[1], text[1]);
  }
  tfrt_string_builder_append_format(out, text[1][0] ? "(%s,%s)" : "%s%s", text[0], text[1]);
}

// As above, but also what TFRT shows only the types of: texts, and numbers of all sizes.
static void result_printer_append_json_value(tfrt_async_value_t* value,
                                             tfrt_string_builder_t* out) {
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  const void* payload = tfrt_async_value_payload(resolved);
  switch (resolved->type_id) {
    case TFRT_TYPE_STRING:
      tfrt_string_builder_append_view(out, tfrt_async_value_string(value));
      return;
    case TFRT_TYPE_F16:
    case TFRT_TYPE_BF16:
    case TFRT_TYPE_F32:
    case TFRT_TYPE_F64:
    case TFRT_TYPE_COMPLEX64:
    case TFRT_TYPE_COMPLEX128:
      result_printer_append_json_float(resolved->type_id, payload, out);
      return;
    case TFRT_TYPE_I8:
      tfrt_string_builder_append_format(out, "%d", *(const int8_t*)payload);
      return;
    case TFRT_TYPE_I16:
      tfrt_string_builder_append_format(out, "%d", *(const int16_t*)payload);
      return;
    case TFRT_TYPE_UI8:
      tfrt_string_builder_append_format(out, "%u", *(const uint8_t*)payload);
      return;
    case TFRT_TYPE_UI16:
      tfrt_string_builder_append_format(out, "%u", *(const uint16_t*)payload);
      return;
    case TFRT_TYPE_UI32:
      tfrt_string_builder_append_format(out, "%" PRIu32, *(const uint32_t*)payload);
      return;
    case TFRT_TYPE_UI64:
      tfrt_string_builder_append_format(out, "%" PRIu64, *(const uint64_t*)payload);
      return;
    default:
      result_printer_append_value(value, out);
  }
}

// --- Tensors ------------------------------------------------------------------------

// The dense tensor that |value| is, or NULL.
static const tfrt_dense_host_tensor_t* result_printer_tensor(tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(value)) return NULL;
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  if (resolved->type_id != tfrt_host_tensor_type_id()) return NULL;
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(resolved);
  return tensor->layout == TFRT_TENSOR_LAYOUT_DENSE ? &tensor->dense : NULL;
}

// The type of a value that is one element of |dtype|, if that is no whole number.
static tfrt_type_id_t result_printer_float_type(tfrt_dtype_t dtype) {
  switch (dtype) {
    case TFRT_DTYPE_F16:
      return TFRT_TYPE_F16;
    case TFRT_DTYPE_BF16:
      return TFRT_TYPE_BF16;
    case TFRT_DTYPE_F32:
      return TFRT_TYPE_F32;
    case TFRT_DTYPE_F64:
      return TFRT_TYPE_F64;
    case TFRT_DTYPE_COMPLEX64:
      return TFRT_TYPE_COMPLEX64;
    case TFRT_DTYPE_COMPLEX128:
      return TFRT_TYPE_COMPLEX128;
    default:
      return TFRT_TYPE_NONE;
  }
}

static void result_printer_append_element(tfrt_dtype_t dtype, const void* element,
                                          tfrt_string_builder_t* out) {
  tfrt_type_id_t type_id = result_printer_float_type(dtype);
  if (type_id != TFRT_TYPE_NONE) {
    result_printer_append_json_float(type_id, element, out);
  } else {
    tfrt_dtype_print_element(dtype, element, out);
  }
}

// Appends the first elements of |tensor|, at most |limit|, with commas between them. |is_json|:
// those that are no numbers of JSON, such as NaN, are strings.
static void result_printer_append_elements(const tfrt_dense_host_tensor_t* tensor, int64_t limit,
                                           bool is_json, tfrt_string_builder_t* out) {
  const int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  const size_t size = tfrt_dtype_size(tensor->dtype);
  const char* element = tfrt_dense_host_tensor_data(tensor);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  for (int64_t i = 0; i < count && i < limit; ++i) {
    if (i > 0) tfrt_string_builder_append_text(out, is_json ? "," : ", ");
    tfrt_string_builder_clear(&text);
    result_printer_append_element(tensor->dtype, element + (size_t)i * size, &text);
    const char* digits = tfrt_string_builder_text(&text);
    const size_t length = strlen(digits);
    const bool is_number = length > 0 && strspn(digits, "+-.0123456789e") == length;
    if (is_json && !is_number) {
      tfrt_json_append_string(out, tfrt_string_builder_view(&text));
    } else {
      tfrt_string_builder_append(out, digits, length);
    }
  }
  tfrt_string_builder_deinitialize(&text);
}

void tfrt_result_printer_append_tensors(tfrt_async_value_t* const* results, uint32_t count,
                                        tfrt_string_builder_t* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_dense_host_tensor_t* tensor = result_printer_tensor(results[i]);
    if (!tensor) continue;
    const int64_t elements = tfrt_dense_host_tensor_element_count(tensor);
    tfrt_string_builder_append_format(out, "result %u: %s %s: ", i, tfrt_dtype_name(tensor->dtype),
                                      tfrt_shape_text(&tensor->shape).text);
    result_printer_append_elements(tensor, ELEMENTS_OF_A_LINE, false, out);
    if (elements > ELEMENTS_OF_A_LINE) {
      tfrt_string_builder_append_format(out, ", ... (%lld elements)", (long long)elements);
    }
    tfrt_string_builder_append_char(out, '\n');
  }
}

// Appends the members of the JSON object of |tensor|.
static void result_printer_append_json_tensor(const tfrt_dense_host_tensor_t* tensor,
                                              tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, ",\"dtype\":\"%s\",\"shape\":[",
                                    tfrt_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->shape.rank; ++i) {
    tfrt_string_builder_append_format(out, i > 0 ? ",%lld" : "%lld",
                                      (long long)tensor->shape.dims[i]);
  }
  tfrt_string_builder_append_text(out, "],\"data\":[");
  result_printer_append_elements(tensor, INT64_MAX, true, out);
  tfrt_string_builder_append_char(out, ']');
}

void tfrt_result_printer_append_json(tfrt_async_value_t* result, tfrt_string_builder_t* out) {
  if (tfrt_async_value_is_error(result)) {
    tfrt_result_printer_append_json_error(tfrt_async_value_error(result), out);
    return;
  }
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  result_printer_append_json_value(result, &text);
  tfrt_string_builder_append_text(out, "{\"type\":");
  tfrt_json_append_string(
      out, tfrt_string_view_of(tfrt_type_get(tfrt_async_value_resolved(result)->type_id)->name));
  tfrt_string_builder_append_text(out, ",\"value\":");
  tfrt_json_append_string(out, tfrt_string_builder_view(&text));
  const tfrt_dense_host_tensor_t* tensor = result_printer_tensor(result);
  if (tensor) result_printer_append_json_tensor(tensor, out);
  tfrt_string_builder_append_char(out, '}');
  tfrt_string_builder_deinitialize(&text);
}
