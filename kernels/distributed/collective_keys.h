// SPDX-License-Identifier: Apache-2.0
//
// The keys of the messages in collectives of a group. The keys are closed when a member can't go on
// (mailbox.h):
//
//   "tfrt:REQUEST:SIZE:SERIES:TURN:PHASE NUMBER"
//    \__ of all messages of the group __/
//
// The series is the group's ranks and name, which counts its turns too (turn_table.h).
//
// Thread rule: thread-safe, as the builders are.
// Failure rule: a key that can't be made is the error for "memory is out"; members that can't be
// reached don't learn that keys are closed.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_KEYS_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_KEYS_H_

#include "host_runtime/base/string_builder.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/distributed/host_group.h"

// Appends the series of |group|.
void tfrt_collective_keys_append_series(const tfrt_host_group_t* group, tfrt_string_builder_t* out);

// Appends the prefix that only the keys of |series| have, in the request numbered |request|.
void tfrt_collective_keys_append_prefix(uint64_t request, tfrt_string_view_t series,
                                        tfrt_string_builder_t* out);

// The value (+1) of the key in |key|, which is given back.
tfrt_async_value_t* tfrt_collective_keys_take(tfrt_string_builder_t* key);

// Closes the keys of |series|, in the run of |context|, on the host |rank|, because of |error|
// (+0), for the kernel at |site|: each receiver that waits gets it, and messages under way are
// dropped where they arrive.
void tfrt_collective_keys_close(const tfrt_execution_context_t* context,
                                const tfrt_status_origin_t* site, tfrt_string_view_t series,
                                uint32_t rank, tfrt_async_value_t* error);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_KEYS_H_
