// A cancelled request starts no more kernels: each turn of a loop looks, each kernel looks.
func.func @in_a_row() -> (i32, i32) {
  %start = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %before = tfrt.print.i32 %one, %start
  %x, %cancelled = "tfrt_test.cancel"(%before) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %never = tfrt.print.i32 %one, %cancelled
  %y = tfrt.add.i32 %x, %one
  tfrt.return %x, %y : i32, i32
}
func.func @in_a_repeat() -> (i32, !tfrt.chain) {
  %start = tfrt.new.chain
  %n = tfrt.constant.i32 1000000000
  %zero = tfrt.constant.i32 0
  %r, %end = tfrt.repeat.i32 %n, %zero, %start : i32, !tfrt.chain {
    %x, %cancelled = "tfrt_test.cancel"(%start) : (!tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %x, %cancelled : i32, !tfrt.chain
  }
  tfrt.return %r, %end : i32, !tfrt.chain
}
func.func @cancelling_body(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %y, %cancelled = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %again = tfrt.constant.i1 true
  tfrt.return %y, %cancelled, %again : i32, !tfrt.chain, i1
}
func.func @in_a_while() -> i32 {
  %start = tfrt.new.chain
  %go = tfrt.constant.i1 true
  %zero = tfrt.constant.i32 0
  %r, %end = tfrt.while %go @cancelling_body(%zero, %start) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
func.func @in_a_call() -> (i32, i32) {
  %start = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %x, %ch, %again = tfrt.call @cancelling_body(%zero, %start) : (i32, !tfrt.chain) -> (i32, !tfrt.chain, i1)
  %both = tfrt.merge.chains %ch, %again : !tfrt.chain, i1
  %y, %end = "tfrt_test.cancel"(%both) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %y : i32, i32
}
// A loop whose condition is always there still comes to a late value that ends it.
func.func @in_a_while_that_waits() -> i32 {
  %late = "tfrt_test.async_constant.i32"() {value = 0 : i32} : () -> i32
  %start = tfrt.merge.chains %late : i32
  %go = tfrt.constant.i1 true
  %zero = tfrt.constant.i32 0
  %r, %end = tfrt.while %go @cancelling_body(%zero, %start) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
