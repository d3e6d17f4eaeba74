// SPDX-License-Identifier: Apache-2.0
//
// Async functions that call each other, with results; an error through a call.
//
// OUTPUT: 25 1
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

async.func @square(%x: i64) -> !async.value<i64> {
  %y = arith.muli %x, %x : i64
  return %y : i64
}
async.func @hypotenuse(%a: i64, %b: i64) -> (!async.token, !async.value<i64>) {
  %sa = async.call @square(%a) : (i64) -> !async.value<i64>
  %sb = async.call @square(%b) : (i64) -> !async.value<i64>
  %xa = async.await %sa : !async.value<i64>
  %xb = async.await %sb : !async.value<i64>
  %s = arith.addi %xa, %xb : i64
  return %s : i64
}
async.func @fails() -> !async.token {
  %no = arith.constant false
  cf.assert %no, "no"
  return
}
async.func @depends() -> !async.token {
  %t = async.call @fails() : () -> !async.token
  async.await %t : !async.token
  return
}
func.func @main() {
  %three = arith.constant 3 : i64
  %four = arith.constant 4 : i64
  %t, %v = async.call @hypotenuse(%three, %four) : (i64, i64) -> (!async.token, !async.value<i64>)
  async.await %t : !async.token
  %r = async.await %v : !async.value<i64>
  call @line(%r) : (i64) -> ()
  %d = async.call @depends() : () -> !async.token
  async.runtime.await %d : !async.token
  %e = async.runtime.is_error %d : !async.token
  %x = arith.extui %e : i1 to i64
  call @line(%x) : (i64) -> ()
  return
}
