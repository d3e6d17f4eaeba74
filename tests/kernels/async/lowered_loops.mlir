// SPDX-License-Identifier: Apache-2.0
//
// A turn of a loop is one block: the comparison stands in front of the loop and at the end of its
// body.
//
// RUN: tfrt_opt --lower-async %s | FileCheck %s --check-prefix=LOWERED
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:2 - | FileCheck %s

// LOWERED-LABEL: func.func @chain.body.bb0
// LOWERED: "tfrt_async.cmpi"
// LOWERED: func.func @chain.body.bb2(%[[CHAIN:.*]]: !tfrt.chain, %arg1: i64, %[[TOKEN:.*]]: !tfrt.chain,
// LOWERED-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %[[CHAIN]], %[[TOKEN]]
// LOWERED-NEXT: "tfrt_async.execute"(%[[BOTH]])
// LOWERED-NEXT: "tfrt_async.addi"
// LOWERED-NEXT: "tfrt_async.cmpi"
// LOWERED-NEXT: tfrt.return
// LOWERED-LABEL: func.func @chain.body(
// CHECK-LABEL: --- Running 'chain'
func.func @chain() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %t0 = async.execute { async.yield }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!async.token) {
    %u = async.execute [%t] { async.yield }
    scf.yield %u : !async.token
  }
  async.await %last : !async.token
  vector.print str "done\n"
  // CHECK-NEXT: done
  return
}

// Loops with no turn, in each other, and whose bounds are the numbers of another one.
// CHECK-LABEL: --- Running 'turns'
func.func @turns() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %none = scf.for %i = %c5 to %c0 step %c1 iter_args(%s = %c2) -> (index) {
    %r = arith.addi %s, %i : index
    scf.yield %r : index
  }
  vector.print %none : index
  // CHECK-NEXT: 2
  %sum = scf.for %i = %c0 to %c5 step %c2 iter_args(%s = %c0) -> (index) {
    %inner = scf.for %k = %i to %c5 step %c1 iter_args(%q = %s) -> (index) {
      %t, %v = async.execute -> !async.value<index> {
        %p = arith.muli %i, %k : index
        async.yield %p : index
      }
      %x = async.await %v : !async.value<index>
      %r = arith.addi %q, %x : index
      scf.yield %r : index
    }
    %some = arith.cmpi eq, %i, %c2 : index
    %r = scf.if %some -> (index) {
      scf.yield %inner : index
    } else {
      %more = arith.addi %inner, %c1 : index
      scf.yield %more : index
    }
    scf.yield %r : index
  }
  // 0, then 2 * (2 + 3 + 4), then 4 * 4, and one for the first and for the last turn.
  vector.print %sum : index
  // CHECK-NEXT: 36
  return
}

// The token of one turn fails: no later region starts.
// CHECK-LABEL: --- Running 'failing'
// CHECK-NEXT: 1
func.func @failing() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 6 : index
  %t0 = async.execute { async.yield }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!async.token) {
    %u = async.execute [%t] {
      %good = arith.cmpi ne, %i, %c3 : index
      // expected-error@+1 {{the fourth}}
      cf.assert %good, "the fourth"
      async.yield
    }
    scf.yield %u : !async.token
  }
  async.runtime.await %last : !async.token
  %failed = async.runtime.is_error %last : !async.token
  vector.print %failed : i1
  return
}
