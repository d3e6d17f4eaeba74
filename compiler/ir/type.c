// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/type.h"

#include <inttypes.h>

#include "host_runtime/base/string_builder.h"

// Operands and results, and what is between them, of function types that are found by these.
#define MOST_KEY_PARTS 16

// Copies the |size| bytes at |part|, a list that a new type refers to, to where the type is; NULL
// when memory is out.
static const void* keep_part(tfrt_ir_context_t* context, const void* part, size_t size) {
  void* copy = tfrt_ir_context_allocate_kept(context, size);
  if (copy && size) memcpy(copy, part, size);
  return copy;
}

// Returns a new type like |model|, which lives as long as |context|; NULL when memory is out.
static tfrt_ir_type_t* keep(tfrt_ir_context_t* context, const tfrt_ir_type_t* model) {
  tfrt_ir_type_t* type = tfrt_ir_context_allocate_kept(context, sizeof(*type));
  if (!type) return NULL;
  *type = *model;
  type->inputs = keep_part(context, model->inputs, model->input_count * sizeof(*model->inputs));
  type->results = keep_part(context, model->results, model->result_count * sizeof(*model->results));
  type->dims = keep_part(context, model->dims, model->rank * sizeof(*model->dims));
  return type->inputs && type->results && type->dims ? type : NULL;
}

// Returns the type whose text |builder| holds (and gives back): the one that is there,
// or a copy of |model| with that text. NULL when memory is out.
static const tfrt_ir_type_t* take_text(tfrt_ir_context_t* context, tfrt_string_builder_t* builder,
                                       const tfrt_ir_type_t* model) {
  const tfrt_ir_type_t* result = NULL;
  const tfrt_ir_string_t* text = NULL;
  if (!builder->failed) text = tfrt_ir_string_get(context, tfrt_string_builder_view(builder));
  tfrt_string_builder_deinitialize(builder);
  const void* key = NULL;
  const void** slot =
      text ? tfrt_ir_context_intern(context, TFRT_IR_TABLE_TYPES, text->data, text->size, &key)
           : NULL;
  if (slot && *slot) result = *slot;
  if (slot && !result) {
    tfrt_ir_type_t* type = keep(context, model);
    if (type) {
      type->text = text;
      *slot = type;
    }
    result = type;
  }
  return result;
}

static void begin_text(tfrt_ir_context_t* context, tfrt_string_builder_t* builder) {
  tfrt_string_builder_initialize(builder, tfrt_ir_context_allocator(context));
}

static void append_list(tfrt_string_builder_t* builder, const tfrt_ir_type_t* const* types,
                        uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (i) tfrt_string_builder_append_text(builder, ", ");
    tfrt_string_builder_append_view(builder, tfrt_ir_string_view(types[i]->text));
  }
}

const tfrt_ir_type_t* tfrt_ir_type_integer(tfrt_ir_context_t* context, uint32_t width,
                                           tfrt_ir_signedness_t signedness) {
  static const char* const prefixes[] = {"i", "si", "ui"};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_format(&builder, "%s%" PRIu32, prefixes[signedness], width);
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_INTEGER, .width = width, .signedness = signedness};
  return take_text(context, &builder, &model);
}

static const tfrt_ir_type_t* named_type(tfrt_ir_context_t* context, const char* name,
                                        const tfrt_ir_type_t* model) {
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_text(&builder, name);
  return take_text(context, &builder, model);
}

const tfrt_ir_type_t* tfrt_ir_type_index(tfrt_ir_context_t* context) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_INDEX, .width = 64};
  return named_type(context, "index", &model);
}

const tfrt_ir_type_t* tfrt_ir_type_none(tfrt_ir_context_t* context) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_NONE};
  return named_type(context, "none", &model);
}

const tfrt_ir_type_t* tfrt_ir_type_float(tfrt_ir_context_t* context, tfrt_string_view_t name) {
  static const struct {
    const char* name;
    uint32_t width;
  } floats[] = {
      {"f16", 16},       {"bf16", 16},      {"f32", 32},          {"f64", 64},   {"tf32", 19},
      {"f80", 80},       {"f128", 128},     {"f8E5M2", 8},        {"f8E4M3", 8}, {"f8E4M3FN", 8},
      {"f8E5M2FNUZ", 8}, {"f8E4M3FNUZ", 8}, {"f8E4M3B11FNUZ", 8}, {"f8E3M4", 8}, {"f8E8M0FNU", 8},
      {"f6E2M3FN", 6},   {"f6E3M2FN", 6},   {"f4E2M1FN", 4},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(floats); ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(floats[i].name))) continue;
    tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_FLOAT, .width = floats[i].width};
    return named_type(context, floats[i].name, &model);
  }
  return NULL;
}

