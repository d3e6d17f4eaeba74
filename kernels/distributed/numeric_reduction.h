// SPDX-License-Identifier: Apache-2.0
//
// Element by element of two arrays of numbers: sum, product, minimum, maximum. What sums of
// lists and collectives compute with.
//
//   target[i] = target[i] OP source[i]
//
// Integers wrap around; a NaN wins against every number, also in minimum and maximum.
//
// Thread rule: thread-compatible; runs on the calling thread.
// Failure rule: none fails; who calls asks for the dtype first.
#ifndef TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_
#define TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/type.h"
#include "host_runtime/tensor/dtype.h"

typedef enum tfrt_reduction_e {
  TFRT_REDUCTION_SUM = 0,
  TFRT_REDUCTION_PRODUCT,
  TFRT_REDUCTION_MINIMUM,
  TFRT_REDUCTION_MAXIMUM,
} tfrt_reduction_t;

// Returns true if elements of |dtype| can be reduced: integers, f32, f64. Thread-safe.
bool tfrt_reduction_can(tfrt_dtype_t dtype);

// Combines |count| elements of |dtype| at |source| into those at |target|; the arrays don't
// overlap. Thread-compatible (caller synchronises).
void tfrt_reduction_apply(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                          const void* source, int64_t count);

// The dtype of the numbers that values of the builtin type |type_id| are; INVALID for other
// types. Thread-safe.
tfrt_dtype_t tfrt_reduction_dtype_of(tfrt_type_id_t type_id);

#endif  // TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_
