// SPDX-License-Identifier: Apache-2.0
//
// The op table: what the text may say of each kernel, and what the executor waits for.
#include "stats_ops.h"

// Operands: name, type, and what the kernel does with it, which is what it waits for.
static const tfrt_operand_descriptor_t one_number[] = {{"number", "f64", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_summary[] = {
    {"summary", "!stats.summary", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t summary_and_number[] = {
    {"summary", "!stats.summary", TFRT_OPERAND_CONSUMED},  // may be reused if nobody else has it
    {"number", "f64", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t summaries[] = {
    {"summaries", "!stats.summary", TFRT_OPERAND_DEMANDED}};  // any number of them: VARIADIC
static const tfrt_operand_descriptor_t value_and_fallback[] = {
    {"value", "!stats.summary", TFRT_OPERAND_PASSED},  // not waited for
    {"fallback", "!stats.summary", TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t chain_operand[] = {
    {"chain", "!tfrt.chain", TFRT_OPERAND_AWAITED}};

static const tfrt_result_descriptor_t number_result[] = {{"result", "f64"}};
static const tfrt_result_descriptor_t summary_result[] = {{"result", "!stats.summary"}};

// Attributes, in the order of their names, in which kernels get them.
static const tfrt_attribute_descriptor_t path_attribute[] = {{"path", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t factor_attribute[] = {
    {"factor", TFRT_ATTRIBUTE_F64, NULL}};

const tfrt_kernel_descriptor_t stats_ops[STATS_OP_COUNT] = {
    {.name = "stats.empty",
     .summary = "The summary of no numbers.",
     .assembly = "attr-dict",
     TFRT_RESULTS(summary_result),
     .flags = TFRT_KERNEL_PURE},
    {.name = "stats.add",
     .summary = "A summary that has seen one number more.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(summary_and_number),
     TFRT_RESULTS(summary_result),
     .flags = TFRT_KERNEL_PURE},
    {.name = "stats.mean",
     .summary = "The mean of the numbers; an error if there are none.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_summary),
     TFRT_RESULTS(number_result),
     .flags = TFRT_KERNEL_PURE},
    {.name = "stats.merge",
     .summary = "The summary of all that the summaries have seen.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(summaries),
     TFRT_RESULTS(summary_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_VARIADIC_OPERANDS},
    {.name = "stats.or_else",
     .summary = "`value`, or, if that is an error, `fallback`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(value_and_fallback),
     TFRT_RESULTS(summary_result),
     .flags = TFRT_KERNEL_PURE},
    {.name = "stats.read",
     .summary = "The summary of the numbers in the text file `path`, read while others run.",
     .assembly = "#path , %chain attr-dict",
     TFRT_OPERANDS(chain_operand),
     TFRT_RESULTS(summary_result),
     TFRT_ATTRIBUTES(path_attribute),
     .cost = 1000},
    {.name = "stats.scale",
     .summary = "`number` times `factor`.",
     .assembly = "operands by #factor attr-dict",
     TFRT_OPERANDS(one_number),
     TFRT_RESULTS(number_result),
     TFRT_ATTRIBUTES(factor_attribute),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_TOO},
};
