// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

async.func @one(%x: i64) -> !async.value<i64> { return %x : i64 }
async.func @sum(%n: i64) -> !async.value<i64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  cf.br ^head(%c0, %c0 : i64, i64)
^head(%i: i64, %s: i64):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  %v = async.call @one(%i) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %s2 = arith.addi %s, %x : i64
  %i2 = arith.addi %i, %c1 : i64
  cf.br ^head(%i2, %s2 : i64, i64)
^end:
  return %s : i64
}
func.func @main() {
  %n = arith.constant 100000 : i64
  %v = async.call @sum(%n) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  vector.print %x : i64
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}4999950000{{$}}
