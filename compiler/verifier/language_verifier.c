// SPDX-License-Identifier: Apache-2.0
//
// The rules for ops of the language that the op table can't state.

#include <inttypes.h>
#include <string.h>

#include "compiler/ir/device_operation.h"
#include "compiler/op_table/op_form.h"
#include "compiler/op_table/predicates.h"
#include "compiler/verifier/verifier_impl.h"
#include "host_runtime/base/plural.h"

typedef struct rule_s {
  const char* name;
  tfrt_verifier_rule_fn_t check;
} rule_t;

// --- Branches -------------------------------------------------------------------------------

static void check_successor_count(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                                  uint32_t count) {
  if (operation->successor_count == count) return;
  tfrt_verifier_op_error(verifier, operation, "needs %u successor%s, and has %u", count,
                         tfrt_plural(count), operation->successor_count);
}

static void check_branch(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_successor_count(verifier, operation, 1);
}

static void check_conditional_branch(tfrt_verifier_t* verifier,
                                     const tfrt_ir_operation_t* operation) {
  check_successor_count(verifier, operation, 2);
}

static void check_switch(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* values = tfrt_ir_operation_attribute(operation, "case_values");
  size_t count = 0;
  bool is_dense = values && values->kind == TFRT_IR_ATTRIBUTE_DENSE &&
                  tfrt_ir_type_element_count(values->type, &count);
  bool fits = values ? is_dense : true;
  if (fits && is_dense) fits = values->type->element == operation->operands[0].value->type;
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "attribute 'case_values' must be dense numbers of the type that is "
                           "switched on");
    return;
  }
  check_successor_count(verifier, operation, (uint32_t)count + 1);
}

// --- Regions ---------------------------------------------------------------------------------

// The last op of |region| of |operation|, which must be the op |end|; NULL after a report.
static const tfrt_ir_operation_t* check_end(tfrt_verifier_t* verifier,
                                            const tfrt_ir_operation_t* operation, uint32_t index,
                                            const char* end) {
  const tfrt_ir_region_t* region = &operation->regions[index];
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(region);
  const char* name = operation->descriptor->regions[index].name;
  if (!block) {
    tfrt_verifier_op_error(verifier, operation, "region '%s' must have a single block", name);
  } else if (!block->last || !tfrt_ir_operation_is(block->last, end)) {
    tfrt_verifier_op_error(verifier, operation, "region '%s' must end in %s", name, end);
  } else {
    return block->last;
  }
  return NULL;
}

// Checks that operand |first| of |operation| and those behind it are of |count| |types|.
static void check_types(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                        uint32_t first, const tfrt_ir_type_t* const* types, uint32_t count,
                        const char* what) {
  bool fits = operation->operand_count == first + count;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = operation->operands[first + i].value->type == types[i];
  }
  if (!fits) tfrt_verifier_op_error(verifier, operation, "must hand on %s", what);
}

// The types of the results of |operation|, or of the arguments of |block|; NULL: memory is out.
static const tfrt_ir_type_t** result_types(tfrt_verifier_t* verifier,
                                           const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(verifier->context, operation->result_count, sizeof(*types));
  for (uint32_t i = 0; types && i < operation->result_count; ++i) {
    types[i] = operation->results[i].type;
  }
  if (!types) verifier->out_of_memory = true;
  return types;
}

static const tfrt_ir_type_t** argument_types(tfrt_verifier_t* verifier,
                                             const tfrt_ir_block_t* block) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(verifier->context, block->argument_count, sizeof(*types));
  for (uint32_t i = 0; types && i < block->argument_count; ++i) {
    types[i] = block->arguments[i]->type;
  }
  if (!types) verifier->out_of_memory = true;
  return types;
}

// Checks that the arguments of |block| from |first| on are of the types of the operands of
// |operation| from |operand| on, |count| of them.
static void check_arguments(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                            uint32_t operand, const tfrt_ir_block_t* block, uint32_t first,
                            uint32_t count) {
  bool fits = block->argument_count == first + count;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = block->arguments[first + i]->type == operation->operands[operand + i].value->type;
  }
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation,
                         "the arguments of its region must be of the types of what it carries");
}

