// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

// Control flow with awaits: if, for, while.
func.func @main() {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c10 = arith.constant 10 : i64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i5 = arith.constant 5 : index
  %r = scf.for %k = %i0 to %i5 step %i1 iter_args(%s = %c0) -> (i64) {
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.index_cast %k : index to i64
      async.yield %x : i64
    }
    %y = async.await %v : !async.value<i64>
    %even = arith.remsi %y, %c10 : i64
    %z = arith.cmpi eq, %even, %c1 : i64
    %w = scf.if %z -> (i64) {
      %t2, %v2 = async.execute -> !async.value<i64> { async.yield %c10 : i64 }
      %q = async.await %v2 : !async.value<i64>
      scf.yield %q : i64
    } else {
      scf.yield %y : i64
    }
    %u = arith.addi %s, %w : i64
    scf.yield %u : i64
  }
  vector.print %r : i64
  %l = scf.while (%a = %c0) : (i64) -> i64 {
    %m = arith.cmpi slt, %a, %c10 : i64
    scf.condition(%m) %a : i64
  } do {
  ^bb0(%b: i64):
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.addi %b, %c1 : i64
      async.yield %x : i64
    }
    %y = async.await %v : !async.value<i64>
    scf.yield %y : i64
  }
  vector.print %l : i64
  %sw = arith.constant 3 : i32
  cf.switch %sw : i32, [ default: ^d(%c0 : i64), 2: ^d(%c1 : i64), 3: ^d(%c10 : i64) ]
^d(%o: i64):
  vector.print %o : i64
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}19{{$}}
// CHECK-NEXT: {{^}}10{{$}}
// CHECK-NEXT: {{^}}10{{$}}
