// Errors are values: they skip what needs them and nothing else.
func.func @sync_error() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
func.func @later_error() -> i32 {
  %x = "tfrt_test.report_error_async"() : () -> i32
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @partial() -> (i32, i32) {
  %x, %y = "tfrt_test.partial_fail"() : () -> (i32, i32)
  tfrt.return %x, %y : i32, i32
}
func.func @unused_error() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}
func.func @concrete_and_indirect() -> (i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = "tfrt_test.report_error_concrete_async"(%zero) : (i32) -> i32
  %b = "tfrt_test.report_error_concrete_async"(%one) : (i32) -> i32
  %c = "tfrt_test.report_error_indirect_async"(%zero) : (i32) -> i32
  %d = "tfrt_test.report_error_indirect_async"(%one) : (i32) -> i32
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}
// The last operand that is an error wins.
func.func @last_operand_wins() -> i32 {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %fail = "tfrt_test.fail"() : () -> i32
  %q, %r = tfrt.div.i32 %one, %zero
  %sum = tfrt.add.i32 %fail, %q
  tfrt.return %sum : i32
}
// A function may start with an argument that is an error; what doesn't use it is untouched.
func.func @second(%x: i32, %y: i32) -> (i32, i32) {
  %z = tfrt.add.i32 %y, %y
  tfrt.return %x, %z : i32, i32
}
func.func @callee_ignores_error() -> (i32, i32) {
  %x = "tfrt_test.fail"() : () -> i32
  %two = tfrt.constant.i32 2
  %a, %b = tfrt.call @second(%x, %two) : (i32, i32) -> (i32, i32)
  tfrt.return %a, %b : i32, i32
}
func.func @error_condition() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  %one = tfrt.constant.i32 1
  %c = "tfrt.lessequal.i32"(%x, %one) : (i32, i32) -> i1
  %r = tfrt.if %c, %one : (i32) -> (i32) {
    tfrt.return %one : i32
  } else {
    tfrt.return %one : i32
  }
  tfrt.return %r : i32
}
func.func @error_count() -> i32 {
  %n = "tfrt_test.fail"() : () -> i32
  %one = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %one : i32 {
    tfrt.return %one : i32
  }
  tfrt.return %r : i32
}
// A merge of chains with an error is that error; what it orders is skipped.
func.func @merged_error() -> !tfrt.chain {
  %start = tfrt.new.chain
  %x = "tfrt_test.report_error_async"() : () -> i32
  %both = tfrt.merge.chains %start, %x : !tfrt.chain, i32
  %one = tfrt.constant.i32 1
  %never = tfrt.print.i32 %one, %both
  tfrt.return %never : !tfrt.chain
}
