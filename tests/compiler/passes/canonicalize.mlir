// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -canonicalize %s | FileCheck %s
// RUN: tfrt_opt --keep-value-names -canonicalize %s | tfrt_opt --keep-value-names -canonicalize | FileCheck %s

// A merge of one chain is that chain.
// CHECK-LABEL: func.func @one
// CHECK-NEXT: tfrt.return %ch, %ch
func.func @one(%ch: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %m = tfrt.merge.chains %ch : !tfrt.chain
  tfrt.return %m, %ch : !tfrt.chain, !tfrt.chain
}

// But for an argument that is used nowhere else.
// CHECK-LABEL: func.func @only
// CHECK-NEXT: tfrt.merge.chains %ch : !tfrt.chain
func.func @only(%ch: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %ch : !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// A merge of another value makes a chain of it.
// CHECK-LABEL: func.func @value
// CHECK-NEXT: tfrt.merge.chains %x : i32
func.func @value(%x: i32) -> (!tfrt.chain, i32) {
  %m = tfrt.merge.chains %x, %x : i32, i32
  tfrt.return %m, %x : !tfrt.chain, i32
}

// Other uses of an operand keep no order: both stay.
// CHECK-LABEL: func.func @other_uses
// CHECK: tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
func.func @other_uses(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %a = tfrt.print.i32 %x, %ch
  %b = tfrt.print.i32 %x, %ch
  %m = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  tfrt.return %m, %a, %b : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// What another operand waits for, directly or over others, need not be waited for.
// CHECK-LABEL: func.func @covered
// CHECK: %[[C:.*]] = tfrt.print.i32 %x, %b
// CHECK-NEXT: tfrt.return %[[C]]
func.func @covered(%ch: !tfrt.chain, %x: i32) -> !tfrt.chain {
  %a = tfrt.print.i32 %x, %ch
  %b = tfrt.print.i32 %x, %a
  %c = tfrt.print.i32 %x, %b
  %m = tfrt.merge.chains %ch, %a, %x, %c, %a : !tfrt.chain, !tfrt.chain, i32, !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// A call waits for nothing, so its results may be there before its operands.
// CHECK-LABEL: func.func @call
// CHECK: tfrt.merge.chains %a, %r : !tfrt.chain, !tfrt.chain
func.func @call(%ch: !tfrt.chain, %x: i32) -> !tfrt.chain {
  %a = tfrt.print.i32 %x, %ch
  %r = tfrt.call @only(%a) : (!tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %a, %r : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// Nor does an op of which that is said, and nobody knows what an unknown one does.
// CHECK-LABEL: func.func @unknown
// CHECK: tfrt.merge.chains %a, %r, %s : !tfrt.chain, !tfrt.chain, !tfrt.chain
func.func @unknown(%ch: !tfrt.chain, %x: i32) -> !tfrt.chain {
  %a = tfrt.print.i32 %x, %ch
  %r = "tfrt.unknown"(%a) : (!tfrt.chain) -> !tfrt.chain
  %s = "tfrt.print.i32"(%x, %a) {bef.nonstrict} : (i32, !tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %a, %r, %s : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// Merges of merges become one, in order, unless somebody else waits for them.
// CHECK-LABEL: func.func @nested
// CHECK: %d = tfrt.print.i32 %y, %ch
// CHECK-NEXT: %m = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
// CHECK-NEXT: %o = tfrt.merge.chains %d, %x, %m : !tfrt.chain, i32, !tfrt.chain
// CHECK-NEXT: tfrt.return %o, %m
func.func @nested(%ch: !tfrt.chain, %x: i32, %y: i32) -> (!tfrt.chain, !tfrt.chain) {
  %a = tfrt.print.i32 %y, %ch
  %b = tfrt.print.i32 %y, %ch
  %d = tfrt.print.i32 %y, %ch
  %m = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  %n = tfrt.merge.chains %d, %x : !tfrt.chain, i32
  %o = tfrt.merge.chains %n, %m, %a : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %o, %m : !tfrt.chain, !tfrt.chain
}

// Pure ops and merges that nobody uses go; what prints stays.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: tfrt.print.i32 %x, %ch
// CHECK-NEXT: tfrt.return
func.func @unused(%ch: !tfrt.chain, %x: i32) {
  %one = tfrt.constant.i32 1
  %new = tfrt.new.chain
  %a = tfrt.print.i32 %x, %ch
  %q, %r = tfrt.div.i32 %x, %x
  %m = tfrt.merge.chains %a, %one, %new : !tfrt.chain, i32, !tfrt.chain
  tfrt.return
}

// In regions, too.
// CHECK-LABEL: func.func @region
// CHECK: tfrt.repeat.i32 %n, %ch : !tfrt.chain {
// CHECK-NEXT: tfrt.return %ch
func.func @region(%n: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %r = tfrt.repeat.i32 %n, %ch : !tfrt.chain {
    %one = tfrt.constant.i32 1
    %m = tfrt.merge.chains %ch, %ch : !tfrt.chain, !tfrt.chain
    %o = tfrt.merge.chains %m, %ch : !tfrt.chain, !tfrt.chain
    tfrt.return %o : !tfrt.chain
  }
  tfrt.return %r : !tfrt.chain
}

// A synchronous function may not return what it was given.
// CHECK-LABEL: func.func @synchronous
// CHECK-NEXT: tfrt.merge.chains
func.func @synchronous(%ch: !tfrt.chain) -> !tfrt.chain attributes {tfrt.sync} {
  %m = tfrt.merge.chains %ch, %ch : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// Of two equal pure ops the first is enough.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %a = tfrt.add.i32 %x, %y
// CHECK-NEXT: %c = tfrt.add.i32 %y, %x
// CHECK-NEXT: %d = tfrt.add.i32 %a, %c
// CHECK-NEXT: tfrt.return %d, %d
func.func @twice(%x: i32, %y: i32) -> (i32, i32) {
  %a = tfrt.add.i32 %x, %y
  %b = tfrt.add.i32 %x, %y
  %c = tfrt.add.i32 %y, %x
  %d = tfrt.add.i32 %a, %c
  %e = tfrt.add.i32 %b, %c
  tfrt.return %d, %e : i32, i32
}

// Other attributes make another op.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT: %a = tfrt.constant.i32 1
// CHECK-NEXT: %b = tfrt.constant.i32 2
// CHECK-NEXT: tfrt.return %a, %b, %a
func.func @attributes() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %c = tfrt.constant.i32 1
  tfrt.return %a, %b, %c : i32, i32, i32
}

// Two new tensors are two: somebody may write to one of them. Nor is a tensor the same that was
// written to in between.
// CHECK-LABEL: func.func @tensors
// CHECK: %u = tfrt_tensor.relu %t, %d
// CHECK-NEXT: %v = tfrt_tensor.relu %t, %d
// CHECK: tfrt.return %u, %v, %f
func.func @tensors(%t: !tfrt_tensor.tensor, %ch: !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) {
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 2.0 : f32
  %u = tfrt_tensor.relu %t, %d
  %v = tfrt_tensor.relu %t, %d
  %f = tfrt_dht.fill_tensor_with_constant.f32 %v, %d 3.0 : f32
  tfrt.return %u, %v, %f : !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain
}

// The hazard of algebra: an alias is its operand, and comes behind a chain, too. Without it the
// print would not wait for the write. Nor may the sum of nothing but zeros take its place.
// CHECK-LABEL: func.func @hazard
// CHECK: %d = tfrt_dht.fill_tensor_with_constant.f32
// CHECK: %v = "tfrt.alias.value"(%d, %t)
// CHECK-NEXT: %e = tfrt_dht.print_tensor %v, %ch
// CHECK-NEXT: %y = "tfrt.alias.value"(%e, %x)
// CHECK-NEXT: %z = tfrt.add.i32 %y, %zero
// CHECK-NEXT: tfrt.print.i32 %z, %ch
func.func @hazard(%t: !tfrt_tensor.tensor, %x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 2.0 : f32
  %v = "tfrt.alias.value"(%d, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %e = tfrt_dht.print_tensor %v, %ch
  %y = "tfrt.alias.value"(%e, %x) : (!tfrt.chain, i32) -> i32
  %z = tfrt.add.i32 %y, %zero
  %f = tfrt.print.i32 %z, %ch
  tfrt.return %f : !tfrt.chain
}

// Pure ops of constants are run by their kernels: integers wrap around, division rounds to zero.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %sum = tfrt.constant.i32 -2147483648
// CHECK-NEXT: %q = tfrt.constant.i32 -3
// CHECK-NEXT: %r = tfrt.constant.i32 -1
// CHECK-NEXT: %same = tfrt.constant.i1 false
// CHECK-NEXT: %wide = tfrt.constant.i64 -9223372036854775808
// CHECK-NEXT: tfrt.return %sum, %q, %r, %same, %wide
func.func @constants() -> (i32, i32, i32, i1, i64) {
  %max = tfrt.constant.i32 2147483647
  %one = tfrt.constant.i32 1
  %ten = tfrt.constant.i32 -10
  %three = tfrt.constant.i32 3
  %big = tfrt.constant.i64 9223372036854775807
  %step = tfrt.constant.i64 1
  %sum = tfrt.add.i32 %max, %one
  %q, %r = tfrt.div.i32 %ten, %three
  %same = tfrt.equal.i32 %sum, %q
  %wide = tfrt.add.i64 %big, %step
  tfrt.return %sum, %q, %r, %same, %wide : i32, i32, i32, i1, i64
}

// Floats are what the kernels make of them, to the bit.
// CHECK-LABEL: func.func @floats
// CHECK-NEXT: %a = tfrt.constant.f32 0x7F800000
// CHECK-NEXT: %b = tfrt.constant.f64 0.30000000000000004
// CHECK-NEXT: tfrt.return %a, %b
func.func @floats() -> (f32, f64) {
  %max = tfrt.constant.f32 3.0e38
  %x = tfrt.constant.f64 0.1
  %y = tfrt.constant.f64 0.2
  %a = tfrt.add.f32 %max, %max
  %b = tfrt.add.f64 %x, %y
  tfrt.return %a, %b : f32, f64
}

// Values that no constant can say, such as shapes, may lie in between.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: %same = tfrt.constant.i1 true
// CHECK-NEXT: tfrt.return %same
func.func @between() -> i1 {
  %a = ts.build_shape [2 : i64, 3 : i64]
  %b = ts.build_shape [2 : i64, 3 : i64]
  %same = ts.equal_shape %a, %b
  tfrt.return %same : i1
}

// An op that fails stays, and so do those behind it.
// CHECK-LABEL: func.func @failing
// CHECK: %q, %r = tfrt.div.i32 %one, %zero
// CHECK-NEXT: %s = tfrt.add.i32 %q, %one
// CHECK-NEXT: tfrt.return %s, %one
func.func @failing() -> (i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %q, %r = tfrt.div.i32 %one, %zero
  %s = tfrt.add.i32 %q, %one
  %t = tfrt.add.i32 %zero, %one
  tfrt.return %s, %t : i32, i32
}

// An op behind a chain stays: a constant would not come behind it.
// CHECK-LABEL: func.func @behind
// CHECK: %p = "tfrt.multiply.f32"(%x, %x, %ch)
// CHECK: tfrt.return %p
func.func @behind(%ch: !tfrt.chain) -> f32 {
  %x = tfrt.constant.f32 2.0
  %p = "tfrt.multiply.f32"(%x, %x, %ch) : (f32, f32, !tfrt.chain) -> f32
  tfrt.return %p : f32
}

// In regions, with constants of their own.
// CHECK-LABEL: func.func @folded_region
// CHECK: tfrt.repeat.i32 %n, %x : i32 {
// CHECK-NEXT: %c = tfrt.constant.i32 5
// CHECK-NEXT: %d = tfrt.add.i32 %x, %c
// CHECK-NEXT: tfrt.return %d
func.func @folded_region(%n: i32, %x: i32) -> i32 {
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %a = tfrt.constant.i32 2
    %b = tfrt.constant.i32 3
    %c = tfrt.add.i32 %a, %b
    %d = tfrt.add.i32 %x, %c
    tfrt.return %d : i32
  }
  tfrt.return %r : i32
}
