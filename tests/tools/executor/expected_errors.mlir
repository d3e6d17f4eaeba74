// SPDX-License-Identifier: Apache-2.0
// RUN: bef_executor %s.bef 2>&1 | FileCheck %s
// RUN: sed 's/expected-error/some error/' %s > %t && tfrt_translate -mlir-to-bef %t | \
// RUN:   not bef_executor 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not bef_executor --functions=fine,lost %s.bef 2>&1 | FileCheck %s --check-prefix=MISSING

// Errors that a comment expects are not told, and others make the run fail. A text is only looked at
// once an error names it.

// CHECK-LABEL: --- Running 'fine':
// CHECK-NEXT: 'fine' returned 7
func.func @fine() -> i32 {
  %a = tfrt.constant.i32 7
  tfrt.return %a : i32
}

// One error in two results is one error.
// CHECK-LABEL: --- Running 'twice':
// CHECK-NEXT: 'twice' returned <<error: Divide by zero>>,<<error: Divide by zero>>
// CHECK-NOT: error: runtime error
func.func @twice() -> (i32, i32) {
  %a = tfrt.constant.i32 7
  %b = tfrt.constant.i32 0
  // expected-error@+1 {{runtime error: Divide by zero}}
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q, %r : i32, i32
}

// NONE: error: unexpected error: runtime error: Divide by zero
// NONE: error: unexpected error: runtime error: something bad happened
// NONE-NOT: error:
func.func @lost() -> i32 {
  %a = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad}}
  tfrt.return %a : i32
}

// A cancelled request is no error of an op.
// CHECK-LABEL: --- Running 'cancelled':
// CHECK-NEXT: 'cancelled' returned <<error: Cancelled>>
func.func @cancelled() -> i32 {
  %c = tfrt.new.chain
  %x, %d = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

// MISSING: expected_errors.mlir:24:6: error: expected error "runtime error: Divide by zero" was not produced
// MISSING-NOT: error:
