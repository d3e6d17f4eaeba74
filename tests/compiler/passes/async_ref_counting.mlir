// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --async-ref-counting --verify-async-ref-counts %s | FileCheck %s
// RUN: tfrt_opt --async-ref-counting %s | tfrt_opt --keep-value-names --async-ref-counting | FileCheck %s --check-prefix=AGAIN

func.func private @source() -> !async.token
func.func private @pair() -> (!async.token, !async.value<f32>)
func.func private @sink(!async.token)
func.func private @sinks(!async.token, !async.token)
func.func private @condition() -> i1

// Nobody uses it: it goes at once.
// CHECK-LABEL: func.func @unused_result
// AGAIN-LABEL: func.func @unused_result
func.func @unused_result() {
  // CHECK-NEXT: %t = call @source
  // CHECK-NEXT: async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  // CHECK-NEXT: return
  // The pass may run again.
  // AGAIN-COUNT-1: drop_ref
  // AGAIN-NOT: drop_ref
  // AGAIN: return
  %t = func.call @source() : () -> !async.token
  return
}

// CHECK-LABEL: func.func @unused_argument
func.func @unused_argument(%t: !async.token, %g: !async.group, %x: i32) {
  // CHECK-DAG: async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  // CHECK-DAG: async.runtime.drop_ref %g {count = 1 : i64} : !async.group
  // CHECK-NOT: drop_ref
  // CHECK: return
  return
}

// Rule 1: a return hands the reference on.
// CHECK-LABEL: func.func @returned
func.func @returned(%t: !async.token) -> !async.token {
  // CHECK-NEXT: return %t
  return %t : !async.token
}

// Two references for two results.
// CHECK-LABEL: func.func @returned_twice
func.func @returned_twice(%t: !async.token) -> (!async.token, !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t {count = 1 : i64} : !async.token
  // CHECK-NEXT: return %t, %t
  return %t, %t : !async.token, !async.token
}

// Rule 2: behind the last use.
// CHECK-LABEL: func.func @last_use
func.func @last_use() {
  // CHECK-NEXT: %p:2 = call @pair
  %p:2 = func.call @pair() : () -> (!async.token, !async.value<f32>)
  // CHECK-NEXT: async.await %p#0
  // CHECK-NEXT: async.runtime.drop_ref %p#0 {count = 1 : i64} : !async.token
  async.await %p#0 : !async.token
  // CHECK-NEXT: async.await %p#1
  %x = async.await %p#1 : !async.value<f32>
  // CHECK-NEXT: async.await %p#1
  // CHECK-NEXT: async.runtime.drop_ref %p#1 {count = 1 : i64} : !async.value<f32>
  %y = async.await %p#1 : !async.value<f32>
  // CHECK-NEXT: return
  return
}

// Rule 3: a call takes a reference of each operand.
// CHECK-LABEL: func.func @called
func.func @called(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: call @sink(%t)
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: call @sinks(%t, %t)
  // CHECK-NEXT: async.runtime.drop_ref %t {count = 1 : i64}
  // CHECK-NEXT: return
  func.call @sink(%t) : (!async.token) -> ()
  func.call @sinks(%t, %t) : (!async.token, !async.token) -> ()
  return
}

// The token that a task depends on is only borrowed; what its region uses is captured.
// CHECK-LABEL: func.func @captured
func.func @captured(%t: !async.token, %u: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %u
  // CHECK-NEXT: %a = async.execute [%t] {
  // CHECK-NEXT:   async.await %u
  // CHECK-NEXT:   async.runtime.drop_ref %u
  // CHECK-NEXT:   async.yield
  // CHECK-NEXT: }
  // CHECK-DAG: async.runtime.drop_ref %a
  // CHECK-DAG: async.runtime.drop_ref %t
  // CHECK: async.await %u
  // CHECK-NEXT: async.runtime.drop_ref %u
  // CHECK-NEXT: return
  %a = async.execute [%t] {
    async.await %u : !async.token
    async.yield
  }
  async.await %u : !async.token
  return
}

