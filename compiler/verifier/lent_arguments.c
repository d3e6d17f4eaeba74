// SPDX-License-Identifier: Apache-2.0
//
// Arguments that host calls lend. If the callee of a host call wrote to an argument, it would write
// to a copy on another host, and the caller would never see that. So the verifier refuses such
// calls.
//
//   1. An operand that the op table calls MUTATED marks its value as written.
//   2. A written argument of a region marks the operand that it stands for.
//   3. A written parameter of a function marks the operand of each op that names it.
//   4. When nothing more gets marked, host calls look at their callee's parameters.
//
// Each value is marked once, and each reference to a function is followed once per
// parameter.

#include "compiler/ir/scratch.h"
#include "compiler/op_table/schema.h"
#include "compiler/verifier/verifier_impl.h"

// An op that names a function.
typedef struct reference_s {
  tfrt_ir_operation_t* op;
  struct reference_s* next;
} reference_t;

// A value that is written, and the op that does it.
typedef struct mark_s {
  tfrt_ir_value_t* value;
  const tfrt_ir_operation_t* writer;
} mark_t;

typedef struct analysis_s {
  tfrt_verifier_t* verifier;
  const tfrt_ir_block_t* block;  // of the module
  tfrt_scratch_t marks;          // mark_t; a value's |scratch| is the index of its mark
  tfrt_scratch_t references;     // reference_t*; a function's |scratch| is the index of its list
} analysis_t;

static const mark_t* find_mark(const analysis_t* analysis, const tfrt_ir_value_t* value) {
  if (value->scratch >= analysis->marks.count) return NULL;
  const mark_t* mark = tfrt_scratch_at(&analysis->marks, value->scratch);
  return mark->value == value ? mark : NULL;
}

static void add_mark(analysis_t* analysis, tfrt_ir_value_t* value,
                     const tfrt_ir_operation_t* writer) {
  if (find_mark(analysis, value)) return;
  mark_t mark = {value, writer};
  value->scratch = (uint32_t)analysis->marks.count;
  if (!tfrt_scratch_push(&analysis->marks, &mark)) analysis->verifier->out_of_memory = true;
}

// The list of ops that name |function|, or NULL if it is not a function of ours.
static reference_t** references_of(analysis_t* analysis, const tfrt_ir_operation_t* function) {
  if (function->block != analysis->block) return NULL;
  return tfrt_scratch_at(&analysis->references, function->scratch);
}

static void add_reference(analysis_t* analysis, tfrt_ir_operation_t* op,
                          const tfrt_ir_attribute_t* symbol) {
  tfrt_ir_operation_t* function = tfrt_verifier_find_function(analysis->verifier, symbol);
  reference_t* reference =
      tfrt_ir_context_allocate_array(analysis->verifier->context, 1, sizeof(*reference));
  reference_t** list = function ? references_of(analysis, function) : NULL;
  if (!reference) analysis->verifier->out_of_memory = true;
  if (!reference || !list) return;
  reference->op = op;
  reference->next = *list;
  *list = reference;
}

// Notes the functions that |op| names and the operands that it writes to.
static bool visit(tfrt_ir_operation_t* op, void* user_data) {
  analysis_t* analysis = user_data;
  if (!op->descriptor) return true;
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_ir_attribute_t* value = op->attributes[i].value;
    if (value->kind == TFRT_IR_ATTRIBUTE_SYMBOL) add_reference(analysis, op, value);
    if (!tfrt_schema_attribute_fits(TFRT_ATTRIBUTE_SYMBOL_ARRAY, value)) continue;
    for (uint32_t k = 0; k < value->count; ++k) add_reference(analysis, op, value->elements[k]);
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(op->descriptor, i);
    if (entry && entry->use == TFRT_OPERAND_MUTATED) add_mark(analysis, op->operands[i].value, op);
  }
  return true;
}

