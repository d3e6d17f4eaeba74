// SPDX-License-Identifier: Apache-2.0
//
// tfrt.print_text: prints a format with values. The format comes from the program and is not
// trusted. The kernel splits it into conversions, and checks each against the type of its value.
// Then it passes one conversion at a time to the C library, in a form made here.
//
//   %[flags][width][.precision]conversion      flags: any of "-+ 0#"
//
//   %d %i   i1 and all integers        %f %e %g   f32, f64        %s   strings
//   %%      a percent sign

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/printing.h"
#include "kernels/tensor/ops/ops.h"

#include "host_runtime/base/number_text.h"
#include "host_runtime/bef/bef_attribute.h"

// Wider or more precise than that nothing is printed.
#define MAX_FIELD 255

// One conversion, as the format has it.
typedef struct conversion_s {
  char flags[6];
  int width;      // 0: none
  int precision;  // -1: none
  char letter;
} conversion_t;

// Reads a number up to MAX_FIELD from |*position| on; -1 if it is larger.
static int read_number(tfrt_string_view_t format, size_t* position) {
  int number = 0;
  while (*position < format.size && format.data[*position] >= '0' &&
         format.data[*position] <= '9') {
    if (number <= MAX_FIELD) number = number * 10 + (format.data[*position] - '0');
    ++*position;
  }
  return number <= MAX_FIELD ? number : -1;
}

// Reads the conversion whose '%' lies before |*position|; false if it is none.
static bool read_conversion(tfrt_string_view_t format, size_t* position,
                            conversion_t* out_conversion) {
  *out_conversion = (conversion_t){.precision = -1};
  size_t flag_count = 0;
  while (*position < format.size && format.data[*position] != '\0' &&
         strchr("-+ 0#", format.data[*position])) {
    if (flag_count == sizeof(out_conversion->flags) - 1) return false;
    out_conversion->flags[flag_count++] = format.data[(*position)++];
  }
  out_conversion->width = read_number(format, position);
  if (*position < format.size && format.data[*position] == '.') {
    ++*position;
    out_conversion->precision = read_number(format, position);
    if (out_conversion->precision < 0) return false;
  }
  if (*position == format.size || out_conversion->width < 0) return false;
  out_conversion->letter = format.data[(*position)++];
  return out_conversion->letter != '\0' && strchr("difegs%", out_conversion->letter) != NULL;
}

// --- Values ------------------------------------------------------------------

// Sets |*out_value| to |value| if that is an integer, and |*out_unsigned| if it needs to be
// printed as an unsigned one.
static bool integer_of(tfrt_async_value_t* value, int64_t* out_value, bool* out_unsigned) {
  const void* payload = tfrt_async_value_payload(value);
  *out_unsigned = false;
  switch (value->type_id) {
    case TFRT_TYPE_I1:
      *out_value = *(const bool*)payload;
      return true;
    case TFRT_TYPE_I8:
      *out_value = *(const int8_t*)payload;
      return true;
    case TFRT_TYPE_I16:
      *out_value = *(const int16_t*)payload;
      return true;
    case TFRT_TYPE_I32:
      *out_value = *(const int32_t*)payload;
      return true;
    case TFRT_TYPE_I64:
      *out_value = *(const int64_t*)payload;
      return true;
    case TFRT_TYPE_UI8:
      *out_value = *(const uint8_t*)payload;
      return true;
    case TFRT_TYPE_UI16:
      *out_value = *(const uint16_t*)payload;
      return true;
    case TFRT_TYPE_UI32:
      *out_value = *(const uint32_t*)payload;
      return true;
    case TFRT_TYPE_UI64:
      *out_value = (int64_t) * (const uint64_t*)payload;
      *out_unsigned = true;
      return true;
    default:
      return false;
  }
}

static bool double_of(tfrt_async_value_t* value, double* out_value) {
  const void* payload = tfrt_async_value_payload(value);
  if (value->type_id == TFRT_TYPE_F32) *out_value = (double)*(const float*)payload;
  if (value->type_id == TFRT_TYPE_F64) *out_value = *(const double*)payload;
  return value->type_id == TFRT_TYPE_F32 || value->type_id == TFRT_TYPE_F64;
}

// The form for the C library: the flags, then width and precision as arguments (a negative
// precision means none), then the length and letter |tail|.
typedef struct form_s {
  char text[24];
} form_t;

static form_t make_form(const conversion_t* conversion, const char* tail) {
  form_t form;
  snprintf(form.text, sizeof(form.text), "%%%s*.*%s", conversion->flags, tail);
  return form;
}

