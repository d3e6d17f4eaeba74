// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "compiler/printer/printer_impl.h"

// Dense attributes with more elements are printed as hexadecimal bytes, as MLIR does.
#define MAX_PRINTED_ELEMENTS 100

// How many bytes |string| begins with that stand for themselves.
static size_t plain_size(tfrt_string_view_t string) {
  size_t size = 0;
  while (size < string.size) {
    unsigned char byte = (unsigned char)string.data[size];
    if (byte < ' ' || byte >= 127 || byte == '"' || byte == '\\') break;
    ++size;
  }
  return size;
}

void tfrt_print_string(tfrt_string_view_t string, tfrt_string_builder_t* builder) {
  tfrt_quick_text_append(builder, "\"");
  for (;;) {
    size_t size = plain_size(string);
    tfrt_quick_text_append_view(builder, tfrt_string_view_make(string.data, size));
    if (size == string.size) break;
    unsigned char byte = (unsigned char)string.data[size];
    if (byte == '\\') {
      tfrt_quick_text_append(builder, "\\\\");
    } else {
      tfrt_string_builder_append_format(builder, "\\%02X", byte);
    }
    string = tfrt_string_view_make(string.data + size + 1, string.size - size - 1);
  }
  tfrt_quick_text_append(builder, "\"");
}

static bool is_bare_name(tfrt_string_view_t name) {
  for (size_t i = 0; i < name.size; ++i) {
    char c = name.data[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool is_other = (c >= '0' && c <= '9') || c == '$' || c == '.';
    if (!is_letter && (i == 0 || !is_other)) return false;
  }
  return name.size != 0;
}

void tfrt_printer_key(tfrt_string_builder_t* builder, tfrt_string_view_t name) {
  if (is_bare_name(name)) {
    tfrt_quick_text_append_view(builder, name);
  } else {
    tfrt_print_string(name, builder);
  }
}

void tfrt_printer_dictionary(tfrt_string_builder_t* builder,
                             const tfrt_ir_named_attribute_t* entries, uint32_t count) {
  tfrt_quick_text_append(builder, "{");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) tfrt_quick_text_append(builder, ", ");
    tfrt_printer_key(builder, tfrt_ir_string_view(entries[i].name));
    if (entries[i].value->kind == TFRT_IR_ATTRIBUTE_UNIT) continue;
    tfrt_quick_text_append(builder, " = ");
    tfrt_print_attribute(entries[i].value, builder);
  }
  tfrt_quick_text_append(builder, "}");
}

static void print_integer(tfrt_string_builder_t* builder, const tfrt_ir_type_t* type,
                          uint64_t bits) {
  if (tfrt_ir_type_is(type, "i1")) {
    tfrt_string_builder_append_text(builder, bits & 1 ? "true" : "false");
  } else if (type->signedness == TFRT_IR_UNSIGNED) {
    tfrt_quick_text_append_number(builder, bits);
  } else {
    bool is_negative = (int64_t)bits < 0;
    if (is_negative) tfrt_quick_text_append(builder, "-");
    tfrt_quick_text_append_number(builder, is_negative ? 0 - bits : bits);
  }
}

static void print_number(tfrt_string_builder_t* builder, const tfrt_ir_type_t* type,
                         uint64_t bits) {
  if (type->kind == TFRT_IR_TYPE_FLOAT) {
    tfrt_printer_float(builder, type, bits);
  } else {
    print_integer(builder, type, bits);
  }
}

void tfrt_printer_literal(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER || attribute->kind == TFRT_IR_ATTRIBUTE_FLOAT) {
    print_number(builder, attribute->type, attribute->bits);
  } else {
    tfrt_print_attribute(attribute, builder);
  }
}

// Leaf |index| of packed |bytes|, as number |type|.
static void print_leaf(tfrt_string_builder_t* builder, const tfrt_ir_type_t* type,
                       const char* bytes, size_t index) {
  size_t width = tfrt_ir_type_byte_size(type);
  uint64_t bits = 0;
  memcpy(&bits, bytes + index * width, width);
  bool is_signed = type->kind == TFRT_IR_TYPE_INTEGER && type->signedness != TFRT_IR_UNSIGNED &&
                   type->width > 1 && type->width < 64;
  if (is_signed && bits >> (type->width - 1)) bits |= ~((UINT64_C(1) << type->width) - 1);
  print_number(builder, type, bits);
}

static void print_element(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* dense,
                          size_t index) {
  const tfrt_ir_type_t* element = dense->type->element;
  if (element->kind != TFRT_IR_TYPE_COMPLEX) {
    print_leaf(builder, element, dense->bytes, index);
    return;
  }
  tfrt_quick_text_append(builder, "(");
  print_leaf(builder, element->element, dense->bytes, 2 * index);
  tfrt_quick_text_append(builder, ",");
  print_leaf(builder, element->element, dense->bytes, 2 * index + 1);
  tfrt_quick_text_append(builder, ")");
}

