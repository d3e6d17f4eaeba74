// SPDX-License-Identifier: Apache-2.0
//
// The sum of the squares below n: a region for each number, all of them in a group.

func.func private @printI64(i64)
func.func private @printNewline()

func.func @sum_of_squares(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %sum = memref.alloc() : memref<1xi64>
  memref.store %zero, %sum[%c0] : memref<1xi64>
  %all = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %done = async.execute {
      %x = arith.index_cast %i : index to i64
      %square = arith.muli %x, %x : i64
      %old = memref.atomic_rmw addi %square, %sum[%c0] : (i64, memref<1xi64>) -> i64
      async.yield
    }
    %rank = async.add_to_group %done, %all : !async.token
  }
  async.await_all %all
  %result = memref.load %sum[%c0] : memref<1xi64>
  memref.dealloc %sum : memref<1xi64>
  return %result : i64
}

// What mlir-runner calls.
func.func @program() {
  %n = arith.constant 10 : index
  %sum = call @sum_of_squares(%n) : (index) -> i64
  call @printI64(%sum) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