// The forms below are made from checked parts, each for the one type that follows it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void append_integer(const conversion_t* conversion, int64_t value, bool is_unsigned,
                           tfrt_string_builder_t* line) {
  form_t form = make_form(conversion, is_unsigned ? PRIu64 : PRId64);
  tfrt_string_builder_append_format(line, form.text, conversion->width, conversion->precision,
                                    value);
}

static void append_double(const conversion_t* conversion, double value,
                          tfrt_string_builder_t* line) {
  const char tail[2] = {conversion->letter, '\0'};
  form_t form = make_form(conversion, tail);
  tfrt_string_builder_append_format(line, form.text, conversion->width, conversion->precision,
                                    value);
}

#pragma GCC diagnostic pop

// By hand: the text may contain anything. Only the width and '-' mean something here.
static void append_string(const conversion_t* conversion, tfrt_string_view_t text,
                          tfrt_string_builder_t* line) {
  if (conversion->precision >= 0 && text.size > (size_t)conversion->precision) {
    text.size = (size_t)conversion->precision;
  }
  size_t width = (size_t)conversion->width;
  size_t fill = text.size < width ? width - text.size : 0;
  bool is_left = strchr(conversion->flags, '-') != NULL;
  if (!is_left) tfrt_string_builder_append_fill(line, ' ', fill);
  tfrt_string_builder_append_view(line, text);
  if (is_left) tfrt_string_builder_append_fill(line, ' ', fill);
}

// Appends |value| as |conversion| says; false if it is of another type.
static bool append_value(const conversion_t* conversion, tfrt_async_value_t* value,
                         tfrt_string_builder_t* line) {
  int64_t integer = 0;
  double number = 0;
  bool is_unsigned = false;
  switch (conversion->letter) {
    case 'd':
    case 'i':
      if (!integer_of(value, &integer, &is_unsigned)) return false;
      append_integer(conversion, integer, is_unsigned, line);
      return true;
    case 's':
      if (value->type_id != TFRT_TYPE_STRING) return false;
      append_string(conversion, tfrt_async_value_string(value), line);
      return true;
    default:
      if (!double_of(value, &number)) return false;
      append_double(conversion, tfrt_number_text_unsigned_nan(number), line);
      return true;
  }
}

// --- The kernel --------------------------------------------------------------

// Takes the next value of |frame| for |conversion|.
static tfrt_status_t append_next(const tfrt_kernel_frame_t* frame, const conversion_t* conversion,
                                 uint32_t* next, tfrt_string_builder_t* line) {
  if (*next == frame->argument_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the format asks for more values than the %" PRIu32 " there are",
                              frame->argument_count - 1);
  }
  tfrt_async_value_t* value = frame->arguments[(*next)++];
  if (append_value(conversion, value, line)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the format has %%%c for value %" PRIu32 ", which is of type %s",
                            conversion->letter, *next - 2, tfrt_type_get(value->type_id)->name);
}

static tfrt_status_t format_line(const tfrt_kernel_frame_t* frame, tfrt_string_view_t format,
                                 tfrt_string_builder_t* line) {
  uint32_t next = 1;  // 0 is the chain
  for (size_t position = 0; position < format.size;) {
    char letter = format.data[position++];
    if (letter != '%') {
      tfrt_string_builder_append_char(line, letter);
      continue;
    }
    size_t start = position;
    conversion_t conversion;
    if (!read_conversion(format, &position, &conversion)) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the format has something other than %%d, %%i, %%f, %%e, %%g, %%s "
                                "or %%%% at byte %zu",
                                start - 1);
    }
    if (conversion.letter == '%') {
      tfrt_string_builder_append_char(line, '%');
    } else {
      TFRT_RETURN_IF_ERROR(append_next(frame, &conversion, &next, line));
    }
  }
  if (next == frame->argument_count) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the format asks for %" PRIu32 " values, but there are %" PRIu32,
                            next - 1, frame->argument_count - 1);
}

static void print_text(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_status_t status = format_line(frame, tfrt_bef_attribute_string(frame->attributes[0]), &line);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    tfrt_string_builder_deinitialize(&line);
    return;
  }
  tfrt_print_line_take(frame, &line);
}

static const tfrt_kernel_registration_t registrations[] = {{"tfrt.print_text", print_text}};

const tfrt_kernel_group_t tfrt_print_text_kernels = {&tfrt_tensor_ops, registrations,
                                                     TFRT_ARRAY_SIZE(registrations)};
