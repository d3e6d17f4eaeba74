// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>

#include "compiler/lowering/block_liveness.h"
#include "compiler/lowering/lowering_impl.h"

// A function that is made: its name, and the types of what it takes and gives.
typedef struct signature_s {
  const tfrt_ir_string_t* name;
  const tfrt_ir_type_t** inputs;
  const tfrt_ir_type_t** results;
  uint32_t input_count;
  uint32_t result_count;
} signature_t;

// --- Functions ------------------------------------------------------------------------------

// Appends the function of |signature|, with its block; the block, or NULL.
static tfrt_ir_block_t* make_function(tfrt_lowering_t* lowering, const tfrt_ir_operation_t* like,
                                      const signature_t* signature) {
  tfrt_ir_context_t* context = lowering->context;
  const tfrt_ir_type_t* type =
      tfrt_ir_type_function(context, signature->inputs, signature->input_count, signature->results,
                            signature->result_count);
  tfrt_ir_operation_t* function =
      type ? tfrt_ir_function_create(context, like->location, signature->name, type) : NULL;
  tfrt_ir_block_t* block = function ? tfrt_ir_block_create(context, &function->regions[0]) : NULL;
  if (!block) return NULL;
  function->text_offset = like->text_offset;
  for (uint32_t i = 0; i < signature->input_count; ++i) {
    if (!tfrt_ir_block_add_argument(context, block, signature->inputs[i], NULL, NULL)) return NULL;
  }
  tfrt_ir_block_append(tfrt_ir_module_block(lowering->module), function);
  return block;
}

// The types of |count| |values| behind a chain; NULL: memory is out.
static const tfrt_ir_type_t** types_behind_chain(tfrt_lowering_t* lowering,
                                                 tfrt_ir_value_t* const* values, uint32_t count) {
  const tfrt_ir_type_t** types =
      tfrt_lowering_allocate(lowering, (size_t)count + 1, sizeof(*types));
  if (!types) return NULL;
  types[0] = tfrt_lowering_chain_type(lowering);
  for (uint32_t i = 0; i < count; ++i) {
    types[1 + i] = tfrt_lowering_type(lowering, values[i]->type);
  }
  return types;
}

static bool begin_block(tfrt_lowering_block_t* body, tfrt_lowering_t* lowering,
                        tfrt_ir_block_t* block) {
  *body = (tfrt_lowering_block_t){.lowering = lowering, .block = block};
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(lowering->context);
  tfrt_scratch_initialize(&body->mappings, sizeof(tfrt_lowering_mapping_t), allocator);
  tfrt_scratch_initialize(&body->chains, sizeof(tfrt_ir_value_t*), allocator);
  body->entry = body->control = block->arguments[0];
  return true;
}

static void end_block(tfrt_lowering_block_t* body) {
  tfrt_scratch_deinitialize(&body->mappings);
  tfrt_scratch_deinitialize(&body->chains);
}

// Lowers all ops of |source| but the last one.
static void lower_ops(tfrt_lowering_block_t* body, const tfrt_ir_block_t* source) {
  tfrt_ir_operation_t* op = source->first;
  while (op && op != source->last && !body->lowering->failed && !body->lowering->out_of_memory) {
    tfrt_ir_operation_t* next = op->next;
    tfrt_lowering_operation(body, op);
    op = next;
  }
}

static void append_return(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                          tfrt_ir_value_t* const* values, uint32_t count) {
  tfrt_lowering_op_t parts = {
      .name = "tfrt.return", .like = like, .operands = values, .operand_count = count};
  tfrt_lowering_append(body, &parts);
}

// The value that a return hands on for |mapping|. A value that becomes known on its own time is
// there then, if no assertion fails; any other is part of what the block does.
static tfrt_ir_value_t* result_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* end,
                                  const tfrt_lowering_mapping_t* mapping) {
  tfrt_ir_value_t* chain = mapping->is_late ? body->asserted : body->control;
  if (!chain || chain == body->entry) return mapping->value;
  return tfrt_lowering_gate(body, end, chain, mapping->value);
}

// Returns the chain and the operands of |end|.
static void lower_return(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* end) {
  tfrt_ir_value_t** values =
      tfrt_lowering_allocate(body->lowering, (size_t)end->operand_count + 1, sizeof(*values));
  if (!values) return;
  values[0] = tfrt_lowering_end_chain(body, end);
  for (uint32_t i = 0; i < end->operand_count; ++i) {
    const tfrt_lowering_mapping_t* mapping =
        tfrt_lowering_mapped(body, end->operands[i].value, end);
    if (!mapping) return;
    values[1 + i] = result_of(body, end, mapping);
  }
  append_return(body, end, values, 1 + end->operand_count);
}

