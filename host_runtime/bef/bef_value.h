// SPDX-License-Identifier: Apache-2.0
//
// An attribute's value as plain data, and its encoding: what a writer is given, as the
// reader's counterpart is bef_attribute.h.
//
// Life: filled in by the caller; encoded into the bytes of an attribute section.
//
// Thread rule: a value. Failure rule: values contradicting themselves are a defect.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_VALUE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_VALUE_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/bef/bef_format.h"

TFRT_API_BEGIN

struct tfrt_bef_bytes_s;

typedef struct tfrt_bef_value_s tfrt_bef_value_t;
struct tfrt_bef_value_s {
  tfrt_bef_attribute_type_t type;
  bool is_unranked;         // of SHAPE
  tfrt_bef_dtype_t dtype;   // of DENSE
  uint64_t bits;            // of scalars and TYPE: the low bytes count; of SYMBOL: its id
  uint32_t count;           // of arrays, AGGREGATE and SYMBOL: elements; of SHAPE, DENSE: rank
  tfrt_string_view_t data;  // of STRING; of arrays and DENSE: all elements; of SYMBOL: the text
  const int64_t* dims;      // of SHAPE and DENSE
  const tfrt_bef_value_t* elements;  // of AGGREGATE
  const tfrt_string_view_t* names;   // of SYMBOL: root first
};

// Appends |value| to |bytes|, with the padding that it needs before it, and returns where it
// begins. Thread-compatible.
uint32_t tfrt_bef_value_encode(const tfrt_bef_value_t* value, struct tfrt_bef_bytes_s* bytes);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_VALUE_H_
