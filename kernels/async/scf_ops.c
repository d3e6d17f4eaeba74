// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#define ANY_OPERANDS TFRT_KERNEL_VARIADIC_OPERANDS
#define ANY_RESULTS TFRT_KERNEL_VARIADIC_RESULTS

static const tfrt_result_descriptor_t results[] = {{"results", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t size[] = {{"size", "index"}};
static const tfrt_operand_descriptor_t operands[] = {
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t condition[] = {{"condition", "i1", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t condition_and_operands[] = {
    {"condition", "i1", TFRT_OPERAND_DEMANDED},
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t loop_operands[] = {
    {"lower", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"upper", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"step", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"carried", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t memory[] = {
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t memory_and_index[] = {
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"index", "index", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t memory_and_indices[] = {
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"indices", "index", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t value_memory_and_indices[] = {
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"memref", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"indices", "index", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t sizes[] = {{"sizes", "index", TFRT_OPERAND_DEMANDED}};

static const tfrt_region_descriptor_t then_and_else[] = {
    {.name = "then", .captures = true},
    {.name = "else", .optional = true, .captures = true},
};
static const tfrt_region_descriptor_t body[] = {{.name = "body", .captures = true}};
static const tfrt_region_descriptor_t before_and_after[] = {
    {.name = "before", .captures = true},
    {.name = "after", .captures = true},
};

static const tfrt_attribute_descriptor_t callee[] = {{"callee", TFRT_ATTRIBUTE_SYMBOL, NULL}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "func.call",
     .summary = "Calls a function, and is done when all of it is.",
     .assembly = "syntax call",
     TFRT_OPERANDS(operands),
     TFRT_RESULTS(results),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_CALL_OPTIONS | ANY_OPERANDS | ANY_RESULTS},
    {.name = "scf.yield",
     .summary = "Ends a region with its results.",
     .assembly = "syntax yield",
     TFRT_OPERANDS(operands),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | ANY_OPERANDS},
    {.name = "scf.condition",
     .summary = "Ends the first region of a loop: whether there is another turn.",
     .assembly = "syntax condition",
     TFRT_OPERANDS(condition_and_operands),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | ANY_OPERANDS},
    {.name = "scf.reduce",
     .summary = "Ends the region of a parallel loop.",
     .assembly = "syntax reduce",
     TFRT_OPERANDS(operands),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | ANY_OPERANDS},
    {.name = "scf.if",
     .summary = "Runs one of two regions.",
     .assembly = "syntax if",
     TFRT_OPERANDS(condition),
     TFRT_RESULTS(results),
     TFRT_REGIONS(then_and_else),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_RESULTS},
    {.name = "scf.for",
     .summary = "Runs a region for each number of a range.",
     .assembly = "syntax for",
     TFRT_OPERANDS(loop_operands),
     TFRT_RESULTS(results),
     TFRT_REGIONS(body),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "scf.while",
     .summary = "Runs two regions in turn as long as the first one says.",
     .assembly = "syntax while",
     TFRT_OPERANDS(operands),
     TFRT_RESULTS(results),
     TFRT_REGIONS(before_and_after),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "scf.parallel",
     .summary = "Runs a region for each point of a range, as tasks.",
     .assembly = "syntax parallel",
     TFRT_OPERANDS(operands),
     TFRT_RESULTS(results),
     TFRT_REGIONS(body),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "memref.alloc",
     .summary = "Memory.",
     .assembly = "syntax alloc",
     TFRT_OPERANDS(sizes),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "memref.alloca",
     .summary = "Memory until the function ends.",
     .assembly = "syntax alloc",
     TFRT_OPERANDS(sizes),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "memref.dealloc",
     .summary = "Gives memory back.",
     .assembly = "syntax await",
     TFRT_OPERANDS(memory),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "memref.load",
     .summary = "Reads an element.",
     .assembly = "syntax load",
     TFRT_OPERANDS(memory_and_indices),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "memref.store",
     .summary = "Writes an element.",
     .assembly = "syntax store",
     TFRT_OPERANDS(value_memory_and_indices),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS},
    {.name = "memref.atomic_rmw",
     .summary = "Changes an element in one step, and gives the one before.",
     .assembly = "syntax atomic",
     TFRT_OPERANDS(value_memory_and_indices),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS | ANY_RESULTS},
    {.name = "memref.dim",
     .summary = "A size.",
     .assembly = "syntax dim",
     TFRT_OPERANDS(memory_and_index),
     TFRT_RESULTS(size),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_PURE},
    {.name = "memref.cast",
     .summary = "The same memory by another type.",
     .assembly = "syntax cast",
     TFRT_OPERANDS(memory),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_PURE | ANY_RESULTS},
    {.name = "vector.print",
     .summary = "Prints a number or a text.",
     .assembly = "syntax print",
     TFRT_OPERANDS(operands),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_OPERANDS},
};

const tfrt_kernel_table_t tfrt_scf_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