// The results of |function| in BEF, behind a chain; NULL: memory is out.
static const tfrt_ir_type_t** list_results(tfrt_lowering_t* lowering,
                                           const tfrt_lowering_function_t* function,
                                           uint32_t* out_count) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function->op);
  const tfrt_ir_type_t** results =
      tfrt_lowering_allocate(lowering, (size_t)type->result_count + 1, sizeof(*results));
  if (!results) return NULL;
  uint32_t count = 0;
  results[count++] = tfrt_lowering_chain_type(lowering);
  for (uint32_t i = 0; i < type->result_count; ++i) {
    // The token of an asynchronous function is the chain.
    bool is_token = i == 0 && function->kind == TFRT_LOWERING_ASYNC &&
                    tfrt_ir_type_is(type->results[0], "!async.token");
    if (!is_token) results[count++] = tfrt_lowering_type(lowering, type->results[i]);
  }
  *out_count = count;
  return results;
}

static bool is_end(const tfrt_lowering_function_t* function, const tfrt_ir_operation_t* last) {
  static const char* const ends[] = {
      [TFRT_LOWERING_ASYNC] = "async.return",
      [TFRT_LOWERING_REGION] = "async.yield",
  };
  if (function->kind == TFRT_LOWERING_FUNCTION) return tfrt_ir_operation_is_return(last);
  return tfrt_ir_operation_is(last, ends[function->kind]);
}

// --- One block --------------------------------------------------------------------------------

static void lower_single(tfrt_lowering_t* lowering, const tfrt_lowering_function_t* function) {
  const tfrt_ir_block_t* source = function->op->regions[0].first_block;
  signature_t signature = {.name = function->body_name, .input_count = 1 + source->argument_count};
  signature.inputs = types_behind_chain(lowering, source->arguments, source->argument_count);
  signature.results = list_results(lowering, function, &signature.result_count);
  if (!signature.inputs || !signature.results) return;
  tfrt_ir_block_t* block = make_function(lowering, function->op, &signature);
  tfrt_lowering_block_t body;
  if (!block || !begin_block(&body, lowering, block)) return;
  for (uint32_t i = 0; i < source->argument_count; ++i) {
    tfrt_lowering_map(&body, source->arguments[i], block->arguments[1 + i], false);
  }
  lower_ops(&body, source);
  if (!lowering->failed && is_end(function, source->last)) {
    lower_return(&body, source->last);
  } else if (!lowering->failed) {
    tfrt_lowering_fail(lowering, source->last, "can't end a function that goes to BEF");
  }
  end_block(&body);
}

// --- Several blocks -----------------------------------------------------------------------------

// A function of several blocks while it is lowered.
typedef struct several_s {
  tfrt_lowering_t* lowering;
  const tfrt_lowering_function_t* function;
  tfrt_block_liveness_t liveness;
  tfrt_scratch_t edges;  // int32_t, from the first block's on
  int32_t* places;       // of each block in |edges|
  const tfrt_ir_attribute_t** names;
} several_t;

static void push_edge(several_t* several, int64_t number) {
  int32_t edge = (int32_t)number;
  if (!tfrt_scratch_push(&several->edges, &edge)) several->lowering->out_of_memory = true;
}

// The results of a block, while they are listed.
typedef struct outs_s {
  tfrt_scratch_t values;  // tfrt_ir_value_t*: its results
} outs_t;

// The place among the results of the value that |old| is in |body|; -1 after a failure.
static int64_t add_out(tfrt_lowering_block_t* body, outs_t* outs, const tfrt_ir_value_t* old,
                       const tfrt_ir_operation_t* end) {
  tfrt_lowering_mapping_t* mapping = tfrt_lowering_mapped(body, old, end);
  if (!mapping) return -1;
  if (mapping->out == UINT32_MAX) {
    mapping->out = (uint32_t)outs->values.count;
    if (!tfrt_scratch_push(&outs->values, &mapping->value)) body->lowering->out_of_memory = true;
  }
  return mapping->out;
}

