// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-fold-batch-norm -canonicalize %s | FileCheck %s

// Filter i becomes w * f and (b - mean) * f + shift, where f = scale / sqrt(variance + epsilon):
// here 3 / sqrt(9) = 1 and 4 / sqrt(4) = 2.
// CHECK-LABEL: func.func @folded
// CHECK: tfrt_nn.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]], {{\[\[}}6.000000e+00, 8.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK: tfrt_nn.constant dense<[1.000000e+01, 2.200000e+01]> : tensor<2xf32>
// CHECK: tfrt_nn.conv(%x, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {{.*}}strides = [2]
// CHECK-NOT: tfrt_nn.batch_normalization
func.func @folded(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %w = tfrt_nn.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = tfrt_nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %scale = tfrt_nn.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %shift = tfrt_nn.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = tfrt_nn.constant dense<1.0> : tensor<2xf32>
  %variance = tfrt_nn.constant dense<[9.0, 4.0]> : tensor<2xf32>
  %c = tfrt_nn.conv(%x, %w, %b) {strides = [2]}
  %y = tfrt_nn.batch_normalization(%c, %scale, %shift, %mean, %variance) {epsilon = 0.0 : f32} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %y : !tfrt_tensor.tensor
}

// Somebody else sees the convolution; and of these norms a scale is not known.
// CHECK-LABEL: func.func @kept
// CHECK: tfrt_nn.batch_normalization
// CHECK: tfrt_nn.batch_normalization
func.func @kept(%x: !tfrt_tensor.tensor, %s: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %w = tfrt_nn.constant dense<1.0> : tensor<2x1x2xf32>
  %v = tfrt_nn.constant dense<1.0> : tensor<2xf32>
  %c = tfrt_nn.conv(%x, %w)
  %y = tfrt_nn.batch_normalization(%c, %v, %v, %v, %v) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %d = tfrt_nn.conv(%x, %w) {strides = [3]}
  %z = tfrt_nn.batch_normalization(%d, %s, %v, %v, %v) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %c, %y, %z : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
