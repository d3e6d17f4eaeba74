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
#define CREATE(dtype, rank)                                                                   \
  {                                                                                           \
    .name = "tfrt_dht.create_uninitialized_tensor." dtype "." #rank,                          \
    .summary = "A tensor of " dtype " whose elements are undefined; axes: " #rank ".",        \
    .assembly = "#shape attr-dict", TFRT_RESULTS(tensor_result), TFRT_ATTRIBUTES(shape_dims), \
    .effects = TFRT_EFFECT_NONE, .cost = 50                                                   \
  }

#define CLOSE(dtype, infix, ulps)                                                                 \
  {                                                                                               \
    .name = "tfrt_dht.tensor_allclose." infix dtype,                                              \
    .summary =                                                                                    \
        "Whether both have the same shape and elements within " ulps " units in the last place.", \
    .assembly = "operands attr-dict", TFRT_OPERANDS(two_tensors_and_chain),                       \
    TFRT_RESULTS(i1_and_chain_result), .effects = TFRT_EFFECT_NONE, .cost = 100                   \
  }

#define FAMILY(dtype, scalar, fill_summary, fill_assembly, value, set_summary, values)      \
  CREATE(dtype, 0), CREATE(dtype, 1), CREATE(dtype, 2), CREATE(dtype, 3), CREATE(dtype, 4), \
      CREATE(dtype, 5),                                                                     \
      {.name = "tfrt_dht.create_from_scalar." dtype,                                        \
       .summary =                                                                           \
           "The tensor with the given shape whose elements are all `value`, which is kept " \
           "once; a complex one is its real and its imaginary part.",                       \
       .assembly = "#shape #value attr-dict",                                               \
       TFRT_RESULTS(tensor_result),                                                         \
       TFRT_ATTRIBUTES(scalar),                                                             \
       .flags = TFRT_KERNEL_PURE,                                                           \
       .cost = 10},                                                                         \
      {.name = "tfrt_dht.fill_tensor_with_constant." dtype,                                 \
       .summary = fill_summary,                                                             \
       .assembly = fill_assembly,                                                           \
       TFRT_OPERANDS(written_tensor_and_chain),                                             \
       TFRT_RESULTS(chain_result),                                                          \
       TFRT_ATTRIBUTES(value),                                                              \
       .effects = TFRT_EFFECT_NONE,                                                         \
       .cost = 100},                                                                        \
      {.name = "tfrt_dht.set_tensor_with_constant_values." dtype,                           \
       .summary = set_summary,                                                              \
       .assembly = "operands #values attr-dict",                                            \
       TFRT_OPERANDS(written_tensor_and_chain),                                             \
       TFRT_RESULTS(chain_result),                                                          \
       TFRT_ATTRIBUTES(values),                                                             \
       .effects = TFRT_EFFECT_NONE,                                                         \
       .cost = 100},                                                                        \
      {.name = "tfrt_dht.make_tensor." dtype,                                               \
       .summary = "The tensor of " dtype " with the given shape in a buffer of that size.", \
       .assembly = "operands attr-dict",                                                    \
       TFRT_OPERANDS(buffer_shape_and_chain),                                               \
       TFRT_RESULTS(tensor_and_chain_result),                                               \
       .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,                         \
       .shares = "buffer",                                                                  \
       .cost = 10},                                                                         \
      {.name = "tfrt_dht.tensor_equal." dtype,                                              \
       .summary = "Whether both tensors have the same shape and elements.",                 \
       .assembly = "operands attr-dict",                                                    \
       TFRT_OPERANDS(two_tensors_and_chain),                                                \
       TFRT_RESULTS(i1_and_chain_result),                                                   \
       .effects = TFRT_EFFECT_NONE,                                                         \
       .cost = 100},                                                                        \
      CLOSE(dtype, "", "2"), CLOSE(dtype, "3ulp.", "3"), CLOSE(dtype, "1000ulp.", "1000"),  \
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
#define SCALAR_FAMILY(dtype, word)                                                   \
  PLAIN_FAMILY(dtype, word), {                                                       \
    .name = "tfrt_dht.set_tensor_with_values." dtype,                                \
    .summary = "Sets the elements to the last operands, as many as there are.",      \
    TFRT_OPERANDS(written_tensor_and_##word), TFRT_RESULTS(chain_result),            \
    .flags = TFRT_KERNEL_VARIADIC_OPERANDS, .effects = TFRT_EFFECT_NONE, .cost = 100 \
  }

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

    {.name = "tfrt_dht.print_tensor",
     .summary = "Prints layout, dtype, shape and elements; at most 16 if it is dense.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT,
     .cost = 100},
    {.name = "tfrt_dht.print_tensor_shape",
     .summary = "Prints `shape = [2, 3]`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 10},
    {.name = "tfrt_dht.get_tensor_shape",
     .summary = "The shape of a tensor.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(shape_result),
     .flags = TFRT_KERNEL_PURE | TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_dht.allocate_buffer",
     .summary = "A new buffer of so many bytes, aligned to at most 64.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(size_and_alignment),
     TFRT_RESULTS(buffer_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 50},
    {.name = "tfrt_dht.get_buffer",
     .summary = "The bytes of a tensor's elements.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(buffer_and_chain_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "input",
     .cost = 10},
    {.name = "tfrt_dht.get_buffer_slice",
     .summary = "A part of a buffer, which shares its bytes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_range),
     TFRT_RESULTS(buffer_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "buffer",
     .cost = 10},
    {.name = "tfrt_dht.print_buffer",
     .summary = "Prints the address and the size of a buffer.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 10},
    {.name = "tfrt_dht.no_op_ht",
     .summary = "A chain that is there when the tensor is.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_tensor),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_dense_host_tensor_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
