// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_entities.h"

#include <string.h>

#include "compiler/bef/bef_attribute_emitter.h"
#include "compiler/printer/printer.h"

// An attribute that was added, by its address: attributes are unique in their context.
typedef struct attribute_node_s {
  tfrt_hash_node_t node;
  const tfrt_ir_attribute_t* attribute;
  uint32_t offset;
} attribute_node_t;

static uint64_t hash_attribute(const void* key) { return tfrt_hash_u64((uint64_t)(uintptr_t)key); }

static bool is_attribute(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, const attribute_node_t, node)->attribute == key;
}

static const tfrt_hash_table_vtable_t kAttributeVtable = {.hash = hash_attribute,
                                                          .equal = is_attribute};

void tfrt_bef_entities_initialize(tfrt_bef_entities_t* entities,
                                  const tfrt_bef_emitter_options_t* options,
                                  tfrt_diagnostics_t* diagnostics, tfrt_bef_writer_t* writer,
                                  tfrt_allocator_t allocator) {
  *entities =
      (tfrt_bef_entities_t){.options = options, .diagnostics = diagnostics, .writer = writer};
  tfrt_arena_initialize(&entities->arena, allocator);
  tfrt_hash_table_initialize(&entities->attributes, &kAttributeVtable, allocator);
}

void tfrt_bef_entities_deinitialize(tfrt_bef_entities_t* entities) {
  tfrt_hash_table_deinitialize(&entities->attributes);
  tfrt_arena_deinitialize(&entities->arena);
}

static void report(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op,
                   const char* message) {
  tfrt_diagnostics_report_at(entities->diagnostics, TFRT_SEVERITY_ERROR, op->location, "%s",
                             message);
}

static bool is_in_compiled_module(const tfrt_ir_operation_t* op) {
  while (op && !tfrt_ir_is_compiled_module(op)) op = tfrt_ir_operation_parent(op);
  return op != NULL;
}

static bool is_return(const tfrt_ir_operation_t* op) { return tfrt_ir_operation_is_return(op); }

uint32_t tfrt_bef_entities_find_type(tfrt_bef_entities_t* entities, const tfrt_ir_type_t* type) {
  tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->type_numbers, type);
  entry->key = type;
  entry->number = tfrt_bef_writer_add_type(entities->writer, tfrt_ir_string_view(type->text));
  return entry->number;
}

uint32_t tfrt_bef_entities_find_kernel(tfrt_bef_entities_t* entities,
                                       const tfrt_ir_string_t* name) {
  tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->kernel_codes, name);
  entry->key = name;
  entry->number = tfrt_bef_writer_add_kernel_name(entities->writer, tfrt_ir_string_view(name));
  return entry->number;
}

uint32_t tfrt_bef_entities_find_file(tfrt_bef_entities_t* entities, const tfrt_ir_string_t* name) {
  tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->file_numbers, name);
  entry->key = name;
  entry->number = tfrt_bef_writer_add_location_string(entities->writer, tfrt_ir_string_view(name));
  return entry->number;
}

// --- Functions ------------------------------------------------------------------------

static void append_function(tfrt_bef_entities_t* entities, tfrt_bef_entity_function_t function) {
  tfrt_bef_entity_function_t* entry = tfrt_arena_allocate(&entities->arena, sizeof(*entry));
  if (!entry) {
    entities->out_of_memory = true;
    return;
  }
  *entry = function;
  if (entities->last_function) {
    entities->last_function->next = entry;
  } else {
    entities->first_function = entry;
  }
  entities->last_function = entry;
  ++entities->function_count;
}

// Appends the function with the body |region|, or reports why it can't be one.
static void add_body(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op,
                     tfrt_ir_region_t* region, tfrt_bef_function_kind_t kind, bool is_region) {
  tfrt_ir_block_t* block = tfrt_ir_region_single_block(region);
  if (!block) {
    report(entities, op,
           region->first_block ? "multi-block regions cannot be emitted to BEF files"
                               : "an empty region cannot be emitted to BEF files");
    return;
  }
  if (!is_return(block->last)) {
    report(entities, block->last ? block->last : op, "all functions need to have a tfrt.return");
    return;
  }
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    tfrt_ir_value_t* argument = block->arguments[i];
    argument->scratch = tfrt_bef_entities_type(entities, argument->type);
  }
  block->scratch = entities->function_count;
  append_function(entities, (tfrt_bef_entity_function_t){
                                .op = op, .block = block, .kind = kind, .is_region = is_region});
}

