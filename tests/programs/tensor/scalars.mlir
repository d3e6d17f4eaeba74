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

// All elements of one value, one behind the other, and as what differs from 0.
func.func @converted() -> !tfrt.tensor_type {
  %c0 = tfrt.new.chain
  %dense = "tfrt_test.get_static_tensor_type"() {tensor_type = "DenseHost"} : () -> !tfrt.tensor_type
  %coo = "tfrt_test.get_static_tensor_type"() {tensor_type = "CooHost"} : () -> !tfrt.tensor_type
  %scalar = "tfrt_test.get_static_tensor_type"() {tensor_type = "ScalarHost"} : () -> !tfrt.tensor_type
  %a = tfrt_dht.create_from_scalar.i32 [2 : i64, 2 : i64] 1 : i32
  %b = tfrt_tensor.convert %a, %dense
  %c1 = tfrt_dht.print_tensor %b, %c0
  %c = tfrt_tensor.convert %b, %coo
  %c2 = tfrt_dht.print_tensor %c, %c1
  %d = tfrt_tensor.convert %b, %scalar
  %c3 = tfrt_dht.print_tensor %d, %c2
  %type = tfrt_tensor.type %c
  %name = tfrt_tensor.type_name %type
  %c4 = "tfrt_test.print_string"(%name, %c3) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %type : !tfrt.tensor_type
}

func.func @not_converted() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.tensor_type) {
  %a = tfrt_dht.create_from_scalar.i32 [2 : i64] 1 : i32
  %string = "tfrt_test.get_static_tensor_type"() {tensor_type = "StringHost"} : () -> !tfrt.tensor_type
  %b = tfrt_tensor.convert %a, %string
  %c = tfrt_tensor.constant dense<[1, 2]> : tensor<2xi32>
  %scalar = tfrt_tensor.type %a
  %d = tfrt_tensor.convert %c, %scalar
  %gpu = "tfrt_test.get_static_tensor_type"() {tensor_type = "DenseGpu"} : () -> !tfrt.tensor_type
  tfrt.return %b, %d, %gpu : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.tensor_type
}
