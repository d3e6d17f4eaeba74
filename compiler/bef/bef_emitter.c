// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_emitter.h"

#include <stdio.h>

#include <inttypes.h>

#include <string.h>

#include "compiler/analysis/stream_analysis.h"
#include "compiler/bef/bef_entities.h"

// One function while it is emitted. Everything lives in |arena| until the next one.
typedef struct body_s {
  tfrt_bef_entities_t* entities;
  tfrt_arena_t arena;
  uint32_t op_count;  // with the terminator
  size_t operand_count;
  size_t result_count;
  uint32_t root_stream;
  uint32_t* streams;  // of the ops, in order
  uint32_t register_count;
  uint32_t kernel_count;
  uint32_t* register_types;
  uint32_t* words;  // room for the operands of the ops to come
  tfrt_bef_writer_kernel_t* kernels;
  bool out_of_memory;
  bool failed;  // after a report
} body_t;

static void* allocate(body_t* body, size_t count, size_t size) {
  void* memory = tfrt_arena_allocate_array(&body->arena, count + 1, size);
  if (!memory) body->out_of_memory = true;
  return memory;
}

// The same for what is filled in before it is read.
static void* make_room(body_t* body, size_t count, size_t size) {
  void* memory = tfrt_arena_allocate_room(&body->arena, count + 1, size);
  if (!memory) body->out_of_memory = true;
  return memory;
}

// --- Streams --------------------------------------------------------------------------

// Numbers and counts the ops of |block|, and finds out the stream of each. The rest of the
// analysis is given back at once: what is made next takes its memory.
static tfrt_status_t find_streams(body_t* body, const tfrt_ir_block_t* block) {
  tfrt_stream_analysis_t analysis;
  TFRT_RETURN_IF_ERROR(tfrt_stream_analysis_initialize(
      &analysis, block, !body->entities->options->exact_tfrt_bytes, body->arena.allocator));
  body->op_count = analysis.op_count;
  body->operand_count = analysis.operand_count;
  body->result_count = analysis.result_count;
  body->root_stream = tfrt_stream_analysis_root_stream(&analysis);
  body->streams = make_room(body, body->op_count, sizeof(*body->streams));
  if (body->streams) tfrt_stream_analysis_list_streams(&analysis, body->streams);
  tfrt_stream_analysis_deinitialize(&analysis);
  return NULL;
}

// --- Locations ------------------------------------------------------------------------

static uint32_t add_location(tfrt_bef_entities_t* entities, const tfrt_ir_location_t* location);

// Any but a place in a file. Recursion is bounded by the parser's nesting limit.
static TFRT_COLD uint32_t add_nested_location(tfrt_bef_entities_t* entities,
                                              const tfrt_ir_location_t* location) {
  tfrt_bef_writer_t* writer = entities->writer;
  uint32_t number;
  switch (location ? location->kind : TFRT_IR_LOCATION_UNKNOWN) {
    case TFRT_IR_LOCATION_NAME:
      number = tfrt_bef_writer_add_location_name(writer, tfrt_ir_string_view(location->name));
      add_location(entities, location->first);
      return number;
    case TFRT_IR_LOCATION_CALL_SITE:
      number = tfrt_bef_writer_add_location_call_site(writer);
      add_location(entities, location->first);
      add_location(entities, location->second);
      return number;
    case TFRT_IR_LOCATION_FUSED:
      number = tfrt_bef_writer_add_location_fused(writer, location->member_count);
      for (uint32_t i = 0; i < location->member_count; ++i) {
        add_location(entities, location->members[i]);
      }
      return number;
    default:
      return tfrt_bef_writer_add_location_unknown(writer);
  }
}

// Appends the record of |location| (NULL: unknown) and returns its number.
static uint32_t add_location(tfrt_bef_entities_t* entities, const tfrt_ir_location_t* location) {
  if (!location || location->kind != TFRT_IR_LOCATION_FILE) {
    return add_nested_location(entities, location);
  }
  uint32_t file = tfrt_bef_entities_file(entities, location->name);
  return tfrt_bef_writer_add_location_place(entities->writer, file, location->line,
                                            location->column);
}

// --- Registers --------------------------------------------------------------------------

// |value|, which has the number of its type so far, becomes the next register.
static void number_register(body_t* body, tfrt_ir_value_t* value) {
  body->register_types[body->register_count] = value->scratch;
  value->scratch = body->register_count++;
}

