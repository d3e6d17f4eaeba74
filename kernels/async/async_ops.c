// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

#define TOKEN "!async.token"
#define GROUP "!async.group"
#define CORO_ID "!async.coro.id"
#define CORO_HANDLE "!async.coro.handle"
#define CORO_STATE "!async.coro.state"

static const tfrt_region_descriptor_t body[] = {{.name = "body", .captures = true}};
static const tfrt_region_descriptor_t function_body[] = {{.name = "body"}};

static const tfrt_async_descriptor_t execute = {.has_dependencies = true,
                                                .has_operands = true,
                                                .gives_token = true,
                                                .region_end = "async.yield"};

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("async.execute", "Runs its region as a task once its tokens and values are there.",
       FORM("syntax execute"), IN(PASS("operands", TFRT_TYPE_ANY)),
       OUT(GIVE("token", TOKEN), GIVE("values", TFRT_TYPE_ANY)), TFRT_REGIONS(body),
       FLAGS(LANGUAGE, CALL_OPTIONS, VARIADIC_OPERANDS, VARIADIC_RESULTS), .async = &execute),
    OP("async.yield", "Ends a region with its results.", FORM("syntax yield"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("async.await", "Goes on when a token or value is there; gives the value.",
       FORM("syntax await"), IN(WAIT("operand", TFRT_TYPE_ANY)),
       OUT(GIVE("results", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_RESULTS)),
    OP("async.func", "A function that may wait, and whose results are asynchronous.",
       FORM("syntax function"), TFRT_REGIONS(function_body), FLAGS(LANGUAGE)),
    OP("async.call", "Calls an asynchronous function and doesn't wait for it.", FORM("syntax call"),
       IN(PASS("operands", TFRT_TYPE_ANY)), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("callee", SYMBOL)),
       FLAGS(LANGUAGE, CALL_OPTIONS, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("async.return", "Ends an asynchronous function with its results.", FORM("syntax yield"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("async.create_group", "A group that so many members will be added to.",
       FORM("syntax create_group"), IN(READ("size", "index")), OUT(GIVE("group", GROUP)),
       FLAGS(LANGUAGE)),
    OP("async.add_to_group", "Adds a token or a value to a group; gives its number there.",
       FORM("syntax add_to_group"), IN(PASS("member", TFRT_TYPE_ANY), PASS("group", GROUP)),
       OUT(GIVE("rank", "index")), FLAGS(LANGUAGE)),
    OP("async.await_all", "Goes on when all members of a group are there.",
       FORM("syntax await_all"), IN(WAIT("group", GROUP)), FLAGS(LANGUAGE)),
    OP("async.runtime.await", "Goes on when a token, value or group is there or has failed.",
       FORM("syntax await"), IN(WAIT("operand", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.is_error", "Whether a token, value or group has failed.",
       FORM("syntax await"), IN(WAIT("operand", TFRT_TYPE_ANY)), OUT(GIVE("is_error", "i1")),
       FLAGS(LANGUAGE)),
    // Reference counts.
    OP("async.runtime.add_ref", "Adds `count` references to a token, value or group.",
       FORM("syntax await"), IN(PASS("operand", TFRT_TYPE_ANY)), SET(NEED("count", I64)),
       FLAGS(LANGUAGE)),
    OP("async.runtime.drop_ref", "Gives back `count` references to a token, value or group.",
       FORM("syntax await"), IN(PASS("operand", TFRT_TYPE_ANY)), SET(NEED("count", I64)),
       FLAGS(LANGUAGE)),
    // Lowered tasks, as stock `mlir-opt --async-to-async-runtime` prints them.
    OP("async.runtime.create", "A token or value that is not there yet.", FORM("syntax create"),
       OUT(GIVE("result", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.create_group", "A group that so many members will be added to.",
       FORM("syntax create_group"), IN(READ("size", "index")), OUT(GIVE("group", GROUP)),
       FLAGS(LANGUAGE)),
    OP("async.runtime.add_to_group", "Adds a token or a value to a group; gives its number there.",
       FORM("syntax add_to_group"), IN(PASS("member", TFRT_TYPE_ANY), PASS("group", GROUP)),
       OUT(GIVE("rank", "index")), FLAGS(LANGUAGE)),
    OP("async.runtime.set_available", "Says that a token or value is there.", FORM("syntax await"),
       IN(PASS("operand", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.set_error", "Says that a token or value has failed.", FORM("syntax await"),
       IN(PASS("operand", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.resume", "Resumes a coroutine on another thread.", FORM("syntax coro"),
       IN(PASS("handle", CORO_HANDLE)), FLAGS(LANGUAGE)),
    OP("async.runtime.await_and_resume",
       "Resumes a coroutine when a token, value or group is there or has failed.",
       FORM("syntax await_and_resume"),
       IN(PASS("operand", TFRT_TYPE_ANY), PASS("handle", CORO_HANDLE)), FLAGS(LANGUAGE)),
    OP("async.runtime.load", "The payload of a value that is there.", FORM("syntax runtime_load"),
       IN(PASS("operand", TFRT_TYPE_ANY)), OUT(GIVE("result", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.store", "Sets the payload of a value that is not there yet.",
       FORM("syntax runtime_store"),
       IN(PASS("value", TFRT_TYPE_ANY), PASS("storage", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("async.runtime.num_worker_threads", "The number of threads that run tasks.",
       FORM("syntax create"), OUT(GIVE("result", "index")), FLAGS(LANGUAGE)),
    OP("async.coro.id", "The identity of a coroutine.", FORM("syntax coro"),
       OUT(GIVE("id", CORO_ID)), FLAGS(LANGUAGE)),
    OP("async.coro.begin", "Begins a coroutine; gives its handle.", FORM("syntax coro"),
       IN(PASS("id", CORO_ID)), OUT(GIVE("handle", CORO_HANDLE)), FLAGS(LANGUAGE)),
    OP("async.coro.save", "Saves the state of a coroutine, which may be resumed from then on.",
       FORM("syntax coro"), IN(PASS("handle", CORO_HANDLE)), OUT(GIVE("state", CORO_STATE)),
       FLAGS(LANGUAGE)),
    OP("async.coro.suspend",
       "Suspends a coroutine: goes back to the caller, and later on, or to its end.",
       FORM("syntax suspend"), IN(PASS("state", CORO_STATE)), FLAGS(LANGUAGE, TERMINATOR)),
    OP("async.coro.free", "Gives back the memory of a coroutine.", FORM("syntax coro"),
       IN(PASS("id", CORO_ID), PASS("handle", CORO_HANDLE)), FLAGS(LANGUAGE)),
    OP("async.coro.end", "Ends a coroutine.", FORM("syntax coro"), IN(PASS("handle", CORO_HANDLE)),
       FLAGS(LANGUAGE)),
};

const tfrt_kernel_table_t tfrt_async_language_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