static void check_if(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t** types = result_types(verifier, operation);
  if (!types || operation->region_count != 2) return;
  bool has_else = operation->regions[1].first_block != NULL;
  if (!has_else && operation->result_count) {
    tfrt_verifier_op_error(verifier, operation, "has results, so it needs an 'else' region");
    return;
  }
  for (uint32_t i = 0; i < (has_else ? 2u : 1u); ++i) {
    const tfrt_ir_operation_t* end = check_end(verifier, operation, i, "scf.yield");
    if (end) check_types(verifier, end, 0, types, operation->result_count, "the results of scf.if");
  }
}

static void check_for(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t** types = result_types(verifier, operation);
  if (!types || operation->region_count != 1) return;
  const tfrt_ir_operation_t* end = check_end(verifier, operation, 0, "scf.yield");
  uint32_t count = operation->result_count;
  if (!end || operation->operand_count < 3) return;
  const tfrt_ir_block_t* block = end->block;
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  if (operation->operands[1].value->type != type || operation->operands[2].value->type != type ||
      !block->argument_count || block->arguments[0]->type != type) {
    tfrt_verifier_op_error(verifier, operation,
                           "bounds, step and variable must be of one type, such as index");
    return;
  }
  check_types(verifier, operation, 3, types, count, "values of the types of its results");
  if (operation->operand_count != 3 + count) return;
  check_arguments(verifier, operation, 3, block, 1, count);
  check_types(verifier, end, 0, types, count, "what the loop carries");
}

static void check_while(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t** types = result_types(verifier, operation);
  if (!types || operation->region_count != 2) return;
  const tfrt_ir_operation_t* condition = check_end(verifier, operation, 0, "scf.condition");
  const tfrt_ir_operation_t* end = check_end(verifier, operation, 1, "scf.yield");
  if (!condition || !end) return;
  const tfrt_ir_type_t** carried = argument_types(verifier, condition->block);
  if (!carried) return;
  uint32_t count = operation->result_count;
  check_arguments(verifier, operation, 0, condition->block, 0, operation->operand_count);
  check_types(verifier, condition, 1, types, count, "the results of the loop");
  check_types(verifier, end, 0, carried, condition->block->argument_count, "what the loop carries");
  bool fits = end->block->argument_count == count;
  for (uint32_t i = 0; fits && i < count; ++i) fits = end->block->arguments[i]->type == types[i];
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "the arguments of region 'after' must be of the types of the results");
  }
}

static void check_parallel(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  int64_t rank = tfrt_ir_segment_size(sizes, 0);
  bool fits = rank > 0 && tfrt_ir_segment_size(sizes, 1) == rank &&
              tfrt_ir_segment_size(sizes, 2) == rank && operation->operand_count == 3 * rank &&
              !operation->result_count;
  for (uint32_t i = 0; fits && i < operation->operand_count; ++i) {
    fits = operation->operands[i].value->type->kind == TFRT_IR_TYPE_INDEX;
  }
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "must have as many starts, ends and steps, each an index, and no "
                           "reductions");
    return;
  }
  if (operation->region_count != 1) return;
  const tfrt_ir_operation_t* end = check_end(verifier, operation, 0, "scf.reduce");
  if (end) check_arguments(verifier, operation, 0, end->block, 0, (uint32_t)rank);
}

// Checks that |operation|, which ends a region, stands in one of the op |parent| (or |other|).
static void check_parent(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                         const char* parent, const char* other) {
  const tfrt_ir_operation_t* around = tfrt_ir_operation_parent(operation);
  if (around &&
      (tfrt_ir_operation_is(around, parent) || (other && tfrt_ir_operation_is(around, other)))) {
    return;
  }
  tfrt_verifier_op_error(verifier, operation, "expects parent op '%s'", parent);
}

static void check_yield(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_operation_t* around = tfrt_ir_operation_parent(operation);
  if (around && tfrt_ir_operation_is(around, "scf.while")) return;
  check_parent(verifier, operation, "scf.for", "scf.if");
}

