// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --async-ref-counting-opt %s | FileCheck %s

func.func private @sink(!async.token)
func.func private @condition() -> i1

// CHECK-LABEL: func.func @nothing_between
func.func @nothing_between(%t: !async.token) {
  // CHECK-NOT: _ref
  // CHECK: return
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// CHECK-LABEL: func.func @borrowed_between
func.func @borrowed_between(%t: !async.token) {
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: return
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The call takes the only reference.
// CHECK-LABEL: func.func @last_use_is_call
func.func @last_use_is_call(%t: !async.token) {
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: call @sink(%t)
  // CHECK-NEXT: return
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The callee may give back the only reference before the await.
// CHECK-LABEL: func.func @used_behind_call
func.func @used_behind_call(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: call @sink(%t)
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: async.runtime.drop_ref %t
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// Of two calls, the last one takes what the value had.
// CHECK-LABEL: func.func @two_calls
func.func @two_calls(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t
  // CHECK-NEXT: call @sink(%t)
  // CHECK-NEXT: call @sink(%t)
  // CHECK-NEXT: return
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A task takes a reference as a call does; what it depends on it only borrows, before that.
// CHECK-LABEL: func.func @task
func.func @task(%t: !async.token) {
  // CHECK-NEXT: async.execute [%t] {
  // CHECK-NEXT:   async.await %t
  // CHECK-NEXT:   async.runtime.drop_ref %t
  // CHECK-NEXT:   async.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: async.runtime.drop_ref %a
  // CHECK-NEXT: return
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
// CHECK-LABEL: func.func @counts_differ
func.func @counts_differ(%t: !async.token) {
  // CHECK-NEXT: async.runtime.add_ref %t {count = 2 : i64}
  // CHECK-NEXT: async.await %t
  // CHECK-NEXT: return
  async.runtime.add_ref %t {count = 3 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The drop comes first: between the two, one reference less was there all along.
// CHECK-LABEL: func.func @drop_before_add
func.func @drop_before_add(%t: !async.token) {
  // CHECK-NEXT: async.runtime.drop_ref %t
  // CHECK-NEXT: async.runtime.add_ref %t
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  return
}

// One block alone.
// CHECK-LABEL: func.func @other_block
func.func @other_block(%t: !async.token) {
  // CHECK: async.runtime.add_ref %t
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  cf.br ^next
^next:
  // CHECK: async.runtime.drop_ref %t
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// Each value for itself, and regions too.
// CHECK-LABEL: func.func @inside
func.func @inside(%t: !async.token, %u: !async.token, %c: i1) {
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT:   async.await %u
  // CHECK-NEXT:   func.call @sink(%t)
  // CHECK-NEXT: }
  // CHECK-NEXT: return
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