// Makes room for all registers and kernels, and numbers the arguments, which come first.
static bool begin_registers(body_t* body, const tfrt_ir_block_t* block) {
  size_t register_count = block->argument_count + body->result_count;
  tfrt_arena_reserve(&body->arena, (register_count + body->operand_count) * sizeof(uint32_t) +
                                       body->op_count * sizeof(*body->kernels) + 1024);
  body->register_types = make_room(body, register_count, sizeof(*body->register_types));
  body->words = make_room(body, body->operand_count, sizeof(*body->words));
  body->kernels = make_room(body, body->op_count, sizeof(*body->kernels));
  if (body->out_of_memory) return false;
  for (uint32_t i = 0; i < block->argument_count; ++i) number_register(body, block->arguments[i]);
  return true;
}

// --- Kernels ----------------------------------------------------------------------------

// The lists that a kernel's attributes are spread over.
typedef struct kernel_lists_s {
  uint32_t* attributes;
  tfrt_string_view_t* names;
  uint32_t* functions;
  uint32_t attribute_count;
  uint32_t function_count;
} kernel_lists_t;

static size_t count_functions(const tfrt_ir_operation_t* op) {
  size_t count = op->region_count;
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_ir_attribute_t* attribute = op->attributes[i].value;
    count += attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY ? attribute->count : 1;
  }
  return count;
}

static void add_function(body_t* body, const tfrt_ir_operation_t* op,
                         const tfrt_ir_attribute_t* symbol, kernel_lists_t* lists) {
  uint32_t index;
  if (!tfrt_bef_entities_function(body->entities, op, symbol, &index)) return;
  lists->functions[lists->function_count++] = index;
}

static void add_attribute(body_t* body, const tfrt_ir_operation_t* op,
                          const tfrt_ir_named_attribute_t* named, kernel_lists_t* lists) {
  switch (tfrt_bef_entities_role(body->entities, op, named)) {
    case TFRT_BEF_ROLE_VALUE:
    case TFRT_BEF_ROLE_COMPILED:
      lists->names[lists->attribute_count] = tfrt_ir_string_view(named->name);
      lists->attributes[lists->attribute_count++] =
          tfrt_bef_entities_attribute(body->entities, named->value);
      return;
    case TFRT_BEF_ROLE_FUNCTION:
      add_function(body, op, named->value, lists);
      return;
    case TFRT_BEF_ROLE_FUNCTIONS:
      for (uint32_t i = 0; i < named->value->count; ++i) {
        add_function(body, op, named->value->elements[i], lists);
      }
      return;
    case TFRT_BEF_ROLE_NOTHING:
      return;
  }
}

static const tfrt_bef_call_options_t* list_call_options(body_t* body,
                                                        const tfrt_ir_operation_t* op) {
  tfrt_bef_call_options_t options;
  if (op->attribute_count == 0) return NULL;
  bool exact = body->entities->options->exact_tfrt_bytes;
  bool found = tfrt_bef_call_options_of(op, body->entities->diagnostics, &options);
  if (!exact) options.cost = tfrt_stream_unknown_cost(op);
  if (!found && options.cost == 0) return NULL;
  if (exact) {
    tfrt_diagnostics_report_at(body->entities->diagnostics, TFRT_SEVERITY_ERROR, op->location,
                               "TFRT's bytes have no place for the options of this op (host, "
                               "deadline_ms and the like); translate without --exact-tfrt-bytes");
    body->failed = true;
    return NULL;
  }
  tfrt_bef_call_options_t* copy = allocate(body, 1, sizeof(*copy));
  if (copy) *copy = options;
  return copy;
}

// Lists the attributes and functions of |op| at |words|, and returns the place behind them. Symbols
// come in the order of their attributes' names, then regions.
static uint32_t* list_parts(body_t* body, const tfrt_ir_operation_t* op, uint32_t* words,
                            tfrt_bef_writer_kernel_t* kernel) {
  kernel_lists_t lists = {
      .attributes = words,
      .names = allocate(body, op->attribute_count, sizeof(*lists.names)),
      .functions = words + op->attribute_count,
  };
  kernel->call_options = list_call_options(body, op);
  if (body->out_of_memory) return words;
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    add_attribute(body, op, &op->attributes[i], &lists);
  }
  for (uint32_t i = 0; i < op->region_count; ++i) {
    const tfrt_ir_block_t* block = tfrt_ir_region_single_block(&op->regions[i]);
    lists.functions[lists.function_count++] = block->scratch;
  }
  kernel->attribute_names = lists.names;
  kernel->attribute_count = lists.attribute_count;
  kernel->function_count = lists.function_count;
  // Not each attribute of the op is one of the kernel.
  words += lists.attribute_count;
  memmove(words, lists.functions, lists.function_count * sizeof(*words));
  return words + lists.function_count;
}

