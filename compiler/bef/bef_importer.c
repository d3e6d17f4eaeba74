// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_importer.h"

#include <string.h>

#include "compiler/bef/bef_importer_impl.h"
#include "host_runtime/base/ascii.h"

// Regions in regions: a file may nest them as deep as a text.
#define MAX_REGION_DEPTH (TFRT_PARSER_MAX_NESTING / 2)

// --- Reports ----------------------------------------------------------------------------

void tfrt_bef_importer_report(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                              const char* name, const char* message) {
  tfrt_diagnostics_report_at(importer->diagnostics, TFRT_SEVERITY_ERROR, NULL,
                             "function %u '%s': '%s': %s", function->index, function->name, name,
                             message);
}

void tfrt_bef_importer_warn(tfrt_bef_importer_t* importer) {
  if (importer->has_warned) return;
  importer->has_warned = true;
  tfrt_diagnostics_report_at(
      importer->diagnostics, TFRT_SEVERITY_WARNING, NULL,
      "Missing AttributeTypes, AttributeNames or RegisterTypes sections. What is not in the op "
      "tables is made up: types are " TFRT_BEF_UNKNOWN_TYPE
      ", attributes are " TFRT_BEF_UNKNOWN_ATTRIBUTE " with their offset");
}

// --- Types and locations ------------------------------------------------------------------

const tfrt_ir_type_t* tfrt_bef_import_type(tfrt_bef_importer_t* importer, const char* text) {
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, "type", tfrt_string_view_of(text),
                              tfrt_ir_context_allocator(importer->context));
  const tfrt_ir_type_t* type = tfrt_parse_type(importer->context, &diagnostics);
  tfrt_diagnostics_deinitialize(&diagnostics);
  if (!type) {
    tfrt_diagnostics_report_at(importer->diagnostics, TFRT_SEVERITY_ERROR, NULL,
                               "'%s' is not a type", text);
  }
  return type;
}

// Nearly all locations are plain places: these need no text.
static const tfrt_ir_location_t* import_place(tfrt_bef_importer_t* importer, uint32_t location) {
  tfrt_bef_source_location_t place;
  if (!tfrt_bef_file_location_is_plain(importer->file, location) ||
      !tfrt_bef_file_source_location(importer->file, location, &place)) {
    return NULL;
  }
  // Most places are in the file of the one before.
  if (place.file != importer->place_file) {
    importer->place_name = tfrt_ir_string_of(importer->context, place.file);
    importer->place_file = importer->place_name ? place.file : NULL;
  }
  if (!importer->place_name) return NULL;
  return tfrt_ir_location_file(importer->context, importer->place_name, place.line, place.column);
}

const tfrt_ir_location_t* tfrt_bef_import_location(tfrt_bef_importer_t* importer,
                                                   uint32_t location) {
  const tfrt_ir_location_t* place = import_place(importer, location);
  if (place) return place;
  const tfrt_ir_attribute_t* attribute = NULL;
  tfrt_string_builder_t text;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(importer->context);
  tfrt_string_builder_initialize(&text, allocator);
  if (tfrt_bef_file_location_append_mlir(importer->file, location, &text)) {
    tfrt_diagnostics_t diagnostics;
    tfrt_diagnostics_initialize(&diagnostics, "loc", tfrt_string_builder_view(&text), allocator);
    attribute = tfrt_parse_attribute(importer->context, &diagnostics);
    tfrt_diagnostics_deinitialize(&diagnostics);
  }
  tfrt_string_builder_deinitialize(&text);
  if (attribute && attribute->kind == TFRT_IR_ATTRIBUTE_LOCATION) return attribute->location;
  return tfrt_ir_location_unknown(importer->context);
}

static const tfrt_ir_type_t* const* import_types(tfrt_bef_importer_t* importer,
                                                 const char* const* names, uint32_t count) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(importer->context, count, sizeof(*types));
  for (uint32_t i = 0; types && i < count; ++i) {
    // Equal types are one text in the file, and most are that of the one before.
    bool is_known = i > 0 && names[i] == names[i - 1];
    types[i] = is_known ? types[i - 1] : tfrt_bef_import_type(importer, names[i]);
    if (!types[i]) return NULL;
  }
  return types;
}

// --- Bodies -----------------------------------------------------------------------------

// A body while it is imported.
typedef struct body_s {
  tfrt_bef_importer_t* importer;
  const tfrt_bef_function_t* function;
  tfrt_ir_block_t* block;
  const tfrt_ir_type_t* const* types;  // per register
  tfrt_ir_value_t** values;            // per register
  uint32_t depth;
} body_t;

static bool import_block(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                         tfrt_ir_region_t* region, uint32_t depth);

