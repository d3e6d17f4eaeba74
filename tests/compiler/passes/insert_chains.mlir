// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names %s | tfrt_opt --keep-value-names | FileCheck %s --check-prefix=TEXT
// RUN: tfrt_opt --mlir-print-op-generic --keep-value-names %s | tfrt_opt --keep-value-names | FileCheck %s --check-prefix=TEXT
// RUN: tfrt_opt --keep-value-names --insert-chains %s | FileCheck %s
// RUN: tfrt_opt --keep-value-names --insert-chains %s | tfrt_opt --keep-value-names --insert-chains | FileCheck %s

// The writer waits for the readers, the readers for the writer, and not for each other.
// TEXT-LABEL: func.func @tensor
// TEXT: tfrt_dht.fill_tensor_with_constant.f32 %t 2.000000e+00 : f32
// TEXT-NEXT: %u = tfrt_tensor.relu %t
// TEXT-NEXT: %e = tfrt_dht.tensor_equal.f32 %t, %t
// TEXT-NEXT: tfrt_dht.fill_tensor_with_constant.f32 %t 3.000000e+00 : f32
// CHECK-LABEL: func.func @tensor
// CHECK: %[[NEW:.*]] = tfrt.new.chain
// CHECK-NEXT: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t, %[[NEW]] 2.000000e+00 : f32
// CHECK-NEXT: %u = tfrt_tensor.relu %t, %[[FILL]]
// CHECK-NEXT: %[[EQUAL:.*]]:2 = tfrt_dht.tensor_equal.f32 %t, %t, %[[FILL]]
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %u, %[[EQUAL]]#1 : !tfrt_tensor.tensor, !tfrt.chain
// CHECK-NEXT: tfrt_dht.fill_tensor_with_constant.f32 %t, %[[BOTH]] 3.000000e+00 : f32
func.func @tensor() -> (!tfrt_tensor.tensor, i1) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 2.0 : f32
  %u = tfrt_tensor.relu %t
  %e = tfrt_dht.tensor_equal.f32 %t, %t
  tfrt_dht.fill_tensor_with_constant.f32 %t 3.0 : f32
  tfrt.return %u, %e : !tfrt_tensor.tensor, i1
}

// A view is the same memory, another tensor is not.
// CHECK-LABEL: func.func @view
// CHECK: %[[FIRST:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t, %[[NEW:.*]] 1.0
// CHECK: tfrt_dht.fill_tensor_with_constant.f32 %other, %[[NEW]] 1.0
// CHECK: %[[SECOND:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %view, %[[FIRST]] 2.0
// CHECK: tfrt_dht.print_tensor %t, %[[SECOND]]
func.func @view() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %other = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  tfrt_dht.fill_tensor_with_constant.f32 %other 1.0 : f32
  %view = tfrt_tensor.reshape %t [2 : i64, 2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %view 2.0 : f32
  tfrt_dht.print_tensor %t
  tfrt.return
}

// Output keeps its order; what another wait implies needs no chain of its own.
// CHECK-LABEL: func.func @output
// CHECK: %[[FIRST:.*]] = tfrt.print.i32 %a, %{{.*}}
// CHECK-NEXT: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t, %{{.*}} 1.0
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %[[FIRST]], %[[FILL]]
// CHECK-NEXT: %[[SECOND:.*]] = tfrt_dht.print_tensor %t, %[[BOTH]]
// CHECK-NEXT: %[[THIRD:.*]] = tfrt.print.i32 %a, %[[SECOND]]
// CHECK-NEXT: tfrt_dht.print_tensor %t, %[[THIRD]]
func.func @output(%a: i32) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt.print.i32 %a
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  tfrt_dht.print_tensor %t
  tfrt.print.i32 %a
  tfrt_dht.print_tensor %t
  tfrt.return
}

// A function takes and gives the chains of what it writes to, and of its output.
// CHECK-LABEL: func.func @writes
// CHECK-SAME: (%t: !tfrt_tensor.tensor, %[[IN:.*]]: !tfrt.chain) -> !tfrt.chain
// CHECK-NEXT: %[[OUT:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t, %[[IN]]
// CHECK-NEXT: tfrt.return %[[OUT]] : !tfrt.chain
func.func @writes(%t: !tfrt_tensor.tensor) {
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  tfrt.return
}

// What nobody writes to needs no chain.
// CHECK-LABEL: func.func @reads
// CHECK-SAME: (%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
// CHECK-NEXT: tfrt_tensor.relu %t
func.func @reads(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %u = tfrt_tensor.relu %t
  tfrt.return %u : !tfrt_tensor.tensor
}