static void check_condition(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_parent(verifier, operation, "scf.while", NULL);
}

static void check_reduce(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_parent(verifier, operation, "scf.parallel", NULL);
}

// --- Regions as tasks ------------------------------------------------------------------------

static bool is_token(const tfrt_ir_type_t* type) { return tfrt_ir_type_is(type, "!async.token"); }

// The T of !async.value<T>, or NULL.
static const tfrt_ir_type_t* element_of(const tfrt_ir_type_t* type) {
  return type->kind == TFRT_IR_TYPE_DIALECT ? type->element : NULL;
}

// Checks that |end| hands on what the |count| asynchronous |types| are made of.
static void check_asynchronous(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* end,
                               const tfrt_ir_type_t* const* types, uint32_t count) {
  bool fits = end->operand_count == count;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = element_of(types[i]) == end->operands[i].value->type;
  }
  if (fits) return;
  tfrt_verifier_op_error(verifier, end,
                         "must hand on values of the types inside of the asynchronous results, one "
                         "for each");
}

// The first of |types| that can't be there, or |count|: they are values, the first one maybe a
// token.
static uint32_t find_other_result(const tfrt_ir_type_t* const* types, uint32_t count) {
  uint32_t i = 0;
  while (i < count && (element_of(types[i]) || (i == 0 && is_token(types[i])))) ++i;
  return i;
}

// Checks that |types| are asynchronous.
static bool check_results(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                          const tfrt_ir_type_t* const* types, uint32_t count) {
  uint32_t other = find_other_result(types, count);
  if (other == count) return true;
  tfrt_verifier_op_error(verifier, operation,
                         "result #%u must be a value !async.value<T>%s, not '%s'", other,
                         other ? "" : " or a token", types[other]->text->data);
  return false;
}

static void check_execute(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  int64_t tokens = tfrt_ir_segment_size(sizes, 0);
  int64_t values = tfrt_ir_segment_size(sizes, 1);
  if (tokens < 0 || values < 0 || tokens + values != operation->operand_count) {
    tfrt_verifier_op_error(verifier, operation,
                           "needs an 'operandSegmentSizes' that fits, as in array<i32: 1, 0>: "
                           "tokens, then values");
    return;
  }
  const tfrt_ir_type_t** types = result_types(verifier, operation);
  if (!types || !check_results(verifier, operation, types, operation->result_count)) return;
  const tfrt_ir_operation_t* end =
      operation->region_count == 1 ? check_end(verifier, operation, 0, "async.yield") : NULL;
  if (!end) return;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_ir_type_t* type = operation->operands[i].value->type;
    if (i < tokens ? is_token(type) : element_of(type) != NULL) continue;
    tfrt_verifier_op_error(verifier, operation, "operand #%u must be %s, not '%s'", i,
                           i < tokens ? "a token" : "a value !async.value<T>", type->text->data);
    return;
  }
  const tfrt_ir_block_t* block = end->block;
  bool fits = block->argument_count == values;
  for (uint32_t i = 0; fits && i < values; ++i) {
    const tfrt_ir_type_t* type = operation->operands[(uint32_t)tokens + i].value->type;
    fits = block->arguments[i]->type == element_of(type);
  }
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "the arguments of its region must be of the types inside of its values");
  }
  check_asynchronous(verifier, end, types + 1, operation->result_count - 1);
}

// Checks the types of an `async.func`, also of one without a body.
static void check_async_function(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* function) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  if (type && !type->result_count) {
    tfrt_verifier_op_error(verifier, function,
                           "needs a result, a token or values, by which its callers learn that it "
                           "has ended; write '-> !async.token'");
  } else if (type) {
    check_results(verifier, function, type->results, type->result_count);
  }
}

static void check_async_yield(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_parent(verifier, operation, "async.execute", NULL);
}

static void check_async_return(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_operation_t* function = tfrt_ir_operation_parent(operation);
  check_parent(verifier, operation, "async.func", NULL);
  const tfrt_ir_type_t* type =
      function && tfrt_ir_is_async_function(function) ? tfrt_ir_function_type(function) : NULL;
  if (!type || find_other_result(type->results, type->result_count) < type->result_count) return;
  uint32_t first = type->result_count && is_token(type->results[0]) ? 1 : 0;
  check_asynchronous(verifier, operation, type->results + first, type->result_count - first);
}

