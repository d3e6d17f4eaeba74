// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names %s | FileCheck %s
// RUN: tfrt_opt --keep-value-names %s | tfrt_opt --keep-value-names | FileCheck %s
// RUN: tfrt_opt --mlir-print-op-generic %s | tfrt_opt | FileCheck %s --check-prefix=AGAIN
// RUN: tfrt_opt --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC

// Blocks stand in the order of their labels, whoever goes to them first.
// CHECK-LABEL: func.func @all
// AGAIN-LABEL: func.func @all
// GENERIC: ^bb0(%arg3: i1, %arg4: i32):
func.func @all(%c: i1, %x: i32) -> i32 {
  // CHECK-NEXT: cf.cond_br %c weights([1, 2]), ^bb1(%x : i32), ^bb2
  // AGAIN-NEXT: cf.cond_br %arg0 weights([1, 2]), ^bb1(%arg1 : i32), ^bb2
  // GENERIC-NEXT: "cf.cond_br"(%arg3, %arg4)[^bb1, ^bb2] <{branch_weights = array<i32: 1, 2>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
  cf.cond_br %c weights([1, 2]), ^first(%x : i32), ^second
// CHECK-NEXT: ^bb1(%a: i32):
// AGAIN-NEXT: ^bb1(%arg2: i32):
// GENERIC-NEXT: ^bb1(%1: i32):  // 3 preds: ^bb0, ^bb2, ^bb2
^first(%a: i32):
  // CHECK-NEXT: cf.br ^bb3(%a, %c : i32, i1) {foo = 1 : i32}
  // AGAIN-NEXT: cf.br ^bb3(%arg2, %arg0 : i32, i1) {foo = 1 : i32}
  // GENERIC-NEXT: "cf.br"(%1, %arg3)[^bb3] {foo = 1 : i32} : (i32, i1) -> ()
  cf.br ^last(%a, %c : i32, i1) {foo = 1 : i32}
// CHECK-NEXT: ^bb2:
^second:
  // CHECK-NEXT: cf.switch %x : i32, [
  // CHECK-NEXT:   default: ^bb3(%x, %c : i32, i1),
  // CHECK-NEXT:   -42: ^bb1(%x : i32),
  // CHECK-NEXT:   43: ^bb1(%x : i32)
  // CHECK-NEXT: ]
  // GENERIC: "cf.switch"(%arg4, %arg4, %arg3, %arg4, %arg4)[^bb3, ^bb1, ^bb1] <{case_operand_segments = array<i32: 1, 1>, case_values = dense<[-42, 43]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 2, 2>}> : (i32, i32, i1, i32, i32) -> ()
  cf.switch %x : i32, [
    default: ^last(%x, %c : i32, i1),
    -42: ^first(%x : i32),
    43: ^first(%x : i32)
  ]
// CHECK-NEXT: ^bb3(%r: i32, %d: i1):
^last(%r: i32, %d: i1):
  // CHECK-NEXT: cf.assert %d, "not \22d\22"
  cf.assert %d, "not \22d\22"
  // CHECK-NEXT: return %r : i32
  return %r : i32
}

// A value is seen in the blocks that its own dominates, around a loop too, and anywhere in what
// can't be reached.
// CHECK-LABEL: func.func @dominated
func.func @dominated(%n: i1) -> i1 {
  cf.br ^loop(%n : i1)
^loop(%i: i1):
  cf.cond_br %i, ^loop(%n : i1), ^end
^dead:
  cf.cond_br %i, ^dead, ^end
^end:
  func.return %i : i1
}

// A switch without cases, and one on another width.
func.func @switches(%a: i64, %b: i8) {
  // CHECK: cf.switch %a : i64, [
  // CHECK-NEXT: default: ^bb1
  // CHECK-NEXT: ]
  cf.switch %a : i64, [ default: ^next ]
^next:
  // CHECK: -128: ^bb2
  cf.switch %b : i8, [ default: ^next_2, -128: ^next_2, 127: ^next_2 ]
^next_2:
  return
}
