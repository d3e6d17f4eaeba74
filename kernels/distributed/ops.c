// SPDX-License-Identifier: Apache-2.0

#include "kernels/distributed/ops.h"

#define GROUP "!tfrt_dist.group"
#define CHAIN "!tfrt.chain"
#define HOST "!tfrt_dist.host"
#define LIST "!tfrt_dist.list"
#define TENSOR "!tfrt_tensor.tensor"
// Operands of collectives: a tensor in the memory of the host or of a device.
#define TENSOR_ANYWHERE TENSOR TFRT_TYPE_OR "!tfrt_gpu.tensor"
// Types that can be added up.
#define SUMMANDS "i8|i16|i32|i64|ui8|ui16|ui32|ui64|f32|f64" TFRT_TYPE_OR TENSOR

// --- Operands and results -----------------------------------------------------

static const tfrt_operand_descriptor_t rank[] = {{"rank", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t host_and_passed[] = {
    {"host", HOST, TFRT_OPERAND_DEMANDED},
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t host_and_value[] = {
    {"host", HOST, TFRT_OPERAND_DEMANDED},
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t passed[] = {
    {"operands", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t demanded[] = {
    {"values", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t list[] = {{"list", LIST, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t list_and_index[] = {
    {"list", LIST, TFRT_OPERAND_DEMANDED},
    {"index", "i32", TFRT_OPERAND_DEMANDED},
};

static const tfrt_operand_descriptor_t sent[] = {
    {"host", HOST, TFRT_OPERAND_DEMANDED},
    {"key", "!tfrt.string", TFRT_OPERAND_DEMANDED},
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t received[] = {
    {"host", HOST, TFRT_OPERAND_DEMANDED},
    {"key", "!tfrt.string", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};

static const tfrt_result_descriptor_t key_result[] = {{"key", "!tfrt.string"}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t value_and_chain[] = {
    {"value", TFRT_TYPE_ANY},
    {"chain", CHAIN},
};
static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};
static const tfrt_result_descriptor_t host_result[] = {{"host", HOST}};
static const tfrt_result_descriptor_t list_result[] = {{"list", LIST}};
static const tfrt_result_descriptor_t tensor_result[] = {{"result", TENSOR}};
static const tfrt_result_descriptor_t any_result[] = {{"result", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t sum_result[] = {{"result", SUMMANDS}};
static const tfrt_result_descriptor_t any_results[] = {{"results", TFRT_TYPE_ANY}};

static const tfrt_attribute_descriptor_t callee[] = {
    {"callee", TFRT_ATTRIBUTE_SYMBOL, NULL},
};

static const tfrt_attribute_descriptor_t name[] = {{"name", TFRT_ATTRIBUTE_STRING, NULL}};

static const tfrt_operand_descriptor_t group_and_chain[] = {
    {"group", GROUP, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t group_tensor_chain[] = {
    {"group", GROUP, TFRT_OPERAND_DEMANDED},
    {"tensor", TENSOR_ANYWHERE, TFRT_OPERAND_PASSED},
    {"chain", CHAIN, TFRT_OPERAND_PASSED},
};
static const tfrt_result_descriptor_t group_result[] = {{"group", GROUP}};
static const tfrt_result_descriptor_t tensor_and_chain[] = {
    {"result", "%tensor"},
    {"chain", CHAIN},
};

static const tfrt_attribute_descriptor_t group_name[] = {
    {"name", TFRT_ATTRIBUTE_STRING, "\"\""},
};
static const tfrt_attribute_descriptor_t group_ranks[] = {
    {"name", TFRT_ATTRIBUTE_STRING, "\"\""},
    {"ranks", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
};
static const tfrt_attribute_descriptor_t reduction[] = {
    {"reduction", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t reduction_and_root[] = {
    {"reduction", TFRT_ATTRIBUTE_STRING, NULL},
    {"root", TFRT_ATTRIBUTE_I32, NULL},
};
static const tfrt_attribute_descriptor_t root[] = {{"root", TFRT_ATTRIBUTE_I32, NULL}};

// --- The table ------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_dist.rank",
     .summary = "The number of the host that this runs on, from 0.",
     .assembly = "attr-dict",
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.num_hosts",
     .summary = "How many hosts the program runs on; 1 without a cluster, or N with "
                "`tfrt run --in-process=N`.",
     .assembly = "attr-dict",
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.host",
     .summary = "The host of that rank; INVALID_ARGUMENT for a rank that there isn't.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(rank),
     TFRT_RESULTS(host_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.call",
     .summary = "Calls a function on a host that is known only at run time. Starts as soon as the "
                "host is known, whatever the state of the other operands.",
     .assembly = "%host @callee ( operands ) attr-dict whole-signature",
     TFRT_OPERANDS(host_and_passed),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_CALL_OPTIONS | TFRT_KERNEL_CALLS_HOSTS,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_dist.call_all",
     .summary = "Calls a function, which gives one result, once on each host with the same "
                "operands. The list is there at once and has the results in the order of ranks; "
                "where it is handed on to other hosts, its elements stay where they are until "
                "they are used.",
     .assembly = "@callee ( operands ) attr-dict whole-signature",
     TFRT_OPERANDS(passed),
     TFRT_RESULTS(list_result),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_CALL_OPTIONS | TFRT_KERNEL_CALLS_HOSTS,
     .effects = TFRT_EFFECT_OF_FUNCTIONS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_dist.list.size",
     .summary = "How many elements the list has.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(list),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_PURE,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_dist.list.get",
     .summary = "One element of the list, in any state; OUT_OF_RANGE behind the last one. A use as "
                "another type is an error.",
     .assembly = "operands attr-dict result-types",
     TFRT_OPERANDS(list_and_index),
     TFRT_RESULTS(any_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "list",
     .cost = 1},
    {.name = "tfrt_dist.list.sum",
     .summary = "The sum of all elements, in the order of ranks: numbers of one type, or tensors "
                "of one dtype and shape, element by element. Integers wrap around. An element that "
                "is an error is the result; of several the first.",
     .assembly = "operands attr-dict result-types",
     TFRT_OPERANDS(list),
     TFRT_RESULTS(sum_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_dist.list.concat",
     .summary = "The elements, tensors that differ at most in the length of their axis 0, behind "
                "one another along that axis, in the order of ranks.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(list),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_dist.fetch",
     .summary = "The same values, with their payloads on this host; an error for a type whose "
                "values can't leave their host. The elements of a list stay where they are.",
     .assembly = "operands attr-dict types",
     TFRT_OPERANDS(demanded),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .effects = TFRT_EFFECT_NONE,
     .shares = "values",
     .cost = 1},
    {.name = "tfrt_dist.copy_to",
     .summary = "The same values, with their payloads on that host: who uses them there need not "
                "fetch them. Starts as soon as the host is known. Small values may stay here, and "
                "the elements of a list do.",
     .assembly = "operands attr-dict types",
     TFRT_OPERANDS(host_and_passed),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .effects = TFRT_EFFECT_NONE,
     .shares = "operands",
     .cost = 1},
    {.name = "tfrt_dist.prefetch",
     .summary = "Sends the payload of a value ahead to that host: calls there that this function "
                "makes afterwards, and gives the value, don't fetch it; but calls with a chain "
                "fetch a tensor anew, which may have been written to since. The chain is there "
                "when the payload is, or is the error that kept it; the value stays what it is.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(host_and_value),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1},
    {.name = "tfrt_dist.key",
     .summary = "The string `name`, under which values are sent and received.",
     .assembly = "#name attr-dict",
     TFRT_RESULTS(key_result),
     TFRT_ATTRIBUTES(name),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.send",
     .summary = "Gives that host a value under a key. The chain is there when the value waits "
                "there, or was received; of a tensor, when that host has its elements, so that "
                "it may be written to. Waits for no receive.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(sent),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.recv",
     .summary = "The value that that host sends under the key in the same run of the program, "
                "whoever of both comes first; of several in their order. An error when the host "
                "is lost, the deadline passes or the run is cancelled. The chain is there when "
                "the value is.",
     .assembly = "operands attr-dict result-types",
     TFRT_OPERANDS(received),
     TFRT_RESULTS(value_and_chain),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.group",
     .summary = "The group of these hosts, in this order; INVALID_ARGUMENT for none, one that "
                "there isn't, or one twice. A `name` keeps its collectives apart from those of "
                "another group of the same hosts.",
     .assembly = "#ranks attr-dict",
     TFRT_RESULTS(group_result),
     TFRT_ATTRIBUTES(group_ranks),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.world",
     .summary = "The group of all hosts in the order of ranks.",
     .assembly = "attr-dict",
     TFRT_RESULTS(group_result),
     TFRT_ATTRIBUTES(group_name),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dist.barrier",
     .summary = "The chain is there when the chains of all members are. As for every collective, "
                "each member runs the op, and the n-th that a host begins with a group belongs "
                "to the n-th of the other members; an error of one member is everybody's.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.all_reduce",
     .summary = "The members' tensors, of one dtype and shape, combined element by element: "
                "`sum`, `prod`, `min`, `max` or `mean`. Integers wrap around, and their mean is "
                "rounded towards zero. The same bits on every member. As for every collective, all "
                "tensors are in the memory of their hosts, or all in that of devices "
                "(`!tfrt_gpu.tensor`); the result is where the operand is.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     TFRT_ATTRIBUTES(reduction),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.reduce",
     .summary = "The same at the host `root`; the other members get their own tensor back.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     TFRT_ATTRIBUTES(reduction_and_root),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.reduce_scatter",
     .summary = "The same, but of the rows (axis 0) of the result each member gets its part, in "
                "the order of the group; of r rows the first r mod n members get one more.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     TFRT_ATTRIBUTES(reduction),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.all_gather",
     .summary = "The members' tensors, which differ at most in the length of axis 0, behind one "
                "another along that axis, in the order of the group.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.broadcast",
     .summary = "The tensor of the host `root`, on each member. What the others have for an "
                "operand doesn't matter.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     TFRT_ATTRIBUTES(root),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
    {.name = "tfrt_dist.all_to_all",
     .summary = "Of the rows (axis 0) of each member's tensor every member gets its part, as in "
                "reduce_scatter; the parts stand behind one another in the order of the group.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(group_tensor_chain),
     TFRT_RESULTS(tensor_and_chain),
     .effects = TFRT_EFFECT_MESSAGES,
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_distributed_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
