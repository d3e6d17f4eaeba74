// SPDX-License-Identifier: Apache-2.0
//
// Part of the shared library only: a program that is linked with it, and calls no hook, has its
// outstanding tasks done before it ends, as one has in the execution engine. Once at exit, while
// all is there that tasks may use; and once more with the library, for tasks that came later.
#include "embedding/mlir_async/pool.h"

__attribute__((constructor)) static void prepare_exit(void) {
  tfrt_mlir_pool_at_exit(tfrt_mlir_pool_end);
}

__attribute__((destructor)) static void end_pool(void) { tfrt_mlir_pool_end(); }
