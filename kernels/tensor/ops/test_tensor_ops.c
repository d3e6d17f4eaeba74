// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

// --- Operands and attributes ------------------------------------------------------

static const tfrt_operand_descriptor_t product_f32[] = {
    READ("alpha", "f32"), READ("lhs", TENSOR),     READ("rhs", TENSOR),
    READ("beta", "f32"),  WRITE("output", TENSOR), AFTER};
static const tfrt_operand_descriptor_t product_i32[] = {
    READ("alpha", "i32"), READ("lhs", TENSOR),     READ("rhs", TENSOR),
    READ("beta", "i32"),  WRITE("output", TENSOR), AFTER};
static const tfrt_operand_descriptor_t product_i64[] = {
    READ("alpha", "i64"), READ("lhs", TENSOR),     READ("rhs", TENSOR),
    READ("beta", "i64"),  WRITE("output", TENSOR), AFTER};

// --- The table: one family per dtype, and what is there for f32 only -----------------

#define FAMILY(dtype, product)                                                                     \
  OP("tfrt_test.relu." dtype, "Sets `output` to `input`, with 0 for what is negative.",            \
     IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),         \
      OP("tfrt_test.relu_inplace." dtype, "Sets what is negative to 0.",                           \
         IN(WRITE("tensor", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),                            \
      OP("tfrt_test.add." dtype, "Sets `output` to the sum of both, stretched to each other.",     \
         IN(READ("lhs", TENSOR), READ("rhs", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE),  \
         EFFECTS(NONE)),                                                                           \
      OP("tfrt_test.add_inplace." dtype, "Adds `input`, stretched, to `output`.",                  \
         IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),     \
      OP("tfrt_test.subtract_inplace." dtype, "Takes `input`, stretched, from `output`.",          \
         IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),     \
      OP("tfrt_test.substract_inplace." dtype, "The same under its older name.",                   \
         IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),     \
      OP("tfrt_test.equal." dtype, "Sets `output` to 1 where both are equal, else to 0.",          \
         IN(READ("lhs", TENSOR), READ("rhs", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE),  \
         EFFECTS(NONE)),                                                                           \
      OP("tfrt_test.equal_inplace." dtype,                                                         \
         "Sets `output` to 1 where it equals `input`, else to 0.",                                 \
         IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),     \
      OP("tfrt_test.relu_grad_inplace." dtype,                                                     \
         "Sets `gradient` to 0 where `activation` is not above 0.",                                \
         IN(READ("activation", TENSOR), WRITE("gradient", TENSOR), AFTER), OUT(DONE),              \
         EFFECTS(NONE)),                                                                           \
      OP("tfrt_test.broadcast." dtype ".2",                                                        \
         "A tensor with the shape `shape`, which has 2 axes: each line along the last one is "     \
         "`input`.",                                                                               \
         IN(READ("input", TENSOR), READ("shape", SHAPE), AFTER), OUT(GIVE("result", TENSOR)),      \
         EFFECTS(NONE)),                                                                           \
      OP("tfrt_test.broadcast." dtype ".3",                                                        \
         "A tensor with the shape `shape`, which has 3 axes: each line along the last one is "     \
         "`input`.",                                                                               \
         IN(READ("input", TENSOR), READ("shape", SHAPE), AFTER), OUT(GIVE("result", TENSOR)),      \
         EFFECTS(NONE)),                                                                           \
      OP("tfrt_test.reduce_mean." dtype ".1", "The mean of a line.",                               \
         IN(READ("input", TENSOR), AFTER), OUT(GIVE("result", TENSOR)), EFFECTS(NONE)),            \
      OP("tfrt_test.argmax." dtype ".2",                                                           \
         "The places (i32) of the largest elements of each row of a matrix.",                      \
         IN(READ("input", TENSOR), AFTER), OUT(GIVE("result", TENSOR)), EFFECTS(NONE)),            \
      OP("tfrt_test.matmul." dtype ".2",                                                           \
         "Sets `output` to `alpha` times the product of both, plus `beta` times `output`.",        \
         TFRT_OPERANDS(product), OUT(DONE), EFFECTS(NONE)),                                        \
      OP("tfrt_test.slice_inplace." dtype ".3",                                                    \
         "Sets `output` to the block of `input` that begins at `begin` (i64, one for each axis).", \
         IN(READ("input", TENSOR), READ("begin", TENSOR), AFTER, WRITE("output", TENSOR)),         \
         OUT(DONE), EFFECTS(NONE))

static const tfrt_kernel_descriptor_t descriptors[] = {
    FAMILY("f32", product_f32),
    FAMILY("i32", product_i32),
    FAMILY("i64", product_i64),
    OP("tfrt_test.get_static_tensor_type", "The type of tensors named `tensor_type`.",
       OUT(GIVE("type", TENSOR_TYPE)), SET(NEED("tensor_type", STRING)), FLAGS(PURE), COST(1)),
    OP("tfrt_test.cast.i32_to_f32", "Sets `output` to the numbers of `input`.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("eigen.matmul.f32",
       "Sets `output` to `alpha` times the product of both, plus `beta` times `output`.",
       IN(READ("alpha", "f32"), READ("lhs", TENSOR), READ("rhs", TENSOR), READ("beta", "f32"),
          WRITE("output", TENSOR), AFTER),
       OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.max_pooling_2d.f32",
       "The largest element of each place of a window over images [N, H, W, C]; `padding` is "
       "\"valid\" or \"same\".",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE),
       SET(NEED("padding", STRING), NEED("pool_size", I32_ARRAY), NEED("strides", I32_ARRAY)),
       EFFECTS(NONE)),
    OP("tfrt_test.global_average_pooling.f32",
       "Sets `output` ([N, C]) to the mean of each channel of images [N, H, W, C].",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.flatten.f32",
       "Copies the elements of `input` to `output`, which has as many, and the same first axis.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.zero_padding.f32",
       "Sets `output` to images [N, H, W, C] with rows and columns of 0 around them.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE),
       SET(NEED("padding", I32_ARRAY)), EFFECTS(NONE)),
    OP("tfrt_test.softmax_inplace.f32",
       "Sets all elements to their exponentials divided by the sum of these.",
       IN(WRITE("tensor", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.gradient_descent.f32",
       "Takes `gradient`, times the one element of `rate`, from `target`.",
       IN(READ("gradient", TENSOR), READ("rate", TENSOR), WRITE("target", TENSOR), AFTER),
       OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.tensor_transpose.f32",
       "Sets `output` to a matrix with rows and columns exchanged.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.mean_axis_zero.f32", "Sets `output` to the mean of the rows of a matrix.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.broadcast_2d.f32",
       "Sets each pixel of `output` ([N, H, W, C]) to what `input` ([N, C]) says.",
       IN(READ("input", TENSOR), WRITE("output", TENSOR), AFTER), OUT(DONE), EFFECTS(NONE)),
    OP("tfrt_test.parse_example_from_bytes",
       "The record of training data (a protobuf message Example) in a string.",
       FORM("operands attr-dict"), IN(READ("bytes", "!tfrt.string")),
       OUT(GIVE("example", "!proto.example")), FLAGS(PURE), COST(100)),
    OP("tfrt_test.get_bytes_field_from_example", "The one string under `key` in a record.",
       FORM("operands attr-dict"),
       IN(READ("example", "!proto.example"), READ("key", "!tfrt.string")),
       OUT(GIVE("value", "!tfrt.string")), FLAGS(PURE), COST(100)),
    OP("tfrt_test.get_int64_field_from_example", "The one i64 under `key` in a record.",
       FORM("operands attr-dict"),
       IN(READ("example", "!proto.example"), READ("key", "!tfrt.string")),
       OUT(GIVE("result", "i64")), FLAGS(PURE), COST(100)),
    OP("tfrt_test.decode_jpeg", "The JPEG image in a string, as [height, width, 3] of ui8.",
       FORM("operands attr-dict"), IN(READ("bytes", "!tfrt.string")), OUT(GIVE("result", TENSOR)),
       FLAGS(PURE)),
    OP("tfrt_test.resize_bilinear",
       "The image `input` ([H, W, C], ui8) with another height and width, as f32.",
       FORM("operands attr-dict"),
       IN(READ("input", TENSOR), READ("height", "i64"), READ("width", "i64")),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_test.const_dense_attr", "The constant tensor `value`.", OUT(GIVE("result", TENSOR)),
       SET(NEED("value", DENSE)), FLAGS(PURE), COST(50)),
};

const tfrt_kernel_table_t tfrt_test_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
