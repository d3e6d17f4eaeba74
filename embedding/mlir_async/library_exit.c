// SPDX-License-Identifier: Apache-2.0
//
// Part of the shared library only: a program that is linked with it, and calls no hook, has its
// outstanding tasks done before it ends, as one has in the execution engine.
#include "embedding/mlir_async/pool.h"

__attribute__((destructor)) static void end_pool(void) { tfrt_mlir_pool_end(); }
