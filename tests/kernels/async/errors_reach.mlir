// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s

// An error reaches all that waits for it, also through functions and blocks, with its place.
func.func @wait(%v: !async.value<i64>) -> i64 {
  %x = async.await %v : !async.value<i64>
  %c0 = arith.constant 0 : i64
  %p = arith.cmpi slt, %c0, %x : i64
  %r = scf.if %p -> (i64) {
    scf.yield %x : i64
  } else {
    scf.yield %c0 : i64
  }
  return %r : i64
}
func.func @main() -> i64 {
  %false = arith.constant false
  %t, %v = async.execute -> !async.value<i64> {
    // expected-error@+1 {{not this}}
    cf.assert %false, "not this"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %r = call @wait(%v) : (!async.value<i64>) -> i64
  vector.print str "never\n"
  return %r : i64
}
// CHECK: Running 'main'
// CHECK-NEXT: 'main' returned <<error: not this>>

// Each result is there when it is known: the first one though the second one never comes.
func.func @partial() -> i64 {
  %false = arith.constant false
  %t, %late = async.execute -> !async.value<i64> {
    // expected-error@+1 {{no second}}
    cf.assert %false, "no second"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %ready, %early = async.execute -> !async.value<i64> {
    %c = arith.constant 7 : i64
    async.yield %c : i64
  }
  %both, %r:2 = async.execute -> (!async.value<i64>, !async.value<i64>) {
    %x = async.await %early : !async.value<i64>
    %y = async.await %late : !async.value<i64>
    async.yield %x, %y : i64, i64
  }
  %a = async.await %r#0 : !async.value<i64>
  return %a : i64
}
// CHECK: Running 'partial'
// CHECK-NEXT: 'partial' returned 7