// Lists what successor |index| of |end| is called with.
static void list_successor(several_t* several, tfrt_lowering_block_t* body, outs_t* outs,
                           const tfrt_ir_operation_t* end, uint32_t index) {
  uint32_t target = tfrt_ir_operation_successors(end)[index]->scratch;
  uint32_t first, count, live_count;
  tfrt_ir_operation_successor_operands(end, index, &first, &count);
  tfrt_ir_value_t* const* live =
      tfrt_block_liveness_values(&several->liveness, target, &live_count);
  push_edge(several, target);
  push_edge(several, (int64_t)count + live_count);
  for (uint32_t i = 0; i < count; ++i) {
    push_edge(several, add_out(body, outs, end->operands[first + i].value, end));
  }
  for (uint32_t i = 0; i < live_count; ++i) push_edge(several, add_out(body, outs, live[i], end));
}

// The number of the successor of |end|, a switch: as many choices as there are cases.
static tfrt_ir_value_t* append_case_number(tfrt_lowering_block_t* body,
                                           const tfrt_ir_operation_t* end) {
  tfrt_lowering_t* lowering = body->lowering;
  const tfrt_ir_attribute_t* values = tfrt_ir_operation_attribute(end, "case_values");
  const tfrt_lowering_mapping_t* flag = tfrt_lowering_mapped(body, end->operands[0].value, end);
  const tfrt_ir_type_t* i32 = tfrt_ir_type_integer(lowering->context, 32, TFRT_IR_SIGNLESS);
  const tfrt_ir_type_t* i64 = tfrt_ir_type_integer(lowering->context, 64, TFRT_IR_SIGNLESS);
  const tfrt_ir_type_t* i1 = tfrt_ir_type_integer(lowering->context, 1, TFRT_IR_SIGNLESS);
  if (!flag || !i32 || !i64 || !i1) return NULL;
  tfrt_ir_value_t* wide = flag->value;
  tfrt_ir_named_attribute_t width =
      tfrt_lowering_named(lowering, "width", tfrt_lowering_i32(lowering, 64));
  tfrt_lowering_op_t widen = {.name = "tfrt_async.extsi",
                              .like = end,
                              .operands = &wide,
                              .operand_count = 1,
                              .types = &i64,
                              .type_count = 1,
                              .attributes = &width,
                              .attribute_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &widen);
  if (!op) return NULL;
  wide = &op->results[0];
  tfrt_ir_value_t* number = NULL;
  size_t size = values ? values->type->element->width / 8 : 0;
  for (uint32_t i = 0; i < end->successor_count; ++i) {
    tfrt_ir_named_attribute_t value =
        tfrt_lowering_named(lowering, "value", tfrt_lowering_i32(lowering, (int32_t)i));
    tfrt_lowering_op_t constant = {.name = "tfrt.constant.i32",
                                   .like = end,
                                   .types = &i32,
                                   .type_count = 1,
                                   .attributes = &value,
                                   .attribute_count = 1};
    op = tfrt_lowering_append(body, &constant);
    if (!op) return NULL;
    tfrt_ir_value_t* this_number = &op->results[0];
    if (i == 0) {
      number = this_number;
      continue;
    }
    uint64_t bits = 0;
    for (size_t k = 0; k < size; ++k) {
      bits |= (uint64_t)(unsigned char)values->bytes[(i - 1) * size + k] << (8 * k);
    }
    unsigned shift = (unsigned)(64 - 8 * size);
    value = tfrt_lowering_named(
        lowering, "value",
        tfrt_ir_attribute_integer(lowering->context, i64, (int64_t)(bits << shift) >> shift));
    constant.name = "tfrt.constant.i64";
    constant.types = &i64;
    op = tfrt_lowering_append(body, &constant);
    if (!op) return NULL;
    tfrt_ir_value_t* compared[] = {wide, &op->results[0]};
    tfrt_ir_named_attribute_t equal = tfrt_lowering_named(
        lowering, "predicate", tfrt_ir_attribute_integer(lowering->context, i64, 0));
    tfrt_lowering_op_t compare = {.name = "tfrt_async.cmpi",
                                  .like = end,
                                  .operands = compared,
                                  .operand_count = 2,
                                  .types = &i1,
                                  .type_count = 1,
                                  .attributes = &equal,
                                  .attribute_count = 1};
    op = tfrt_lowering_append(body, &compare);
    if (!op) return NULL;
    tfrt_ir_value_t* choice[] = {&op->results[0], this_number, number};
    tfrt_lowering_op_t select = {.name = "tfrt_async.select",
                                 .like = end,
                                 .operands = choice,
                                 .operand_count = 3,
                                 .types = &i32,
                                 .type_count = 1};
    op = tfrt_lowering_append(body, &select);
    if (!op) return NULL;
    number = &op->results[0];
  }
  return number;
}

