// SPDX-License-Identifier: Apache-2.0
//
// Mistakes of lowered programs with handles. MLIR's own pass for reference counts (14 to 22)
// drops the results of a coroutine once too often where one of several things that it awaits has
// failed (docs/mlir_async.md), so that this is to be expected. Each is counted; the first one of
// each sort is logged.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_MISUSE_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_MISUSE_H_

#include <stdint.h>

typedef enum tfrt_mlir_misuse_e {
  TFRT_MLIR_MISUSE_OVER_DROP = 0,  // more references were dropped than there were
  TFRT_MLIR_MISUSE_STALE,          // the object was gone
  TFRT_MLIR_MISUSE_SETTLED_TWICE,
  TFRT_MLIR_MISUSE_COUNT,
} tfrt_mlir_misuse_t;

// Notes that |function|, one of the ABI, was called that way. Thread-safe.
void tfrt_mlir_misuse_report(tfrt_mlir_misuse_t misuse, const char* function);

// How often that has been noted. Thread-safe.
uint64_t tfrt_mlir_misuse_count(tfrt_mlir_misuse_t misuse);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_MISUSE_H_
