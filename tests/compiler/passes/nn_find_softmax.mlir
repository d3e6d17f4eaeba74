// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-softmax %s | FileCheck %s

// CHECK-LABEL: func.func @formula
// CHECK-NEXT: %0 = tfrt_nn.softmax(%x) {axis = -2 : i64}
// CHECK-NEXT: tfrt.return %0
func.func @formula(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %axes = tfrt_nn.constant dense<[-2]> : tensor<1xi64>
  %greatest = tfrt_nn.reduce_max(%x, %axes)
  %shifted = tfrt_nn.sub(%x, %greatest)
  %e = tfrt_nn.exp(%shifted)
  %sum = tfrt_nn.reduce_sum(%e, %axes)
  %shares = tfrt_nn.div(%e, %sum)
  tfrt.return %shares : !tfrt_tensor.tensor
}

// Along two axes, along different ones, or without the axes of the sums it is another function.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tfrt_nn.softmax
// CHECK: tfrt.return
func.func @kept(%x: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %both = tfrt_nn.constant dense<[-2, -1]> : tensor<2xi64>
  %one = tfrt_nn.constant dense<[-1]> : tensor<1xi64>
  %other = tfrt_nn.constant dense<[-2]> : tensor<1xi64>
  %a = tfrt_nn.reduce_max(%x, %both)
  %b = tfrt_nn.sub(%x, %a)
  %c = tfrt_nn.exp(%b)
  %d = tfrt_nn.reduce_sum(%c, %both)
  %e = tfrt_nn.div(%c, %d)
  %f = tfrt_nn.reduce_max(%x, %one)
  %g = tfrt_nn.sub(%x, %f)
  %h = tfrt_nn.exp(%g)
  %i = tfrt_nn.reduce_sum(%h, %other)
  %j = tfrt_nn.div(%h, %i)
  %k = tfrt_nn.reduce_sum(%h, %one) {keepdims = 0 : i64}
  %l = tfrt_nn.div(%h, %k)
  tfrt.return %e, %j, %l : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
