// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --functions=main - | FileCheck %s

// A function that waits for itself, 1,000,000 calls deep: memory bounds the depth, and not the stack.
// CHECK: {{^}}1000000{{$}}
async.func @deep(%n: i64) -> !async.value<i64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %z = arith.cmpi eq, %n, %c0 : i64
  cf.cond_br %z, ^end(%c0 : i64), ^more
^more:
  %m = arith.subi %n, %c1 : i64
  %v = async.call @deep(%m) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  %s = arith.addi %x, %c1 : i64
  cf.br ^end(%s : i64)
^end(%r: i64):
  async.return %r : i64
}
func.func @main() {
  %n = arith.constant 1000000 : i64
  %v = async.call @deep(%n) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  vector.print %x : i64
  return
}
