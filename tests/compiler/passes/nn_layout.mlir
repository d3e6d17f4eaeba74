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

// Pictures that are resized, padded and cut keep their channels last; lists of axes and lengths
// follow.
// CHECK-LABEL: func.func @resized
// CHECK: %[[A:.*]] = tfrt_nn.fused_conv({{.*}}layout = "NHWC"
// CHECK-NOT: tfrt_nn.transpose
// CHECK: %[[B:.*]] = tfrt_nn.resize(%[[A]],
// CHECK-NOT: tfrt_nn.transpose
// CHECK: %[[C:.*]] = tfrt_nn.pad(%[[B]],
// CHECK-NOT: tfrt_nn.transpose
// CHECK: %[[N:.*]] = tfrt_nn.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NOT: tfrt_nn.transpose
// CHECK: %[[D:.*]] = tfrt_nn.slice(%[[C]], %{{.*}}, %{{.*}}, %[[N]])
// CHECK-NOT: tfrt_nn.transpose
// CHECK: tfrt_nn.fused_conv(%[[D]], {{.*}}layout = "NHWC"
func.func @resized(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %scales = tfrt_nn.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %counts = tfrt_nn.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %begins = tfrt_nn.constant dense<[1, 0]> : tensor<2xi64>
  %ends = tfrt_nn.constant dense<[8, 9]> : tensor<2xi64>
  %axes = tfrt_nn.constant dense<[2, 3]> : tensor<2xi64>
  %a = tfrt_nn.fused_conv(%x, %w)
  %b = tfrt_nn.resize(%a, %scales) {present = 5 : i64}
  %c = tfrt_nn.pad(%b, %counts)
  %d = tfrt_nn.slice(%c, %begins, %ends, %axes)
  %e = tfrt_nn.fused_conv(%d, %w)
  tfrt.return %e : !tfrt_tensor.tensor
}

// Without names, each begin is of one of the first axes. A region needs all four places, and stays.
// CHECK-LABEL: func.func @cut
// CHECK: tfrt_nn.constant dense<[0, 3]> : tensor<2xi64>
// CHECK: tfrt_nn.slice(
// CHECK: %[[T:.*]] = tfrt_nn.transpose(
// CHECK: tfrt_nn.resize(%[[T]], %roi, %sizes)
func.func @cut(%x: !tfrt_tensor.tensor, %roi: !tfrt_tensor.tensor, %sizes: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2x3x3xf32>
  %begins = tfrt_nn.constant dense<[0, 1]> : tensor<2xi64>
  %ends = tfrt_nn.constant dense<[1, 2]> : tensor<2xi64>
  %a = tfrt_nn.fused_conv(%x, %w)
  %b = tfrt_nn.slice(%a, %begins, %ends)
  %c = tfrt_nn.resize(%b, %roi, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize", present = 11 : i64}
  tfrt.return %c : !tfrt_tensor.tensor
}

// A transpose that was there already is one with that of the convolution behind it.
// CHECK-LABEL: func.func @joined
// CHECK: %[[X:.*]] = tfrt_nn.transpose(%x) {perm = [0, 1, 3, 2]}
// CHECK-NEXT: tfrt_nn.fused_conv(%[[X]],
func.func @joined(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<1x1x1x1xf32>
  %a = tfrt_nn.transpose(%x) {perm = [0, 2, 1, 3]}
  %b = tfrt_nn.conv(%a, %w)
  tfrt.return %b : !tfrt_tensor.tensor
}