static void check_await(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  const tfrt_ir_type_t* element = element_of(type);
  bool fits = element ? operation->result_count == 1 && operation->results[0].type == element
                      : operation->result_count == 0 && is_token(type);
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation,
                         "waits for a token and gives nothing, or for a value !async.value<T> and "
                         "gives a T; it waits for a '%s'",
                         type->text->data);
}

// The rule of ops that wait for their first operand, or add it to a group.
static void check_waited_for(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  bool may_be_group = !tfrt_ir_operation_is(operation, "async.add_to_group") &&
                      !tfrt_ir_operation_is(operation, "async.runtime.add_to_group");
  if (is_token(type) || element_of(type) ||
      (may_be_group && tfrt_ir_type_is(type, "!async.group"))) {
    return;
  }
  tfrt_verifier_op_error(verifier, operation, "operand #0 must be a token or a value%s, not '%s'",
                         may_be_group ? " or a group" : "", type->text->data);
}

// The rule of `async.runtime.add_ref` and `async.runtime.drop_ref`.
static void check_counted(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* count = tfrt_ir_operation_attribute(operation, "count");
  check_waited_for(verifier, operation);
  if (!count || count->kind != TFRT_IR_ATTRIBUTE_INTEGER) return;
  int64_t number = tfrt_ir_attribute_integer_value(count);
  if (number > 0 && number <= INT32_MAX) return;
  tfrt_verifier_op_error(verifier, operation, "needs a 'count' from 1 to %d, not %" PRId64,
                         INT32_MAX, number);
}

// The rule of ops that set a token or a value, or make one.
static void check_settled(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type =
      operation->operand_count ? operation->operands[0].value->type : operation->results[0].type;
  if (is_token(type) || element_of(type)) return;
  tfrt_verifier_op_error(verifier, operation, "takes or makes a token or a value, not a '%s'",
                         type->text->data);
}

// The rule of `async.runtime.load` and `async.runtime.store`.
static void check_payload(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type = operation->operands[operation->operand_count - 1].value->type;
  const tfrt_ir_type_t* payload =
      operation->result_count ? operation->results[0].type : operation->operands[0].value->type;
  if (element_of(type) && element_of(type) == payload) return;
  tfrt_verifier_op_error(verifier, operation,
                         "needs a value !async.value<T> and a payload T, not '%s' and '%s'",
                         type->text->data, payload->text->data);
}

static void check_suspend(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_successor_count(verifier, operation, 3);
}

// Checks that |operation| calls the kind of function that it can.
static void check_call(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  bool is_async = tfrt_ir_operation_is(operation, "async.call");
  const tfrt_ir_attribute_t* callee = tfrt_ir_operation_attribute(operation, "callee");
  if (!callee || callee->kind != TFRT_IR_ATTRIBUTE_SYMBOL) return;
  const tfrt_ir_operation_t* function = tfrt_verifier_find_function(verifier, callee);
  if (!function || tfrt_ir_is_async_function(function) == is_async) return;
  tfrt_verifier_op_error(verifier, operation, "calls '@%s', which is called by %s",
                         callee->names[callee->count - 1]->data,
                         is_async ? "func.call" : "async.call");
}

// --- Memory -----------------------------------------------------------------------------------

// Checks operand |memory| of |operation|, and that there is an index for each dimension.
static void check_place(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                        uint32_t memory) {
  const tfrt_ir_type_t* type = operation->operands[memory].value->type;
  bool fits = type->kind == TFRT_IR_TYPE_MEMREF && type->is_ranked &&
              operation->operand_count - memory - 1 == type->rank;
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation, "needs a memref and an index for each dimension");
}

static void check_load(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_place(verifier, operation, 0);
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  if (operation->result_count == 1 && operation->results[0].type == type->element) return;
  tfrt_verifier_op_error(verifier, operation, "gives an element of its memref");
}

