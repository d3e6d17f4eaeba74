// Layers of neural networks: pooling and convolution, there and back.

// Pools [1 2 3 4; 5 6 7 8; ...; 13 14 15 16] with windows of 2 times 2, and spreads what comes back.
func.func @pool() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %size = tfrt.constant.i64 64
  %pooled_size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %dx = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %pooled_size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [4 : i64, 4 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32, 10.0 : f32, 11.0 : f32, 12.0 : f32, 13.0 : f32, 14.0 : f32, 15.0 : f32, 16.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %mode = tfrt.constant.ui32 0
  %no = tfrt.constant.ui32 0
  %pooling = tfrt_gpu.dnn.create_pooling_descriptor %context, %mode, %no,
    [2 : i32, 2 : i32], [0 : i32, 0 : i32], [2 : i32, 2 : i32]
  %in = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 4 : i32, 4 : i32], [16 : i32, 16 : i32, 4 : i32, 1 : i32]
  %out = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %ch4 = tfrt_gpu.dnn.pooling_forward %dnn, %stream, %pooling, %one, %in, %x, %zero, %out, %y, %ch3
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch5 = tfrt_dht.get_buffer %small, %ch4
  %ch6 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch5 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch7 = tfrt_dht.print_tensor %small, %ch6
  %ch8 = tfrt_gpu.dnn.pooling_backward %dnn, %stream, %pooling, %one, %out, %y, %out, %y, %in, %x,
    %zero, %in, %dx, %ch7
  %ch9 = tfrt_gpu.mem.copy %bytes, %dx, %stream, %ch8 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_dht.print_tensor %host, %ch9
  tfrt.return
}

// A tensor of 3 times 3 with a window [1 2; 3 4], and the gradients of both for the same result.
func.func @convolve() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %dnn = tfrt_gpu.dnn.create %context
  %size = tfrt.constant.i64 36
  %window_size = tfrt.constant.i64 16
  %space_size = tfrt.constant.i64 4096
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %window_size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %window_size, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %space_size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %x_desc = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %y_desc = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %w_desc = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0,
    [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %conv = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT,
    CUDNN_CROSS_CORRELATION, CUDNN_FMA_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %forward = tfrt_gpu.dnn.convolution_forward_algorithm 0
  %ch7 = tfrt_gpu.dnn.convolution_forward %dnn, %stream, CUDNN_DATA_FLOAT, %x_desc, %x, %w_desc, %w,
    %conv, %forward, %space, %y_desc, %y, %ch6
  %ch8 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch7 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch9 = tfrt_dht.print_tensor %small, %ch8
  %data = tfrt_gpu.dnn.convolution_backward_data_algorithm 1
  %ch10 = tfrt_gpu.dnn.convolution_backward_data %dnn, %stream, CUDNN_DATA_FLOAT, %w_desc, %w, %y_desc, %y,
    %conv, %data, %space, %x_desc, %x, %ch9
  %ch11 = tfrt_gpu.mem.copy %bytes, %x, %stream, %ch10 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch12 = tfrt_dht.print_tensor %host, %ch11
  %filter = tfrt_gpu.dnn.convolution_backward_filter_algorithm 1
  %ch13 = tfrt_gpu.dnn.convolution_backward_filter %dnn, %stream, CUDNN_DATA_FLOAT, %x_desc, %x, %y_desc, %y,
    %conv, %filter, %space, %w_desc, %w, %ch12
  %ch14 = tfrt_gpu.mem.copy %small_bytes, %w, %stream, %ch13 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch15 = tfrt_dht.print_tensor %small, %ch14
  tfrt.return
}

// [37 47; 67 77] - 10 * [1 2; 3 4] - 30, with what is negative as 0, and as it is.
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
  %four = tfrt.constant.i64 4
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %large, %ch0
  %w = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %bias = tfrt_gpu.mem.allocate %allocator, %stream, %four, %ch0
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %x, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %small = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %small_bytes, %ch4 = tfrt_dht.get_buffer %small, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %small, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = tfrt_gpu.mem.copy %w, %small_bytes, %stream, %ch5 : !tfrt_gpu.buffer, !ht.host_buffer
  %minus = tfrt.constant.f32 -30.0
  %ch7 = tfrt_gpu.mem.set %bias, %minus, %stream, %ch6 : !tfrt_gpu.buffer, f32
  %x_desc = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %y_desc = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %bias_desc = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT,
    [1 : i32, 1 : i32, 1 : i32, 1 : i32], [1 : i32, 1 : i32, 1 : i32, 1 : i32]
  %w_desc = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0,
    [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %conv = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT,
    CUDNN_CROSS_CORRELATION, CUDNN_FMA_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %algo = tfrt_gpu.dnn.convolution_forward_algorithm 1
  %zero = tfrt.constant.f64 0.0
  %relu = tfrt_gpu.dnn.create_activation_descriptor %zero, CUDNN_ACTIVATION_RELU, false
  %alpha1 = tfrt.constant.f32 1.0
  %alpha2 = tfrt.constant.f32 -10.0
  %ch8 = tfrt_gpu.dnn.convolution_bias_activation_forward %dnn, %stream, CUDNN_DATA_FLOAT,
    %alpha1, %x_desc, %x, %w_desc, %w, %conv, %algo, %space, %alpha2, %y_desc, %w, %bias_desc, %bias,
    %relu, %y_desc, %y, %ch7
  %ch9 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch8 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_dht.print_tensor %small, %ch9
  %identity = tfrt_gpu.dnn.create_activation_descriptor %zero, CUDNN_ACTIVATION_IDENTITY, true
  %ch11 = tfrt_gpu.dnn.convolution_bias_activation_forward %dnn, %stream, CUDNN_DATA_FLOAT,
    %alpha1, %x_desc, %x, %w_desc, %w, %conv, %algo, %space, %alpha2, %y_desc, %w, %bias_desc, %bias,
    %identity, %y_desc, %y, %ch10
  %ch12 = tfrt_gpu.mem.copy %small_bytes, %y, %stream, %ch11 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch13 = tfrt_dht.print_tensor %small, %ch12
  tfrt.return
}

func.func @no_activation() -> !tfrt_gpu.dnn.activation.descriptor {
  %zero = tfrt.constant.f64 0.0
  // expected-error @+1 {{'CUDNN_ACTIVATION_NONE' is no activation, which is one of}}
  %relu = tfrt_gpu.dnn.create_activation_descriptor %zero, CUDNN_ACTIVATION_NONE, false
  tfrt.return %relu : !tfrt_gpu.dnn.activation.descriptor
}

func.func @no_space() -> !tfrt_gpu.dnn.tensor.descriptor {
  // expected-error @+1 {{a tensor has a batch, channels and 2 or 3 axes of space}}
  %form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [3 : i32, 3 : i32], [1 : i32, 1 : i32]
  tfrt.return %form : !tfrt_gpu.dnn.tensor.descriptor
}

func.func @axes_apart() -> !tfrt_gpu.dnn.convolution.descriptor {
  // expected-error @+1 {{numbers of 2 and of 1 axes together}}
  %conv = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT,
    CUDNN_CONVOLUTION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32], [1 : i32, 1 : i32]
  tfrt.return %conv : !tfrt_gpu.dnn.convolution.descriptor
}