// The text of the type of each register: the file says so, or else the signature does of
// some, or else nothing.
static const char* const* find_type_texts(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  const char** texts = tfrt_ir_context_allocate_array(body->importer->context,
                                                      function->register_count, sizeof(*texts));
  if (!texts) return NULL;
  if (tfrt_bef_file_read_register_types(body->importer->file, function, texts)) return texts;
  uint32_t known_count = 0;
  for (uint32_t i = 0; i < function->argument_count; ++i, ++known_count) {
    texts[i] = function->argument_types[i];
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t number = function->result_registers[i];
    if (!texts[number]) ++known_count;
    texts[number] = function->result_types[i];
  }
  if (known_count < function->register_count) tfrt_bef_importer_warn(body->importer);
  for (uint32_t i = 0; i < function->register_count; ++i) {
    if (!texts[i]) texts[i] = TFRT_BEF_UNKNOWN_TYPE;
  }
  return texts;
}

static bool find_types(body_t* body) {
  const char* const* texts = find_type_texts(body);
  if (!texts) return body->function->register_count == 0;
  body->types = import_types(body->importer, texts, body->function->register_count);
  return body->types != NULL;
}

// True if |name| can stand behind a % in text.
static bool is_value_name(const char* name) {
  if (!tfrt_ascii_is_letter(name[0]) && name[0] != '_') return false;
  for (const char* c = name; *c != '\0'; ++c) {
    if (!tfrt_ascii_is_letter_or_digit(*c) && !strchr("_$.-", *c)) return false;
  }
  return true;
}

static bool import_arguments(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  tfrt_ir_context_t* context = body->importer->context;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    const char* text = function->argument_names ? function->argument_names[i] : "";
    const tfrt_ir_string_t* name = is_value_name(text) ? tfrt_ir_string_of(context, text) : NULL;
    body->values[i] = tfrt_ir_block_add_argument(context, body->block, body->types[i], name, NULL);
    if (!body->values[i]) return false;
  }
  return true;
}

static const tfrt_kernel_descriptor_t* find_descriptor(const tfrt_bef_importer_t* importer,
                                                       const char* name) {
  return tfrt_kernel_table_find(importer->tables->tables, importer->tables->count, name);
}

static const tfrt_bef_importer_op_t* find_op(tfrt_bef_importer_t* importer,
                                             const tfrt_bef_kernel_t* kernel) {
  tfrt_bef_importer_op_t* op = &importer->ops[kernel->code];
  if (!op->name) {
    op->name = tfrt_ir_string_of(importer->context, kernel->name);
    op->descriptor = find_descriptor(importer, kernel->name);
  }
  return op;
}

// The anonymous functions at the end of the kernel's list become the op's regions, each once.
static bool import_regions(body_t* body, const tfrt_bef_kernel_t* kernel, tfrt_ir_operation_t* op) {
  tfrt_bef_importer_t* importer = body->importer;
  uint32_t first = kernel->function_count - op->region_count;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    uint32_t index = kernel->functions[first + i];
    const tfrt_bef_function_t* region = tfrt_bef_file_function(importer->file, index);
    if (region->name[0] != '\0' || importer->used_regions[index] ||
        index >= body->function->index || region->kind == TFRT_BEF_FUNCTION_NATIVE) {
      tfrt_bef_importer_report(importer, body->function, kernel->name,
                               "one of its functions can't be a region of it");
      return false;
    }
    importer->used_regions[index] = true;
    if (!import_block(importer, region, &op->regions[i], body->depth + 1)) return false;
  }
  return true;
}

// |names| are those of its attributes, or NULL.
static bool import_kernel(body_t* body, const tfrt_bef_kernel_t* kernel, const char* const* names) {
  tfrt_bef_importer_t* importer = body->importer;
  tfrt_ir_context_t* context = importer->context;
  const tfrt_bef_importer_op_t* known = find_op(importer, kernel);
  tfrt_ir_operation_parts_t parts = {
      .name = known->name,
      .descriptor = known->descriptor,
      .location = tfrt_bef_import_location(importer, kernel->location),
      .operand_count = kernel->argument_count,
      .result_count = kernel->result_count,
  };
  parts.attributes =
      tfrt_bef_import_attributes(importer, body->function, kernel, names, parts.descriptor,
                                 &parts.attribute_count, &parts.region_count);
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(context, parts.operand_count, sizeof(*operands));
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(context, parts.result_count, sizeof(*types));
  if (!parts.name || !parts.location || !parts.attributes || !operands || !types) return false;
  for (uint32_t i = 0; i < parts.operand_count; ++i) {
    operands[i] = body->values[kernel->arguments[i]];
  }
  for (uint32_t i = 0; i < parts.result_count; ++i) types[i] = body->types[kernel->results[i]];
  parts.operands = operands;
  parts.result_types = types;
  tfrt_ir_operation_t* op = tfrt_ir_operation_create(context, &parts);
  if (!op) return false;
  for (uint32_t i = 0; i < parts.result_count; ++i) {
    body->values[kernel->results[i]] = &op->results[i];
  }
  tfrt_ir_block_append(body->block, op);
  return import_regions(body, kernel, op);
}

