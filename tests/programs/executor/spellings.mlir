// SPDX-License-Identifier: Apache-2.0
//
// Other ways to write what TFRT and MLIR accept: aliases, hexadecimal numbers, groups of results, names
// with signs in them, operations and functions in the generic form, places behind functions.

!ch = !tfrt.chain
#seven = 7 : i32
module @top attributes {} {
func.func @lits() -> (i32, i64, i32, f32, f64, f32, i1) { // one comment
  %a = tfrt.constant.i32 0xFF %b = tfrt.constant.i64 0x7fffffffffffffff
  %c-d$e.f = tfrt.constant.i32 -0
  %_ = tfrt.constant.f32 1.e2
  %g = tfrt.constant.f64 -1.5e-3
  %h = tfrt.constant.f32 0x3F800000
  %i = tfrt.constant.i1 0
  tfrt.return %a, %b, %c-d$e.f, %_, %g, %h, %i : i32, i64, i32, f32, f64, f32, i1
} loc("lits")
func.func @groups() -> (i32, i32, i32) {
  %x = tfrt.constant.i32 -17 loc("here":1:2)
  %y = tfrt.constant.i32 5
  %q, %r = tfrt.div.i32 %x, %y
  %t:1, %u:2 = tfrt_test.count3.i32 %r
  tfrt.return %q, %t, %u#1 : i32, i32, i32
}
func.func @generic(%n: i32) -> i32 {
  %c = "tfrt.constant.i1"() {value = true} : () -> i1
  %r = "tfrt.if"(%c, %n) ({
    ^bb0(%m: i32):
      %k = "tfrt.add.i32"(%m, %m) : (i32, i32) -> i32
      "tfrt.return"(%k) : (i32) -> ()
  }, {
    ^bb0(%m: i32):
      "tfrt.return"(%m) : (i32) -> ()
  }) : (i1, i32) -> i32
  tfrt.return %r : i32
}
"func.func"() ({
  %a = tfrt.constant.i32 21
  %b = tfrt.call @generic(%a) : (i32) -> i32
  tfrt.return %b : i32
}) {sym_name = "as_generic", function_type = () -> i32} : () -> ()
func.func @alias(%c: !ch) -> !ch { tfrt.return %c : !ch }
func.func @use_alias() -> !ch {
  %c = tfrt.new.chain
  %d = tfrt.call @alias(%c) : (!ch) -> !ch
  %s = "tfrt_test.get_string"() {value = "a\09b\41\\\22"} : () -> !tfrt.string
  %e = "tfrt_test.print_string"(%s, %d) : (!tfrt.string, !ch) -> !ch
  %n = "tfrt.constant.i32"() {value = #seven} : () -> i32
  %f = tfrt.print.i32 %n, %e
  tfrt.return %f : !ch
}
func.func @"quo ted"() -> () { tfrt.return }
func.func @calls_quoted() { tfrt.call @"quo ted"() : () -> () tfrt.return }
}
