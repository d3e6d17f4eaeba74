// SPDX-License-Identifier: Apache-2.0
//
// A chain of 300,000 regions behind one that ends last, so that all of them wait at once.
//
// OUTPUT: 300000
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func private @rtclock() -> f64

func.func @delay() {
  %end = arith.constant 0.3 : f64
  %start = call @rtclock() : () -> f64
  cf.br ^loop
^loop:
  %now = call @rtclock() : () -> f64
  %passed = arith.subf %now, %start : f64
  %more = arith.cmpf olt, %passed, %end : f64
  cf.cond_br %more, ^loop, ^done
^done:
  return
}

// The last one of |n| regions, each of which depends on the one before it.
func.func @extend(%n: i64, %before: !async.token, %count: memref<1xi64>) -> !async.token {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %single = arith.cmpi eq, %n, %one : i64
  cf.cond_br %single, ^single, ^many
^single:
  %t = async.execute [%before] {
    %old = memref.load %count[%c0] : memref<1xi64>
    %new = arith.addi %old, %one : i64
    memref.store %new, %count[%c0] : memref<1xi64>
    async.yield
  }
  return %t : !async.token
^many:
  %half = arith.divsi %n, %two : i64
  %rest = arith.subi %n, %half : i64
  %middle = call @extend(%half, %before, %count)
      : (i64, !async.token, memref<1xi64>) -> !async.token
  %last = call @extend(%rest, %middle, %count)
      : (i64, !async.token, memref<1xi64>) -> !async.token
  return %last : !async.token
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %n = arith.constant 300000 : i64
  %count = memref.alloc() : memref<1xi64>
  memref.store %zero, %count[%c0] : memref<1xi64>
  %head = async.execute {
    func.call @delay() : () -> ()
    async.yield
  }
  %last = call @extend(%n, %head, %count) : (i64, !async.token, memref<1xi64>) -> !async.token
  async.await %last : !async.token
  %r = memref.load %count[%c0] : memref<1xi64>
  call @line(%r) : (i64) -> ()
  memref.dealloc %count : memref<1xi64>
  return
}