// A synchronous function moves its results out of its registers: it can do so once, and not
// with what its caller has lent it.
static void check_sync_return(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    const char* problem = value->producer ? NULL : "is an argument";
    for (uint32_t j = 0; j < i && !problem; ++j) {
      if (op->operands[j].value == value) problem = "is duplicated";
    }
    if (!problem) continue;
    tfrt_diagnostics_report_at(entities->diagnostics, TFRT_SEVERITY_ERROR, op->location,
                               "return value %u %s in a sync function", i, problem);
    return;
  }
}

static void add_native_function(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(op);
  for (uint32_t i = 0; i < type->input_count; ++i)
    tfrt_bef_entities_type(entities, type->inputs[i]);
  for (uint32_t i = 0; i < type->result_count; ++i)
    tfrt_bef_entities_type(entities, type->results[i]);
  append_function(entities,
                  (tfrt_bef_entity_function_t){.op = op, .kind = TFRT_BEF_FUNCTION_NATIVE});
}

static void add_function(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op) {
  op->scratch = entities->function_count;
  if (!tfrt_ir_function_type(op) || op->region_count != 1) {
    report(entities, op, "a function needs a type and one region");
  } else if (tfrt_ir_operation_attribute(op, "tfrt.native")) {
    add_native_function(entities, op);
  } else if (!op->regions[0].first_block) {
    report(entities, op, "external functions are not allowed");
  } else {
    bool is_sync = tfrt_ir_operation_attribute(op, "tfrt.sync") != NULL;
    const tfrt_ir_block_t* block = tfrt_ir_function_block(op);
    if (is_sync && block && is_return(block->last)) check_sync_return(entities, block->last);
    add_body(entities, op, &op->regions[0],
             is_sync ? TFRT_BEF_FUNCTION_SYNC : TFRT_BEF_FUNCTION_ASYNC, false);
  }
}

bool tfrt_bef_entities_function(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op,
                                const tfrt_ir_attribute_t* symbol, uint32_t* out_index) {
  const tfrt_ir_operation_t* function = NULL;
  *out_index = 0;
  if (symbol->kind == TFRT_IR_ATTRIBUTE_SYMBOL && symbol->count == 1) {
    function = tfrt_ir_symbol_table_resolve(entities->symbols, symbol);
  }
  if (function && tfrt_ir_is_function(function)) {
    *out_index = function->scratch;
    return true;
  }
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, entities->arena.allocator);
  tfrt_print_attribute(symbol, &text);
  tfrt_diagnostics_report_at(entities->diagnostics, TFRT_SEVERITY_ERROR, op->location,
                             "function %s not defined", tfrt_string_builder_text(&text));
  tfrt_string_builder_deinitialize(&text);
  return false;
}

// --- Attributes -----------------------------------------------------------------------

tfrt_bef_attribute_role_t tfrt_bef_entities_role(const tfrt_bef_entities_t* entities,
                                                 const tfrt_ir_operation_t* op,
                                                 const tfrt_ir_named_attribute_t* named) {
  const tfrt_ir_attribute_t* attribute = named->value;
  if (tfrt_ir_string_is(named->name, "_tfrt_cost")) return TFRT_BEF_ROLE_NOTHING;
  if (tfrt_ir_string_is(named->name, "tfrt.reads")) return TFRT_BEF_ROLE_NOTHING;
  if (tfrt_bef_is_call_option(op, named)) return TFRT_BEF_ROLE_NOTHING;
  if (!tfrt_bef_attribute_is_functions(attribute)) return TFRT_BEF_ROLE_VALUE;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY) return TFRT_BEF_ROLE_FUNCTIONS;
  const tfrt_ir_operation_t* target = tfrt_ir_symbol_table_resolve(entities->symbols, attribute);
  return target && is_in_compiled_module(target) ? TFRT_BEF_ROLE_COMPILED : TFRT_BEF_ROLE_FUNCTION;
}

