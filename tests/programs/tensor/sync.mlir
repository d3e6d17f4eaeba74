// Shapes and tensors in synchronous functions.

func.func @tensors() attributes {tfrt.sync} {
  %a = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %a [1 : i32, -1 : i32, 1 : i32, -1 : i32, 1 : i32, -1 : i32]
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_test.sync.const_dense_attr"() {value = dense<[[1, 1], [2, 2]]> : tensor<2x2xi32>} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %b
  %c = tfrt_dht_sync.create_uninitialized_tensor.complex64.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.complex64 %c [1.0 : f32, 2.0 : f32]
  tfrt_dht_sync.print_tensor %c
  tfrt.return
}

func.func @strings() attributes {tfrt.sync} {
  %a = "tfrt_sht_sync.create_tensor"()
    {shape = [2], values = ["string", "tensor"]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [2]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %b
  tfrt.return
}

func.func @buffers() -> i64 attributes {tfrt.sync} {
  %size = tfrt.constant.i64 16
  %alignment = tfrt.constant.i64 4
  %buffer = tfrt_dht_sync.allocate_buffer %size, %alignment
  %offset = tfrt.constant.i64 8
  %half = tfrt_dht_sync.get_buffer_slice %buffer, %offset, %offset
  %shape = ts_sync.build_shape [2 : i64, 1 : i64]
  %a = tfrt_dht_sync.make_tensor.f32 %half, %shape
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %a [1.0 : f32, 2.0 : f32]
  tfrt_dht_sync.print_tensor %a
  %its_shape = tfrt_dht_sync.get_tensor_shape %a
  %count = ts_sync.get_num_elements %its_shape
  tfrt.return %count : i64
}

func.func @partial_shapes() -> !ts.shape attributes {tfrt.sync} {
  %a = ts_sync.build_shape [2 : i64, 1 : i64]
  %b = ts_sync.to_partial_shape %a
  %c = ts_sync.to_shape %b
  %d = ts_sync.build_partial_shape [-1 : i64]
  %e = ts_sync.to_shape %d
  tfrt.return %e : !ts.shape
}

func.func @too_few() attributes {tfrt.sync} {
  %a = tfrt_dht_sync.create_uninitialized_tensor.f16.1 [3 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %a [1.0 : f16]
  tfrt.return
}

func.func @make() -> !tfrt_tensor.tensor attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() {value = dense<[0.5, 1.5]> : tensor<2xf32>} : () -> !tfrt_tensor.tensor
  tfrt.return %a : !tfrt_tensor.tensor
}

func.func @called() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt.call @make() : () -> !tfrt_tensor.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  tfrt.return %c1 : !tfrt.chain
}

func.func @create_dense_tensors() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2, 2], values = [1 : i32, 2 : i32, 3 : i32, 4 : i32]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2, 2], values = [1.5 : f32]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %b
  %c = "tfrt_dht_sync.create_dense_tensor.complex64"() {shape = [2], values = [1.5 : f32, 2.0 : f32]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %c
  %d = "tfrt_dht_sync.create_dense_tensor.bool"() {shape = [3], values = [false, true, true]} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %d
  %e = tfrt_dht_sync.create_uninitialized_tensor.ui8.5 [1, 2, 1, 2, 1]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %e [1 : ui8, 2 : ui8, 3 : ui8, 4 : ui8]
  tfrt_dht_sync.print_tensor %e
  %f = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2, 2], values = [1, 2, 3]} : () -> !tfrt_tensor.tensor
  tfrt.return
}
func.func @five_axes() -> !tfrt.chain {
  %c = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f64.5 [1, 1, 2, 1, 1]
  %c1 = tfrt_dht.fill_tensor_with_constant.f64 %t, %c 2.0 : f64
  %c2 = tfrt_dht.print_tensor %t, %c1
  tfrt.return %c2 : !tfrt.chain
}
