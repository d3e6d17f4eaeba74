// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

// Nested regions; an inner token and value used by a sibling; values awaited twice.
func.func @main() {
  %c2 = arith.constant 2 : i64
  %t, %v = async.execute -> !async.value<i64> {
    %t1, %v1 = async.execute -> !async.value<i64> {
      %t2, %v2 = async.execute -> !async.value<i64> {
        %c5 = arith.constant 5 : i64
        async.yield %c5 : i64
      }
      %t3, %v3 = async.execute [%t2] (%v2 as %a: !async.value<i64>) -> !async.value<i64> {
        %s = arith.addi %a, %c2 : i64
        async.yield %s : i64
      }
      %x = async.await %v2 : !async.value<i64>
      %y = async.await %v3 : !async.value<i64>
      %z = async.await %v3 : !async.value<i64>
      %p = arith.muli %y, %z : i64
      %q = arith.addi %p, %x : i64
      async.yield %q : i64
    }
    %w = async.await %v1 : !async.value<i64>
    %r = arith.addi %w, %c2 : i64
    async.yield %r : i64
  }
  %a = async.await %v : !async.value<i64>
  %b = async.await %v : !async.value<i64>
  %c = arith.subi %a, %b : i64
  vector.print %a : i64
  vector.print %c : i64
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}56{{$}}
// CHECK-NEXT: {{^}}0{{$}}
