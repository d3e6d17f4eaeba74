// SPDX-License-Identifier: Apache-2.0
//
// A plain function that waits for two regions, on the pool's threads, which call it again: the stock
// runtime never returns from that with few threads.
//
// OUTPUT: 144
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @fibonacci(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %small = arith.cmpi sle, %n, %one : i64
  cf.cond_br %small, ^leaf, ^node
^leaf:
  return %n : i64
^node:
  %a = arith.subi %n, %one : i64
  %b = arith.subi %n, %two : i64
  %t1, %v1 = async.execute -> !async.value<i64> {
    %x = func.call @fibonacci(%a) : (i64) -> i64
    async.yield %x : i64
  }
  %t2, %v2 = async.execute -> !async.value<i64> {
    %x = func.call @fibonacci(%b) : (i64) -> i64
    async.yield %x : i64
  }
  %x1 = async.await %v1 : !async.value<i64>
  %x2 = async.await %v2 : !async.value<i64>
  %s = arith.addi %x1, %x2 : i64
  return %s : i64
}
func.func @main() {
  %n = arith.constant 12 : i64
  %r = call @fibonacci(%n) : (i64) -> i64
  call @line(%r) : (i64) -> ()
  return
}
