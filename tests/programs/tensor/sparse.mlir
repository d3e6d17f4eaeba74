// Sparse tensors and tensors of strings.

func.func @lists_of_elements() {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %a, %c0 4 : i32
  %s1, %c2 = coo.convert_dht_to_coo.i32.2 %a, %c1
  %c3 = tfrt_dht.print_tensor %s1, %c2
  %z = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %c4 = tfrt_dht.fill_tensor_with_constant.i32 %z, %c3 0 : i32
  %s2, %c5 = coo.convert_dht_to_coo.i32.2 %z, %c4
  %c6 = tfrt_dht.print_tensor %s2, %c5
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c7 = tfrt_dht.fill_tensor_with_constant.f32 %b, %c6 1.0 : f32
  %s3, %c8 = coo.convert_dht_to_coo.f32.2 %b, %c7
  %c9 = coo.print_tensor %s3, %c8
  %c10 = tfrt_dht.print_tensor_shape %s3, %c9
  tfrt.return
}

func.func @there_and_back() {
  %c1 = tfrt.new.chain
  // Nobody knows what is in it, nor need they.
  %a = tfrt_dht.create_uninitialized_tensor.i32.3 [4 : i64, 3 : i64, 5 : i64]
  %s, %c2 = coo.convert_dht_to_coo.i32.3 %a, %c1
  %d, %c3 = coo.convert_coo_to_dht.i32.3 %s, %c2
  %f, %c4 = coo.convert_dht_to_coo.i32.3 %d, %c3
  %same, %c5 = tfrt_dht.tensor_equal.i32 %a, %d, %c3
  %same_lists, %c6 = coo.tensor_equal.i32.3 %s, %f, %c4
  %c7 = "tfrt.print.i1"(%same, %c5) : (i1, !tfrt.chain) -> (!tfrt.chain)
  %c8 = "tfrt.print.i1"(%same_lists, %c7) : (i1, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return
}

func.func @differences() {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %a, %c0 4 : i32
  %s1, %c2 = coo.convert_dht_to_coo.i32.0 %a, %c1
  %same, %c3 = coo.tensor_equal.i32.0 %s1, %s1, %c2
  %c4 = tfrt.print.i1 %same, %c3
  %b = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %c5 = tfrt_dht.fill_tensor_with_constant.i32 %b, %c0 1 : i32
  %s2, %c6 = coo.convert_dht_to_coo.i32.0 %b, %c5
  %other, %c7 = coo.tensor_equal.i32.0 %s1, %s2, %c6
  %c8 = tfrt.print.i1 %other, %c7
  tfrt.return
}

func.func @strings() {
  %c0 = tfrt.new.chain
  %a = "tfrt_sht.create_tensor"()
    {shape = [2], values = ["string", "tensor"]} : () -> !tfrt_tensor.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  %b = "tfrt_sht.create_tensor"()
    {shape = [0, 2], values = []} : () -> !tfrt_tensor.tensor
  %c2 = tfrt_dht.print_tensor %b, %c1
  %shape = tfrt_dht.get_tensor_shape %b
  %c3 = ts.print_shape %shape, %c2
  tfrt.return
}

func.func @wrong_layouts() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, i1, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c0 1.0 : f32
  %sparse, %c2 = coo.convert_dht_to_coo.f32.2 %a, %c1
  %strings = "tfrt_sht.create_tensor"()
    {shape = [3], values = ["a", "b"]} : () -> !tfrt_tensor.tensor
  %wrong_dtype, %c3 = coo.convert_dht_to_coo.i32.2 %a, %c1
  %not_sparse, %c4 = coo.convert_coo_to_dht.f32.2 %a, %c1
  %not_dense, %c5 = tfrt_dht.tensor_equal.f32 %sparse, %a, %c2
  %no_relu = tfrt_tensor.relu %sparse
  tfrt.return %wrong_dtype, %not_sparse, %not_dense, %no_relu, %strings : !tfrt_tensor.tensor, !tfrt_tensor.tensor, i1, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
