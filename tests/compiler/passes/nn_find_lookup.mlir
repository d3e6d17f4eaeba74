// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-lookup %s | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %keys = tfrt_nn.constant
// CHECK-NEXT: %matrix = tfrt_nn.constant
// CHECK-NEXT: %0 = tfrt_nn.lookup(%x, %keys, %matrix)
// CHECK-NEXT: tfrt.return %0
func.func @rows(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %keys = tfrt_nn.constant dense<[0, 1, 2]> : tensor<3xi32>
  %matrix = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %a = tfrt_nn.equal(%x, %keys)
  %b = tfrt_nn.cast(%a) {to = f32}
  %c = tfrt_nn.mat_mul(%b, %matrix)
  tfrt.return %c : !tfrt_tensor.tensor
}

// The other way round, and with i64.
// CHECK-LABEL: func.func @keys_first
// CHECK: tfrt_nn.lookup(%x, %keys, %matrix)
// CHECK-NEXT: tfrt.return
func.func @keys_first(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %keys = tfrt_nn.constant dense<[0, 1, 2]> : tensor<3xi64>
  %matrix = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %a = tfrt_nn.equal(%keys, %x)
  %b = tfrt_nn.cast(%a) {to = f32}
  %c = tfrt_nn.mat_mul(%b, %matrix)
  tfrt.return %c : !tfrt_tensor.tensor
}

// As TensorFlow's exporter writes it: %x has three axes.
// CHECK-LABEL: func.func @deep_keys
// CHECK: %[[X:.*]] = tfrt_nn.expand(
// CHECK-NEXT: %[[Y:.*]] = tfrt_nn.lookup(%[[X]], %keys, %matrix)
// CHECK-NEXT: tfrt.return %[[Y]]
func.func @deep_keys(%x: !tfrt_tensor.tensor, %s: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %shape = tfrt_nn.constant dense<[-1, 8, 1]> : tensor<3xi64>
  %keys = tfrt_nn.constant dense<[[[0, 1]]]> : tensor<1x1x2xi32>
  %matrix = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %a = tfrt_nn.reshape(%x, %shape)
  %b = tfrt_nn.expand(%a, %s)
  %c = tfrt_nn.equal(%b, %keys)
  %d = tfrt_nn.cast(%c) {to = f32}
  %e = tfrt_nn.mat_mul(%d, %matrix)
  tfrt.return %e : !tfrt_tensor.tensor
}

// Other keys; a matrix that would make NaN of 0; keys that may have more axes than %x; numbers of
// another type; a stack of matrices.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tfrt_nn.lookup
// CHECK: tfrt.return
func.func @kept(%x: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %keys = tfrt_nn.constant dense<[0, 1]> : tensor<2xi32>
  %others = tfrt_nn.constant dense<[0, 2]> : tensor<2xi32>
  %deep = tfrt_nn.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %unsigned = tfrt_nn.constant dense<[0, 1]> : tensor<2xui32>
  %matrix = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %infinite = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 0x7F800000]]> : tensor<2x2xf32>
  %stack = tfrt_nn.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %a = tfrt_nn.equal(%x, %others)
  %b = tfrt_nn.cast(%a) {to = f32}
  %c = tfrt_nn.mat_mul(%b, %matrix)
  %d = tfrt_nn.equal(%x, %keys)
  %e = tfrt_nn.cast(%d) {to = f32}
  %f = tfrt_nn.mat_mul(%e, %infinite)
  %g = tfrt_nn.equal(%x, %deep)
  %h = tfrt_nn.cast(%g) {to = f32}
  %i = tfrt_nn.mat_mul(%h, %matrix)
  %j = tfrt_nn.equal(%x, %unsigned)
  %k = tfrt_nn.cast(%j) {to = f32}
  %l = tfrt_nn.mat_mul(%k, %matrix)
  %m = tfrt_nn.mat_mul(%e, %stack)
  tfrt.return %c, %f, %i, %l, %m : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
