// SPDX-License-Identifier: Apache-2.0

#include "kernels/control_flow/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

// --- Operands -----------------------------------------------------------------

// Values that are handed to a function, whatever their state.
#define PASSED_VALUES \
  { "operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED }

// --- Results, attributes, regions ----------------------------------------------

static const tfrt_result_descriptor_t chain_result[] = {DONE};

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
    OP("tfrt.call", "Calls a function, on this host or, with the option `host`, on another.",
       FORM("@callee ( operands ) attr-dict function"), IN(PASSED_VALUES),
       OUT(GIVE("results", TFRT_TYPE_ANY)), SET(NEED("callee", SYMBOL)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, CALL_OPTIONS, HANDS_ON, SYNC_TOO),
       EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.if", "Runs one of two bodies.", FORM("operands attributes signature regions"),
       IN(READ("condition", "i1"), PASSED_VALUES), OUT(GIVE("results", TFRT_TYPE_ANY)),
       TFRT_REGIONS(then_and_else), FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, HANDS_ON, SYNC_TOO),
       EFFECTS(OF_FUNCTIONS)),
    // The prefixes keep their order, in which kernels get functions.
    OP("tfrt.cond", "Calls one of two functions.",
       FORM("%condition @a_true_fn @b_false_fn ( operands ) attr-dict signature"),
       IN(READ("condition", "i1"), PASSED_VALUES), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("a_true_fn", SYMBOL), NEED("b_false_fn", SYMBOL)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, HANDS_ON, SYNC_TOO), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.case", "Calls the function with the index; the last one for an index that is none.",
       FORM("%branch_index [@branches] ( operands ) attr-dict signature"),
       IN(READ("branch_index", "i32"), PASSED_VALUES), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("branches", SYMBOL_ARRAY)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, HANDS_ON, SYNC_TOO), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.while",
       "Calls a function, which also yields the next condition, on its own results as long as the "
       "condition holds.",
       FORM("%condition @body_fn ( operands ) attr-dict parallel_iterations ( #parallel_iterations "
            ") signature"),
       IN(READ("condition", "i1"), PASSED_VALUES), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("body_fn", SYMBOL), NEED("parallel_iterations", I64)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, RESULTS_AS_OPERANDS, HANDS_ON, SYNC_TOO),
       EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.repeat.i32", "Runs the body so many times, each time on what it yielded before.",
       FORM("operands attributes types regions"), IN(READ("trip_count", "i32"), PASSED_VALUES),
       OUT(GIVE("results", TFRT_TYPE_ANY)), TFRT_REGIONS(loop_body),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, RESULTS_AS_OPERANDS, HANDS_ON, SYNC_TOO),
       EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.once",
       "Calls a function the first time; later the results are those of the first call.",
       FORM("@function ( operands ) attr-dict signature"), IN(PASSED_VALUES),
       OUT(GIVE("results", TFRT_TYPE_ANY)), SET(NEED("function", SYMBOL)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.parallel_for.i32",
       "Runs the body for each block of a range, in parallel, in which start and end are those of "
       "the block; the chain is there when all have ended.",
       FORM("%start to %end fixed %block_size ,operands attributes types regions"),
       IN(READ("start", "i32"), READ("end", "i32"), READ("block_size", "i32"), PASSED_VALUES),
       OUT(DONE), TFRT_REGIONS(range_body), FLAGS(VARIADIC_OPERANDS), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.parallel_call.i32",
       "Calls a function for each block of a range, in parallel, with the start and the end of the "
       "block before the operands; the chain is there when all have ended.",
       FORM("%start to %end fixed %block_size @callee ( operands ) attr-dict types"),
       IN(READ("start", "i32"), READ("end", "i32"), READ("block_size", "i32"), PASSED_VALUES),
       OUT(DONE), SET(NEED("callee", SYMBOL)), FLAGS(VARIADIC_OPERANDS), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt.return", "Ends a function or a region; its operands are the results.",
       FORM("operands attr-dict types"), IN(WAIT("operands", TFRT_TYPE_ANY)),
       FLAGS(VARIADIC_OPERANDS, TERMINATOR), COST(1)),
    OP("func.return", "The same, in the foreign code of compiled modules.",
       FORM("operands attr-dict types"), IN(WAIT("operands", TFRT_TYPE_ANY)),
       FLAGS(VARIADIC_OPERANDS, TERMINATOR), COST(1)),
};

const tfrt_kernel_table_t tfrt_control_flow_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