// The value that says which successor of |end| comes next.
static tfrt_ir_value_t* append_selector(tfrt_lowering_block_t* body,
                                        const tfrt_ir_operation_t* end) {
  if (tfrt_ir_operation_is(end, "cf.switch")) return append_case_number(body, end);
  const tfrt_lowering_mapping_t* condition =
      tfrt_lowering_mapped(body, end->operands[0].value, end);
  return condition ? condition->value : NULL;
}

// Returns the chain, what selects the successor, and what the successors get.
static void lower_branch(several_t* several, tfrt_lowering_block_t* body,
                         const tfrt_ir_operation_t* end) {
  tfrt_lowering_t* lowering = several->lowering;
  outs_t outs;
  tfrt_scratch_initialize(&outs.values, sizeof(tfrt_ir_value_t*),
                          tfrt_ir_context_allocator(lowering->context));
  tfrt_ir_value_t* chain = tfrt_lowering_end_chain(body, end);
  tfrt_ir_value_t* selector = end->successor_count > 1 ? append_selector(body, end) : NULL;
  bool ok = tfrt_scratch_push(&outs.values, &chain) &&
            (end->successor_count < 2 || (selector && tfrt_scratch_push(&outs.values, &selector)));
  push_edge(several, end->successor_count);
  for (uint32_t i = 0; ok && i < end->successor_count; ++i) {
    list_successor(several, body, &outs, end, i);
  }
  if (ok && !lowering->failed && !lowering->out_of_memory) {
    append_return(body, end, tfrt_scratch_at(&outs.values, 0), (uint32_t)outs.values.count);
  }
  tfrt_scratch_deinitialize(&outs.values);
}

// Lets the function of a block have the results that its return hands on.
static void set_results(tfrt_lowering_t* lowering, tfrt_ir_block_t* block) {
  tfrt_ir_operation_t* function = block->region->owner;
  const tfrt_ir_operation_t* end = block->last;
  const tfrt_ir_type_t* old = tfrt_ir_function_type(function);
  if (lowering->failed || lowering->out_of_memory || !end) return;
  const tfrt_ir_type_t** types =
      tfrt_lowering_allocate(lowering, end->operand_count, sizeof(*types));
  for (uint32_t i = 0; types && i < end->operand_count; ++i) {
    types[i] = end->operands[i].value->type;
  }
  const tfrt_ir_type_t* type =
      types ? tfrt_ir_type_function(lowering->context, old->inputs, old->input_count, types,
                                    end->operand_count)
            : NULL;
  const tfrt_ir_string_t* name = tfrt_ir_string_of(lowering->context, "function_type");
  const tfrt_ir_attribute_t* attribute =
      type ? tfrt_ir_attribute_type(lowering->context, type) : NULL;
  if (!name || !attribute ||
      !tfrt_ir_operation_set_attribute(lowering->context, function, name, attribute)) {
    lowering->out_of_memory = true;
  }
}

// The function of block |index|.
static void lower_block(several_t* several, uint32_t index) {
  tfrt_lowering_t* lowering = several->lowering;
  const tfrt_lowering_function_t* function = several->function;
  const tfrt_ir_block_t* source = several->liveness.blocks[index];
  uint32_t live_count;
  tfrt_ir_value_t* const* live = tfrt_block_liveness_values(&several->liveness, index, &live_count);
  uint32_t count = source->argument_count + live_count;
  tfrt_ir_value_t** values = tfrt_lowering_allocate(lowering, (size_t)count + 1, sizeof(*values));
  char suffix[32];
  snprintf(suffix, sizeof(suffix), ".bb%u", index);
  signature_t signature = {.input_count = 1 + count};
  signature.name =
      tfrt_lowering_new_name(lowering, tfrt_ir_string_view(function->body_name), suffix);
  if (!values || !signature.name) return;
  for (uint32_t i = 0; i < source->argument_count; ++i) values[i] = source->arguments[i];
  for (uint32_t i = 0; i < live_count; ++i) values[source->argument_count + i] = live[i];
  signature.inputs = types_behind_chain(lowering, values, count);
  tfrt_ir_block_t* block =
      signature.inputs ? make_function(lowering, function->op, &signature) : NULL;
  tfrt_lowering_block_t body;
  if (!block || !begin_block(&body, lowering, block)) return;
  several->names[index] = tfrt_ir_attribute_symbol(lowering->context, &signature.name, 1);
  several->places[index] = (int32_t)several->edges.count;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_lowering_map(&body, values[i], block->arguments[1 + i], false);
  }
  lower_ops(&body, source);
  const tfrt_ir_operation_t* end = source->last;
  if (!lowering->failed && is_end(function, end)) {
    push_edge(several, 0);
    push_edge(several, 1 + (int64_t)end->operand_count);
    for (uint32_t i = 0; i <= end->operand_count; ++i) push_edge(several, i);
    lower_return(&body, end);
  } else if (!lowering->failed && tfrt_lowering_is_language(end)) {
    lower_branch(several, &body, end);
  } else if (!lowering->failed) {
    tfrt_lowering_fail(lowering, end, "can't end a block that goes to BEF");
  }
  set_results(lowering, block);
  end_block(&body);
}

