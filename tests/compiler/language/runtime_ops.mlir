// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names %s | FileCheck %s
// RUN: tfrt_opt --mlir-print-op-generic %s | tfrt_opt --keep-value-names | tfrt_opt | FileCheck %s --check-prefix=AGAIN
// RUN: tfrt_opt --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC

// What stock `mlir-opt` makes of tasks: reference counts, coroutines, payloads.
// CHECK-LABEL: func.func @counts
func.func @counts(%t: !async.token, %v: !async.value<f32>, %g: !async.group) {
  // CHECK-NEXT: async.runtime.add_ref %t {count = 1 : i64} : !async.token
  // GENERIC: "async.runtime.add_ref"(%arg1) <{count = 1 : i64}> : (!async.token) -> ()
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  // CHECK-NEXT: async.runtime.add_ref %v {count = 42 : i64} : !async.value<f32>
  async.runtime.add_ref %v {count = 42 : i64} : !async.value<f32>
  // CHECK-NEXT: async.runtime.drop_ref %g {count = 2147483647 : i64} : !async.group
  // AGAIN: async.runtime.drop_ref %arg2 {count = 2147483647 : i64} : !async.group
  async.runtime.drop_ref %g {count = 2147483647 : i64} : !async.group
  return
}

// CHECK-LABEL: func.func @coroutine
func.func @coroutine(%a: !async.value<memref<4xf32>>) -> (!async.token, !async.value<index>) {
  // CHECK-NEXT: %t = async.runtime.create : !async.token
  %t = async.runtime.create : !async.token
  // CHECK-NEXT: %v = async.runtime.create : !async.value<index>
  %v = async.runtime.create : !async.value<index>
  // CHECK-NEXT: %id = async.coro.id
  // GENERIC: "async.coro.id"() : () -> !async.coro.id
  %id = async.coro.id
  // CHECK-NEXT: %h = async.coro.begin %id
  // GENERIC: "async.coro.begin"(%{{.*}}) : (!async.coro.id) -> !async.coro.handle
  %h = async.coro.begin %id
  // CHECK-NEXT: %s = async.coro.save %h
  %s = async.coro.save %h
  // CHECK-NEXT: async.runtime.resume %h
  async.runtime.resume %h
  // CHECK-NEXT: async.runtime.await_and_resume %a, %h : !async.value<memref<4xf32>>
  async.runtime.await_and_resume %a, %h : !async.value<memref<4xf32>>
  // CHECK-NEXT: async.coro.suspend %s, ^bb3, ^bb1, ^bb2
  // GENERIC: "async.coro.suspend"(%{{.*}})[^bb3, ^bb1, ^bb2] : (!async.coro.state) -> ()
  // AGAIN: async.coro.suspend %{{.*}}, ^bb3, ^bb1, ^bb2
  async.coro.suspend %s, ^suspend, ^resume, ^cleanup
^resume:
  // CHECK: %m = async.runtime.load %a : <memref<4xf32>>
  // AGAIN: async.runtime.load %arg{{[0-9]+}} : <memref<4xf32>>
  %m = async.runtime.load %a : <memref<4xf32>>
  // CHECK-NEXT: %n = async.runtime.num_worker_threads : index
  %n = async.runtime.num_worker_threads : index
  // CHECK-NEXT: async.runtime.store %n, %v : <index>
  async.runtime.store %n, %v : <index>
  // CHECK-NEXT: async.runtime.set_available %v : !async.value<index>
  async.runtime.set_available %v : !async.value<index>
  // CHECK-NEXT: async.runtime.set_error %t : !async.token
  async.runtime.set_error %t : !async.token
  // CHECK-NEXT: %g = async.runtime.create_group %n : !async.group
  %g = async.runtime.create_group %n : !async.group
  // CHECK-NEXT: %i = async.runtime.add_to_group %t, %g : !async.token
  %i = async.runtime.add_to_group %t, %g : !async.token
  cf.br ^cleanup
^cleanup:
  // CHECK: async.coro.free %id, %h
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  // CHECK: async.coro.end %h
  async.coro.end %h
  return %t, %v : !async.token, !async.value<index>
}
