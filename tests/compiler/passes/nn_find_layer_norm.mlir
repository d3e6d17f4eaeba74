// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -nn-find-layer-norm %s | FileCheck %s

// CHECK-LABEL: func.func @formula
// CHECK: %0 = tfrt_nn.layer_normalization(%x, %scale, %bias) {axis = -1 : i64, epsilon = 9.99999997E-7 : f32}
// CHECK-NEXT: tfrt.return %0
func.func @formula(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %axes = tfrt_nn.constant dense<[-1]> : tensor<1xi64>
  %two = tfrt_nn.constant dense<2.0> : tensor<f32>
  %epsilon = tfrt_nn.constant dense<1.0e-6> : tensor<f32>
  %scale = tfrt_nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bias = tfrt_nn.constant dense<[0.0, 3.0]> : tensor<2xf32>
  %mean = tfrt_nn.reduce_mean(%x, %axes)
  %centred = tfrt_nn.sub(%x, %mean)
  %squares = tfrt_nn.pow(%centred, %two)
  %variance = tfrt_nn.reduce_mean(%squares, %axes)
  %more = tfrt_nn.add(%variance, %epsilon)
  %deviation = tfrt_nn.sqrt(%more)
  %normal = tfrt_nn.div(%centred, %deviation)
  %scaled = tfrt_nn.mul(%normal, %scale)
  %shifted = tfrt_nn.add(%scaled, %bias)
  tfrt.return %shifted : !tfrt_tensor.tensor
}

// Without a bias, with x - mean written twice, and a reciprocal.
// CHECK-LABEL: func.func @twice
// CHECK: %0 = tfrt_nn.layer_normalization(%x, %scale) {axis = -1 : i64
// CHECK-NEXT: tfrt.return %0
func.func @twice(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %axes = tfrt_nn.constant dense<[-1]> : tensor<1xi64>
  %epsilon = tfrt_nn.constant dense<1.0e-6> : tensor<f32>
  %scale = tfrt_nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = tfrt_nn.reduce_mean(%x, %axes)
  %centred = tfrt_nn.sub(%x, %mean)
  %again = tfrt_nn.sub(%x, %mean)
  %squares = tfrt_nn.mul(%again, %again)
  %variance = tfrt_nn.reduce_mean(%squares, %axes)
  %more = tfrt_nn.add(%epsilon, %variance)
  %deviation = tfrt_nn.sqrt(%more)
  %inverse = tfrt_nn.reciprocal(%deviation)
  %normal = tfrt_nn.mul(%inverse, %centred)
  %scaled = tfrt_nn.mul(%scale, %normal)
  tfrt.return %scaled : !tfrt_tensor.tensor
}

// Another axis, a scale that is not known, or another x: they stay.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tfrt_nn.layer_normalization
// CHECK: tfrt.return
func.func @kept(%x: !tfrt_tensor.tensor, %y: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %axes = tfrt_nn.constant dense<[-1]> : tensor<1xi64>
  %other = tfrt_nn.constant dense<[1]> : tensor<1xi64>
  %epsilon = tfrt_nn.constant dense<1.0e-6> : tensor<f32>
  %scale = tfrt_nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = tfrt_nn.reduce_mean(%x, %other)
  %b = tfrt_nn.sub(%x, %a)
  %c = tfrt_nn.mul(%b, %b)
  %d = tfrt_nn.reduce_mean(%c, %other)
  %e = tfrt_nn.add(%d, %epsilon)
  %f = tfrt_nn.sqrt(%e)
  %g = tfrt_nn.div(%b, %f)
  %h = tfrt_nn.mul(%g, %scale)
  %i = tfrt_nn.reduce_mean(%x, %axes)
  %j = tfrt_nn.sub(%x, %i)
  %k = tfrt_nn.mul(%j, %j)
  %l = tfrt_nn.reduce_mean(%k, %axes)
  %m = tfrt_nn.add(%l, %epsilon)
  %n = tfrt_nn.sqrt(%m)
  %o = tfrt_nn.div(%j, %n)
  %p = tfrt_nn.mul(%o, %y)
  tfrt.return %h, %p : !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

// The root of the mean square alone.
// CHECK-LABEL: func.func @rms
// CHECK: %0 = tfrt_nn.rms_normalization(%x, %scale) {axis = -1 : i64, epsilon = 9.99999997E-7 : f32}
// CHECK-NEXT: tfrt.return %0
func.func @rms(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %axes = tfrt_nn.constant dense<[-1]> : tensor<1xi64>
  %two = tfrt_nn.constant dense<2.0> : tensor<f32>
  %epsilon = tfrt_nn.constant dense<1.0e-6> : tensor<f32>
  %scale = tfrt_nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %squares = tfrt_nn.pow(%x, %two)
  %mean = tfrt_nn.reduce_mean(%squares, %axes)
  %more = tfrt_nn.add(%mean, %epsilon)
  %root = tfrt_nn.sqrt(%more)
  %inverse = tfrt_nn.reciprocal(%root)
  %normal = tfrt_nn.mul(%x, %inverse)
  %scaled = tfrt_nn.mul(%scale, %normal)
  tfrt.return %scaled : !tfrt_tensor.tensor
}
