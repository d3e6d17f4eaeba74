// SPDX-License-Identifier: Apache-2.0
//
// A register that may be needed before it is set. The first thread to come fills it by
// compare-and-swap: the maker with the value, or a user with an indirect value that stands for it,
// the *placeholder*. The maker then finds the placeholder and forwards it. Private to the executor.
//
//   NULL --set--> value
//     \--get--> placeholder --set: forwarded--> value
//
// References: what is in the register has one for each use that the BEF file counts; a placeholder
// has one more, which its forwarder drops.
//
// Thread rule: thread-safe. Failure rule: as each function says.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_PLACEHOLDER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_PLACEHOLDER_H_

#include "host_runtime/executor/call/call_frame.h"

// Puts a placeholder into |register_index|, which was empty a moment ago, and returns it (+0, one
// use of the register), or what somebody else has put there meanwhile. Out of memory it is that
// error, and the use stays undone: better than a crash.
tfrt_async_value_t* tfrt_placeholder_put(tfrt_call_frame_t* frame, uint32_t register_index);

// The value in a register that may not be set yet, or the placeholder for it (+0, one use of the
// register).
static inline tfrt_async_value_t* tfrt_placeholder_get(tfrt_call_frame_t* frame,
                                                       uint32_t register_index) {
  // Acquire: pairs with the release in tfrt_placeholder_set() and tfrt_placeholder_put().
  tfrt_async_value_t* value =
      atomic_load_explicit(&frame->registers[register_index], memory_order_acquire);
  return value ? value : tfrt_placeholder_put(frame, register_index);
}

// Puts |value|, which comes with the caller's one reference, into its register and returns what is
// there now: |value|, or the placeholder that stands for it. |*out_pinned| tells whether the
// caller must drop one reference to that. Never fails.
tfrt_async_value_t* tfrt_placeholder_set(tfrt_call_frame_t* frame, uint32_t register_index,
                                         tfrt_async_value_t* value, bool* out_pinned);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_PLACEHOLDER_H_