uint32_t tfrt_bef_entities_attribute(const tfrt_bef_entities_t* entities,
                                     const tfrt_ir_attribute_t* attribute) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&entities->attributes, attribute);
  return node ? TFRT_CONTAINER_OF(node, attribute_node_t, node)->offset : 0;
}

// The symbol, and the text of the compiled module that it leads to.
static bool compiled_symbol_to_value(tfrt_bef_entities_t* entities,
                                     const tfrt_ir_attribute_t* symbol, tfrt_bef_value_t* value) {
  static const tfrt_printer_options_t kGeneric = {.generic = true};
  const tfrt_ir_operation_t* module = tfrt_ir_symbol_table_resolve(entities->symbols, symbol);
  while (!tfrt_ir_is_compiled_module(module)) module = tfrt_ir_operation_parent(module);
  tfrt_string_view_t* names =
      tfrt_arena_allocate_array(&entities->arena, symbol->count, sizeof(*names));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, entities->arena.allocator);
  tfrt_print_operation(module, &kGeneric, &text);
  const char* copy = tfrt_arena_copy_string(&entities->arena, tfrt_string_builder_view(&text));
  size_t size = text.size;
  tfrt_string_builder_deinitialize(&text);
  if (!names || !copy) return false;
  for (uint32_t i = 0; i < symbol->count; ++i) names[i] = tfrt_ir_string_view(symbol->names[i]);
  *value = (tfrt_bef_value_t){
      .type = TFRT_BEF_ATTRIBUTE_SYMBOL,
      .bits = entities->compiled_symbol_count++,
      .count = symbol->count,
      .names = names,
      .data = tfrt_string_view_make(copy, size),
  };
  return true;
}

static void add_attribute_types(tfrt_bef_entities_t* entities,
                                const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER || attribute->kind == TFRT_IR_ATTRIBUTE_FLOAT) {
    tfrt_bef_entities_type(entities, attribute->type);
  }
  if (attribute->kind != TFRT_IR_ATTRIBUTE_ARRAY) return;
  for (uint32_t i = 0; i < attribute->count; ++i) {
    add_attribute_types(entities, attribute->elements[i]);
  }
}

// Adds the value of |named|, unless an equal one was added before.
static void add_value(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op,
                      const tfrt_ir_named_attribute_t* named, bool is_compiled) {
  const tfrt_ir_attribute_t* attribute = named->value;
  if (tfrt_hash_table_find(&entities->attributes, attribute)) return;
  attribute_node_t* node = tfrt_arena_allocate(&entities->arena, sizeof(*node));
  if (!node) {
    entities->out_of_memory = true;
    return;
  }
  tfrt_bef_value_t value;
  bool good = is_compiled ? compiled_symbol_to_value(entities, attribute, &value)
                          : tfrt_bef_attribute_to_value(attribute, &entities->arena, &value);
  if (!good) {
    tfrt_diagnostics_report_at(entities->diagnostics, TFRT_SEVERITY_ERROR, op->location,
                               "BEF files cannot encode the '%s' attribute", named->name->data);
    return;
  }
  node->attribute = attribute;
  node->offset = tfrt_bef_writer_add_attribute(entities->writer, &value);
  tfrt_hash_table_insert(&entities->attributes, attribute, &node->node);
}

static void add_attribute(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op,
                          const tfrt_ir_named_attribute_t* named) {
  tfrt_bef_attribute_role_t role = tfrt_bef_entities_role(entities, op, named);
  if (role == TFRT_BEF_ROLE_NOTHING || role == TFRT_BEF_ROLE_FUNCTION) return;
  if (!entities->options->no_optional_sections) {
    tfrt_bef_writer_add_string(entities->writer, tfrt_ir_string_view(named->name));
    add_attribute_types(entities, named->value);
  }
  if (role != TFRT_BEF_ROLE_FUNCTIONS) {
    add_value(entities, op, named, role == TFRT_BEF_ROLE_COMPILED);
  }
}

