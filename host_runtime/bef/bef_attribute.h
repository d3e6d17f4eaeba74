// SPDX-License-Identifier: Apache-2.0
//
// How attribute values lie in the attribute section. An attribute is a byte offset; its
// type is not in the file (but for an optional section), so each kernel says what it
// expects, that is checked once when the program is resolved, and trusted after that.
//
//   scalar      the value, naturally aligned       dtype   1 byte
//   string      length:u32 | bytes                 array   count:u32 | elements
//   shape       header | rank:u32 | dims:i64[]                (rank unknown: u32 0)
//   dense       header | offset:u32 | count:u32 | rank:u32 | dims:i64[] | data
//   aggregate   header | count:u32 | offsets:u32[] | elements, each behind its type
//   header      alignment:u8 | dtype:u8 | prefix size:u16 | total size:u32
//
// Life:
//  1. tfrt_bef_attribute_check() at load, with the type that the reader will assume.
//  2. The readers, on the address section + offset, any number of times.
//
// Thread rule: constant data; everything is thread-safe.
// Failure rule: only the check fails; the readers on something unchecked are a defect.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_ATTRIBUTE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_ATTRIBUTE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/bef/bef_format.h"

TFRT_API_BEGIN

// A shape attribute. |dims| are -1 where unknown, 8-byte aligned.
typedef struct tfrt_bef_shape_s {
  bool ranked;
  uint32_t rank;
  const int64_t* dims;
} tfrt_bef_shape_t;

// A dense attribute: row-major elements, 8-byte aligned, one byte per i1.
typedef struct tfrt_bef_dense_s {
  tfrt_bef_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;     // none is negative
  uint64_t element_count;  // the product of |dims|
  const void* data;
  size_t data_size;
} tfrt_bef_dense_t;

// An array attribute of fixed-width elements, aligned for them.
typedef struct tfrt_bef_array_s {
  uint32_t count;
  const void* data;
} tfrt_bef_array_t;

// Checks that the attribute at |offset| of the |section_size| bytes at |section| is a whole
// value of |type|, with all that it contains inside the section and aligned for in-place
// reading. Empty arrays pass for any array type and as an aggregate; an I1 is 0 or 1; a
// FUNCTION isn't stored and never passes. Errors: INVALID_ARGUMENT. Thread-safe.
tfrt_status_t tfrt_bef_attribute_check(const uint8_t* section, size_t section_size, uint32_t offset,
                                       tfrt_bef_attribute_type_t type) TFRT_MUST_USE;

// The number of bytes from |attribute| to the end of the checked value of |type|.
// Thread-safe.
size_t tfrt_bef_attribute_size(const void* attribute, tfrt_bef_attribute_type_t type);

// A scalar; |attribute| is aligned for it. Thread-safe.
static inline uint32_t tfrt_bef_attribute_read_u32(const void* attribute) {
  uint32_t value;
  memcpy(&value, attribute, sizeof(value));
  return value;
}
static inline uint64_t tfrt_bef_attribute_read_u64(const void* attribute) {
  uint64_t value;
  memcpy(&value, attribute, sizeof(value));
  return value;
}

// The bytes of a string; no NUL behind them. Thread-safe.
static inline tfrt_string_view_t tfrt_bef_attribute_string(const void* attribute) {
  return tfrt_string_view_make((const char*)attribute + sizeof(uint32_t),
                               tfrt_bef_attribute_read_u32(attribute));
}

// The elements of an array of a fixed-width type. Thread-safe.
static inline tfrt_bef_array_t tfrt_bef_attribute_array(const void* attribute) {
  tfrt_bef_array_t array = {tfrt_bef_attribute_read_u32(attribute),
                            (const char*)attribute + sizeof(uint32_t)};
  return array;
}

// A shape. Thread-safe.
tfrt_bef_shape_t tfrt_bef_attribute_shape(const void* attribute);

// A dense attribute. Thread-safe.
tfrt_bef_dense_t tfrt_bef_attribute_dense(const void* attribute);

// The number of elements of an aggregate; 0 for an empty array. Thread-safe.
uint32_t tfrt_bef_attribute_aggregate_count(const void* attribute);

// Element |index| of an aggregate, and its type. Thread-safe.
const void* tfrt_bef_attribute_aggregate_element(const void* attribute, uint32_t index,
                                                 tfrt_bef_attribute_type_t* out_type);

// The name of |type| for messages, e.g. "i32", "string", "array of i64". Static, but for
// arrays in a per-type constant. Thread-safe.
const char* tfrt_bef_attribute_type_name(tfrt_bef_attribute_type_t type);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_ATTRIBUTE_H_