// The attribute of the edges: the places of the blocks, then what was listed.
static const tfrt_ir_attribute_t* edges_attribute(several_t* several) {
  tfrt_lowering_t* lowering = several->lowering;
  uint32_t blocks = several->liveness.count;
  size_t count = blocks + several->edges.count;
  const tfrt_ir_attribute_t** elements = tfrt_lowering_allocate(lowering, count, sizeof(*elements));
  for (size_t i = 0; elements && i < count; ++i) {
    int32_t number = i < blocks ? several->places[i] + (int32_t)blocks
                                : *(int32_t*)tfrt_scratch_at(&several->edges, i - blocks);
    elements[i] = tfrt_lowering_i32(lowering, number);
  }
  return elements ? tfrt_ir_attribute_array(lowering->context, elements, (uint32_t)count) : NULL;
}

// The function that runs the blocks.
static void make_runner(several_t* several) {
  tfrt_lowering_t* lowering = several->lowering;
  const tfrt_lowering_function_t* function = several->function;
  const tfrt_ir_block_t* source = several->liveness.blocks[0];
  signature_t signature = {.name = function->body_name, .input_count = 1 + source->argument_count};
  signature.inputs = types_behind_chain(lowering, source->arguments, source->argument_count);
  signature.results = list_results(lowering, function, &signature.result_count);
  if (!signature.inputs || !signature.results) return;
  tfrt_ir_block_t* block = make_function(lowering, function->op, &signature);
  tfrt_lowering_block_t body;
  if (!block || !begin_block(&body, lowering, block)) return;
  tfrt_ir_named_attribute_t attributes[] = {
      tfrt_lowering_named(
          lowering, "blocks",
          tfrt_ir_attribute_array(lowering->context, several->names, several->liveness.count)),
      tfrt_lowering_named(lowering, "edges", edges_attribute(several))};
  tfrt_lowering_op_t parts = {.name = "tfrt_async.run",
                              .like = function->op,
                              .operands = block->arguments,
                              .operand_count = block->argument_count,
                              .types = signature.results,
                              .type_count = signature.result_count,
                              .attributes = attributes,
                              .attribute_count = 2};
  tfrt_ir_operation_t* op = tfrt_lowering_append(&body, &parts);
  tfrt_ir_value_t** values =
      tfrt_lowering_allocate(lowering, signature.result_count, sizeof(*values));
  for (uint32_t i = 0; op && values && i < signature.result_count; ++i) values[i] = &op->results[i];
  if (op && values) append_return(&body, function->op, values, signature.result_count);
  end_block(&body);
}

static void lower_several(tfrt_lowering_t* lowering, const tfrt_lowering_function_t* function) {
  several_t several = {.lowering = lowering, .function = function};
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(lowering->context);
  tfrt_scratch_initialize(&several.edges, sizeof(int32_t), allocator);
  bool ok = tfrt_block_liveness_initialize(&several.liveness, &function->op->regions[0], allocator);
  if (ok) {
    uint32_t count = several.liveness.count;
    several.places = tfrt_lowering_allocate(lowering, count, sizeof(*several.places));
    several.names = tfrt_lowering_allocate(lowering, count, sizeof(*several.names));
    ok = several.places && several.names;
    for (uint32_t i = 0; ok && i < count; ++i) {
      lower_block(&several, i);
      ok = !lowering->failed && !lowering->out_of_memory;
    }
    if (ok) make_runner(&several);
  } else {
    lowering->out_of_memory = true;
  }
  tfrt_block_liveness_deinitialize(&several.liveness);
  tfrt_scratch_deinitialize(&several.edges);
}