// --- Collection -----------------------------------------------------------------------

static void check_operands(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (tfrt_ir_value_block(op->operands[i].value) == op->block) continue;
    report(entities, op,
           "BEF executor only supports references to kernels within the current region");
    return;
  }
}

// The function that |op| (may be NULL) is or stands in, or NULL.
static const tfrt_ir_operation_t* function_of(const tfrt_ir_operation_t* op) {
  while (op && !tfrt_ir_is_function(op)) op = tfrt_ir_operation_parent(op);
  return op;
}

// Whether |op| stands in a synchronous function, whose regions are synchronous too.
static bool is_in_sync_function(const tfrt_ir_operation_t* op) {
  const tfrt_ir_operation_t* function = function_of(op);
  return function && tfrt_ir_operation_attribute(function, "tfrt.sync");
}

// The attributes and regions of the kernel |op|.
static void add_parts(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    add_attribute(entities, op, &op->attributes[i]);
  }
  bool is_sync = op->region_count > 0 && is_in_sync_function(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    const tfrt_ir_block_t* block = op->regions[i].first_block;
    if (is_sync && block && is_return(block->last)) check_sync_return(entities, block->last);
    add_body(entities, op, &op->regions[i],
             is_sync ? TFRT_BEF_FUNCTION_SYNC : TFRT_BEF_FUNCTION_ASYNC, true);
  }
}

static void add_result_types(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    op->results[i].scratch = tfrt_bef_entities_type(entities, op->results[i].type);
  }
}

// An op that is no kernel that was met before.
static void collect_new(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op,
                        bool is_in_function) {
  if (is_return(op)) {
    if (op->block->last != op) report(entities, op, "return op must be at the end of its block");
    return;
  }
  add_result_types(entities, op);
  if (tfrt_ir_is_function(op)) {
    add_function(entities, op);
  } else if (tfrt_ir_is_module(op)) {
    report(entities, op, "a module inside another one must be marked tfrt.compiled");
  } else if (!is_in_function) {
    report(entities, op, "only functions can stand in a module");
  } else {
    tfrt_bef_entities_kernel(entities, op->name);
    add_parts(entities, op);
  }
}

static void collect_regions(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op);

// Most ops are kernels of functions: only the first one of each name is asked what it is.
static void collect_op(tfrt_bef_entities_t* entities, tfrt_ir_operation_t* op,
                       bool is_in_function) {
  if (is_in_function && tfrt_bef_entities_knows_kernel(entities, op->name)) {
    check_operands(entities, op);
    add_result_types(entities, op);
    if (op->attribute_count || op->region_count) add_parts(entities, op);
  } else if (!tfrt_ir_is_compiled_module(op)) {
    check_operands(entities, op);
    collect_new(entities, op, is_in_function);
  }
}

// Each op comes behind all that lies in its regions: in this order functions are numbered.
// Recursion is bounded by the parser's nesting limit.
static void collect_block(tfrt_bef_entities_t* entities, const tfrt_ir_block_t* block) {
  if (is_in_compiled_module(block->region->owner)) return;
  bool is_in_function = function_of(block->region->owner) != NULL;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (op->region_count) collect_regions(entities, op);
    collect_op(entities, op, is_in_function);
  }
}

static void collect_regions(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->region_count; ++i) {
    const tfrt_ir_block_t* block = op->regions[i].first_block;
    for (; block; block = block->next) collect_block(entities, block);
  }
}

void tfrt_bef_entities_collect(tfrt_bef_entities_t* entities, tfrt_ir_context_t* context,
                               tfrt_ir_operation_t* module) {
  entities->symbols = tfrt_ir_symbol_table_create(context, module);
  if (!entities->symbols) {
    entities->out_of_memory = true;
    return;
  }
  collect_regions(entities, module);
}
