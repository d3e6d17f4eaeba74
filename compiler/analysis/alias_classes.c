// SPDX-License-Identifier: Apache-2.0
//
// Values that may share memory are of one class, a set in a forest of disjoint sets. Within a
// function sharing has no direction. Across a call it has: what the callee's values share, the
// operands and results of the call share as well, and where two operands share memory, so do the
// callee's parameters. Two calls of one function with different tensors keep these apart.

#include <string.h>

#include "compiler/analysis/effect_analysis_impl.h"
#include "compiler/op_table/schema.h"

// The first value of a call that is of a class.
typedef struct first_value_s {
  uint32_t stamp;  // of the call
  const tfrt_ir_value_t* value;
} first_value_t;

const size_t tfrt_effect_first_size = sizeof(first_value_t);

static uint32_t* parent_of(const tfrt_effect_analysis_t* analysis, uint32_t number) {
  return tfrt_scratch_at(&analysis->classes, number);
}

uint32_t tfrt_effect_class(tfrt_effect_analysis_t* analysis, uint32_t number) {
  while (*parent_of(analysis, number) != number) {
    uint32_t* parent = parent_of(analysis, number);
    *parent = *parent_of(analysis, *parent);
    number = *parent;
  }
  return number;
}

bool tfrt_effect_has_memory(const tfrt_ir_type_t* type) {
  static const char* const plain[] = {"!tfrt.chain",       "!tfrt.string",    "!ts.",
                                      "!tfrt.tensor_type", "!tfrt_dist.host", "!tfrt_dist.group"};
  if (type->kind != TFRT_IR_TYPE_DIALECT) return false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(plain); ++i) {
    if (strncmp(type->text->data, plain[i], strlen(plain[i])) == 0) return false;
  }
  return true;
}

static void unite(tfrt_effect_analysis_t* analysis, const tfrt_ir_value_t* a,
                  const tfrt_ir_value_t* b) {
  if (!tfrt_effect_has_memory(a->type) || !tfrt_effect_has_memory(b->type)) return;
  uint32_t first = tfrt_effect_class(analysis, a->scratch);
  uint32_t second = tfrt_effect_class(analysis, b->scratch);
  if (first == second) return;
  *parent_of(analysis, first < second ? second : first) = first < second ? first : second;
  analysis->changed = true;
}

// --- Within a function -----------------------------------------------------------------------

// The entry of the op says nothing: all its operands and results may share memory.
static void unite_all(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  const tfrt_ir_value_t* first = NULL;
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const tfrt_ir_value_t* value =
        i < op->operand_count ? op->operands[i].value : &op->results[i - op->operand_count];
    if (!tfrt_effect_has_memory(value->type)) continue;
    if (first) unite(analysis, first, value);
    if (!first) first = value;
  }
}

// The results share the memory of the operand that the table says.
static void unite_shared(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  uint32_t operands = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t results = tfrt_kernel_descriptor_fixed_results(descriptor);
  bool by_place = (descriptor->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) != 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(descriptor, i);
    if (!entry || strcmp(entry->name, descriptor->shares) != 0) continue;
    for (uint32_t k = 0; k < op->result_count; ++k) {
      if (by_place && k - results != i - operands) continue;
      unite(analysis, op->operands[i].value, &op->results[k]);
    }
  }
}

// The region's arguments are operands of the op, and the op's results are what the region yields.
static void unite_region(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op,
                         uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  const tfrt_ir_block_t* block = op->regions[index].first_block;
  if (!block || index >= descriptor->region_count) return;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    uint32_t argument = tfrt_schema_region_argument(descriptor, index, i);
    if (argument >= block->argument_count) continue;
    unite(analysis, op->operands[i].value, block->arguments[argument]);
  }
  if (!block->last || descriptor->regions[index].yields) return;
  uint32_t first = tfrt_kernel_descriptor_fixed_operands(descriptor);
  for (uint32_t i = 0; i < block->last->operand_count && i < op->result_count; ++i) {
    unite(analysis, block->last->operands[i].value, &op->results[i]);
    if (!tfrt_effect_is_loop(op)) continue;
    unite(analysis, op->operands[first + i].value, &op->results[i]);
  }
}