// The function type, found or made by its text.
static const tfrt_ir_type_t* make_function(tfrt_ir_context_t* context,
                                           const tfrt_ir_type_t* const* inputs,
                                           uint32_t input_count,
                                           const tfrt_ir_type_t* const* results,
                                           uint32_t result_count) {
  bool bare = result_count == 1 && results[0]->kind != TFRT_IR_TYPE_FUNCTION;
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_FUNCTION,
                          .input_count = input_count,
                          .result_count = result_count,
                          .inputs = inputs,
                          .results = results};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_char(&builder, '(');
  append_list(&builder, inputs, input_count);
  tfrt_string_builder_append_text(&builder, bare ? ") -> " : ") -> (");
  append_list(&builder, results, result_count);
  if (!bare) tfrt_string_builder_append_char(&builder, ')');
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_function(tfrt_ir_context_t* context,
                                            const tfrt_ir_type_t* const* inputs,
                                            uint32_t input_count,
                                            const tfrt_ir_type_t* const* results,
                                            uint32_t result_count) {
  // In the generic form each op has one, so that the text of the usual ones isn't made each time.
  const void* parts[MOST_KEY_PARTS];
  size_t count = 1 + (size_t)input_count + result_count;
  if (count > MOST_KEY_PARTS) {
    return make_function(context, inputs, input_count, results, result_count);
  }
  const void** part = parts;
  for (uint32_t i = 0; i < input_count; ++i) *part++ = inputs[i];
  *part++ = NULL;
  for (uint32_t i = 0; i < result_count; ++i) *part++ = results[i];
  const void* key = NULL;
  const void** slot = tfrt_ir_context_intern(context, TFRT_IR_TABLE_FUNCTION_TYPES, parts,
                                             count * sizeof(*parts), &key);
  if (!slot) return NULL;
  if (!*slot) *slot = make_function(context, inputs, input_count, results, result_count);
  return *slot;
}

const tfrt_ir_type_t* tfrt_ir_type_tuple(tfrt_ir_context_t* context,
                                         const tfrt_ir_type_t* const* elements, uint32_t count) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_TUPLE, .input_count = count, .inputs = elements};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_text(&builder, "tuple<");
  append_list(&builder, elements, count);
  tfrt_string_builder_append_char(&builder, '>');
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_async_value(tfrt_ir_context_t* context,
                                               const tfrt_ir_type_t* element) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_DIALECT, .element = element};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_text(&builder, "!async.value<");
  append_list(&builder, &element, 1);
  tfrt_string_builder_append_char(&builder, '>');
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_complex(tfrt_ir_context_t* context,
                                           const tfrt_ir_type_t* element) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_COMPLEX, .element = element};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_text(&builder, "complex<");
  append_list(&builder, &element, 1);
  tfrt_string_builder_append_char(&builder, '>');
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_shaped(tfrt_ir_context_t* context, tfrt_ir_type_kind_t kind,
                                          bool is_ranked, const int64_t* dims, uint32_t rank,
                                          const tfrt_ir_type_t* element,
                                          const tfrt_ir_string_t* suffix) {
  tfrt_ir_type_t model = {.kind = kind,
                          .is_ranked = is_ranked,
                          .dims = dims,
                          .rank = rank,
                          .element = element,
                          .suffix = suffix};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  const char* name = kind == TFRT_IR_TYPE_TENSOR   ? "tensor<"
                     : kind == TFRT_IR_TYPE_VECTOR ? "vector<"
                                                   : "memref<";
  tfrt_string_builder_append_text(&builder, name);
  if (!is_ranked) tfrt_string_builder_append_text(&builder, "*x");
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == TFRT_IR_DYNAMIC) {
      tfrt_string_builder_append_text(&builder, "?x");
    } else {
      tfrt_string_builder_append_format(&builder, "%" PRId64 "x", dims[i]);
    }
  }
  append_list(&builder, &element, 1);
  if (suffix) {
    tfrt_string_builder_append_text(&builder, ", ");
    tfrt_string_builder_append_view(&builder, tfrt_ir_string_view(suffix));
  }
  tfrt_string_builder_append_char(&builder, '>');
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_dialect(tfrt_ir_context_t* context, tfrt_string_view_t text) {
  tfrt_ir_type_t model = {.kind = TFRT_IR_TYPE_DIALECT};
  tfrt_string_builder_t builder;
  begin_text(context, &builder);
  tfrt_string_builder_append_view(&builder, text);
  return take_text(context, &builder, &model);
}

const tfrt_ir_type_t* tfrt_ir_type_find(const tfrt_ir_context_t* context, tfrt_string_view_t text) {
  return tfrt_ir_context_find(context, TFRT_IR_TABLE_TYPES, text.data, text.size);
}

bool tfrt_ir_type_has_static_shape(const tfrt_ir_type_t* type) {
  bool known = type->is_ranked;
  for (uint32_t i = 0; known && i < type->rank; ++i) known = type->dims[i] >= 0;
  return known;
}

bool tfrt_ir_type_element_count(const tfrt_ir_type_t* type, size_t* out_count) {
  *out_count = 0;
  size_t count = 1;
  bool known = tfrt_ir_type_has_static_shape(type);
  for (uint32_t i = 0; known && i < type->rank; ++i) {
    known = tfrt_size_multiply(count, (size_t)type->dims[i], &count) && count <= INT64_MAX;
  }
  if (known) *out_count = count;
  return known;
}

size_t tfrt_ir_type_byte_size(const tfrt_ir_type_t* type) {
  switch (type->kind) {
    case TFRT_IR_TYPE_INTEGER:
      if (type->width == 1) return 1;
      return type->width % 8 == 0 && type->width <= 64 ? type->width / 8 : 0;
    case TFRT_IR_TYPE_INDEX:
      return 8;
    case TFRT_IR_TYPE_FLOAT:
      return type->width % 8 == 0 && type->width <= 64 ? type->width / 8 : 0;
    case TFRT_IR_TYPE_COMPLEX:
      return 2 * tfrt_ir_type_byte_size(type->element);
    default:
      return 0;
  }
}
