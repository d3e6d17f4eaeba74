// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --split-input-file --verify-diagnostics %s

func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  %k = tfrt.add.i32 %a, %a
  // expected-error@+1 {{type mismatch for argument #0 of '^bb4': it is 'i64', not 'i32'}}
  cf.br ^bb4(%a : i32)
^bb2:
  // expected-error@+1 {{operand #0 does not dominate this use: '%k' is not known yet here}}
  cf.br ^bb3(%k, %c : i32, i1)
^bb3(%r: i32, %d: i1):
  // expected-error@+1 {{type of return operand 0 ('i1') doesn't match function result type ('i32')}}
  func.return %d : i1
^bb4(%q: i64):
  // expected-error@+1 {{hands 0 operands to '^bb3', which has 2 arguments}}
  cf.br ^bb3
}

// -----

func.func @ends(%c: i1) {
  cf.br ^bb1
^bb1:
  // expected-error@+1 {{block '^bb1' has no terminator: it must end in a return or a branch}}
  %0 = tfrt.constant.i32 1
^bb2:
  // expected-error@+1 {{needs 2 successors, and has 1}}
  "cf.cond_br"(%c)[^bb1] : (i1) -> ()
^bb3:
  // expected-error@+3 {{doesn't say which of its operands successor #0 gets}}
  // expected-error@+2 {{doesn't say which of its operands successor #1 gets}}
  // expected-error@+1 {{needs 1 successor, and has 2}}
  "cf.br"()[^bb1, ^bb2] : () -> ()
}

// -----

"func.func"() ({
^bb0:
  // expected-error@+2 {{goes to '^bb0', and an entry block can't have predecessors}}
  // expected-error@+1 {{can't have successors}}
  "tfrt.return"()[^bb0] : () -> ()
}) {sym_name = "entry", function_type = () -> ()} : () -> ()

// -----

func.func @missing() {
  // expected-error@+1 {{reference to an undefined block '^nowhere'}}
  cf.br ^nowhere
}

// -----

func.func @twice() {
  cf.br ^a
^a:
  cf.br ^b
// expected-error@+1 {{redefinition of block '^a'}}
^a:
  return
^b:
  return
}

// -----

func.func @cases(%x: f32) {
  // expected-error@+1 {{a switch is on i8, i16, i32 or i64 here}}
  cf.switch %x : f32, [ default: ^a ]
^a:
  return
}

// -----

func.func @middle(%c: i1) {
  // expected-error@+1 {{can't have successors}}
  "cf.assert"(%c)[^a] {msg = ""} : (i1) -> ()
  // expected-error@+1 {{must be the last operation in the parent block}}
  cf.br ^a
  cf.br ^a
^a:
  return
}

// -----

// An op that nobody knows is named as that, also where it has a region or ends a function.
func.func @unknown() {
  // expected-error@+2 {{'foo.bar' is an op of an unregistered dialect}}
  // expected-error@+1 {{'foo.baz' is an op of an unregistered dialect}}
  "foo.bar"() ({ "foo.baz"() : () -> () }) : () -> ()
}
