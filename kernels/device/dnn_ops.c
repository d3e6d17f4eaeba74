// SPDX-License-Identifier: Apache-2.0
//
// The ops of neural networks' layers, which vendors' libraries do.
#include "kernels/device/op_parts.h"
#include "kernels/device/ops.h"

#define HANDLE "!tfrt_gpu.dnn.handle"
#define TENSOR "!tfrt_gpu.dnn.tensor.descriptor"
#define FILTER "!tfrt_gpu.dnn.filter.descriptor"
#define POOLING "!tfrt_gpu.dnn.pooling.descriptor"
#define CONVOLUTION "!tfrt_gpu.dnn.convolution.descriptor"
#define ACTIVATION "!tfrt_gpu.dnn.activation.descriptor"
#define ALGORITHM "!tfrt_gpu.dnn.convolution.algorithm"
#define PLAN "!tfrt_gpu.dnn.convolution_plan"

// --- Operands -----------------------------------------------------------------

static const tfrt_operand_descriptor_t context[] = {READ("context", CONTEXT)};
static const tfrt_operand_descriptor_t described_pooling[] = {
    READ("context", CONTEXT), READ("mode", "ui32"), READ("nan_propagation", "ui32")};
static const tfrt_operand_descriptor_t described_activation[] = {READ("coefficient", "f64")};
static const tfrt_operand_descriptor_t pooled[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("pooling_desc", POOLING),
    READ("alpha", "f32"),
    READ("x_desc", TENSOR),
    READ("x", BUFFER),
    READ("beta", "f32"),
    READ("y_desc", TENSOR),
    WRITTEN("y"),
    AFTER,
};
static const tfrt_operand_descriptor_t unpooled[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("pooling_desc", POOLING),
    READ("alpha", "f32"),
    READ("y_desc", TENSOR),
    READ("y", BUFFER),
    READ("dy_desc", TENSOR),
    READ("dy", BUFFER),
    READ("x_desc", TENSOR),
    READ("x", BUFFER),
    READ("beta", "f32"),
    READ("dx_desc", TENSOR),
    WRITTEN("dx"),
    AFTER,
};
static const tfrt_operand_descriptor_t convolved[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("x_desc", TENSOR),
    READ("x", BUFFER),
    READ("w_desc", FILTER),
    READ("w", BUFFER),
    READ("conv_desc", CONVOLUTION),
    READ("algo", ALGORITHM),
    WRITTEN("work_space"),
    READ("y_desc", TENSOR),
    WRITTEN("y"),
    AFTER,
};
static const tfrt_operand_descriptor_t fused[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("alpha1", "f32|f64"),
    READ("x_desc", TENSOR),
    READ("x", BUFFER),
    READ("w_desc", FILTER),
    READ("w", BUFFER),
    READ("conv_desc", CONVOLUTION),
    READ("algo", ALGORITHM),
    WRITTEN("work_space"),
    READ("alpha2", "f32|f64"),
    READ("z_desc", TENSOR),
    READ("z", BUFFER),
    READ("bias_desc", TENSOR),
    READ("bias", BUFFER),
    READ("activation_desc", ACTIVATION),
    READ("y_desc", TENSOR),
    WRITTEN("y"),
    AFTER,
};
static const tfrt_operand_descriptor_t convolved_back[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("w_desc", FILTER),
    READ("w", BUFFER),
    READ("dy_desc", TENSOR),
    READ("dy", BUFFER),
    READ("conv_desc", CONVOLUTION),
    READ("algo", ALGORITHM),
    WRITTEN("work_space"),
    READ("dx_desc", TENSOR),
    WRITTEN("dx"),
    AFTER,
};
static const tfrt_operand_descriptor_t convolved_to_filter[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("x_desc", TENSOR),
    READ("x", BUFFER),
    READ("dy_desc", TENSOR),
    READ("dy", BUFFER),
    READ("conv_desc", CONVOLUTION),
    READ("algo", ALGORITHM),
    WRITTEN("work_space"),
    READ("dw_desc", FILTER),
    WRITTEN("dw"),
    AFTER,
};

