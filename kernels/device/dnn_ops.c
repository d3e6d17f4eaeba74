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

// --- Results and attributes -----------------------------------------------------

#define NUMBERS(name) NEED(name, I32_ARRAY)
#define LONG_NUMBERS(name) NEED(name, I64_ARRAY)
#define ONE_NUMBER(name) NEED(name, I32)

// Attributes of all plans, in the order of names.
#define WINDOW                                                                                 \
  LONG_NUMBERS("conv_dilations"), ONE_NUMBER("conv_dim"), NEED("conv_mode", STRING),           \
      LONG_NUMBERS("conv_padding"), LONG_NUMBERS("conv_strides"), ONE_NUMBER("engine_id"),     \
      LONG_NUMBERS("filter_dims"), LONG_NUMBERS("filter_strides"), LONG_NUMBERS("input_dims"), \
      LONG_NUMBERS("input_strides"), NEED("input_type", STRING), LONG_NUMBERS("output_dims"),  \
      LONG_NUMBERS("output_strides"), NEED("output_type", STRING),                             \
      LONG_NUMBERS("tuning_knob_ids"), LONG_NUMBERS("tuning_knob_values")

#define ALGORITHM_OP(direction, text)                                            \
  OP("tfrt_gpu.dnn.convolution_" direction "_algorithm",                         \
     "The library's number of a way to make " text ".", FORM("#algo attr-dict"), \
     OUT(GIVE("algo", ALGORITHM)), SET(NEED("algo", I32)), EFFECTS(NONE), COST(10))

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("tfrt_gpu.dnn.create",
       "A handle of the device's library for neural networks, which is opened when it is first "
       "asked for.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("handle", HANDLE)),
       EFFECTS(NONE), COST(1000)),
    OP("tfrt_gpu.dnn.create_tensor_descriptor",
       "What a tensor looks like: batch, channels, and 2 or 3 axes of space, each with its size "
       "and the elements from one to the next.",
       FORM("$data_type , #dimensions , #strides attr-dict"), OUT(GIVE("tensor_desc", TENSOR)),
       SET(NEED("data_type", STRING), NUMBERS("dimensions"), NUMBERS("strides")), EFFECTS(NONE),
       COST(10)),
    OP("tfrt_gpu.dnn.create_filter_descriptor",
       "What a filter looks like: outputs, inputs, and 2 or 3 axes of space; in memory in that "
       "order (format 0), or with the inputs last (1).",
       FORM("$data_type , #tensor_format , #dimensions attr-dict"),
       OUT(GIVE("filter_desc", FILTER)),
       SET(NEED("data_type", STRING), NUMBERS("dimensions"), NEED("tensor_format", I32)),
       EFFECTS(NONE), COST(10)),
    OP("tfrt_gpu.dnn.create_pooling_descriptor",
       "How a tensor is pooled. Mode 0 takes the greatest of a window, 1 the average with the "
       "padding's zeros, 2 without them, 3 as 0, the same in each run; what is no number counts as "
       "the greatest if `nan_propagation` is 1.",
       FORM("%context , %mode , %nan_propagation , #window_dimensions , #paddings , #strides "
            "attr-dict"),
       IN(READ("context", CONTEXT), READ("mode", "ui32"), READ("nan_propagation", "ui32")),
       OUT(GIVE("pooling_desc", POOLING)),
       SET(NUMBERS("paddings"), NUMBERS("strides"), NUMBERS("window_dimensions")), EFFECTS(NONE),
       COST(10)),
    OP("tfrt_gpu.dnn.create_convolution_descriptor", "How a tensor is convolved.",
       FORM(
           "$compute_type , $conv_mode , $math_type , #pad , #filter_stride , #dilation attr-dict"),
       OUT(GIVE("conv_desc", CONVOLUTION)),
       SET(NEED("compute_type", STRING), NEED("conv_mode", STRING), NUMBERS("dilation"),
           NUMBERS("filter_stride"), NEED("math_type", STRING), NUMBERS("pad")),
       EFFECTS(NONE), COST(10)),
    // The second name is spelled as TFRT spells it.
    OP("tfrt_gpu.dnn.create_activation_descriptor",
       "What becomes of each number behind a layer. `coefficient` is where a clipped relu ends, or "
       "the factor of an elu.",
       FORM("%coefficient , $mode , #nan_progapation attr-dict"), IN(READ("coefficient", "f64")),
       OUT(GIVE("activation_desc", ACTIVATION)),
       SET(NEED("mode", STRING), NEED("nan_progapation", I1)), EFFECTS(NONE), COST(10)),
    ALGORITHM_OP("forward", "a convolution"),
    ALGORITHM_OP("backward_data", "a convolution's gradient of its data"),
    ALGORITHM_OP("backward_filter", "a convolution's gradient of its filter"),
    OP("tfrt_gpu.dnn.pooling_forward", "y = alpha * (x, pooled) + beta * y.",
       FORM("operands attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("pooling_desc", POOLING),
          READ("alpha", "f32"), READ("x_desc", TENSOR), READ("x", BUFFER), READ("beta", "f32"),
          READ("y_desc", TENSOR), WRITE("y", BUFFER), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.pooling_backward",
       "dx = alpha * (the gradient dy of y, which x was pooled to, at x) + beta * dx.",
       FORM("operands attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("pooling_desc", POOLING),
          READ("alpha", "f32"), READ("y_desc", TENSOR), READ("y", BUFFER), READ("dy_desc", TENSOR),
          READ("dy", BUFFER), READ("x_desc", TENSOR), READ("x", BUFFER), READ("beta", "f32"),
          READ("dx_desc", TENSOR), WRITE("dx", BUFFER), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.convolution_forward", "Makes y of x and the filter w.",
       FORM("%handle , %stream , $scale_type , %x_desc , %x , %w_desc , %w , %conv_desc , %algo , "
            "%work_space , %y_desc , %y , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("x_desc", TENSOR), READ("x", BUFFER),
          READ("w_desc", FILTER), READ("w", BUFFER), READ("conv_desc", CONVOLUTION),
          READ("algo", ALGORITHM), WRITE("work_space", BUFFER), READ("y_desc", TENSOR),
          WRITE("y", BUFFER), AFTER),
       OUT(DONE), SET(NEED("scale_type", STRING)), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.convolution_backward_data", "Makes the gradient dx of that of y.",
       FORM("%handle , %stream , $scale_type , %w_desc , %w , %dy_desc , %dy , %conv_desc , %algo "
            ", %work_space , %dx_desc , %dx , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("w_desc", FILTER), READ("w", BUFFER),
          READ("dy_desc", TENSOR), READ("dy", BUFFER), READ("conv_desc", CONVOLUTION),
          READ("algo", ALGORITHM), WRITE("work_space", BUFFER), READ("dx_desc", TENSOR),
          WRITE("dx", BUFFER), AFTER),
       OUT(DONE), SET(NEED("scale_type", STRING)), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.convolution_backward_filter", "Makes the gradient dw of that of y.",
       FORM("%handle , %stream , $scale_type , %x_desc , %x , %dy_desc , %dy , %conv_desc , %algo "
            ", %work_space , %dw_desc , %dw , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("x_desc", TENSOR), READ("x", BUFFER),
          READ("dy_desc", TENSOR), READ("dy", BUFFER), READ("conv_desc", CONVOLUTION),
          READ("algo", ALGORITHM), WRITE("work_space", BUFFER), READ("dw_desc", FILTER),
          WRITE("dw", BUFFER), AFTER),
       OUT(DONE), SET(NEED("scale_type", STRING)), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.convolution_bias_activation_forward",
       "y = activation(alpha1 * (x, convolved by w) + alpha2 * z + bias). z looks like y; the bias "
       "has one number per channel; the activation is a relu or the identity.",
       FORM("%handle , %stream , $scale_type , %alpha1 , %x_desc , %x , %w_desc , %w , %conv_desc "
            ", %algo , %work_space , %alpha2 , %z_desc , %z , %bias_desc , %bias , "
            "%activation_desc , %y_desc , %y , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("alpha1", "f32|f64"),
          READ("x_desc", TENSOR), READ("x", BUFFER), READ("w_desc", FILTER), READ("w", BUFFER),
          READ("conv_desc", CONVOLUTION), READ("algo", ALGORITHM), WRITE("work_space", BUFFER),
          READ("alpha2", "f32|f64"), READ("z_desc", TENSOR), READ("z", BUFFER),
          READ("bias_desc", TENSOR), READ("bias", BUFFER), READ("activation_desc", ACTIVATION),
          READ("y_desc", TENSOR), WRITE("y", BUFFER), AFTER),
       OUT(DONE), SET(NEED("scale_type", STRING)), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.build_convolution",
       "A plan of a convolution by cuDNN's backend: of the one of `backend_type` 10 (forward, "
       "makes the output), 11 (backward filter, makes the filter) or 12 (backward data, makes the "
       "input), by the engine `engine_id` of the library's, with choices for its knobs. Sizes and "
       "strides are batch, channels (a filter's: outputs, inputs) and `conv_dim` axes of space.",
       FORM("%handle , $input_type , $output_type , #input_dims , #input_strides , #output_dims , "
            "#output_strides , #filter_dims , #filter_strides , $conv_mode , #conv_dim , "
            "#conv_strides , #conv_padding , #conv_dilations , #backend_type , #engine_id , "
            "#tuning_knob_ids , #tuning_knob_values attr-dict"),
       IN(READ("handle", HANDLE)), OUT(GIVE("plan", PLAN)), SET(ONE_NUMBER("backend_type"), WINDOW),
       EFFECTS(NONE), COST(1000)),
    // Which of input, output and filter is written is the plan's to say.
    OP("tfrt_gpu.dnn.run_convolution",
       "Runs a plan of a convolution. Memory begins at multiples of 32 bytes.",
       FORM("operands attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("plan", PLAN),
          WRITE("input", BUFFER), WRITE("output", BUFFER), WRITE("filter", BUFFER),
          WRITE("workspace", BUFFER), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.dnn.build_fused_convolution",
       "The same for output = activation(alpha * (input, convolved by filter) + alpha2 * "
       "side_input + bias): `backend_type` is 10, `activation_mode` 1 (a relu) or 5 (the "
       "identity). The side input looks like the output; the bias may have 1 where the output has "
       "more.",
       FORM("%handle , $input_type , $output_type , $bias_type , #input_dims , #input_strides , "
            "#output_dims , #output_strides , #filter_dims , #filter_strides , #bias_dims , "
            "#bias_strides , $conv_mode , #conv_dim , #conv_strides , #conv_padding , "
            "#conv_dilations , #backend_type , %alpha , %alpha2 , #activation_mode , #engine_id , "
            "#tuning_knob_ids , #tuning_knob_values attr-dict"),
       IN(READ("handle", HANDLE), READ("alpha", "f64"), READ("alpha2", "f64")),
       OUT(GIVE("plan", PLAN)),
       SET(ONE_NUMBER("activation_mode"), ONE_NUMBER("backend_type"), LONG_NUMBERS("bias_dims"),
           LONG_NUMBERS("bias_strides"), NEED("bias_type", STRING), WINDOW),
       EFFECTS(NONE), COST(1000)),
    OP("tfrt_gpu.dnn.run_fused_convolution",
       "Runs a plan of a fused convolution. Memory begins at multiples of 32 bytes.",
       FORM("operands attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("plan", PLAN), READ("input", BUFFER),
          WRITE("output", BUFFER), READ("filter", BUFFER), READ("side_input", BUFFER),
          READ("bias", BUFFER), WRITE("workspace", BUFFER), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(50)),
};

const tfrt_kernel_table_t tfrt_dnn_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
