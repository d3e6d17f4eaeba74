// SPDX-License-Identifier: Apache-2.0
//
// One region awaits a token twice that is pending: the stock runtime never returns from that.
//
// OUTPUT: 2
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func private @rtclock() -> f64

// Takes long enough for the second region to come to its await.
func.func @delay() {
  %end = arith.constant 0.05 : f64
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
func.func @main() {
  %late = async.execute {
    func.call @delay() : () -> ()
    async.yield
  }
  %t, %v = async.execute -> !async.value<i64> {
    async.await %late : !async.token
    async.await %late : !async.token
    %c = arith.constant 2 : i64
    async.yield %c : i64
  }
  %r = async.await %v : !async.value<i64>
  call @line(%r) : (i64) -> ()
  return
}