// Through two tasks: each hands a reference to the next one.
// CHECK-LABEL: func.func @captured_inside
func.func @captured_inside(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: %a = async.execute {
  // CHECK-NEXT:   async.runtime.add_ref %t
  // CHECK-NEXT:   %b = async.execute {
  // CHECK-NEXT:     async.await %t
  // CHECK-NEXT:     async.runtime.drop_ref %t
  // CHECK-NEXT:     async.yield
  // CHECK-NEXT:   }
  // CHECK-DAG:    async.runtime.drop_ref %t
  // CHECK-DAG:    async.runtime.drop_ref %b
  // CHECK:        async.yield
  // CHECK-NEXT: }
  // CHECK-DAG:  async.runtime.drop_ref %t
  // CHECK-DAG:  async.runtime.drop_ref %a
  // CHECK: return
  %a = async.execute {
    %b = async.execute {
      async.await %t : !async.token
      async.yield
    }
    async.yield
  }
  return
}

// Rule 4: where only one way uses the value, the other one drops it.
// CHECK-LABEL: func.func @one_way
func.func @one_way(%t: !async.token, %c: i1) {
  // CHECK: cf.cond_br %c, ^bb1, ^bb2
  cf.cond_br %c, ^used, ^unused
// CHECK: ^bb1:
^used:
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.await %t : !async.token
  cf.br ^end
// CHECK: ^bb2:
^unused:
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: cf.br
  cf.br ^end
// CHECK: ^bb3:
^end:
  // CHECK-NEXT: return
  return
}

// A successor that is reached otherwise, too, gets a block in front of it.
// CHECK-LABEL: func.func @shared_successor
func.func @shared_successor(%t: !async.token, %c: i1) {
  // CHECK: cf.cond_br %c, ^bb1, ^bb2
  cf.cond_br %c, ^used, ^end
^used:
  // CHECK: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: cf.br ^bb3
  async.await %t : !async.token
  cf.br ^end
// CHECK: ^bb2:
// CHECK-NEXT: async.runtime.drop_ref %t
// CHECK-NEXT: cf.br ^bb3
// CHECK: ^bb3:
^end:
  // CHECK-NEXT: return
  return
}

// Several blocks in front of one, in the order of the edges.
// CHECK-LABEL: func.func @shared_successors
func.func @shared_successors(%t: !async.token, %u: !async.token, %c: i1) {
  // CHECK: cf.cond_br %c, ^bb1, ^bb3
  cf.cond_br %c, ^first, ^end
^first:
  // CHECK: async.await %t
  // CHECK: cf.cond_br %c, ^bb2, ^bb4
  async.await %t : !async.token
  cf.cond_br %c, ^second, ^end
// CHECK: ^bb2:
^second:
  // CHECK: async.await %u
  // CHECK: cf.br ^bb5
  async.await %u : !async.token
  cf.br ^end
// CHECK: ^bb3:
// CHECK-DAG: async.runtime.drop_ref %t
// CHECK-DAG: async.runtime.drop_ref %u
// CHECK: cf.br ^bb5
// CHECK: ^bb4:
// CHECK-NEXT: async.runtime.drop_ref %u
// CHECK-NEXT: cf.br ^bb5
^end:
  return
}

// A loop hands its token round. The branch gives it to the argument.
// CHECK-LABEL: func.func @loop_carried
func.func @loop_carried(%t: !async.token) {
  // CHECK-NEXT: cf.br ^bb1(%t
  cf.br ^loop(%t : !async.token)
// CHECK: ^bb1(%u: !async.token):
^loop(%u: !async.token):
  // CHECK-NEXT: async.execute [%u]
  // CHECK: async.runtime.drop_ref %u
  %v = async.execute [%u] {
    async.yield
  }
  %c = func.call @condition() : () -> i1
  // CHECK: cf.cond_br %{{.*}}, ^bb1(%v : !async.token), ^bb2
  cf.cond_br %c, ^loop(%v : !async.token), ^end
// CHECK: ^bb2:
^end:
  // CHECK-NEXT: async.runtime.drop_ref %v
  // CHECK-NEXT: return
  return
}

// Handed on and kept.
// CHECK-LABEL: func.func @handed_on_and_kept
func.func @handed_on_and_kept(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: cf.br ^bb1(%t
  cf.br ^next(%t : !async.token)
^next(%u: !async.token):
  // CHECK: async.await %u
  // CHECK-NEXT: async.runtime.drop_ref %u
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.await %u : !async.token
  async.await %t : !async.token
  return
}

// Defined in a loop, used in a later turn's block only by one way.
// CHECK-LABEL: func.func @defined_in_loop
func.func @defined_in_loop() {
  // CHECK: cf.br ^bb2
  cf.br ^loop
// The way back to where it is defined anew drops it, and not the block's head.
// CHECK: ^bb1:
// CHECK-NEXT: async.runtime.drop_ref %t
// CHECK-NEXT: cf.br ^bb2
^loop:
  // CHECK: %t = call @source
  %t = func.call @source() : () -> !async.token
  %c = func.call @condition() : () -> i1
  // CHECK: cf.cond_br %{{.*}}, ^bb3, ^bb1
  cf.cond_br %c, ^use, ^loop
^use:
  // CHECK: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.await %t : !async.token
  // CHECK: cf.cond_br %{{.*}}, ^bb2, ^bb4
  cf.cond_br %c, ^loop, ^end
^end:
  return
}

// A region that runs here borrows, and adds what it hands on.
// CHECK-LABEL: func.func @borrowed
func.func @borrowed(%t: !async.token, %c: i1) -> !async.token {
  // CHECK-NEXT: %r = scf.if %c -> (!async.token) {
  // CHECK-NEXT:   async.await %t
  // CHECK-NEXT:   async.runtime.add_ref %t
  // CHECK-NEXT:   func.call @sink(%t)
  // CHECK-NEXT:   async.runtime.add_ref %t
  // CHECK-NEXT:   scf.yield %t
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   %n = func.call @source
  // CHECK-NEXT:   scf.yield %n
  // CHECK-NEXT: }
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: return %r
  %r = scf.if %c -> (!async.token) {
    async.await %t : !async.token
    func.call @sink(%t) : (!async.token) -> ()
    scf.yield %t : !async.token
  } else {
    %n = func.call @source() : () -> !async.token
    scf.yield %n : !async.token
  }
  return %r : !async.token
}

// A loop with regions takes what it carries.
// CHECK-LABEL: func.func @structured_loop
func.func @structured_loop(%t: !async.token, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: async.runtime.add_ref %t
  // CHECK-NEXT: %r = scf.for {{.*}} iter_args(%u = %t)
  // CHECK-NEXT:   async.execute [%u]
  // CHECK:        async.runtime.drop_ref %u
  // CHECK:        scf.yield %v
  // CHECK: }
  // CHECK-DAG: async.runtime.drop_ref %t
  // CHECK-DAG: async.runtime.drop_ref %r
  // CHECK: return
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t) -> (!async.token) {
    %v = async.execute [%u] {
      async.yield
    }
    scf.yield %v : !async.token
  }
  return
}

// A switch: all but one of its ways drop the value.
// CHECK-LABEL: func.func @switched
func.func @switched(%t: !async.token, %x: i32) {
  // CHECK:      default: ^[[DROP:bb[0-9]+]],
  // CHECK-NEXT: 1: ^[[DROP]],
  // CHECK-NEXT: 2: ^[[USE:bb[0-9]+]]
  cf.switch %x : i32, [ default: ^drop, 1: ^drop, 2: ^use ]
// CHECK: ^[[DROP]]:
^drop:
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: return
  return
// CHECK: ^[[USE]]:
^use:
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.await %t : !async.token
  return
}

// Groups are counted as well.
// CHECK-LABEL: func.func @groups
func.func @groups(%t: !async.token) {
  %c1 = arith.constant 1 : index
  // CHECK: %g = async.create_group
  %g = async.create_group %c1 : !async.group
  // CHECK-NEXT: async.add_to_group %t, %g
  // CHECK-NEXT: async.runtime.drop_ref %t
  %i = async.add_to_group %t, %g : !async.token
  // CHECK-NEXT: async.await_all %g
  // CHECK-NEXT: async.runtime.drop_ref %g {count = 1 : i64} : !async.group
  async.await_all %g
  return
}

// Functions that may wait are counted, too.
// CHECK-LABEL: async.func @asynchronous
async.func @asynchronous(%t: !async.token) -> !async.value<i32> {
  // CHECK-NEXT: await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.await %t : !async.token
  %x = arith.constant 1 : i32
  async.return %x : i32
}

// CHECK-LABEL: func.func @calls_asynchronous
func.func @calls_asynchronous(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: %v = async.call @asynchronous(%t)
  // CHECK-DAG: async.runtime.drop_ref %t
  // CHECK-DAG: async.runtime.drop_ref %v
  // CHECK: return
  %v = async.call @asynchronous(%t) : (!async.token) -> !async.value<i32>
  return
}

// What can't be reached has no counts.
// CHECK-LABEL: func.func @unreachable
func.func @unreachable(%t: !async.token) {
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: return
  return
// CHECK: ^bb1:
^dead:
  // CHECK-NOT: _ref
  // CHECK: return
  async.await %t : !async.token
  return
}