// The nested lists of |dense|, whose number of elements is |count| > 0: before and behind
// an element, a bracket for each dimension that begins or ends with it.
static void print_elements(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* dense,
                           size_t count) {
  const tfrt_ir_type_t* type = dense->type;
  for (size_t i = 0; i < count; ++i) {
    size_t begins = 0;
    size_t ends = 0;
    size_t stride = 1;
    for (uint32_t d = type->rank; d-- > 0;) {
      stride *= (size_t)type->dims[d];
      begins += i % stride == 0;
      ends += (i + 1) % stride == 0;
    }
    if (i) tfrt_quick_text_append(builder, ", ");
    tfrt_string_builder_append_fill(builder, '[', begins);
    print_element(builder, dense, i);
    tfrt_string_builder_append_fill(builder, ']', ends);
  }
}

static void print_byte(tfrt_string_builder_t* builder, unsigned byte) {
  static const char digits[] = "0123456789ABCDEF";
  const char text[2] = {digits[byte >> 4], digits[byte & 15]};
  tfrt_string_builder_append(builder, text, sizeof(text));
}

// The bytes of |dense| in quotes; truth values are one bit each there, the lowest first.
static void print_bytes(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* dense) {
  bool is_truth = tfrt_ir_type_is(dense->type->element, "i1");
  tfrt_quick_text_append(builder, "\"0x");
  for (size_t i = 0; !is_truth && i < dense->size; ++i) {
    print_byte(builder, (unsigned char)dense->bytes[i]);
  }
  for (size_t i = 0; is_truth && i < dense->size; i += 8) {
    unsigned byte = 0;
    for (size_t k = i; k < i + 8 && k < dense->size; ++k) {
      byte |= (dense->bytes[k] & 1u) << (k - i);
    }
    print_byte(builder, byte);
  }
  tfrt_quick_text_append(builder, "\"");
}

static void print_dense(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* dense) {
  size_t count = 0;
  tfrt_ir_type_element_count(dense->type, &count);
  tfrt_quick_text_append(builder, "dense<");
  if (count && dense->is_splat) {
    print_element(builder, dense, 0);
  } else if (count > MAX_PRINTED_ELEMENTS) {
    print_bytes(builder, dense);
  } else {
    print_elements(builder, dense, count);
  }
  tfrt_string_builder_append_format(builder, "> : %s", dense->type->text->data);
}

static void print_dense_array(tfrt_string_builder_t* builder,
                              const tfrt_ir_attribute_t* attribute) {
  tfrt_quick_text_append(builder, "array<");
  tfrt_quick_text_append_view(builder, tfrt_ir_string_view(attribute->type->text));
  for (uint32_t i = 0; i < attribute->count; ++i) {
    tfrt_quick_text_append_view(builder, tfrt_string_view_make(i ? ", " : ": ", 2));
    print_leaf(builder, attribute->type, attribute->bytes, i);
  }
  tfrt_quick_text_append(builder, ">");
}

static void print_shape(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* shape) {
  tfrt_quick_text_append(builder, "#corert.shape<");
  if (!shape->is_ranked) tfrt_quick_text_append(builder, "*");
  for (uint32_t i = 0; i < shape->count; ++i) {
    if (i) tfrt_quick_text_append(builder, "x");
    if (shape->dims[i] == TFRT_IR_DYNAMIC) {
      tfrt_quick_text_append(builder, "?");
    } else {
      tfrt_string_builder_append_format(builder, "%" PRId64, shape->dims[i]);
    }
  }
  tfrt_quick_text_append(builder, ">");
}

static void print_symbol(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* symbol) {
  for (uint32_t i = 0; i < symbol->count; ++i) {
    tfrt_string_builder_append_text(builder, i ? "::@" : "@");
    tfrt_printer_key(builder, tfrt_ir_string_view(symbol->names[i]));
  }
}

// In an array MLIR leaves out the types that a number without one has, unless a float is written as
// bits: that would be an integer.
static void print_array_element(tfrt_string_builder_t* builder,
                                const tfrt_ir_attribute_t* element) {
  if (element->kind == TFRT_IR_ATTRIBUTE_INTEGER && tfrt_ir_type_is(element->type, "i64")) {
    print_integer(builder, element->type, element->bits);
  } else if (element->kind == TFRT_IR_ATTRIBUTE_FLOAT && tfrt_ir_type_is(element->type, "f64")) {
    if (!tfrt_printer_float(builder, element->type, element->bits)) {
      tfrt_quick_text_append(builder, " : f64");
    }
  } else {
    tfrt_print_attribute(element, builder);
  }
}

static void print_array(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* array) {
  tfrt_quick_text_append(builder, "[");
  for (uint32_t i = 0; i < array->count; ++i) {
    if (i) tfrt_quick_text_append(builder, ", ");
    print_array_element(builder, array->elements[i]);
  }
  tfrt_quick_text_append(builder, "]");
}

