// SPDX-License-Identifier: Apache-2.0
//
// Scalars of the types that few ops have, and the ops on scalars that only the generic form names.

func.func @numbers() {
  %ch = tfrt.new.chain
  %h = tfrt.constant.f16 1.5
  %c = tfrt.constant.complex64 1.0, -2.5
  %d = tfrt.constant.complex128 0.25, 4.0
  %c0 = "tfrt.print.f16"(%h, %ch) : (f16, !tfrt.chain) -> !tfrt.chain
  %c1 = "tfrt.print.complex64"(%c, %c0) : (complex<f32>, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt.print.complex128"(%d, %c1) : (complex<f64>, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

func.func @values() -> (f16, bf16, complex<f32>, complex<f64>) {
  %h = tfrt.constant.f16 1.5
  %b = tfrt.constant.bf16 -2.0
  %c = tfrt.constant.complex64 1.0, -2.5
  %d = "tfrt.constant.complex128"() {real = 0.25 : f64, imaginary = 4.0 : f64} : () -> complex<f64>
  tfrt.return %h, %b, %c, %d : f16, bf16, complex<f32>, complex<f64>
}

func.func @differences() -> (i32, i64, i1, i1, i32) {
  %ch = tfrt.new.chain
  %a = tfrt.constant.i32 -2147483648
  %one = tfrt.constant.i32 1
  %x = tfrt.constant.i64 5
  %y = tfrt.constant.i64 7
  %m = "tfrt.minus.i32"(%a, %one) : (i32, i32) -> i32
  %n = "tfrt.minus.i64"(%x, %y, %ch) : (i64, i64, !tfrt.chain) -> i64
  %p = "tfrt.lessequal.i64"(%x, %y) : (i64, i64) -> i1
  %q = "tfrt.lessequal.i64"(%y, %x) : (i64, i64) -> i1
  %s = "tfrt_test.sum"(%one, %one, %m) : (i32, i32, i32) -> i32
  tfrt.return %m, %n, %p, %q, %s : i32, i64, i1, i1, i32
}

func.func @interpreted() -> (i32, i64, f16, bf16, i1) attributes {tfrt.sync} {
  %a = tfrt.constant_s.i32 7
  %b = tfrt.constant_s.i64 9
  %c = tfrt.constant_s.f16 1.0
  %d = tfrt.constant_s.bf16 1.0
  %e = "tfrt.minus.i32"(%a, %a) : (i32, i32) -> i32
  %f = "tfrt.minus.i64"(%b, %b) : (i64, i64) -> i64
  %g = "tfrt.lessequal.i64"(%b, %f) : (i64, i64) -> i1
  tfrt.return %e, %b, %c, %d, %g : i32, i64, f16, bf16, i1
}

func.func @count() -> (i64, i64, i64) {
  %a = tfrt.constant.i64 9223372036854775806
  %l = "tfrt_test.async_copy.with_delay.i64"(%a) : (i64) -> i64
  %b:3 = tfrt_test.count3.i64 %l
  tfrt.return %b#0, %b#1, %b#2 : i64, i64, i64
}

func.func @strings() -> (i1, i1) {
  %ch = tfrt.new.chain
  %f = "tfrt_test.get_string"() {value = "file-%03d of 100%%"} : () -> !tfrt.string
  %n = tfrt.constant.i32 7
  %s = "tfrt_test.format_string"(%f, %n) : (!tfrt.string, i32) -> !tfrt.string
  %c1 = "tfrt_test.print_string"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %p = "tfrt_test.get_string"() {value = "/dev/null"} : () -> !tfrt.string
  %t = "tfrt_test.read_string_from_file"(%p) : (!tfrt.string) -> !tfrt.string
  %c2 = "tfrt_test.print_string"(%t, %c1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = "tfrt_test.string_equal"(%s, %s) : (!tfrt.string, !tfrt.string) -> i1
  %g = "tfrt_test.string_equal"(%s, %t) : (!tfrt.string, !tfrt.string) -> i1
  tfrt.return %e, %g : i1, i1
}

// A format that would read what isn't there, or write a line of any size, is refused.
func.func @formats() -> (!tfrt.string, !tfrt.string, !tfrt.string, !tfrt.string) {
  %n = tfrt.constant.i32 7
  %a = "tfrt_test.get_string"() {value = "%s"} : () -> !tfrt.string
  %b = "tfrt_test.get_string"() {value = "%d %d"} : () -> !tfrt.string
  %c = "tfrt_test.get_string"() {value = "%99999d"} : () -> !tfrt.string
  %d = "tfrt_test.get_string"() {value = "nothing"} : () -> !tfrt.string
  %0 = "tfrt_test.format_string"(%a, %n) : (!tfrt.string, i32) -> !tfrt.string
  %1 = "tfrt_test.format_string"(%b, %n) : (!tfrt.string, i32) -> !tfrt.string
  %2 = "tfrt_test.format_string"(%c, %n) : (!tfrt.string, i32) -> !tfrt.string
  %3 = "tfrt_test.format_string"(%d, %n) : (!tfrt.string, i32) -> !tfrt.string
  tfrt.return %0, %1, %2, %3 : !tfrt.string, !tfrt.string, !tfrt.string, !tfrt.string
}

func.func @no_file() -> !tfrt.string {
  %p = "tfrt_test.get_string"() {value = "/absent.txt"} : () -> !tfrt.string
  %t = "tfrt_test.read_string_from_file"(%p) : (!tfrt.string) -> !tfrt.string
  tfrt.return %t : !tfrt.string
}
