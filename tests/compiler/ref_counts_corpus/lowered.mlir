// SPDX-License-Identifier: Apache-2.0

// A task with two dependencies, as stock `mlir-opt --async-to-async-runtime` lowers it. Both
// failures go to one block.
func.func private @two_dependencies(%a: !async.token, %b: !async.value<i64>) -> (!async.token, !async.value<i64>) {
  %t = async.runtime.create : !async.token
  %v = async.runtime.create : !async.value<i64>
  %id = async.coro.id
  %h = async.coro.begin %id
  %s0 = async.coro.save %h
  async.runtime.resume %h
  // Nothing goes on the way back to the caller, nor when the coroutine is destroyed.
  async.coro.suspend %s0, ^suspend, ^first, ^cleanup
^first:
  %s1 = async.coro.save %h
  // Whoever resumes the coroutine relies on the reference of the frame.
  async.runtime.await_and_resume %a, %h : !async.token
  async.coro.suspend %s1, ^suspend, ^second, ^cleanup
^second:
  %e1 = async.runtime.is_error %a : !async.token
  cf.cond_br %e1, ^failed, ^third
^third:
  %s2 = async.coro.save %h
  async.runtime.await_and_resume %b, %h : !async.value<i64>
  async.coro.suspend %s2, ^suspend, ^fourth, ^cleanup
^fourth:
  %e2 = async.runtime.is_error %b : !async.value<i64>
  cf.cond_br %e2, ^failed, ^body
^body:
  %x = async.runtime.load %b : <i64>
  async.runtime.store %x, %v : <i64>
  async.runtime.set_available %v : !async.value<i64>
  async.runtime.set_available %t : !async.token
  cf.br ^done
// Both ways to a failure hold %b, and neither drops the task's own results.
^failed:
  async.runtime.set_error %t : !async.token
  async.runtime.set_error %v : !async.value<i64>
  cf.br ^done
^done:
  async.coro.free %id, %h
  cf.br ^suspend
^cleanup:
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  async.coro.end %h
  return %t, %v : !async.token, !async.value<i64>
}

// Awaited, and not looked at behind that: the reference lasts until the coroutine is resumed.
func.func private @only_awaited(%a: !async.token) -> !async.token {
  %t = async.runtime.create : !async.token
  %id = async.coro.id
  %h = async.coro.begin %id
  %s = async.coro.save %h
  async.runtime.await_and_resume %a, %h : !async.token
  async.coro.suspend %s, ^suspend, ^resume, ^cleanup
^resume:
  async.runtime.set_available %t : !async.token
  cf.br ^cleanup
^cleanup:
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  async.coro.end %h
  return %t : !async.token
}

// The other ops of a lowered program.
func.func @others(%n: index, %t: !async.token) {
  %g = async.runtime.create_group %n : !async.group
  %i = async.runtime.add_to_group %t, %g : !async.token
  %w = async.runtime.num_worker_threads : index
  async.runtime.await %g : !async.group
  return
}