// A number or string with its type, if MLIR prints it: not behind true and false.
static void print_typed(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_STRING) {
    tfrt_print_string(tfrt_ir_attribute_text(attribute), builder);
  } else {
    print_number(builder, attribute->type, attribute->bits);
  }
  bool has_type = attribute->type && !(attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER &&
                                       tfrt_ir_type_is(attribute->type, "i1"));
  if (!has_type) return;
  tfrt_quick_text_append(builder, " : ");
  tfrt_quick_text_append_view(builder, tfrt_ir_string_view(attribute->type->text));
}

void tfrt_print_attribute(const tfrt_ir_attribute_t* attribute, tfrt_string_builder_t* builder) {
  switch (attribute->kind) {
    case TFRT_IR_ATTRIBUTE_UNIT:
      tfrt_quick_text_append(builder, "unit");
      return;
    case TFRT_IR_ATTRIBUTE_INTEGER:
    case TFRT_IR_ATTRIBUTE_FLOAT:
    case TFRT_IR_ATTRIBUTE_STRING:
      print_typed(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_TYPE:
      tfrt_string_builder_append_view(builder, tfrt_ir_string_view(attribute->type->text));
      return;
    case TFRT_IR_ATTRIBUTE_ARRAY:
      print_array(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_DICTIONARY:
      tfrt_printer_dictionary(builder, attribute->entries, attribute->count);
      return;
    case TFRT_IR_ATTRIBUTE_SYMBOL:
      print_symbol(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_DENSE:
      print_dense(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_DENSE_ARRAY:
      print_dense_array(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_SHAPE:
      print_shape(builder, attribute);
      return;
    case TFRT_IR_ATTRIBUTE_LOCATION:
      tfrt_print_location(attribute->location, builder);
      return;
    case TFRT_IR_ATTRIBUTE_RESOURCE:
      tfrt_quick_text_append(builder, "dense_resource<");
      tfrt_printer_key(builder, tfrt_ir_string_view(attribute->names[0]));
      tfrt_string_builder_append_format(builder, "> : %s", attribute->type->text->data);
      return;
    case TFRT_IR_ATTRIBUTE_OPAQUE:
      tfrt_string_builder_append_view(builder, tfrt_ir_attribute_text(attribute));
      return;
  }
}

static void print_place(const tfrt_ir_location_t* location, tfrt_string_builder_t* builder) {
  tfrt_print_string(tfrt_ir_string_view(location->name), builder);
  tfrt_quick_text_append(builder, ":");
  tfrt_quick_text_append_number(builder, location->line);
  tfrt_quick_text_append(builder, ":");
  tfrt_quick_text_append_number(builder, location->column);
  if (!location->end_line) return;
  tfrt_quick_text_append(builder, " to ");
  if (location->end_line != location->line) {
    tfrt_string_builder_append_format(builder, "%u", location->end_line);
  }
  tfrt_string_builder_append_format(builder, ":%u", location->end_column);
}

// |location| without its `loc(...)`.
static void print_inner(const tfrt_ir_location_t* location, tfrt_string_builder_t* builder) {
  switch (location->kind) {
    case TFRT_IR_LOCATION_UNKNOWN:
      tfrt_quick_text_append(builder, "unknown");
      return;
    case TFRT_IR_LOCATION_FILE:
      print_place(location, builder);
      return;
    case TFRT_IR_LOCATION_NAME:
      tfrt_print_string(tfrt_ir_string_view(location->name), builder);
      if (!location->first || location->first->kind == TFRT_IR_LOCATION_UNKNOWN) return;
      tfrt_quick_text_append(builder, "(");
      print_inner(location->first, builder);
      tfrt_quick_text_append(builder, ")");
      return;
    case TFRT_IR_LOCATION_CALL_SITE:
      tfrt_quick_text_append(builder, "callsite(");
      print_inner(location->first, builder);
      tfrt_quick_text_append(builder, " at ");
      print_inner(location->second, builder);
      tfrt_quick_text_append(builder, ")");
      return;
    case TFRT_IR_LOCATION_FUSED:
      break;
  }
  tfrt_quick_text_append(builder, "fused");
  if (location->metadata) {
    tfrt_quick_text_append(builder, "<");
    tfrt_print_attribute(location->metadata, builder);
    tfrt_quick_text_append(builder, ">");
  }
  tfrt_quick_text_append(builder, "[");
  for (uint32_t i = 0; i < location->member_count; ++i) {
    if (i) tfrt_quick_text_append(builder, ", ");
    print_inner(location->members[i], builder);
  }
  tfrt_quick_text_append(builder, "]");
}

void tfrt_print_location(const tfrt_ir_location_t* location, tfrt_string_builder_t* builder) {
  tfrt_quick_text_append(builder, "loc(");
  print_inner(location, builder);
  tfrt_quick_text_append(builder, ")");
}