static bool import_return(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  tfrt_ir_context_t* context = body->importer->context;
  tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(context, "tfrt.return"),
      .descriptor = find_descriptor(body->importer, "tfrt.return"),
      .location = tfrt_bef_import_location(body->importer, function->location),
      .operand_count = function->result_count,
  };
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(context, parts.operand_count, sizeof(*operands));
  if (!parts.name || !parts.location || !operands) return false;
  for (uint32_t i = 0; i < parts.operand_count; ++i) {
    operands[i] = body->values[function->result_registers[i]];
  }
  parts.operands = operands;
  tfrt_ir_operation_t* op = tfrt_ir_operation_create(context, &parts);
  if (op) tfrt_ir_block_append(body->block, op);
  return op != NULL;
}

static bool import_block(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                         tfrt_ir_region_t* region, uint32_t depth) {
  body_t body = {.importer = importer, .function = function, .depth = depth};
  if (depth > MAX_REGION_DEPTH) {
    tfrt_bef_importer_report(importer, function, "", "regions are nested too deeply");
    return false;
  }
  body.block = tfrt_ir_block_create(importer->context, region);
  body.values = tfrt_ir_context_allocate_array(importer->context, function->register_count,
                                               sizeof(*body.values));
  if (!body.block || !body.values || !find_types(&body) || !import_arguments(&body)) return false;
  const char* const* names = function->attribute_names;
  for (uint32_t i = 1; i < function->kernel_count; ++i) {
    const tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(importer->file, function, i);
    if (!import_kernel(&body, &kernel, names)) return false;
    if (names) names += kernel.attribute_count;
  }
  return import_return(&body);
}

// --- Functions ----------------------------------------------------------------------------

static bool mark_function(tfrt_bef_importer_t* importer, tfrt_ir_operation_t* op,
                          tfrt_bef_function_kind_t kind) {
  if (kind == TFRT_BEF_FUNCTION_ASYNC) return true;
  const char* text = kind == TFRT_BEF_FUNCTION_NATIVE ? "tfrt.native" : "tfrt.sync";
  const tfrt_ir_string_t* name = tfrt_ir_string_of(importer->context, text);
  const tfrt_ir_attribute_t* unit = tfrt_ir_attribute_unit(importer->context);
  if (!name || !unit || !tfrt_ir_operation_set_attribute(importer->context, op, name, unit)) {
    return false;
  }
  if (kind != TFRT_BEF_FUNCTION_NATIVE) return true;
  // MLIR wants declarations to be private.
  const tfrt_ir_string_t* visibility = tfrt_ir_string_of(importer->context, "sym_visibility");
  const tfrt_ir_attribute_t* is_private =
      tfrt_ir_attribute_string(importer->context, tfrt_string_view_of("private"), NULL);
  return visibility && is_private &&
         tfrt_ir_operation_set_attribute(importer->context, op, visibility, is_private);
}

static bool import_function(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function) {
  tfrt_ir_context_t* context = importer->context;
  const tfrt_ir_type_t* const* inputs =
      import_types(importer, function->argument_types, function->argument_count);
  const tfrt_ir_type_t* const* results =
      import_types(importer, function->result_types, function->result_count);
  const tfrt_ir_string_t* name = tfrt_ir_string_of(context, function->name);
  if (!inputs || !results || !name) return false;
  const tfrt_ir_type_t* type = tfrt_ir_type_function(context, inputs, function->argument_count,
                                                     results, function->result_count);
  bool is_native = function->kind == TFRT_BEF_FUNCTION_NATIVE;
  const tfrt_ir_location_t* location = is_native
                                           ? tfrt_ir_location_unknown(context)
                                           : tfrt_bef_import_location(importer, function->location);
  if (!type || !location) return false;
  tfrt_ir_operation_t* op = tfrt_ir_function_create(context, location, name, type);
  if (!op || !mark_function(importer, op, function->kind)) return false;
  tfrt_ir_block_append(tfrt_ir_module_block(importer->module), op);
  return is_native || import_block(importer, function, &op->regions[0], 0);
}

static bool import_all(tfrt_bef_importer_t* importer) {
  uint32_t count = tfrt_bef_file_function_count(importer->file);
  const tfrt_ir_location_t* location = tfrt_ir_location_unknown(importer->context);
  importer->used_regions =
      tfrt_ir_context_allocate_array(importer->context, count, sizeof(*importer->used_regions));
  importer->ops = tfrt_ir_context_allocate_array(
      importer->context, tfrt_bef_file_kernel_name_count(importer->file), sizeof(*importer->ops));
  if (!location || !importer->used_regions || !importer->ops) return false;
  importer->module = tfrt_ir_module_create(importer->context, location);
  if (!importer->module) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(importer->file, i);
    if (function->name[0] != '\0' && !import_function(importer, function)) return false;
  }
  return true;
}

tfrt_status_t tfrt_bef_import(tfrt_ir_context_t* context, const tfrt_bef_file_t* file,
                              const tfrt_op_tables_t* tables, tfrt_diagnostics_t* diagnostics,
                              tfrt_ir_operation_t** out_module) {
  tfrt_bef_importer_t importer = {
      .context = context, .tables = tables, .file = file, .diagnostics = diagnostics};
  bool good = import_all(&importer);
  *out_module = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_diagnostics_status(diagnostics));
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_status(context));
  if (!good) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the file holds something that has no form as text");
  }
  *out_module = importer.module;
  return NULL;
}
