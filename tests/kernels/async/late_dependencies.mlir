// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

// Regions with several dependencies, in loops that go on before these are there.

// Each region depends on the two before it.
func.func @two_each() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t0, %v0 = async.execute -> !async.value<i64> { async.yield %zero : i64 }
  %t1, %v1 = async.execute -> !async.value<i64> { async.yield %one : i64 }
  %last:4 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t0, %t = %t1, %u = %v0, %v = %v1) -> (!async.token, !async.token, !async.value<i64>, !async.value<i64>) {
    %w, %x = async.execute [%s, %t] (%u as %a: !async.value<i64>, %v as %b: !async.value<i64>) -> !async.value<i64> {
      %sum = arith.addi %a, %b : i64
      %mask = arith.constant 65535 : i64
      %low = arith.andi %sum, %mask : i64
      async.yield %low : i64
    }
    scf.yield %t, %w, %v, %x : !async.token, !async.token, !async.value<i64>, !async.value<i64>
  }
  async.await %last#1 : !async.token
  %r = async.await %last#3 : !async.value<i64>
  vector.print %r : i64
  return
}
// CHECK-LABEL: Running 'two_each'
// CHECK-NEXT: {{^}}15394{{$}}

// An error among dependencies of which others are late, and behind it.
func.func @failing() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %false = arith.constant false
  %bad = async.execute {
    // expected-error@+1 {{no luck}}
    cf.assert %false, "no luck"
    async.yield
  }
  async.runtime.await %bad : !async.token
  %good = async.execute { async.yield }
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %bad, %t = %good) -> (!async.token, !async.token) {
    %u = async.execute [%t] { async.yield }
    %v = async.execute [%u, %s] {
      vector.print str "never\n"
      async.yield
    }
    scf.yield %v, %u : !async.token, !async.token
  }
  async.await %last#1 : !async.token
  async.runtime.await %last#0 : !async.token
  %failed = async.runtime.is_error %last#0 : !async.token
  vector.print %failed : i1
  return
}
// CHECK-LABEL: Running 'failing'
// CHECK-NEXT: {{^}}1{{$}}
