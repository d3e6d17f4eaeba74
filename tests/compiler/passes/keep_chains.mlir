// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --insert-chains %s | FileCheck %s

// No chain is missing: nothing changes, though nothing orders what is printed.
// CHECK-LABEL: func.func @free
// CHECK-NEXT: %c = tfrt.new.chain
// CHECK-NEXT: tfrt.print.i32 %a, %c
// CHECK-NEXT: tfrt.print.i32 %a, %c
// CHECK-NEXT: "tfrt_test.usleep"(%a) : (i32) -> ()
// CHECK-NEXT: tfrt.return
func.func @free(%a: i32) {
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %a, %c
  %e = tfrt.print.i32 %a, %c
  "tfrt_test.usleep"(%a) : (i32) -> ()
  tfrt.return
}

// But what reads a tensor comes after what writes to it, whatever takes no chain.
// CHECK-LABEL: func.func @forgotten
// CHECK: %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0
// CHECK-NEXT: tfrt_tensor.relu %t, %d
func.func @forgotten() -> !tfrt_tensor.tensor {
  %c = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %u = tfrt_tensor.relu %t
  tfrt.return %u : !tfrt_tensor.tensor
}
