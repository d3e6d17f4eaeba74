// SPDX-License-Identifier: Apache-2.0
// RUN: mlir_to_bef %s | bef_executor --check_races --work_queue_type=mstd:2 2>&1 | FileCheck %s

// Kernels that come later, on several threads; the compiler orders all of them.
// CHECK-NOT: race
func.func private @mix(%t: !tfrt_tensor.tensor, %n: i32) -> !tfrt_tensor.tensor {
  %u = tfrt_tensor.relu %t
  tfrt_dht.fill_tensor_with_constant.f32 %t 3.0 : f32
  tfrt_dht.fill_tensor_with_constant.f32 %u 4.0 : f32
  %v = tfrt_tensor.relu %u
  tfrt.return %v : !tfrt_tensor.tensor
}
func.func @main() {
  %n = tfrt.constant.i32 20
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %u = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 2.0 : f32
  tfrt_dht.fill_tensor_with_constant.f32 %u 2.0 : f32
  %r:3 = tfrt.repeat.i32 %n, %t, %u, %n : !tfrt_tensor.tensor, !tfrt_tensor.tensor, i32 {
    %v = tfrt.call @mix(%t, %n) : (!tfrt_tensor.tensor, i32) -> !tfrt_tensor.tensor
    %w = tfrt.call @mix(%u, %n) : (!tfrt_tensor.tensor, i32) -> !tfrt_tensor.tensor
    %m = "tfrt_test.async_add.i32"(%n, %n) : (i32, i32) -> i32
    tfrt.return %v, %w, %n : !tfrt_tensor.tensor, !tfrt_tensor.tensor, i32
  }
  // CHECK: DenseHostTensor dtype = f32, shape = [2, 2], values = [4.000000e+00
  tfrt_dht.print_tensor %r#0
  // CHECK: DenseHostTensor dtype = f32, shape = [2, 2], values = [4.000000e+00
  tfrt_dht.print_tensor %r#1
  tfrt.return
}

// A task hands on what was written to before it begins.
func.func @task() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 5.0 : f32
  cf.br ^later
^later:
  %token, %same = async.execute -> !async.value<!tfrt_tensor.tensor> {
    async.yield %t : !tfrt_tensor.tensor
  }
  %u = async.await %same : !async.value<!tfrt_tensor.tensor>
  %v = tfrt_tensor.relu %u
  // CHECK: DenseHostTensor dtype = f32, shape = [2, 2], values = [5.000000e+00
  tfrt_dht.print_tensor %v
  return
}
