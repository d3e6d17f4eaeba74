// SPDX-License-Identifier: Apache-2.0
//
// Odd but legal: names in quotes, results as %a#1, ops over several lines, regions five deep that
// reuse names, indices and counts out of range, values that are returned more than once.

func.func @empty() { tfrt.return }

func.func @"a name with blanks"() -> i32 {
  %0 = tfrt.constant.i32 -2147483648 tfrt.return %0 : i32
}

func.func @limits() -> (i1, i32, i64, f32, f64, ui32, !tfrt.string) {
  %a = tfrt.constant.i1 true
  %b = tfrt.constant.i32 2147483647
  %c = tfrt.constant.i64 -9223372036854775808
  %d = tfrt.constant.f32 0x7F800000
  %e = tfrt.constant.f64 -0.0
  %f = tfrt.constant.ui32 4294967295
  %g = "tfrt_test.get_string"() {value = "\00"} : () -> !tfrt.string
  tfrt.return %a, %b, %c, %d, %e, %f, %g : i1, i32, i64, f32, f64, ui32, !tfrt.string
}

func.func @text() {
  %c = tfrt.new.chain
  %s = "tfrt_test.get_string"() {value = "h\C3\A9llo é 日本 \22q\22 \\ \09."} : () -> !tfrt.string
  "tfrt_test.print_string"(%s, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

func.func @lines() -> (i32, i32) {
  %x = tfrt.constant.i32 17
  %y = tfrt.constant.i32 5
  %p:2 = tfrt.div.i32 %x, %y
  %q:3 = tfrt_test.count3.i32 %p#1
  %s = "tfrt.add.i32" (%q#2, %p#0)
    {}
    : (i32,
       i32) -> (i32)
  tfrt.return %s, %p#1 : i32, i32
}

func.func @same(%n: i32) -> i32 { tfrt.return %n : i32 }
func.func @twice(%n: i32) -> (i32, i32) { tfrt.return %n, %n : i32, i32 }
func.func @next(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1 %r = tfrt.add.i32 %n, %one tfrt.return %r : i32
}

func.func @deep() -> i32 {
  %t = tfrt.constant.i1 1
  %n = tfrt.constant.i32 3
  %a = tfrt.constant.i32 1
  %r = tfrt.if %t, %n, %a : (i32, i32) -> (i32) {
    %u = tfrt.constant.i1 0
    %r = tfrt.if %u, %n, %a : (i32, i32) -> (i32) {
      tfrt.return %a : i32
    } else {
      %k = tfrt.repeat.i32 %n, %a : i32 {
        %z = tfrt_test.do.async %a : (i32) -> (i32) {
          %w = tfrt.add.i32 %a, %a
          %v = tfrt.call @same(%w) : (i32) -> i32
          tfrt.return %v : i32
        }
        tfrt.return %z : i32
      }
      tfrt.return %k : i32
    }
    tfrt.return %r : i32
  } else {
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}

func.func @chosen() -> (i32, i32, i32, i32) {
  %four = tfrt.constant.i32 4
  %minus = tfrt.constant.i32 -1
  %yes = tfrt.constant.i1 1
  %0:2 = tfrt.cond %yes @twice @twice (%four) : (i32) -> (i32, i32)
  %1 = tfrt.case %four [@same, @next] (%four) : (i32) -> i32
  %2 = tfrt.case %minus [@same, @next] (%four) : (i32) -> i32
  tfrt.return %0#0, %0#1, %1, %2 : i32, i32, i32, i32
}

func.func @no_turn() -> i32 {
  %a = tfrt.constant.i32 7
  %count = tfrt.constant.i32 -5
  %0 = tfrt.repeat.i32 %count, %a : i32 { tfrt.return %a : i32 }
  tfrt.return %0 : i32
}

func.func @nothing_carried() {
  %count = tfrt.constant.i32 2
  tfrt.repeat.i32 %count { %c = tfrt.new.chain
    "tfrt_test.print_hello"(%c) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return }
  tfrt.return
}

func.func @empty_range() -> !tfrt.chain {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %done = tfrt.parallel_for.i32 %a to %b fixed %one, %one : i32 { tfrt.return }
  tfrt.return %done : !tfrt.chain
}

func.func @late_chain() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = 3 : i32} : () -> i32
  %none = "tfrt.merge.chains"() : () -> !tfrt.chain
  %ch = tfrt.merge.chains %a, %none, %none : i32, !tfrt.chain, !tfrt.chain
  %b = "tfrt.alias.value"(%ch, %a) : (!tfrt.chain, i32) -> i32
  tfrt.return %b : i32
}

func.func @alias_of_an_error() -> (i32, i32) {
  %ch = tfrt.new.chain
  %a = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %bad = tfrt.merge.chains %a : i32
  %one = tfrt.constant.i32 1
  %b = "tfrt.alias.value"(%ch, %a) : (!tfrt.chain, i32) -> i32
  %c = "tfrt.alias.value"(%bad, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %b, %c : i32, i32
}
