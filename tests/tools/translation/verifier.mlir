// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt %s -split-input-file --verify-diagnostics | FileCheck %s

// What the verifier says of ops, as TFRT's does. A piece that is wrong has no text.
func.func @returns_too_much(%x: i32) {
  // expected-error @+1 {{'tfrt.return' op has 1 operands, but enclosing function returns 0}}
  tfrt.return %x : i32
}

// -----

func.func @returns_another(%x: i32) -> !tfrt.chain {
  // expected-error @+1 {{type of return operand 0 ('i32') doesn't match function result type ('!tfrt.chain')}}
  tfrt.return %x : i32
}

// -----

func.func @yields_too_much(%c: i1, %x: i32) -> i32 {
  tfrt.if %c, %x : (i32) -> () {
    // expected-error @+1 {{'tfrt.return' op operand types don't match 'tfrt.if' result}}
    tfrt.return %x : i32
  }
  tfrt.return %x : i32
}

// -----

func.func @cost(%x: i32) -> i32 {
  // expected-error @+1 {{op cost value must be larger than 0}}
  %r = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 0 : i64} : i32
  tfrt.return %r : i32
}

// -----

func.func @result_type() {
  // expected-error @+1 {{'tfrt.new.chain' op result #0 must be !tfrt.chain type}}
  %a = "tfrt.new.chain"() : () -> i64
  tfrt.return
}

// -----

// CHECK-NOT: @cost
// CHECK: func.func @right
func.func @right() {
  tfrt.return
}
