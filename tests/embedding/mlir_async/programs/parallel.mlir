// SPDX-License-Identifier: Apache-2.0
//
// A loop in parallel, 256 by 256, and one of no trips.
//
// PASSES: async-parallel-for{num-workers=-1 min-task-size=1000},arith-expand,memref-expand
// OUTPUT: 2147450880
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
  %rows = arith.constant 256 : index
  %columns = arith.constant 256 : index
  %zero = arith.constant 0 : i64
  %sum = memref.alloc() : memref<1xi64>
  memref.store %zero, %sum[%c0] : memref<1xi64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %k = arith.muli %i, %columns : index
    %l = arith.addi %k, %j : index
    %x = arith.index_cast %l : index to i64
    %old = memref.atomic_rmw addi %x, %sum[%c0] : (i64, memref<1xi64>) -> i64
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c0) step (%c1) {
    memref.store %zero, %sum[%c0] : memref<1xi64>
    scf.reduce
  }
  %r = memref.load %sum[%c0] : memref<1xi64>
  call @line(%r) : (i64) -> ()
  memref.dealloc %sum : memref<1xi64>
  return
}
