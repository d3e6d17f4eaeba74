// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --merge-chains %s | FileCheck %s

// Merges become one, without what others imply; pure ops stay as they are.
// CHECK-LABEL: func.func @merges
// CHECK-NEXT: %x = tfrt.add.i32 %a, %a
// CHECK-NEXT: %unused = tfrt.add.i32 %a, %a
// CHECK-NEXT: %d = tfrt.print.i32 %x, %c
// CHECK-NEXT: %[[ALL:.*]] = tfrt.merge.chains %d, %b : !tfrt.chain, !tfrt.chain
// CHECK-NEXT: tfrt.return %[[ALL]]
func.func @merges(%a: i32, %b: !tfrt.chain, %c: !tfrt.chain) -> !tfrt.chain {
  %x = tfrt.add.i32 %a, %a
  %unused = tfrt.add.i32 %a, %a
  %d = tfrt.print.i32 %x, %c
  %m = tfrt.merge.chains %c, %d, %d : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %n = tfrt.merge.chains %m, %b : !tfrt.chain, !tfrt.chain
  %o = tfrt.merge.chains %n : !tfrt.chain
  tfrt.return %o : !tfrt.chain
}
