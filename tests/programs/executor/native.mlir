// SPDX-License-Identifier: Apache-2.0
// Native functions: C functions by name, called like any other.

func.func private @native_add(%a: i32, %b: i32) -> i32 attributes {tfrt.native}
func.func private @native_async_add(%a: i32, %b: i32) -> i32 attributes {tfrt.native}
func.func private @native_sink(%a: i32, %b: i32) -> () attributes {tfrt.native}
func.func private @native_async_sink(%a: i32, %b: i32) -> !tfrt.chain attributes {tfrt.native}

func.func @call() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %now = tfrt.call @native_add(%a, %b) : (i32, i32) -> i32
  %later = tfrt.call @native_async_add(%a, %now) : (i32, i32) -> i32
  tfrt.return %now, %later : i32, i32
}

// The call waits for both arguments.
func.func @late_argument() -> i32 {
  %a = tfrt.constant.i32 40
  %b = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %c = tfrt_test.do.async %a, %b : (i32, i32) -> (i32) {
    %d = tfrt.add.i32 %a, %b
    tfrt.return %d : i32
  }
  %r = tfrt.call @native_add(%b, %c) : (i32, i32) -> i32
  tfrt.return %r : i32
}

// The last error counts.
func.func @error_argument() -> i32 {
  %a = "tfrt_test.report_error_async"() : () -> i32
  %b, %c = "tfrt_test.partial_fail"() : () -> (i32, i32)
  %r = tfrt.call @native_add(%a, %c) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @branches() -> (i32, i32) {
  %yes = tfrt.constant.i1 true
  %index = tfrt.constant.i32 7
  %a = tfrt.constant.i32 20
  %b = tfrt.constant.i32 22
  %r = tfrt.cond %yes @native_add @native_async_add (%a, %b) : (i32, i32) -> (i32)
  %s = tfrt.case %index [@native_add, @native_async_add] (%r, %b) : (i32, i32) -> (i32)
  tfrt.return %r, %s : i32, i32
}

func.func @once() -> (i32, i32) {
  %a = tfrt.constant.i32 20
  %b = tfrt.constant.i32 22
  %r = tfrt.once @native_async_add(%a, %b) : (i32, i32) -> (i32)
  %s = tfrt.once @native_async_add(%r, %a) : (i32, i32) -> (i32)
  tfrt.return %r, %s : i32, i32
}

func.func @loop() -> i32 {
  %n = tfrt.constant.i32 100
  %a = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %a : i32 {
    %b = tfrt.call @native_async_add(%a, %a) : (i32, i32) -> i32
    %c = tfrt.constant.i32 1
    tfrt.return %c : i32
  }
  tfrt.return %r : i32
}

func.func @parallel() -> (!tfrt.chain, !tfrt.chain) {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 1000
  %size = tfrt.constant.i32 1
  %a = tfrt.parallel_call.i32 %start to %end fixed %size @native_sink()
  %b = tfrt.parallel_call.i32 %start to %end fixed %size @native_async_sink()
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}

// Without arguments it is run like any other function.
func.func private @native_error() -> i32 attributes {tfrt.native}
