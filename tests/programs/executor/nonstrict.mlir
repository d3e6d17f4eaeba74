// An op with {bef.nonstrict} waits for no operand but those whose payload it reads.
func.func @chain_that_failed() -> !tfrt.chain {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %failed = tfrt.merge.chains %x : i32
  %two = tfrt.constant.i32 2
  %printed = "tfrt.print.i32"(%two, %failed) {bef.nonstrict} : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %printed : !tfrt.chain
}
func.func @merge_of_an_error() -> (!tfrt.chain, !tfrt.chain) {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %strict = tfrt.merge.chains %x : i32
  %merged = "tfrt.merge.chains"(%x) {bef.nonstrict} : (i32) -> !tfrt.chain
  tfrt.return %strict, %merged : !tfrt.chain, !tfrt.chain
}
func.func @late_operand_that_is_read() -> i32 {
  %late = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %three = tfrt.constant.i32 3
  %sum = "tfrt.add.i32"(%late, %three) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %sum : i32
}
func.func @error_that_is_read() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %three = tfrt.constant.i32 3
  %sum = "tfrt.add.i32"(%three, %x) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %sum : i32
}
func.func @condition_that_is_read() -> (i32, i32) {
  %x = "tfrt_test.report_error_async"() : () -> i32 // expected-error {{something bad happened}}
  %one = tfrt.constant.i32 1
  %late = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %a, %b = "tfrt.if"(%late, %x, %one) ({
    ^bb0(%u: i32, %v: i32):
      tfrt.return %v, %u : i32, i32
  }, {
    ^bb0(%u: i32, %v: i32):
      tfrt.return %u, %v : i32, i32
  }) {bef.nonstrict} : (i1, i32, i32) -> (i32, i32)
  tfrt.return %a, %b : i32, i32
}
func.func @first(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @call_of_what_ignores_an_error() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %two = tfrt.constant.i32 2
  %y = tfrt.call @first(%two, %x) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %y : i32
}
