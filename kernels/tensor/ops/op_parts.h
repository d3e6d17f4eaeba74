// SPDX-License-Identifier: Apache-2.0
//
// Operands, results and attributes that several entries of this room's op tables share. Only for
// those tables.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_
#define TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_

#include "host_runtime/executor/descriptor/op_row.h"

#define CHAIN "!tfrt.chain"
#define TENSOR "!tfrt_tensor.tensor"
#define SHAPE "!ts.shape"
#define PARTIAL_SHAPE "!ts.partial_shape"
#define FIXED_RANK_SHAPE(rank) "!ts.fixed_rank_shape." #rank
#define BUFFER "!ht.host_buffer"
#define TENSOR_TYPE "!tfrt.tensor_type"

// --- Operands -------------------------------------------------------------------

static const tfrt_operand_descriptor_t shape_and_chain[] = {READ("shape", SHAPE), AFTER};
static const tfrt_operand_descriptor_t shape_and_index[] = {READ("shape", SHAPE),
                                                            READ("index", "i32")};
static const tfrt_operand_descriptor_t fixed_rank_shape_0[] = {READ("shape", FIXED_RANK_SHAPE(0)),
                                                               AFTER};
static const tfrt_operand_descriptor_t fixed_rank_shape_1[] = {READ("shape", FIXED_RANK_SHAPE(1)),
                                                               AFTER};
static const tfrt_operand_descriptor_t fixed_rank_shape_2[] = {READ("shape", FIXED_RANK_SHAPE(2)),
                                                               AFTER};
static const tfrt_operand_descriptor_t fixed_rank_shape_3[] = {READ("shape", FIXED_RANK_SHAPE(3)),
                                                               AFTER};
static const tfrt_operand_descriptor_t written_tensor_and_chain[] = {WRITE("tensor", TENSOR),
                                                                     AFTER};
static const tfrt_operand_descriptor_t chain_and_values[] = {AFTER, READ("values", TFRT_TYPE_ANY)};

// --- Results --------------------------------------------------------------------

static const tfrt_result_descriptor_t i32_result[] = {GIVE("result", "i32")};
static const tfrt_result_descriptor_t i64_result[] = {GIVE("result", "i64")};
static const tfrt_result_descriptor_t f32_result[] = {GIVE("result", "f32")};
static const tfrt_result_descriptor_t f64_result[] = {GIVE("result", "f64")};
static const tfrt_result_descriptor_t fixed_rank_shape_0_result[] = {
    GIVE("shape", FIXED_RANK_SHAPE(0))};
static const tfrt_result_descriptor_t fixed_rank_shape_1_result[] = {
    GIVE("shape", FIXED_RANK_SHAPE(1))};
static const tfrt_result_descriptor_t fixed_rank_shape_2_result[] = {
    GIVE("shape", FIXED_RANK_SHAPE(2))};
static const tfrt_result_descriptor_t fixed_rank_shape_3_result[] = {
    GIVE("shape", FIXED_RANK_SHAPE(3))};

// --- Attributes -----------------------------------------------------------------

static const tfrt_attribute_descriptor_t shape_value[] = {NEED("value", I64_ARRAY)};
static const tfrt_attribute_descriptor_t i1_value[] = {NEED("value", I1)};
static const tfrt_attribute_descriptor_t ui8_value[] = {NEED("value", UI8)};
static const tfrt_attribute_descriptor_t ui16_value[] = {NEED("value", UI16)};
static const tfrt_attribute_descriptor_t ui32_value[] = {NEED("value", UI32)};
static const tfrt_attribute_descriptor_t ui64_value[] = {NEED("value", UI64)};
static const tfrt_attribute_descriptor_t i8_value[] = {NEED("value", I8)};
static const tfrt_attribute_descriptor_t i16_value[] = {NEED("value", I16)};
static const tfrt_attribute_descriptor_t i32_value[] = {NEED("value", I32)};
static const tfrt_attribute_descriptor_t i64_value[] = {NEED("value", I64)};
static const tfrt_attribute_descriptor_t f32_value[] = {NEED("value", F32)};
static const tfrt_attribute_descriptor_t f64_value[] = {NEED("value", F64)};
static const tfrt_attribute_descriptor_t f16_value[] = {NEED("value", F16)};
static const tfrt_attribute_descriptor_t bf16_value[] = {NEED("value", BF16)};
static const tfrt_attribute_descriptor_t complex64_value[] = {NEED("value", F32_ARRAY)};
static const tfrt_attribute_descriptor_t complex128_value[] = {NEED("value", F64_ARRAY)};
static const tfrt_attribute_descriptor_t i1_values[] = {NEED("values", I1_ARRAY)};
static const tfrt_attribute_descriptor_t ui8_values[] = {NEED("values", UI8_ARRAY)};
static const tfrt_attribute_descriptor_t ui16_values[] = {NEED("values", UI16_ARRAY)};
static const tfrt_attribute_descriptor_t ui32_values[] = {NEED("values", UI32_ARRAY)};
static const tfrt_attribute_descriptor_t ui64_values[] = {NEED("values", UI64_ARRAY)};
static const tfrt_attribute_descriptor_t i8_values[] = {NEED("values", I8_ARRAY)};
static const tfrt_attribute_descriptor_t i16_values[] = {NEED("values", I16_ARRAY)};
static const tfrt_attribute_descriptor_t i32_values[] = {NEED("values", I32_ARRAY)};
static const tfrt_attribute_descriptor_t i64_values[] = {NEED("values", I64_ARRAY)};
static const tfrt_attribute_descriptor_t f32_values[] = {NEED("values", F32_ARRAY)};
static const tfrt_attribute_descriptor_t f64_values[] = {NEED("values", F64_ARRAY)};
static const tfrt_attribute_descriptor_t f16_values[] = {NEED("values", F16_ARRAY)};
static const tfrt_attribute_descriptor_t bf16_values[] = {NEED("values", BF16_ARRAY)};
// Attributes that make a tensor of one value: a shape, and the value.
#define SHAPE_AND_VALUE(word, kind)                               \
  static const tfrt_attribute_descriptor_t shape_and_##word[] = { \
      {"shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL}, {"value", TFRT_ATTRIBUTE_##kind, NULL}};
SHAPE_AND_VALUE(i1, I1)
SHAPE_AND_VALUE(ui8, UI8)
SHAPE_AND_VALUE(ui16, UI16)
SHAPE_AND_VALUE(ui32, UI32)
SHAPE_AND_VALUE(ui64, UI64)
SHAPE_AND_VALUE(i8, I8)
SHAPE_AND_VALUE(i16, I16)
SHAPE_AND_VALUE(i32, I32)
SHAPE_AND_VALUE(i64, I64)
SHAPE_AND_VALUE(f32, F32)
SHAPE_AND_VALUE(f64, F64)
SHAPE_AND_VALUE(f16, F16)
SHAPE_AND_VALUE(bf16, BF16)
SHAPE_AND_VALUE(complex64, F32_ARRAY)
SHAPE_AND_VALUE(complex128, F64_ARRAY)

static const tfrt_attribute_descriptor_t shape_and_strings[] = {NEED("shape", I64_ARRAY),
                                                                NEED("values", AGGREGATE)};
static const tfrt_attribute_descriptor_t dense_value[] = {NEED("value", DENSE)};
static const tfrt_attribute_descriptor_t dtype[] = {NEED("dtype", TYPE)};

#endif  // TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_
