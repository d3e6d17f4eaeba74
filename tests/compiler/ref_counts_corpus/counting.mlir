// SPDX-License-Identifier: Apache-2.0

func.func private @source() -> !async.token
func.func private @pair() -> (!async.token, !async.value<f32>)
func.func private @sink(!async.token)
func.func private @sinks(!async.token, !async.token)
func.func private @condition() -> i1

// Nobody uses it: it goes at once.
func.func @unused_result() {
  // The pass may run again.
  %t = func.call @source() : () -> !async.token
  return
}

func.func @unused_argument(%t: !async.token, %g: !async.group, %x: i32) {
  return
}

// Rule 1: a return hands the reference on.
func.func @returned(%t: !async.token) -> !async.token {
  return %t : !async.token
}

// Two references for two results.
func.func @returned_twice(%t: !async.token) -> (!async.token, !async.token) {
  return %t, %t : !async.token, !async.token
}

// Rule 2: behind the last use.
func.func @last_use() {
  %p:2 = func.call @pair() : () -> (!async.token, !async.value<f32>)
  async.await %p#0 : !async.token
  %x = async.await %p#1 : !async.value<f32>
  %y = async.await %p#1 : !async.value<f32>
  return
}

// Rule 3: a call takes a reference of each operand.
func.func @called(%t: !async.token) {
  func.call @sink(%t) : (!async.token) -> ()
  func.call @sinks(%t, %t) : (!async.token, !async.token) -> ()
  return
}

// The token that a task depends on is only borrowed; what its region uses is captured.
func.func @captured(%t: !async.token, %u: !async.token) {
  %a = async.execute [%t] {
    async.await %u : !async.token
    async.yield
  }
  async.await %u : !async.token
  return
}

// Through two tasks: each hands a reference to the next one.
func.func @captured_inside(%t: !async.token) {
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
func.func @one_way(%t: !async.token, %c: i1) {
  cf.cond_br %c, ^used, ^unused
^used:
  async.await %t : !async.token
  cf.br ^end
^unused:
  cf.br ^end
^end:
  return
}

// A successor that is reached otherwise, too, gets a block in front of it.
func.func @shared_successor(%t: !async.token, %c: i1) {
  cf.cond_br %c, ^used, ^end
^used:
  async.await %t : !async.token
  cf.br ^end
^end:
  return
}

// A loop hands its token round. The branch gives it to the argument.
func.func @loop_carried(%t: !async.token) {
  cf.br ^loop(%t : !async.token)
^loop(%u: !async.token):
  %v = async.execute [%u] {
    async.yield
  }
  %c = func.call @condition() : () -> i1
  cf.cond_br %c, ^loop(%v : !async.token), ^end
^end:
  return
}

// Handed on and kept.
func.func @handed_on_and_kept(%t: !async.token) {
  cf.br ^next(%t : !async.token)
^next(%u: !async.token):
  async.await %u : !async.token
  async.await %t : !async.token
  return
}

// Defined in a loop, used in a later turn's block only by one way.
func.func @defined_in_loop() {
  cf.br ^loop
^loop:
  %t = func.call @source() : () -> !async.token
  %c = func.call @condition() : () -> i1
  cf.cond_br %c, ^use, ^loop
^use:
  async.await %t : !async.token
  cf.cond_br %c, ^loop, ^end
^end:
  return
// The way back to where it is defined anew drops it, and not the block's head.
}

// A region that runs here borrows, and adds what it hands on.
func.func @borrowed(%t: !async.token, %c: i1) -> !async.token {
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
func.func @structured_loop(%t: !async.token, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t) -> (!async.token) {
    %v = async.execute [%u] {
      async.yield
    }
    scf.yield %v : !async.token
  }
  return
}

// A switch: all but one of its ways drop the value.
func.func @switched(%t: !async.token, %x: i32) {
  cf.switch %x : i32, [ default: ^drop, 1: ^drop, 2: ^use ]
^drop:
  return
^use:
  async.await %t : !async.token
  return
}

// Groups are counted as well.
func.func @groups(%t: !async.token) {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  %i = async.add_to_group %t, %g : !async.token
  async.await_all %g
  return
}

// Functions that may wait are counted, too.
async.func @asynchronous(%t: !async.token) -> !async.value<i32> {
  async.await %t : !async.token
  %x = arith.constant 1 : i32
  async.return %x : i32
}

func.func @calls_asynchronous(%t: !async.token) {
  %v = async.call @asynchronous(%t) : (!async.token) -> !async.value<i32>
  return
}

// What can't be reached has no counts.
func.func @unreachable(%t: !async.token) {
  return
^dead:
  async.await %t : !async.token
  return
}
