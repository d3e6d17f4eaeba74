// The maths of networks: into tensors that are there already, ordered by chains.

func.func @one_layer() {
  %ch0 = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [1 : i32, -1 : i32, 1 : i32, -1 : i32, 1 : i32, -1 : i32]
  %b = tfrt_dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %b, %ch1 [1 : i32, -1 : i32, 1 : i32, -1 : i32, 1 : i32, -1 : i32]
  %c = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch3 = "tfrt_test.matmul.i32.2"(%one, %a, %b, %zero, %c, %ch2) : (i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, i32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %d = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch5 = "tfrt_test.relu.i32"(%c, %d, %ch4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %d, %ch5
  %e = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch7 = "tfrt_test.add.i32"(%c, %d, %e, %ch6) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %e, %ch7
  %ch9 = "tfrt_test.equal.i32"(%c, %d, %e, %ch8) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch10 = tfrt_dht.print_tensor %e, %ch9
  %places = "tfrt_test.argmax.i32.2"(%c, %ch10) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt_tensor.tensor
  %ch11 = tfrt_dht.print_tensor %places, %ch10
  %f = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch12 = "tfrt_test.cast.i32_to_f32"(%places, %f, %ch11) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %mean = "tfrt_test.reduce_mean.f32.1"(%f, %ch12) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt_tensor.tensor
  %ch13 = tfrt_dht.print_tensor %mean, %ch12
  tfrt.return
}

func.func @in_place() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [1.0 : f32, -2.0 : f32, 3.0 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 10.0 : f32
  %ch3 = "tfrt_test.add_inplace.f32"(%a, %b, %ch2) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %ch5 = "tfrt_test.subtract_inplace.f32"(%b, %b, %ch4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %b, %ch5
  %g = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.f32 %g, %ch6 4.0 : f32
  %ch8 = "tfrt_test.relu_grad_inplace.f32"(%a, %g, %ch7) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_dht.print_tensor %g, %ch8
  %rate = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch10 = tfrt_dht.fill_tensor_with_constant.f32 %rate, %ch9 0.5 : f32
  %ch11 = "tfrt_test.gradient_descent.f32"(%g, %rate, %a, %ch10) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch12 = tfrt_dht.print_tensor %a, %ch11
  %ch13 = "tfrt_test.relu_inplace.f32"(%a, %ch12) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch14 = tfrt_dht.print_tensor %a, %ch13
  %s = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch15 = tfrt_dht.fill_tensor_with_constant.f32 %s, %ch14 7.0 : f32
  %ch16 = "tfrt_test.softmax_inplace.f32"(%s, %ch15) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch17 = tfrt_dht.print_tensor %s, %ch16
  tfrt.return
}

func.func @shapes_change() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [1.0 : f32, 2.0 : f32]
  %shape = ts.build_shape [3 : i64, 1 : i64, 2 : i64]
  %b = "tfrt_test.broadcast.f32.3"(%a, %shape, %ch1) : (!tfrt_tensor.tensor, !ts.shape, !tfrt.chain) -> !tfrt_tensor.tensor
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 2 : i64]
  %ch3 = "tfrt_test.flatten.f32"(%b, %c, %ch2) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %d = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch4 = "tfrt_test.tensor_transpose.f32"(%c, %d, %ch3) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %d, %ch4
  %e = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch6 = "tfrt_test.mean_axis_zero.f32"(%d, %e, %ch5) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %e, %ch6
  %f = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 2 : i64, 3 : i64]
  %ch8 = "tfrt_test.broadcast_2d.f32"(%d, %f, %ch7) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_dht.print_tensor %f, %ch8
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch10 = "tfrt_dht.set_tensor_with_values.i64"(%begin, %ch9, %zero, %one, %one) : (!tfrt_tensor.tensor, !tfrt.chain, i64, i64, i64) -> !tfrt.chain
  %input = "tfrt_test.const_dense_attr"() {value = dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>} : () -> !tfrt_tensor.tensor
  %output = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 2 : i64, 1 : i64]
  %ch11 = "tfrt_test.slice_inplace.i32.3"(%input, %begin, %ch10, %output) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain, !tfrt_tensor.tensor) -> !tfrt.chain
  %ch12 = tfrt_dht.print_tensor %output, %ch11
  tfrt.return
}

func.func @images() {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0, -1.0], [2.0, -2.0]], [[3.0, -3.0], [4.0, -4.0]]]]> : tensor<1x2x2x2xf32>} : () -> !tfrt_tensor.tensor
  %padded = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 4 : i64, 2 : i64, 2 : i64]
  %ch1 = "tfrt_test.zero_padding.f32"(%x, %padded, %ch0) {padding = [1 : i32, 0 : i32]} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %padded, %ch1
  %pooled = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 2 : i64]
  %ch3 = "tfrt_test.max_pooling_2d.f32"(%x, %pooled, %ch2) {padding = "valid", pool_size = [2 : i32, 2 : i32], strides = [2 : i32, 2 : i32]} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %pooled, %ch3
  %same = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 2 : i64]
  %ch5 = "tfrt_test.max_pooling_2d.f32"(%x, %same, %ch4) {padding = "same", pool_size = [2 : i32, 2 : i32], strides = [1 : i32, 1 : i32]} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %same, %ch5
  %average = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch7 = "tfrt_test.global_average_pooling.f32"(%x, %average, %ch6) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %average, %ch7
  tfrt.return
}

func.func @what_does_not_fit() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_tensor.tensor) {
  %ch0 = tfrt.new.chain
  %input = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 3 : i64, 3 : i64, 6 : i64]
  %output = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 6 : i64]
  %ch1 = "tfrt_test.max_pooling_2d.f32"(%input, %output, %ch0) {padding = "invalid", pool_size = [3 : i32, 3 : i32], strides = [3 : i32, 3 : i32]} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_test.max_pooling_2d.f32"(%input, %output, %ch0) {padding = "valid", pool_size = [3 : i32, 3 : i32], strides = [3 : i32, 3 : i32]} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch3 = "tfrt_test.matmul.f32.2"(%one, %a, %a, %one, %a, %ch0) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = "tfrt_test.add_inplace.i32"(%a, %a, %ch0) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [4 : i64, 3 : i64]
  %ch5 = "tfrt_test.add_inplace.f32"(%b, %a, %ch0) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %line = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %shape = ts.build_shape [100 : i64, 512 : i64]
  %no_broadcast = "tfrt_test.broadcast.f32.2"(%line, %shape, %ch0) : (!tfrt_tensor.tensor, !ts.shape, !tfrt.chain) -> !tfrt_tensor.tensor
  tfrt.return %ch1, %ch2, %ch3, %ch4, %ch5, %no_broadcast : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_tensor.tensor
}

// Large enough to go through the work queue.
func.func @a_long_product() {
  %ch0 = tfrt.new.chain
  %two = tfrt.constant.f32 2.0
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 256 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch0 1.0 : f32
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [256 : i64, 64 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 0.5 : f32
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 64 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %c, %ch2 3.0 : f32
  %ch4 = "eigen.matmul.f32"(%two, %a, %b, %one, %c, %ch3) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  tfrt.return
}
