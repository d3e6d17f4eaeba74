// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:2 - | FileCheck %s

// A branch hands on values crosswise, more than once, or not at all; some are late, and one is
// returned twice.
func.func @turn(%n: i64, %late: i1) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  cf.br ^head(%c0, %c1, %c2, %c2 : i64, i64, i64, i64)
^head(%i: i64, %a: i64, %b: i64, %unused: i64):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end(%a, %a, %b : i64, i64, i64)
^body:
  %next = arith.addi %i, %c1 : i64
  cf.cond_br %late, ^wait(%b, %b : i64, i64), ^head(%next, %b, %a, %a : i64, i64, i64, i64)
^wait(%x: i64, %y: i64):
  %t, %v = async.execute -> !async.value<i64> {
    %s = arith.addi %x, %y : i64
    async.yield %s : i64
  }
  %sum = async.await %v : !async.value<i64>
  cf.br ^head(%next, %sum, %a, %sum : i64, i64, i64, i64)
^end(%p: i64, %q: i64, %r: i64):
  return %p, %q, %r : i64, i64, i64
}

func.func @main() {
  %n = arith.constant 5 : i64
  %no = arith.constant 0 : i1
  %yes = arith.constant 1 : i1
  %r:3 = call @turn(%n, %no) : (i64, i1) -> (i64, i64, i64)
  vector.print %r#0 : i64
  vector.print %r#1 : i64
  vector.print %r#2 : i64
  %s:3 = call @turn(%n, %yes) : (i64, i1) -> (i64, i64, i64)
  vector.print %s#0 : i64
  vector.print %s#1 : i64
  vector.print %s#2 : i64
  return
}

// (a, b) becomes (b, a) five times.
// CHECK: Running 'main'
// CHECK-NEXT: {{^}}2{{$}}
// CHECK-NEXT: {{^}}2{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// (a, b) becomes (2 b, a): (1, 2), (4, 1), (2, 4), (8, 2), (4, 8), (16, 4).
// CHECK-NEXT: {{^}}16{{$}}
// CHECK-NEXT: {{^}}16{{$}}
// CHECK-NEXT: {{^}}4{{$}}
