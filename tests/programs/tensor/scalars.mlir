// SPDX-License-Identifier: Apache-2.0
// Tensors of one value.

func.func @one_value() -> (!ts.shape, i64) {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_from_scalar.i32 [2 : i64, 2 : i64] 1 : i32
  %c1 = tfrt_dht.print_tensor %a, %c0
  %b = "tfrt_dht.create_from_scalar.f32"() {shape = [2, 3], value = 2.0 : f32} : () -> !tfrt_tensor.tensor
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c = tfrt_dht.create_from_scalar.complex64 [1000000 : i64, 1000000 : i64] [1.0 : f32, -1.0 : f32]
  %c3 = tfrt_dht.print_tensor %c, %c2
  %d = tfrt_dht.create_from_scalar.bool [] true
  %c4 = tfrt_dht.print_tensor %d, %c3
  %c5 = tfrt_dht.print_tensor_shape %b, %c4
  %shape = tfrt_dht.get_tensor_shape %c
  %count = ts.get_num_elements %shape
  tfrt.return %shape, %count : !ts.shape, i64
}

func.func @sync() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_from_scalar.f32"() {shape = [2, 3], value = 3.0 : f32} : () -> !tfrt_tensor.tensor
  tfrt_dht_sync.print_tensor %a
  tfrt.return
}

func.func @refused() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_from_scalar.i32 [2 : i64, -2 : i64] 1 : i32
  %b = tfrt_dht.create_from_scalar.complex64 [2 : i64] [1.0 : f32]
  %c = tfrt_dht.create_from_scalar.i32 [2 : i64] 1 : i32
  // Its elements do not lie anywhere.
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %c, %c0 1 : i32
  tfrt.return %a, %b, %c1 : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain
}
