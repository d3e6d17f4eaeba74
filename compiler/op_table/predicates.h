// SPDX-License-Identifier: Apache-2.0
//
// The comparisons of `arith.cmpi` and `arith.cmpf`, and the changes that `memref.atomic_rmw` makes,
// by name and number, as MLIR has them.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_COMPILER_OP_TABLE_PREDICATES_H_
#define TFRT_COMPILER_OP_TABLE_PREDICATES_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/string_view.h"

// The number of the comparison |name| of floats or integers, or UINT32_MAX. Thread-safe.
uint32_t tfrt_predicate_find(bool is_float, tfrt_string_view_t name);

// The name of comparison |number|, or NULL. Thread-safe.
const char* tfrt_predicate_name(bool is_float, uint64_t number);

// The same for the changes of memory.
uint32_t tfrt_atomic_change_find(tfrt_string_view_t name);
const char* tfrt_atomic_change_name(uint64_t number);

#endif  // TFRT_COMPILER_OP_TABLE_PREDICATES_H_
