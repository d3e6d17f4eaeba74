// SPDX-License-Identifier: Apache-2.0
//
// Attributes: the constants of a program. Each context holds one copy of each, so
// two attributes are equal if their pointers are.
//
//   kind         example                       what is filled in
//   UNIT         unit                          -
//   INTEGER      42 : i32, true                type, bits (sign-extended to 64)
//   FLOAT        1.5 : f32, 0x7FC00000 : f32   type, bits (IEEE, in the type's width)
//   STRING       "a\0A"                        bytes, size; type unless none
//   TYPE         f64                           type
//   ARRAY        [1 : i32, "two"]              elements, count
//   DICTIONARY   {a = 1 : i32}                 entries, count; sorted by name
//   SYMBOL       @f, @a::@b                    names, count
//   DENSE        dense<[1, 2]> : tensor<2xi32> type, bytes, size, is_splat
//   DENSE_ARRAY  array<i64: 1, 2>              type (of elements), bytes, size, count
//   SHAPE        #corert.shape<2x?x3>          dims, count, is_ranked
//   LOCATION     loc("x")                      location
//   RESOURCE     dense_resource<w> : tensor<2xi8>  names[0], type
//   OPAQUE       affine_map<...>, #d<...>      bytes, size: the text as written
//
// Dense bytes are little-endian, row-major, one byte for an i1, and a splat is expanded.
//
// Thread rule: immutable once made; making is as tfrt_ir_context_t.
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_IR_ATTRIBUTE_H_
#define TFRT_COMPILER_IR_ATTRIBUTE_H_

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/context.h"
#include "compiler/ir/location.h"
#include "compiler/ir/type.h"

typedef enum tfrt_ir_attribute_kind_e {
  TFRT_IR_ATTRIBUTE_UNIT = 0,
  TFRT_IR_ATTRIBUTE_INTEGER,
  TFRT_IR_ATTRIBUTE_FLOAT,
  TFRT_IR_ATTRIBUTE_STRING,
  TFRT_IR_ATTRIBUTE_TYPE,
  TFRT_IR_ATTRIBUTE_ARRAY,
  TFRT_IR_ATTRIBUTE_DICTIONARY,
  TFRT_IR_ATTRIBUTE_SYMBOL,
  TFRT_IR_ATTRIBUTE_DENSE,
  TFRT_IR_ATTRIBUTE_DENSE_ARRAY,
  TFRT_IR_ATTRIBUTE_SHAPE,
  TFRT_IR_ATTRIBUTE_LOCATION,
  TFRT_IR_ATTRIBUTE_RESOURCE,
  TFRT_IR_ATTRIBUTE_OPAQUE,
} tfrt_ir_attribute_kind_t;

typedef struct tfrt_ir_attribute_s tfrt_ir_attribute_t;

// A name and what it stands for: an entry of an op's attributes or of a dictionary.
typedef struct tfrt_ir_named_attribute_s {
  const tfrt_ir_string_t* name;
  const tfrt_ir_attribute_t* value;
} tfrt_ir_named_attribute_t;

struct tfrt_ir_attribute_s {
  tfrt_ir_attribute_kind_t kind;
  bool is_splat;   // of DENSE: all elements are the same, so that MLIR writes one
  bool is_ranked;  // of SHAPE
  uint32_t count;
  // The depth of nesting, and the number of attributes inside, counted as often as they occur:
  // bounds for a walk through this attribute. Both saturate.
  uint32_t depth;
  uint32_t weight;
  const tfrt_ir_type_t* type;
  uint64_t bits;
  size_t size;
  union {
    const char* bytes;
    const tfrt_ir_attribute_t* const* elements;
    const tfrt_ir_named_attribute_t* entries;
    const tfrt_ir_string_t* const* names;
    const int64_t* dims;  // TFRT_IR_DYNAMIC where unknown
    const tfrt_ir_location_t* location;
  };
};

// Each of the following returns the attribute, or NULL when memory is out. Arrays and
// bytes are copied. Thread-compatible (caller synchronises).
const tfrt_ir_attribute_t* tfrt_ir_attribute_unit(tfrt_ir_context_t* context);
// |value|: as two's complement; only the type's width of it counts.
const tfrt_ir_attribute_t* tfrt_ir_attribute_integer(tfrt_ir_context_t* context,
                                                     const tfrt_ir_type_t* type, int64_t value);
const tfrt_ir_attribute_t* tfrt_ir_attribute_float_bits(tfrt_ir_context_t* context,
                                                        const tfrt_ir_type_t* type, uint64_t bits);
