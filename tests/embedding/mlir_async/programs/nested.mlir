// SPDX-License-Identifier: Apache-2.0
//
// Three levels of regions, and one beside them that uses what comes out of the middle.
//
// OUTPUT: 56
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @main() {
  %c1 = arith.constant 1 : i64
  %t1, %v1 = async.execute -> !async.value<i64> {
    %t2, %v2 = async.execute -> !async.value<i64> {
      %t3, %v3 = async.execute -> !async.value<i64> {
        %c = arith.constant 7 : i64
        %d = arith.addi %c, %c1 : i64
        async.yield %d : i64
      }
      %x = async.await %v3 : !async.value<i64>
      %y = async.await %v3 : !async.value<i64>
      %s = arith.addi %x, %y : i64
      async.yield %s : i64
    }
    %t4, %v4 = async.execute [%t2] (%v2 as %m: !async.value<i64>) -> !async.value<i64> {
      %c = arith.constant 2 : i64
      %p = arith.muli %m, %c : i64
      async.yield %p : i64
    }
    async.await %t4 : !async.token
    %a = async.await %v2 : !async.value<i64>
    %b = async.await %v4 : !async.value<i64>
    %c8 = arith.constant 8 : i64
    %s1 = arith.addi %a, %b : i64
    %s2 = arith.addi %s1, %c8 : i64
    async.yield %s2 : i64
  }
  %r = async.await %v1 : !async.value<i64>
  call @line(%r) : (i64) -> ()
  return
}
