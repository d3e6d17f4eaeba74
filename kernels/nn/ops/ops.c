// SPDX-License-Identifier: Apache-2.0

#include "kernels/nn/ops/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"
#include "kernels/nn/ops/op_list.h"

#define TENSOR "!tfrt_tensor.tensor"

// --- The table --------------------------------------------------------------------

// An op without attributes has no array of them.
#define ATTRIBUTES(list) ATTRIBUTES_##list
#define ATTRIBUTES_argument \
  SET(MAY("dims", I64_ARRAY, "[]"), NEED("dtype", TYPE), MAY("name", STRING, "\"\""))
#define ATTRIBUTES_none .attributes = NULL
#define ATTRIBUTES_is_inf SET(MAY("detect_negative", I64, "1"), MAY("detect_positive", I64, "1"))
#define ATTRIBUTES_hard_sigmoid SET(MAY("alpha", F32, "0.2"), MAY("beta", F32, "0.5"))
#define ATTRIBUTES_leaky_relu SET(MAY("alpha", F32, "0.01"))
#define ATTRIBUTES_elu SET(MAY("alpha", F32, "1.0"))
#define ATTRIBUTES_selu SET(MAY("alpha", F32, "1.67326319"), MAY("gamma", F32, "1.05070102"))
#define ATTRIBUTES_celu SET(MAY("alpha", F32, "1.0"))
#define ATTRIBUTES_thresholded_relu SET(MAY("alpha", F32, "1.0"))
#define ATTRIBUTES_shrink SET(MAY("bias", F32, "0.0"), MAY("lambd", F32, "0.5"))
#define ATTRIBUTES_gelu SET(MAY("approximate", STRING, "\"none\""))
#define ATTRIBUTES_present SET(MAY("present", I64, "-1"))
#define ATTRIBUTES_cast SET(NEED("to", TYPE))
#define ATTRIBUTES_mod SET(MAY("fmod", I64, "0"))
#define ATTRIBUTES_bit_shift SET(NEED("direction", STRING))
#define ATTRIBUTES_shape SET(MAY("end", I64, "9223372036854775807"), MAY("start", I64, "0"))
#define ATTRIBUTES_reshape SET(MAY("allowzero", I64, "0"))
#define ATTRIBUTES_flatten SET(MAY("axis", I64, "1"))
#define ATTRIBUTES_perm SET(MAY("perm", I64_ARRAY, "[]"))
#define ATTRIBUTES_depth_to_space SET(NEED("blocksize", I64), MAY("mode", STRING, "\"DCR\""))
#define ATTRIBUTES_space_to_depth SET(NEED("blocksize", I64))
#define ATTRIBUTES_axis_0 SET(MAY("axis", I64, "0"))
#define ATTRIBUTES_axes SET(MAY("axes", I64_ARRAY, "[]"))
#define ATTRIBUTES_pad SET(MAY("mode", STRING, "\"constant\""), MAY("present", I64, "-1"))
#define ATTRIBUTES_batch_dims SET(MAY("batch_dims", I64, "0"))
#define ATTRIBUTES_scatter_elements SET(MAY("axis", I64, "0"), MAY("reduction", STRING, "\"none\""))
#define ATTRIBUTES_scatter_nd SET(MAY("reduction", STRING, "\"none\""))
#define ATTRIBUTES_axis_last SET(MAY("axis", I64, "-1"))
#define ATTRIBUTES_compress SET(MAY("axis", I64, "-9223372036854775808"))
#define ATTRIBUTES_reverse_sequence SET(MAY("batch_axis", I64, "1"), MAY("time_axis", I64, "0"))
#define ATTRIBUTES_eye_like SET(NEED("dtype", TYPE), MAY("k", I64, "0"))
#define ATTRIBUTES_trilu SET(MAY("upper", I64, "1"))
#define ATTRIBUTES_reduce SET(MAY("keepdims", I64, "1"), MAY("noop_with_empty_axes", I64, "0"))
#define ATTRIBUTES_cum_sum SET(MAY("exclusive", I64, "0"), MAY("reverse", I64, "0"))
#define ATTRIBUTES_arg \
  SET(MAY("axis", I64, "0"), MAY("keepdims", I64, "1"), MAY("select_last_index", I64, "0"))
#define ATTRIBUTES_top_k \
  SET(MAY("axis", I64, "-1"), MAY("largest", I64, "1"), MAY("sorted", I64, "1"))
#define ATTRIBUTES_loss \
  SET(MAY("ignore_index", I64, "-9223372036854775808"), MAY("reduction", STRING, "\"mean\""))
