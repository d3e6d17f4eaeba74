// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/kernel_ops.h"

#define CHAIN "!tfrt.chain"
#define PURE(op, operands_)                                                           \
  {                                                                                   \
    .name = "tfrt_async." op, .summary = "The op `" op "` of MLIR on scalars.",       \
    TFRT_OPERANDS(operands_), TFRT_RESULTS(any), .flags = TFRT_KERNEL_PURE, .cost = 1 \
  }
#define CAST(op)                                                                              \
  {                                                                                           \
    .name = "tfrt_async." op, .summary = "The cast `" op "` of MLIR to `width` bits.",        \
    TFRT_OPERANDS(one), TFRT_RESULTS(any), TFRT_ATTRIBUTES(width), .flags = TFRT_KERNEL_PURE, \
    .cost = 1                                                                                 \
  }

static const tfrt_result_descriptor_t any[] = {{"result", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t results[] = {{"results", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t truth[] = {{"result", "i1"}};
static const tfrt_result_descriptor_t chain[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t group[] = {{"group", "!async.group"}};
static const tfrt_result_descriptor_t chain_and_rank[] = {{"chain", CHAIN}, {"rank", "i64"}};
static const tfrt_result_descriptor_t chain_and_value[] = {{"chain", CHAIN},
                                                           {"value", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t size_result[] = {{"size", "i64"}};
static const tfrt_operand_descriptor_t one[] = {{"input", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t two[] = {
    {"lhs", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"rhs", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t three[] = {
    {"a", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"b", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"c", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t choice[] = {
    {"condition", "i1", TFRT_OPERAND_DEMANDED},
    {"true_value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
    {"false_value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t chain_only[] = {{"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t chain_and_condition[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"condition", "i1", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t chain_and_size[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"size", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t chain_and_sizes[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"sizes", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t chain_and_value_in[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t chain_and_any[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t chain_and_passed[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t chain_group_and_member[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"group", "!async.group", TFRT_OPERAND_DEMANDED},
    {"member", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t chain_and_group[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"group", "!async.group", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t memory_and_index[] = {
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"index", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t load_operands[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"indices", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t store_operands[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"indices", "i64", TFRT_OPERAND_DEMANDED},
};

static const tfrt_attribute_descriptor_t width[] = {{"width", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t predicate[] = {{"predicate", TFRT_ATTRIBUTE_I64, NULL}};
static const tfrt_attribute_descriptor_t kind[] = {{"kind", TFRT_ATTRIBUTE_I64, NULL}};
static const tfrt_attribute_descriptor_t message[] = {{"message", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t text[] = {{"text", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t callee[] = {{"callee", TFRT_ATTRIBUTE_SYMBOL, NULL}};
static const tfrt_attribute_descriptor_t alloc_attributes[] = {
    {"dims", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"element", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t run_attributes[] = {
    {"blocks", TFRT_ATTRIBUTE_SYMBOL_ARRAY, NULL},
    {"edges", TFRT_ATTRIBUTE_I32_ARRAY, NULL},
};

static const tfrt_async_descriptor_t region = {.gives_token = true};

static const tfrt_kernel_descriptor_t descriptors[] = {
    PURE("addi", two),
    PURE("subi", two),
    PURE("muli", two),
    PURE("divsi", two),
    PURE("divui", two),
    PURE("remsi", two),
    PURE("remui", two),
    PURE("ceildivsi", two),
    PURE("floordivsi", two),
    PURE("ceildivui", two),
    PURE("andi", two),
    PURE("ori", two),
    PURE("xori", two),
    PURE("shli", two),
    PURE("shrsi", two),
    PURE("shrui", two),
    PURE("maxsi", two),
    PURE("minsi", two),
    PURE("maxui", two),
    PURE("minui", two),
    PURE("addf", two),
    PURE("subf", two),
    PURE("mulf", two),
    PURE("divf", two),
    PURE("remf", two),
    PURE("maximumf", two),
    PURE("minimumf", two),
    PURE("maxnumf", two),
    PURE("minnumf", two),
    PURE("powf", two),
    PURE("atan2", two),
    PURE("copysign", two),
    PURE("negf", one),
    PURE("sqrt", one),
    PURE("rsqrt", one),
    PURE("exp", one),
    PURE("exp2", one),
    PURE("expm1", one),
    PURE("log", one),
    PURE("log2", one),
    PURE("log10", one),
    PURE("log1p", one),
    PURE("sin", one),
    PURE("cos", one),
    PURE("tan", one),
    PURE("tanh", one),
    PURE("sinh", one),
    PURE("cosh", one),
    PURE("atan", one),
    PURE("absf", one),
    PURE("floor", one),
    PURE("ceil", one),
    PURE("erf", one),
    PURE("absi", one),
    PURE("fma", three),
    PURE("select", choice),
    PURE("bitcast", one),
    CAST("extsi"),
    CAST("extui"),
    CAST("trunci"),
    CAST("fptosi"),
    CAST("fptoui"),
    CAST("index_cast"),
    CAST("index_castui"),
    CAST("sitofp"),
    CAST("uitofp"),
    CAST("extf"),
    CAST("truncf"),
    {.name = "tfrt_async.cmpi",
     .summary = "Compares integers; `predicate` is MLIR's number of the comparison.",
     TFRT_OPERANDS(two),
     TFRT_RESULTS(truth),
     TFRT_ATTRIBUTES(predicate),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_async.cmpf",
     .summary = "Compares floats; `predicate` is MLIR's number of the comparison.",
     TFRT_OPERANDS(two),
     TFRT_RESULTS(truth),
     TFRT_ATTRIBUTES(predicate),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_async.execute",
     .summary =
         "Calls a function as a task of the work queue, or on another host, once the chain is "
         "there; the chain is the function's first argument.",
     TFRT_OPERANDS(chain_and_passed),
     TFRT_RESULTS(results),
     TFRT_ATTRIBUTES(callee),
     .flags =
         TFRT_KERNEL_CALL_OPTIONS | TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = TFRT_KERNEL_COST_UNKNOWN,
     .async = &region,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.run",
     .summary = "Runs the blocks of a function, each a function that is called with a chain: one "
                "after the other, as their last results and `edges` say.",
     TFRT_OPERANDS(chain_and_passed),
     TFRT_RESULTS(results),
     TFRT_ATTRIBUTES(run_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = TFRT_KERNEL_COST_UNKNOWN,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.assert",
     .summary = "A chain that is an error with `message` unless the condition holds.",
     TFRT_OPERANDS(chain_and_condition),
     TFRT_RESULTS(chain),
     TFRT_ATTRIBUTES(message),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.settled",
     .summary = "A chain that is there when the value is there or has failed.",
     TFRT_OPERANDS(chain_and_any),
     TFRT_RESULTS(chain),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.is_error",
     .summary = "Whether the value has failed, once that is known.",
     TFRT_OPERANDS(chain_and_any),
     TFRT_RESULTS(truth),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.drop_ref",
     .summary = "Lets the value live until the chain is there, whether the value is there or not.",
     TFRT_OPERANDS(chain_and_any),
     TFRT_RESULTS(chain),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.create_group",
     .summary = "A group that waits for `size` members.",
     TFRT_OPERANDS(chain_and_size),
     TFRT_RESULTS(group),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.add_to_group",
     .summary = "Adds a member, a chain or a value, to a group; gives its number there.",
     TFRT_OPERANDS(chain_group_and_member),
     TFRT_RESULTS(chain_and_rank),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.await_all",
     .summary = "A chain that is there when all members of a group are; the error of the first one "
                "that failed.",
     TFRT_OPERANDS(chain_and_group),
     TFRT_RESULTS(chain),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.print",
     .summary = "Prints a number and `text` behind it.",
     TFRT_OPERANDS(chain_and_value_in),
     TFRT_RESULTS(chain),
     TFRT_ATTRIBUTES(text),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.print_text",
     .summary = "Prints `text`.",
     TFRT_OPERANDS(chain_only),
     TFRT_RESULTS(chain),
     TFRT_ATTRIBUTES(text),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.end_line",
     .summary = "Prints what stands on a line that nothing has ended.",
     TFRT_OPERANDS(chain_only),
     TFRT_RESULTS(chain),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.alloc",
     .summary = "Memory of `element`s for `dims`; the operands are the unknown ones.",
     TFRT_OPERANDS(chain_and_sizes),
     TFRT_RESULTS(any),
     TFRT_ATTRIBUTES(alloc_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.load",
     .summary = "Reads an element of memory.",
     TFRT_OPERANDS(load_operands),
     TFRT_RESULTS(chain_and_value),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.store",
     .summary = "Writes an element of memory.",
     TFRT_OPERANDS(store_operands),
     TFRT_RESULTS(chain),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.atomic_rmw",
     .summary = "Changes an element of memory in one step, and gives the one before.",
     TFRT_OPERANDS(store_operands),
     TFRT_RESULTS(chain_and_value),
     TFRT_ATTRIBUTES(kind),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
    {.name = "tfrt_async.dim",
     .summary = "A size of memory.",
     TFRT_OPERANDS(memory_and_index),
     TFRT_RESULTS(size_result),
     .cost = 1,
     .effects = TFRT_EFFECT_NONE},
};

const tfrt_kernel_table_t tfrt_async_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