static bool unite_op(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  if (tfrt_ir_is_function(op) || tfrt_ir_is_module(op)) return true;
  bool is_silent =
      !descriptor || (!descriptor->effects && !(descriptor->flags & TFRT_KERNEL_PURE) &&
                      !tfrt_ir_operation_is_terminator(op));
  if (is_silent) unite_all(analysis, op);
  if (!descriptor) return true;
  if (descriptor->shares) unite_shared(analysis, op);
  for (uint32_t i = 0; i < op->region_count; ++i) unite_region(analysis, op, i);
  return true;
}

// --- Across calls ----------------------------------------------------------------------------

// The first value of this call that is of the class of |value|; |other|, which becomes it, if there
// is none.
static const tfrt_ir_value_t* first_of_class(tfrt_effect_analysis_t* analysis,
                                             const tfrt_ir_value_t* value,
                                             const tfrt_ir_value_t* other) {
  first_value_t* first =
      tfrt_scratch_at(&analysis->first, tfrt_effect_class(analysis, value->scratch));
  if (first->stamp != analysis->stamp) *first = (first_value_t){analysis->stamp, other};
  return first->value;
}

// One pair of values that a call makes the same: |inner| in the callee, |outer| at the call.
static void pair_up(tfrt_effect_analysis_t* analysis, const tfrt_ir_value_t* inner,
                    const tfrt_ir_value_t* outer) {
  if (!tfrt_effect_has_memory(inner->type) || !tfrt_effect_has_memory(outer->type)) return;
  unite(analysis, first_of_class(analysis, inner, outer), outer);
}

static void unite_call(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op,
                       const tfrt_effect_function_t* callee) {
  const tfrt_ir_operation_t* end = tfrt_effect_return(callee);
  ++analysis->stamp;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    uint32_t parameter = tfrt_effect_parameter_of(op, i);
    if (parameter >= callee->block->argument_count) continue;
    pair_up(analysis, callee->block->arguments[parameter], op->operands[i].value);
  }
  for (uint32_t i = 0; end && i < end->operand_count; ++i) {
    uint32_t result = tfrt_effect_result_of(op, i);
    if (result < op->result_count) {
      pair_up(analysis, end->operands[i].value, &op->results[result]);
    }
  }
  // The other way round, for parameters.
  ++analysis->stamp;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    uint32_t parameter = tfrt_effect_parameter_of(op, i);
    if (parameter >= callee->block->argument_count) continue;
    pair_up(analysis, op->operands[i].value, callee->block->arguments[parameter]);
  }
  if (!tfrt_effect_is_loop(op)) return;
  uint32_t first = tfrt_kernel_descriptor_fixed_operands(op->descriptor);
  for (uint32_t i = 0; i < op->result_count && end && i < end->operand_count; ++i) {
    unite(analysis, op->operands[first + i].value, &op->results[i]);
    if (i < callee->block->argument_count) {
      unite(analysis, callee->block->arguments[i], end->operands[i].value);
    }
  }
}

// The numbers in `edges` of tfrt_async.run, which are read one after the other.
typedef struct edge_reader_s {
  const tfrt_ir_attribute_t* edges;
  uint32_t next;
} edge_reader_t;

static uint32_t read_edge(edge_reader_t* reader) {
  if (reader->next >= reader->edges->count) return 0;
  return (uint32_t)tfrt_ir_attribute_integer_value(reader->edges->elements[reader->next++]);
}

// Reads up to the number of successors of block |index|, and returns that.
static uint32_t begin_edges(edge_reader_t* reader, uint32_t index) {
  reader->next = index;
  reader->next = read_edge(reader);
  return read_edge(reader);
}

bool tfrt_effect_block_returns(const tfrt_ir_operation_t* op, uint32_t index) {
  edge_reader_t reader = {tfrt_ir_operation_attribute(op, "edges"), 0};
  return reader.edges && begin_edges(&reader, index) == 0;
}

