// SPDX-License-Identifier: Apache-2.0

#include "kernels/tensor/ops/op_parts.h"
#include "kernels/tensor/ops/ops.h"

// Operands of the kernels that set elements to scalars: the last entry stands for all
// elements.
#define WRITTEN_TENSOR_CHAIN_AND(word, type)                             \
  static const tfrt_operand_descriptor_t written_tensor_and_##word[] = { \
      {"tensor", TENSOR, TFRT_OPERAND_MUTATED},                          \
      {"chain", CHAIN, TFRT_OPERAND_AWAITED},                            \
      {"values", type, TFRT_OPERAND_DEMANDED},                           \
  };
WRITTEN_TENSOR_CHAIN_AND(i1, "i1")
WRITTEN_TENSOR_CHAIN_AND(ui8, "ui8")
WRITTEN_TENSOR_CHAIN_AND(ui16, "ui16")
WRITTEN_TENSOR_CHAIN_AND(ui32, "ui32")
WRITTEN_TENSOR_CHAIN_AND(ui64, "ui64")
WRITTEN_TENSOR_CHAIN_AND(i8, "i8")
WRITTEN_TENSOR_CHAIN_AND(i16, "i16")
WRITTEN_TENSOR_CHAIN_AND(i32, "i32")
WRITTEN_TENSOR_CHAIN_AND(i64, "i64")
WRITTEN_TENSOR_CHAIN_AND(f32, "f32")
WRITTEN_TENSOR_CHAIN_AND(f64, "f64")

// --- Families: one entry per dtype, or per dtype and rank --------------------------

// Costs are per element where the kernel works on each; tensors are assumed to be small.
#define CREATE(dtype, rank)                                                                \
  OP("tfrt_dht.create_uninitialized_tensor." dtype "." #rank,                              \
     "A tensor of " dtype " whose elements are undefined; axes: " #rank ".",               \
     FORM("#shape attr-dict"), OUT(GIVE("result", TENSOR)), SET(NEED("shape", I64_ARRAY)), \
     EFFECTS(NONE), COST(50))

#define CLOSE(dtype, infix, ulps)                                                              \
  OP("tfrt_dht.tensor_allclose." infix dtype,                                                  \
     "Whether both have the same shape and elements within " ulps " units in the last place.", \
     FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR), AFTER),          \
     OUT(GIVE("result", "i1"), DONE), EFFECTS(NONE), COST(100))

#define FAMILY(dtype, scalar, fill_summary, fill_assembly, value, set_summary, values)             \
  CREATE(dtype, 0), CREATE(dtype, 1), CREATE(dtype, 2), CREATE(dtype, 3), CREATE(dtype, 4),        \
      CREATE(dtype, 5),                                                                            \
      OP("tfrt_dht.create_from_scalar." dtype,                                                     \
         "The tensor with the given shape whose elements are all `value`, which is kept once; a "  \
         "complex one is its real and its imaginary part.",                                        \
         FORM("#shape #value attr-dict"), OUT(GIVE("result", TENSOR)), TFRT_ATTRIBUTES(scalar),    \
         FLAGS(PURE), COST(10)),                                                                   \
      OP("tfrt_dht.fill_tensor_with_constant." dtype, fill_summary, FORM(fill_assembly),           \
         IN(WRITE("tensor", TENSOR), AFTER), OUT(DONE), TFRT_ATTRIBUTES(value), EFFECTS(NONE),     \
         COST(100)),                                                                               \
      OP("tfrt_dht.set_tensor_with_constant_values." dtype, set_summary,                           \
         FORM("operands #values attr-dict"), IN(WRITE("tensor", TENSOR), AFTER), OUT(DONE),        \
         TFRT_ATTRIBUTES(values), EFFECTS(NONE), COST(100)),                                       \
      OP("tfrt_dht.make_tensor." dtype,                                                            \
         "The tensor of " dtype " with the given shape in a buffer of that size.",                 \
         FORM("operands attr-dict"), IN(READ("buffer", BUFFER), READ("shape", SHAPE), AFTER),      \
         OUT(GIVE("result", TENSOR), DONE), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "buffer",  \
         COST(10)),                                                                                \
      OP("tfrt_dht.tensor_equal." dtype, "Whether both tensors have the same shape and elements.", \
         FORM("operands attr-dict"), IN(READ("lhs", TENSOR), READ("rhs", TENSOR), AFTER),          \
         OUT(GIVE("result", "i1"), DONE), EFFECTS(NONE), COST(100)),                               \
      CLOSE(dtype, "", "2"), CLOSE(dtype, "3ulp.", "3"), CLOSE(dtype, "1000ulp.", "1000"),         \
      CLOSE(dtype, "2000ulp.", "2000"), CLOSE(dtype, "100000ulp.", "100000")