static const tfrt_operand_descriptor_t planned[] = {READ("handle", HANDLE)};
static const tfrt_operand_descriptor_t planned_fused[] = {
    READ("handle", HANDLE), READ("alpha", "f64"), READ("alpha2", "f64")};
// Which of input, output and filter is written is the plan's to say.
static const tfrt_operand_descriptor_t run_planned[] = {
    READ("handle", HANDLE), READ("stream", STREAM), READ("plan", PLAN),   WRITTEN("input"),
    WRITTEN("output"),      WRITTEN("filter"),      WRITTEN("workspace"), AFTER,
};
static const tfrt_operand_descriptor_t run_planned_fused[] = {
    READ("handle", HANDLE),     READ("stream", STREAM),
    READ("plan", PLAN),         READ("input", BUFFER),
    WRITTEN("output"),          READ("filter", BUFFER),
    READ("side_input", BUFFER), READ("bias", BUFFER),
    WRITTEN("workspace"),       AFTER,
};

// --- Results and attributes -----------------------------------------------------

static const tfrt_result_descriptor_t handle_result[] = {{"handle", HANDLE}};
static const tfrt_result_descriptor_t tensor_result[] = {{"tensor_desc", TENSOR}};
static const tfrt_result_descriptor_t filter_result[] = {{"filter_desc", FILTER}};
static const tfrt_result_descriptor_t pooling_result[] = {{"pooling_desc", POOLING}};
static const tfrt_result_descriptor_t convolution_result[] = {{"conv_desc", CONVOLUTION}};
static const tfrt_result_descriptor_t activation_result[] = {{"activation_desc", ACTIVATION}};
static const tfrt_result_descriptor_t algorithm_result[] = {{"algo", ALGORITHM}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};

static const tfrt_result_descriptor_t plan_result[] = {{"plan", PLAN}};

#define NUMBERS(name) \
  { name, TFRT_ATTRIBUTE_I32_ARRAY, NULL }
#define LONG_NUMBERS(name) \
  { name, TFRT_ATTRIBUTE_I64_ARRAY, NULL }
#define ONE_NUMBER(name) \
  { name, TFRT_ATTRIBUTE_I32, NULL }

// Attributes of all plans, in the order of names.
#define WINDOW                                                                                 \
  LONG_NUMBERS("conv_dilations"), ONE_NUMBER("conv_dim"), NAME("conv_mode"),                   \
      LONG_NUMBERS("conv_padding"), LONG_NUMBERS("conv_strides"), ONE_NUMBER("engine_id"),     \
      LONG_NUMBERS("filter_dims"), LONG_NUMBERS("filter_strides"), LONG_NUMBERS("input_dims"), \
      LONG_NUMBERS("input_strides"), NAME("input_type"), LONG_NUMBERS("output_dims"),          \
      LONG_NUMBERS("output_strides"), NAME("output_type"), LONG_NUMBERS("tuning_knob_ids"),    \
      LONG_NUMBERS("tuning_knob_values")

static const tfrt_attribute_descriptor_t form_of_tensor[] = {
    NAME("data_type"), NUMBERS("dimensions"), NUMBERS("strides")};