static bool has_edges_left(const edge_reader_t* reader) {
  return reader->next < reader->edges->count;
}

// Reads what |end| hands to |values|, those behind the chain of a successor, or those of the op.
static void unite_edge(tfrt_effect_analysis_t* analysis, edge_reader_t* reader,
                       const tfrt_ir_operation_t* end, const tfrt_ir_operation_t* op,
                       const tfrt_effect_function_t* successor) {
  uint32_t count = read_edge(reader);
  for (uint32_t i = 0; i < count && has_edges_left(reader); ++i) {
    uint32_t result = read_edge(reader);
    uint32_t room = successor ? successor->block->argument_count : op->result_count;
    uint32_t place = successor ? i + 1 : i;
    if (result >= end->operand_count || place >= room) continue;
    const tfrt_ir_value_t* target =
        successor ? successor->block->arguments[place] : &op->results[place];
    unite(analysis, end->operands[result].value, target);
  }
}

// Blocks are functions that one op runs: within it, sharing has no direction.
static void unite_blocks(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  edge_reader_t reader = {tfrt_ir_operation_attribute(op, "edges"), 0};
  const tfrt_effect_function_t* block = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; block && block->block && i < op->operand_count; ++i) {
    if (i >= block->block->argument_count) break;
    unite(analysis, op->operands[i].value, block->block->arguments[i]);
  }
  for (uint32_t i = 0; reader.edges && block;
       block = tfrt_effect_named_function(analysis, op, ++i)) {
    const tfrt_ir_operation_t* end = tfrt_effect_return(block);
    uint32_t successor_count = begin_edges(&reader, i);
    if (end && !successor_count) unite_edge(analysis, &reader, end, op, NULL);
    for (uint32_t k = 0; end && k < successor_count && has_edges_left(&reader); ++k) {
      const tfrt_effect_function_t* successor =
          tfrt_effect_named_function(analysis, op, read_edge(&reader));
      if (!successor || !successor->block) break;
      unite_edge(analysis, &reader, end, op, successor);
    }
  }
}

static bool unite_callees(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  if (tfrt_effect_runs_blocks(op)) {
    unite_blocks(analysis, op);
    return true;
  }
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; callee; callee = tfrt_effect_named_function(analysis, op, ++i)) {
    if (callee->block) {
      unite_call(analysis, op, callee);
    } else {
      unite_all(analysis, op);
    }
  }
  return true;
}

// --- All values --------------------------------------------------------------------------------

static void add_value(tfrt_effect_analysis_t* analysis, tfrt_ir_value_t* value) {
  uint32_t number = (uint32_t)analysis->classes.count;
  first_value_t none = {0, NULL};
  value->scratch = number;
  if (!tfrt_scratch_push(&analysis->classes, &number) ||
      !tfrt_scratch_push(&analysis->first, &none)) {
    analysis->failed = true;
  }
}

static bool add_values(tfrt_ir_operation_t* op, void* user_data) {
  for (uint32_t i = 0; i < op->result_count; ++i) add_value(user_data, &op->results[i]);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      for (uint32_t k = 0; k < block->argument_count; ++k) {
        add_value(user_data, block->arguments[k]);
      }
    }
  }
  return true;
}

void tfrt_effect_find_classes(tfrt_effect_analysis_t* analysis) {
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    tfrt_ir_operation_walk(tfrt_effect_analysis_function(analysis, i)->op, add_values, analysis);
  }
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis) && !analysis->failed; ++i) {
    tfrt_ir_operation_walk(tfrt_effect_analysis_function(analysis, i)->op, unite_op, analysis);
  }
  // Each round but the last unites something.
  for (analysis->changed = true; analysis->changed && !analysis->failed;) {
    analysis->changed = false;
    for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
      tfrt_ir_operation_walk(tfrt_effect_analysis_function(analysis, i)->op, unite_callees,
                             analysis);
    }
  }
}
