// SPDX-License-Identifier: Apache-2.0
//
// Where an op came from: what `loc(...)` says, or else the place in the text that was
// parsed. Locations are made, not uniqued: BEF wants one record for each op.
//
// Thread rule: immutable once made; making is as tfrt_ir_context_t.
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_IR_LOCATION_H_
#define TFRT_COMPILER_IR_LOCATION_H_

#include <stdint.h>

#include "compiler/ir/context.h"

typedef enum tfrt_ir_location_kind_e {
  TFRT_IR_LOCATION_UNKNOWN = 0,  // loc(unknown)
  TFRT_IR_LOCATION_FILE,         // loc("f.mlir":1:2); |name|, |line|, |column|
  TFRT_IR_LOCATION_NAME,         // loc("x") or loc("x"(child)); |name|, |first|
  TFRT_IR_LOCATION_CALL_SITE,    // loc(callsite(a at b)); |first| callee, |second| caller
  TFRT_IR_LOCATION_FUSED,        // loc(fused[a, b]); |members|, |metadata|
} tfrt_ir_location_kind_t;

struct tfrt_ir_attribute_s;

typedef struct tfrt_ir_location_s tfrt_ir_location_t;
struct tfrt_ir_location_s {
  tfrt_ir_location_kind_t kind;
  uint32_t line;
  uint32_t column;
  uint32_t end_line;  // of a range `"f":1:2 to 3:4`; 0 if it is none
  uint32_t end_column;
  uint32_t member_count;
  // How deep this goes, and of how many locations it consists, counted as often as they
  // occur: bounds for who walks through it. |weight| is 0 only while a parser has not
  // yet seen an alias in it.
  uint32_t depth;
  uint32_t weight;
  const tfrt_ir_string_t* name;
  const tfrt_ir_location_t* first;  // of NAME: the child, or NULL for unknown
  const tfrt_ir_location_t* second;
  const tfrt_ir_location_t* const* members;
  const struct tfrt_ir_attribute_s* metadata;  // of FUSED: may be NULL
};

// Each of the following returns a new location, or NULL when memory is out. Arrays
// are copied. Thread-compatible (caller synchronises).
const tfrt_ir_location_t* tfrt_ir_location_unknown(tfrt_ir_context_t* context);
const tfrt_ir_location_t* tfrt_ir_location_file(tfrt_ir_context_t* context,
                                                const tfrt_ir_string_t* file, uint32_t line,
                                                uint32_t column);
// The same for a range of text.
const tfrt_ir_location_t* tfrt_ir_location_file_range(tfrt_ir_context_t* context,
                                                      const tfrt_ir_string_t* file, uint32_t line,
                                                      uint32_t column, uint32_t end_line,
                                                      uint32_t end_column);
// |child| may be NULL.
const tfrt_ir_location_t* tfrt_ir_location_name(tfrt_ir_context_t* context,
                                                const tfrt_ir_string_t* name,
                                                const tfrt_ir_location_t* child);
const tfrt_ir_location_t* tfrt_ir_location_call_site(tfrt_ir_context_t* context,
                                                     const tfrt_ir_location_t* callee,
                                                     const tfrt_ir_location_t* caller);
// |metadata| may be NULL.
const tfrt_ir_location_t* tfrt_ir_location_fused(tfrt_ir_context_t* context,
                                                 const tfrt_ir_location_t* const* members,
                                                 uint32_t count,
                                                 const struct tfrt_ir_attribute_s* metadata);

// Sets depth and weight of |location| from its parts'; both saturate. The constructors
// do; a parser does it again when an alias is known. Thread-compatible (caller
// synchronises).
void tfrt_ir_location_measure(tfrt_ir_location_t* location);

// The nearest file location in |location| (itself, a child, the callee, the first
// member that has one), or NULL: for diagnostics. Thread-safe.
const tfrt_ir_location_t* tfrt_ir_location_nearest_file(const tfrt_ir_location_t* location);

#endif  // TFRT_COMPILER_IR_LOCATION_H_
