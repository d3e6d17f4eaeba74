// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --async-ref-counting --verify-async-ref-counts %s | FileCheck %s
// RUN: tfrt_opt %s | tfrt_opt --mlir-print-op-generic | tfrt_opt | tfrt_opt --async-ref-counting --verify-async-ref-counts --async-ref-counting-opt --verify-async-ref-counts

// A task with two dependencies, as stock `mlir-opt --async-to-async-runtime` lowers it. Both
// failures go to one block.
// CHECK-LABEL: func.func private @two_dependencies
func.func private @two_dependencies(%a: !async.token, %b: !async.value<i64>) -> (!async.token, !async.value<i64>) {
  // CHECK-NEXT: %t = async.runtime.create : !async.token
  // CHECK-NEXT: %v = async.runtime.create : !async.value<i64>
  %t = async.runtime.create : !async.token
  %v = async.runtime.create : !async.value<i64>
  %id = async.coro.id
  %h = async.coro.begin %id
  %s0 = async.coro.save %h
  async.runtime.resume %h
  // Nothing goes on the way back to the caller, nor when the coroutine is destroyed.
  // CHECK: async.coro.suspend %s0, ^bb[[SUSPEND:[0-9]+]], ^bb1, ^bb[[CLEANUP:[0-9]+]]
  async.coro.suspend %s0, ^suspend, ^first, ^cleanup
// CHECK: ^bb1:
^first:
  %s1 = async.coro.save %h
  // CHECK: async.runtime.await_and_resume %a, %h : !async.token
  // CHECK-NEXT: async.coro.suspend %s1, ^bb[[SUSPEND]], ^bb2, ^bb[[CLEANUP]]
  async.runtime.await_and_resume %a, %h : !async.token
  async.coro.suspend %s1, ^suspend, ^second, ^cleanup
// CHECK: ^bb2:
^second:
  // CHECK-NEXT: %e1 = async.runtime.is_error %a
  // CHECK-NEXT: async.runtime.drop_ref %a
  // CHECK-NEXT: cf.cond_br %e1, ^bb[[FAILED:[0-9]+]], ^bb3
  %e1 = async.runtime.is_error %a : !async.token
  cf.cond_br %e1, ^failed, ^third
// CHECK: ^bb3:
^third:
  %s2 = async.coro.save %h
  // CHECK: async.runtime.await_and_resume %b, %h : !async.value<i64>
  // CHECK-NEXT: async.coro.suspend
  async.runtime.await_and_resume %b, %h : !async.value<i64>
  async.coro.suspend %s2, ^suspend, ^fourth, ^cleanup
// CHECK: ^bb4:
^fourth:
  // CHECK-NEXT: %e2 = async.runtime.is_error %b
  // CHECK-NEXT: cf.cond_br %e2, ^bb[[FAILED]], ^bb5
  %e2 = async.runtime.is_error %b : !async.value<i64>
  cf.cond_br %e2, ^failed, ^body
// CHECK: ^bb5:
^body:
  // CHECK-NEXT: %x = async.runtime.load %b : <i64>
  // CHECK-NEXT: async.runtime.drop_ref %b
  // CHECK-NEXT: async.runtime.store %x, %v : <i64>
  // CHECK-NEXT: async.runtime.set_available %v
  // CHECK-NEXT: async.runtime.set_available %t
  // CHECK-NEXT: cf.br
  %x = async.runtime.load %b : <i64>
  async.runtime.store %x, %v : <i64>
  async.runtime.set_available %v : !async.value<i64>
  async.runtime.set_available %t : !async.token
  cf.br ^done
// Both ways to a failure hold %b, and neither drops the task's own results.
// CHECK: ^bb[[FAILED]]:
^failed:
  // CHECK-NEXT: async.runtime.drop_ref %b
  // CHECK-NEXT: async.runtime.set_error %t
  // CHECK-NEXT: async.runtime.set_error %v
  // CHECK-NEXT: cf.br
  async.runtime.set_error %t : !async.token
  async.runtime.set_error %v : !async.value<i64>
  cf.br ^done
^done:
  // CHECK-NOT: _ref
  // CHECK: async.coro.free %id, %h
  async.coro.free %id, %h
  cf.br ^suspend
^cleanup:
  // CHECK-NOT: _ref
  // CHECK: async.coro.free %id, %h
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  // CHECK-NOT: _ref
  // CHECK: return %t, %v
  async.coro.end %h
  return %t, %v : !async.token, !async.value<i64>
}

// Awaited, and not looked at behind that: a token that isn't there yet has the reference of the one
// that will settle it.
// CHECK-LABEL: func.func private @only_awaited
func.func private @only_awaited(%a: !async.token) -> !async.token {
  %t = async.runtime.create : !async.token
  %id = async.coro.id
  %h = async.coro.begin %id
  %s = async.coro.save %h
  // CHECK: async.runtime.await_and_resume %a
  // CHECK-NEXT: async.runtime.drop_ref %a
  // CHECK-NEXT: async.coro.suspend
  async.runtime.await_and_resume %a, %h : !async.token
  async.coro.suspend %s, ^suspend, ^resume, ^cleanup
// CHECK: ^bb1:
^resume:
  // CHECK-NOT: _ref
  async.runtime.set_available %t : !async.token
  cf.br ^cleanup
^cleanup:
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  // CHECK-NOT: _ref
  // CHECK: return
  async.coro.end %h
  return %t : !async.token
}

// The other ops of a lowered program.
// CHECK-LABEL: func.func @others
func.func @others(%n: index, %t: !async.token) {
  // CHECK: %g = async.runtime.create_group %n : !async.group
  %g = async.runtime.create_group %n : !async.group
  // CHECK-NEXT: %i = async.runtime.add_to_group %t, %g : !async.token
  %i = async.runtime.add_to_group %t, %g : !async.token
  // CHECK: %w = async.runtime.num_worker_threads : index
  %w = async.runtime.num_worker_threads : index
  // CHECK-NEXT: async.runtime.await %g : !async.group
  // CHECK-NEXT: async.runtime.drop_ref %g
  async.runtime.await %g : !async.group
  return
}