#define ATTRIBUTES_layer_norm SET(MAY("axis", I64, "-1"), MAY("epsilon", F32, "1.0e-5"))
#define ATTRIBUTES_rms_norm SET(MAY("axis", I64, "-1"), MAY("epsilon", F32, "1.0e-5"))
#define ATTRIBUTES_batch_norm \
  SET(MAY("epsilon", F32, "1.0e-5"), MAY("momentum", F32, "0.9"), MAY("training_mode", I64, "0"))
#define ATTRIBUTES_epsilon SET(MAY("epsilon", F32, "1.0e-5"))
#define ATTRIBUTES_group_norm \
  SET(MAY("epsilon", F32, "1.0e-5"), NEED("num_groups", I64), MAY("per_group", I64, "0"))
#define ATTRIBUTES_lrn                                                                \
  SET(MAY("alpha", F32, "1.0e-4"), MAY("beta", F32, "0.75"), MAY("bias", F32, "1.0"), \
      NEED("size", I64))
#define ATTRIBUTES_conv                                                                           \
  SET(MAY("auto_pad", STRING, "\"NOTSET\""), MAY("dilations", I64_ARRAY, "[]"),                   \
      MAY("group", I64, "1"), MAY("kernel_shape", I64_ARRAY, "[]"), MAY("pads", I64_ARRAY, "[]"), \
      MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_fused_conv                                                  \
  SET(MAY("activation", STRING, "\"none\""), MAY("alpha", F32, "0.0"),         \
      MAY("auto_pad", STRING, "\"NOTSET\""), MAY("beta", F32, "0.0"),          \
      MAY("dilations", I64_ARRAY, "[]"), MAY("group", I64, "1"),               \
      MAY("kernel_shape", I64_ARRAY, "[]"), MAY("layout", STRING, "\"NCHW\""), \
      MAY("pads", I64_ARRAY, "[]"), MAY("present", I64, "-1"), MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_fused_mat_mul                                                                \
  SET(MAY("activation", STRING, "\"none\""), MAY("alpha", F32, "0.0"), MAY("beta", F32, "0.0"), \
      MAY("present", I64, "-1"), MAY("transB", I64, "0"))
#define ATTRIBUTES_conv_transpose                                                   \
  SET(MAY("auto_pad", STRING, "\"NOTSET\""), MAY("dilations", I64_ARRAY, "[]"),     \
      MAY("group", I64, "1"), MAY("kernel_shape", I64_ARRAY, "[]"),                 \
      MAY("output_padding", I64_ARRAY, "[]"), MAY("output_shape", I64_ARRAY, "[]"), \
      MAY("pads", I64_ARRAY, "[]"), MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_max_pool                                               \
  SET(MAY("auto_pad", STRING, "\"NOTSET\""), MAY("ceil_mode", I64, "0"),  \
      MAY("dilations", I64_ARRAY, "[]"), NEED("kernel_shape", I64_ARRAY), \
      MAY("layout", STRING, "\"NCHW\""), MAY("pads", I64_ARRAY, "[]"),    \
      MAY("storage_order", I64, "0"), MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_layout SET(MAY("layout", STRING, "\"NCHW\""))
#define ATTRIBUTES_average_pool                                              \
  SET(MAY("auto_pad", STRING, "\"NOTSET\""), MAY("ceil_mode", I64, "0"),     \
      MAY("count_include_pad", I64, "0"), MAY("dilations", I64_ARRAY, "[]"), \
      NEED("kernel_shape", I64_ARRAY), MAY("layout", STRING, "\"NCHW\""),    \
      MAY("pads", I64_ARRAY, "[]"), MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_lp_pool                                                                    \
  SET(MAY("auto_pad", STRING, "\"NOTSET\""), MAY("ceil_mode", I64, "0"),                      \
      MAY("dilations", I64_ARRAY, "[]"), NEED("kernel_shape", I64_ARRAY), MAY("p", I64, "2"), \
      MAY("pads", I64_ARRAY, "[]"), MAY("strides", I64_ARRAY, "[]"))
#define ATTRIBUTES_gemm                                                           \
  SET(MAY("alpha", F32, "1.0"), MAY("beta", F32, "1.0"), MAY("transA", I64, "0"), \
      MAY("transB", I64, "0"))
#define ATTRIBUTES_resize                                                                         \
  SET(MAY("antialias", I64, "0"), MAY("axes", I64_ARRAY, "[]"),                                   \
      MAY("coordinate_transformation_mode", STRING, "\"half_pixel\""),                            \
      MAY("cubic_coeff_a", F32, "-0.75"), MAY("exclude_outside", I64, "0"),                       \
      MAY("extrapolation_value", F32, "0.0"),                                                     \
      MAY("keep_aspect_ratio_policy", STRING, "\"stretch\""), MAY("mode", STRING, "\"nearest\""), \
      MAY("nearest_mode", STRING, "\"round_prefer_floor\""), MAY("present", I64, "-1"))
#define ATTRIBUTES_lstm                                                                  \
  SET(MAY("activation_alpha", F32_ARRAY, "[]"), MAY("activation_beta", F32_ARRAY, "[]"), \
      MAY("activations", STRING, "\"\""), MAY("clip", F32, "0.0"),                       \
      MAY("direction", STRING, "\"forward\""), MAY("hidden_size", I64, "0"),             \
      MAY("input_forget", I64, "0"), MAY("layout", I64, "0"), MAY("present", I64, "-1"))
#define ATTRIBUTES_gru                                                                   \
  SET(MAY("activation_alpha", F32_ARRAY, "[]"), MAY("activation_beta", F32_ARRAY, "[]"), \
      MAY("activations", STRING, "\"\""), MAY("clip", F32, "0.0"),                       \
      MAY("direction", STRING, "\"forward\""), MAY("hidden_size", I64, "0"),             \
      MAY("layout", I64, "0"), MAY("linear_before_reset", I64, "0"), MAY("present", I64, "-1"))
#define ATTRIBUTES_rnn                                                                   \
  SET(MAY("activation_alpha", F32_ARRAY, "[]"), MAY("activation_beta", F32_ARRAY, "[]"), \
      MAY("activations", STRING, "\"\""), MAY("clip", F32, "0.0"),                       \
      MAY("direction", STRING, "\"forward\""), MAY("hidden_size", I64, "0"),             \
      MAY("layout", I64, "0"), MAY("present", I64, "-1"))
#define ATTRIBUTES_attention                                                       \
  SET(MAY("is_causal", I64, "0"), MAY("kv_num_heads", I64, "0"),                   \
      MAY("left_window_size", I64, "-1"), MAY("places_first", I64, "0"),           \
      MAY("present", I64, "-1"), MAY("q_num_heads", I64, "0"),                     \
      MAY("qk_matmul_output_mode", I64, "0"), MAY("right_window_size", I64, "-1"), \
      MAY("scale", F32, "0.0"), MAY("softcap", F32, "0.0"), MAY("stretch_mask", I64, "0"))
#define ATTRIBUTES_rotary                                       \
  SET(MAY("interleaved", I64, "0"), MAY("num_heads", I64, "0"), \
      MAY("rotary_embedding_dim", I64, "0"))
#define ATTRIBUTES_tensor_scatter SET(MAY("axis", I64, "-2"), MAY("mode", STRING, "\"linear\""))
#define ATTRIBUTES_align_corners SET(MAY("align_corners", I64, "0"))
#define ATTRIBUTES_grid_sample                                           \
  SET(MAY("align_corners", I64, "0"), MAY("mode", STRING, "\"linear\""), \
      MAY("padding_mode", STRING, "\"zeros\""))
#define ATTRIBUTES_suppression SET(MAY("center_point_box", I64, "0"), MAY("present", I64, "-1"))
#define ATTRIBUTES_blocks SET(MAY("axis", I64, "1"), MAY("block_size", I64, "0"))
#define ATTRIBUTES_equation SET(NEED("equation", STRING))
#define ASSEMBLY_ONE "( operands ) attr-dict"
#define ASSEMBLY_MANY "( operands ) attr-dict function"
#define FLAGS_ONE (TFRT_KERNEL_PURE | TFRT_KERNEL_VARIADIC_OPERANDS)
#define FLAGS_MANY (FLAGS_ONE | TFRT_KERNEL_VARIADIC_RESULTS)

#define ENTRY(op, text, list, many, work)                                       \
  OP("tfrt_nn." #op, text, FORM(ASSEMBLY_##many), IN(READ("operands", TENSOR)), \
     OUT(GIVE("results", TENSOR)), ATTRIBUTES(list), .flags = FLAGS_##many),

static const tfrt_kernel_descriptor_t descriptors[] = {
    TFRT_NN_OP_LIST(ENTRY)
        OP("tfrt_nn.constant",
           "The constant tensor `value`, which lies where the program does: no copy is made.",
           FORM("#value attr-dict"), OUT(GIVE("results", TENSOR)), SET(NEED("value", DENSE)),
           FLAGS(PURE), COST(50)),
    OP("tfrt_nn.condition", "The one element of a tensor of truth values.",
       FORM("operands attr-dict"), IN(READ("operand", TENSOR)), OUT(GIVE("condition", "i1")),
       FLAGS(PURE), COST(10)),
};

const tfrt_kernel_table_t tfrt_nn_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
