// SPDX-License-Identifier: Apache-2.0
// Plans of convolutions: what is made is that of dnn.mlir.

// A tensor of 3 times 3 with a window [1 2; 3 4], and the gradients of both for the same result.
func.func @convolve() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %large = tfrt.constant.i64 36
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %forward = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  %ch7 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %forward, %x, %y, %w, %space, %ch6
  %ch8 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch7 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch9 = tfrt_dht.print_tensor %small, %ch8
  %data = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 12, 0, [], []
  %ch10 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %data, %x, %y, %w, %space, %ch9
  %ch11 = tfrt_gpu.mem.copy %bytes, %x, %stream, %ch10 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch12 = tfrt_dht.print_tensor %host, %ch11
  %filter = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 11, 0, [], []
  %ch13 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %filter, %x, %y, %w, %space, %ch12
  %ch14 = tfrt_gpu.mem.copy %small_bytes, %w, %stream, %ch13 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch15 = tfrt_dht.print_tensor %small, %ch14
  tfrt.return
}

// 2 * [37 47; 67 77] - 20 * [1 2; 3 4] - 60, with what is negative as 0, and as it is.
func.func @fuse() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %large = tfrt.constant.i64 36
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %four = tfrt.constant.i64 4
  %bias = tfrt_gpu.mem.allocate %allocator, %stream, %four, %ch0
  %minus = tfrt.constant.f32 -60.0
  %ch7 = tfrt_gpu.mem.set %bias, %minus, %stream, %ch6 : !tfrt_gpu.buffer, f32
  %alpha = tfrt.constant.f64 2.0
  %alpha2 = tfrt.constant.f64 -20.0
  %relu = tfrt_gpu.dnn.build_fused_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 1 : i64, 1 : i64], [1 : i64, 1 : i64, 1 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, %alpha, %alpha2, 1, 0, [], []
  %ch8 = tfrt_gpu.dnn.run_fused_convolution %dnn, %stream, %relu, %x, %y, %w, %w, %bias, %space, %ch7
  %ch9 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch8 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_dht.print_tensor %small, %ch9
  %identity = tfrt_gpu.dnn.build_fused_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 1 : i64, 1 : i64], [1 : i64, 1 : i64, 1 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, %alpha, %alpha2, 5, 0, [], []
  %ch11 = tfrt_gpu.dnn.run_fused_convolution %dnn, %stream, %identity, %x, %y, %w, %w, %bias, %space, %ch10
  %ch12 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch11 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch13 = tfrt_dht.print_tensor %small, %ch12
  tfrt.return
}

func.func @axes_missing() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: input_dims has 3 numbers; with a conv_dim of 2 give 4}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 3 : i64, 3 : i64], [9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @no_size() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: input_dims[3] is 0; give a number from 1 to 2147483647}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 0 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @wrong_size() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: output_dims[2] is 3 where 2 follows from input_dims, filter_dims, conv_padding, conv_strides and conv_dilations}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 3 : i64, 2 : i64], [6 : i64, 6 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @no_axes() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: conv_dim is 0; give 2 or 3}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 0, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @half_a_knob() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: tuning_knob_ids has 2 numbers and tuning_knob_values 1; give one value for each id}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [1 : i64, 2 : i64], [1 : i64]
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @no_backend_type() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: backend_type is 0; give 10 (forward), 11 (backward filter) or 12 (backward data)}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 0, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @no_engine() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: engine_id is -1; give the library's number of an engine, from 0}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, -1, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @vectors() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  // expected-error @+1 {{tfrt_gpu.dnn.build_convolution: input_type: 'CUDNN_DATA_INT8x4' is no type of a plan's elements, which is one of: CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16, CUDNN_DATA_INT8, CUDNN_DATA_INT32}}
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_INT8x4, CUDNN_DATA_INT8x4,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @no_activation() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  %alpha = tfrt.constant.f64 1.0
  %alpha2 = tfrt.constant.f64 0.0
  // expected-error @+1 {{tfrt_gpu.dnn.build_fused_convolution: activation_mode 0 is not implemented; give 1 (relu) or 5 (identity)}}
  %plan = tfrt_gpu.dnn.build_fused_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 1 : i64, 1 : i64], [1 : i64, 1 : i64, 1 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, %alpha, %alpha2, 0, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @fused_backward() -> !tfrt_gpu.dnn.convolution_plan {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %dnn = tfrt_gpu.dnn.create %context
  %alpha = tfrt.constant.f64 1.0
  %alpha2 = tfrt.constant.f64 0.0
  // expected-error @+1 {{tfrt_gpu.dnn.build_fused_convolution: a fused convolution goes forward; give a backend_type of 10}}
  %plan = tfrt_gpu.dnn.build_fused_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 1 : i64, 1 : i64], [1 : i64, 1 : i64, 1 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 12, %alpha, %alpha2, 1, 0, [], []
  tfrt.return %plan : !tfrt_gpu.dnn.convolution_plan
}

func.func @without_a_bias() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %large = tfrt.constant.i64 36
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %alpha = tfrt.constant.f64 1.0
  %alpha2 = tfrt.constant.f64 0.0
  %plan = tfrt_gpu.dnn.build_fused_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 1 : i64, 1 : i64], [1 : i64, 1 : i64, 1 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, %alpha, %alpha2, 1, 0, [], []
  // expected-error @+1 {{tfrt_gpu.dnn.run_convolution: a plan of a convolution with a bias is run alone; use tfrt_gpu.dnn.run_fused_convolution}}
  %ch7 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %plan, %x, %y, %w, %space, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

func.func @too_small() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %large = tfrt.constant.i64 36
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  %offset = tfrt.constant.ui64 0
  %less = tfrt.constant.ui64 12
  %part = tfrt_gpu.mem.view %y, %offset, %less
  // expected-error @+1 {{tfrt_gpu.dnn.run_convolution: the output of a plan}}
  %ch7 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %plan, %x, %part, %w, %space, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

func.func @not_aligned() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %large = tfrt.constant.i64 36
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %plan = tfrt_gpu.dnn.build_convolution %dnn, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
    [1 : i64, 1 : i64, 3 : i64, 3 : i64], [9 : i64, 9 : i64, 3 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    [1 : i64, 1 : i64, 2 : i64, 2 : i64], [4 : i64, 4 : i64, 2 : i64, 1 : i64],
    CUDNN_CROSS_CORRELATION, 2, [1 : i64, 1 : i64], [0 : i64, 0 : i64], [1 : i64, 1 : i64], 10, 0, [], []
  %offset = tfrt.constant.ui64 4
  %less = tfrt.constant.ui64 16
  %part = tfrt_gpu.mem.view %x, %offset, %less
  // expected-error @+1 {{the filter of a plan: its memory is not aligned}}
  %ch7 = tfrt_gpu.dnn.run_convolution %dnn, %stream, %plan, %x, %y, %part, %space, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
