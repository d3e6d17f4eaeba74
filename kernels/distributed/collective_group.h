// SPDX-License-Identifier: Apache-2.0
//
// Whether the members' devices can carry a collective out themselves, without the hosts' memory
// (host_runtime/tensor/tensor_group.h). All decide from the same records, so all decide alike:
//
//   each has a seat, of the same library, that nobody else is at, and in a place of its own
//   the library can reduce so; and
//     reduce_scatter, all_to_all   have parts of one size
//     all_gather, all_to_all       have operands of one size
//   there are elements at all
//
// Else the tensors go through the hosts' memory.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT for a result that is too large; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_GROUP_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_GROUP_H_

#include "host_runtime/tensor/tensor_group.h"
#include "kernels/distributed/collective_result.h"

// Sets |*out_can| to whether the devices of |view|'s members can do it; |groups| are those of the
// operand's type. Thread-compatible.
tfrt_status_t tfrt_collective_group_can(const tfrt_collective_view_t* view,
                                        const tfrt_tensor_groups_t* groups, bool* out_can)
    TFRT_MUST_USE;

// The token of the group that all members have kept; 0: they need another one. Thread-compatible.
uint64_t tfrt_collective_group_token(const tfrt_collective_view_t* view);

// Fills |*out_exchange| in with what the group does. Thread-compatible.
tfrt_status_t tfrt_collective_group_exchange(const tfrt_collective_view_t* view,
                                             tfrt_tensor_exchange_t* out_exchange) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_GROUP_H_