static void check_store(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_place(verifier, operation, 1);
  const tfrt_ir_type_t* type = operation->operands[1].value->type;
  if (operation->operands[0].value->type == type->element) return;
  tfrt_verifier_op_error(verifier, operation, "stores an element of its memref");
}

// True if |operation| changes its memory as the element type |type| can be.
static bool change_fits(const tfrt_ir_operation_t* operation, const tfrt_ir_type_t* type) {
  const tfrt_ir_attribute_t* kind = tfrt_ir_operation_attribute(operation, "kind");
  const char* name =
      kind && kind->kind == TFRT_IR_ATTRIBUTE_INTEGER ? tfrt_atomic_change_name(kind->bits) : NULL;
  if (!name) return false;
  bool is_float = type->kind == TFRT_IR_TYPE_FLOAT;
  bool wants_float = name[strlen(name) - 1] == 'f';
  return strcmp(name, "assign") == 0 || is_float == wants_float;
}

static void check_atomic(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_place(verifier, operation, 1);
  const tfrt_ir_type_t* type = operation->operands[1].value->type->element;
  if (operation->operands[0].value->type != type || operation->results[0].type != type) {
    tfrt_verifier_op_error(verifier, operation, "takes and gives an element of its memref");
  } else if (!change_fits(operation, type)) {
    tfrt_verifier_op_error(verifier, operation, "needs an attribute 'kind' that fits elements '%s'",
                           type->text->data);
  }
}

static void check_alloc(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type = operation->result_count ? operation->results[0].type : NULL;
  uint32_t dynamic = 0;
  bool fits = operation->result_count == 1 && type->kind == TFRT_IR_TYPE_MEMREF && type->is_ranked;
  for (uint32_t i = 0; fits && i < type->rank; ++i) dynamic += type->dims[i] == TFRT_IR_DYNAMIC;
  if (fits && operation->operand_count == dynamic) return;
  tfrt_verifier_op_error(verifier, operation,
                         "gives a memref and takes a size for each dimension '?' of it");
}

// --- Scalars ------------------------------------------------------------------------------------

// Checks that the operands from |first| on and the result are of one type.
static void check_uniform(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                          uint32_t first, bool and_result) {
  const tfrt_ir_type_t* type = operation->operands[first].value->type;
  bool fits = !and_result || operation->results[0].type == type;
  for (uint32_t i = first; fits && i < operation->operand_count; ++i) {
    fits = operation->operands[i].value->type == type;
  }
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation, "requires the same type for all operands%s",
                         and_result ? " and results" : "");
}

static void check_constant(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "value");
  if (value && value->type == operation->results[0].type) return;
  tfrt_verifier_op_error(verifier, operation, "needs an attribute 'value' of the result's type");
}

static void check_fill(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* memory = operation->operands[1].value->type;
  const tfrt_ir_block_t* block =
      operation->region_count == 1 ? tfrt_ir_region_single_block(&operation->regions[0]) : NULL;
  const tfrt_ir_operation_t* end = block ? block->last : NULL;
  bool fits = operation->operand_count == 2 && !operation->result_count && end &&
              memory->kind == TFRT_IR_TYPE_MEMREF && block->first == end &&
              operation->operands[0].value->type == memory->element &&
              tfrt_ir_operation_is(end, "linalg.yield") && end->operand_count == 1 &&
              block->argument_count > 0 && end->operands[0].value == block->arguments[0];
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation,
                         "takes a value and a memref of such elements, each of which becomes the "
                         "value");
}

static void check_device_work(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  if (tfrt_ir_device_operation_read(operation, &parts)) return;
  tfrt_verifier_op_error(
      verifier, operation,
      "has operands, results or sizes of segments that don't fit: tokens of type "
      "'" TFRT_IR_DEVICE_TOKEN "' first, and memory of known rank");
}

static void check_same(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_uniform(verifier, operation, 0, true);
}

static void check_comparison(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_uniform(verifier, operation, 0, false);
}

static void check_selection(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_uniform(verifier, operation, 1, true);
}

