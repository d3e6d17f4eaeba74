// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --functions=main - | FileCheck %s

// A chain of 1,000,000 tokens: a token that waits takes neither a stack nor a thread.
// CHECK: {{^}}1{{$}}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %first = async.execute { async.yield }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!async.token) {
    %u = async.execute [%t] { async.yield }
    scf.yield %u : !async.token
  }
  async.await %r : !async.token
  %x = arith.constant 1 : i32
  vector.print %x : i32
  return
}
