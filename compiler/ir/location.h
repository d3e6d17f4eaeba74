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
  TFRT_IR_LOCATION_FILE,         // loc("f.mlir":1:2)
  TFRT_IR_LOCATION_NAME,         // loc("x") or loc("x"(child))
  TFRT_IR_LOCATION_CALL_SITE,    // loc(callsite(a at b))
  TFRT_IR_LOCATION_FUSED,        // loc(fused[a, b])
} tfrt_ir_location_kind_t;

struct tfrt_ir_attribute_s;

// Each op has one, so it is small: |kind| says which part of the union there is.
typedef struct tfrt_ir_location_s tfrt_ir_location_t;
struct tfrt_ir_location_s {
  tfrt_ir_location_kind_t kind;
  // The depth of nesting, and the number of locations inside, counted as often as they occur:
  // bounds for a walk through this location. |weight| is 0 only while a parser has not yet seen an
  // alias in it.
  uint32_t depth;
  uint32_t weight;
  uint32_t member_count;         // of FUSED; else 0
  const tfrt_ir_string_t* name;  // of FILE and NAME
  union {
    struct {  // FILE
      uint32_t line;
      uint32_t column;
      uint32_t end_line;  // of a range `"f":1:2 to 3:4`; 0 if it is none
      uint32_t end_column;
    };
    struct {  // NAME (first: the child, or NULL for unknown), CALL_SITE (callee, caller)
      const tfrt_ir_location_t* first;
      const tfrt_ir_location_t* second;
    };
    struct {  // FUSED
      const tfrt_ir_location_t* const* members;
      const struct tfrt_ir_attribute_s* metadata;  // may be NULL
    };
  };
};

// The locations that |location| consists of: their number, and the one with |index|. Thread-safe.
static inline uint32_t tfrt_ir_location_part_count(const tfrt_ir_location_t* location) {
  if (location->kind == TFRT_IR_LOCATION_NAME) return location->first ? 1 : 0;
  return location->kind == TFRT_IR_LOCATION_CALL_SITE ? 2 : location->member_count;
}
static inline const tfrt_ir_location_t* tfrt_ir_location_part(const tfrt_ir_location_t* location,
                                                              uint32_t index) {
  if (location->kind == TFRT_IR_LOCATION_FUSED) return location->members[index];
  return index == 0 ? location->first : location->second;
}

// Makes |location| a place in |file|. Thread-compatible (caller synchronises).
static inline void tfrt_ir_location_initialize_file(tfrt_ir_location_t* location,
                                                    const tfrt_ir_string_t* file, uint32_t line,
                                                    uint32_t column) {
  *location = (tfrt_ir_location_t){.kind = TFRT_IR_LOCATION_FILE,
                                   .depth = 1,
                                   .weight = 1,
                                   .name = file,
                                   .line = line,
                                   .column = column};
}

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
