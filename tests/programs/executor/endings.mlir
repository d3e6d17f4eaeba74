// SPDX-License-Identifier: Apache-2.0
//
// How loops, parallel loops and calls end: by an error in a turn, in a condition or in a bound, by a cancel, and
// deep down.

func.func @while_err_body(%n: i32, %d: i32) -> (i32, i32, i1) {
  %neg = tfrt.constant.i32 -1
  %q, %r = tfrt.div.i32 %n, %d
  %d2 = tfrt.add.i32 %d, %neg
  %zero = tfrt.constant.i32 0
  %more = "tfrt.lessequal.i32"(%zero, %q) : (i32, i32) -> i1
  tfrt.return %q, %d2, %more : i32, i32, i1
}
func.func @while_err() -> (i32, i32) {
  %n = tfrt.constant.i32 100
  %d = tfrt.constant.i32 2
  %t = tfrt.constant.i1 true
  %0:2 = tfrt.while %t @while_err_body(%n, %d) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  tfrt.return %0#0, %0#1 : i32, i32
}
func.func @while_cond_err() -> (i32, i32) {
  %n = tfrt.constant.i32 100
  %e = "tfrt_test.fail"() : () -> i32
  %t = tfrt.equal.i32 %e, %n
  %0:2 = tfrt.while %t @while_err_body(%n, %n) parallel_iterations(8) : (i32, i32) -> (i32, i32)
  tfrt.return %0#0, %0#1 : i32, i32
}
func.func @down(%n: i32) -> i32 {
  %z = tfrt.constant.i32 0
  %c = tfrt.equal.i32 %n, %z
  %r = tfrt.if %c, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %m = tfrt.constant.i32 -1
    %k = tfrt.add.i32 %n, %m
    %x = tfrt.call @down(%k) : (i32) -> i32
    %one = tfrt.constant.i32 1
    %y = tfrt.add.i32 %x, %one
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
func.func @deep() -> i32 {
  %n = tfrt.constant.i32 20000
  %r = tfrt.call @down(%n) : (i32) -> i32
  tfrt.return %r : i32
}
func.func @par_in_async() -> i32 {
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %ch = tfrt_test.do.async %sum : (!test.atomic.i32) -> (!tfrt.chain) {
    %s = tfrt.constant.i32 0
    %e = tfrt.constant.i32 10
    %b = tfrt.constant.i32 3
    %done = tfrt.parallel_for.i32 %s to %e fixed %b, %sum : !test.atomic.i32 {
      %c0 = tfrt.new.chain
      %x = "tfrt_test.async_add.i32"(%s, %e) : (i32, i32) -> i32
      %c1 = "tfrt_test.atomic.add.i32"(%sum, %x, %c0) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
      tfrt.return %c1 : !tfrt.chain
    }
    tfrt.return %done : !tfrt.chain
  }
  %v, %c2 = "tfrt_test.atomic.get.i32"(%sum, %ch) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %v : i32
}
func.func @cancel_stops_later() -> (i32, i32) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %p = tfrt.print.i32 %one, %ch
  %x, %c1 = "tfrt_test.cancel"(%p) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %q = tfrt.print.i32 %one, %c1
  %y = "tfrt_test.identity"(%q, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %x, %y : i32, i32
}
func.func @bad_start() -> !tfrt.chain {
  %e = "tfrt_test.fail"() : () -> i32
  %b = tfrt.constant.i32 3
  %k = tfrt.constant.i32 3
  %done = tfrt.parallel_for.i32 %e to %b fixed %b, %k : i32 { tfrt.return }
  tfrt.return %done : !tfrt.chain
}
