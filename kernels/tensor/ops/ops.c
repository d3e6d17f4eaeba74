// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/ops.h"

#include "kernels/tensor/ops/op_parts.h"

// --- Families: one entry per dtype, or per dtype and rank --------------------------

// Costs are per element where the kernel works on each; tensors are assumed to be small
// there, and large (unknown) for the maths below.
#define FIXED_RANK(rank, operands, result)                                                      \
  OP("ts.as_fixed_rank_shape." #rank,                                                           \
     "A shape with " #rank " axes as one that always has so many.", FORM("operands attr-dict"), \
     IN(READ("shape", SHAPE)), TFRT_RESULTS(result), FLAGS(PURE), COST(1)),                     \
      OP("ts.print_fixed_rank_shape." #rank, "Prints `fixed_rank_shape = [...]`.",              \
         FORM("operands attr-dict"), TFRT_OPERANDS(operands), OUT(DONE), EFFECTS(OUTPUT),       \
         COST(10))

#define READ_LAYOUT(name_of_layout, word, dtype, rank)                                   \
  OP("btf.read_" name_of_layout "_tensor." dtype "." #rank,                              \
     "Tensor `index` of the BTF file `path`: " word ", " dtype "; axes: " #rank ".",     \
     FORM("operands attr-dict"), IN(READ("path", "!tfrt.string"), READ("index", "i32")), \
     OUT(GIVE("result", TENSOR)), FLAGS(TRAILING_CHAIN), EFFECTS(FILE_READ), COST(100))

#define READ_BTF(dtype, rank) \
  READ_LAYOUT("dense", "dense", dtype, rank), READ_LAYOUT("coo", "sparse", dtype, rank)

#define READ_ALL(dtype) \
  READ_BTF(dtype, 0), READ_BTF(dtype, 1), READ_BTF(dtype, 2), READ_BTF(dtype, 3), READ_BTF(dtype, 4)

#define SPARSE(dtype, rank)                                                                       \
  OP("coo.convert_dht_to_coo." dtype "." #rank,                                                   \
     "A dense tensor of " dtype " as a sparse one; axes: " #rank ".", FORM("operands attr-dict"), \
     IN(READ("input", TENSOR), AFTER), OUT(GIVE("result", TENSOR), DONE), EFFECTS(NONE),          \
     COST(100)),                                                                                  \
      OP("coo.convert_coo_to_dht." dtype "." #rank,                                               \
         "A sparse tensor of " dtype " as a dense one; axes: " #rank ".",                         \
         FORM("operands attr-dict"), IN(READ("input", TENSOR), AFTER),                            \
         OUT(GIVE("result", TENSOR), DONE), EFFECTS(NONE), COST(100)),                            \
      OP("coo.tensor_equal." dtype "." #rank,                                                     \
         "Whether both sparse tensors list the same elements in the same order.",                 \
         FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR), AFTER),         \
         OUT(GIVE("result", "i1"), DONE), EFFECTS(NONE), COST(100))

#define SPARSE_ALL(dtype) SPARSE(dtype, 0), SPARSE(dtype, 1), SPARSE(dtype, 2), SPARSE(dtype, 3)

#define ITEM(type, result)                                                               \
  OP("tfrt_tensor.item." type, "The only element of a tensor of " type ", as a scalar.", \
     FORM("operands attr-dict"), IN(READ("input", TENSOR)), TFRT_RESULTS(result),        \
     FLAGS(PURE, TRAILING_CHAIN), COST(1))

