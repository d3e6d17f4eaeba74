// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names -canonicalize --split-input-file %s | FileCheck %s

// The same name is no redefinition: these are two programs.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tfrt.return %ch
func.func @main(%ch: !tfrt.chain) -> !tfrt.chain {
  %unused = tfrt.constant.i32 1
  tfrt.return %ch : !tfrt.chain
}

// CHECK: // -----
// -----

// CHECK-LABEL: func.func @main
// CHECK-NEXT: tfrt.return{{$}}
func.func @main() {
  tfrt.return
}
