// Dense tensors of all dtypes: made, filled, set, looked at, compared.

func.func @prints() {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %c0 [1 : i32, -1 : i32, 1 : i32, -1 : i32, 1 : i32, -1 : i32]
  %c2 = tfrt_dht.print_tensor %a, %c1
  %b = tfrt_dht.create_uninitialized_tensor.bool.1 [2 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.bool %b, %c2 [false, true]
  %c4 = tfrt_dht.print_tensor %b, %c3
  %c = tfrt_dht.create_uninitialized_tensor.f16.1 [3 : i64]
  %c5 = tfrt_dht.set_tensor_with_constant_values.f16 %c, %c4 [1.0 : f16, -2.0 : f16, 0.5 : f16]
  %c6 = tfrt_dht.print_tensor %c, %c5
  %d = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %c7 = tfrt_dht.fill_tensor_with_constant.bf16 %d, %c6 1.0 : bf16
  %c8 = tfrt_dht.print_tensor %d, %c7
  %e = tfrt_dht.create_uninitialized_tensor.complex64.1 [2 : i64]
  %c9 = tfrt_dht.set_tensor_with_constant_values.complex64 %e, %c8 [8.0 : f32, 0.0 : f32, 9.0 : f32, -1.0 : f32]
  %c10 = tfrt_dht.print_tensor %e, %c9
  %f = tfrt_dht.create_uninitialized_tensor.complex128.0 []
  %c11 = tfrt_dht.fill_tensor_with_constant.complex128 %f, %c10 [0.5 : f64, 0.25 : f64]
  %c12 = tfrt_dht.print_tensor %f, %c11
  %g = tfrt_dht.create_uninitialized_tensor.ui64.1 [20 : i64]
  %c13 = tfrt_dht.fill_tensor_with_constant.ui64 %g, %c12 7 : ui64
  %c14 = tfrt_dht.print_tensor %g, %c13
  %h = tfrt_dht.create_uninitialized_tensor.f64.2 [0 : i64, 5 : i64]
  %c15 = tfrt_dht.print_tensor %h, %c14
  %c16 = tfrt_dht.print_tensor_shape %h, %c15
  %i = tfrt_dht.create_uninitialized_tensor.i8.1 [2 : i64]
  %c17 = tfrt_dht.set_tensor_with_constant_values.i8 %i, %c16 [-128 : i8, 127 : i8]
  %c18 = tfrt_dht.print_tensor %i, %c17
  tfrt.return
}

func.func @elements_from_operands() {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %a = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %c1 = "tfrt_dht.set_tensor_with_values.i64"(%a, %c0, %one, %two, %one) : (!tfrt_tensor.tensor, !tfrt.chain, i64, i64, i64) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %a, %c1
  tfrt.return
}

func.func @wrong_counts() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %a = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %c1 = "tfrt_dht.set_tensor_with_values.i64"(%a, %c0, %one) : (!tfrt_tensor.tensor, !tfrt.chain, i64) -> !tfrt.chain
  %c2 = tfrt_dht.set_tensor_with_constant_values.i64 %a, %c0 [1 : i64, 2 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.complex64.1 [2 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.complex64 %b, %c0 [8.0 : f32, 0.0 : f32]
  tfrt.return %c1, %c2, %c3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func.func @comparisons() {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %c0 [1.0 : f32, 2.0 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %c1 [1.0 : f32, 2.0001 : f32]
  %equal, %c3 = tfrt_dht.tensor_equal.f32 %a, %b, %c2
  %c4 = tfrt.print.i1 %equal, %c3
  %close, %c5 = tfrt_dht.tensor_allclose.f32 %a, %b, %c4
  %c6 = tfrt.print.i1 %close, %c5
  %close_3, %c7 = tfrt_dht.tensor_allclose.3ulp.f32 %a, %b, %c6
  %c8 = tfrt.print.i1 %close_3, %c7
  %close_1000, %c9 = "tfrt_dht.tensor_allclose.1000ulp.f32"(%a, %b, %c8) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %c10 = tfrt.print.i1 %close_1000, %c9
  tfrt.return
}

func.func @tensors_on_one_buffer() -> !tfrt_tensor.tensor {
  %c0 = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %alignment = tfrt.constant.i64 4
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %shape = ts.build_shape [4 : i64]
  %a, %c1 = tfrt_dht.make_tensor.f32 %buffer, %shape, %c0
  %c2 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c1 1.0 : f32
  %four = tfrt.constant.i64 4
  %part = tfrt_dht.get_buffer_slice %buffer, %four, %four
  %one = ts.build_shape [1 : i64, 1 : i64]
  %b, %c3 = tfrt_dht.make_tensor.f32 %part, %one, %c2
  %c4 = tfrt_dht.fill_tensor_with_constant.f32 %b, %c3 3.0 : f32
  %c5 = tfrt_dht.print_tensor %a, %c4
  %huge = ts.build_shape [4294967295 : i64, 4294967295 : i64]
  %d, %c6 = tfrt_dht.make_tensor.f32 %buffer, %huge, %c0
  tfrt.return %d : !tfrt_tensor.tensor
}
