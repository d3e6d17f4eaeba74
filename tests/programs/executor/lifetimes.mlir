// SPDX-License-Identifier: Apache-2.0
// When values die, who owns them alone, and what is printed on the way.

func.func @linear() -> !tfrt.chain {
  %c = tfrt.new.chain
  %a = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %b = "vt.constant"() {value = 2 : i32} : () -> !vt.value
  %r = "vt.add"(%a, %b) : (!vt.value, !vt.value) -> !vt.value
  %d = "vt.print"(%r, %c) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

func.func @increment(%x: !vt.value) -> !vt.value {
  %one = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %r = "vt.add"(%one, %x) : (!vt.value, !vt.value) -> !vt.value
  tfrt.return %r : !vt.value
}

func.func @call() -> !tfrt.chain {
  %c = tfrt.new.chain
  %a = "vt.constant"() {value = 3 : i32} : () -> !vt.value
  %x = tfrt.call @increment(%a) : (!vt.value) -> !vt.value
  %d = "vt.print"(%x, %c) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

func.func @share() -> !tfrt.chain {
  %c = tfrt.new.chain
  %a = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %x, %y = "tfrt_test.share_to_two"(%a) : (!vt.value) -> (!vt.value, !vt.value)
  %d = "vt.print"(%x, %c) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  %e = "vt.print"(%y, %d) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e : !tfrt.chain
}

func.func @loop() -> !tfrt.chain {
  %c = tfrt.new.chain
  %n = tfrt.constant.i32 2
  %x = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %y = tfrt.repeat.i32 %n, %x : !vt.value {
    %one = "vt.constant"() {value = 1 : i32} : () -> !vt.value
    %r = "vt.add"(%one, %x) : (!vt.value, !vt.value) -> !vt.value
    tfrt.return %r : !vt.value
  }
  %d = "vt.print"(%y, %c) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

func.func @resource() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %r, %c1 = "tfrt_test.allocate_resource"(%c0)
      : (!tfrt.chain) -> (!tfrt.test.resource, !tfrt.chain)
  %c2 = "tfrt_test.deallocate_resource"(%r, %c1)
      : (!tfrt.test.resource, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}

// What a cancel skips does not free the resource; its last reference does.
func.func @cancelled_resource() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %r, %c1 = "tfrt_test.allocate_resource"(%c0)
      : (!tfrt.chain) -> (!tfrt.test.resource, !tfrt.chain)
  %x, %c2 = "tfrt_test.cancel"(%c1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %c3 = "tfrt_test.deallocate_resource"(%r, %c2)
      : (!tfrt.test.resource, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c3 : !tfrt.chain
}

// The caller has the arguments, too: it returns them.
func.func @callee(%a: i32, %b: i32) -> (i1, i1) {
  %x, %y = "tfrt_test.get_uniqueness"(%a, %b) : (i32, i32) -> (i1, i1)
  tfrt.return %x, %y : i1, i1
}

func.func @unique() -> (i1, i1, i1, i1, i1, i32, i32) {
  %a = tfrt.constant.i32 0
  %b = tfrt.constant.i32 1
  %x, %y = tfrt.call @callee(%a, %b) : (i32, i32) -> (i1, i1)
  %c = tfrt.add.i32 %b, %b
  %q = "tfrt_test.get_uniqueness"(%c) : (i32) -> i1
  %d = tfrt.add.i32 %b, %b
  %r, %s = "tfrt_test.get_uniqueness"(%d, %d) : (i32, i32) -> (i1, i1)
  tfrt.return %x, %y, %q, %r, %s, %a, %b : i1, i1, i1, i1, i1, i32, i32
}

// An indirect value is not unique as long as others have what it stands for.
func.func @unique_indirect() -> (i1, i32) {
  %a = tfrt.constant.i32 100
  %i = "tfrt_test.make_indirect"(%a) : (i32) -> i32
  %u = "tfrt_test.get_uniqueness"(%i) : (i32) -> i1
  tfrt.return %u, %a : i1, i32
}

func.func @names() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %c1 = "tfrt_test.print_debug_info"(%c0) : (!tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.print_debug_info"(%c1) : (!tfrt.chain) -> !tfrt.chain loc("scope/kernel")
  %c3 = "tfrt_test.print_debug_info"(%c2) : (!tfrt.chain) -> !tfrt.chain
      loc(callsite("foo" at "bar.py":42:314))
  tfrt.return %c3 : !tfrt.chain
}

func.func @places() -> !tfrt.chain {
  %a = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc(unknown)
  %b = "tfrt_test.unique_loc"() {name = "b"} : () -> !tfrt.chain loc(unknown)
  %c = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func.func @nested() -> (i32, i32, f32) {
  %a, %b, %c, %d = "tfrt_test.flat"() {value = [["text", [1 : i32, 0 : i32]], [1.0 : f32]]}
      : () -> (!tfrt.string, i32, i32, f32)
  tfrt.return %b, %c, %d : i32, i32, f32
}

func.func @values() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.async_value_get"() : () -> !tfrt.string
  %c1 = "tfrt_test.print_string"(%a, %c0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %b = "tfrt_test.async_value_ref"() : () -> !tfrt.string
  %c2 = "tfrt_test.print_string"(%b, %c1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}

func.func @shared() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a, %c1 = "tfrt_test.use_sample_shared_context"(%c0)
      : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  %b, %c2 = "tfrt_test.use_sample_shared_context"(%c1)
      : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  %c3 = "tfrt_test.print_string"(%a, %c2) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %c4 = "tfrt_test.print_string"(%b, %c3) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c4 : !tfrt.chain
}

func.func @coordinate() -> !tfrt.chain {
  %c = tfrt.new.chain
  %x = tfrt.constant.i32 2
  %y = tfrt.constant.i32 4
  %p = "tfrt_tutorial.create_coordinate"(%x, %y) : (i32, i32) -> !my.coordinate
  %d = "tfrt_tutorial.print_coordinate"(%p, %c) : (!my.coordinate, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}
