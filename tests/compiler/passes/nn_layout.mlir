// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-fuse -nn-layout -canonicalize %s | FileCheck %s

// One transpose in front of the chain, and one behind it.
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = tfrt_nn.transpose(%x) {perm = [0, 2, 3, 1]}
// CHECK: %[[A:.*]] = tfrt_nn.fused_conv(%[[X]], {{.*}}layout = "NHWC"
// CHECK: %[[B:.*]] = tfrt_nn.max_pool(%[[A]]) {{.*}}layout = "NHWC"
// CHECK: %[[C:.*]] = tfrt_nn.fused_conv(%[[B]], %{{[a-z0-9]+}}, %[[B]]) {{.*}}layout = "NHWC"
// CHECK: %[[D:.*]] = tfrt_nn.concat(%[[C]], %[[B]]) {axis = 3 : i64}
// CHECK: %[[E:.*]] = tfrt_nn.transpose(%[[D]]) {perm = [0, 3, 1, 2]}
// CHECK-NEXT: tfrt.return %[[E]]
func.func @chain(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %a = tfrt_nn.conv(%x, %w)
  %b = tfrt_nn.max_pool(%a) {kernel_shape = [2, 2]} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %v = tfrt_nn.constant dense<1.0> : tensor<2x2x1x1xf32>
  %c = tfrt_nn.conv(%b, %v)
  %d = tfrt_nn.add(%c, %b)
  %e = tfrt_nn.concat(%d, %b) {axis = 1 : i64}
  tfrt.return %e : !tfrt_tensor.tensor
}

// Constants of one long axis are turned by their shape alone; means along both pixel axes need no
// transpose behind them.
// CHECK-LABEL: func.func @constants
// CHECK: tfrt_nn.constant dense<[{{.*}}]> : tensor<1x1x1x2xf32>
// CHECK: %[[Y:.*]] = tfrt_nn.reduce_mean(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {keepdims = 0 : i64
// CHECK-NEXT: tfrt.return %[[Y]]
func.func @constants(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %k = tfrt_nn.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %axes = tfrt_nn.constant dense<[-1, -2]> : tensor<2xi64>
  %a = tfrt_nn.conv(%x, %w)
  %b = tfrt_nn.mul(%a, %k)
  %c = tfrt_nn.reduce_mean(%b, %axes) {keepdims = 0 : i64}
  tfrt.return %c : !tfrt_tensor.tensor
}

// The lengths are read before the transpose, which is not made for that.
// CHECK-LABEL: func.func @lengths
// CHECK: %[[S:.*]] = tfrt_nn.shape(%{{[a-z0-9]+}})
// CHECK: %[[G:.*]] = tfrt_nn.gather(%[[S]], %{{[a-z0-9]+}})
// CHECK-NEXT: tfrt.return %[[G]]
func.func @lengths(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %a = tfrt_nn.conv(%x, %w)
  %s = tfrt_nn.shape(%a)
  tfrt.return %s : !tfrt_tensor.tensor
}

// Signals of three axes stay; so do sums with what may have fewer axes.
// CHECK-LABEL: func.func @kept
// CHECK: tfrt_nn.fused_conv(%x, {{.*}}layout = "NCHW"
// CHECK: tfrt_nn.fused_conv(%x, {{.*}}layout = "NCHW"
// CHECK-NOT: tfrt_nn.transpose
func.func @kept(%x: !tfrt_tensor.tensor, %y: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3xf32>
  %a = tfrt_nn.conv(%x, %w)
  %v = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %b = tfrt_nn.conv(%x, %v)
  %c = tfrt_nn.add(%b, %y)
  tfrt.return %a, %c : !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
