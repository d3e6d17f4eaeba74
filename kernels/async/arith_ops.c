// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#define PURE (TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_PURE)

static const tfrt_result_descriptor_t any[] = {{"result", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t truth[] = {{"result", "i1"}};
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
    {"true_value", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"false_value", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};

// An op on operands and a result, in the form |syntax|.
#define OP(op, text, syntax, operands_, result_)                                         \
  {                                                                                      \
    .name = op, .summary = text, .assembly = "syntax " syntax, TFRT_OPERANDS(operands_), \
    TFRT_RESULTS(result_), .flags = PURE, .cost = 1                                      \
  }

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "arith.constant",
     .summary = "A number.",
     .assembly = "syntax constant",
     TFRT_RESULTS(any),
     .flags = PURE,
     .cost = 1},
    OP("arith.addi", "Integers.", "same overflow", two, any),
    OP("arith.subi", "Integers.", "same overflow", two, any),
    OP("arith.muli", "Integers.", "same overflow", two, any),
    OP("arith.divsi", "Integers.", "same", two, any),
    OP("arith.divui", "Integers.", "same", two, any),
    OP("arith.remsi", "Integers.", "same", two, any),
    OP("arith.remui", "Integers.", "same", two, any),
    OP("arith.ceildivsi", "Integers.", "same", two, any),
    OP("arith.floordivsi", "Integers.", "same", two, any),
    OP("arith.ceildivui", "Integers.", "same", two, any),
    OP("arith.andi", "Integers.", "same", two, any),
    OP("arith.ori", "Integers.", "same", two, any),
    OP("arith.xori", "Integers.", "same", two, any),
    OP("arith.shli", "Integers.", "same overflow", two, any),
    OP("arith.shrsi", "Integers.", "same", two, any),
    OP("arith.shrui", "Integers.", "same", two, any),
    OP("arith.maxsi", "Integers.", "same", two, any),
    OP("arith.minsi", "Integers.", "same", two, any),
    OP("arith.maxui", "Integers.", "same", two, any),
    OP("arith.minui", "Integers.", "same", two, any),
    OP("arith.addf", "Floats.", "same fastmath", two, any),
    OP("arith.subf", "Floats.", "same fastmath", two, any),
    OP("arith.mulf", "Floats.", "same fastmath", two, any),
    OP("arith.divf", "Floats.", "same fastmath", two, any),
    OP("arith.remf", "Floats.", "same fastmath", two, any),
    OP("arith.maximumf", "Floats.", "same fastmath", two, any),
    OP("arith.minimumf", "Floats.", "same fastmath", two, any),
    OP("arith.maxnumf", "Floats.", "same fastmath", two, any),
    OP("arith.minnumf", "Floats.", "same fastmath", two, any),
    OP("arith.negf", "A float.", "same fastmath", one, any),
    OP("arith.cmpi", "Compares integers.", "compare", two, truth),
    OP("arith.cmpf", "Compares floats.", "compare fastmath", two, truth),
    OP("arith.select", "One of two values.", "select", choice, any),
    OP("arith.extsi", "Another type.", "cast", one, any),
    OP("arith.extui", "Another type.", "cast", one, any),
    OP("arith.trunci", "Another type.", "cast overflow", one, any),
    OP("arith.sitofp", "Another type.", "cast", one, any),
    OP("arith.uitofp", "Another type.", "cast", one, any),
    OP("arith.fptosi", "Another type.", "cast", one, any),
    OP("arith.fptoui", "Another type.", "cast", one, any),
    OP("arith.extf", "Another type.", "cast optional-fastmath", one, any),
    OP("arith.truncf", "Another type.", "cast optional-fastmath", one, any),
    OP("arith.index_cast", "Another type.", "cast", one, any),
    OP("arith.index_castui", "Another type.", "cast", one, any),
    OP("arith.bitcast", "Another type.", "cast", one, any),
    OP("math.sqrt", "A float.", "same fastmath", one, any),
    OP("math.rsqrt", "A float.", "same fastmath", one, any),
    OP("math.exp", "A float.", "same fastmath", one, any),
    OP("math.exp2", "A float.", "same fastmath", one, any),
    OP("math.expm1", "A float.", "same fastmath", one, any),
    OP("math.log", "A float.", "same fastmath", one, any),
    OP("math.log2", "A float.", "same fastmath", one, any),
    OP("math.log10", "A float.", "same fastmath", one, any),
    OP("math.log1p", "A float.", "same fastmath", one, any),
    OP("math.sin", "A float.", "same fastmath", one, any),
    OP("math.cos", "A float.", "same fastmath", one, any),
    OP("math.tan", "A float.", "same fastmath", one, any),
    OP("math.tanh", "A float.", "same fastmath", one, any),
    OP("math.sinh", "A float.", "same fastmath", one, any),
    OP("math.cosh", "A float.", "same fastmath", one, any),
    OP("math.atan", "A float.", "same fastmath", one, any),
    OP("math.absf", "A float.", "same fastmath", one, any),
    OP("math.floor", "A float.", "same fastmath", one, any),
    OP("math.ceil", "A float.", "same fastmath", one, any),
    OP("math.erf", "A float.", "same fastmath", one, any),
    OP("math.powf", "Two floats.", "same fastmath", two, any),
    OP("math.atan2", "Two floats.", "same fastmath", two, any),
    OP("math.copysign", "Two floats.", "same fastmath", two, any),
    OP("math.fma", "A product and a sum.", "same fastmath", three, any),
    OP("math.absi", "An integer.", "same", one, any),
};

const tfrt_kernel_table_t tfrt_arith_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
