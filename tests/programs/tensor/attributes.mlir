// Tensors and shapes that attributes hold.

func.func @dense_attributes() {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1, 1], [2, 2]]> : tensor<2x2xi32>} : () -> !tfrt_tensor.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  %b = tfrt_tensor.constant dense<1.5> : tensor<3xf64>
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c = tfrt_tensor.constant dense<[true, false]> : tensor<2xi1>
  %c3 = tfrt_dht.print_tensor %c, %c2
  %d = tfrt_tensor.constant dense<[1.0, -2.0]> : tensor<2xf16>
  %c4 = tfrt_dht.print_tensor %d, %c3
  %e = tfrt_tensor.constant dense<0.5> : tensor<1x2xbf16>
  %c5 = tfrt_dht.print_tensor %e, %c4
  %f = tfrt_tensor.constant dense<[]> : tensor<0x3xi64>
  %c6 = tfrt_dht.print_tensor %f, %c5
  %g = tfrt_tensor.constant dense<200> : tensor<ui8>
  %c7 = tfrt_dht.print_tensor %g, %c6
  // The attribute is copied: what is written is not the program.
  %c8 = tfrt_dht.fill_tensor_with_constant.i32 %a, %c7 5 : i32
  %c9 = tfrt_dht.print_tensor %a, %c8
  tfrt.return
}

func.func @shape_attributes() -> !tfrt_tensor.tensor {
  %c0 = tfrt.new.chain
  %a = tfrt_tensor.zeros #corert.shape<2x3> of f32
  %c1 = tfrt_dht.print_tensor %a, %c0
  %b = tfrt_tensor.zeros #corert.shape<> of i8
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c = tfrt_tensor.partial_shape #corert.shape<2x?x3>
  %c3 = ts.print_partial_shape %c, %c2
  %d = tfrt_tensor.partial_shape #corert.shape<*>
  %c4 = ts.print_partial_shape %d, %c3
  %unknown = tfrt_tensor.zeros #corert.shape<2x?> of f32
  tfrt.return %unknown : !tfrt_tensor.tensor
}

func.func @an_image() -> !tfrt_tensor.tensor {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %image = tfrt_tensor.constant dense<[[[0], [100]], [[50], [150]]]> : tensor<2x2x1xui8>
  %resized = tfrt_test.resize_bilinear %image, %two, %three
  %c1 = tfrt_dht.print_tensor %resized, %c0
  %flat = tfrt_tensor.reshape %image [4 : i64]
  %wrong = tfrt_test.resize_bilinear %flat, %two, %three
  tfrt.return %wrong : !tfrt_tensor.tensor
}
