// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt -tfrt-print-stream -verify-diagnostics -allow-unregistered-dialect %s | FileCheck %s

// CHECK: module attributes {tfrt.cost_threshold = 10 : i64}
module attributes {tfrt.cost_threshold = 10 : i64} {

// %e is made from %a and %d, and %g from %b and %c: so they go together, and not neighbours.
// expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1, child streams: [1]}}
func.func @linked(%x: i32) -> !tfrt.chain attributes {tfrt.merge_inter_dependent_streams = true} {
  // expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark@+1 {{stream id: 1, stream cost: 10, parent stream: 0}}
  %b = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark@+1 {{stream id: 1, stream cost: 10, parent stream: 0}}
  %c = tfrt_test.test_cost %x {id = 3 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1}}
  %d = tfrt_test.test_cost %x {id = 4 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1}}
  %e = "some.op"(%a, %d) {_tfrt_cost = 3 : i64} : (i32, i32) -> !tfrt.chain
  // expected-remark@+1 {{stream id: 1, stream cost: 10, parent stream: 0}}
  %g = "some.op"(%b, %c) {_tfrt_cost = 3 : i64} : (i32, i32) -> !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1}}
  %m = tfrt.merge.chains %e, %g : !tfrt.chain, !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 13, parent stream: -1}}
  tfrt.return %m : !tfrt.chain
}

// The same without the wish for that: nothing is left over, the last group is below 10.
// expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
func.func @unlinked(%x: i32) -> !tfrt.chain {
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %b = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %c = tfrt_test.test_cost %x {id = 3 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %d = tfrt_test.test_cost %x {id = 4 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %e = "some.op"(%a, %d) {_tfrt_cost = 3 : i64} : (i32, i32) -> !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %g = "some.op"(%b, %c) {_tfrt_cost = 3 : i64} : (i32, i32) -> !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  %m = tfrt.merge.chains %e, %g : !tfrt.chain, !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 23, parent stream: -1}}
  tfrt.return %m : !tfrt.chain
}

}
