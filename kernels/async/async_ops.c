// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#define TOKEN "!async.token"
#define GROUP "!async.group"
#define CORO_ID "!async.coro.id"
#define CORO_HANDLE "!async.coro.handle"
#define CORO_STATE "!async.coro.state"
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
static const tfrt_result_descriptor_t coro_id[] = {{"id", CORO_ID}};
static const tfrt_result_descriptor_t coro_handle[] = {{"handle", CORO_HANDLE}};
static const tfrt_result_descriptor_t coro_state[] = {{"state", CORO_STATE}};
static const tfrt_result_descriptor_t created[] = {{"result", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t thread_count[] = {{"result", "index"}};
static const tfrt_operand_descriptor_t id[] = {{"id", CORO_ID, TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t handle[] = {{"handle", CORO_HANDLE, TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t state[] = {{"state", CORO_STATE, TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t id_and_handle[] = {
    {"id", CORO_ID, TFRT_OPERAND_PASSED},
    {"handle", CORO_HANDLE, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t operand_and_handle[] = {
    {"operand", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
    {"handle", CORO_HANDLE, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t counted[] = {
    {"operand", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t stored[] = {
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
    {"storage", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_attribute_descriptor_t count[] = {{"count", TFRT_ATTRIBUTE_I64, NULL}};
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
    // Reference counts.
    {.name = "async.runtime.add_ref",
     .summary = "Adds `count` references to a token, value or group.",
     .assembly = "syntax await",
     TFRT_OPERANDS(counted),
     TFRT_ATTRIBUTES(count),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.drop_ref",
     .summary = "Gives back `count` references to a token, value or group.",
     .assembly = "syntax await",
     TFRT_OPERANDS(counted),
     TFRT_ATTRIBUTES(count),
     .flags = TFRT_KERNEL_LANGUAGE},
    // Lowered tasks, as stock `mlir-opt --async-to-async-runtime` prints them.
    {.name = "async.runtime.create",
     .summary = "A token or value that is not there yet.",
     .assembly = "syntax create",
     TFRT_RESULTS(created),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.create_group",
     .summary = "A group that so many members will be added to.",
     .assembly = "syntax create_group",
     TFRT_OPERANDS(size),
     TFRT_RESULTS(group),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.add_to_group",
     .summary = "Adds a token or a value to a group; gives its number there.",
     .assembly = "syntax add_to_group",
     TFRT_OPERANDS(member_and_group),
     TFRT_RESULTS(rank),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.set_available",
     .summary = "Says that a token or value is there.",
     .assembly = "syntax await",
     TFRT_OPERANDS(counted),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.set_error",
     .summary = "Says that a token or value has failed.",
     .assembly = "syntax await",
     TFRT_OPERANDS(counted),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.resume",
     .summary = "Resumes a coroutine on another thread.",
     .assembly = "syntax coro",
     TFRT_OPERANDS(handle),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.await_and_resume",
     .summary = "Resumes a coroutine when a token, value or group is there or has failed.",
     .assembly = "syntax await_and_resume",
     TFRT_OPERANDS(operand_and_handle),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.load",
     .summary = "The payload of a value that is there.",
     .assembly = "syntax runtime_load",
     TFRT_OPERANDS(counted),
     TFRT_RESULTS(created),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.store",
     .summary = "Sets the payload of a value that is not there yet.",
     .assembly = "syntax runtime_store",
     TFRT_OPERANDS(stored),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.runtime.num_worker_threads",
     .summary = "The number of threads that run tasks.",
     .assembly = "syntax create",
     TFRT_RESULTS(thread_count),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.coro.id",
     .summary = "The identity of a coroutine.",
     .assembly = "syntax coro",
     TFRT_RESULTS(coro_id),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.coro.begin",
     .summary = "Begins a coroutine; gives its handle.",
     .assembly = "syntax coro",
     TFRT_OPERANDS(id),
     TFRT_RESULTS(coro_handle),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.coro.save",
     .summary = "Saves the state of a coroutine, which may be resumed from then on.",
     .assembly = "syntax coro",
     TFRT_OPERANDS(handle),
     TFRT_RESULTS(coro_state),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.coro.suspend",
     .summary = "Suspends a coroutine: goes back to the caller, and later on, or to its end.",
     .assembly = "syntax suspend",
     TFRT_OPERANDS(state),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR},
    {.name = "async.coro.free",
     .summary = "Gives back the memory of a coroutine.",
     .assembly = "syntax coro",
     TFRT_OPERANDS(id_and_handle),
     .flags = TFRT_KERNEL_LANGUAGE},
    {.name = "async.coro.end",
     .summary = "Ends a coroutine.",
     .assembly = "syntax coro",
     TFRT_OPERANDS(handle),
     .flags = TFRT_KERNEL_LANGUAGE},
};

const tfrt_kernel_table_t tfrt_async_language_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
