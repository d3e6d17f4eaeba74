// SPDX-License-Identifier: Apache-2.0
// RUN: bef_executor %s.bef
// RUN: sed 's/expected-error/some error/' %s > %t && tfrt_translate -mlir-to-bef %t | \
// RUN:   not bef_executor 2>&1 | FileCheck %s

// A file that can't be run says so at the op.
func.func @f() {
  // CHECK: :[[#@LINE+2]]:3: error: unexpected error: unknown kernel name 'unheard.of'
  // expected-error@+1 {{unknown kernel name 'unheard.of'}}
  "unheard.of"() : () -> ()
  tfrt.return
}
