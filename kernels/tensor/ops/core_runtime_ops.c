// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

#define HANDLER "!corert.ophandler"
#define HANDLE "!corert.tensorhandle"

static const tfrt_operand_descriptor_t one_handler[] = {
    {"handler", HANDLER, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_handle[] = {{"handle", HANDLE, TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t handler_result[] = {{"handler", HANDLER}};
static const tfrt_result_descriptor_t handle_result[] = {{"handle", HANDLE}};
static const tfrt_attribute_descriptor_t handler_name[] = {
    {"op_handler_name", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t string_value_and_shape[] = {
    {"shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"value", TFRT_ATTRIBUTE_AGGREGATE, NULL},
};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "corert.create_null_op_handler",
     .summary = "A handler that runs no op.",
     TFRT_RESULTS(handler_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "corert.create_cpu_op_handler",
     .summary = "A handler for this host. Ops run by name from C (docs/eager.md); in a program a "
                "handler is only a name.",
     TFRT_OPERANDS(one_handler),
     TFRT_RESULTS(handler_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "corert.register_op_handler",
     .summary = "Keeps a handler under a name, for all programs of this host.",
     .assembly = "operands #op_handler_name attr-dict",
     TFRT_OPERANDS(one_handler),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(handler_name),
     .effects = TFRT_EFFECT_STATE,
     .cost = 10},
    {.name = "corert.get_op_handler",
     .summary = "The handler that was registered under a name.",
     .assembly = "operands #op_handler_name attr-dict",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(handler_result),
     TFRT_ATTRIBUTES(handler_name),
     .effects = TFRT_EFFECT_STATE,
     .cost = 10},
    {.name = "corert.const_dense_tensor",
     .summary = "A handle of the constant tensor `value`.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(handle_result),
     TFRT_ATTRIBUTES(dense_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 50},
    {.name = "corert.const_string_tensor",
     .summary = "A handle of the tensor of the strings `value`.",
     .assembly = "attr-dict",
     TFRT_RESULTS(handle_result),
     TFRT_ATTRIBUTES(string_value_and_shape),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},
    {.name = "corert.ht_to_tensorhandle",
     .summary = "A handle of a tensor, once the chain is there.",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(handle_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "input",
     .cost = 10},
    {.name = "corert.tensorhandle_to_ht",
     .summary = "The tensor behind a handle.",
     TFRT_OPERANDS(one_handle),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "handle",
     .cost = 1},
    {.name = "corert.tensorhandle_to_shape",
     .summary = "The shape of the tensor behind a handle.",
     TFRT_OPERANDS(one_handle),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "corert.print_tensorhandle",
     .summary = "Prints the tensor behind a handle as `tfrt_dht.print_tensor` does.",
     TFRT_OPERANDS(one_handle),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 100},
};

const tfrt_kernel_table_t tfrt_core_runtime_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
