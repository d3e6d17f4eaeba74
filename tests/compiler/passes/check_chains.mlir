// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --check-chains --verify-diagnostics --keep-value-names %s | FileCheck %s
// RUN: tfrt_opt --check-chains %s 2>&1 >/dev/null | FileCheck %s --check-prefix=TEXT

// The program is printed as it was.
// CHECK-LABEL: func.func @read
func.func @read(%c: !tfrt.chain) -> !tfrt.chain {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  // expected-note@+1 {{this 'tfrt_dht.fill_tensor_with_constant.f32' op need not be done by then}}
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  // TEXT: check_chains.mlir:[[#@LINE+3]]:8: warning: 'tfrt_tensor.relu' op reads memory that 'tfrt_dht.fill_tensor_with_constant.f32' op, before it, writes to, and no chain orders the two
  // TEXT-NEXT: %u = tfrt_tensor.relu %t
  // expected-warning@+1 {{'tfrt_tensor.relu' op reads memory that 'tfrt_dht.fill_tensor_with_constant.f32' op, before it, writes to, and no chain orders the two}}
  %u = tfrt_tensor.relu %t
  // CHECK: %v = tfrt_tensor.relu %t, %d
  %v = tfrt_tensor.relu %t, %d
  %e = tfrt_dht.print_tensor %u, %d
  %f = tfrt_dht.print_tensor %v, %e
  tfrt.return %f : !tfrt.chain
}

// Readers need no order among themselves. A writer comes behind all of them.
// CHECK-LABEL: func.func @readers
func.func @readers(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  // expected-note@+1 {{this 'tfrt_tensor.relu' op need not be done by then}}
  %u = tfrt_tensor.relu %t, %d
  %v = tfrt_tensor.relu %t, %d
  %m = tfrt.merge.chains %v, %d : !tfrt_tensor.tensor, !tfrt.chain
  // expected-warning@+1 {{'tfrt_dht.fill_tensor_with_constant.f32' op writes to memory that 'tfrt_tensor.relu' op, before it, reads, and no chain orders the two}}
  %e = tfrt_dht.fill_tensor_with_constant.f32 %t, %m 3.0 : f32
  tfrt.return %e : !tfrt.chain
}

// A view is the memory it shows. Another tensor is other memory.
func.func @view(%c: !tfrt.chain) -> !tfrt.chain {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %other = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %view = "tfrt.alias.value"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  // expected-note@+1 {{this 'tfrt_dht.fill_tensor_with_constant.f32' op need not be done by then}}
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %e = tfrt_dht.fill_tensor_with_constant.f32 %other, %c 2.0 : f32
  // expected-warning@+1 {{writes to memory that}}
  %f = tfrt_dht.fill_tensor_with_constant.f32 %view, %c 2.0 : f32
  %m = tfrt.merge.chains %d, %e, %f : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// Lines of output have an order.
func.func @output(%x: i32, %c: !tfrt.chain) -> !tfrt.chain {
  // expected-note@+1 {{this 'tfrt.print.i32' op need not be done by then}}
  %d = tfrt.print.i32 %x, %c
  // expected-warning@+1 {{no chain orders the effects on the output of 'tfrt.print.i32' op and, before it, of 'tfrt.print.i32' op}}
  %e = tfrt.print.i32 %x, %c
  %m = tfrt.merge.chains %d, %e : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// A call is what the callee does, with the chains that the callee takes and gives.
func.func @fill(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  tfrt.return %d : !tfrt.chain
}
func.func @hasty(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  // expected-note@+1 {{'tfrt.call' op runs this 'tfrt_dht.fill_tensor_with_constant.f32' op}}
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  tfrt.return %c : !tfrt.chain
}
func.func @calls(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt.call @fill(%t, %c) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %e = tfrt_dht.print_tensor %t, %d
  // expected-note@+1 {{this 'tfrt.call' op need not be done by then}}
  %f = tfrt.call @hasty(%t, %e) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-warning@+1 {{'tfrt_dht.print_tensor' op reads memory that 'tfrt.call' op, before it, writes to, and no chain orders the two}}
  %g = tfrt_dht.print_tensor %t, %f
  tfrt.return %g : !tfrt.chain
}

// Each turn of a loop comes behind the one before.
func.func @loops(%n: i32, %t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %same:2 = tfrt.repeat.i32 %n, %t, %c : !tfrt_tensor.tensor, !tfrt.chain {
    %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
    tfrt.return %t, %d : !tfrt_tensor.tensor, !tfrt.chain
  }
  %hasty:2 = tfrt.repeat.i32 %n, %t, %same#1 : !tfrt_tensor.tensor, !tfrt.chain {
    // expected-warning@+2 {{op writes to memory that 'tfrt_dht.fill_tensor_with_constant.f32' op writes to in a turn before of 'tfrt.repeat.i32' op}}
    // expected-note@+1 {{this 'tfrt_dht.fill_tensor_with_constant.f32' op need not be done by then}}
    %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %same#1 2.0 : f32
    tfrt.return %t, %same#1 : !tfrt_tensor.tensor, !tfrt.chain
  }
  tfrt.return %same#1, %hasty#1 : !tfrt.chain, !tfrt.chain
}

// Without all its chains a function can't be checked.
// expected-warning@+1 {{function '@none' lacks chains, which --insert-chains puts in: it isn't checked}}
func.func @none(%x: i32) {
  tfrt.print.i32 %x
  tfrt.return
}

// Functions that run in order need no chains.
func.func @in_order(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

// Additions to a counter may come in any order; who looks at the sum comes behind all of them.
func.func @counter(%c: !tfrt.chain) -> (i32, !tfrt.chain) {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  // expected-note@+1 {{this 'tfrt_test.atomic.inc.i32' op need not be done by then}}
  %d = "tfrt_test.atomic.inc.i32"(%a, %c) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %e = "tfrt_test.atomic.inc.i32"(%a, %c) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  // expected-warning@+1 {{'tfrt_test.atomic.get.i32' op reads memory that 'tfrt_test.atomic.inc.i32' op, before it, writes to}}
  %v, %f = "tfrt_test.atomic.get.i32"(%a, %e) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %v, %f : i32, !tfrt.chain
}

// So in the turns of a loop.
func.func @counter_in_turns(%c: !tfrt.chain, %n: i32) -> (!test.atomic.i32, !tfrt.chain) {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %r:2 = tfrt.repeat.i32 %n, %a, %c : !test.atomic.i32, !tfrt.chain {
    %d = "tfrt_test.atomic.inc.i32"(%a, %c) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %a, %c : !test.atomic.i32, !tfrt.chain
  }
  tfrt.return %r#0, %r#1 : !test.atomic.i32, !tfrt.chain
}
