// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 20 : index
  %k = arith.constant 30 : index
  %m = memref.alloc() : memref<20x30xi64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %k) step (%c1, %c1) {
    %p = arith.muli %i, %k : index
    %s = arith.addi %p, %j : index
    %v = arith.index_cast %s : index to i64
    memref.store %v, %m[%i, %j] : memref<20x30xi64>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c0) step (%c1) {
    scf.reduce
  }
  %zero = arith.constant 0 : i64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i64) {
    %r = scf.for %j = %c0 to %k step %c1 iter_args(%q = %s) -> (i64) {
      %v = memref.load %m[%i, %j] : memref<20x30xi64>
      %z = arith.addi %q, %v : i64
      scf.yield %z : i64
    }
    scf.yield %r : i64
  }
  vector.print %sum : i64
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}179700{{$}}
