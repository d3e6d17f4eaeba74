// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef -split-input-file -verify-diagnostics %s
// RUN: mlir_to_bef -split-input-file -verify-diagnostics %s
// RUN: not tfrt_translate -mlir-to-bef -split-input-file %s 2>&1 | FileCheck %s

// What TFRT's translator says, too.
// expected-error@+5 {{all functions need to have a tfrt.return}}
// CHECK: errors.mlir:[[#@LINE+4]]:8: error: all functions need to have a tfrt.return
// CHECK-NEXT: {{^}}  %x = "some.op"() : () -> i32{{$}}
// CHECK-NEXT: {{^       \^$}}
func.func @no_return() -> i32 {
  %x = "some.op"() : () -> i32
}

// -----

// expected-error @below {{external functions are not allowed}}
func.func private @external() -> i32

// -----

func.func @missing_function() {
  %a = tfrt.constant.i32 1
  // expected-error @+1 {{function @missing not defined}}
  "some.call"(%a) {name = @missing} : (i32) -> ()
  tfrt.return
}

// -----

func.func @missing_callee() {
  %a = tfrt.constant.i32 1
  tfrt.call @missing(%a) : (i32) -> () // expected-error {{'missing' does not reference a valid function}}
  tfrt.return
}

// -----

func.func @attribute() {
  "some.op"() {type = tensor<1xf32>} : () -> i32
  // expected-error @above {{BEF files cannot encode the 'type' attribute}}
  tfrt.return
}

// -----

func.func @returns_argument(%a: i32) -> i32 attributes {tfrt.sync} {
  tfrt.return %a : i32
  // expected-error @-1 {{return value 0 is an argument in a sync function}}
}

// -----

func.func @returns_twice() -> (i32, i32) attributes {tfrt.sync} {
  %a = tfrt.constant.i32 1
  // expected-error @+1 {{return value 1 is duplicated in a sync function}}
  tfrt.return %a, %a : i32, i32
}

// -----

// Notes are expected like errors, and several on a line one by one.
// expected-note @+1 {{previously defined here}}
func.func @names(%a: i32) {
  // expected-error @below {{redefinition of SSA value '%a'}}
  // expected-error @+1 {{use of undeclared value '%b'}}
  %a = tfrt.add.i32 %a, %b
  tfrt.return
}

// -----

func.func @fine() {
  tfrt.return
}

// -----

func.func @large() {
  // expected-error @+1 {{the shape of 'tensor<4611686018427387904x4xi32>' has more than 2^63 - 1 elements}}
  %a = tfrt_tensor.constant dense<1> : tensor<4611686018427387904x4xi32>
  tfrt.return
}

// -----

func.func @unknown_shape() {
  // expected-error @+1 {{a dense attribute needs a tensor or vector type of known shape}}
  %a = tfrt_tensor.constant dense<1> : tensor<?x4xi32>
  tfrt.return
}
