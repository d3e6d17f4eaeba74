// SPDX-License-Identifier: Apache-2.0

#include "kernels/distributed/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

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

static const tfrt_operand_descriptor_t group_tensor_chain[] = {
    READ("group", GROUP), PASS("tensor", TENSOR_ANYWHERE), PASS("chain", CHAIN)};

// --- The table ------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("tfrt_dist.rank", "The number of the host that this runs on, from 0.", FORM("attr-dict"),
       OUT(GIVE("result", "i32")), FLAGS(PURE), COST(1)),
    OP("tfrt_dist.num_hosts",
       "How many hosts the program runs on; 1 without a cluster, or N with `tfrt run "
       "--in-process=N`.",
       FORM("attr-dict"), OUT(GIVE("result", "i32")), FLAGS(PURE), COST(1)),
    OP("tfrt_dist.host", "The host of that rank; INVALID_ARGUMENT for a rank that there isn't.",
       FORM("operands attr-dict"), IN(READ("rank", "i32")), OUT(GIVE("host", HOST)), FLAGS(PURE),
       COST(1)),
    OP("tfrt_dist.call",
       "Calls a function on a host that is known only at run time. Starts as soon as the host is "
       "known, whatever the state of the other operands.",
       FORM("%host @callee ( operands ) attr-dict whole-signature"),
       IN(READ("host", HOST), PASS("operands", TFRT_TYPE_ANY)), OUT(GIVE("results", TFRT_TYPE_ANY)),
       SET(NEED("callee", SYMBOL)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, CALL_OPTIONS, CALLS_HOSTS),
       EFFECTS(OF_FUNCTIONS)),
    OP("tfrt_dist.call_all",
       "Calls a function, which gives one result, once on each host with the same operands. The "
       "list is there at once and has the results in the order of ranks; where it is handed on to "
       "other hosts, its elements stay where they are until they are used.",
       FORM("@callee ( operands ) attr-dict whole-signature"), IN(PASS("operands", TFRT_TYPE_ANY)),
       OUT(GIVE("list", LIST)), SET(NEED("callee", SYMBOL)),
       FLAGS(VARIADIC_OPERANDS, CALL_OPTIONS, CALLS_HOSTS), EFFECTS(OF_FUNCTIONS)),
    OP("tfrt_dist.list.size", "How many elements the list has.", FORM("operands attr-dict"),
       IN(READ("list", LIST)), OUT(GIVE("result", "i32")), FLAGS(PURE),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_dist.list.get",
       "One element of the list, in any state; OUT_OF_RANGE behind the last one. A use as another "
       "type is an error.",
       FORM("operands attr-dict result-types"), IN(READ("list", LIST), READ("index", "i32")),
       OUT(GIVE("result", TFRT_TYPE_ANY)), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "list",
       COST(1)),
    OP("tfrt_dist.list.sum",
       "The sum of all elements, in the order of ranks: numbers of one type, or tensors of one "
       "dtype and shape, element by element. Integers wrap around. An element that is an error is "
       "the result; of several the first.",
       FORM("operands attr-dict result-types"), IN(READ("list", LIST)),
       OUT(GIVE("result", SUMMANDS)), FLAGS(TRAILING_CHAIN), EFFECTS(NONE)),
    OP("tfrt_dist.list.concat",
       "The elements, tensors that differ at most in the length of their axis 0, behind one "
       "another along that axis, in the order of ranks.",
       FORM("operands attr-dict"), IN(READ("list", LIST)), OUT(GIVE("result", TENSOR)),
       FLAGS(TRAILING_CHAIN), EFFECTS(NONE)),
    OP("tfrt_dist.fetch",
       "The same values, with their payloads on this host; an error for a type whose values can't "
       "leave their host. The elements of a list stay where they are.",
       FORM("operands attr-dict types"), IN(READ("values", TFRT_TYPE_ANY)),
       OUT(GIVE("results", TFRT_TYPE_ANY)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, RESULTS_AS_OPERANDS), EFFECTS(NONE),
       .shares = "values", COST(1)),
    OP("tfrt_dist.copy_to",
       "The same values, with their payloads on that host: calls there need not fetch "
       "them. Starts as soon as the host is known. Small values may stay here, and the elements of "
       "a list do.",
       FORM("operands attr-dict types"), IN(READ("host", HOST), PASS("operands", TFRT_TYPE_ANY)),
       OUT(GIVE("results", TFRT_TYPE_ANY)),
       FLAGS(VARIADIC_OPERANDS, VARIADIC_RESULTS, RESULTS_AS_OPERANDS), EFFECTS(NONE),
       .shares = "operands", COST(1)),
    OP("tfrt_dist.prefetch",
       "Sends the payload of a value ahead to that host: calls there that this function makes "
       "afterwards, and gives the value, don't fetch it; but calls with a chain fetch a tensor "
       "anew, which may have been written to since. The chain is there when the payload is, or is "
       "the error that kept it; the value stays what it is.",
       FORM("operands attr-dict"), IN(READ("host", HOST), PASS("value", TFRT_TYPE_ANY)), OUT(DONE),
       EFFECTS(NONE), COST(1)),
    OP("tfrt_dist.key", "The string `name`, under which values are sent and received.",
       FORM("#name attr-dict"), OUT(GIVE("key", "!tfrt.string")), SET(NEED("name", STRING)),
       FLAGS(PURE), COST(1)),
    OP("tfrt_dist.send",
       "Gives that host a value under a key. The chain is there when the value waits there, or was "
       "received; of a tensor, when that host has its elements, so that it may be written to. "
       "Waits for no receive.",
       FORM("operands attr-dict"),
       IN(READ("host", HOST), READ("key", "!tfrt.string"), PASS("value", TFRT_TYPE_ANY), AFTER),
       OUT(DONE), EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.recv",
       "The value that that host sends under the key in the same run of the program, whichever of "
       "both comes first; several come in their order. An error when the host is lost, the "
       "deadline "
       "passes or the run is cancelled. The chain is there when the value is.",
       FORM("operands attr-dict result-types"),
       IN(READ("host", HOST), READ("key", "!tfrt.string"), AFTER),
       OUT(GIVE("value", TFRT_TYPE_ANY), DONE), EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.group",
       "The group of these hosts, in this order; INVALID_ARGUMENT for none, one that there isn't, "
       "or one twice. A `name` keeps its collectives apart from those of another group of the same "
       "hosts.",
       FORM("#ranks attr-dict"), OUT(GIVE("group", GROUP)),
       SET(MAY("name", STRING, "\"\""), NEED("ranks", I64_ARRAY)), FLAGS(PURE), COST(1)),
    OP("tfrt_dist.world", "The group of all hosts in the order of ranks.", FORM("attr-dict"),
       OUT(GIVE("group", GROUP)), SET(MAY("name", STRING, "\"\"")), FLAGS(PURE), COST(1)),
    OP("tfrt_dist.barrier",
       "The chain is there when the chains of all members are. As for every collective, each "
       "member runs the op, and the n-th that a host begins with a group belongs to the n-th of "
       "the other members; an error of one member is everybody's.",
       FORM("operands attr-dict"), IN(READ("group", GROUP), PASS("chain", CHAIN)), OUT(DONE),
       FLAGS(FAILS_AGAIN), EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.all_reduce",
       "The members' tensors, of one dtype and shape, combined element by element: `sum`, `prod`, "
       "`min`, `max` or `mean`. Integers wrap around, and their mean is rounded towards zero. The "
       "same bits on every member. As for every collective, all tensors are in the memory of their "
       "hosts, or all in that of devices (`!tfrt_gpu.tensor`); the result is where the operand is.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), SET(NEED("reduction", STRING)), FLAGS(FAILS_AGAIN),
       EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.reduce",
       "The same at the host `root`; the other members get their own tensor back.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), SET(NEED("reduction", STRING), NEED("root", I32)),
       FLAGS(FAILS_AGAIN), EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.reduce_scatter",
       "The same, but of the rows (axis 0) of the result each member gets its part, in the order "
       "of the group; of r rows the first r mod n members get one more.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), SET(NEED("reduction", STRING)), FLAGS(FAILS_AGAIN),
       EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.all_gather",
       "The members' tensors, which differ at most in the length of axis 0, behind one another "
       "along that axis, in the order of the group.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), FLAGS(FAILS_AGAIN), EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.broadcast",
       "The tensor of the host `root`, on each member. What the others have for an operand doesn't "
       "matter.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), SET(NEED("root", I32)), FLAGS(FAILS_AGAIN),
       EFFECTS(MESSAGES), COST(1)),
    OP("tfrt_dist.all_to_all",
       "Of the rows (axis 0) of each member's tensor every member gets its part, as in "
       "reduce_scatter; the parts stand behind one another in the order of the group.",
       FORM("operands attr-dict"), TFRT_OPERANDS(group_tensor_chain),
       OUT(GIVE("result", "%tensor"), DONE), FLAGS(FAILS_AGAIN), EFFECTS(MESSAGES), COST(1)),
};

const tfrt_kernel_table_t tfrt_distributed_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
