// SPDX-License-Identifier: Apache-2.0

#include "kernels/nn/ops/ops.h"

#include "kernels/nn/ops/op_list.h"

#define TENSOR "!tfrt_tensor.tensor"

static const tfrt_operand_descriptor_t operands[] = {{"operands", TENSOR, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_operand[] = {{"operand", TENSOR, TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t truth_value[] = {{"condition", "i1"}};
static const tfrt_result_descriptor_t results[] = {{"results", TENSOR}};

// --- Attributes -------------------------------------------------------------------

static const tfrt_attribute_descriptor_t attributes_is_inf[] = {
    {"detect_negative", TFRT_ATTRIBUTE_I64, "1"},
    {"detect_positive", TFRT_ATTRIBUTE_I64, "1"},
};
static const tfrt_attribute_descriptor_t attributes_hard_sigmoid[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "0.2"},
    {"beta", TFRT_ATTRIBUTE_F32, "0.5"},
};
static const tfrt_attribute_descriptor_t attributes_leaky_relu[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "0.01"},
};
static const tfrt_attribute_descriptor_t attributes_elu[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.0"},
};
static const tfrt_attribute_descriptor_t attributes_selu[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.67326319"},
    {"gamma", TFRT_ATTRIBUTE_F32, "1.05070102"},
};
static const tfrt_attribute_descriptor_t attributes_celu[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.0"},
};
static const tfrt_attribute_descriptor_t attributes_thresholded_relu[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.0"},
};
static const tfrt_attribute_descriptor_t attributes_shrink[] = {
    {"bias", TFRT_ATTRIBUTE_F32, "0.0"},
    {"lambd", TFRT_ATTRIBUTE_F32, "0.5"},
};
static const tfrt_attribute_descriptor_t attributes_gelu[] = {
    {"approximate", TFRT_ATTRIBUTE_STRING, "\"none\""},
};
static const tfrt_attribute_descriptor_t attributes_present[] = {
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_cast[] = {
    {"to", TFRT_ATTRIBUTE_TYPE, NULL},
};
static const tfrt_attribute_descriptor_t attributes_mod[] = {
    {"fmod", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_bit_shift[] = {
    {"direction", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t attributes_shape[] = {
    {"end", TFRT_ATTRIBUTE_I64, "9223372036854775807"},
    {"start", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_reshape[] = {
    {"allowzero", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_flatten[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "1"},
};
static const tfrt_attribute_descriptor_t attributes_perm[] = {
    {"perm", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_depth_to_space[] = {
    {"blocksize", TFRT_ATTRIBUTE_I64, NULL},
    {"mode", TFRT_ATTRIBUTE_STRING, "\"DCR\""},
};
static const tfrt_attribute_descriptor_t attributes_space_to_depth[] = {
    {"blocksize", TFRT_ATTRIBUTE_I64, NULL},
};
static const tfrt_attribute_descriptor_t attributes_axis_0[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_pad[] = {
    {"mode", TFRT_ATTRIBUTE_STRING, "\"constant\""},
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_batch_dims[] = {
    {"batch_dims", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_scatter_elements[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "0"},
    {"reduction", TFRT_ATTRIBUTE_STRING, "\"none\""},
};
static const tfrt_attribute_descriptor_t attributes_scatter_nd[] = {
    {"reduction", TFRT_ATTRIBUTE_STRING, "\"none\""},
};
static const tfrt_attribute_descriptor_t attributes_axis_last[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_compress[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "-9223372036854775808"},
};
static const tfrt_attribute_descriptor_t attributes_reverse_sequence[] = {
    {"batch_axis", TFRT_ATTRIBUTE_I64, "1"},
    {"time_axis", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_eye_like[] = {
    {"dtype", TFRT_ATTRIBUTE_TYPE, NULL},
    {"k", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_trilu[] = {
    {"upper", TFRT_ATTRIBUTE_I64, "1"},
};
static const tfrt_attribute_descriptor_t attributes_reduce[] = {
    {"keepdims", TFRT_ATTRIBUTE_I64, "1"},
    {"noop_with_empty_axes", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_cum_sum[] = {
    {"exclusive", TFRT_ATTRIBUTE_I64, "0"},
    {"reverse", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_arg[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "0"},
    {"keepdims", TFRT_ATTRIBUTE_I64, "1"},
    {"select_last_index", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_top_k[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "-1"},
    {"largest", TFRT_ATTRIBUTE_I64, "1"},
    {"sorted", TFRT_ATTRIBUTE_I64, "1"},
};
static const tfrt_attribute_descriptor_t attributes_layer_norm[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "-1"},
    {"epsilon", TFRT_ATTRIBUTE_F32, "1.0e-5"},
};
static const tfrt_attribute_descriptor_t attributes_rms_norm[] = {
    {"axis", TFRT_ATTRIBUTE_I64, "-1"},
    {"epsilon", TFRT_ATTRIBUTE_F32, "1.0e-5"},
};
static const tfrt_attribute_descriptor_t attributes_batch_norm[] = {
    {"epsilon", TFRT_ATTRIBUTE_F32, "1.0e-5"},
    {"momentum", TFRT_ATTRIBUTE_F32, "0.9"},
    {"training_mode", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_epsilon[] = {
    {"epsilon", TFRT_ATTRIBUTE_F32, "1.0e-5"},
};
static const tfrt_attribute_descriptor_t attributes_group_norm[] = {
    {"epsilon", TFRT_ATTRIBUTE_F32, "1.0e-5"},
    {"num_groups", TFRT_ATTRIBUTE_I64, NULL},
    {"per_group", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_lrn[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.0e-4"},
    {"beta", TFRT_ATTRIBUTE_F32, "0.75"},
    {"bias", TFRT_ATTRIBUTE_F32, "1.0"},
    {"size", TFRT_ATTRIBUTE_I64, NULL},
};
static const tfrt_attribute_descriptor_t attributes_conv[] = {
    {"auto_pad", TFRT_ATTRIBUTE_STRING, "\"NOTSET\""},
    {"dilations", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"group", TFRT_ATTRIBUTE_I64, "1"},
    {"kernel_shape", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"pads", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_conv_transpose[] = {
    {"auto_pad", TFRT_ATTRIBUTE_STRING, "\"NOTSET\""},
    {"dilations", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"group", TFRT_ATTRIBUTE_I64, "1"},
    {"kernel_shape", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"output_padding", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"output_shape", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"pads", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_max_pool[] = {
    {"auto_pad", TFRT_ATTRIBUTE_STRING, "\"NOTSET\""},
    {"ceil_mode", TFRT_ATTRIBUTE_I64, "0"},
    {"dilations", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"kernel_shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"pads", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"storage_order", TFRT_ATTRIBUTE_I64, "0"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_average_pool[] = {
    {"auto_pad", TFRT_ATTRIBUTE_STRING, "\"NOTSET\""},
    {"ceil_mode", TFRT_ATTRIBUTE_I64, "0"},
    {"count_include_pad", TFRT_ATTRIBUTE_I64, "0"},
    {"dilations", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"kernel_shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"pads", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_lp_pool[] = {
    {"auto_pad", TFRT_ATTRIBUTE_STRING, "\"NOTSET\""},
    {"ceil_mode", TFRT_ATTRIBUTE_I64, "0"},
    {"dilations", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"kernel_shape", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"p", TFRT_ATTRIBUTE_I64, "2"},
    {"pads", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"strides", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
};
static const tfrt_attribute_descriptor_t attributes_gemm[] = {
    {"alpha", TFRT_ATTRIBUTE_F32, "1.0"},
    {"beta", TFRT_ATTRIBUTE_F32, "1.0"},
    {"transA", TFRT_ATTRIBUTE_I64, "0"},
    {"transB", TFRT_ATTRIBUTE_I64, "0"},
};
static const tfrt_attribute_descriptor_t attributes_resize[] = {
    {"antialias", TFRT_ATTRIBUTE_I64, "0"},
    {"axes", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"coordinate_transformation_mode", TFRT_ATTRIBUTE_STRING, "\"half_pixel\""},
    {"cubic_coeff_a", TFRT_ATTRIBUTE_F32, "-0.75"},
    {"exclude_outside", TFRT_ATTRIBUTE_I64, "0"},
    {"extrapolation_value", TFRT_ATTRIBUTE_F32, "0.0"},
    {"keep_aspect_ratio_policy", TFRT_ATTRIBUTE_STRING, "\"stretch\""},
    {"mode", TFRT_ATTRIBUTE_STRING, "\"nearest\""},
    {"nearest_mode", TFRT_ATTRIBUTE_STRING, "\"round_prefer_floor\""},
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_lstm[] = {
    {"activation_alpha", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activation_beta", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activations", TFRT_ATTRIBUTE_STRING, "\"\""},
    {"clip", TFRT_ATTRIBUTE_F32, "0.0"},
    {"direction", TFRT_ATTRIBUTE_STRING, "\"forward\""},
    {"hidden_size", TFRT_ATTRIBUTE_I64, "0"},
    {"input_forget", TFRT_ATTRIBUTE_I64, "0"},
    {"layout", TFRT_ATTRIBUTE_I64, "0"},
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_gru[] = {
    {"activation_alpha", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activation_beta", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activations", TFRT_ATTRIBUTE_STRING, "\"\""},
    {"clip", TFRT_ATTRIBUTE_F32, "0.0"},
    {"direction", TFRT_ATTRIBUTE_STRING, "\"forward\""},
    {"hidden_size", TFRT_ATTRIBUTE_I64, "0"},
    {"layout", TFRT_ATTRIBUTE_I64, "0"},
    {"linear_before_reset", TFRT_ATTRIBUTE_I64, "0"},
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_rnn[] = {
    {"activation_alpha", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activation_beta", TFRT_ATTRIBUTE_F32_ARRAY, "[]"},
    {"activations", TFRT_ATTRIBUTE_STRING, "\"\""},
    {"clip", TFRT_ATTRIBUTE_F32, "0.0"},
    {"direction", TFRT_ATTRIBUTE_STRING, "\"forward\""},
    {"hidden_size", TFRT_ATTRIBUTE_I64, "0"},
    {"layout", TFRT_ATTRIBUTE_I64, "0"},
    {"present", TFRT_ATTRIBUTE_I64, "-1"},
};
static const tfrt_attribute_descriptor_t attributes_equation[] = {
    {"equation", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t attributes_argument[] = {
    {"dims", TFRT_ATTRIBUTE_I64_ARRAY, "[]"},
    {"dtype", TFRT_ATTRIBUTE_TYPE, NULL},
    {"name", TFRT_ATTRIBUTE_STRING, "\"\""},
};
static const tfrt_attribute_descriptor_t attributes_constant[] = {
    {"value", TFRT_ATTRIBUTE_DENSE, NULL},
};

// --- The table --------------------------------------------------------------------

// An op without attributes has no array of them.
#define ATTRIBUTES(list) ATTRIBUTES_##list
#define ATTRIBUTES_argument TFRT_ATTRIBUTES(attributes_argument)
#define ATTRIBUTES_none .attributes = NULL
#define ATTRIBUTES_is_inf TFRT_ATTRIBUTES(attributes_is_inf)
#define ATTRIBUTES_hard_sigmoid TFRT_ATTRIBUTES(attributes_hard_sigmoid)
#define ATTRIBUTES_leaky_relu TFRT_ATTRIBUTES(attributes_leaky_relu)
#define ATTRIBUTES_elu TFRT_ATTRIBUTES(attributes_elu)
#define ATTRIBUTES_selu TFRT_ATTRIBUTES(attributes_selu)
#define ATTRIBUTES_celu TFRT_ATTRIBUTES(attributes_celu)
#define ATTRIBUTES_thresholded_relu TFRT_ATTRIBUTES(attributes_thresholded_relu)
#define ATTRIBUTES_shrink TFRT_ATTRIBUTES(attributes_shrink)
#define ATTRIBUTES_gelu TFRT_ATTRIBUTES(attributes_gelu)
#define ATTRIBUTES_present TFRT_ATTRIBUTES(attributes_present)
#define ATTRIBUTES_cast TFRT_ATTRIBUTES(attributes_cast)
#define ATTRIBUTES_mod TFRT_ATTRIBUTES(attributes_mod)
#define ATTRIBUTES_bit_shift TFRT_ATTRIBUTES(attributes_bit_shift)
#define ATTRIBUTES_shape TFRT_ATTRIBUTES(attributes_shape)
#define ATTRIBUTES_reshape TFRT_ATTRIBUTES(attributes_reshape)
#define ATTRIBUTES_flatten TFRT_ATTRIBUTES(attributes_flatten)
#define ATTRIBUTES_perm TFRT_ATTRIBUTES(attributes_perm)
#define ATTRIBUTES_depth_to_space TFRT_ATTRIBUTES(attributes_depth_to_space)
#define ATTRIBUTES_space_to_depth TFRT_ATTRIBUTES(attributes_space_to_depth)
#define ATTRIBUTES_axis_0 TFRT_ATTRIBUTES(attributes_axis_0)
#define ATTRIBUTES_pad TFRT_ATTRIBUTES(attributes_pad)
#define ATTRIBUTES_batch_dims TFRT_ATTRIBUTES(attributes_batch_dims)
#define ATTRIBUTES_scatter_elements TFRT_ATTRIBUTES(attributes_scatter_elements)
#define ATTRIBUTES_scatter_nd TFRT_ATTRIBUTES(attributes_scatter_nd)
#define ATTRIBUTES_axis_last TFRT_ATTRIBUTES(attributes_axis_last)
#define ATTRIBUTES_compress TFRT_ATTRIBUTES(attributes_compress)
#define ATTRIBUTES_reverse_sequence TFRT_ATTRIBUTES(attributes_reverse_sequence)
#define ATTRIBUTES_eye_like TFRT_ATTRIBUTES(attributes_eye_like)
#define ATTRIBUTES_trilu TFRT_ATTRIBUTES(attributes_trilu)
#define ATTRIBUTES_reduce TFRT_ATTRIBUTES(attributes_reduce)
#define ATTRIBUTES_cum_sum TFRT_ATTRIBUTES(attributes_cum_sum)
#define ATTRIBUTES_arg TFRT_ATTRIBUTES(attributes_arg)
#define ATTRIBUTES_top_k TFRT_ATTRIBUTES(attributes_top_k)
#define ATTRIBUTES_layer_norm TFRT_ATTRIBUTES(attributes_layer_norm)
#define ATTRIBUTES_rms_norm TFRT_ATTRIBUTES(attributes_rms_norm)
#define ATTRIBUTES_batch_norm TFRT_ATTRIBUTES(attributes_batch_norm)
#define ATTRIBUTES_epsilon TFRT_ATTRIBUTES(attributes_epsilon)
#define ATTRIBUTES_group_norm TFRT_ATTRIBUTES(attributes_group_norm)
#define ATTRIBUTES_lrn TFRT_ATTRIBUTES(attributes_lrn)
#define ATTRIBUTES_conv TFRT_ATTRIBUTES(attributes_conv)
#define ATTRIBUTES_conv_transpose TFRT_ATTRIBUTES(attributes_conv_transpose)
#define ATTRIBUTES_max_pool TFRT_ATTRIBUTES(attributes_max_pool)
#define ATTRIBUTES_average_pool TFRT_ATTRIBUTES(attributes_average_pool)
#define ATTRIBUTES_lp_pool TFRT_ATTRIBUTES(attributes_lp_pool)
#define ATTRIBUTES_gemm TFRT_ATTRIBUTES(attributes_gemm)
#define ATTRIBUTES_resize TFRT_ATTRIBUTES(attributes_resize)
#define ATTRIBUTES_lstm TFRT_ATTRIBUTES(attributes_lstm)
#define ATTRIBUTES_gru TFRT_ATTRIBUTES(attributes_gru)
#define ATTRIBUTES_rnn TFRT_ATTRIBUTES(attributes_rnn)
#define ATTRIBUTES_equation TFRT_ATTRIBUTES(attributes_equation)
#define ASSEMBLY_ONE "( operands ) attr-dict"
#define ASSEMBLY_MANY "( operands ) attr-dict function"
#define FLAGS_ONE (TFRT_KERNEL_PURE | TFRT_KERNEL_VARIADIC_OPERANDS)
#define FLAGS_MANY (FLAGS_ONE | TFRT_KERNEL_VARIADIC_RESULTS)

#define ENTRY(op, text, list, many, work) \
  {.name = "tfrt_nn." #op,                \
   .summary = text,                       \
   .assembly = ASSEMBLY_##many,           \
   TFRT_OPERANDS(operands),               \
   TFRT_RESULTS(results),                 \
   ATTRIBUTES(list),                      \
   .flags = FLAGS_##many,                 \
   .cost = TFRT_KERNEL_COST_UNKNOWN},

static const tfrt_kernel_descriptor_t descriptors[] = {
    TFRT_NN_OP_LIST(ENTRY){
        .name = "tfrt_nn.constant",
        .summary =
            "The constant tensor `value`, which lies where the program does: no copy is made.",
        .assembly = "#value attr-dict",
        TFRT_RESULTS(results),
        TFRT_ATTRIBUTES(attributes_constant),
        .flags = TFRT_KERNEL_PURE,
        .cost = 50},
    {.name = "tfrt_nn.condition",
     .summary = "The one element of a tensor of truth values.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_operand),
     TFRT_RESULTS(truth_value),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
};

const tfrt_kernel_table_t tfrt_nn_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
