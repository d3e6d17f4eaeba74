// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --insert-chains %s | FileCheck %s
// RUN: tfrt_opt --insert-chains --check-chains --verify-diagnostics %s

// A loop's second chain is that of the reads since the last write. Reads before a call have not waited
// for what the call wrote to memory that it made: if the loop has no turn, nothing else does.
func.func @made() -> !tfrt_tensor.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  tfrt.return %t : !tfrt_tensor.tensor
}
// CHECK-LABEL: func.func @new_memory
// CHECK: %[[RELU:.*]] = tfrt_tensor.relu %a
// CHECK: %[[MADE:.*]]:2 = tfrt.call @made() : () -> (!tfrt_tensor.tensor, !tfrt.chain)
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %[[RELU]], %[[MADE]]#1 : !tfrt_tensor.tensor, !tfrt.chain
// CHECK-NEXT: %[[LOOP:.*]]:4 = tfrt.repeat.i32 %n, %a, %[[MADE]]#0, %[[MADE]]#1, %[[BOTH]]
// CHECK: tfrt_dht.fill_tensor_with_constant.f32 %[[LOOP]]#1, %[[LOOP]]#3
func.func @new_memory(%n: i32, %yes: i1) {
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %u = tfrt_tensor.relu %a
  %m = tfrt.call @made() : () -> (!tfrt_tensor.tensor)
  %r:2 = tfrt.repeat.i32 %n, %a, %m : !tfrt_tensor.tensor, !tfrt_tensor.tensor {
    %v = tfrt_tensor.relu %m
    tfrt.return %a, %m : !tfrt_tensor.tensor, !tfrt_tensor.tensor
  }
  tfrt_dht.fill_tensor_with_constant.f32 %r#1 2.0 : f32
  %either = tfrt.if %yes, %a, %m : (!tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor) {
    tfrt.return %a : !tfrt_tensor.tensor
  } else {
    tfrt.return %m : !tfrt_tensor.tensor
  }
  tfrt_dht.print_tensor %either
  tfrt.return
}

// In the turns of nested loops, a chain comes behind one of two others, and a write behind both: no
// pair is without order, whatever the number of turns.
// CHECK-LABEL: func.func @nested_loops
// CHECK: %[[S:.*]]:4 = tfrt.repeat.i32
// CHECK: %[[U:.*]]:3 = tfrt.repeat.i32
// CHECK: tfrt_dht.fill_tensor_with_constant.f32 %[[U]]#0, %[[U]]#2
// CHECK-NEXT: tfrt.return
// CHECK-NEXT: }
// CHECK-NEXT: tfrt.return %a, %n, %[[S]]#2, %[[S]]#3
func.func @nested_loops(%n: i32, %t: !tfrt_tensor.tensor) {
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %x = tfrt_tensor.relu %a
  %r:2 = tfrt.repeat.i32 %n, %a, %n : !tfrt_tensor.tensor, i32 {
    %s:2 = tfrt.repeat.i32 %n, %a, %n : !tfrt_tensor.tensor, i32 {
      %u = tfrt.repeat.i32 %n, %a : !tfrt_tensor.tensor {
        %v = tfrt_tensor.relu %a
        tfrt.return %a : !tfrt_tensor.tensor
      }
      tfrt_dht.fill_tensor_with_constant.f32 %u 2.0 : f32
      tfrt.return %a, %n : !tfrt_tensor.tensor, i32
    }
    tfrt.return %a, %n : !tfrt_tensor.tensor, i32
  }
  tfrt.return
}

// A function that reads memory which a call has made gives a chain for what it was given, too: the
// write behind the call waits for the one before it.
func.func @read_made() -> !tfrt_tensor.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %u = tfrt_tensor.relu %t
  tfrt.return %t : !tfrt_tensor.tensor
}
// CHECK-LABEL: func.func @reads_made_memory
// CHECK-SAME: %[[GIVEN:arg[0-9]+]]: !tfrt.chain
// CHECK: %[[MADE:.*]]:2 = tfrt.call @read_made()
// CHECK: %[[BOTH:.*]] = tfrt.merge.chains %[[GIVEN]], %[[MADE]]#1
// CHECK: tfrt.return %[[EITHER:.*]], %[[BOTH]]
func.func @reads_made_memory(%t: !tfrt_tensor.tensor, %yes: i1) -> !tfrt_tensor.tensor {
  %m = tfrt.call @read_made() : () -> (!tfrt_tensor.tensor)
  %either = tfrt.if %yes, %t, %m : (!tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor) {
    tfrt.return %t : !tfrt_tensor.tensor
  } else {
    tfrt.return %m : !tfrt_tensor.tensor
  }
  tfrt.return %either : !tfrt_tensor.tensor
}
// CHECK-LABEL: func.func @write_behind
// CHECK: %[[CALL:.*]]:2 = tfrt.call @reads_made_memory
// CHECK: tfrt_dht.fill_tensor_with_constant.f32 %[[CALL]]#0, %[[CALL]]#1 2.0
func.func @write_behind(%yes: i1) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  %u = tfrt.call @reads_made_memory(%t, %yes) : (!tfrt_tensor.tensor, i1) -> (!tfrt_tensor.tensor)
  tfrt_dht.fill_tensor_with_constant.f32 %u 2.0 : f32
  tfrt.return
}