// Marks the operand of |op| that becomes argument |index| of its region |region|.
static void follow_region(analysis_t* analysis, tfrt_ir_operation_t* op, uint32_t region,
                          uint32_t index, const tfrt_ir_operation_t* writer) {
  if (!op->descriptor || region >= op->descriptor->region_count) return;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (tfrt_schema_region_argument(op->descriptor, region, i) != index) continue;
    add_mark(analysis, op->operands[i].value, writer);
  }
}

// Marks, for each op that names |function|, the operand that becomes its parameter
// |index|.
static void follow_function(analysis_t* analysis, tfrt_ir_operation_t* function, uint32_t index,
                            const tfrt_ir_operation_t* writer) {
  uint32_t parameter_count = tfrt_ir_function_type(function)->input_count;
  reference_t** list = references_of(analysis, function);
  for (reference_t* reference = list ? *list : NULL; reference; reference = reference->next) {
    tfrt_ir_operation_t* op = reference->op;
    uint32_t first = tfrt_kernel_descriptor_fixed_operands(op->descriptor);
    for (uint32_t i = first; i < op->operand_count; ++i) {
      if (tfrt_verifier_parameter_of(op, i - first, parameter_count) != index) continue;
      add_mark(analysis, op->operands[i].value, writer);
      break;
    }
  }
}

// Follows the written value number |position| to where it comes from.
static void follow(analysis_t* analysis, size_t position) {
  mark_t mark = *(mark_t*)tfrt_scratch_at(&analysis->marks, position);
  if (mark.value->producer) return;
  const tfrt_ir_block_t* block = tfrt_ir_value_block(mark.value);
  if (!block || block != block->region->first_block) return;
  tfrt_ir_operation_t* owner = block->region->owner;
  if (tfrt_ir_is_function(owner)) {
    follow_function(analysis, owner, mark.value->index, mark.writer);
  } else {
    follow_region(analysis, owner, block->region->index, mark.value->index, mark.writer);
  }
}

// Refuses |op| if it is a host call that lends what is written.
static bool check_call(tfrt_ir_operation_t* op, void* user_data) {
  analysis_t* analysis = user_data;
  const tfrt_ir_attribute_t* callee = tfrt_ir_operation_attribute(op, "callee");
  if (!tfrt_verifier_is_host_call(op) || !callee) return true;
  const tfrt_ir_operation_t* function = tfrt_verifier_find_function(analysis->verifier, callee);
  const tfrt_ir_block_t* block = function ? tfrt_ir_function_block(function) : NULL;
  for (uint32_t i = 0; block && i < block->argument_count; ++i) {
    const mark_t* mark = find_mark(analysis, block->arguments[i]);
    if (!mark) continue;
    const char* name = callee->names[callee->count - 1]->data;
    tfrt_verifier_op_error(analysis->verifier, op,
                           "on another host, '@%s' would write to a copy of argument #%u; let "
                           "'@%s' return the new value instead",
                           name, i, name);
    tfrt_verifier_report(analysis->verifier, TFRT_SEVERITY_NOTE, mark->writer,
                         "it is written here");
  }
  return true;
}

void tfrt_verifier_check_lent_arguments(tfrt_verifier_t* verifier, tfrt_ir_operation_t* module) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(verifier->context);
  analysis_t analysis = {.verifier = verifier, .block = tfrt_ir_module_block(module)};
  tfrt_scratch_initialize(&analysis.marks, sizeof(mark_t), allocator);
  tfrt_scratch_initialize(&analysis.references, sizeof(reference_t*), allocator);
  for (tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op; op = op->next) {
    reference_t* none = NULL;
    op->scratch = (uint32_t)analysis.references.count;
    if (!tfrt_scratch_push(&analysis.references, &none)) verifier->out_of_memory = true;
  }
  for (tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op; op = op->next) {
    if (!tfrt_ir_is_compiled_module(op)) tfrt_ir_operation_walk(op, visit, &analysis);
  }
  if (!verifier->out_of_memory) {
    for (size_t i = 0; i < analysis.marks.count; ++i) follow(&analysis, i);
    tfrt_ir_operation_walk(module, check_call, &analysis);
  }
  tfrt_scratch_deinitialize(&analysis.marks);
  tfrt_scratch_deinitialize(&analysis.references);
}
