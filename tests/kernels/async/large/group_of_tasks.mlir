// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --functions=main - | FileCheck %s

// 1,000,000 tasks in a group.
// CHECK: {{^}}2{{$}}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %g = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %u = async.execute { async.yield }
    %k = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g
  %x = arith.constant 2 : i32
  vector.print %x : i32
  return
}
