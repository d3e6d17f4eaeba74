// SPDX-License-Identifier: Apache-2.0
//
// Failed tokens and values without a reference, which stay as they are until as many more have
// failed and gone (object.h says why). First in, first out.
//
//   put --> | newest ... oldest | --> released
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_QUARANTINE_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_QUARANTINE_H_

#include "embedding/mlir_async/slot_pool.h"

// Keeps the object in |slot|, and takes the only reference to it, which is the caller's.
// Thread-safe.
void tfrt_mlir_quarantine_put(tfrt_mlir_slot_t* slot);

// Releases all that are kept. Thread-safe.
void tfrt_mlir_quarantine_clear(void);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_QUARANTINE_H_
