// SPDX-License-Identifier: Apache-2.0
// RUN: mlir_to_bef --no-insert-chains %s | bef_executor --check_races
// RUN: mlir_to_bef --no-insert-chains %s | bef_executor 2>&1 | FileCheck %s --check-prefix=OFF

// Without the flag nobody watches.
// OFF-NOT: error:

func.func @read() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt.new.chain
  %u = tfrt_tensor.relu %t
  // expected-error @+1 {{race: 'tfrt_dht.fill_tensor_with_constant.f32' writes to memory that 'tfrt_tensor.relu' at}}
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %f = tfrt_dht.print_tensor %t, %d
  tfrt.return
}

// Readers need no order, and writers that a chain orders have one.
func.func @ordered() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt.new.chain
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %u = tfrt_tensor.relu %t, %d
  %v = tfrt_tensor.relu %t, %d
  %m = tfrt.merge.chains %u, %v : !tfrt_tensor.tensor, !tfrt_tensor.tensor
  %e = tfrt_dht.fill_tensor_with_constant.f32 %t, %m 3.0 : f32
  tfrt.return
}

// In functions that are called, too. The second call doesn't wait for the reader, and comes first.
func.func private @fill(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  tfrt.return %d : !tfrt.chain
}
func.func @call() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt.new.chain
  %d = tfrt.call @fill(%t, %c) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{race: 'tfrt_tensor.relu' reads memory that 'tfrt_dht.fill_tensor_with_constant.f32' at}}
  %u = tfrt_tensor.relu %t, %d
  %e = tfrt.call @fill(%t, %d) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// Each turn comes behind the one before, or it doesn't.
func.func @turns() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt.new.chain
  %n = tfrt.constant.i32 3
  %a:2 = tfrt.repeat.i32 %n, %t, %c : !tfrt_tensor.tensor, !tfrt.chain {
    %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
    tfrt.return %t, %d : !tfrt_tensor.tensor, !tfrt.chain
  }
  %b:2 = tfrt.repeat.i32 %n, %t, %a#1 : !tfrt_tensor.tensor, !tfrt.chain {
    // expected-error @+1 {{race: 'tfrt_dht.fill_tensor_with_constant.f32' writes to memory that 'tfrt_dht.fill_tensor_with_constant.f32' at}}
    %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %a#1 2.0 : f32
    tfrt.return %t, %a#1 : !tfrt_tensor.tensor, !tfrt.chain
  }
  tfrt.return
}

// What a function only hands on comes behind what the op waits for that runs the function.
func.func @handed_on() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt.new.chain
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %e, %f = tfrt_dht.tensor_equal.f32 %t, %t, %d
  %u, %g = tfrt.if %e, %t, %c : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain) {
    tfrt.return %t, %c : !tfrt_tensor.tensor, !tfrt.chain
  } else {
    tfrt.return %t, %c : !tfrt_tensor.tensor, !tfrt.chain
  }
  %v = tfrt_tensor.relu %u
  tfrt.return
}
