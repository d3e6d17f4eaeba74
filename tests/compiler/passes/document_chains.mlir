// SPDX-License-Identifier: Apache-2.0
// RUN: sed 's/.*HAND$//' %s | tfrt_opt --insert-chains > %t && sed 's/.*FREE$//' %s | tfrt_opt | diff - %t
// RUN: sed 's/.*FREE$//' %s | tfrt_opt --check-chains --verify-diagnostics > %t

// The examples of TFRT's document on explicit dependencies: without chains they become what the
// document writes by hand.

// A tensor is initialised before it is printed.
func.func @print() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 2.0 : f32 // FREE
  tfrt_dht.print_tensor %t // FREE
  %ch0 = tfrt.new.chain // HAND
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 2.0 : f32 // HAND
  %ch2 = tfrt_dht.print_tensor %t, %ch1 // HAND
  tfrt.return
}

// Kernels 1 and 2 are parallel; kernel 3 comes behind both, and kernel 4 behind kernel 3.
func.func @graph(%a: !tfrt_tensor.tensor, %b: !tfrt_tensor.tensor, %d: !tfrt_tensor.tensor, %e: !tfrt_tensor.tensor) {
  %one = tfrt.constant.f32 1.0
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c0 = tfrt.new.chain // HAND
  %c1 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %one, %c, %c0) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain // HAND
  "tfrt_test.matmul.f32.2"(%one, %a, %b, %one, %c) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor) -> () // FREE
  %f = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c2 = "tfrt_test.matmul.f32.2"(%one, %d, %e, %one, %f, %c0) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain // HAND
  "tfrt_test.matmul.f32.2"(%one, %d, %e, %one, %f) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor) -> () // FREE
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain // HAND
  %g = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c4 = "tfrt_test.matmul.f32.2"(%one, %c, %f, %one, %g, %c3) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain // HAND
  "tfrt_test.matmul.f32.2"(%one, %c, %f, %one, %g) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor) -> () // FREE
  %h = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c5 = "tfrt_test.matmul.f32.2"(%one, %g, %g, %one, %h, %c4) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain // HAND
  "tfrt_test.matmul.f32.2"(%one, %g, %g, %one, %h) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor) -> () // FREE
  tfrt.return
}
