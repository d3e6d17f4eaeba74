// SPDX-License-Identifier: Apache-2.0
//
// The known part of a shape before there is a tensor: nothing, or a rank and, for each axis, a
// length or unknown (-1).
//
//   unranked                                     "Unknown rank"
//   ranked   rank | dims[0] ... dims[rank - 1]   "[-1, 57]"
//
// Thread rule: a value. Failure rule: making one and turning it into a shape fail with
// INVALID_ARGUMENT.
#ifndef TFRT_HOST_RUNTIME_TENSOR_PARTIAL_SHAPE_H_
#define TFRT_HOST_RUNTIME_TENSOR_PARTIAL_SHAPE_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/shape.h"

TFRT_API_BEGIN

// The length of an axis that is unknown.
#define TFRT_PARTIAL_SHAPE_UNKNOWN (-1)

typedef struct tfrt_partial_shape_s {
  bool ranked;
  uint32_t rank;  // 0 if not |ranked|
  int64_t dims[TFRT_SHAPE_MAX_RANK];
} tfrt_partial_shape_t;

// Sets |*out_shape| to the ranked shape with the |rank| lengths |dims|; any may be unknown.
// INVALID_ARGUMENT if the rank is too high or a length below -1. Thread-safe.
tfrt_status_t tfrt_partial_shape_make(const int64_t* dims, size_t rank,
                                      tfrt_partial_shape_t* out_shape) TFRT_MUST_USE;

// The shape whose rank is unknown. Thread-safe.
tfrt_partial_shape_t tfrt_partial_shape_unranked(void);

// |shape|, as a partial shape without anything unknown. Thread-safe.
tfrt_partial_shape_t tfrt_partial_shape_of(const tfrt_shape_t* shape);

// Sets |*out_shape| to |partial|, which must be all known; else INVALID_ARGUMENT, with TFRT's words
// for the unknown part. Thread-safe.
tfrt_status_t tfrt_partial_shape_to_shape(const tfrt_partial_shape_t* partial,
                                          tfrt_shape_t* out_shape) TFRT_MUST_USE;

// Appends |shape| as "[-1, 57]" or "Unknown rank". Thread-safe, as |out| is.
void tfrt_partial_shape_print(const tfrt_partial_shape_t* shape, tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_PARTIAL_SHAPE_H_
