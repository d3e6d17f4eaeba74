// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#define TOKEN "!async.token"
#define GROUP "!async.group"
#define ANY_OPERANDS TFRT_KERNEL_VARIADIC_OPERANDS
#define ANY_RESULTS TFRT_KERNEL_VARIADIC_RESULTS

static const tfrt_result_descriptor_t results[] = {{"results", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t token_and_values[] = {
    {"token", TOKEN},
    {"values", TFRT_TYPE_ANY},
};
static const tfrt_result_descriptor_t group[] = {{"group", GROUP}};
static const tfrt_result_descriptor_t rank[] = {{"rank", "index"}};
static const tfrt_result_descriptor_t truth[] = {{"is_error", "i1"}};
static const tfrt_operand_descriptor_t operands[] = {
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t awaited[] = {
    {"operand", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t size[] = {{"size", "index", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t member_and_group[] = {
    {"member", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
    {"group", GROUP, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t awaited_group[] = {{"group", GROUP, TFRT_OPERAND_AWAITED}};
static const tfrt_region_descriptor_t body[] = {{.name = "body", .captures = true}};
static const tfrt_region_descriptor_t function_body[] = {{.name = "body"}};
static const tfrt_attribute_descriptor_t callee[] = {{"callee", TFRT_ATTRIBUTE_SYMBOL, NULL}};

static const tfrt_async_descriptor_t execute = {.has_dependencies = true,
                                                .has_operands = true,
                                                .gives_token = true,
                                                .region_end = "async.yield"};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "async.execute",
     .summary = "Runs its region as a task once its tokens and values are there.",
     .assembly = "syntax execute",
     TFRT_OPERANDS(operands),
     TFRT_RESULTS(token_and_values),
     TFRT_REGIONS(body),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_CALL_OPTIONS | ANY_OPERANDS | ANY_RESULTS,
     .async = &execute},
    {.name = "async.yield",
     .summary = "Ends a region with its results.",
     .assembly = "syntax yield",
     TFRT_OPERANDS(operands),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | ANY_OPERANDS},
    {.name = "async.await",
     .summary = "Goes on when a token or value is there; gives the value.",
     .assembly = "syntax await",
     TFRT_OPERANDS(awaited),
     TFRT_RESULTS(results),
     .flags = TFRT_KERNEL_LANGUAGE | ANY_RESULTS},
    {.name = "async.func",
     .summary = "A function that may wait, and whose results are asynchronous.",
     .assembly = "syntax function",
     TFRT_REGIONS(function_body),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.call",
     .summary = "Calls an asynchronous function and doesn't wait for it.",
     .assembly = "syntax call",
     TFRT_OPERANDS(operands),
     TFRT_RESULTS(results),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_CALL_OPTIONS | ANY_OPERANDS | ANY_RESULTS},
    {.name = "async.return",
     .summary = "Ends an asynchronous function with its results.",
     .assembly = "syntax yield",
     TFRT_OPERANDS(operands),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | ANY_OPERANDS},
    {.name = "async.create_group",
     .summary = "A group that so many members will be added to.",
     .assembly = "syntax create_group",
     TFRT_OPERANDS(size),
     TFRT_RESULTS(group),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.add_to_group",
     .summary = "Adds a token or a value to a group; gives its number there.",
     .assembly = "syntax add_to_group",
     TFRT_OPERANDS(member_and_group),
     TFRT_RESULTS(rank),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.await_all",
     .summary = "Goes on when all members of a group are there.",
     .assembly = "syntax await_all",
     TFRT_OPERANDS(awaited_group),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.await",
     .summary = "Goes on when a token, value or group is there or has failed.",
     .assembly = "syntax await",
     TFRT_OPERANDS(awaited),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.is_error",
     .summary = "Whether a token, value or group has failed.",
     .assembly = "syntax await",
     TFRT_OPERANDS(awaited),
     TFRT_RESULTS(truth),
     .flags = TFRT_KERNEL_LANGUAGE},
};

const tfrt_kernel_table_t tfrt_async_language_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
