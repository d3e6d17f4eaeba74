// SPDX-License-Identifier: Apache-2.0
//
// The ops of groups of devices that exchange data, which vendors' libraries do.
#include "kernels/device/op_parts.h"
#include "kernels/device/ops.h"

#define HANDLE "!tfrt_gpu.ccl.handle"
#define ID "!tfrt_gpu.ccl.id"

// --- Results and attributes -----------------------------------------------------

// A call of all members, without and with a reduction.
#define EXCHANGE(op, text)                                                                         \
  OP("tfrt_gpu.ccl." op, text, FORM("%handle , %input , %output , $data_type , %chain attr-dict"), \
     IN(READ("handle", HANDLE), READ("input", BUFFER), WRITE("output", BUFFER), AFTER), OUT(DONE), \
     SET(NEED("data_type", STRING)), EFFECTS(NONE), .orders = "handle", COST(20))
#define REDUCTION(op, text)                                                                        \
  OP("tfrt_gpu.ccl." op, text,                                                                     \
     FORM("%handle , %input , %output , $data_type , $reduction_op , %chain attr-dict"),           \
     IN(READ("handle", HANDLE), READ("input", BUFFER), WRITE("output", BUFFER), AFTER), OUT(DONE), \
     SET(NEED("data_type", STRING), NEED("reduction_op", STRING)), EFFECTS(NONE),                  \
     .orders = "handle", COST(20))

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("tfrt_gpu.ccl.unique_id",
       "The name of a new group of devices of the driver `platform`, for all of its future "
       "members, also on other hosts.",
       FORM("$platform attr-dict"), OUT(GIVE("id", ID)), SET(NEED("platform", STRING)),
       EFFECTS(NONE), COST(1000)),
    OP("tfrt_gpu.ccl.create",
       "Member `rank`, from 0, of the group `id` of `count` devices. There when all of them are; "
       "the library is opened when it is first asked for.",
       FORM("operands attr-dict"),
       IN(READ("context", CONTEXT), READ("rank", "i32"), READ("count", "i32"), READ("id", ID)),
       OUT(GIVE("handle", HANDLE)), EFFECTS(NONE), COST(1000)),
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
    OP("tfrt_gpu.ccl.send",
       "Adds to the handle's list: the input goes to member `peer`, which receives it.",
       FORM("%handle , %input , %peer , $data_type , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("input", BUFFER), READ("peer", "i32"), AFTER), OUT(DONE),
       SET(NEED("data_type", STRING)), EFFECTS(NONE), .orders = "handle", COST(20)),
    OP("tfrt_gpu.ccl.recv", "Adds to the handle's list: the output gets what member `peer` sends.",
       FORM("%handle , %output , %peer , $data_type , %chain attr-dict"),
       IN(READ("handle", HANDLE), WRITE("output", BUFFER), READ("peer", "i32"), AFTER), OUT(DONE),
       SET(NEED("data_type", STRING)), EFFECTS(NONE), .orders = "handle", COST(20)),
    OP("tfrt_gpu.ccl.execute",
       "Executes the handle's list in the stream, all at once, and empties it. The chain may wait "
       "for the other members.",
       FORM("operands attr-dict"), IN(READ("stream", STREAM), READ("handle", HANDLE), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream handle", COST(100)),
};

const tfrt_kernel_table_t tfrt_ccl_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
