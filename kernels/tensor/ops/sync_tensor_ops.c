// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

static const tfrt_operand_descriptor_t buffer_and_shape[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"shape", SHAPE, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t written_tensor[] = {
    {"tensor", TENSOR, TFRT_OPERAND_MUTATED}};

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

#define CREATE(dtype, rank)                                                                   \
  {                                                                                           \
    .name = "tfrt_dht_sync.create_uninitialized_tensor." dtype "." #rank,                     \
    .summary = "A tensor of " dtype " whose elements are undefined; axes: " #rank ".",        \
    .assembly = "#shape attr-dict", TFRT_RESULTS(tensor_result), TFRT_ATTRIBUTES(shape_dims), \
    .flags = TFRT_KERNEL_SYNC_ONLY, .effects = TFRT_EFFECT_NONE, .cost = 50                   \
  }

#define FAMILY(dtype, word, values)                                                              \
  CREATE(dtype, 0), CREATE(dtype, 1), CREATE(dtype, 2), CREATE(dtype, 3), CREATE(dtype, 4),      \
      CREATE(dtype, 5),                                                                          \
      {.name = "tfrt_dht_sync.create_dense_tensor." dtype,                                       \
       .summary =                                                                                \
           "The tensor with the given shape and the elements `values`; a single one stands for " \
           "all "                                                                                \
           "of them.",                                                                           \
       TFRT_RESULTS(tensor_result),                                                              \
       TFRT_ATTRIBUTES(shape_and_all_##word),                                                    \
       .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,                                        \
       .cost = 100},                                                                             \
      {.name = "tfrt_dht_sync.create_from_scalar." dtype,                                        \
       .summary =                                                                                \
           "The tensor with the given shape whose elements are all `value`, which is kept "      \
           "once; a complex one is its real and its imaginary part.",                            \
       .assembly = "#shape #value attr-dict",                                                    \
       TFRT_RESULTS(tensor_result),                                                              \
       TFRT_ATTRIBUTES(shape_and_##word),                                                        \
       .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,                                        \
       .cost = 10},                                                                              \
      {.name = "tfrt_dht_sync.set_tensor_with_constant_values." dtype,                           \
       .summary = "Sets the elements to `values`, as many numbers as there are.",                \
       .assembly = "operands #values attr-dict",                                                 \
       TFRT_OPERANDS(written_tensor),                                                            \
       TFRT_ATTRIBUTES(values),                                                                  \
       .flags = TFRT_KERNEL_SYNC_ONLY,                                                           \
       .effects = TFRT_EFFECT_NONE,                                                              \
       .cost = 100},                                                                             \
  {                                                                                              \
    .name = "tfrt_dht_sync.make_tensor." dtype,                                                  \
    .summary = "The tensor of " dtype " with the given shape in a buffer of that size.",         \
    .assembly = "operands attr-dict", TFRT_OPERANDS(buffer_and_shape),                           \
    TFRT_RESULTS(tensor_result), .flags = TFRT_KERNEL_SYNC_ONLY,                                 \
    .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS, .shares = "buffer", .cost = 10  \
  }

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
    {.name = "tfrt_dht_sync.print_tensor",
     .summary = "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     .flags = TFRT_KERNEL_SYNC_ONLY,
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 100},
    {.name = "tfrt_dht_sync.allocate_buffer",
     .summary = "A new buffer of so many bytes, aligned to at most 64.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(size_and_alignment),
     TFRT_RESULTS(buffer_result),
     .flags = TFRT_KERNEL_SYNC_ONLY,
     .effects = TFRT_EFFECT_NONE,
     .cost = 50},
    {.name = "tfrt_dht_sync.get_buffer_slice",
     .summary = "A part of a buffer, which shares its bytes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_range),
     TFRT_RESULTS(buffer_result),
     .flags = TFRT_KERNEL_SYNC_ONLY,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "buffer",
     .cost = 10},
    {.name = "tfrt_dht_sync.get_tensor_shape",
     .summary = "The shape of a tensor.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_sht_sync.create_tensor",
     .summary = "The tensor of the strings `values`.",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(shape_and_strings),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 100},
    {.name = "tfrt_sht_sync.create_uninitialized_tensor",
     .summary = "A tensor of empty strings.",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(shape_dims),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 50},
    {.name = "tfrt_test.sync.const_dense_attr",
     .summary = "The constant tensor `value`.",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dense_value),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 50},
    {.name = "ts_sync.build_shape",
     .summary = "The shape with the lengths `value`.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(shape_result),
     TFRT_ATTRIBUTES(shape_value),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 1},
    {.name = "ts_sync.get_num_elements",
     .summary = "The number of elements of a tensor with this shape.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_shape),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 1},
    {.name = "ts_sync.build_partial_shape",
     .summary = "The partial shape with the lengths `value`; -1 is unknown.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(partial_shape_result),
     TFRT_ATTRIBUTES(shape_value),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 1},
    {.name = "ts_sync.to_shape",
     .summary = "The shape that a partial shape without unknown lengths is.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_partial_shape),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 1},
    {.name = "ts_sync.to_partial_shape",
     .summary = "A shape as a partial shape, of which all is known.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_shape),
     TFRT_RESULTS(partial_shape_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_SYNC_ONLY,
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_sync_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
