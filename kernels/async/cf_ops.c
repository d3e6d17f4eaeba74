// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

static const tfrt_operand_descriptor_t handed_on[] = {
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t condition_and_handed_on[] = {
    {"condition", "i1", TFRT_OPERAND_DEMANDED},
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t flag_and_handed_on[] = {
    {"flag", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t asserted[] = {{"condition", "i1", TFRT_OPERAND_DEMANDED}};
static const tfrt_attribute_descriptor_t message[] = {{"msg", TFRT_ATTRIBUTE_STRING, NULL}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "cf.br",
     .summary = "Goes on with a block.",
     .assembly = "syntax br",
     TFRT_OPERANDS(handed_on),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1},
    {.name = "cf.cond_br",
     .summary = "Goes on with one of two blocks.",
     .assembly = "syntax cond_br",
     TFRT_OPERANDS(condition_and_handed_on),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1},
    {.name = "cf.switch",
     .summary = "Goes on with the block of a number, or with the default one.",
     .assembly = "syntax switch",
     TFRT_OPERANDS(flag_and_handed_on),
     .flags = TFRT_KERNEL_LANGUAGE | TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1},
    {.name = "cf.assert",
     .summary = "Fails with a message unless the condition holds.",
     .assembly = "syntax assert",
     TFRT_OPERANDS(asserted),
     TFRT_ATTRIBUTES(message),
     .flags = TFRT_KERNEL_LANGUAGE,
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_cf_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
