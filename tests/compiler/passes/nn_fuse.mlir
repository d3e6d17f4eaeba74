// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-fuse %s | FileCheck %s

// The sum and the function become part of the convolution, which stands where they stood.
// CHECK-LABEL: func.func @all
// CHECK-NEXT: %t = tfrt_nn.tanh(%x)
// CHECK-NEXT: %0 = tfrt_nn.fused_conv(%x, %w, %b, %t) {activation = "relu", {{.*}}strides = [2, 2]
// CHECK-NEXT: tfrt.return %0
func.func @all(%x: !tfrt_tensor.tensor, %w: !tfrt_tensor.tensor, %b: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %c = tfrt_nn.conv(%x, %w, %b) {strides = [2, 2]}
  %t = tfrt_nn.tanh(%x)
  %s = tfrt_nn.add(%t, %c)
  %r = tfrt_nn.relu(%s)
  tfrt.return %r : !tfrt_tensor.tensor
}

// Without a bias, `present` says so.
// CHECK-LABEL: func.func @without_bias
// CHECK-NEXT: tfrt_nn.fused_conv(%x, %w, %x) {activation = "none", {{.*}}present = 11 : i64
func.func @without_bias(%x: !tfrt_tensor.tensor, %w: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %c = tfrt_nn.conv(%x, %w)
  %s = tfrt_nn.add(%c, %x)
  tfrt.return %s : !tfrt_tensor.tensor
}

// Of two convolutions the later one takes the sum in.
// CHECK-LABEL: func.func @two
// CHECK-NEXT: %0 = tfrt_nn.fused_conv(%x, %w)
// CHECK-NEXT: %1 = tfrt_nn.fused_conv(%x, %v, %0)
// CHECK-NEXT: tfrt.return %1
func.func @two(%x: !tfrt_tensor.tensor, %w: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %c = tfrt_nn.conv(%x, %w)
  %d = tfrt_nn.conv(%x, %v)
  %s = tfrt_nn.add(%c, %d)
  tfrt.return %s : !tfrt_tensor.tensor
}

// CHECK-LABEL: func.func @functions
// CHECK: tfrt_nn.fused_conv(%x, %w) {activation = "clip", alpha = 0.000000e+00 : f32, {{.*}}beta = 6.000000e+00 : f32
// CHECK: tfrt_nn.fused_conv(%x, %w) {activation = "silu", alpha = 1.000000e+00 : f32
// CHECK: tfrt_nn.fused_conv(%x, %w) {activation = "leaky_relu", alpha = 5.000000e-01 : f32
// CHECK: tfrt_nn.fused_conv(%x, %w) {activation = "gelu"
// CHECK-NOT: tfrt_nn.sigmoid
func.func @functions(%x: !tfrt_tensor.tensor, %w: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %low = tfrt_nn.constant dense<0.0> : tensor<f32>
  %high = tfrt_nn.constant dense<6.0> : tensor<f32>
  %c = tfrt_nn.conv(%x, %w)
  %r6 = tfrt_nn.clip(%c, %low, %high)
  %d = tfrt_nn.conv(%x, %w)
  %s = tfrt_nn.sigmoid(%d)
  %silu = tfrt_nn.mul(%d, %s)
  %e = tfrt_nn.conv(%x, %w)
  %leaky = tfrt_nn.leaky_relu(%e) {alpha = 0.5 : f32}
  %f = tfrt_nn.conv(%x, %w)
  %gelu = tfrt_nn.gelu(%f)
  tfrt.return %r6, %silu, %leaky, %gelu : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

// What others see stays; so does a limit that is not known.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %0 = tfrt_nn.fused_conv(%x, %w) {activation = "none"
// CHECK-NEXT: %r = tfrt_nn.relu(%0)
// CHECK-NEXT: %1 = tfrt_nn.fused_conv(%x, %w) {activation = "none"
// CHECK-NEXT: %k = tfrt_nn.clip(%1, %x)
// CHECK-NEXT: tfrt.return %0, %r, %k
func.func @kept(%x: !tfrt_tensor.tensor, %w: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %c = tfrt_nn.conv(%x, %w)
  %r = tfrt_nn.relu(%c)
  %d = tfrt_nn.conv(%x, %w)
  %k = tfrt_nn.clip(%d, %x)
  tfrt.return %c, %r, %k : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

// A product with weights takes in the row that is added to it, and what follows.
// CHECK-LABEL: func.func @products
// CHECK: %0 = tfrt_nn.fused_mat_mul(%x, %w, %row, %x) {activation = "gelu", {{.*}}transB = 0 : i64}
// CHECK: %1 = tfrt_nn.fused_mat_mul(%0, %v, %row) {activation = "relu", {{.*}}transB = 1 : i64}
// CHECK: %g = tfrt_nn.mat_mul(%1, %w)
// CHECK-NEXT: %h = tfrt_nn.gemm(%g, %v)
// CHECK-NEXT: tfrt.return %h
func.func @products(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x2xf32>
  %v = tfrt_nn.constant dense<2.0> : tensor<2x2xf32>
  %row = tfrt_nn.constant dense<1.0> : tensor<2xf32>
  %a = tfrt_nn.mat_mul(%x, %w)
  %b = tfrt_nn.add(%row, %a)
  %c = tfrt_nn.add(%b, %x)
  %d = tfrt_nn.gelu(%c)
  %e = tfrt_nn.gemm(%d, %v, %row) {transB = 1 : i64}
  %f = tfrt_nn.relu(%e)
  %g = tfrt_nn.mat_mul(%f, %w)
  %h = tfrt_nn.gemm(%g, %v) {alpha = 2.0 : f32}
  tfrt.return %h : !tfrt_tensor.tensor
}
