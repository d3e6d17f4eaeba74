// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-attention %s | FileCheck %s

// As torch's exporter writes it: the scale in two factors, and zeros for rows without keys.
// CHECK-LABEL: func.func @torch
// CHECK-NOT: tfrt_nn.transpose
// CHECK: %[[A:.*]] = tfrt_nn.attention(%q, %k, %v, %mask) {{.*}}places_first = 7 : i64{{.*}}scale = 2.500000e-01 : f32{{.*}}stretch_mask = 1 : i64
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

// A result that is turned back, and heads that are repeated for queries to share them.
// CHECK-LABEL: func.func @shared
// CHECK-DAG: %[[K:.*]] = tfrt_nn.share_heads(%k, %split, %joined)
// CHECK-DAG: %[[V:.*]] = tfrt_nn.share_heads(%v, %split, %joined)
// CHECK: %[[A:.*]] = tfrt_nn.attention(%q, %[[K]], %[[V]]) {{.*}}places_first = 9 : i64
// CHECK-NEXT: tfrt.return %[[A]]
func.func @shared(%q: !tfrt_tensor.tensor, %k: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %two = tfrt_nn.constant dense<2> : tensor<1xi64>
  %split = tfrt_nn.constant dense<[1, 2, 3, 5, 8]> : tensor<5xi64>
  %joined = tfrt_nn.constant dense<[1, 6, 5, 8]> : tensor<4xi64>
  %a = tfrt_nn.transpose(%q) {perm = [0, 2, 1, 3]}
  %k1 = tfrt_nn.unsqueeze(%k, %two)
  %k2 = tfrt_nn.expand(%k1, %split)
  %k3 = tfrt_nn.reshape(%k2, %joined)
  %b = tfrt_nn.transpose(%k3) {perm = [0, 1, 3, 2]}
  %v1 = tfrt_nn.unsqueeze(%v, %two)
  %v2 = tfrt_nn.expand(%v1, %split)
  %c = tfrt_nn.reshape(%v2, %joined)
  %d = tfrt_nn.mat_mul(%a, %b)
  %e = tfrt_nn.softmax(%d)
  %f = tfrt_nn.mat_mul(%e, %c)
  %g = tfrt_nn.transpose(%f) {perm = [0, 2, 1, 3]}
  tfrt.return %g : !tfrt_tensor.tensor
}

// Queries that may have more than four axes stay as they are.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tfrt_nn.attention
// CHECK: tfrt.return
func.func @unknown(%q: !tfrt_tensor.tensor, %k: !tfrt_tensor.tensor, %v: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %b = tfrt_nn.transpose(%k) {perm = [0, 2, 3, 1]}
  %c = tfrt_nn.transpose(%v) {perm = [0, 2, 1, 3]}
  %d = tfrt_nn.mat_mul(%q, %b)
  %e = tfrt_nn.softmax(%d)
  %f = tfrt_nn.mat_mul(%e, %c)
  tfrt.return %f : !tfrt_tensor.tensor
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