// Lists the registers of the operands of |op|, which all ops before it have given numbers, at
// |words|, and returns the place behind them.
static uint32_t* list_operands(body_t* body, const tfrt_ir_operation_t* op, uint32_t* words) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    // The streams have numbered the ops.
    if (value->producer && value->producer->scratch >= op->scratch) {
      tfrt_diagnostics_report_at(body->entities->diagnostics, TFRT_SEVERITY_ERROR, op->location,
                                 "operand #%u is used before it is defined", i);
      body->failed = true;
      return words;
    }
    words[i] = value->scratch;
  }
  return words + op->operand_count;
}

// Room for the words of |op|, which has attributes or regions.
static uint32_t* make_own_words(body_t* body, const tfrt_ir_operation_t* op) {
  size_t count = (size_t)op->operand_count + op->attribute_count + count_functions(op);
  return make_room(body, count, sizeof(uint32_t));
}

static void build_kernel(body_t* body, const tfrt_ir_operation_t* op) {
  tfrt_bef_writer_kernel_t* kernel = &body->kernels[body->kernel_count++];
  bool has_parts = op->attribute_count || op->region_count;
  uint32_t* words = has_parts ? make_own_words(body, op) : body->words;
  if (!words) return;
  *kernel = (tfrt_bef_writer_kernel_t){
      .code = tfrt_bef_entities_kernel(body->entities, op->name),
      .location = add_location(body->entities, op->location),
      .stream_id = body->streams[op->scratch],
      .argument_count = op->operand_count,
      .result_count = op->result_count,
      .words = words,
  };
  words = list_operands(body, op, words);
  if (has_parts) words = list_parts(body, op, words, kernel);
  if (!has_parts) body->words = words;
  for (uint32_t i = 0; i < op->result_count; ++i) number_register(body, &op->results[i]);
}

// --- Functions --------------------------------------------------------------------------

// The numbers of the types of |count| values: block arguments, or operands of a return.
static const uint32_t* list_types(body_t* body, const tfrt_ir_type_t* const* types,
                                  uint32_t count) {
  uint32_t* numbers = allocate(body, count, sizeof(*numbers));
  for (uint32_t i = 0; numbers && i < count; ++i) {
    numbers[i] = tfrt_bef_entities_type(body->entities, types[i]);
  }
  return numbers;
}

// Whether the arguments have the names that the printer gives those without one: %arg0, %arg1 ...
static bool has_default_names(const tfrt_ir_block_t* block) {
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    char name[16];
    snprintf(name, sizeof(name), "arg%" PRIu32, i);
    tfrt_string_view_t own = tfrt_ir_string_view(block->arguments[i]->name);
    if (own.size > 0 && !tfrt_string_view_equal(own, tfrt_string_view_of(name))) return false;
  }
  return true;
}

static tfrt_string_view_t* list_argument_names(body_t* body, const tfrt_ir_block_t* block) {
  tfrt_string_view_t* names = allocate(body, block->argument_count, sizeof(*names));
  for (uint32_t i = 0; names && i < block->argument_count; ++i) {
    names[i] = tfrt_ir_string_view(block->arguments[i]->name);
  }
  return names;
}

static void emit_native(body_t* body, const tfrt_bef_entity_function_t* entity) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(entity->op);
  tfrt_bef_writer_function_t function = {
      .name = tfrt_ir_symbol_name(entity->op),
      .kind = TFRT_BEF_FUNCTION_NATIVE,
      .argument_count = type->input_count,
      .result_count = type->result_count,
      .argument_types = list_types(body, type->inputs, type->input_count),
      .result_types = list_types(body, type->results, type->result_count),
  };
  if (!body->out_of_memory) tfrt_bef_writer_add_function(body->entities->writer, &function);
}

