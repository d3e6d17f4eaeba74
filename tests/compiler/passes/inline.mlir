// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -inline %s | FileCheck %s
// RUN: tfrt_opt --keep-value-names -inline %s | tfrt_opt --keep-value-names -inline | FileCheck %s
// RUN: tfrt_opt --keep-value-names -inline --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC

// A private function that is called nowhere any more goes, and what only it calls.
// CHECK-NOT: @gone
func.func private @gone(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %two = tfrt.call @gone_too() : () -> i32
  %sum = tfrt.add.i32 %x, %two
  %done = tfrt.print.i32 %sum, %ch
  tfrt.return %done, %sum : !tfrt.chain, i32
}
func.func private @gone_too() -> i32 {
  %two = tfrt.constant.i32 2
  tfrt.return %two : i32
}

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[CH:.*]]: !tfrt.chain, %[[X:.*]]: i32)
func.func @plain(%ch: !tfrt.chain, %x: i32) -> (i32, !tfrt.chain) {
  // CHECK-NEXT: %[[TWO:.*]] = tfrt.constant.i32 2
  // CHECK-NEXT: %[[SUM:.*]] = tfrt.add.i32 %[[X]], %[[TWO]]
  // CHECK-NEXT: %[[DONE:.*]] = tfrt.print.i32 %[[SUM]], %[[CH]]
  // CHECK-NEXT: tfrt.return %[[SUM]], %[[DONE]] : i32, !tfrt.chain
  %r:2 = tfrt.call @gone(%ch, %x) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  tfrt.return %r#1, %r#0 : i32, !tfrt.chain
}

// A body that hands on what it is given; twice, and without a result.
// CHECK-LABEL: func.func @swap
// CHECK-NEXT: tfrt.return %b, %a : i32, i1
func.func @swap(%a: i1, %b: i32) -> (i32, i1) {
  tfrt.return %b, %a : i32, i1
}
// CHECK-LABEL: func.func @swap_twice
// CHECK-NEXT: tfrt.return %b, %a : i32, i1
func.func @swap_twice(%a: i1, %b: i32) -> (i32, i1) {
  %0:2 = tfrt.call @swap(%a, %b) : (i1, i32) -> (i32, i1)
  %1:2 = tfrt.call @swap(%0#1, %0#0) : (i1, i32) -> (i32, i1)
  tfrt.call @swap(%a, %b) : (i1, i32) -> (i32, i1)
  tfrt.return %1#0, %1#1 : i32, i1
}

// Into regions, and with regions.
// CHECK-LABEL: func.func @choose
func.func @choose(%c: i1, %x: i32) -> i32 {
  %r = tfrt.if %c, %x : (i32) -> (i32) {
    %y = tfrt.call @swap_one(%x) : (i32) -> i32
    tfrt.return %y : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}
func.func @swap_one(%x: i32) -> i32 {
  %n = tfrt.constant.i32 1
  %r = tfrt.add.i32 %x, %n
  tfrt.return %r : i32
}
// CHECK-LABEL: func.func @choose_twice
// CHECK: tfrt.if %c, %x : (i32) -> (i32) {
// CHECK-NEXT: %[[N:.*]] = tfrt.constant.i32 1
// CHECK-NEXT: %[[R:.*]] = tfrt.add.i32 %x, %[[N]]
// CHECK-NEXT: tfrt.return %[[R]] : i32
// CHECK: tfrt.if %c, %[[FIRST:.*]] : (i32) -> (i32) {
// CHECK-NEXT: tfrt.constant.i32 1
// CHECK-NOT: tfrt.call
// CHECK-LABEL: func.func @circle
func.func @choose_twice(%c: i1, %x: i32) -> i32 {
  %a = tfrt.call @choose(%c, %x) : (i1, i32) -> i32
  %b = tfrt.call @choose(%c, %a) : (i1, i32) -> i32
  tfrt.return %b : i32
}

// Functions that call each other in a circle keep these calls, and are called by others.
// CHECK-NEXT: tfrt.call @circle_back(%x)
func.func @circle(%x: i32) -> i32 {
  %y = tfrt.call @circle_back(%x) : (i32) -> i32
  tfrt.return %y : i32
}
// CHECK-LABEL: func.func private @circle_back
// CHECK-NEXT: %[[N:.*]] = tfrt.constant.i32 1
// CHECK-NEXT: %[[R:.*]] = tfrt.add.i32 %x, %[[N]]
// CHECK-NEXT: tfrt.call @circle(%[[R]])
func.func private @circle_back(%x: i32) -> i32 {
  %z = tfrt.call @swap_one(%x) : (i32) -> i32
  %y = tfrt.call @circle(%z) : (i32) -> i32
  tfrt.return %y : i32
}

// A call that means more than the body stays, and so does its callee.
// CHECK-LABEL: func.func private @far
func.func private @far(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// CHECK-LABEL: func.func @options
// CHECK-NEXT: tfrt.call @far(%x) {host = 1 : i32}
// CHECK-NEXT: tfrt.call @far(%{{.*}}) {deadline_ms = 100 : i32}
// CHECK-NEXT: tfrt.return
func.func @options(%x: i32) -> i32 {
  %a = tfrt.call @far(%x) {host = 1 : i32} : (i32) -> i32
  %b = tfrt.call @far(%a) {deadline_ms = 100 : i32} : (i32) -> i32
  %c = tfrt.call @far(%b) : (i32) -> i32
  tfrt.return %c : i32
}
func.func private @native(%x: i32) -> i32 attributes {tfrt.native}
// CHECK-LABEL: func.func @calls_native
// CHECK-NEXT: tfrt.call @native
func.func @calls_native(%x: i32) -> i32 {
  %a = tfrt.call @native(%x) : (i32) -> i32
  tfrt.return %a : i32
}

// What an op names otherwise stays as well.
// CHECK-LABEL: func.func private @yes
func.func private @yes(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// CHECK-LABEL: func.func @condition
// CHECK-NEXT: tfrt.cond %c @yes @yes
func.func @condition(%c: i1, %x: i32) -> i32 {
  %a = tfrt.cond %c @yes @yes (%x) : (i32) -> (i32)
  tfrt.return %a : i32
}

// LOC-LABEL: func.func @plain
// LOC-NEXT: %two = tfrt.constant.i32 2 loc(callsite(callsite("{{.*}}inline.mlir":15:10 at "{{.*}}inline.mlir":9:10) at "{{.*}}inline.mlir":26:10))
// LOC: tfrt.return {{.*}} loc("{{.*}}inline.mlir":27:3)