// --- The table --------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("ts.build_shape", "The shape with the lengths `value`.", FORM("#value attr-dict"),
       OUT(GIVE("shape", SHAPE)), SET(NEED("value", I64_ARRAY)), FLAGS(PURE), COST(1)),
    OP("ts.print_shape", "Prints `shape = [2, 3]`.", FORM("operands attr-dict"),
       IN(READ("shape", SHAPE), AFTER), OUT(DONE), EFFECTS(OUTPUT), COST(10)),
    OP("ts.equal_shape", "Whether both shapes have the same axes and lengths.",
       FORM("operands attr-dict"), IN(READ("lhs", SHAPE), READ("rhs", SHAPE)),
       OUT(GIVE("result", "i1")), FLAGS(PURE), COST(1)),
    OP("ts.get_num_elements", "The number of elements of a tensor with this shape.",
       FORM("operands attr-dict"), IN(READ("shape", SHAPE)), OUT(GIVE("result", "i64")),
       FLAGS(PURE), COST(1)),
    FIXED_RANK(0, fixed_rank_shape_0, fixed_rank_shape_0_result),
    FIXED_RANK(1, fixed_rank_shape_1, fixed_rank_shape_1_result),
    FIXED_RANK(2, fixed_rank_shape_2, fixed_rank_shape_2_result),
    FIXED_RANK(3, fixed_rank_shape_3, fixed_rank_shape_3_result),
    OP("ts.build_partial_shape", "The partial shape with the lengths `value`; -1 is unknown.",
       FORM("#value attr-dict"), OUT(GIVE("shape", PARTIAL_SHAPE)), SET(NEED("value", I64_ARRAY)),
       FLAGS(PURE), COST(1)),
    OP("ts.build_unranked_partial_shape", "The partial shape of which nothing is known.",
       FORM("attr-dict"), OUT(GIVE("shape", PARTIAL_SHAPE)), FLAGS(PURE), COST(1)),
    OP("ts.print_partial_shape",
       "Prints `partial_tensor_shape = [-1, 3]`, or `Unknown rank` for the lengths.",
       FORM("operands attr-dict"), IN(READ("shape", PARTIAL_SHAPE), AFTER), OUT(DONE),
       EFFECTS(OUTPUT), COST(10)),
    OP("ts.to_shape", "The shape that a partial shape without unknown lengths is.",
       FORM("operands attr-dict"), IN(READ("shape", PARTIAL_SHAPE)), OUT(GIVE("shape", SHAPE)),
       FLAGS(PURE), COST(1)),
    OP("ts.to_partial_shape", "A shape as a partial shape, of which all is known.",
       FORM("operands attr-dict"), IN(READ("shape", SHAPE)), OUT(GIVE("shape", PARTIAL_SHAPE)),
       FLAGS(PURE), COST(1)),
    OP("ts.get_dimension", "The length of axis `index` of a shape.", FORM("operands attr-dict"),
       IN(READ("shape", SHAPE), READ("index", "i32")), OUT(GIVE("result", "i64")), FLAGS(PURE),
       COST(1)),

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
    OP("coo.print_tensor", "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR), AFTER), OUT(DONE), EFFECTS(OUTPUT),
       COST(100)),

    OP("tfrt_sht.create_tensor", "The tensor of the strings `values`.", OUT(GIVE("result", TENSOR)),
       SET(NEED("shape", I64_ARRAY), NEED("values", AGGREGATE)), FLAGS(PURE), COST(100)),

    OP("tfrt_tensor.read_btf",
       "All tensors of the BTF file `path`, relative to the program's directory.",
       FORM("#path , %chain attr-dict function"), IN(AFTER), OUT(DONE, GIVE("tensors", TENSOR)),
       SET(NEED("path", STRING)), FLAGS(VARIADIC_RESULTS), EFFECTS(FILE_READ), COST(1000)),
    OP("tfrt_tensor.constant", "The constant tensor `value`.", FORM("#value attr-dict"),
       OUT(GIVE("result", TENSOR)), SET(NEED("value", DENSE)), FLAGS(PURE), COST(50)),
    OP("tfrt_tensor.zeros", "A tensor with the given shape and dtype, all of whose elements are 0.",
       FORM("#shape of #dtype attr-dict"), OUT(GIVE("result", TENSOR)),
       SET(NEED("dtype", TYPE), NEED("shape", SHAPE)), FLAGS(PURE), COST(50)),
    OP("tfrt_tensor.partial_shape", "The partial shape that a shape attribute is.",
       FORM("#shape attr-dict"), OUT(GIVE("shape", PARTIAL_SHAPE)), SET(NEED("shape", SHAPE)),
       FLAGS(PURE), COST(1)),
    OP("tfrt_tensor.type",
       "The type of a tensor: `DenseHost`, `CooHost`, `StringHost`, `ScalarHost`, or that of a "
       "kernel library.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("type", TENSOR_TYPE)),
       FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_tensor.type_name", "The name of a type of tensors.", FORM("operands attr-dict"),
       IN(READ("type", TENSOR_TYPE)), OUT(GIVE("name", "!tfrt.string")), FLAGS(PURE), COST(1)),
    OP("tfrt_tensor.convert", "The tensor as one of that type; itself if it is one already.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR), READ("type", TENSOR_TYPE)),
       OUT(GIVE("result", TENSOR)), FLAGS(TRAILING_CHAIN), EFFECTS(NONE), .shares = "input"),
    OP("tfrt_tensor.cast", "The elements as `dtype`; floats are cut towards zero and to its range.",
       FORM("operands to #dtype attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("result", TENSOR)),
       SET(NEED("dtype", TYPE)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.scale", "The f32 elements, each multiplied by `factor`.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR), READ("factor", "f32")),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.add", "The sum of two tensors that are stretched to each other.",
       FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR)),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.relu", "The f32 elements, with 0 for negative ones.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("result", TENSOR)),
       FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.softmax", "Along the last axis, exponentials divided by their sum; f32.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("result", TENSOR)),
       FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.matmul", "The product of the f32 matrices [M, K] and [K, N].",
       FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR)),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.linear",
       "input [M, K] times weights [K, N] plus bias [N], cut at 0 if `relu`; f32.",
       FORM("operands attr-dict"),
       IN(READ("input", TENSOR), READ("weights", TENSOR), READ("bias", TENSOR)),
       OUT(GIVE("result", TENSOR)), SET(MAY("relu", I1, "false")), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.conv2d",
       "Convolution of images [N, C, H, W] with filters [O, C, KH, KW] plus bias [O], cut at 0 if "
       "`relu`; f32.",
       FORM("operands attr-dict"),
       IN(READ("input", TENSOR), READ("weights", TENSOR), READ("bias", TENSOR)),
       OUT(GIVE("result", TENSOR)),
       SET(MAY("padding", I64_ARRAY, "[0 : i64, 0 : i64]"), MAY("relu", I1, "false"),
           MAY("strides", I64_ARRAY, "[1 : i64, 1 : i64]")),
       FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.max_pool2d",
       "The largest element of each place of a window over images [N, C, H, W]; f32.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("result", TENSOR)),
       SET(MAY("padding", I64_ARRAY, "[0 : i64, 0 : i64]"), NEED("strides", I64_ARRAY),
           NEED("window", I64_ARRAY)),
       FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.sum", "The sums along `axis`, which is gone from the result.",
       FORM("operands axis #axis attr-dict"), IN(READ("input", TENSOR)),
       OUT(GIVE("result", TENSOR)), SET(NEED("axis", I32)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.argmax",
       "The places (i64) of the largest elements along `axis`, which is gone.",
       FORM("operands axis #axis attr-dict"), IN(READ("input", TENSOR)),
       OUT(GIVE("result", TENSOR)), SET(NEED("axis", I32)), FLAGS(PURE, TRAILING_CHAIN)),
    OP("tfrt_tensor.reshape", "The same elements with the lengths `shape`; one may be -1.",
       FORM("operands #shape attr-dict"), IN(READ("input", TENSOR)), OUT(GIVE("result", TENSOR)),
       SET(NEED("shape", I64_ARRAY)), FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "input", COST(10)),
    OP("tfrt_tensor.slice", "`count` steps along the first axis, from `start` on.",
       FORM("operands attr-dict"),
       IN(READ("input", TENSOR), READ("start", "i32"), READ("count", "i32")),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "input", COST(10)),
    OP("tfrt_tensor.batch", "Batch `index` of at most `size` steps along the first axis.",
       FORM("operands attr-dict"),
       IN(READ("input", TENSOR), READ("index", "i32"), READ("size", "i32")),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "input", COST(10)),
    OP("tfrt_tensor.concat", "The operands, one after the other along the first axis.",
       FORM("operands attr-dict"), IN(READ("first", TENSOR), READ("others", TENSOR)),
       OUT(GIVE("result", TENSOR)), FLAGS(PURE, VARIADIC_OPERANDS, TRAILING_CHAIN)),
    OP("tfrt_tensor.dim", "The length of `axis`.", FORM("operands axis #axis attr-dict"),
       IN(READ("input", TENSOR)), OUT(GIVE("result", "i32")), SET(NEED("axis", I32)),
       FLAGS(PURE, TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_tensor.common_dim", "The length of `axis`, which must be the same in both tensors.",
       FORM("operands axis #axis attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR)),
       OUT(GIVE("result", "i32")), SET(NEED("axis", I32)), FLAGS(PURE, TRAILING_CHAIN),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_tensor.count_equal", "The number of places where both tensors have equal elements.",
       FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR)),
       OUT(GIVE("result", "i64")), FLAGS(PURE, TRAILING_CHAIN), COST(100)),
    ITEM("i32", i32_result),
    ITEM("i64", i64_result),
    ITEM("f32", f32_result),
    ITEM("f64", f64_result),
    OP("tfrt.print_text",
       "Prints `format`, in which %d, %f, %e, %g and %s stand for the values, as in C.",
       FORM("%chain #format ( operands ) attr-dict types"),
       IN(AFTER, READ("values", TFRT_TYPE_ANY)), OUT(DONE), SET(NEED("format", STRING)),
       FLAGS(VARIADIC_OPERANDS), EFFECTS(OUTPUT), COST(100)),
};

const tfrt_kernel_table_t tfrt_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
