// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt --lower-async %s | tfrt_opt | tfrt_opt --mlir-print-op-generic | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

// 1000 tasks in a group; a waiter that is a task; a group of one; an empty group.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %m = memref.alloc() : memref<1000xi64>
  %g = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %t = async.execute {
      %v = arith.index_cast %i : index to i64
      memref.store %v, %m[%i] : memref<1000xi64>
      async.yield
    }
    %r = async.add_to_group %t, %g : !async.token
  }
  %w = async.execute {
    async.await_all %g
    async.yield
  }
  %one = async.create_group %c1 : !async.group
  %rank = async.add_to_group %w, %one : !async.token
  async.await_all %one
  %zero = arith.constant 0 : i64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i64) {
    %v = memref.load %m[%i] : memref<1000xi64>
    %s2 = arith.addi %s, %v : i64
    scf.yield %s2 : i64
  }
  vector.print %sum : i64
  %rr = arith.index_cast %rank : index to i64
  vector.print %rr : i64
  %empty = async.create_group %c0 : !async.group
  async.await_all %empty
  memref.dealloc %m : memref<1000xi64>
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}499500{{$}}
// CHECK-NEXT: {{^}}0{{$}}
