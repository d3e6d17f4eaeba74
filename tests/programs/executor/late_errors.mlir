// SPDX-License-Identifier: Apache-2.0
//
// Late values and errors as arguments of what does not need them.

func.func @pass(%a: i32, %b: i32) -> (i32, i32) { tfrt.return %b, %a : i32, i32 }
func.func @late_and_error() -> (i32, i32) {
  %l = "tfrt_test.async_constant.i32"() {value = 8 : i32} : () -> i32
  %e = "tfrt_test.report_error_async"() : () -> i32
  %0:2 = tfrt.call @pass(%l, %e) : (i32, i32) -> (i32, i32)
  tfrt.return %0#0, %0#1 : i32, i32
}
func.func @print_then(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %n = tfrt.constant.i32 5
  %c = tfrt.print.i32 %n, %ch
  %y = tfrt.add.i32 %x, %n
  tfrt.return %c, %y : !tfrt.chain, i32
}
func.func @print_before_error() -> (i32, i32) {
  %ch = tfrt.new.chain
  %e = "tfrt_test.fail"() : () -> i32
  %c, %y = tfrt.call @print_then(%ch, %e) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  %k = tfrt.constant.i32 6
  %c2 = tfrt.print.i32 %k, %c
  tfrt.return %k, %y : i32, i32
}
func.func @swap_in_repeat_with_error() -> (i32, i32, i32) {
  %n = tfrt.constant.i32 3
  %e = "tfrt_test.fail"() : () -> i32
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 1
  %0:3 = tfrt.repeat.i32 %n, %a, %e, %b : i32, i32, i32 {
    %s = tfrt.add.i32 %b, %b
    tfrt.return %a, %e, %s : i32, i32, i32
  }
  tfrt.return %0#0, %0#1, %0#2 : i32, i32, i32
}
func.func @identity_of_error() -> (i32, i1) {
  %e = "tfrt_test.fail"() : () -> i32
  %ch = tfrt.new.chain
  %c = "tfrt_test.as_chain"(%e) : (i32) -> !tfrt.chain
  %o = tfrt.constant.i32 1
  %x = "tfrt_test.identity"(%c, %o) : (!tfrt.chain, i32) -> i32
  %t = tfrt.constant.i1 true
  tfrt.return %x, %t : i32, i1
}
func.func @nonstrict_merge() -> (!tfrt.chain) {
  %e = "tfrt_test.fail"() : () -> i32
  %ch = tfrt.new.chain
  %m = "tfrt.merge.chains"(%e, %ch) {bef.nonstrict} : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
