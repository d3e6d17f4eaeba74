// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

#define HANDLER "!corert.ophandler"
#define HANDLE "!corert.tensorhandle"

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("corert.create_null_op_handler", "A handler that runs no op.", OUT(GIVE("handler", HANDLER)),
       EFFECTS(NONE), COST(10)),
    OP("corert.create_cpu_op_handler",
       "A handler for this host. Ops run by name from C (docs/eager.md); in a program a handler is "
       "only a name.",
       IN(READ("handler", HANDLER)), OUT(GIVE("handler", HANDLER)), EFFECTS(NONE), COST(10)),
    OP("corert.register_op_handler", "Keeps a handler under a name, for all programs of this host.",
       FORM("operands #op_handler_name attr-dict"), IN(READ("handler", HANDLER)), OUT(DONE),
       SET(NEED("op_handler_name", STRING)), EFFECTS(STATE), COST(10)),
    OP("corert.get_op_handler", "The handler that was registered under a name.",
       FORM("operands #op_handler_name attr-dict"), IN(AFTER), OUT(GIVE("handler", HANDLER)),
       SET(NEED("op_handler_name", STRING)), EFFECTS(STATE, IN_ANY_ORDER), COST(10)),
    OP("corert.const_dense_tensor", "A handle of the constant tensor `value`.",
       FORM("#value attr-dict"), OUT(GIVE("handle", HANDLE)), SET(NEED("value", DENSE)),
       FLAGS(PURE), COST(50)),
    OP("corert.const_string_tensor", "A handle of the tensor of the strings `value`.",
       FORM("attr-dict"), OUT(GIVE("handle", HANDLE)),
       SET(NEED("shape", I64_ARRAY), NEED("value", AGGREGATE)), FLAGS(PURE), COST(100)),
    OP("corert.ht_to_tensorhandle", "A handle of a tensor, once the chain is there.",
       IN(READ("input", TENSOR), AFTER), OUT(GIVE("handle", HANDLE)),
       EFFECTS(NONE, READS_NO_CONTENTS), .shares = "input", COST(10)),
    OP("corert.tensorhandle_to_ht", "The tensor behind a handle.", IN(READ("handle", HANDLE)),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "handle", COST(1)),
    OP("corert.tensorhandle_to_shape", "The shape of the tensor behind a handle.",
       IN(READ("handle", HANDLE)), OUT(GIVE("shape", SHAPE)), FLAGS(PURE, TRAILING_CHAIN),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("corert.print_tensorhandle",
       "Prints the tensor behind a handle as `tfrt_dht.print_tensor` does.",
       IN(READ("handle", HANDLE)), OUT(DONE), FLAGS(TRAILING_CHAIN), EFFECTS(OUTPUT), COST(100)),
};

const tfrt_kernel_table_t tfrt_core_runtime_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
