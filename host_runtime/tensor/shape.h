// SPDX-License-Identifier: Apache-2.0
//
// The shape of a tensor: a rank and one length per axis, in a small struct that is
// copied freely and never allocates.
//
//   rank | dims[0] (slowest) ... dims[rank - 1] (fastest, contiguous) | unused, 0
//
// A shape that was made by tfrt_shape_make() is *good*: no length is negative, and the
// number of elements fits into an int64_t, as does that of any part of it. Tensors have
// good shapes; whatever comes from outside goes through that door. Values of the type
// "!ts.shape" need not belong to a tensor and are not bounded: making a tensor of them
// checks them (tfrt_shape_check()). A shape may have lengths of 0: then it has no elements.
//
// Thread rule: a value. Failure rule: only the door and what combines shapes fail,
// with INVALID_ARGUMENT and both shapes in the message.
#ifndef TFRT_HOST_RUNTIME_TENSOR_SHAPE_H_
#define TFRT_HOST_RUNTIME_TENSOR_SHAPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"

TFRT_API_BEGIN

// As many axes as the maths library beneath us can have; TFRT's programs go to 10.
#define TFRT_SHAPE_MAX_RANK 12

// Room for the text of any shape, with its NUL.
#define TFRT_SHAPE_TEXT_SIZE (TFRT_SHAPE_MAX_RANK * 22 + 3)

typedef struct tfrt_shape_s {
  uint32_t rank;
  int64_t dims[TFRT_SHAPE_MAX_RANK];
} tfrt_shape_t;

// The text of a shape, for messages: tfrt_shape_text(&shape).text.
typedef struct tfrt_shape_text_s {
  char text[TFRT_SHAPE_TEXT_SIZE];
} tfrt_shape_text_t;

// Sets |*out_shape| to the good shape of |rank| axes with the lengths |dims|.
// INVALID_ARGUMENT if the rank is too high, a length negative, or the product of the
// lengths (zeros left out) overflows. Thread-safe.
tfrt_status_t tfrt_shape_make(const int64_t* dims, size_t rank, tfrt_shape_t* out_shape)
    TFRT_MUST_USE;

// The same without the bound on the product. Thread-safe.
tfrt_status_t tfrt_shape_make_unbounded(const int64_t* dims, size_t rank, tfrt_shape_t* out_shape)
    TFRT_MUST_USE;

// OK if |shape|, which may be unbounded, is good; else INVALID_ARGUMENT. Thread-safe.
tfrt_status_t tfrt_shape_check(const tfrt_shape_t* shape) TFRT_MUST_USE;

// Sets |*out_count| to the number of elements of |shape|, which may be unbounded:
// INVALID_ARGUMENT if that overflows. Thread-safe.
tfrt_status_t tfrt_shape_count_elements(const tfrt_shape_t* shape, int64_t* out_count)
    TFRT_MUST_USE;

// The number of elements of a good shape: the product of all lengths, 1 for rank 0.
// Thread-safe.
int64_t tfrt_shape_element_count(const tfrt_shape_t* shape);

// The number of elements of one step along |axis|: the product of the lengths behind
// it. Thread-safe.
int64_t tfrt_shape_stride(const tfrt_shape_t* shape, uint32_t axis);

// Returns true if |a| and |b| have the same rank and lengths. Thread-safe.
bool tfrt_shape_equal(const tfrt_shape_t* a, const tfrt_shape_t* b);

// Sets |*out_shape| to the shape that |a| and |b| have when both are stretched to each
// other: axes are compared from the last one, a missing one counts as 1, and a 1 gives
// way. INVALID_ARGUMENT if two lengths differ otherwise. Thread-safe.
tfrt_status_t tfrt_shape_broadcast(const tfrt_shape_t* a, const tfrt_shape_t* b,
                                   tfrt_shape_t* out_shape) TFRT_MUST_USE;

// Appends |shape| as "[2, 3]". Thread-safe, as |out| is.
void tfrt_shape_print(const tfrt_shape_t* shape, tfrt_string_builder_t* out);

// The same as a value. Thread-safe.
tfrt_shape_text_t tfrt_shape_text(const tfrt_shape_t* shape);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_SHAPE_H_
