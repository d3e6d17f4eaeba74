// SPDX-License-Identifier: Apache-2.0
//
// 500,000 awaits in a loop of one function, all of them of what is ready: the stock runtime has no
// stack left for that without optimisation.
//
// OUTPUT: 124999750000
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

async.func @number(%x: i64) -> !async.value<i64> {
  return %x : i64
}
async.func @sum(%n: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  cf.br ^loop(%zero, %zero : i64, i64)
^loop(%i: i64, %s: i64):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^done
^body:
  %v = async.call @number(%i) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  %s1 = arith.addi %s, %x : i64
  %i1 = arith.addi %i, %one : i64
  cf.br ^loop(%i1, %s1 : i64, i64)
^done:
  return %s : i64
}
func.func @main() {
  %n = arith.constant 500000 : i64
  %v = async.call @sum(%n) : (i64) -> !async.value<i64>
  %r = async.await %v : !async.value<i64>
  call @line(%r) : (i64) -> ()
  return
}
