// SPDX-License-Identifier: Apache-2.0
//
// The ops of groups of devices that exchange data, which vendors' libraries do.
#include "kernels/device/op_parts.h"
#include "kernels/device/ops.h"

#define HANDLE "!tfrt_gpu.ccl.handle"
#define ID "!tfrt_gpu.ccl.id"

// --- Operands -----------------------------------------------------------------

static const tfrt_operand_descriptor_t member[] = {
    READ("context", CONTEXT),
    READ("rank", "i32"),
    READ("count", "i32"),
    READ("id", ID),
};
static const tfrt_operand_descriptor_t exchanged[] = {
    READ("handle", HANDLE),
    READ("input", BUFFER),
    WRITTEN("output"),
    AFTER,
};
static const tfrt_operand_descriptor_t sent[] = {
    READ("handle", HANDLE),
    READ("input", BUFFER),
    READ("peer", "i32"),
    AFTER,
};
static const tfrt_operand_descriptor_t received[] = {
    READ("handle", HANDLE),
    WRITTEN("output"),
    READ("peer", "i32"),
    AFTER,
};
static const tfrt_operand_descriptor_t executed[] = {
    READ("stream", STREAM),
    READ("handle", HANDLE),
    AFTER,
};

// --- Results and attributes -----------------------------------------------------

static const tfrt_result_descriptor_t id_result[] = {{"id", ID}};
static const tfrt_result_descriptor_t handle_result[] = {{"handle", HANDLE}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};

static const tfrt_attribute_descriptor_t platform[] = {NAME("platform")};
static const tfrt_attribute_descriptor_t data_type[] = {NAME("data_type")};
static const tfrt_attribute_descriptor_t reduction[] = {NAME("data_type"), NAME("reduction_op")};

// A call of all members, without and with a reduction.
#define EXCHANGE(op, text)                                                            \
  {                                                                                   \
    .name = "tfrt_gpu.ccl." op, .summary = text,                                      \
    .assembly = "%handle , %input , %output , $data_type , %chain attr-dict",         \
    TFRT_OPERANDS(exchanged), TFRT_RESULTS(chain_result), TFRT_ATTRIBUTES(data_type), \
    .effects = TFRT_EFFECT_NONE, .orders = "handle", .cost = 20                       \
  }
#define REDUCTION(op, text)                                                                   \
  {                                                                                           \
    .name = "tfrt_gpu.ccl." op, .summary = text,                                              \
    .assembly = "%handle , %input , %output , $data_type , $reduction_op , %chain attr-dict", \
    TFRT_OPERANDS(exchanged), TFRT_RESULTS(chain_result), TFRT_ATTRIBUTES(reduction),         \
    .effects = TFRT_EFFECT_NONE, .orders = "handle", .cost = 20                               \
  }

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_gpu.ccl.unique_id",
     .summary = "The name of a new group of devices of the driver `platform`, for all who are to "
                "be its members, also on other hosts.",
     .assembly = "$platform attr-dict",
     TFRT_RESULTS(id_result),
     TFRT_ATTRIBUTES(platform),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.ccl.create",
     .summary = "Member `rank`, from 0, of the group `id` of `count` devices. There when all of "
                "them are; the library is opened when it is first asked for.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(member),
     TFRT_RESULTS(handle_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    EXCHANGE("all_gather",
             "Adds to the handle's list: all members get the inputs of all, by rank. This and all "
             "that is added next happens when the list is executed."),
    REDUCTION("all_reduce",
              "Adds to the handle's list: all members get the sum (or what `reduction_op` says) of "
              "all inputs."),
    REDUCTION("reduce_scatter",
              "Adds to the handle's list: each member gets its part, by rank, of the sum (or what "
              "`reduction_op` says) of all inputs."),
    EXCHANGE("all_to_all",
             "Adds to the handle's list: part j of the input goes to member j, whose output has it "
             "as the part of this one's rank."),
    {.name = "tfrt_gpu.ccl.send",
     .summary = "Adds to the handle's list: the input goes to member `peer`, which receives it.",
     .assembly = "%handle , %input , %peer , $data_type , %chain attr-dict",
     TFRT_OPERANDS(sent),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(data_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "handle",
     .cost = 20},
    {.name = "tfrt_gpu.ccl.recv",
     .summary = "Adds to the handle's list: the output gets what member `peer` sends.",
     .assembly = "%handle , %output , %peer , $data_type , %chain attr-dict",
     TFRT_OPERANDS(received),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(data_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "handle",
     .cost = 20},
    {.name = "tfrt_gpu.ccl.execute",
     .summary = "Executes the handle's list in the stream, all at once, and empties it. The chain "
                "may wait for the other members.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(executed),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream handle",
     .cost = 100},
};

const tfrt_kernel_table_t tfrt_ccl_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
