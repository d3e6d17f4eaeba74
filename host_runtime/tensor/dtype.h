// SPDX-License-Identifier: Apache-2.0
//
// Element types of tensors. The numbers are those of BEF and of TFRT (1 to 23), so an
// attribute of a program, a tensor in memory and a tensor on the wire all say the same.
//
// This room computes with and prints the *plain* ones: i1, the integers and f32, f64.
// The others (complex, 16-bit floats, quantised) have a size and a name and can be
// stored and sent; strings, resources and variants have no bytes: their size is 0.
//
// Thread rule: constant data; everything is thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_TENSOR_DTYPE_H_
#define TFRT_HOST_RUNTIME_TENSOR_DTYPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

typedef enum tfrt_dtype_e {
  TFRT_DTYPE_INVALID = 0,
  TFRT_DTYPE_UI8 = 1,
  TFRT_DTYPE_UI16 = 2,
  TFRT_DTYPE_UI32 = 3,
  TFRT_DTYPE_UI64 = 4,
  TFRT_DTYPE_I1 = 5,  // one byte, 0 or 1
  TFRT_DTYPE_I8 = 6,
  TFRT_DTYPE_I16 = 7,
  TFRT_DTYPE_I32 = 8,
  TFRT_DTYPE_I64 = 9,
  TFRT_DTYPE_F32 = 10,
  TFRT_DTYPE_F64 = 11,
  TFRT_DTYPE_COMPLEX64 = 12,
  TFRT_DTYPE_COMPLEX128 = 13,
  TFRT_DTYPE_F16 = 14,
  TFRT_DTYPE_BF16 = 15,
  TFRT_DTYPE_STRING = 16,
  TFRT_DTYPE_RESOURCE = 17,
  TFRT_DTYPE_VARIANT = 18,
  TFRT_DTYPE_QUI8 = 19,
  TFRT_DTYPE_QUI16 = 20,
  TFRT_DTYPE_QI8 = 21,
  TFRT_DTYPE_QI16 = 22,
  TFRT_DTYPE_QI32 = 23,
  TFRT_DTYPE_COUNT = 24,
} tfrt_dtype_t;

// The bytes of one element; 0 for a type without bytes and for a number that is no
// dtype. Thread-safe.
size_t tfrt_dtype_size(tfrt_dtype_t dtype);

// The name as tensors print it, e.g. "f32"; "invalid" for a number that is no dtype.
// Static. Thread-safe.
const char* tfrt_dtype_name(tfrt_dtype_t dtype);

// Returns true if elements of |dtype| are computed with here: i1, an integer, f32 or
// f64. Thread-safe.
bool tfrt_dtype_is_plain(tfrt_dtype_t dtype);

// Appends the element of |dtype| at |element|, aligned for it, as TFRT prints it. Integers are in
// decimal, i1 as 0 or 1, f32 and f64 like C's %e. Complex numbers are "(real,imaginary)", 16-bit
// floats "fp16(bits)", and other elements their bytes in hexadecimal. Thread-safe, as |out| is.
void tfrt_dtype_print_element(tfrt_dtype_t dtype, const void* element, tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_DTYPE_H_
