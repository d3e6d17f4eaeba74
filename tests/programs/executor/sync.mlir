// SPDX-License-Identifier: Apache-2.0
// Synchronous functions: kernels in their order, on plain values, without a late value.

func.func @basic() -> i32 attributes {tfrt.sync} {
  %x = "tfrt.constant_s.i32"() {value = 42 : i32} : () -> i32
  %y = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %z = "tfrt.add_s.i32"(%x, %y) : (i32, i32) -> i32
  tfrt.return %z : i32
}

func.func @several() -> (i32, i64, f64, i1) attributes {tfrt.sync} {
  %a = tfrt.constant.i32 7
  %b = tfrt.constant.i32 2
  %q, %r = tfrt.div.i32 %a, %b
  %c = tfrt.constant.i64 5
  %d = "tfrt.cast.i64_to_f64"(%c) : (i64) -> f64
  %e = tfrt.add.f64 %d, %d
  %f = "tfrt.lessequal.i32"(%q, %r) : (i32, i32) -> i1
  tfrt.return %q, %c, %e, %f : i32, i64, f64, i1
}

func.func @fail() -> i32 attributes {tfrt.sync} {
  %x = "tfrt_test.fail_s"() : () -> i32
  tfrt.return %x : i32
}

// One line though there is no result to be the error.
func.func @fail_without_result() attributes {tfrt.sync} {
  %x = "tfrt_test.error_s"() : () -> i32
  tfrt.return
}

func.func @nothing() attributes {tfrt.sync} {
  tfrt.return
}

func.func @sum() -> i32 attributes {tfrt.sync} {
  %0 = tfrt.constant.i32 0
  %1 = tfrt.constant.i32 1
  %2 = tfrt.constant.i32 2
  %x = "tfrt_test.sync_sum"(%0, %1, %2, %2) : (i32, i32, i32, i32) -> i32
  tfrt.return %x : i32
}

func.func @sum_attributes() -> i32 attributes {tfrt.sync} {
  %x = "tfrt_test.sync_sum_attributes"() {v0 = 0 : i32, v1 = 1 : i32, v10 = 100 : i32,
      v2 = 2 : i32} : () -> i32
  tfrt.return %x : i32
}

// Payloads that are more than a number are lent to callees and die behind their last use.
func.func @greet(%name: !tfrt.string) -> !tfrt.string attributes {tfrt.sync} {
  %hello = "tfrt_test.get_string"() {value = "hello, "} : () -> !tfrt.string
  %unused = "tfrt_test.append_string"(%name, %hello) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  %greeting = "tfrt_test.append_string"(%hello, %name)
      : (!tfrt.string, !tfrt.string) -> !tfrt.string
  tfrt.return %greeting : !tfrt.string
}

func.func @greet_twice() -> (!tfrt.string, !tfrt.string) attributes {tfrt.sync} {
  %name = "tfrt_test.get_string"() {value = "world"} : () -> !tfrt.string
  %a = tfrt.call @greet(%name) : (!tfrt.string) -> !tfrt.string
  %b = tfrt.call @greet(%a) : (!tfrt.string) -> !tfrt.string
  tfrt.return %a, %b : !tfrt.string, !tfrt.string
}

func.func @greet_from_async() -> !tfrt.chain {
  %c = tfrt.new.chain
  %name = "tfrt_test.get_string"() {value = "async world"} : () -> !tfrt.string
  %g = tfrt.call @greet(%name) : (!tfrt.string) -> !tfrt.string
  %d = "tfrt_test.print_string"(%g, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

// Recursion nests in memory.
func.func @count_base(%n: i32, %sum: i32) -> i32 attributes {tfrt.sync} {
  %zero = tfrt.constant.i32 0
  %r = tfrt.add.i32 %sum, %zero
  tfrt.return %r : i32
}

func.func @count_step(%n: i32, %sum: i32) -> i32 attributes {tfrt.sync} {
  %minus = tfrt.constant.i32 -1
  %one = tfrt.constant.i32 1
  %m = tfrt.add.i32 %n, %minus
  %s = tfrt.add.i32 %sum, %one
  %r = tfrt.call @count(%m, %s) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @count(%n: i32, %sum: i32) -> i32 attributes {tfrt.sync} {
  %zero = tfrt.constant.i32 0
  %done = "tfrt.lessequal.i32"(%n, %zero) : (i32, i32) -> i1
  %r = tfrt.cond %done @count_base @count_step (%n, %sum) : (i32, i32) -> (i32)
  tfrt.return %r : i32
}

func.func @deep() -> i32 attributes {tfrt.sync} {
  %n = tfrt.constant.i32 300000
  %zero = tfrt.constant.i32 0
  %r = tfrt.call @count(%n, %zero) : (i32, i32) -> i32
  tfrt.return %r : i32
}

// An asynchronous function calls it when the arguments are there.
func.func @late_argument() -> i32 {
  %n = "tfrt_test.async_constant.i32"() {value = 1000 : i32} : () -> i32
  %zero = tfrt.constant.i32 0
  %r = tfrt.call @count(%n, %zero) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @error_argument() -> i32 {
  %n = "tfrt_test.fail"() : () -> i32
  %zero = tfrt.constant.i32 0
  %r = tfrt.call @count(%n, %zero) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @error_inside() -> i32 {
  %r = tfrt.call @fail() : () -> i32
  tfrt.return %r : i32
}

func.func @next(%n: i32) -> (i32, i1) attributes {tfrt.sync} {
  %one = tfrt.constant.i32 1
  %limit = tfrt.constant.i32 999
  %m = tfrt.add.i32 %n, %one
  %more = "tfrt.lessequal.i32"(%m, %limit) : (i32, i32) -> i1
  tfrt.return %m, %more : i32, i1
}

func.func @loop() -> i32 {
  %zero = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @next(%zero) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}

func.func @pick(%i: i32) -> i32 attributes {tfrt.sync} {
  %zero = tfrt.constant.i32 0
  %r = tfrt.case %i [@count, @count_base] (%i, %zero) : (i32, i32) -> (i32)
  tfrt.return %r : i32
}

func.func @case() -> (i32, i32) attributes {tfrt.sync} {
  %a = tfrt.constant.i32 0
  %b = tfrt.constant.i32 -3
  %r = tfrt.call @pick(%a) : (i32) -> i32
  %s = tfrt.call @pick(%b) : (i32) -> i32
  tfrt.return %r, %s : i32, i32
}
