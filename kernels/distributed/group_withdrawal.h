// SPDX-License-Identifier: Apache-2.0
//
// What the members of a group are told of a call that may have met them and was called off
// (withdrawal.h).
//
// Thread rule: thread-safe.
// Failure rule: who can't be told is not.
#ifndef TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_
#define TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_

#include "host_runtime/executor/kernel/withdrawal.h"

// Closes the keys of the group |payload| on all of its members because of |withdrawal|: what they
// do together in the run of that call, begun or not, is an error that says so.
void tfrt_group_withdraw(const void* payload, const tfrt_kernel_withdrawal_t* withdrawal);

#endif  // TFRT_KERNELS_DISTRIBUTED_GROUP_WITHDRAWAL_H_
