// SPDX-License-Identifier: Apache-2.0
//
// Ends while a thousand regions are still to run: they run before the code is gone.
//
// OUTPUT: 1
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
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %t = async.execute {
      async.yield
    }
  }
  call @line(%one) : (i64) -> ()
  return
}
