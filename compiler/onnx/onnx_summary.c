// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_summary.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/onnx/onnx_model.h"
#include "host_runtime/base/ascii.h"
#include "host_runtime/base/number_text.h"

void tfrt_onnx_value_name(const char* name, char* out_name, size_t size) {
  size_t count = 0;
  if (tfrt_ascii_is_digit(name[0])) out_name[count++] = '_';
  for (; *name && count + 1 < size; ++name) {
    bool is_fit = tfrt_ascii_is_letter_or_digit(*name) || strchr(".$-", *name);
    out_name[count++] = is_fit ? *name : '_';
  }
  if (count == 0 && size > 1) out_name[count++] = '_';
  out_name[count] = '\0';
}

// --- Shapes that a user gives -------------------------------------------------------

// Whether |text|, "NAME=1x3", is for |name|, as the model or the program calls it; sets
// |*out_lengths| to what follows.
static bool is_for(const char* text, const char* name, const char** out_lengths) {
  char value_name[256];
  const char* equals = strrchr(text, '=');
  tfrt_onnx_value_name(name, value_name, sizeof(value_name));
  if (!equals) return false;
  size_t size = (size_t)(equals - text);
  *out_lengths = equals + 1;
  return (strlen(name) == size && memcmp(text, name, size) == 0) ||
         (strlen(value_name) == size && memcmp(text, value_name, size) == 0);
}

static tfrt_status_t parse_lengths(const char* text, const char* lengths,
                                   tfrt_onnx_signature_t* signature) {
  signature->is_ranked = true;
  signature->rank = 0;
  for (const char* at = lengths; *at;) {
    const char* end = at + strspn(at, "0123456789");
    int64_t length = 0;
    bool goes_on = *end == 'x' || *end == ',';
    bool is_number =
        tfrt_number_text_parse_i64(tfrt_string_view_make(at, (size_t)(end - at)), &length);
    if (!is_number || (*end && !goes_on) || (goes_on && !end[1]) ||
        signature->rank == TFRT_ONNX_MAX_AXES) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "'%s' is no shape: give NAME=1x3x224x224", text);
    }
    signature->names[signature->rank] = NULL;
    signature->dims[signature->rank++] = length;
    at = goes_on ? end + 1 : end;
  }
  return NULL;
}

// Whether |given|, which |text| says, fits the model's |own| shape.
static tfrt_status_t check_given(const char* text, const tfrt_onnx_signature_t* own,
                                 const tfrt_onnx_signature_t* given) {
  if (own->rank != given->rank) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s': the input has %u axes", text,
                              own->rank);
  }
  for (uint32_t i = 0; i < own->rank; ++i) {
    if (own->dims[i] < 0 || own->dims[i] == given->dims[i]) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s': axis %u of the input has the length %lld in the model", text,
                              i, (long long)own->dims[i]);
  }
  return NULL;
}

tfrt_status_t tfrt_onnx_signature_read(const Onnx__ValueInfoProto* info,
                                       const tfrt_onnx_options_t* options,
                                       tfrt_onnx_signature_t* out_signature) {
  memset(out_signature, 0, sizeof(*out_signature));
  const Onnx__TensorTypeProto* type = info->type ? info->type->tensor_type : NULL;
  if (type) out_signature->element_type = type->elem_type;
  if (type && type->shape && type->shape->n_dim <= TFRT_ONNX_MAX_AXES) {
    out_signature->is_ranked = true;
    out_signature->rank = (uint32_t)type->shape->n_dim;
    for (uint32_t i = 0; i < out_signature->rank; ++i) {
      const Onnx__DimensionProto* dim = type->shape->dim[i];
      bool is_known = dim->has_dim_value && dim->dim_value >= 0;
      out_signature->dims[i] = is_known ? dim->dim_value : -1;
      out_signature->names[i] = dim->dim_param && dim->dim_param[0] ? dim->dim_param : NULL;
    }
  }
  for (size_t i = 0; options && i < options->shape_count; ++i) {
    const char* lengths;
    if (!is_for(options->shapes[i], info->name, &lengths)) continue;
    const tfrt_onnx_signature_t own = *out_signature;
    TFRT_RETURN_IF_ERROR(parse_lengths(options->shapes[i], lengths, out_signature));
    if (own.is_ranked) TFRT_RETURN_IF_ERROR(check_given(options->shapes[i], &own, out_signature));
  }
  return NULL;
}

