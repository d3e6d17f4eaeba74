// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-gelu %s | FileCheck %s

// As torch writes it.
// CHECK-LABEL: func.func @exact
// CHECK-NEXT: %0 = tfrt_nn.gelu(%x) {approximate = "none"}
// CHECK-NEXT: tfrt.return %0
func.func @exact(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %root = tfrt_nn.constant dense<1.41421354> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<f32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.div(%x, %root)
  %b = tfrt_nn.erf(%a)
  %c = tfrt_nn.add(%b, %one)
  %d = tfrt_nn.mul(%x, %c)
  %e = tfrt_nn.mul(%d, %half)
  tfrt.return %e : !tfrt_tensor.tensor
}

// The factors in another order.
// CHECK-LABEL: func.func @other_order
// CHECK-NEXT: %0 = tfrt_nn.gelu(%x) {approximate = "none"}
// CHECK-NEXT: tfrt.return %0
func.func @other_order(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %root = tfrt_nn.constant dense<0.707106769> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<f32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.mul(%root, %x)
  %b = tfrt_nn.erf(%a)
  %c = tfrt_nn.add(%one, %b)
  %d = tfrt_nn.mul(%half, %x)
  %e = tfrt_nn.mul(%c, %d)
  tfrt.return %e : !tfrt_tensor.tensor
}

// CHECK-LABEL: func.func @cube
// CHECK-NEXT: %0 = tfrt_nn.gelu(%x) {approximate = "tanh"}
// CHECK-NEXT: tfrt.return %0
func.func @cube(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %three = tfrt_nn.constant dense<3.0> : tensor<f32>
  %cubic = tfrt_nn.constant dense<0.044715> : tensor<f32>
  %root = tfrt_nn.constant dense<0.797884583> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<f32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.pow(%x, %three)
  %b = tfrt_nn.mul(%a, %cubic)
  %c = tfrt_nn.add(%x, %b)
  %d = tfrt_nn.mul(%c, %root)
  %e = tfrt_nn.tanh(%d)
  %f = tfrt_nn.add(%e, %one)
  %g = tfrt_nn.mul(%x, %half)
  %h = tfrt_nn.mul(%g, %f)
  tfrt.return %h : !tfrt_tensor.tensor
}

// CHECK-LABEL: func.func @square
// CHECK-NEXT: %0 = tfrt_nn.gelu(%x) {approximate = "tanh"}
// CHECK-NEXT: tfrt.return %0
func.func @square(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %cubic = tfrt_nn.constant dense<0.044715> : tensor<f32>
  %root = tfrt_nn.constant dense<0.797884583> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<f32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.mul(%x, %root)
  %b = tfrt_nn.mul(%x, %cubic)
  %c = tfrt_nn.mul(%b, %x)
  %d = tfrt_nn.add(%c, %one)
  %e = tfrt_nn.mul(%a, %d)
  %f = tfrt_nn.tanh(%e)
  %g = tfrt_nn.add(%f, %one)
  %h = tfrt_nn.mul(%half, %x)
  %i = tfrt_nn.mul(%h, %g)
  tfrt.return %i : !tfrt_tensor.tensor
}

// Another number is another function; so is another x, or a value that others see.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tfrt_nn.gelu
// CHECK: tfrt.return
func.func @kept(%x: !tfrt_tensor.tensor, %y: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %root = tfrt_nn.constant dense<1.41421354> : tensor<f32>
  %other = tfrt_nn.constant dense<1.5> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<f32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.div(%x, %other)
  %b = tfrt_nn.erf(%a)
  %c = tfrt_nn.add(%b, %one)
  %d = tfrt_nn.mul(%x, %c)
  %e = tfrt_nn.mul(%d, %half)
  %f = tfrt_nn.div(%x, %root)
  %g = tfrt_nn.erf(%f)
  %h = tfrt_nn.add(%g, %one)
  %i = tfrt_nn.mul(%y, %h)
  %j = tfrt_nn.mul(%i, %half)
  %k = tfrt_nn.div(%y, %root)
  %l = tfrt_nn.erf(%k)
  %m = tfrt_nn.add(%l, %one)
  %n = tfrt_nn.mul(%y, %m)
  %o = tfrt_nn.mul(%n, %half)
  tfrt.return %e, %j, %o, %m : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

// Numbers of as many axes as the values beside them; the half is a factor of the sum.
// CHECK-LABEL: func.func @axes
// CHECK: %[[X:.*]] = tfrt_nn.add(%x, %
// CHECK-NEXT: %[[Y:.*]] = tfrt_nn.gelu(%[[X]]) {approximate = "tanh"}
// CHECK-NEXT: tfrt.return %[[Y]]
func.func @axes(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %bias = tfrt_nn.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %cubic = tfrt_nn.constant dense<0.044715> : tensor<f32>
  %root = tfrt_nn.constant dense<0.797884583> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<1x1x1xf32>
  %half = tfrt_nn.constant dense<0.5> : tensor<1x1x1xf32>
  %a = tfrt_nn.add(%x, %bias)
  %b = tfrt_nn.mul(%cubic, %a)
  %c = tfrt_nn.mul(%a, %b)
  %d = tfrt_nn.mul(%a, %c)
  %e = tfrt_nn.add(%a, %d)
  %f = tfrt_nn.mul(%root, %e)
  %g = tfrt_nn.tanh(%f)
  %h = tfrt_nn.add(%one, %g)
  %i = tfrt_nn.mul(%half, %h)
  %j = tfrt_nn.mul(%a, %i)
  tfrt.return %j : !tfrt_tensor.tensor
}

// Here they may give the result more axes than %x has.
// CHECK-LABEL: func.func @more_axes
// CHECK-NOT: tfrt_nn.gelu
// CHECK: tfrt.return
func.func @more_axes(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %root = tfrt_nn.constant dense<1.41421354> : tensor<f32>
  %one = tfrt_nn.constant dense<1.0> : tensor<1x1x1xf32>
  %half = tfrt_nn.constant dense<0.5> : tensor<f32>
  %a = tfrt_nn.div(%x, %root)
  %b = tfrt_nn.erf(%a)
  %c = tfrt_nn.add(%b, %one)
  %d = tfrt_nn.mul(%x, %c)
  %e = tfrt_nn.mul(%d, %half)
  tfrt.return %e : !tfrt_tensor.tensor
}
