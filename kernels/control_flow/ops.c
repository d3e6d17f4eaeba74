// SPDX-License-Identifier: Apache-2.0

#include "kernels/control_flow/ops.h"

#define CHAIN "!tfrt.chain"

// --- Operands -----------------------------------------------------------------

// Values that are handed to a function, whatever their state.
#define PASSED_VALUES \
  { "operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED }

static const tfrt_operand_descriptor_t passed[] = {PASSED_VALUES};
static const tfrt_operand_descriptor_t condition_and_passed[] = {
    {"condition", "i1", TFRT_OPERAND_DEMANDED},
    PASSED_VALUES,
};
static const tfrt_operand_descriptor_t index_and_passed[] = {
    {"branch_index", "i32", TFRT_OPERAND_DEMANDED},
    PASSED_VALUES,
};
static const tfrt_operand_descriptor_t count_and_passed[] = {
    {"trip_count", "i32", TFRT_OPERAND_DEMANDED},
    PASSED_VALUES,
};
static const tfrt_operand_descriptor_t range_and_passed[] = {
    {"start", "i32", TFRT_OPERAND_DEMANDED},
    {"end", "i32", TFRT_OPERAND_DEMANDED},
    {"block_size", "i32", TFRT_OPERAND_DEMANDED},
    PASSED_VALUES,
};
static const tfrt_operand_descriptor_t returned[] = {
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED},
};

// --- Results, attributes, regions ----------------------------------------------

static const tfrt_result_descriptor_t any_results[] = {{"results", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};

static const tfrt_attribute_descriptor_t callee[] = {
    {"callee", TFRT_ATTRIBUTE_SYMBOL, NULL},
};
// The prefixes keep their order, in which kernels get functions.
static const tfrt_attribute_descriptor_t two_functions[] = {
    {"a_true_fn", TFRT_ATTRIBUTE_SYMBOL, NULL},
    {"b_false_fn", TFRT_ATTRIBUTE_SYMBOL, NULL},
};
static const tfrt_attribute_descriptor_t branches[] = {
    {"branches", TFRT_ATTRIBUTE_SYMBOL_ARRAY, NULL},
};
static const tfrt_attribute_descriptor_t while_attributes[] = {
    {"body_fn", TFRT_ATTRIBUTE_SYMBOL, NULL},
    {"parallel_iterations", TFRT_ATTRIBUTE_I64, NULL},
};
static const tfrt_attribute_descriptor_t once_function[] = {
    {"function", TFRT_ATTRIBUTE_SYMBOL, NULL},
};

static const tfrt_region_descriptor_t then_and_else[] = {
    {.name = "then"},
    {.name = "else", .optional = true},
};
static const tfrt_region_descriptor_t loop_body[] = {{.name = "body"}};
static const tfrt_region_descriptor_t range_body[] = {
    {.name = "body",
     .lead_mask = 3,  // start and end of the block; its size stays outside
     .may_yield_nothing = true,
     .yields = chain_result,
     .yield_count = 1},
};

// --- The table ------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt.call",
     .summary = "Calls a function, on this host or, with the option `host`, on another.",
     .assembly = "@callee ( operands ) attr-dict function",
     TFRT_OPERANDS(passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_CALL_OPTIONS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.if",
     .summary = "Runs one of two bodies.",
     .assembly = "operands attributes signature regions",
     TFRT_OPERANDS(condition_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_REGIONS(then_and_else),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.cond",
     .summary = "Calls one of two functions.",
     .assembly = "%condition @a_true_fn @b_false_fn ( operands ) attr-dict signature",
     TFRT_OPERANDS(condition_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(two_functions),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.case",
     .summary = "Calls the function with the index; the last one for an index that is none.",
     .assembly = "%branch_index [@branches] ( operands ) attr-dict signature",
     TFRT_OPERANDS(index_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(branches),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.while",
     .summary = "Calls a function, which also yields the next condition, on its own results as "
                "long as the condition holds.",
     .assembly = "%condition @body_fn ( operands ) attr-dict parallel_iterations ( "
                 "#parallel_iterations ) signature",
     TFRT_OPERANDS(condition_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(while_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.repeat.i32",
     .summary = "Runs the body so many times, each time on what it yielded before.",
     .assembly = "operands attributes types regions",
     TFRT_OPERANDS(count_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_REGIONS(loop_body),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS | TFRT_KERNEL_SYNC_TOO,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.once",
     .summary = "Calls a function the first time; later the results are those of the first call.",
     .assembly = "@function ( operands ) attr-dict signature",
     TFRT_OPERANDS(passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(once_function),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.parallel_for.i32",
     .summary = "Runs the body for each block of a range, in parallel, in which start and end are "
                "those of the block; the chain is there when all have ended.",
     .assembly = "%start to %end fixed %block_size ,operands attributes types regions",
     TFRT_OPERANDS(range_and_passed),
     TFRT_RESULTS(chain_result),
     TFRT_REGIONS(range_body),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.parallel_call.i32",
     .summary = "Calls a function for each block of a range, in parallel, with the start and the "
                "end of the block before the operands; the chain is there when all have ended.",
     .assembly = "%start to %end fixed %block_size @callee ( operands ) attr-dict types",
     TFRT_OPERANDS(range_and_passed),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt.return",
     .summary = "Ends a function or a region; its operands are the results.",
     .assembly = "operands attr-dict types",
     TFRT_OPERANDS(returned),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_TERMINATOR,
     .cost = 1},
    {.name = "func.return",
     .summary = "The same, in the foreign code of compiled modules.",
     .assembly = "operands attr-dict types",
     TFRT_OPERANDS(returned),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_TERMINATOR,
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_control_flow_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
