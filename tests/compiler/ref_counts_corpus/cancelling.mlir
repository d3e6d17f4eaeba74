// SPDX-License-Identifier: Apache-2.0

func.func private @sink(!async.token)
func.func private @condition() -> i1

func.func @nothing_between(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

func.func @borrowed_between(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The call takes the only reference.
func.func @last_use_is_call(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The callee may give back the only reference before the await.
func.func @used_behind_call(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// Of two calls, the last one takes what the value had.
func.func @two_calls(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A task takes a reference as a call does; what it depends on it only borrows, before that.
func.func @task(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  %a = async.execute [%t] {
    async.await %t : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
    async.yield
  }
  async.runtime.drop_ref %a {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A part of a count cancels.
func.func @counts_differ(%t: !async.token) {
  async.runtime.add_ref %t {count = 3 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The drop comes first: between the two, one reference less was there all along.
func.func @drop_before_add(%t: !async.token) {
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  return
}

// One block alone.
func.func @other_block(%t: !async.token) {
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  cf.br ^next
^next:
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// Each value for itself, and regions too.
func.func @inside(%t: !async.token, %u: !async.token, %c: i1) {
  scf.if %c {
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    async.runtime.add_ref %u {count = 1 : i64} : !async.token
    async.await %u : !async.token
    func.call @sink(%t) : (!async.token) -> ()
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
    async.runtime.drop_ref %u {count = 1 : i64} : !async.token
  }
  return
}
