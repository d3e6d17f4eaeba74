// SPDX-License-Identifier: Apache-2.0
//
// Operands, results and attributes that several entries of this room's op tables share. Only for
// those tables.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_
#define TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

#define CHAIN "!tfrt.chain"
#define TENSOR "!tfrt_tensor.tensor"
#define SHAPE "!ts.shape"
#define PARTIAL_SHAPE "!ts.partial_shape"
#define FIXED_RANK_SHAPE(rank) "!ts.fixed_rank_shape." #rank
#define BUFFER "!ht.host_buffer"
#define TENSOR_TYPE "!tfrt.tensor_type"

// --- Operands -------------------------------------------------------------------

static const tfrt_operand_descriptor_t one_shape[] = {{"shape", SHAPE, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t two_shapes[] = {
    {"lhs", SHAPE, TFRT_OPERAND_DEMANDED},
    {"rhs", SHAPE, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t shape_and_chain[] = {
    {"shape", SHAPE, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t shape_and_index[] = {
    {"shape", SHAPE, TFRT_OPERAND_DEMANDED},
    {"index", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t one_partial_shape[] = {
    {"shape", PARTIAL_SHAPE, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t partial_shape_and_chain[] = {
    {"shape", PARTIAL_SHAPE, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t fixed_rank_shape_0[] = {
    {"shape", FIXED_RANK_SHAPE(0), TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t fixed_rank_shape_1[] = {
    {"shape", FIXED_RANK_SHAPE(1), TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t fixed_rank_shape_2[] = {
    {"shape", FIXED_RANK_SHAPE(2), TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t fixed_rank_shape_3[] = {
    {"shape", FIXED_RANK_SHAPE(3), TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t one_tensor[] = {{"input", TENSOR, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t two_tensors[] = {
    {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t many_tensors[] = {
    {"first", TENSOR, TFRT_OPERAND_DEMANDED},
    {"others", TENSOR, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t tensor_and_chain[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t two_tensors_and_chain[] = {
    {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t written_tensor_and_chain[] = {
    {"tensor", TENSOR, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t one_tensor_type[] = {
    {"type", TENSOR_TYPE, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t tensor_and_type[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"type", TENSOR_TYPE, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t size_and_alignment[] = {
    {"size", "i64", TFRT_OPERAND_DEMANDED},
    {"alignment", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t buffer_and_chain[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t buffer_and_range[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"offset", "i64", TFRT_OPERAND_DEMANDED},
    {"size", "i64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t buffer_shape_and_chain[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"shape", SHAPE, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t path_and_index[] = {
    {"path", "!tfrt.string", TFRT_OPERAND_DEMANDED},
    {"index", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t one_chain[] = {{"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t tensor_and_factor[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"factor", "f32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t tensor_and_range[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"start", "i32", TFRT_OPERAND_DEMANDED},
    {"count", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t tensor_and_batch[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"index", "i32", TFRT_OPERAND_DEMANDED},
    {"size", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t input_weights_bias[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"weights", TENSOR, TFRT_OPERAND_DEMANDED},
    {"bias", TENSOR, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t chain_and_values[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"values", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};

// --- Results --------------------------------------------------------------------

static const tfrt_result_descriptor_t i1_result[] = {{"result", "i1"}};
static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};
static const tfrt_result_descriptor_t i64_result[] = {{"result", "i64"}};
static const tfrt_result_descriptor_t f32_result[] = {{"result", "f32"}};
static const tfrt_result_descriptor_t f64_result[] = {{"result", "f64"}};
static const tfrt_result_descriptor_t shape_result[] = {{"shape", SHAPE}};
static const tfrt_result_descriptor_t partial_shape_result[] = {{"shape", PARTIAL_SHAPE}};
static const tfrt_result_descriptor_t fixed_rank_shape_0_result[] = {
    {"shape", FIXED_RANK_SHAPE(0)}};
static const tfrt_result_descriptor_t fixed_rank_shape_1_result[] = {
    {"shape", FIXED_RANK_SHAPE(1)}};
static const tfrt_result_descriptor_t fixed_rank_shape_2_result[] = {
    {"shape", FIXED_RANK_SHAPE(2)}};
static const tfrt_result_descriptor_t fixed_rank_shape_3_result[] = {
    {"shape", FIXED_RANK_SHAPE(3)}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t tensor_result[] = {{"result", TENSOR}};
static const tfrt_result_descriptor_t tensor_and_chain_result[] = {{"result", TENSOR},
                                                                   {"chain", CHAIN}};
static const tfrt_result_descriptor_t tensor_type_result[] = {{"type", TENSOR_TYPE}};
static const tfrt_result_descriptor_t name_result[] = {{"name", "!tfrt.string"}};
static const tfrt_result_descriptor_t buffer_result[] = {{"buffer", BUFFER}};
static const tfrt_result_descriptor_t buffer_and_chain_result[] = {{"buffer", BUFFER},
                                                                   {"chain", CHAIN}};
static const tfrt_result_descriptor_t i1_and_chain_result[] = {{"result", "i1"}, {"chain", CHAIN}};
static const tfrt_result_descriptor_t chain_and_tensors_result[] = {{"chain", CHAIN},
                                                                    {"tensors", TENSOR}};

// --- Attributes -----------------------------------------------------------------

static const tfrt_attribute_descriptor_t shape_value[] = {
    {"value", TFRT_ATTRIBUTE_I64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t shape_dims[] = {{"shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i1_value[] = {{"value", TFRT_ATTRIBUTE_I1, NULL}};
static const tfrt_attribute_descriptor_t ui8_value[] = {{"value", TFRT_ATTRIBUTE_UI8, NULL}};
static const tfrt_attribute_descriptor_t ui16_value[] = {{"value", TFRT_ATTRIBUTE_UI16, NULL}};
static const tfrt_attribute_descriptor_t ui32_value[] = {{"value", TFRT_ATTRIBUTE_UI32, NULL}};
static const tfrt_attribute_descriptor_t ui64_value[] = {{"value", TFRT_ATTRIBUTE_UI64, NULL}};
static const tfrt_attribute_descriptor_t i8_value[] = {{"value", TFRT_ATTRIBUTE_I8, NULL}};
static const tfrt_attribute_descriptor_t i16_value[] = {{"value", TFRT_ATTRIBUTE_I16, NULL}};
static const tfrt_attribute_descriptor_t i32_value[] = {{"value", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t i64_value[] = {{"value", TFRT_ATTRIBUTE_I64, NULL}};
static const tfrt_attribute_descriptor_t f32_value[] = {{"value", TFRT_ATTRIBUTE_F32, NULL}};
static const tfrt_attribute_descriptor_t f64_value[] = {{"value", TFRT_ATTRIBUTE_F64, NULL}};
static const tfrt_attribute_descriptor_t f16_value[] = {{"value", TFRT_ATTRIBUTE_F16, NULL}};
static const tfrt_attribute_descriptor_t bf16_value[] = {{"value", TFRT_ATTRIBUTE_BF16, NULL}};
static const tfrt_attribute_descriptor_t complex64_value[] = {
    {"value", TFRT_ATTRIBUTE_F32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t complex128_value[] = {
    {"value", TFRT_ATTRIBUTE_F64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i1_values[] = {{"values", TFRT_ATTRIBUTE_I1_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t ui8_values[] = {
    {"values", TFRT_ATTRIBUTE_UI8_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t ui16_values[] = {
    {"values", TFRT_ATTRIBUTE_UI16_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t ui32_values[] = {
    {"values", TFRT_ATTRIBUTE_UI32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t ui64_values[] = {
    {"values", TFRT_ATTRIBUTE_UI64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i8_values[] = {{"values", TFRT_ATTRIBUTE_I8_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i16_values[] = {
    {"values", TFRT_ATTRIBUTE_I16_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i32_values[] = {
    {"values", TFRT_ATTRIBUTE_I32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i64_values[] = {
    {"values", TFRT_ATTRIBUTE_I64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t f32_values[] = {
    {"values", TFRT_ATTRIBUTE_F32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t f64_values[] = {
    {"values", TFRT_ATTRIBUTE_F64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t f16_values[] = {
    {"values", TFRT_ATTRIBUTE_F16_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t bf16_values[] = {
    {"values", TFRT_ATTRIBUTE_BF16_ARRAY, NULL}};
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

static const tfrt_attribute_descriptor_t shape_and_strings[] = {
    {"shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"values", TFRT_ATTRIBUTE_AGGREGATE, NULL},
};
static const tfrt_attribute_descriptor_t dense_value[] = {{"value", TFRT_ATTRIBUTE_DENSE, NULL}};
static const tfrt_attribute_descriptor_t shape_attribute[] = {
    {"shape", TFRT_ATTRIBUTE_SHAPE, NULL}};
static const tfrt_attribute_descriptor_t dtype_and_shape[] = {
    {"dtype", TFRT_ATTRIBUTE_TYPE, NULL},
    {"shape", TFRT_ATTRIBUTE_SHAPE, NULL},
};
static const tfrt_attribute_descriptor_t dtype[] = {{"dtype", TFRT_ATTRIBUTE_TYPE, NULL}};
static const tfrt_attribute_descriptor_t axis[] = {{"axis", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t path[] = {{"path", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t tensor_type[] = {
    {"tensor_type", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t format[] = {{"format", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t relu[] = {{"relu", TFRT_ATTRIBUTE_I1, "false"}};
static const tfrt_attribute_descriptor_t convolution[] = {
    {"padding", TFRT_ATTRIBUTE_I64_ARRAY, "[0 : i64, 0 : i64]"},
    {"relu", TFRT_ATTRIBUTE_I1, "false"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[1 : i64, 1 : i64]"},
};
static const tfrt_attribute_descriptor_t pooling[] = {
    {"padding", TFRT_ATTRIBUTE_I64_ARRAY, "[0 : i64, 0 : i64]"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"window", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
};

#endif  // TFRT_KERNELS_TENSOR_OPS_OP_PARTS_H_
