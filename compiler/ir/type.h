// SPDX-License-Identifier: Apache-2.0
//
// Types of the IR: the builtin ones of MLIR, taken apart as far as anybody here asks,
// and dialect types such as `!tfrt.chain`, kept as their text.
//
// Each context holds one copy of each type, found by its printed text, which is also
// what BEF stores. So two types are equal if their pointers are.
//
// Thread rule: immutable once made; making is as tfrt_ir_context_t.
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_IR_TYPE_H_
#define TFRT_COMPILER_IR_TYPE_H_

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/context.h"

typedef enum tfrt_ir_type_kind_e {
  TFRT_IR_TYPE_INTEGER = 0,  // i32, si8, ui64; |width|, |signedness|
  TFRT_IR_TYPE_INDEX,        // index
  TFRT_IR_TYPE_FLOAT,        // f16, bf16, f32, f64, and the 8-bit family; |width|
  TFRT_IR_TYPE_NONE,         // none
  TFRT_IR_TYPE_FUNCTION,     // (i32) -> f32; |inputs|, |results|
  TFRT_IR_TYPE_TUPLE,        // tuple<i32, f32>; |inputs|
  TFRT_IR_TYPE_COMPLEX,      // complex<f32>; |element|
  TFRT_IR_TYPE_TENSOR,       // tensor<2x?xf32>; |element|, |dims|, |is_ranked|
  TFRT_IR_TYPE_VECTOR,       // vector<4xf32>; likewise
  TFRT_IR_TYPE_MEMREF,       // memref<2x?xf32>; likewise
  TFRT_IR_TYPE_DIALECT,      // !tfrt.chain, !tfrt_tensor<[2,3],f32>; |text| only
} tfrt_ir_type_kind_t;

typedef enum tfrt_ir_signedness_e {
  TFRT_IR_SIGNLESS = 0,  // i32
  TFRT_IR_SIGNED,        // si32
  TFRT_IR_UNSIGNED,      // ui32
} tfrt_ir_signedness_t;

// A dimension that is not known: `?`.
#define TFRT_IR_DYNAMIC INT64_MIN

typedef struct tfrt_ir_type_s tfrt_ir_type_t;
struct tfrt_ir_type_s {
  tfrt_ir_type_kind_t kind;
  tfrt_ir_signedness_t signedness;
  uint32_t width;                 // in bits; 64 for index
  bool is_ranked;                 // of shaped types: false for tensor<*xf32>
  uint32_t rank;                  // number of |dims|
  uint32_t input_count;           // of |inputs|
  uint32_t result_count;          // of |results|
  const int64_t* dims;            // TFRT_IR_DYNAMIC where unknown
  const tfrt_ir_type_t* element;  // also of `!async.value<element>`
  const tfrt_ir_type_t* const* inputs;
  const tfrt_ir_type_t* const* results;
  const tfrt_ir_string_t* suffix;  // layout, encoding, memory space as written, or NULL
  const tfrt_ir_string_t* text;    // as MLIR prints it
};

// Each of the following returns the type, or NULL when memory is out. Arrays are
// copied. Thread-compatible (caller synchronises).

// The integer type of |width| bits, 1 to 2^24 - 1.
const tfrt_ir_type_t* tfrt_ir_type_integer(tfrt_ir_context_t* context, uint32_t width,
                                           tfrt_ir_signedness_t signedness);
const tfrt_ir_type_t* tfrt_ir_type_index(tfrt_ir_context_t* context);
const tfrt_ir_type_t* tfrt_ir_type_none(tfrt_ir_context_t* context);

// The float type named |name|, e.g. "bf16"; NULL also if there is no such type.
const tfrt_ir_type_t* tfrt_ir_type_float(tfrt_ir_context_t* context, tfrt_string_view_t name);

const tfrt_ir_type_t* tfrt_ir_type_function(tfrt_ir_context_t* context,
                                            const tfrt_ir_type_t* const* inputs,
                                            uint32_t input_count,
                                            const tfrt_ir_type_t* const* results,
                                            uint32_t result_count);
const tfrt_ir_type_t* tfrt_ir_type_tuple(tfrt_ir_context_t* context,
                                         const tfrt_ir_type_t* const* elements, uint32_t count);
const tfrt_ir_type_t* tfrt_ir_type_complex(tfrt_ir_context_t* context,
                                           const tfrt_ir_type_t* element);

// The tensor, vector or memref type (|kind|) of |element|. |suffix| is what follows
// the element behind a comma, as written, or NULL.
const tfrt_ir_type_t* tfrt_ir_type_shaped(tfrt_ir_context_t* context, tfrt_ir_type_kind_t kind,
                                          bool is_ranked, const int64_t* dims, uint32_t rank,
                                          const tfrt_ir_type_t* element,
                                          const tfrt_ir_string_t* suffix);

// The dialect type with text |text|, which begins with `!`.
const tfrt_ir_type_t* tfrt_ir_type_dialect(tfrt_ir_context_t* context, tfrt_string_view_t text);

// The type `!async.value<element>`, a dialect type that knows its |element|.
const tfrt_ir_type_t* tfrt_ir_type_async_value(tfrt_ir_context_t* context,
                                               const tfrt_ir_type_t* element);

// The type that is printed as |text|, if |context| has it already, or NULL: quicker than
// making it again. Thread-compatible (caller synchronises).
const tfrt_ir_type_t* tfrt_ir_type_find(const tfrt_ir_context_t* context, tfrt_string_view_t text);

// Returns true if |type| is the dialect type with NUL-terminated text |text|, or
// another type that is printed so. Thread-safe.
static inline bool tfrt_ir_type_is(const tfrt_ir_type_t* type, const char* text) {
  return tfrt_ir_string_is(type->text, text);
}

// Whether |type| is a tensor or vector type, or the like, with a known size of each dimension.
// Thread-safe.
bool tfrt_ir_type_has_static_shape(const tfrt_ir_type_t* type);

// Sets |*out_count| to the number of elements of shaped |type| and returns true;
// false if a dimension is unknown or the product overflows. Thread-safe.
bool tfrt_ir_type_element_count(const tfrt_ir_type_t* type, size_t* out_count);

// The bytes that BEF and dense attributes give one element of |type|: 1 for i1, width
// / 8 for other integers, floats and index, twice that for complex; 0 if it has no
// fixed size. Thread-safe.
size_t tfrt_ir_type_byte_size(const tfrt_ir_type_t* type);

#endif  // TFRT_COMPILER_IR_TYPE_H_
