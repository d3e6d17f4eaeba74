// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -bef-to-mlir %s.bef | FileCheck %s
// RUN: tfrt_translate --mlir-to-bef %s | tfrt_translate --bef-to-mlir | tfrt_opt -allow-unregistered-dialect | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef --disable-optional-sections=true %s | \
// RUN:   tfrt_translate --bef-to-mlir --mlir-print-op-generic 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: tfrt_translate -mlir-to-bef %s -o %t && cmp %t %s.bef && mlir_to_bef < %s | tfrt_translate -bef-to-mlir | FileCheck %s
// RUN: not tfrt_opt %s 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: od -t x1 %s.bef | FileCheck %s --check-prefix=MAGIC

// MAGIC: 0000000 0b ef 00

// BARE: warning: Missing AttributeTypes, AttributeNames or RegisterTypes sections.
// BARE: "func.func"() <{{[{].*}}sym_name = "f"
// BARE-NEXT: %[[A:.*]] = "tfrt.constant.i32"() {value = 42 : i32} : () -> !bef.unknown
// BARE-NEXT: %[[B:.*]] = "someone.op"(%[[A]]) {attribute0 = #bef.unknown<{{[0-9]+}}>, attribute1 = #bef.unknown<{{[0-9]+}}>} : (!bef.unknown) -> i32
// BARE-NEXT: "tfrt.return"(%[[B]]) : (i32) -> ()

// DIALECT: round_trip.mlir:[[#@LINE+9]]:8: error: 'someone.op' is an op of an unregistered dialect
// DIALECT-NEXT: %1 = "someone.op"(%0)
// DIALECT-NEXT: {{^ *\^$}}

// CHECK-LABEL: func.func @f() -> i32
func.func @f() -> i32 {
  // CHECK-NEXT: %[[A:.*]] = tfrt.constant.i32 42
  %0 = tfrt.constant.i32 42
  // CHECK-NEXT: %[[B:.*]] = "someone.op"(%[[A]]) {a = 1 : i64, b = "text"} : (i32) -> i32
  %1 = "someone.op"(%0) {b = "text", a = 1 : i64} : (i32) -> i32
  // CHECK-NEXT: tfrt.return %[[B]] : i32
  tfrt.return %1 : i32
}
