// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  %head = async.execute {
    %z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %b = arith.addi %a, %i : index
      scf.yield %b : index
    }
    async.yield
  }
  %t = async.execute {
    async.await %head : !async.token
    async.await %head : !async.token
    async.yield
  }
  async.await %t : !async.token
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %head) -> (!async.token) {
    %q = async.execute [%p] { async.yield }
    scf.yield %q : !async.token
  }
  async.await %last : !async.token
  vector.print str "done\n"
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}done{{$}}
