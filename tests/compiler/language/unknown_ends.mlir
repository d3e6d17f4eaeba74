// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: not tfrt_translate -mlir-to-bef %s 2>&1 | FileCheck %s --check-prefix=BEF

// An op that no table knows may end a block.
// CHECK-LABEL: func.func @ends
func.func @ends(%x: i32) {
  // CHECK: "foo.choose"(%arg0)[^bb1, ^bb2] : (i32) -> ()
  "foo.choose"(%x)[^bb1, ^bb2] : (i32) -> ()
^bb1:
  // CHECK: "foo.stop"() : () -> ()
  "foo.stop"() : () -> ()
^bb2:
  return
}

// CHECK-LABEL: func.func @single
// BEF: error: {{.*}}
func.func @single() {
  "foo.stop"() : () -> ()
}
