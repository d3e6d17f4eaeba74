// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/ops.h"

#include "kernels/tensor/ops/op_parts.h"

// --- Families: one entry per dtype, or per dtype and rank --------------------------

// Costs are per element where the kernel works on each; tensors are assumed to be small
// there, and large (unknown) for the maths below.
#define FIXED_RANK(rank, operands, result)                                                       \
  {.name = "ts.as_fixed_rank_shape." #rank,                                                      \
   .summary = "A shape with " #rank " axes as one that always has so many.",                     \
   .assembly = "operands attr-dict",                                                             \
   TFRT_OPERANDS(one_shape),                                                                     \
   TFRT_RESULTS(result),                                                                         \
   .flags = TFRT_KERNEL_PURE,                                                                    \
   .cost = 1},                                                                                   \
  {                                                                                              \
    .name = "ts.print_fixed_rank_shape." #rank, .summary = "Prints `fixed_rank_shape = [...]`.", \
    .assembly = "operands attr-dict", TFRT_OPERANDS(operands), TFRT_RESULTS(chain_result),       \
    .effects = TFRT_EFFECT_OUTPUT, .cost = 10                                                    \
  }

#define READ_LAYOUT(name_of_layout, word, dtype, rank)                                            \
  {                                                                                               \
    .name = "btf.read_" name_of_layout "_tensor." dtype "." #rank,                                \
    .summary = "Tensor `index` of the BTF file `path`: " word ", " dtype "; axes: " #rank ".",    \
    .assembly = "operands attr-dict", TFRT_OPERANDS(path_and_index), TFRT_RESULTS(tensor_result), \
    .flags = TFRT_KERNEL_TRAILING_CHAIN, .effects = TFRT_EFFECT_FILE_READ, .cost = 100            \
  }

#define READ(dtype, rank) \
  READ_LAYOUT("dense", "dense", dtype, rank), READ_LAYOUT("coo", "sparse", dtype, rank)

#define READ_ALL(dtype) \
  READ(dtype, 0), READ(dtype, 1), READ(dtype, 2), READ(dtype, 3), READ(dtype, 4)

#define SPARSE(dtype, rank)                                                             \
  {.name = "coo.convert_dht_to_coo." dtype "." #rank,                                   \
   .summary = "A dense tensor of " dtype " as a sparse one; axes: " #rank ".",          \
   .assembly = "operands attr-dict",                                                    \
   TFRT_OPERANDS(tensor_and_chain),                                                     \
   TFRT_RESULTS(tensor_and_chain_result),                                               \
   .effects = TFRT_EFFECT_NONE,                                                         \
   .cost = 100},                                                                        \
      {.name = "coo.convert_coo_to_dht." dtype "." #rank,                               \
       .summary = "A sparse tensor of " dtype " as a dense one; axes: " #rank ".",      \
       .assembly = "operands attr-dict",                                                \
       TFRT_OPERANDS(tensor_and_chain),                                                 \
       TFRT_RESULTS(tensor_and_chain_result),                                           \
       .effects = TFRT_EFFECT_NONE,                                                     \
       .cost = 100},                                                                    \
  {                                                                                     \
    .name = "coo.tensor_equal." dtype "." #rank,                                        \
    .summary = "Whether both sparse tensors list the same elements in the same order.", \
    .assembly = "operands attr-dict", TFRT_OPERANDS(two_tensors_and_chain),             \
    TFRT_RESULTS(i1_and_chain_result), .effects = TFRT_EFFECT_NONE, .cost = 100         \
  }

#define SPARSE_ALL(dtype) SPARSE(dtype, 0), SPARSE(dtype, 1), SPARSE(dtype, 2), SPARSE(dtype, 3)

