// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -bef-to-mlir %s.bef | tfrt_opt -allow-unregistered-dialect | FileCheck %s
// RUN: tfrt_opt -allow-unregistered-dialect %s | FileCheck %s

// Attributes are written as MLIR's printer does.
// CHECK: func.func private @native(i32) -> i32 attributes {tfrt.native}
func.func private @native(%x: i32) -> i32 attributes {tfrt.native}

// CHECK-LABEL: func.func @arrays()
func.func @arrays() {
  // In an array, a number says no type that it would have without.
  // CHECK-NEXT: {a = [1, -2], b = [1 : i32, 2], c = 3 : i64}
  "x.y"() {a = [1, -2 : i64], b = [1 : i32, 2 : i64], c = 3} : () -> ()
  // CHECK-NEXT: {a = [1.500000e+00], b = [1.500000e+00 : f32], c = [0x7FF8000000000000 : f64]}
  "x.y"() {a = [1.5], b = [1.5 : f32], c = [0x7FF8000000000000 : f64]} : () -> ()
  // CHECK-NEXT: {a = [true, false], b = ["one", [2, 3 : i8]]}
  "x.y"() {a = [true, false], b = ["one", [2 : i64, 3 : i8]]} : () -> ()
  tfrt.return
}

// CHECK-LABEL: func.func @tensors()
func.func @tensors() {
  // All elements the same, or only one: written once.
  // CHECK-NEXT: dense<7> : tensor<1xi32>
  "x.y"() {a = dense<[7]> : tensor<1xi32>} : () -> ()
  // CHECK-NEXT: dense<7> : tensor<2x2xi8>
  "x.y"() {a = dense<[[7, 7], [7, 7]]> : tensor<2x2xi8>} : () -> ()
  // CHECK-NEXT: dense<[7, 8]> : tensor<2xi32>
  "x.y"() {a = dense<[7, 8]> : tensor<2xi32>} : () -> ()
  // CHECK-NEXT: dense<true> : tensor<3xi1>
  "x.y"() {a = dense<[true, true, true]> : tensor<3xi1>} : () -> ()
  // CHECK-NEXT: dense<> : tensor<0xf32>
  "x.y"() {a = dense<> : tensor<0xf32>} : () -> ()
  tfrt.return
}

// Values have numbers, and the bodies of ops the names of what they are given.
// CHECK-LABEL: func.func @names(%arg0: i1, %arg1: i32) -> i32
func.func @names(%choice: i1, %number: i32) -> i32 {
  // CHECK-NEXT: %0:2 = tfrt.div.i32 %arg1, %arg1
  %quotient, %rest = tfrt.div.i32 %number, %number
  // CHECK-NEXT: %1 = tfrt.if %arg0, %0#1 : (i32) -> (i32) {
  %result = tfrt.if %choice, %rest : (i32) -> i32 {
    // CHECK-NEXT: tfrt.return %0#1 : i32
    tfrt.return %rest : i32
  } else {
    // CHECK: %{{.*}} = tfrt.add.i32 %0#1, %0#1
    %sum = tfrt.add.i32 %rest, %rest
    tfrt.return %sum : i32
  }
  // CHECK: tfrt.return %1 : i32
  tfrt.return %result : i32
}
