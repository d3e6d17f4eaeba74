// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("cf.br", "Goes on with a block.", FORM("syntax br"), IN(PASS("operands", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS), COST(1)),
    OP("cf.cond_br", "Goes on with one of two blocks.", FORM("syntax cond_br"),
       IN(READ("condition", "i1"), PASS("operands", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS), COST(1)),
    OP("cf.switch", "Goes on with the block of a number, or with the default one.",
       FORM("syntax switch"), IN(READ("flag", TFRT_TYPE_ANY), PASS("operands", TFRT_TYPE_ANY)),
       FLAGS(LANGUAGE, TERMINATOR, VARIADIC_OPERANDS), COST(1)),
    OP("cf.assert", "Fails with a message unless the condition holds.", FORM("syntax assert"),
       IN(READ("condition", "i1")), SET(NEED("msg", STRING)), FLAGS(LANGUAGE), COST(1)),
};

const tfrt_kernel_table_t tfrt_cf_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
