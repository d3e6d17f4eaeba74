// SPDX-License-Identifier: Apache-2.0
//
// A value that fails, and a second dependency: MLIR's pass drops the consumer's results once too
// often on this path.
//
// DROPS: too many
// OUTPUT: 1
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @main() {
  %no = arith.constant false
  %t1, %v1 = async.execute -> !async.value<i64> {
    cf.assert %no, "no"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %t2 = async.execute {
    async.yield
  }
  %t3, %v3 = async.execute [%t2] (%v1 as %a: !async.value<i64>) -> !async.value<i64> {
    async.yield %a : i64
  }
  async.runtime.await %t3 : !async.token
  async.runtime.await %v3 : !async.value<i64>
  %e1 = async.runtime.is_error %t3 : !async.token
  %e2 = async.runtime.is_error %v3 : !async.value<i64>
  %both = arith.andi %e1, %e2 : i1
  %x = arith.extui %both : i1 to i64
  call @line(%x) : (i64) -> ()
  return
}
