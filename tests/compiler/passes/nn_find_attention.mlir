// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-attention %s | FileCheck %s

// As torch's exporter writes it: the scale in two factors, and zeros for rows without keys.
// CHECK-LABEL: func.func @torch
// CHECK: %[[Q:.*]] = tfrt_nn.transpose(%q) {perm = [0, 2, 1, 3]}
// CHECK: %[[V:.*]] = tfrt_nn.transpose(%v) {perm = [0, 2, 1, 3]}
// CHECK: %[[K:.*]] = tfrt_nn.transpose(%k) {perm = [0, 2, 1, 3]}
// CHECK: %[[A:.*]] = tfrt_nn.attention(%[[Q]], %[[K]], %[[V]], %mask) {{.*}}scale = 2.500000e-01 : f32{{.*}}stretch_mask = 1 : i64
// CHECK-NEXT: tfrt.return %[[A]]
func.func @torch(%q: !tfrt_tensor.tensor, %k: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor, %mask: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %root = tfrt_nn.constant dense<0.5> : tensor<f32>
  %zero = tfrt_nn.constant dense<0.0> : tensor<f32>
  %a = tfrt_nn.transpose(%q) {perm = [0, 2, 1, 3]}
  %b = tfrt_nn.transpose(%k) {perm = [0, 2, 3, 1]}
  %c = tfrt_nn.transpose(%v) {perm = [0, 2, 1, 3]}
  %d = tfrt_nn.mul(%a, %root)
  %e = tfrt_nn.mul(%b, %root)
  %f = tfrt_nn.mat_mul(%d, %e)
  %g = tfrt_nn.add(%f, %mask)
  %h = tfrt_nn.softmax(%g)
  %i = tfrt_nn.is_nan(%h)
  %j = tfrt_nn.where(%i, %zero, %h)
  %l = tfrt_nn.mat_mul(%j, %c)
  tfrt.return %l : !tfrt_tensor.tensor
}

// Keys in two transposes, the scale behind the product, no mask.
// CHECK-LABEL: func.func @plain
// CHECK: tfrt_nn.attention(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}}scale = 1.250000e-01 : f32
// CHECK-NOT: tfrt_nn.mat_mul
// CHECK: tfrt.return
func.func @plain(%q: !tfrt_tensor.tensor, %k: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %eight = tfrt_nn.constant dense<8.0> : tensor<f32>
  %a = tfrt_nn.transpose(%q) {perm = [0, 2, 1, 3]}
  %b = tfrt_nn.transpose(%k) {perm = [0, 2, 1, 3]}
  %c = tfrt_nn.transpose(%v) {perm = [0, 2, 1, 3]}
  %d = tfrt_nn.transpose(%b) {perm = [0, 1, 3, 2]}
  %e = tfrt_nn.mat_mul(%a, %d)
  %f = tfrt_nn.div(%e, %eight)
  %g = tfrt_nn.softmax(%f) {axis = 3 : i64}
  %h = tfrt_nn.mat_mul(%g, %c)
  tfrt.return %h : !tfrt_tensor.tensor
}

// A softmax along another axis, and keys that were not turned, are something else.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tfrt_nn.attention
// CHECK: tfrt.return
func.func @kept(%q: !tfrt_tensor.tensor, %k: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %a = tfrt_nn.transpose(%q) {perm = [0, 2, 1, 3]}
  %b = tfrt_nn.transpose(%k) {perm = [0, 2, 3, 1]}
  %c = tfrt_nn.transpose(%v) {perm = [0, 2, 1, 3]}
  %d = tfrt_nn.mat_mul(%a, %b)
  %e = tfrt_nn.softmax(%d) {axis = 2 : i64}
  %f = tfrt_nn.mat_mul(%e, %c)
  %g = tfrt_nn.mat_mul(%a, %k)
  %h = tfrt_nn.softmax(%g)
  %i = tfrt_nn.mat_mul(%h, %c)
  tfrt.return %f, %i : !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
