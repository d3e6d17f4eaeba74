// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

// --- Operands and attributes ------------------------------------------------------

static const tfrt_operand_descriptor_t x_into_y[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t x_and_y_into_z[] = {
    {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t activation_and_gradient[] = {
    {"activation", TENSOR, TFRT_OPERAND_DEMANDED},
    {"gradient", TENSOR, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t gradient_rate_target[] = {
    {"gradient", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rate", TENSOR, TFRT_OPERAND_DEMANDED},
    {"target", TENSOR, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t tensor_shape_chain[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"shape", SHAPE, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t input_begin_chain_output[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"begin", TENSOR, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED},
};
static const tfrt_operand_descriptor_t product_f32[] = {
    {"alpha", "f32", TFRT_OPERAND_DEMANDED},  {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},   {"beta", "f32", TFRT_OPERAND_DEMANDED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED}, {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t product_i32[] = {
    {"alpha", "i32", TFRT_OPERAND_DEMANDED},  {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},   {"beta", "i32", TFRT_OPERAND_DEMANDED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED}, {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t product_i64[] = {
    {"alpha", "i64", TFRT_OPERAND_DEMANDED},  {"lhs", TENSOR, TFRT_OPERAND_DEMANDED},
    {"rhs", TENSOR, TFRT_OPERAND_DEMANDED},   {"beta", "i64", TFRT_OPERAND_DEMANDED},
    {"output", TENSOR, TFRT_OPERAND_MUTATED}, {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};

static const tfrt_operand_descriptor_t image_and_size[] = {
    {"input", TENSOR, TFRT_OPERAND_DEMANDED},
    {"height", "i64", TFRT_OPERAND_DEMANDED},
    {"width", "i64", TFRT_OPERAND_DEMANDED},
};

static const tfrt_operand_descriptor_t one_string[] = {
    {"bytes", "!tfrt.string", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t example_and_key[] = {
    {"example", "!proto.example", TFRT_OPERAND_DEMANDED},
    {"key", "!tfrt.string", TFRT_OPERAND_DEMANDED},
};
static const tfrt_result_descriptor_t example_result[] = {{"example", "!proto.example"}};
static const tfrt_result_descriptor_t string_result[] = {{"value", "!tfrt.string"}};

static const tfrt_attribute_descriptor_t pool_attributes[] = {
    {"padding", TFRT_ATTRIBUTE_STRING, NULL},
    {"pool_size", TFRT_ATTRIBUTE_I32_ARRAY, NULL},
    {"strides", TFRT_ATTRIBUTE_I32_ARRAY, NULL},
};
static const tfrt_attribute_descriptor_t padding_attribute[] = {
    {"padding", TFRT_ATTRIBUTE_I32_ARRAY, NULL}};

// --- The table: one family per dtype, and what is there for f32 only -----------------

#define FAMILY(dtype, product)                                                                    \
  {.name = "tfrt_test.relu." dtype,                                                               \
   .summary = "Sets `output` to `input`, with 0 for what is negative.",                           \
   TFRT_OPERANDS(x_into_y),                                                                       \
   TFRT_RESULTS(chain_result),                                                                    \
   .effects = TFRT_EFFECT_NONE,                                                                   \
   .cost = TFRT_KERNEL_COST_UNKNOWN},                                                             \
      {.name = "tfrt_test.relu_inplace." dtype,                                                   \
       .summary = "Sets what is negative to 0.",                                                  \
       TFRT_OPERANDS(written_tensor_and_chain),                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.add." dtype,                                                            \
       .summary = "Sets `output` to the sum of both, stretched to each other.",                   \
       TFRT_OPERANDS(x_and_y_into_z),                                                             \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.add_inplace." dtype,                                                    \
       .summary = "Adds `input`, stretched, to `output`.",                                        \
       TFRT_OPERANDS(x_into_y),                                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.subtract_inplace." dtype,                                               \
       .summary = "Takes `input`, stretched, from `output`.",                                     \
       TFRT_OPERANDS(x_into_y),                                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.substract_inplace." dtype,                                              \
       .summary = "The same under its older name.",                                               \
       TFRT_OPERANDS(x_into_y),                                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.equal." dtype,                                                          \
       .summary = "Sets `output` to 1 where both are equal, else to 0.",                          \
       TFRT_OPERANDS(x_and_y_into_z),                                                             \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.equal_inplace." dtype,                                                  \
       .summary = "Sets `output` to 1 where it equals `input`, else to 0.",                       \
       TFRT_OPERANDS(x_into_y),                                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.relu_grad_inplace." dtype,                                              \
       .summary = "Sets `gradient` to 0 where `activation` is not above 0.",                      \
       TFRT_OPERANDS(activation_and_gradient),                                                    \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.broadcast." dtype ".2",                                                 \
       .summary =                                                                                 \
           "A tensor with the shape `shape`, which has 2 axes: each line along the last one is "  \
           "`input`.",                                                                            \
       TFRT_OPERANDS(tensor_shape_chain),                                                         \
       TFRT_RESULTS(tensor_result),                                                               \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.broadcast." dtype ".3",                                                 \
       .summary =                                                                                 \
           "A tensor with the shape `shape`, which has 3 axes: each line along the last one is "  \
           "`input`.",                                                                            \
       TFRT_OPERANDS(tensor_shape_chain),                                                         \
       TFRT_RESULTS(tensor_result),                                                               \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.reduce_mean." dtype ".1",                                               \
       .summary = "The mean of a line.",                                                          \
       TFRT_OPERANDS(tensor_and_chain),                                                           \
       TFRT_RESULTS(tensor_result),                                                               \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.argmax." dtype ".2",                                                    \
       .summary = "The places (i32) of the largest elements of each row of a matrix.",            \
       TFRT_OPERANDS(tensor_and_chain),                                                           \
       TFRT_RESULTS(tensor_result),                                                               \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
      {.name = "tfrt_test.matmul." dtype ".2",                                                    \
       .summary =                                                                                 \
           "Sets `output` to `alpha` times the product of both, plus `beta` times `output`.",     \
       TFRT_OPERANDS(product),                                                                    \
       TFRT_RESULTS(chain_result),                                                                \
       .effects = TFRT_EFFECT_NONE,                                                               \
       .cost = TFRT_KERNEL_COST_UNKNOWN},                                                         \
  {                                                                                               \
    .name = "tfrt_test.slice_inplace." dtype ".3",                                                \
    .summary =                                                                                    \
        "Sets `output` to the block of `input` that begins at `begin` (i64, one for each axis).", \
    TFRT_OPERANDS(input_begin_chain_output), TFRT_RESULTS(chain_result),                          \
    .effects = TFRT_EFFECT_NONE, .cost = TFRT_KERNEL_COST_UNKNOWN                                 \
  }

static const tfrt_kernel_descriptor_t descriptors[] = {
    FAMILY("f32", product_f32),
    FAMILY("i32", product_i32),
    FAMILY("i64", product_i64),
    {.name = "tfrt_test.get_static_tensor_type",
     .summary = "The type of tensors named `tensor_type`.",
     TFRT_RESULTS(tensor_type_result),
     TFRT_ATTRIBUTES(tensor_type),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_test.cast.i32_to_f32",
     .summary = "Sets `output` to the numbers of `input`.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "eigen.matmul.f32",
     .summary = "Sets `output` to `alpha` times the product of both, plus `beta` times `output`.",
     TFRT_OPERANDS(product_f32),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.max_pooling_2d.f32",
     .summary = "The largest element of each place of a window over images [N, H, W, C]; `padding` "
                "is \"valid\" or \"same\".",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(pool_attributes),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.global_average_pooling.f32",
     .summary = "Sets `output` ([N, C]) to the mean of each channel of images [N, H, W, C].",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.flatten.f32",
     .summary =
         "Copies the elements of `input` to `output`, which has as many, and the same first axis.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.zero_padding.f32",
     .summary = "Sets `output` to images [N, H, W, C] with rows and columns of 0 around them.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(padding_attribute),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.softmax_inplace.f32",
     .summary = "Sets all elements to their exponentials divided by the sum of these.",
     TFRT_OPERANDS(written_tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.gradient_descent.f32",
     .summary = "Takes `gradient`, times the one element of `rate`, from `target`.",
     TFRT_OPERANDS(gradient_rate_target),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.tensor_transpose.f32",
     .summary = "Sets `output` to a matrix with rows and columns exchanged.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.mean_axis_zero.f32",
     .summary = "Sets `output` to the mean of the rows of a matrix.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.broadcast_2d.f32",
     .summary = "Sets each pixel of `output` ([N, H, W, C]) to what `input` ([N, C]) says.",
     TFRT_OPERANDS(x_into_y),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.parse_example_from_bytes",
     .summary = "The record of training data (a protobuf message Example) in a string.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_string),
     TFRT_RESULTS(example_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},
    {.name = "tfrt_test.get_bytes_field_from_example",
     .summary = "The one string under `key` in a record.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(example_and_key),
     TFRT_RESULTS(string_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},
    {.name = "tfrt_test.get_int64_field_from_example",
     .summary = "The one i64 under `key` in a record.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(example_and_key),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},
    {.name = "tfrt_test.decode_jpeg",
     .summary = "The JPEG image in a string, as [height, width, 3] of ui8.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_string),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.resize_bilinear",
     .summary = "The image `input` ([H, W, C], ui8) with another height and width, as f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(image_and_size),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.const_dense_attr",
     .summary = "The constant tensor `value`.",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dense_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 50},
};

const tfrt_kernel_table_t tfrt_test_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
