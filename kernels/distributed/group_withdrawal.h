// SPDX-License-Identifier: Apache-2.0
//
// Tells the members of a group that a call which may have met them was called off (withdrawal.h).
//
// Thread rule: thread-safe.
// Failure rule: members that can't be reached are skipped.
#ifndef TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_
#define TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_

#include "host_runtime/executor/kernel/withdrawal.h"

// Closes the keys of the group |payload| on all of its members because of |withdrawal|: their
// collectives in the run of that call, begun or not, become errors that say so.
void tfrt_group_withdraw(const void* payload, const tfrt_kernel_withdrawal_t* withdrawal);

#endif  // TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_
