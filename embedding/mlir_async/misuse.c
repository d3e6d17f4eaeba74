// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/misuse.h"

#include <stdatomic.h>

#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"

static _Atomic uint64_t counts[TFRT_MLIR_MISUSE_COUNT];

static const char* const texts[TFRT_MLIR_MISUSE_COUNT] = {
    [TFRT_MLIR_MISUSE_OVER_DROP] = "drops a reference more than the object has",
    [TFRT_MLIR_MISUSE_STALE] = "is given an object whose last reference was dropped before",
    [TFRT_MLIR_MISUSE_SETTLED_TWICE] = "settles an object that is settled",
};

TFRT_COLD void tfrt_mlir_misuse_report(tfrt_mlir_misuse_t misuse, const char* function) {
  // Relaxed: a number for people.
  if (atomic_fetch_add_explicit(&counts[misuse], 1, memory_order_relaxed) > 0) return;
  tfrt_log(TFRT_LOG_ERROR, NULL,
           "mlir async: %s %s: ignored, such an object counts as failed; further ones are only "
           "counted. Look at the reference counts of the compiled program (docs/mlir_async.md)",
           function, texts[misuse]);
}

uint64_t tfrt_mlir_misuse_count(tfrt_mlir_misuse_t misuse) {
  return atomic_load_explicit(&counts[misuse], memory_order_relaxed);
}