#define ITEM(type, result)                                                             \
  {                                                                                    \
    .name = "tfrt_tensor.item." type,                                                  \
    .summary = "The only element of a tensor of " type ", as a scalar.",               \
    .assembly = "operands attr-dict", TFRT_OPERANDS(one_tensor), TFRT_RESULTS(result), \
    .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN, .cost = 1                  \
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
     .effects = TFRT_EFFECT_OUTPUT,
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
    FIXED_RANK(0, fixed_rank_shape_0, fixed_rank_shape_0_result),
    FIXED_RANK(1, fixed_rank_shape_1, fixed_rank_shape_1_result),
    FIXED_RANK(2, fixed_rank_shape_2, fixed_rank_shape_2_result),
    FIXED_RANK(3, fixed_rank_shape_3, fixed_rank_shape_3_result),
    {.name = "ts.build_partial_shape",
     .summary = "The partial shape with the lengths `value`; -1 is unknown.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(partial_shape_result),
     TFRT_ATTRIBUTES(shape_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.build_unranked_partial_shape",
     .summary = "The partial shape of which nothing is known.",
     .assembly = "attr-dict",
     TFRT_RESULTS(partial_shape_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.print_partial_shape",
     .summary = "Prints `partial_tensor_shape = [-1, 3]`, or `Unknown rank` for the lengths.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(partial_shape_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 10},
    {.name = "ts.to_shape",
     .summary = "The shape that a partial shape without unknown lengths is.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_partial_shape),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.to_partial_shape",
     .summary = "A shape as a partial shape, of which all is known.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_shape),
     TFRT_RESULTS(partial_shape_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "ts.get_dimension",
     .summary = "The length of axis `index` of a shape.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(shape_and_index),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},

    READ_ALL("i8"),
    READ_ALL("i16"),
    READ_ALL("i32"),
    READ_ALL("i64"),
    READ_ALL("f32"),
    READ_ALL("f64"),
    READ_ALL("ui8"),
    READ_ALL("ui16"),
    READ_ALL("ui32"),
    READ_ALL("ui64"),

    SPARSE_ALL("i32"),
    SPARSE_ALL("f32"),
    {.name = "coo.print_tensor",
     .summary = "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 100},

    {.name = "tfrt_sht.create_tensor",
     .summary = "The tensor of the strings `values`.",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(shape_and_strings),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100},

    {.name = "tfrt_tensor.read_btf",
     .summary = "All tensors of the BTF file `path`, relative to the program's directory.",
     .assembly = "#path , %chain attr-dict function",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(chain_and_tensors_result),
     TFRT_ATTRIBUTES(path),
     .flags = TFRT_KERNEL_VARIADIC_RESULTS,
     .effects = TFRT_EFFECT_FILE_READ,
     .cost = 1000},
    {.name = "tfrt_tensor.constant",
     .summary = "The constant tensor `value`.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dense_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 50},
    {.name = "tfrt_tensor.zeros",
     .summary = "A tensor with the given shape and dtype, all of whose elements are 0.",
     .assembly = "#shape of #dtype attr-dict",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dtype_and_shape),
     .flags = TFRT_KERNEL_PURE,
     .cost = 50},
    {.name = "tfrt_tensor.partial_shape",
     .summary = "The partial shape that a shape attribute is.",
     .assembly = "#shape attr-dict",
     TFRT_RESULTS(partial_shape_result),
     TFRT_ATTRIBUTES(shape_attribute),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_tensor.type",
     .summary = "The type of a tensor: `DenseHost`, `CooHost`, `StringHost`, `ScalarHost`, or that "
                "of a kernel library.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_type_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_tensor.type_name",
     .summary = "The name of a type of tensors.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor_type),
     TFRT_RESULTS(name_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 1},
    {.name = "tfrt_tensor.convert",
     .summary = "The tensor as one of that type; itself if it is one already.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_type),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE,
     .shares = "input",
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.cast",
     .summary = "The elements as `dtype`; floats are cut towards zero and to its range.",
     .assembly = "operands to #dtype attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(dtype),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.scale",
     .summary = "The f32 elements, each multiplied by `factor`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_factor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.add",
     .summary = "The sum of two tensors that are stretched to each other.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.relu",
     .summary = "The f32 elements, with 0 for negative ones.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.softmax",
     .summary = "Along the last axis, exponentials divided by their sum; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.matmul",
     .summary = "The product of the f32 matrices [M, K] and [K, N].",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.linear",
     .summary = "input [M, K] times weights [K, N] plus bias [N], cut at 0 if `relu`; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(input_weights_bias),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(relu),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.conv2d",
     .summary = "Convolution of images [N, C, H, W] with filters [O, C, KH, KW] plus bias [O], "
                "cut at 0 if `relu`; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(input_weights_bias),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(convolution),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.max_pool2d",
     .summary = "The largest element of each place of a window over images [N, C, H, W]; f32.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(pooling),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.sum",
     .summary = "The sums along `axis`, which is gone from the result.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.argmax",
     .summary = "The places (i64) of the largest elements along `axis`, which is gone.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.reshape",
     .summary = "The same elements with the lengths `shape`; one may be -1.",
     .assembly = "operands #shape attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(shape_dims),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "input",
     .cost = 10},
    {.name = "tfrt_tensor.slice",
     .summary = "`count` steps along the first axis, from `start` on.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_range),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "input",
     .cost = 10},
    {.name = "tfrt_tensor.batch",
     .summary = "Batch `index` of at most `size` steps along the first axis.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_batch),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "input",
     .cost = 10},
    {.name = "tfrt_tensor.concat",
     .summary = "The operands, one after the other along the first axis.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(many_tensors),
     TFRT_RESULTS(tensor_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_TRAILING_CHAIN,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_tensor.dim",
     .summary = "The length of `axis`.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_tensor.common_dim",
     .summary = "The length of `axis`, which must be the same in both tensors.",
     .assembly = "operands axis #axis attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(axis),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_tensor.count_equal",
     .summary = "The number of places where both tensors have equal elements.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(two_tensors),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
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
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 100},
};

const tfrt_kernel_table_t tfrt_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