// |value| is rounded to |type|, which must have values (tfrt_ir_float_has_values(); else NULL).
const tfrt_ir_attribute_t* tfrt_ir_attribute_float(tfrt_ir_context_t* context,
                                                   const tfrt_ir_type_t* type, double value);
// |type| may be NULL.
const tfrt_ir_attribute_t* tfrt_ir_attribute_string(tfrt_ir_context_t* context,
                                                    tfrt_string_view_t text,
                                                    const tfrt_ir_type_t* type);
const tfrt_ir_attribute_t* tfrt_ir_attribute_type(tfrt_ir_context_t* context,
                                                  const tfrt_ir_type_t* type);
const tfrt_ir_attribute_t* tfrt_ir_attribute_array(tfrt_ir_context_t* context,
                                                   const tfrt_ir_attribute_t* const* elements,
                                                   uint32_t count);
// |entries| must have different names; they are sorted here.
const tfrt_ir_attribute_t* tfrt_ir_attribute_dictionary(tfrt_ir_context_t* context,
                                                        const tfrt_ir_named_attribute_t* entries,
                                                        uint32_t count);
// The symbol @names[0]::@names[1]...; |count| is at least 1.
const tfrt_ir_attribute_t* tfrt_ir_attribute_symbol(tfrt_ir_context_t* context,
                                                    const tfrt_ir_string_t* const* names,
                                                    uint32_t count);
// |type| is shaped with a known number of elements of fixed size; |bytes| holds them
// all.
const tfrt_ir_attribute_t* tfrt_ir_attribute_dense(tfrt_ir_context_t* context,
                                                   const tfrt_ir_type_t* type, const void* bytes,
                                                   size_t size);
const tfrt_ir_attribute_t* tfrt_ir_attribute_dense_array(tfrt_ir_context_t* context,
                                                         const tfrt_ir_type_t* element_type,
                                                         const void* bytes, uint32_t count);
const tfrt_ir_attribute_t* tfrt_ir_attribute_shape(tfrt_ir_context_t* context, bool is_ranked,
                                                   const int64_t* dims, uint32_t rank);
const tfrt_ir_attribute_t* tfrt_ir_attribute_location(tfrt_ir_context_t* context,
                                                      const tfrt_ir_location_t* location);
// The elements of shaped |type| that the resource |name| holds.
const tfrt_ir_attribute_t* tfrt_ir_attribute_resource(tfrt_ir_context_t* context,
                                                      const tfrt_ir_string_t* name,
                                                      const tfrt_ir_type_t* type);
const tfrt_ir_attribute_t* tfrt_ir_attribute_opaque(tfrt_ir_context_t* context,
                                                    tfrt_string_view_t text);

// The value of an INTEGER, sign- or zero-extended as its type says (signless: sign,
// but i1 gives 0 or 1). Thread-safe.
int64_t tfrt_ir_attribute_integer_value(const tfrt_ir_attribute_t* attribute);

// The value of a FLOAT of such a type (see below). Thread-safe.
double tfrt_ir_attribute_float_value(const tfrt_ir_attribute_t* attribute);

// Returns true if the numbers of the float type |type| are known here: those of f64 and of
// the narrower types that have a mantissa. Thread-safe.
bool tfrt_ir_float_has_values(const tfrt_ir_type_t* type);

// Converts between a double and the bits of such a type (round to nearest even). Thread-safe.
uint64_t tfrt_ir_float_to_bits(const tfrt_ir_type_t* type, double value);
double tfrt_ir_float_from_bits(const tfrt_ir_type_t* type, uint64_t bits);

// Returns the bytes of a STRING or OPAQUE. Lives as long as its context. Thread-safe.
static inline tfrt_string_view_t tfrt_ir_attribute_text(const tfrt_ir_attribute_t* attribute) {
  return tfrt_string_view_make(attribute->bytes, attribute->size);
}

// Returns a copy of the |count| |entries|, sorted by the bytes of their names, or NULL.
// Thread-compatible (caller synchronises).
const tfrt_ir_named_attribute_t* tfrt_ir_named_attributes_sort(
    tfrt_ir_context_t* context, const tfrt_ir_named_attribute_t* entries, uint32_t count);

// The entry named |name| of the |count| sorted |entries|, or NULL. Thread-safe.
const tfrt_ir_attribute_t* tfrt_ir_named_attributes_find(const tfrt_ir_named_attribute_t* entries,
                                                         uint32_t count, const char* name);

#endif  // TFRT_COMPILER_IR_ATTRIBUTE_H_
