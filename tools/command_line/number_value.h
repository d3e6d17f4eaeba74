// SPDX-License-Identifier: Apache-2.0
//
// Numbers that a user writes: decimal, hexadecimal behind 0x, true and false for i1, inf and nan
// for floats. No white space belongs to a number, and a zero in front makes none octal.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT, `'TEXT' is no TYPE`.
#ifndef TFRT_TOOLS_COMMAND_LINE_NUMBER_VALUE_H_
#define TFRT_TOOLS_COMMAND_LINE_NUMBER_VALUE_H_

#include "host_runtime/async/type.h"
#include "host_runtime/tensor/dtype.h"

// Room for any of the numbers.
#define TFRT_NUMBER_VALUE_SIZE 8

typedef struct tfrt_number_type_s {
  const char* name;  // "i8", "f32", ...
  tfrt_type_id_t id;
  tfrt_dtype_t dtype;
  uint8_t size;      // of the bytes
  int64_t minimum;   // of whole numbers
  uint64_t maximum;  // of whole numbers; 0: it is none
} tfrt_number_type_t;

// The type called |name|, or NULL if numbers of that type can't be written. Static.
const tfrt_number_type_t* tfrt_number_type_find(const char* name);

// Sets the |type->size| bytes at |out_bytes| to the number that all of |text| is.
tfrt_status_t tfrt_number_value_parse(const tfrt_number_type_t* type, const char* text,
                                      void* out_bytes) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COMMAND_LINE_NUMBER_VALUE_H_