// Fills in types and result registers of a function with a body.
static void list_signature(body_t* body, const tfrt_bef_entity_function_t* entity,
                           tfrt_bef_writer_function_t* function) {
  const tfrt_ir_block_t* block = entity->block;
  const tfrt_ir_operation_t* last = block->last;
  uint32_t* result_types = allocate(body, last->operand_count, sizeof(*result_types));
  const uint32_t* registers = body->words;
  list_operands(body, last, body->words);
  if (body->out_of_memory || body->failed) return;
  for (uint32_t i = 0; i < last->operand_count; ++i) {
    result_types[i] = body->register_types[registers[i]];
  }
  function->argument_count = block->argument_count;
  // Arguments are the first registers.
  function->argument_types = body->register_types;
  function->result_count = last->operand_count;
  function->result_types = result_types;
  function->result_registers = registers;
  const tfrt_bef_emitter_options_t* options = body->entities->options;
  bool wants_names =
      !options->no_argument_names && !options->exact_tfrt_bytes && !entity->is_region;
  if (wants_names && !has_default_names(block)) {
    function->argument_names = list_argument_names(body, block);
  }
}

static void emit_body(body_t* body, const tfrt_bef_entity_function_t* entity) {
  tfrt_bef_writer_t* writer = body->entities->writer;
  tfrt_bef_writer_reserve(writer, body->op_count);
  // The place of the function comes before those of its kernels.
  tfrt_bef_writer_function_t function = {
      .name = entity->is_region ? tfrt_string_view_of("") : tfrt_ir_symbol_name(entity->op),
      .kind = entity->kind,
      .location = add_location(body->entities, entity->op->location),
      .root_stream_id = body->root_stream,
  };
  if (!begin_registers(body, entity->block)) return;
  for (const tfrt_ir_operation_t* op = entity->block->first; op->next; op = op->next) {
    build_kernel(body, op);
    if (body->failed) return;
  }
  list_signature(body, entity, &function);
  function.register_count = body->register_count;
  function.register_types = body->register_types;
  function.kernel_count = body->kernel_count;
  function.kernels = body->kernels;
  if (!body->out_of_memory && !body->failed) tfrt_bef_writer_add_function(writer, &function);
}

static tfrt_status_t emit_function(tfrt_bef_entities_t* entities,
                                   const tfrt_bef_entity_function_t* entity) {
  body_t body = {.entities = entities};
  tfrt_status_t status = NULL;
  tfrt_arena_initialize(&body.arena, entities->arena.allocator);
  if (!entity->block) {
    emit_native(&body, entity);
  } else {
    status = find_streams(&body, entity->block);
    if (!status && !body.out_of_memory) emit_body(&body, entity);
  }
  tfrt_arena_deinitialize(&body.arena);
  if (body.out_of_memory) entities->out_of_memory = true;
  return status;
}

static tfrt_status_t emit(tfrt_bef_entities_t* entities, tfrt_ir_context_t* context,
                          tfrt_ir_operation_t* module, void** out_bytes, size_t* out_size) {
  tfrt_bef_entities_collect(entities, context, module);
  TFRT_RETURN_IF_ERROR(tfrt_diagnostics_status(entities->diagnostics));
  for (const tfrt_bef_entity_function_t* entity = entities->first_function; entity;
       entity = entity->next) {
    TFRT_RETURN_IF_ERROR(emit_function(entities, entity));
  }
  TFRT_RETURN_IF_ERROR(tfrt_diagnostics_status(entities->diagnostics));
  if (entities->out_of_memory) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to emit a BEF file");
  }
  return tfrt_bef_writer_finish(entities->writer, out_bytes, out_size);
}

tfrt_status_t tfrt_bef_emit(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                            const tfrt_bef_emitter_options_t* options,
                            tfrt_diagnostics_t* diagnostics, tfrt_allocator_t allocator,
                            void** out_bytes, size_t* out_size) {
  static const tfrt_bef_emitter_options_t kDefaults = {.no_optional_sections = false};
  tfrt_bef_writer_t* writer;
  tfrt_bef_entities_t entities;
  *out_bytes = NULL;
  *out_size = 0;
  if (!options) options = &kDefaults;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_writer_allocate(!options->no_optional_sections, allocator, &writer));
  tfrt_bef_entities_initialize(&entities, options, diagnostics, writer, allocator);
  tfrt_status_t status = emit(&entities, context, module, out_bytes, out_size);
  tfrt_bef_entities_deinitialize(&entities);
  tfrt_bef_writer_free(writer);
  return status;
}