// CHECK-LABEL: func.func @calls
// CHECK: %[[FIRST:.*]] = tfrt.call @writes(%t, %{{.*}}) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
// CHECK-NEXT: tfrt_dht.print_tensor %t, %[[FIRST]]
func.func @calls(%still: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt.call @writes(%t) : (!tfrt_tensor.tensor) -> ()
  tfrt_dht.print_tensor %t
  %u = tfrt.call @reads(%still) : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %u : !tfrt_tensor.tensor
}

// A loop hands its chains round, an `if` gives them by both ways.
// CHECK-LABEL: func.func @loop
// CHECK: tfrt.repeat.i32 %n, %t, %[[IN:.*]] : !tfrt_tensor.tensor, !tfrt.chain {
// CHECK: tfrt.if %yes, %t, %[[IN]] : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain) {
// CHECK-NEXT: %[[NEXT:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t, %[[IN]]
// CHECK-NEXT: tfrt.return %[[NEXT]] : !tfrt.chain
// CHECK-NEXT: } else {
// CHECK-NEXT: tfrt.return %[[IN]] : !tfrt.chain
func.func @loop(%n: i32) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt.repeat.i32 %n, %t : !tfrt_tensor.tensor {
    %yes = tfrt.constant.i1 true
    tfrt.if %yes, %t : (!tfrt_tensor.tensor) -> () {
      tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
      tfrt.return
    }
    tfrt.return %t : !tfrt_tensor.tensor
  }
  tfrt.return
}

// What a function that nobody calls gives is there once it is written.
// CHECK-LABEL: func.func @result
// CHECK: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %t
// CHECK-NEXT: %[[LATE:.*]] = "tfrt.alias.value"(%[[FILL]], %t)
// CHECK-NEXT: tfrt.return %[[LATE]]
func.func @result() -> !tfrt_tensor.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  tfrt.return %t : !tfrt_tensor.tensor
}

// Chains written by hand stay, in whatever order they put their ops.
// CHECK-LABEL: func.func @mixed
// CHECK-NEXT: %c = tfrt.new.chain
// CHECK-NEXT: %[[FIRST:.*]] = tfrt.print.i32 %a, %c
// CHECK-NEXT: %[[SECOND:.*]] = tfrt.print.i32 %a, %c
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %[[FIRST]], %[[SECOND]]
// CHECK-NEXT: tfrt.print.i32 %a, %[[BOTH]]
func.func @mixed(%a: i32) {
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %a, %c
  %e = tfrt.print.i32 %a, %c
  tfrt.print.i32 %a
  tfrt.return
}

// An op whose only operand is a chain: the function type is that of the op, and not of the string.
// TEXT-LABEL: func.func @no_operands
// TEXT: %t = tfrt_tensor.read_btf "weights.btf" : () -> !tfrt_tensor.tensor
// CHECK-LABEL: func.func @no_operands
// CHECK: %[[READ:.*]]:2 = tfrt_tensor.read_btf "weights.btf", %{{.*}} : () -> !tfrt_tensor.tensor
func.func @no_operands() {
  %t = tfrt_tensor.read_btf "weights.btf" : () -> !tfrt_tensor.tensor
  tfrt_dht.print_tensor %t
  tfrt.return
}

// What only looks at a state comes behind who changes it, and the next change behind both.
// CHECK-LABEL: func.func @state
// CHECK: %[[FIRST:.*]] = corert.register_op_handler %[[HANDLER:.*]] "a"
// CHECK-NEXT: %x = corert.get_op_handler %[[FIRST]] "a"
// CHECK-NEXT: %y = corert.get_op_handler %[[FIRST]] "b"
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %x, %y : !corert.ophandler, !corert.ophandler
// CHECK-NEXT: %[[LATE:.*]] = "tfrt.alias.value"(%[[BOTH]], %[[HANDLER]])
// CHECK-NEXT: corert.register_op_handler %[[LATE]] "b"
func.func @state() {
  %h = "corert.create_null_op_handler"() : () -> !corert.ophandler
  corert.register_op_handler %h "a"
  %x = corert.get_op_handler "a"
  %y = corert.get_op_handler "b"
  corert.register_op_handler %h "b"
  tfrt.return
}

// A tensor may be printed by the name of the dialect that has the other ops.
// CHECK-LABEL: func.func @print
// CHECK: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32
// CHECK-NEXT: tfrt_tensor.print %t, %[[FILL]]
func.func @print() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 2.0 : f32
  tfrt_tensor.print %t
  tfrt.return
}

// A pure op that takes no chain waits by its operand, also beside chains by hand.
// CHECK-LABEL: func.func @by_hand
// CHECK: %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.000000e+00 : f32
// CHECK-NEXT: %[[LATE:.*]] = "tfrt.alias.value"(%d, %t)
// CHECK-NEXT: %u = tfrt_nn.relu(%[[LATE]])
func.func @by_hand(%c: !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %d = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 2.0 : f32
  %u = tfrt_nn.relu (%t)
  tfrt.return %u, %d : !tfrt_tensor.tensor, !tfrt.chain
}
