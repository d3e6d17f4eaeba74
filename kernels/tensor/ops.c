// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops.h"

#define CHAIN "!tfrt.chain"
#define TENSOR "!tfrt_tensor.tensor"
#define SHAPE "!ts.shape"
#define BUFFER "!ht.host_buffer"

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
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t tensor_result[] = {{"result", TENSOR}};
static const tfrt_result_descriptor_t tensor_and_chain_result[] = {{"result", TENSOR},
                                                                   {"chain", CHAIN}};
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
static const tfrt_attribute_descriptor_t bool_value[] = {{"value", TFRT_ATTRIBUTE_I1, NULL}};
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
static const tfrt_attribute_descriptor_t i32_values[] = {
    {"values", TFRT_ATTRIBUTE_I32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t i64_values[] = {
    {"values", TFRT_ATTRIBUTE_I64_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t f32_values[] = {
    {"values", TFRT_ATTRIBUTE_F32_ARRAY, NULL}};
static const tfrt_attribute_descriptor_t dense_value[] = {{"value", TFRT_ATTRIBUTE_DENSE, NULL}};
static const tfrt_attribute_descriptor_t dtype[] = {{"dtype", TFRT_ATTRIBUTE_TYPE, NULL}};
static const tfrt_attribute_descriptor_t axis[] = {{"axis", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t path[] = {{"path", TFRT_ATTRIBUTE_STRING, NULL}};
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

// --- Families: one entry per dtype, or per dtype and rank --------------------------

// Costs are per element where the kernel works on each; tensors are assumed to be small
// there, and large (unknown) for the maths below.
#define CREATE(dtype, rank)                                                                   \
  {                                                                                           \
    .name = "tfrt_dht.create_uninitialized_tensor." dtype "." #rank,                          \
    .summary = "A tensor of " dtype " whose elements are undefined; axes: " #rank ".",        \
    .assembly = "#shape attr-dict", TFRT_RESULTS(tensor_result), TFRT_ATTRIBUTES(shape_dims), \
    .cost = 50                                                                                \
  }

#define READ(dtype, rank)                                                                         \
  {                                                                                               \
    .name = "btf.read_dense_tensor." dtype "." #rank,                                             \
    .summary = "Tensor `index` of the BTF file `path`: " dtype "; axes: " #rank ".",              \
    .assembly = "operands attr-dict", TFRT_OPERANDS(path_and_index), TFRT_RESULTS(tensor_result), \
    .flags = TFRT_KERNEL_TRAILING_CHAIN, .cost = 100                                              \
  }

#define READ_ALL(dtype) \
  READ(dtype, 0), READ(dtype, 1), READ(dtype, 2), READ(dtype, 3), READ(dtype, 4)

#define DENSE_FAMILY(dtype, value)                                                                \
  CREATE(dtype, 0), CREATE(dtype, 1), CREATE(dtype, 2), CREATE(dtype, 3), CREATE(dtype, 4),       \
      {.name = "tfrt_dht.fill_tensor_with_constant." dtype,                                       \
       .summary = "Sets all elements to `value`.",                                                \
       .assembly = "operands #value:type attr-dict",                                              \
       TFRT_OPERANDS(written_tensor_and_chain),                                                   \
       TFRT_RESULTS(chain_result),                                                                \
       TFRT_ATTRIBUTES(value),                                                                    \
       .cost = 100},                                                                              \
      {.name = "tfrt_dht.make_tensor." dtype,                                                     \
       .summary = "The tensor of " dtype " with the given shape in a buffer of that size.",       \
       .assembly = "operands attr-dict",                                                          \
       TFRT_OPERANDS(buffer_shape_and_chain),                                                     \
       TFRT_RESULTS(tensor_and_chain_result),                                                     \
       .cost = 10},                                                                               \
      {.name = "tfrt_dht.tensor_equal." dtype,                                                    \
       .summary = "Whether both tensors have the same shape and elements.",                       \
       .assembly = "operands attr-dict",                                                          \
       TFRT_OPERANDS(two_tensors_and_chain),                                                      \
       TFRT_RESULTS(i1_and_chain_result),                                                         \
       .cost = 100},                                                                              \
  {                                                                                               \
    .name = "tfrt_dht.tensor_allclose." dtype,                                                    \
    .summary = "Whether both have the same shape and elements within 2 units in the last place.", \
    .assembly = "operands attr-dict", TFRT_OPERANDS(two_tensors_and_chain),                       \
    TFRT_RESULTS(i1_and_chain_result), .cost = 100                                                \
  }

#define SET(dtype, values)                                                             \
  {                                                                                    \
    .name = "tfrt_dht.set_tensor_with_constant_values." dtype,                         \
    .summary = "Sets the elements to `values`, as many as there are.",                 \
    .assembly = "operands #values attr-dict", TFRT_OPERANDS(written_tensor_and_chain), \
    TFRT_RESULTS(chain_result), TFRT_ATTRIBUTES(values), .cost = 100                   \
  }

#define ITEM(type, result)                                                             \
  {                                                                                    \
    .name = "tfrt_tensor.item." type,                                                  \
    .summary = "The only element of a tensor of " type ", as a scalar.",               \
    .assembly = "operands attr-dict", TFRT_OPERANDS(one_tensor), TFRT_RESULTS(result), \
    .flags = TFRT_KERNEL_PURE, .cost = 1                                               \
  }

// --- The table --------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "ts.build_shape",
     .summary = "The shape with the lengths `value`.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(shape_result),
     TFRT_ATTRIBUTES(shape_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.print_shape",
     .summary = "Prints `shape = [2, 3]`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(shape_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "ts.equal_shape",
     .summary = "Whether both shapes have the same axes and lengths.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_shapes),
     TFRT_RESULTS(i1_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.get_num_elements",
     .summary = "The number of elements of a tensor with this shape.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_shape),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},

    DENSE_FAMILY("bool", bool_value),
    DENSE_FAMILY("ui8", ui8_value),
    DENSE_FAMILY("ui16", ui16_value),
    DENSE_FAMILY("ui32", ui32_value),
    DENSE_FAMILY("ui64", ui64_value),
    DENSE_FAMILY("i8", i8_value),
    DENSE_FAMILY("i16", i16_value),
    DENSE_FAMILY("i32", i32_value),
    DENSE_FAMILY("i64", i64_value),
    DENSE_FAMILY("f32", f32_value),
    DENSE_FAMILY("f64", f64_value),
    SET("i32", i32_values),
    SET("i64", i64_values),
    SET("f32", f32_values),
    {.name = "tfrt_dht.print_tensor",
     .summary = "Prints dtype, shape and at most 16 elements.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 100},
    {.name = "tfrt_dht.print_tensor_shape",
     .summary = "Prints `shape = [2, 3]`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_dht.get_tensor_shape",
     .summary = "The shape of a tensor.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_dht.allocate_buffer",
     .summary = "A new buffer of so many bytes, aligned to at most 64.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(size_and_alignment),
     TFRT_RESULTS(buffer_result),
     .cost = 50},
    {.name = "tfrt_dht.get_buffer",
     .summary = "The bytes of a tensor's elements.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(buffer_and_chain_result),
     .cost = 10},
    {.name = "tfrt_dht.get_buffer_slice",
     .summary = "A part of a buffer, which shares its bytes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_range),
     TFRT_RESULTS(buffer_result),
     .cost = 10},
    {.name = "tfrt_dht.print_buffer",
     .summary = "Prints the address and the size of a buffer.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},

    READ_ALL("f32"),
    READ_ALL("i32"),
    READ_ALL("i64"),
    READ_ALL("i8"),
    READ_ALL("ui8"),

    {.name = "tfrt_tensor.read_btf",
     .summary = "All tensors of the BTF file `path`, relative to the program's directory.",
     .assembly = "#path , %chain attr-dict function",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(chain_and_tensors_result),
     TFRT_ATTRIBUTES(path),
     .flags = TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = 1000},
    {.name = "tfrt_tensor.constant",
     .summary = "The constant tensor `value`.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dense_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 50},
    {.name = "tfrt_tensor.cast",
     .summary = "The elements as `dtype`; floats are cut towards zero and to its range.",
     .assembly = "operands to #dtype attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dtype),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.scale",
     .summary = "The f32 elements, each multiplied by `factor`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_factor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.add",
     .summary = "The sum of two tensors that are stretched to each other.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.relu",
     .summary = "The f32 elements, with 0 for negative ones.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.softmax",
     .summary = "Along the last axis, exponentials divided by their sum; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.matmul",
     .summary = "The product of the f32 matrices [M, K] and [K, N].",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.linear",
     .summary = "input [M, K] times weights [K, N] plus bias [N], cut at 0 if `relu`; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(input_weights_bias),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(relu),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.conv2d",
     .summary = "Convolution of images [N, C, H, W] with filters [O, C, KH, KW] plus bias [O], "
                "cut at 0 if `relu`; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(input_weights_bias),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(convolution),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.max_pool2d",
     .summary = "The largest element of each place of a window over images [N, C, H, W]; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(pooling),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.sum",
     .summary = "The sums along `axis`, which is gone from the result.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.argmax",
     .summary = "The places (i64) of the largest elements along `axis`, which is gone.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.reshape",
     .summary = "The same elements with the lengths `shape`, one of which may be -1.",
     .assembly = "operands #shape attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(shape_dims),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "tfrt_tensor.slice",
     .summary = "`count` steps along the first axis, from `start` on.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_range),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "tfrt_tensor.batch",
     .summary = "Batch `index` of at most `size` steps along the first axis.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_batch),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "tfrt_tensor.concat",
     .summary = "The operands, one after the other along the first axis.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(many_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.dim",
     .summary = "The length of `axis`.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_tensor.common_dim",
     .summary = "The length of `axis`, which must be the same in both tensors.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_tensor.count_equal",
     .summary = "The number of places where both tensors have equal elements.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},
    ITEM("i32", i32_result),
    ITEM("i64", i64_result),
    ITEM("f32", f32_result),
    ITEM("f64", f64_result),
    {.name = "tfrt.print_text",
     .summary = "Prints `format`, in which %d, %f, %e, %g and %s stand for the values, as in C.",
     .assembly = "%chain #format ( operands ) attr-dict types",
     TFRT_OPERANDS(chain_and_values),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(format),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 100},
};

const tfrt_kernel_table_t tfrt_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
