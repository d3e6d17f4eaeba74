// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

// A group that can't get all of its members any more is an error for those who wait for it, here a
// task and the function, with the place where it was made.
func.func @main() {
  %c3 = arith.constant 3 : index
  // expected-error@+1 {{a group of 3 members gets only 1: create it with the number of those that are added}}
  %g = async.create_group %c3 : !async.group
  %t = async.execute {
    async.yield
  }
  %w = async.execute {
    async.await_all %g
    async.yield
  }
  %k = async.add_to_group %t, %g : !async.token
  async.runtime.await %g : !async.group
  async.runtime.await %w : !async.token
  %e = async.runtime.is_error %w : !async.token
  vector.print %e : i1
  async.await %w : !async.token
  vector.print %e : i1
  return
}

// Nobody waits for it.
func.func @unawaited() {
  %c2 = arith.constant 2 : index
  %g = async.create_group %c2 : !async.group
  %t = async.execute {
    async.yield
  }
  %k = async.add_to_group %t, %g : !async.token
  vector.print %k : index
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: 'main' returned <<error: a group of 3 members gets only 1: create it with the number of those that are added>>
// CHECK: Running 'unawaited'
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: 'unawaited' returned