static const tfrt_attribute_descriptor_t form_of_filter[] = {
    NAME("data_type"), NUMBERS("dimensions"), {"tensor_format", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t form_of_pooling[] = {
    NUMBERS("paddings"), NUMBERS("strides"), NUMBERS("window_dimensions")};
static const tfrt_attribute_descriptor_t form_of_convolution[] = {
    NAME("compute_type"),     NAME("conv_mode"), NUMBERS("dilation"),
    NUMBERS("filter_stride"), NAME("math_type"), NUMBERS("pad")};
// The second name is spelled as TFRT spells it.
static const tfrt_attribute_descriptor_t form_of_activation[] = {
    NAME("mode"), {"nan_progapation", TFRT_ATTRIBUTE_I1, NULL}};
static const tfrt_attribute_descriptor_t algorithm[] = {{"algo", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t scale_type[] = {NAME("scale_type")};
static const tfrt_attribute_descriptor_t form_of_plan[] = {ONE_NUMBER("backend_type"), WINDOW};
static const tfrt_attribute_descriptor_t form_of_fused_plan[] = {
    ONE_NUMBER("activation_mode"), ONE_NUMBER("backend_type"), LONG_NUMBERS("bias_dims"),
    LONG_NUMBERS("bias_strides"),  NAME("bias_type"),          WINDOW};

#define ALGORITHM_OP(direction, text)                                                            \
  {                                                                                              \
    .name = "tfrt_gpu.dnn.convolution_" direction "_algorithm",                                  \
    .summary = "The library's number of a way to make " text ".", .assembly = "#algo attr-dict", \
    TFRT_RESULTS(algorithm_result), TFRT_ATTRIBUTES(algorithm), .effects = TFRT_EFFECT_NONE,     \
    .cost = 10                                                                                   \
  }

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_gpu.dnn.create",
     .summary = "A handle of the device's library for neural networks, which is opened when it is "
                "first asked for.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(handle_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.dnn.create_tensor_descriptor",
     .summary =
         "What a tensor looks like: batch, channels, and 2 or 3 axes of space, each with its "
         "size and the elements from one to the next.",
     .assembly = "$data_type , #dimensions , #strides attr-dict",
     TFRT_RESULTS(tensor_result),
     TFRT_ATTRIBUTES(form_of_tensor),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.dnn.create_filter_descriptor",
     .summary = "What a filter looks like: outputs, inputs, and 2 or 3 axes of space; in memory in "
                "that order (format 0), or with the inputs last (1).",
     .assembly = "$data_type , #tensor_format , #dimensions attr-dict",
     TFRT_RESULTS(filter_result),
     TFRT_ATTRIBUTES(form_of_filter),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.dnn.create_pooling_descriptor",
     .summary =
         "How a tensor is pooled. Mode 0 takes the greatest of a window, 1 the average with the "
         "padding's zeros, 2 without them, 3 as 0, the same in each run; what is no number counts "
         "as the greatest if `nan_propagation` is 1.",
     .assembly = "%context , %mode , %nan_propagation , #window_dimensions , #paddings , #strides "
                 "attr-dict",
     TFRT_OPERANDS(described_pooling),
     TFRT_RESULTS(pooling_result),
     TFRT_ATTRIBUTES(form_of_pooling),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.dnn.create_convolution_descriptor",
     .summary = "How a tensor is convolved.",
     .assembly = "$compute_type , $conv_mode , $math_type , #pad , #filter_stride , #dilation "
                 "attr-dict",
     TFRT_RESULTS(convolution_result),
     TFRT_ATTRIBUTES(form_of_convolution),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.dnn.create_activation_descriptor",
     .summary = "What becomes of each number behind a layer. `coefficient` is where a clipped relu "
                "ends, or the factor of an elu.",
     .assembly = "%coefficient , $mode , #nan_progapation attr-dict",
     TFRT_OPERANDS(described_activation),
     TFRT_RESULTS(activation_result),
     TFRT_ATTRIBUTES(form_of_activation),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    ALGORITHM_OP("forward", "a convolution"),
    ALGORITHM_OP("backward_data", "a convolution's gradient of its data"),
    ALGORITHM_OP("backward_filter", "a convolution's gradient of its filter"),
    {.name = "tfrt_gpu.dnn.pooling_forward",
     .summary = "y = alpha * (x, pooled) + beta * y.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(pooled),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.pooling_backward",
     .summary = "dx = alpha * (the gradient dy of y, which x was pooled to, at x) + beta * dx.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(unpooled),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.convolution_forward",
     .summary = "Makes y of x and the filter w.",
     .assembly = "%handle , %stream , $scale_type , %x_desc , %x , %w_desc , %w , %conv_desc , "
                 "%algo , %work_space , %y_desc , %y , %chain attr-dict",
     TFRT_OPERANDS(convolved),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(scale_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.convolution_backward_data",
     .summary = "Makes the gradient dx of that of y.",
     .assembly = "%handle , %stream , $scale_type , %w_desc , %w , %dy_desc , %dy , %conv_desc , "
                 "%algo , %work_space , %dx_desc , %dx , %chain attr-dict",
     TFRT_OPERANDS(convolved_back),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(scale_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.convolution_backward_filter",
     .summary = "Makes the gradient dw of that of y.",
     .assembly = "%handle , %stream , $scale_type , %x_desc , %x , %dy_desc , %dy , %conv_desc , "
                 "%algo , %work_space , %dw_desc , %dw , %chain attr-dict",
     TFRT_OPERANDS(convolved_to_filter),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(scale_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.convolution_bias_activation_forward",
     .summary = "y = activation(alpha1 * (x, convolved by w) + alpha2 * z + bias). z looks like y; "
                "the bias has one number per channel; the activation is a relu or the identity.",
     .assembly = "%handle , %stream , $scale_type , %alpha1 , %x_desc , %x , %w_desc , %w , "
                 "%conv_desc , %algo , %work_space , %alpha2 , %z_desc , %z , %bias_desc , %bias , "
                 "%activation_desc , %y_desc , %y , %chain attr-dict",
     TFRT_OPERANDS(fused),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(scale_type),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.build_convolution",
     .summary = "A plan of a convolution by cuDNN's backend: of the one of `backend_type` 10 "
                "(forward, makes "
                "the output), 11 (backward filter, makes the filter) or 12 (backward data, makes "
                "the input), "
                "by the engine `engine_id` of the library's, with choices for its knobs. Sizes and "
                "strides "
                "are batch, channels (a filter's: outputs, inputs) and `conv_dim` axes of space.",
     .assembly = "%handle , $input_type , $output_type , #input_dims , #input_strides , "
                 "#output_dims , #output_strides , #filter_dims , #filter_strides , $conv_mode , "
                 "#conv_dim , #conv_strides , #conv_padding , #conv_dilations , #backend_type , "
                 "#engine_id , #tuning_knob_ids , #tuning_knob_values attr-dict",
     TFRT_OPERANDS(planned),
     TFRT_RESULTS(plan_result),
     TFRT_ATTRIBUTES(form_of_plan),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.dnn.run_convolution",
     .summary = "Runs a plan of a convolution. Memory begins at multiples of 32 bytes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(run_planned),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.dnn.build_fused_convolution",
     .summary = "The same for output = activation(alpha * (input, convolved by filter) + alpha2 * "
                "side_input + bias): `backend_type` is 10, `activation_mode` 1 (a relu) or 5 (the "
                "identity). The side input looks like the output; the bias may have 1 where the "
                "output has more.",
     .assembly =
         "%handle , $input_type , $output_type , $bias_type , #input_dims , #input_strides , "
         "#output_dims , #output_strides , #filter_dims , #filter_strides , #bias_dims , "
         "#bias_strides , $conv_mode , #conv_dim , #conv_strides , #conv_padding , "
         "#conv_dilations , #backend_type , %alpha , %alpha2 , #activation_mode , #engine_id "
         ", #tuning_knob_ids , #tuning_knob_values attr-dict",
     TFRT_OPERANDS(planned_fused),
     TFRT_RESULTS(plan_result),
     TFRT_ATTRIBUTES(form_of_fused_plan),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.dnn.run_fused_convolution",
     .summary = "Runs a plan of a fused convolution. Memory begins at multiples of 32 bytes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(run_planned_fused),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
};

const tfrt_kernel_table_t tfrt_dnn_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