#define PLAIN_FAMILY(dtype, word)                                  \
  FAMILY(dtype, shape_and_##word, "Sets all elements to `value`.", \
         "operands #value:type attr-dict", word##_value,           \
         "Sets the elements to `values`, as many as there are.", word##_values)

#define COMPLEX_FAMILY(dtype, word, values)                                \
  FAMILY(dtype, shape_and_##word,                                          \
         "Sets all elements to `value`: its real and its imaginary part.", \
         "operands #value attr-dict", word##_value,                        \
         "Sets the elements to `values`, two for each: the real and the imaginary part.", values)

// For dtypes that scalars have, too.
#define SCALAR_FAMILY(dtype, word)                                                               \
  PLAIN_FAMILY(dtype, word), OP("tfrt_dht.set_tensor_with_values." dtype,                        \
                                "Sets the elements to the last operands, as many as there are.", \
                                TFRT_OPERANDS(written_tensor_and_##word), OUT(DONE),             \
                                FLAGS(VARIADIC_OPERANDS), EFFECTS(NONE), COST(100))

// --- The table --------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    SCALAR_FAMILY("bool", i1),
    SCALAR_FAMILY("ui8", ui8),
    SCALAR_FAMILY("ui16", ui16),
    SCALAR_FAMILY("ui32", ui32),
    SCALAR_FAMILY("ui64", ui64),
    SCALAR_FAMILY("i8", i8),
    SCALAR_FAMILY("i16", i16),
    SCALAR_FAMILY("i32", i32),
    SCALAR_FAMILY("i64", i64),
    SCALAR_FAMILY("f32", f32),
    SCALAR_FAMILY("f64", f64),
    PLAIN_FAMILY("f16", f16),
    PLAIN_FAMILY("bf16", bf16),
    COMPLEX_FAMILY("complex64", complex64, f32_values),
    COMPLEX_FAMILY("complex128", complex128, f64_values),

    OP("tfrt_dht.print_tensor",
       "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR), AFTER), OUT(DONE), EFFECTS(OUTPUT),
       COST(100)),
    OP("tfrt_tensor.print",
       "The same as tfrt_dht.print_tensor, by the name of the dialect that has the other ops.",
       FORM("operands attr-dict"), IN(READ("input", TENSOR), AFTER), OUT(DONE), EFFECTS(OUTPUT),
       COST(100)),
    OP("tfrt_dht.print_tensor_shape", "Prints `shape = [2, 3]`.", FORM("operands attr-dict"),
       IN(READ("input", TENSOR), AFTER), OUT(DONE), EFFECTS(OUTPUT, READS_NO_CONTENTS), COST(10)),
    OP("tfrt_dht.get_tensor_shape", "The shape of a tensor.", FORM("operands attr-dict"),
       IN(READ("input", TENSOR)), OUT(GIVE("shape", SHAPE)), FLAGS(PURE, TRAILING_CHAIN),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_dht.allocate_buffer", "A new buffer of so many bytes, aligned to at most 64.",
       FORM("operands attr-dict"), IN(READ("size", "i64"), READ("alignment", "i64")),
       OUT(GIVE("buffer", BUFFER)), EFFECTS(NONE), COST(50)),
    OP("tfrt_dht.get_buffer", "The bytes of a tensor's elements.", FORM("operands attr-dict"),
       IN(READ("input", TENSOR), AFTER), OUT(GIVE("buffer", BUFFER), DONE),
       EFFECTS(NONE, READS_NO_CONTENTS), .shares = "input", COST(10)),
    OP("tfrt_dht.get_buffer_slice", "A part of a buffer, which shares its bytes.",
       FORM("operands attr-dict"),
       IN(READ("buffer", BUFFER), READ("offset", "i64"), READ("size", "i64")),
       OUT(GIVE("buffer", BUFFER)), FLAGS(TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "buffer", COST(10)),
    OP("tfrt_dht.print_buffer", "Prints the address and the size of a buffer.",
       FORM("operands attr-dict"), IN(READ("buffer", BUFFER), AFTER), OUT(DONE),
       EFFECTS(OUTPUT, READS_NO_CONTENTS), COST(10)),
    OP("tfrt_dht.no_op_ht", "A chain that is there when the tensor is.", FORM("operands attr-dict"),
       IN(READ("input", TENSOR)), OUT(DONE), FLAGS(TRAILING_CHAIN),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
};

const tfrt_kernel_table_t tfrt_dense_host_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
