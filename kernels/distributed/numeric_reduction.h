// SPDX-License-Identifier: Apache-2.0
//
// Element by element of two arrays of numbers: sum, product, minimum, maximum. Sums of lists and
// collectives compute with these.
//
//   target[i] = left[i] OP right[i]
//
//   dtype                          sum  product  minimum  maximum  mean
//   integers, f32, f64, f16, bf16   x      x        x        x       x
//   complex64, complex128           x      x                         x
//   i1                                             and       or
//
// Integers wrap around; a NaN wins against every number, also in minimum and maximum. 16-bit
// floats are computed with in double and rounded to the nearest after each step. A mean is a
// sum until tfrt_reduction_finish(), which divides: for integers the sum that may have
// wrapped around, rounding towards zero.
//
// Thread rule: thread-compatible; runs on the calling thread.
// Failure rule: the caller checks the dtype first.
#ifndef TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_
#define TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/type.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/dtype.h"

typedef enum tfrt_reduction_e {
  TFRT_REDUCTION_SUM = 0,
  TFRT_REDUCTION_PRODUCT,
  TFRT_REDUCTION_MINIMUM,
  TFRT_REDUCTION_MAXIMUM,
  TFRT_REDUCTION_MEAN,
  TFRT_REDUCTION_COUNT,
} tfrt_reduction_t;

// Sets |*out_reduction| to the one that programs call |name| ("sum", "prod", "min", "max",
// "mean") and returns true; false if there is none. Thread-safe.
bool tfrt_reduction_find(tfrt_string_view_t name, tfrt_reduction_t* out_reduction);

// The name that programs have for |reduction|. Static. Thread-safe.
const char* tfrt_reduction_name(tfrt_reduction_t reduction);

// Returns true if elements of |dtype| can be reduced so; see the table above. Thread-safe.
bool tfrt_reduction_can(tfrt_reduction_t reduction, tfrt_dtype_t dtype);

// Sets |count| elements of |dtype| at |target| to those at |left| combined with those at
// |right|. |target| may be one of them, and overlaps neither otherwise. All are aligned for
// |dtype|. Thread-compatible (caller synchronises).
void tfrt_reduction_apply(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                          const void* left, const void* right, int64_t count);

// Makes |count| combined elements of |dtype| at |target| the result for |operand_count|
// operands: divides a mean, leaves the others. Thread-compatible (caller synchronises).
void tfrt_reduction_finish(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                           int64_t count, uint32_t operand_count);

// The dtype of the numbers that values of the builtin type |type_id| are; INVALID for other
// types. Thread-safe.
tfrt_dtype_t tfrt_reduction_dtype_of(tfrt_type_id_t type_id);

#endif  // TFRT_KERNELS_DISTRIBUTED_NUMERIC_REDUCTION_H_
