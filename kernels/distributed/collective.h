// SPDX-License-Identifier: Apache-2.0
//
// One member's part in a collective, which the hosts of a group do together: from the kernel that
// begins it to the last byte that another member reads.
//
//   kernel --chain, operand are here--> WAITING ----> AGREEING ----> TRANSFERRING --> over
//                                          takes its    log2 n         as the plan
//                                          turn         rounds         says
//                                                          |few elements, or a disagreement
//                                                          +----------------------------> over
//
// 1. The member takes its turn: the n-th collective of a group that begins on a host, in one
//    run of the program, is the n-th on every other member (turn_table.h).
// 2. Agreement: in round r each member sends what it knows to the one 2^r places before it, so
//    after log2 n rounds each has the record of every other (collective_record.h), and decides
//    as all others do. In a large group the records go up and down a tree instead
//    (collective_tree.h). Few elements come with the records, and then that is all.
// 3. Transfer: each carries out its plan (collective_plan.h), a few messages ahead. Or devices do
//    it themselves (collective_devices.c), and the members only tell each other how it ended.
//
// All messages are values under keys of their own (collective_keys.h), over the router of the
// request. So this folder knows no network.
//
// Failure. An error before the agreement (an operand that is an error, another dtype) is part of
// the agreement and comes to all. A later error (a lost host, a cancel, no memory) makes the
// member's results errors at once. That member closes the keys of the group on all members
// (mailbox.h): a member that waits gets the error. Then the group's series is broken on each
// member, so later collectives fail where they begin. Steps that have begun still end, without
// elements. A call that is cancelled, or never runs, closes the keys of all groups that it may have
// met others in (withdrawal.h), as nobody knows which of them wait for it.
//
// The result is available when its elements are; the chain, when this collective reads neither
// operand nor result any more.
//
// Thread rule: thread-safe; each step runs on the thread that brought the value it waited for or,
// if it computes with many elements, on the work queue.
// Failure rule: see above; errors have the kernel's place as their origin.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "kernels/distributed/collective_record.h"

// Begins the collective of |frame|, whose last operand is a chain, whose first one is the group
// and whose operand between, except for a barrier, the tensor. |root| is a rank, for the kinds
// that have one. Sets the frame's results. Frame's thread only.
void tfrt_collective_start(tfrt_kernel_frame_t* frame, tfrt_collective_kind_t kind,
                           tfrt_reduction_t reduction, int32_t root);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_H_
