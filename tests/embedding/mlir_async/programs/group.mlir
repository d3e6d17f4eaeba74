// SPDX-License-Identifier: Apache-2.0
//
// A thousand tasks in a group that a region awaits; groups of one and of none.
//
// OUTPUT: 499500 0
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %zero = arith.constant 0 : i64
  %sum = memref.alloc() : memref<1xi64>
  memref.store %zero, %sum[%c0] : memref<1xi64>
  %g = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %t = async.execute {
      %x = arith.index_cast %i : index to i64
      %old = memref.atomic_rmw addi %x, %sum[%c0] : (i64, memref<1xi64>) -> i64
      async.yield
    }
    %rank = async.add_to_group %t, %g : !async.token
  }
  %first = async.execute {
    async.await_all %g
    async.yield
  }
  async.await %first : !async.token
  async.await_all %g
  %one = async.create_group %c1 : !async.group
  %rank = async.add_to_group %first, %one : !async.token
  async.await_all %one
  %none = async.create_group %c0 : !async.group
  async.await_all %none
  %r = memref.load %sum[%c0] : memref<1xi64>
  call @line(%r) : (i64) -> ()
  call @line(%zero) : (i64) -> ()
  memref.dealloc %sum : memref<1xi64>
  return
}
