// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

static const tfrt_region_descriptor_t then_and_else[] = {
    {.name = "then", .captures = true},
    {.name = "else", .optional = true, .captures = true},
};
static const tfrt_region_descriptor_t body[] = {{.name = "body", .captures = true}};
static const tfrt_region_descriptor_t plain_body[] = {{.name = "body"}};
static const tfrt_region_descriptor_t before_and_after[] = {
    {.name = "before", .captures = true},
    {.name = "after", .captures = true},
};

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("func.call", "Calls a function, and is done when all of it is.", FORM("syntax call"),
       IN(PASS("operands", TFRT_TYPE_ANY)), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("callee", SYMBOL)),
       FLAGS(LANGUAGE, CALL_OPTIONS, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("scf.yield", "Ends a region with its results.", FORM("syntax yield"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("scf.condition", "Ends the first region of a loop: whether there is another turn.",
       FORM("syntax condition"), IN(READ("condition", "i1"), PASS("operands", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("scf.reduce", "Ends the region of a parallel loop.", FORM("syntax reduce"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("scf.if", "Runs one of two regions.", FORM("syntax if"), IN(READ("condition", "i1")),
       OUT(GIVE("results", TFRT_TYPE_ANY)), TFRT_REGIONS(then_and_else),
       FLAGS(LANGUAGE, VARIADIC_RESULTS)),
    OP("scf.for", "Runs a region for each number of a range.", FORM("syntax for"),
       IN(READ("lower", TFRT_TYPE_ANY), READ("upper", TFRT_TYPE_ANY), READ("step", TFRT_TYPE_ANY),
          PASS("carried", TFRT_TYPE_ANY)),
       OUT(GIVE("results", TFRT_TYPE_ANY)), TFRT_REGIONS(body),
       FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("scf.while", "Runs two regions in turn as long as the first one says.", FORM("syntax while"),
       IN(PASS("operands", TFRT_TYPE_ANY)), OUT(GIVE("results", TFRT_TYPE_ANY)),
       TFRT_REGIONS(before_and_after), FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("scf.parallel", "Runs a region for each point of a range, as tasks.",
       FORM("syntax parallel"), IN(PASS("operands", TFRT_TYPE_ANY)),
       OUT(GIVE("results", TFRT_TYPE_ANY)), TFRT_REGIONS(body),
       FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("memref.alloc", "Memory.", FORM("syntax alloc"), IN(READ("sizes", "index")),
       OUT(GIVE("results", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("memref.alloca", "Memory until the function ends.", FORM("syntax alloc"),
       IN(READ("sizes", "index")), OUT(GIVE("results", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("memref.dealloc", "Gives memory back.", FORM("syntax await"),
       IN(READ("memref", TFRT_TYPE_ANY)), FLAGS(LANGUAGE)),
    OP("memref.load", "Reads an element.", FORM("syntax load"),
       IN(READ("memref", TFRT_TYPE_ANY), READ("indices", "index")),
       OUT(GIVE("results", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("memref.store", "Writes an element.", FORM("syntax store"),
       IN(READ("value", TFRT_TYPE_ANY), READ("memref", TFRT_TYPE_ANY), READ("indices", "index")),
       FLAGS(LANGUAGE, VARIADIC_OPERANDS)),
    OP("memref.atomic_rmw", "Changes an element in one step, and gives the one before.",
       FORM("syntax atomic"),
       IN(READ("value", TFRT_TYPE_ANY), READ("memref", TFRT_TYPE_ANY), READ("indices", "index")),
       OUT(GIVE("results", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS)),
    OP("memref.dim", "A size.", FORM("syntax dim"),
       IN(READ("memref", TFRT_TYPE_ANY), READ("index", "index")), OUT(GIVE("size", "index")),
       FLAGS(LANGUAGE, PURE)),
    OP("memref.cast", "The same memory by another type.", FORM("syntax cast"),
       IN(READ("memref", TFRT_TYPE_ANY)), OUT(GIVE("results", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, PURE, VARIADIC_RESULTS)),
    OP("linalg.fill", "Sets each element of memory to a value.", FORM("syntax fill"),
       IN(READ("value", TFRT_TYPE_ANY), READ("memref", TFRT_TYPE_ANY)), TFRT_REGIONS(plain_body),
       FLAGS(LANGUAGE)),
    OP("linalg.yield", "Ends a region that says what an element becomes.", FORM("syntax yield"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS)),
    OP("vector.print", "Prints a number or a text.", FORM("syntax print"),
       IN(PASS("operands", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_OPERANDS)),
};

const tfrt_kernel_table_t tfrt_scf_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
