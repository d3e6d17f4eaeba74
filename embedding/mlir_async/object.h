// SPDX-License-Identifier: Apache-2.0
//
// Tokens, values and groups: AsyncValues in slots (slot_pool.h), and the counts of their handles.
// All handles together are one reference to the AsyncValue.
//
//   life    63 ... 48      33        32       31 ................. 0
//           generation  | is kept | member | references of handles
//
// Life:
//  1. Created: alive, with the references that the ABI says.
//  2. Settled, once, which drops the settler's reference. While it is pending, it can't go.
//  3. Its last reference is dropped: it is gone. The slot of an available object is free at once,
//     one generation on. A failed object stays as it is for a while, in *quarantine*, so that the
//     handles of compiled code that has dropped one too many still tell the truth.
//
// A group counts its members' tokens in two words, one for adding threads and one for settling
// threads. It goes with its last handle, or when the last member that it has by then is settled:
//
//   members          how many were added
//   settled          how many of them are settled | is closed: no handle is left
//
// Thread rule: thread-safe.
// Failure rule: none fails; what is wrong is reported (misuse.h), |function| is who called, and an
// object that is gone counts as failed. The process ends with a message when memory is out.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_OBJECT_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_OBJECT_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"

typedef void* tfrt_mlir_handle_t;

// Failed objects that are kept when they are gone.
#define TFRT_MLIR_QUARANTINE_LENGTH 4096

// The biggest payload that lies in the slot of its value.
#define TFRT_MLIR_INLINE_PAYLOAD_SIZE 64

// Returns a new token, or a value with room for |size| bytes, with 2 references; or a group for
// |size| members, with 1. Thread-safe.
tfrt_mlir_handle_t tfrt_mlir_token_create(void);
tfrt_mlir_handle_t tfrt_mlir_value_create(int64_t size);
tfrt_mlir_handle_t tfrt_mlir_group_create(int64_t size);

// Adds, or drops, |count| references. Thread-safe.
void tfrt_mlir_object_retain(tfrt_mlir_handle_t handle, int64_t count, const char* function);
void tfrt_mlir_object_release(tfrt_mlir_handle_t handle, int64_t count, const char* function);

// Makes a token or value available, or failed, and drops one reference. Waiters are resumed.
// Thread-safe.
void tfrt_mlir_object_emplace(tfrt_mlir_handle_t handle, const char* function);
void tfrt_mlir_object_fail(tfrt_mlir_handle_t handle, const char* function);

// Returns true if the token or value failed, or is gone. Thread-safe.
bool tfrt_mlir_object_is_failed(tfrt_mlir_handle_t handle, const char* function);

// The AsyncValue (+0) that is resolved when the token or value is settled, or the group complete.
// For an object that is gone: one that is an error. Thread-safe.
tfrt_async_value_t* tfrt_mlir_object_async_value(tfrt_mlir_handle_t handle, const char* function);

// The payload of a value. A value that is gone has none any more: the process ends with a message.
// Thread-safe.
void* tfrt_mlir_value_storage(tfrt_mlir_handle_t handle, const char* function);

// Makes |token| a member of |group|; returns how many were added before. The group's
// waiters are resumed if that completes it. Thread-safe.
int64_t tfrt_mlir_group_add(tfrt_mlir_handle_t group, tfrt_mlir_handle_t token,
                            const char* function);

// Returns true if a settled member is failed, or the group gone. Thread-safe.
bool tfrt_mlir_group_is_failed(tfrt_mlir_handle_t group, const char* function);

// The number of objects that are alive. Only while no other thread uses any.
int64_t tfrt_mlir_object_live_count(void);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_OBJECT_H_
