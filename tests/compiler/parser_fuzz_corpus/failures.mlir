// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

// A failing producer: through a token, through a value, a healthy sibling, in a group.
func.func @main() {
  %false = arith.constant 0 : i1
  %c1 = arith.constant 1 : index
  %t, %v = async.execute -> !async.value<f32> {
    // expected-error@+1 {{no}}
    cf.assert %false, "no"
    %f = arith.constant 1.5 : f32
    async.yield %f : f32
  }
  async.runtime.await %t : !async.token
  %e0 = async.runtime.is_error %t : !async.token
  vector.print %e0 : i1
  async.runtime.await %v : !async.value<f32>
  %e1 = async.runtime.is_error %v : !async.value<f32>
  vector.print %e1 : i1
  %t1 = async.execute [%t] { async.yield }
  async.runtime.await %t1 : !async.token
  %e2 = async.runtime.is_error %t1 : !async.token
  vector.print %e2 : i1
  %t2, %v2 = async.execute (%v as %x: !async.value<f32>) -> !async.value<f32> { async.yield %x : f32 }
  async.runtime.await %v2 : !async.value<f32>
  %e3 = async.runtime.is_error %v2 : !async.value<f32>
  vector.print %e3 : i1
  %t3 = async.execute { async.yield }
  async.runtime.await %t3 : !async.token
  %e4 = async.runtime.is_error %t3 : !async.token
  vector.print %e4 : i1
  %g = async.create_group %c1 : !async.group
  %r = async.add_to_group %t, %g : !async.token
  async.runtime.await %g : !async.group
  %e5 = async.runtime.is_error %g : !async.group
  vector.print %e5 : i1
  %t6 = async.execute {
    async.await %t : !async.token
    async.yield
  }
  async.runtime.await %t6 : !async.token
  %e6 = async.runtime.is_error %t6 : !async.token
  vector.print %e6 : i1
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1{{$}}
