// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_importer.h"

#include <string.h>

#include "compiler/bef/bef_importer_impl.h"
#include "host_runtime/base/ascii.h"

// Regions in regions: a file may nest them as deep as a text.
#define MAX_REGION_DEPTH (TFRT_PARSER_MAX_NESTING / 2)

// Ops with at most this many operands, and results, need no memory but their own.
#define FEW_VALUES 16

// Ops that are imported one by one are forgotten as soon as they take this many bytes.
#define PIECE_SIZE ((size_t)64 * 1024)

// --- Reports ----------------------------------------------------------------------------

void tfrt_bef_importer_report(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                              const char* name, const char* message) {
  importer->has_failed = true;
  if (importer->is_stepwise) return;
  tfrt_diagnostics_report_at(importer->diagnostics, TFRT_SEVERITY_ERROR, NULL,
                             "function %u '%s': '%s': %s", function->index, function->name, name,
                             message);
}

void tfrt_bef_importer_warn(tfrt_bef_importer_t* importer) {
  if (importer->is_stepwise) importer->has_failed = true;
  if (importer->has_warned || importer->is_stepwise) return;
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
  if (!type) importer->has_failed = true;
  if (!type && !importer->is_stepwise) {
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
  if (importer->no_location) return importer->no_location;
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

// Zeroed memory for |count| elements of what belongs to a body at |depth|.
static void* allocate_for_body(tfrt_bef_importer_t* importer, uint32_t depth, uint32_t count,
                               size_t element_size) {
  if (!importer->is_stepwise || depth) {
    return tfrt_ir_context_allocate_array(importer->context, count, element_size);
  }
  void* array = tfrt_arena_allocate_array(&importer->kept, count, element_size);
  if (!array) importer->context->failed = true;
  return array;
}

// Sets the |count| |types| (NULL: memory is out) to those of these |names|; false if one is wrong.
static bool fill_types(tfrt_bef_importer_t* importer, const char* const* names, uint32_t count,
                       const tfrt_ir_type_t** types) {
  for (uint32_t i = 0; types && i < count; ++i) {
    // Equal types are one text in the file, and most are that of the one before.
    bool is_known = i > 0 && names[i] == names[i - 1];
    types[i] = is_known ? types[i - 1] : tfrt_bef_import_type(importer, names[i]);
    if (!types[i]) return false;
  }
  return types != NULL;
}

static const tfrt_ir_type_t* const* import_types(tfrt_bef_importer_t* importer,
                                                 const char* const* names, uint32_t count) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(importer->context, count, sizeof(*types));
  return fill_types(importer, names, count, types) ? types : NULL;
}

// --- Bodies -----------------------------------------------------------------------------

typedef tfrt_bef_importer_body_t body_t;

static bool import_block(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                         tfrt_ir_region_t* region, uint32_t depth);

// Sets |texts| to the text of the type of each register: the file says so, or else the signature
// does of some, or else nothing.
static void find_type_texts(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                            const char** texts) {
  if (tfrt_bef_file_read_register_types(importer->file, function, texts)) return;
  uint32_t known_count = 0;
  for (uint32_t i = 0; i < function->argument_count; ++i, ++known_count) {
    texts[i] = function->argument_types[i];
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t number = function->result_registers[i];
    if (!texts[number]) ++known_count;
    texts[number] = function->result_types[i];
  }
  if (known_count < function->register_count) tfrt_bef_importer_warn(importer);
  for (uint32_t i = 0; i < function->register_count; ++i) {
    if (!texts[i]) texts[i] = TFRT_BEF_UNKNOWN_TYPE;
  }
}

static bool find_types(tfrt_bef_importer_t* importer, body_t* body) {
  uint32_t count = body->function->register_count;
  const tfrt_ir_type_t** types = allocate_for_body(importer, body->depth, count, sizeof(*types));
  body->types = types;
  if (!count) return true;
  size_t size = count * sizeof(const char*);
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(importer->context);
  const char** texts = tfrt_allocator_allocate_zeroed(allocator, size);
  if (!texts) {
    importer->context->failed = true;
    return false;
  }
  find_type_texts(importer, body->function, texts);
  bool ok = types && fill_types(importer, texts, count, types);
  tfrt_allocator_free(allocator, texts, size);
  return ok;
}

// True if |name| can stand behind a % in text.
static bool is_value_name(const char* name) {
  if (!tfrt_ascii_is_letter(name[0]) && name[0] != '_') return false;
  for (const char* c = name; *c != '\0'; ++c) {
    if (!tfrt_ascii_is_letter_or_digit(*c) && !strchr("_$.-", *c)) return false;
  }
  return true;
}

// Adds the arguments of |function|, whose types are |types|, to |block|.
static bool import_arguments(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                             const tfrt_ir_type_t* const* types, tfrt_ir_block_t* block) {
  tfrt_ir_context_t* context = importer->context;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    const char* text = function->argument_names ? function->argument_names[i] : "";
    const tfrt_ir_string_t* name = is_value_name(text) ? tfrt_ir_string_of(context, text) : NULL;
    if (!tfrt_ir_block_add_argument(context, block, types[i], name, NULL)) return false;
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
static bool import_regions(tfrt_bef_importer_t* importer, const body_t* body,
                           const tfrt_bef_kernel_t* kernel, tfrt_ir_operation_t* op) {
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

// Lets the results of |op| live as long as the body.
static bool keep_results(tfrt_bef_importer_t* importer, tfrt_ir_operation_t* op) {
  size_t size = op->result_count * sizeof(tfrt_ir_value_t);
  if (!size) return true;
  tfrt_ir_value_t* results = tfrt_arena_take(&importer->kept, size, sizeof(void*));
  if (!results) {
    importer->context->failed = true;
    return false;
  }
  memcpy(results, op->results, size);
  op->results = results;
  return true;
}

static bool import_kernel(tfrt_bef_importer_t* importer, body_t* body,
                          const tfrt_bef_kernel_t* kernel) {
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
      tfrt_bef_import_attributes(importer, body->function, kernel, body->names, parts.descriptor,
                                 &parts.attribute_count, &parts.region_count);
  // The op copies them.
  tfrt_ir_value_t* few_operands[FEW_VALUES];
  const tfrt_ir_type_t* few_types[FEW_VALUES];
  tfrt_ir_value_t** operands = few_operands;
  const tfrt_ir_type_t** types = few_types;
  if (parts.operand_count > FEW_VALUES) {
    operands = tfrt_ir_context_allocate_array(context, parts.operand_count, sizeof(*operands));
  }
  if (parts.result_count > FEW_VALUES) {
    types = tfrt_ir_context_allocate_array(context, parts.result_count, sizeof(*types));
  }
  if (!parts.name || !parts.location || !parts.attributes || !operands || !types) return false;
  for (uint32_t i = 0; i < parts.operand_count; ++i) {
    operands[i] = body->values[kernel->arguments[i]];
  }
  for (uint32_t i = 0; i < parts.result_count; ++i) types[i] = body->types[kernel->results[i]];
  parts.operands = operands;
  parts.result_types = types;
  tfrt_ir_operation_t* op = tfrt_ir_operation_create(context, &parts);
  if (!op) return false;
  if (importer->is_stepwise && !body->depth && !keep_results(importer, op)) return false;
  for (uint32_t i = 0; i < parts.result_count; ++i) {
    body->values[kernel->results[i]] = &op->results[i];
  }
  tfrt_ir_block_append(body->block, op);
  if (body->names) body->names += kernel->attribute_count;
  return import_regions(importer, body, kernel, op);
}

static bool import_next_kernel(tfrt_bef_importer_t* importer, body_t* body) {
  tfrt_bef_walk_pass(&body->walk, tfrt_bef_function_record(body->function, body->next_kernel));
  const tfrt_bef_kernel_t kernel =
      tfrt_bef_file_kernel(importer->file, body->function, body->next_kernel++);
  return import_kernel(importer, body, &kernel);
}

static bool import_return(tfrt_bef_importer_t* importer, body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  tfrt_ir_context_t* context = importer->context;
  tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(context, "tfrt.return"),
      .descriptor = find_descriptor(importer, "tfrt.return"),
      .location = tfrt_bef_import_location(importer, function->location),
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

// Makes what the ops of |body| need, whose function, depth and block are set. The block is NULL
// when memory is out.
static bool begin_body(tfrt_bef_importer_t* importer, body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  body->values =
      allocate_for_body(importer, body->depth, function->register_count, sizeof(*body->values));
  body->next_kernel = 1;
  body->names = function->attribute_names;
  body->walk = tfrt_bef_walk_begin(importer->file, function->records);
  return body->block && body->values && find_types(importer, body);
}

// The registers of the arguments are the first ones.
static void take_arguments(body_t* body) {
  for (uint32_t i = 0; i < body->block->argument_count; ++i) {
    body->values[i] = body->block->arguments[i];
  }
}

static bool import_block(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                         tfrt_ir_region_t* region, uint32_t depth) {
  if (depth > MAX_REGION_DEPTH) {
    tfrt_bef_importer_report(importer, function, "", "regions are nested too deeply");
    return false;
  }
  body_t body = {.function = function, .depth = depth};
  body.block = tfrt_ir_block_create(importer->context, region);
  if (!begin_body(importer, &body) ||
      !import_arguments(importer, function, body.types, body.block)) {
    return false;
  }
  take_arguments(&body);
  while (body.next_kernel < function->kernel_count) {
    if (!import_next_kernel(importer, &body)) return false;
  }
  return import_return(importer, &body);
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
  if (is_native) return true;
  if (!importer->is_stepwise) return import_block(importer, function, &op->regions[0], 0);
  tfrt_ir_block_t* block = tfrt_ir_block_create(context, &op->regions[0]);
  return block && import_arguments(importer, function, inputs, block);
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

// --- Op by op -------------------------------------------------------------------------------

tfrt_ir_operation_t* tfrt_bef_importer_open(tfrt_ir_context_t* context, const tfrt_bef_file_t* file,
                                            const tfrt_op_tables_t* tables, bool locations,
                                            tfrt_bef_importer_t** out_importer) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  tfrt_bef_importer_t* importer = tfrt_allocator_allocate(allocator, sizeof(*importer));
  *out_importer = importer;
  if (!importer) return NULL;
  *importer = (tfrt_bef_importer_t){
      .context = context, .tables = tables, .file = file, .is_stepwise = true};
  tfrt_arena_initialize(&importer->kept, allocator);
  if (!locations) importer->no_location = tfrt_ir_location_unknown(context);
  return import_all(importer) ? importer->module : NULL;
}

// Forgets the ops that are in memory, but neither the values that they used nor their results.
static void forget_ops(tfrt_bef_importer_t* importer) {
  tfrt_ir_block_t* block = importer->body.block;
  for (tfrt_ir_operation_t* op = block ? block->first : NULL; op; op = op->next) {
    // All uses are by these ops: there are none before, and those behind are not read yet.
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      tfrt_ir_value_t* value = op->operands[i].value;
      value->first_use = value->last_use = NULL;
    }
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].producer = NULL;
  }
  if (block) {
    block->first = block->last = NULL;
    block->op_count = 0;
  }
  tfrt_ir_context_close_piece(importer->context);
}

static void end_body(tfrt_bef_importer_t* importer) {
  forget_ops(importer);
  importer->body = (body_t){0};
  tfrt_arena_clear(&importer->kept, SIZE_MAX);
}

// Begins the next function that has a body; |block| is its.
static bool begin_next_body(tfrt_bef_importer_t* importer, tfrt_ir_block_t* block) {
  const tfrt_bef_function_t* function;
  do {
    function = tfrt_bef_file_function(importer->file, importer->next_function++);
  } while (function->name[0] == '\0' || function->kind == TFRT_BEF_FUNCTION_NATIVE);
  body_t* body = &importer->body;
  *body = (body_t){.function = function, .block = block};
  if (!begin_body(importer, body)) return false;
  take_arguments(body);
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    if (block->arguments[i]->type != body->types[i]) return false;
  }
  return true;
}

tfrt_ir_operation_t* tfrt_bef_importer_next(tfrt_ir_block_t* block, void* user_data) {
  tfrt_bef_importer_t* importer = user_data;
  body_t* body = &importer->body;
  if (importer->has_failed) return NULL;
  bool ok = body->block || begin_next_body(importer, block);
  if (ok && body->next_kernel > body->function->kernel_count) {
    end_body(importer);
    return NULL;
  }
  if (tfrt_ir_context_piece_size(importer->context) >= PIECE_SIZE) forget_ops(importer);
  tfrt_ir_context_open_piece(importer->context);
  if (ok && body->next_kernel < body->function->kernel_count) {
    ok = import_next_kernel(importer, body);
  } else if (ok) {
    ++body->next_kernel;
    ok = import_return(importer, body);
  }
  tfrt_ir_context_leave_piece(importer->context);
  if (!ok) importer->has_failed = true;
  return importer->has_failed ? NULL : block->last;
}

bool tfrt_bef_importer_close(tfrt_bef_importer_t* importer) {
  if (!importer) return false;
  bool ok = !importer->has_failed && !importer->context->failed;
  end_body(importer);
  tfrt_arena_deinitialize(&importer->kept);
  tfrt_allocator_free(tfrt_ir_context_allocator(importer->context), importer, sizeof(*importer));
  return ok;
}