// --- The tables -------------------------------------------------------------------------------

static const rule_t rules_of_families[] = {
    {"same", check_same},
    {"compare", check_comparison},
    {"select", check_selection},
    {"constant", check_constant},
};

static const rule_t rules_of_names[] = {
    {"cf.br", check_branch},
    {"cf.cond_br", check_conditional_branch},
    {"cf.switch", check_switch},
    {"func.call", check_call},
    {"scf.if", check_if},
    {"scf.for", check_for},
    {"scf.while", check_while},
    {"scf.parallel", check_parallel},
    {"scf.yield", check_yield},
    {"scf.condition", check_condition},
    {"scf.reduce", check_reduce},
    {"async.execute", check_execute},
    {"async.yield", check_async_yield},
    {"async.func", check_async_function},
    {"async.return", check_async_return},
    {"async.call", check_call},
    {"async.await", check_await},
    {"async.add_to_group", check_waited_for},
    {"async.runtime.await", check_waited_for},
    {"async.runtime.is_error", check_waited_for},
    {"async.runtime.await_and_resume", check_waited_for},
    {"async.runtime.add_to_group", check_waited_for},
    {"async.runtime.add_ref", check_counted},
    {"async.runtime.drop_ref", check_counted},
    {"async.runtime.create", check_settled},
    {"async.runtime.set_available", check_settled},
    {"async.runtime.set_error", check_settled},
    {"async.runtime.load", check_payload},
    {"async.runtime.store", check_payload},
    {"async.coro.suspend", check_suspend},
    {"memref.load", check_load},
    {"memref.store", check_store},
    {"memref.atomic_rmw", check_atomic},
    {"memref.alloc", check_alloc},
    {"memref.alloca", check_alloc},
    {"linalg.fill", check_fill},
    {"gpu.wait", check_device_work},
    {"gpu.alloc", check_device_work},
    {"gpu.dealloc", check_device_work},
    {"gpu.memcpy", check_device_work},
    {"gpu.memset", check_device_work},
    {"gpu.launch_func", check_device_work},
};

// The rule for |name| among the |count| |rules|, or NULL.
static tfrt_verifier_rule_fn_t find_rule(const rule_t* rules, size_t count,
                                         tfrt_string_view_t name) {
  for (size_t i = 0; i < count; ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(rules[i].name))) return rules[i].check;
  }
  return NULL;
}

// The rules for ops of |descriptor|. Most ops are like one before.
static const tfrt_verifier_rules_t* rules_of(tfrt_verifier_t* verifier,
                                             const tfrt_kernel_descriptor_t* descriptor) {
  size_t place = ((uintptr_t)descriptor >> 4) % TFRT_VERIFIER_RULES_COUNT;
  tfrt_verifier_rules_t* rules = &verifier->rules[place];
  if (rules->descriptor == descriptor) return rules;
  *rules = (tfrt_verifier_rules_t){
      .descriptor = descriptor,
      .of_family = find_rule(rules_of_families, TFRT_ARRAY_SIZE(rules_of_families),
                             tfrt_op_form_family(descriptor)),
      .of_name = find_rule(rules_of_names, TFRT_ARRAY_SIZE(rules_of_names),
                           tfrt_string_view_of(descriptor->name)),
  };
  return rules;
}

void tfrt_verifier_check_language(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  bool is_terminator = (operation->descriptor->flags & TFRT_KERNEL_TERMINATOR) != 0;
  if (operation->successor_count && !is_terminator) {
    tfrt_verifier_op_error(verifier, operation, "can't have successors");
  }
  // The number of operands and results is what the table says, or the rest is of no use.
  bool fits =
      operation->operand_count >= tfrt_kernel_descriptor_fixed_operands(operation->descriptor) &&
      operation->result_count >= tfrt_kernel_descriptor_fixed_results(operation->descriptor);
  if (!fits) return;
  const tfrt_verifier_rules_t* rules = rules_of(verifier, operation->descriptor);
  if (rules->of_family) rules->of_family(verifier, operation);
  if (rules->of_name) rules->of_name(verifier, operation);
}
