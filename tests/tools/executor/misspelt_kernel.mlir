// SPDX-License-Identifier: Apache-2.0
// RUN: bef_executor %s.bef

// A kernel that nobody has: one with a similar name may be meant.
func.func @f() {
  // expected-error@+1 {{unknown kernel name 'tfrt.constnt.i32'; did you mean 'tfrt.constant.i32'?}}
  %x = "tfrt.constnt.i32"() {value = 1 : i32} : () -> i32
  tfrt.return
}
