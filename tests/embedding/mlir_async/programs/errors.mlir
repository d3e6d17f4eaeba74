// SPDX-License-Identifier: Apache-2.0
//
// A producer that fails; the error through a token, through a value, into a group; one beside it
// that is well.
//
// OUTPUT: 1 1 1 1 0 1
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @flag(%b: i1) {
  %x = arith.extui %b : i1 to i64
  call @line(%x) : (i64) -> ()
  return
}
func.func @main() {
  %c1 = arith.constant 1 : index
  %no = arith.constant false
  %t1, %v1 = async.execute -> !async.value<i64> {
    cf.assert %no, "no"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %t2 = async.execute [%t1] {
    async.yield
  }
  %t3, %v3 = async.execute (%v1 as %a: !async.value<i64>) -> !async.value<i64> {
    async.yield %a : i64
  }
  %t4 = async.execute {
    async.yield
  }
  %g = async.create_group %c1 : !async.group
  %rank = async.add_to_group %t2, %g : !async.token
  async.runtime.await %t1 : !async.token
  async.runtime.await %v1 : !async.value<i64>
  async.runtime.await %t2 : !async.token
  async.runtime.await %v3 : !async.value<i64>
  async.runtime.await %t4 : !async.token
  async.runtime.await %g : !async.group
  %e1 = async.runtime.is_error %t1 : !async.token
  %e2 = async.runtime.is_error %v1 : !async.value<i64>
  %e3 = async.runtime.is_error %t2 : !async.token
  %e4 = async.runtime.is_error %v3 : !async.value<i64>
  %e5 = async.runtime.is_error %t4 : !async.token
  %e6 = async.runtime.is_error %g : !async.group
  call @flag(%e1) : (i1) -> ()
  call @flag(%e2) : (i1) -> ()
  call @flag(%e3) : (i1) -> ()
  call @flag(%e4) : (i1) -> ()
  call @flag(%e5) : (i1) -> ()
  call @flag(%e6) : (i1) -> ()
  return
}
