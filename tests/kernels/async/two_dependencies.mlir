// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

// A failing value operand and a second dependency.
func.func @main() {
  %false = arith.constant 0 : i1
  %t0 = async.execute { async.yield }
  %t, %v = async.execute -> !async.value<i64> {
    // expected-error@+1 {{no}}
    cf.assert %false, "no"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %t2, %w = async.execute [%t0] (%v as %x: !async.value<i64>) -> !async.value<i64> { async.yield %x : i64 }
  async.runtime.await %w : !async.value<i64>
  %e = async.runtime.is_error %w : !async.value<i64>
  vector.print %e : i1
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}1{{$}}