// --- The function under its own name ------------------------------------------------------------

// Calls the body with a new chain, and returns the results once all of it is done: a chain, if
// there are none.
static void make_wrapper(tfrt_lowering_t* lowering, const tfrt_lowering_function_t* function) {
  const tfrt_ir_block_t* source = function->op->regions[0].first_block;
  tfrt_string_view_t name = tfrt_ir_symbol_name(function->op);
  uint32_t count;
  const tfrt_ir_type_t** inputs =
      types_behind_chain(lowering, source->arguments, source->argument_count);
  const tfrt_ir_type_t** results = list_results(lowering, function, &count);
  if (!inputs || !results) return;
  bool has_results = count > 1;
  signature_t signature = {.name = tfrt_ir_string_get(lowering->context, name),
                           .inputs = inputs + 1,
                           .input_count = source->argument_count,
                           .results = has_results ? results + 1 : results,
                           .result_count = has_results ? count - 1 : 1};
  if (!signature.name) return;
  tfrt_ir_block_t* block = make_function(lowering, function->op, &signature);
  if (!block) return;
  tfrt_ir_operation_t* made = block->region->owner;
  tfrt_ir_block_remove(made);
  tfrt_ir_block_insert_before(function->op, made);
  for (uint32_t i = 0; i < source->argument_count; ++i) {
    block->arguments[i]->name = source->arguments[i]->name;
  }
  tfrt_lowering_block_t body = {.lowering = lowering, .block = block};
  const tfrt_ir_type_t* chain_type = tfrt_lowering_chain_type(lowering);
  tfrt_lowering_op_t chain_parts = {
      .name = "tfrt.new.chain", .like = function->op, .types = &chain_type, .type_count = 1};
  tfrt_ir_operation_t* chain = tfrt_lowering_append(&body, &chain_parts);
  tfrt_ir_value_t** operands = tfrt_lowering_allocate(
      lowering, (size_t)source->argument_count + count + 1, sizeof(*operands));
  if (!chain || !operands) return;
  operands[0] = &chain->results[0];
  for (uint32_t i = 0; i < source->argument_count; ++i) operands[1 + i] = block->arguments[i];
  tfrt_ir_named_attribute_t callee = tfrt_lowering_named(
      lowering, "callee", tfrt_ir_attribute_symbol(lowering->context, &function->body_name, 1));
  tfrt_lowering_op_t call_parts = {.name = "tfrt.call",
                                   .like = function->op,
                                   .operands = operands,
                                   .operand_count = 1 + source->argument_count,
                                   .types = results,
                                   .type_count = count,
                                   .attributes = &callee,
                                   .attribute_count = 1};
  tfrt_ir_operation_t* call = tfrt_lowering_append(&body, &call_parts);
  if (!call) return;
  tfrt_ir_value_t* done = &call->results[0];
  if (lowering->prints_pieces) {
    tfrt_lowering_op_t end_parts = {.name = "tfrt_async.end_line",
                                    .like = function->op,
                                    .operands = &done,
                                    .operand_count = 1,
                                    .types = &chain_type,
                                    .type_count = 1};
    tfrt_ir_operation_t* end = tfrt_lowering_append(&body, &end_parts);
    if (end) done = &end->results[0];
  }
  if (!has_results) {
    append_return(&body, function->op, &done, 1);
    return;
  }
  for (uint32_t i = 1; i < count; ++i) {
    operands[i - 1] = tfrt_lowering_gate(&body, function->op, done, &call->results[i]);
  }
  append_return(&body, function->op, operands, count - 1);
}

// --- Interface ---------------------------------------------------------------------------------

void tfrt_lowering_function(tfrt_lowering_t* lowering, tfrt_lowering_function_t* function) {
  const tfrt_ir_region_t* region = &function->op->regions[0];
  const tfrt_ir_operation_t* last = region->first_block->last;
  bool is_single = region->first_block == region->last_block && !(last && last->successor_count);
  if (is_single) {
    lower_single(lowering, function);
  } else {
    lower_several(lowering, function);
  }
  if (function->kind == TFRT_LOWERING_FUNCTION && !lowering->failed) {
    make_wrapper(lowering, function);
  }
}
