// SPDX-License-Identifier: Apache-2.0
// Regions and loops in synchronous functions: they are synchronous too, and nest in memory.

func.func @pick(%c: i1, %a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %r = tfrt.if %c, %a, %b : (i32, i32) -> i32 {
    %x = tfrt.add.i32 %a, %b
    tfrt.return %x : i32
  } else {
    %m = tfrt.constant.i32 -1
    tfrt.return %m : i32
  }
  tfrt.return %r : i32
}

func.func @ifs() -> (i32, i32) attributes {tfrt.sync} {
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 false
  %a = tfrt.constant.i32 20
  %b = tfrt.constant.i32 22
  %x = tfrt.call @pick(%t, %a, %b) : (i1, i32, i32) -> i32
  %y = tfrt.call @pick(%f, %a, %b) : (i1, i32, i32) -> i32
  tfrt.return %x, %y : i32, i32
}

func.func @power() -> i32 attributes {tfrt.sync} {
  %n = tfrt.constant.i32 10
  %one = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %d = tfrt.add.i32 %one, %one
    tfrt.return %d : i32
  }
  tfrt.return %r : i32
}

// Without a turn the values are what they were.
func.func @no_turn() -> i32 attributes {tfrt.sync} {
  %n = tfrt.constant.i32 -3
  %one = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %d = tfrt.add.i32 %one, %one
    tfrt.return %d : i32
  }
  tfrt.return %r : i32
}

// Payloads that are more than a number move from turn to turn.
func.func @longer() -> !tfrt.string attributes {tfrt.sync} {
  %n = tfrt.constant.i32 3
  %s = "tfrt_test.get_string"() {value = "ab"} : () -> !tfrt.string
  %t = "tfrt_test.get_string"() {value = "."} : () -> !tfrt.string
  %r, %q = tfrt.repeat.i32 %n, %s, %t : !tfrt.string, !tfrt.string {
    %d = "tfrt_test.append_string"(%s, %t) : (!tfrt.string, !tfrt.string) -> !tfrt.string
    %e = "tfrt_test.append_string"(%t, %t) : (!tfrt.string, !tfrt.string) -> !tfrt.string
    tfrt.return %d, %e : !tfrt.string, !tfrt.string
  }
  tfrt.return %r : !tfrt.string
}

func.func @print_longer() -> !tfrt.chain {
  %c = tfrt.new.chain
  %s = tfrt.call @longer() : () -> !tfrt.string
  %d = "tfrt_test.print_string"(%s, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

// What is lent can not be given back: as a result that is an argument.
func.func @lent() -> !tfrt.string attributes {tfrt.sync} {
  %n = tfrt.constant.i32 0
  %s = "tfrt_test.get_string"() {value = "ab"} : () -> !tfrt.string
  %r = tfrt.repeat.i32 %n, %s : !tfrt.string {
    %d = "tfrt_test.append_string"(%s, %s) : (!tfrt.string, !tfrt.string) -> !tfrt.string
    tfrt.return %d : !tfrt.string
  }
  tfrt.return %r : !tfrt.string
}

func.func @next(%n: i32) -> (i32, i1) attributes {tfrt.sync} {
  %one = tfrt.constant.i32 1
  %limit = tfrt.constant.i32 99999
  %m = tfrt.add.i32 %n, %one
  %more = "tfrt.lessequal.i32"(%m, %limit) : (i32, i32) -> i1
  tfrt.return %m, %more : i32, i1
}

// A while ends with its condition, or before it begins.
func.func @count() -> (i32, i32) attributes {tfrt.sync} {
  %z = tfrt.constant.i32 0
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 false
  %r = tfrt.while %t @next(%z) parallel_iterations(1) : (i32) -> (i32)
  %s = tfrt.while %f @next(%z) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r, %s : i32, i32
}

// The first error ends all.
func.func @fails_in_turn() -> i32 attributes {tfrt.sync} {
  %n = tfrt.constant.i32 3
  %a = tfrt.constant.i32 8
  %r, %q = tfrt.repeat.i32 %n, %a, %n : i32, i32 {
    %m = tfrt.constant.i32 -1
    %x = tfrt.add.i32 %n, %m
    %d, %e = tfrt.div.i32 %a, %x
    tfrt.return %d, %x : i32, i32
  }
  tfrt.return %r : i32
}
