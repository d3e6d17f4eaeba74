// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

// Attributes that make a tensor of several values: a shape, and the values.
#define SHAPE_AND_VALUES(word, kind)                                  \
  static const tfrt_attribute_descriptor_t shape_and_all_##word[] = { \
      {"shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL}, {"values", TFRT_ATTRIBUTE_##kind##_ARRAY, NULL}};
SHAPE_AND_VALUES(i1, I1)
SHAPE_AND_VALUES(ui8, UI8)
SHAPE_AND_VALUES(ui16, UI16)
SHAPE_AND_VALUES(ui32, UI32)
SHAPE_AND_VALUES(ui64, UI64)
SHAPE_AND_VALUES(i8, I8)
SHAPE_AND_VALUES(i16, I16)
SHAPE_AND_VALUES(i32, I32)
SHAPE_AND_VALUES(i64, I64)
SHAPE_AND_VALUES(f32, F32)
SHAPE_AND_VALUES(f64, F64)
SHAPE_AND_VALUES(f16, F16)
SHAPE_AND_VALUES(bf16, BF16)
SHAPE_AND_VALUES(complex64, F32)
SHAPE_AND_VALUES(complex128, F64)

// --- Families: one entry per dtype, or per dtype and rank --------------------------

#define CREATE(dtype, rank)                                                                \
  OP("tfrt_dht_sync.create_uninitialized_tensor." dtype "." #rank,                         \
     "A tensor of " dtype " whose elements are undefined; axes: " #rank ".",               \
     FORM("#shape attr-dict"), OUT(GIVE("result", TENSOR)), SET(NEED("shape", I64_ARRAY)), \
     FLAGS(SYNC_ONLY), EFFECTS(NONE), COST(50))

#define FAMILY(dtype, word, values)                                                                \
  CREATE(dtype, 0), CREATE(dtype, 1), CREATE(dtype, 2), CREATE(dtype, 3), CREATE(dtype, 4),        \
      CREATE(dtype, 5),                                                                            \
      OP("tfrt_dht_sync.create_dense_tensor." dtype,                                               \
         "The tensor with the given shape and the elements `values`; a single one stands for all " \
         "of them.",                                                                               \
         OUT(GIVE("result", TENSOR)), TFRT_ATTRIBUTES(shape_and_all_##word),                       \
         FLAGS(PURE, SYNC_ONLY), COST(100)),                                                       \
      OP("tfrt_dht_sync.create_from_scalar." dtype,                                                \
         "The tensor with the given shape whose elements are all `value`, which is kept once; a "  \
         "complex one is its real and its imaginary part.",                                        \
         FORM("#shape #value attr-dict"), OUT(GIVE("result", TENSOR)),                             \
         TFRT_ATTRIBUTES(shape_and_##word), FLAGS(PURE, SYNC_ONLY), COST(10)),                     \
      OP("tfrt_dht_sync.set_tensor_with_constant_values." dtype,                                   \
         "Sets the elements to `values`, as many numbers as there are.",                           \
         FORM("operands #values attr-dict"), IN(WRITE("tensor", TENSOR)), TFRT_ATTRIBUTES(values), \
         FLAGS(SYNC_ONLY), EFFECTS(NONE), COST(100)),                                              \
      OP("tfrt_dht_sync.make_tensor." dtype,                                                       \
         "The tensor of " dtype " with the given shape in a buffer of that size.",                 \
         FORM("operands attr-dict"), IN(READ("buffer", BUFFER), READ("shape", SHAPE)),             \
         OUT(GIVE("result", TENSOR)), FLAGS(SYNC_ONLY), EFFECTS(NONE, READS_NO_CONTENTS),          \
         .shares = "buffer", COST(10))

// --- The table --------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    FAMILY("bool", i1, i1_values),
    FAMILY("ui8", ui8, ui8_values),
    FAMILY("ui16", ui16, ui16_values),
    FAMILY("ui32", ui32, ui32_values),
    FAMILY("ui64", ui64, ui64_values),
    FAMILY("i8", i8, i8_values),
    FAMILY("i16", i16, i16_values),
    FAMILY("i32", i32, i32_values),
    FAMILY("i64", i64, i64_values),
    FAMILY("f32", f32, f32_values),
    FAMILY("f64", f64, f64_values),
    FAMILY("f16", f16, f16_values),
    FAMILY("bf16", bf16, bf16_values),
    FAMILY("complex64", complex64, f32_values),
    FAMILY("complex128", complex128, f64_values),
    OP("tfrt_dht_sync.print_tensor",
       "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR)), FLAGS(SYNC_ONLY), EFFECTS(OUTPUT),
       COST(100)),
    OP("tfrt_dht_sync.allocate_buffer", "A new buffer of so many bytes, aligned to at most 64.",
       FORM("operands attr-dict"), IN(READ("size", "i64"), READ("alignment", "i64")),
       OUT(GIVE("buffer", BUFFER)), FLAGS(SYNC_ONLY), EFFECTS(NONE), COST(50)),
    OP("tfrt_dht_sync.get_buffer_slice", "A part of a buffer, which shares its bytes.",
       FORM("operands attr-dict"),
       IN(READ("buffer", BUFFER), READ("offset", "i64"), READ("size", "i64")),
       OUT(GIVE("buffer", BUFFER)), FLAGS(SYNC_ONLY), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "buffer", COST(10)),
    OP("tfrt_dht_sync.get_tensor_shape", "The shape of a tensor.", FORM("operands attr-dict"),
       IN(READ("input", TENSOR)), OUT(GIVE("shape", SHAPE)), FLAGS(PURE, SYNC_ONLY),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_sht_sync.create_tensor", "The tensor of the strings `values`.",
       OUT(GIVE("result", TENSOR)), SET(NEED("shape", I64_ARRAY), NEED("values", AGGREGATE)),
       FLAGS(PURE, SYNC_ONLY), COST(100)),
    OP("tfrt_sht_sync.create_uninitialized_tensor", "A tensor of empty strings.",
       OUT(GIVE("result", TENSOR)), SET(NEED("shape", I64_ARRAY)), FLAGS(PURE, SYNC_ONLY),
       COST(50)),
    OP("tfrt_test.sync.const_dense_attr", "The constant tensor `value`.",
       OUT(GIVE("result", TENSOR)), SET(NEED("value", DENSE)), FLAGS(PURE, SYNC_ONLY), COST(50)),
    OP("ts_sync.build_shape", "The shape with the lengths `value`.", FORM("#value attr-dict"),
       OUT(GIVE("shape", SHAPE)), SET(NEED("value", I64_ARRAY)), FLAGS(PURE, SYNC_ONLY), COST(1)),
    OP("ts_sync.get_num_elements", "The number of elements of a tensor with this shape.",
       FORM("operands attr-dict"), IN(READ("shape", SHAPE)), OUT(GIVE("result", "i64")),
       FLAGS(PURE, SYNC_ONLY), COST(1)),
    OP("ts_sync.build_partial_shape", "The partial shape with the lengths `value`; -1 is unknown.",
       FORM("#value attr-dict"), OUT(GIVE("shape", PARTIAL_SHAPE)), SET(NEED("value", I64_ARRAY)),
       FLAGS(PURE, SYNC_ONLY), COST(1)),
    OP("ts_sync.to_shape", "The shape that a partial shape without unknown lengths is.",
       FORM("operands attr-dict"), IN(READ("shape", PARTIAL_SHAPE)), OUT(GIVE("shape", SHAPE)),
       FLAGS(PURE, SYNC_ONLY), COST(1)),
    OP("ts_sync.to_partial_shape", "A shape as a partial shape, of which all is known.",
       FORM("operands attr-dict"), IN(READ("shape", SHAPE)), OUT(GIVE("shape", PARTIAL_SHAPE)),
       FLAGS(PURE, SYNC_ONLY), COST(1)),
};

const tfrt_kernel_table_t tfrt_sync_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