tfrt_status_t tfrt_onnx_shapes_check(const Onnx__GraphProto* graph,
                                     const tfrt_onnx_options_t* options) {
  for (size_t i = 0; i < options->shape_count; ++i) {
    const char* lengths;
    bool is_known = false;
    for (size_t n = 0; n < graph->n_input && !is_known; ++n) {
      is_known = is_for(options->shapes[i], graph->input[n]->name, &lengths);
    }
    if (is_known) continue;
    tfrt_string_builder_t names;
    tfrt_string_builder_initialize(&names, tfrt_allocator_system());
    for (size_t n = 0; n < graph->n_input; ++n) {
      tfrt_string_builder_append_format(&names, "%s%s", n > 0 ? ", " : "", graph->input[n]->name);
    }
    tfrt_status_t status =
        tfrt_status_create(TFRT_STATUS_NOT_FOUND, "'%s' names no input; the model has %s",
                           options->shapes[i], tfrt_string_builder_text(&names));
    tfrt_string_builder_deinitialize(&names);
    return status;
  }
  return NULL;
}

// --- Lines ------------------------------------------------------------------------

static void append_value(const char* kind, const Onnx__ValueInfoProto* info,
                         const tfrt_onnx_options_t* options, tfrt_string_builder_t* out) {
  tfrt_onnx_signature_t signature;
  tfrt_status_release(tfrt_onnx_signature_read(info, options, &signature));
  tfrt_string_builder_append_format(out, "%s %s: %s", kind, info->name,
                                    tfrt_onnx_element_name(signature.element_type));
  if (!signature.is_ranked) {
    tfrt_string_builder_append_text(out, " of any shape\n");
    return;
  }
  tfrt_string_builder_append_text(out, " [");
  for (uint32_t i = 0; i < signature.rank; ++i) {
    if (i > 0) tfrt_string_builder_append_text(out, ", ");
    if (signature.dims[i] >= 0) {
      tfrt_string_builder_append_format(out, "%lld", (long long)signature.dims[i]);
    } else {
      tfrt_string_builder_append_text(out, signature.names[i] ? signature.names[i] : "?");
    }
  }
  tfrt_string_builder_append_text(out, "]\n");
}

void tfrt_onnx_summary_append(const tfrt_onnx_builder_t* builder, const Onnx__ModelProto* model,
                              const tfrt_onnx_options_t* options, tfrt_string_builder_t* out) {
  const Onnx__GraphProto* graph = model->graph;
  for (size_t i = 0; i < graph->n_input; ++i) {
    const tfrt_ir_string_t* name = tfrt_ir_string_of(builder->context, graph->input[i]->name);
    const tfrt_onnx_entry_t* entry = name ? name->meaning : NULL;
    if (entry && !entry->constant) append_value("input ", graph->input[i], options, out);
  }
  for (size_t i = 0; i < graph->n_output; ++i) append_value("output", graph->output[i], NULL, out);
  tfrt_string_builder_append_format(out, "opset %lld, %zu nodes, %zu ops, %.1f MB of constants",
                                    (long long)builder->opset, graph->n_node, builder->op_count,
                                    (double)builder->weight_bytes / 1e6);
  if (model->producer_name[0]) {
    tfrt_string_builder_append_format(out, ", made by %s", model->producer_name);
    if (model->producer_version[0]) {
      tfrt_string_builder_append_format(out, " %s", model->producer_version);
    }
  }
  tfrt_string_builder_append_char(out, '\n');
}
