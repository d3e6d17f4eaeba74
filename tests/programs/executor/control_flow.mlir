// Loops that carry chains, many turns, late values, calls by index.
func.func @doubling() -> (i32) {
  %start = tfrt.new.chain
  %n = tfrt.constant.i32 4
  %one = tfrt.constant.i32 1
  %r, %end = tfrt.repeat.i32 %n, %one, %start : i32, !tfrt.chain {
    %next_ch = tfrt.print.i32 %one, %start
    %sum = tfrt.add.i32 %one, %one
    tfrt.return %sum, %next_ch : i32, !tfrt.chain
  }
  tfrt.return %r : i32
}
func.func @thousand_async_turns() -> i32 {
  %n = tfrt.constant.i32 1000
  %x = tfrt.constant.i32 42
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.repeat.i32 %n, %x, %one : i32, i32 {
    %y = "tfrt_test.async_add.i32"(%x, %one) : (i32, i32) -> i32
    tfrt.return %y, %one : i32, i32
  }
  tfrt.return %r#0 : i32
}
func.func @three_million_turns() -> i32 {
  %n = tfrt.constant.i32 3000000
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.repeat.i32 %n, %zero, %one : i32, i32 {
    %y = tfrt.add.i32 %zero, %one
    tfrt.return %y, %one : i32, i32
  }
  tfrt.return %r#0 : i32
}
func.func @negative_count() -> i32 {
  %n = tfrt.constant.i32 -3
  %x = tfrt.constant.i32 7
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
func.func @late_step(%x: i32, %limit: i32) -> (i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %y = "tfrt_test.async_add.i32"(%x, %one) : (i32, i32) -> i32
  %go = "tfrt.lessequal.i32"(%y, %limit) : (i32, i32) -> i1
  tfrt.return %y, %limit, %go : i32, i32, i1
}
func.func @late_while() -> i32 {
  %go = tfrt.constant.i1 true
  %zero = tfrt.constant.i32 0
  %limit = tfrt.constant.i32 500
  %r:2 = tfrt.while %go @late_step(%zero, %limit) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0 : i32
}
func.func @while_never() -> i32 {
  %go = tfrt.constant.i1 false
  %zero = tfrt.constant.i32 0
  %r:2 = tfrt.while %go @late_step(%zero, %zero) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0 : i32
}
// As deep as memory allows, not as the C stack does.
func.func @down(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %end = "tfrt.lessequal.i32"(%n, %zero) : (i32, i32) -> i1
  %r = tfrt.if %end, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %minus_one = tfrt.constant.i32 -1
    %one = tfrt.constant.i32 1
    %m = tfrt.add.i32 %n, %minus_one
    %below = tfrt.call @down(%m) : (i32) -> (i32)
    %depth = tfrt.add.i32 %below, %one
    tfrt.return %depth : i32
  }
  tfrt.return %r : i32
}
func.func @deep_recursion() -> i32 {
  %n = tfrt.constant.i32 100000
  %depth = tfrt.call @down(%n) : (i32) -> (i32)
  tfrt.return %depth : i32
}
func.func @counted(%x: i32) -> i32 {
  %start = tfrt.new.chain
  %printed = tfrt.print.i32 %x, %start
  tfrt.return %x : i32
}
func.func @once_only() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %a = tfrt.once @counted(%one) : (i32) -> (i32)
  %ordered = tfrt.add.i32 %a, %two
  %b = tfrt.once @counted(%ordered) : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}
func.func @if_without_else(%c: i1) -> !tfrt.chain {
  %start = tfrt.new.chain
  tfrt.if %c : () -> () {
    %ch = tfrt.new.chain
    %nine = tfrt.constant.i32 9
    %printed = tfrt.print.i32 %nine, %ch
    tfrt.return
  }
  tfrt.return %start : !tfrt.chain
}
func.func @both_ways() -> (!tfrt.chain, !tfrt.chain) {
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %a = tfrt.call @if_without_else(%yes) : (i1) -> !tfrt.chain
  %b = tfrt.call @if_without_else(%no) : (i1) -> (!tfrt.chain)
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
// One value in three results, and one that nobody needs.
func.func @shared_results() -> (i32, i32, i32) {
  %one = tfrt.constant.i32 1
  %late = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
  %unused = "tfrt_test.async_add.i32"(%late, %one) : (i32, i32) -> i32
  %indirect = "tfrt_test.make_indirect"(%late) : (i32) -> i32
  tfrt.return %late, %late, %indirect : i32, i32, i32
}
// Values that are handed on when a chain is there, and not at all if that failed.
func.func @aliases() -> (i32, i32, i32) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %late = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
  %printed = tfrt.print.i32 %late, %ch
  %a = "tfrt.alias.value"(%printed, %one) : (!tfrt.chain, i32) -> i32
  %later = "tfrt_test.async_add.i32"(%late, %one) : (i32, i32) -> i32
  %b = "tfrt.alias.value"(%printed, %later) : (!tfrt.chain, i32) -> i32
  %error = "tfrt_test.report_error_async"() : () -> i32
  %failed = tfrt.merge.chains %error : i32
  %c = "tfrt.alias.value"(%failed, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %a, %b, %c : i32, i32, i32
}
