// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt -tfrt-print-stream -verify-diagnostics --keep-value-names %s | FileCheck %s
// RUN: tfrt_opt -tfrt-print-stream %s 2>&1 >/dev/null | FileCheck %s --check-prefix=TEXT
// RUN: tfrt_opt --print-streams %s 2>&1 >/dev/null | FileCheck %s --check-prefix=TEXT

// The program is printed as it was.
// CHECK: module attributes {tfrt.cost_threshold = 6 : i64}
module attributes {tfrt.cost_threshold = 6 : i64} {

// The whole of a remark, with the streams that the call triggers.
// TEXT: print_stream.mlir:[[#@LINE+3]]:1: remark: stream id: 0, stream cost: 15, parent stream: -1, child streams: [3]{{$}}
// TEXT-NEXT: func.func @wide(%x: i32) -> !tfrt.chain {
// expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1, child streams: [3]}}
func.func @wide(%x: i32) -> !tfrt.chain {
  // Worth a stream of its own.
  // expected-remark@+1 {{stream id: 3, stream cost: 6, parent stream: 0}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 6 : i64} : i32
  // With the call (1), the merge (1) and the return (1), and with those that are too cheap.
  // expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %b = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 7 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %c = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 2 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %d = tfrt_test.test_cost %x {id = 3 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %m = tfrt.merge.chains %a, %b, %c, %d : i32, i32, i32, i32
  // expected-remark@+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  tfrt.return %m : !tfrt.chain
}

// A function's threshold counts more than the module's; an op may trigger streams, too.
// expected-remark@+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
func.func @tree(%x: i32) -> i32 attributes {tfrt.cost_threshold = 5 : i64} {
  // expected-remark@+1 {{stream id: 0, stream cost: 12, parent stream: -1, child streams: [2, 1]}}
  %a = tfrt.add.i32 %x, %x
  // expected-remark@+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  %b = tfrt.add.i32 %a, %x
  // expected-remark@+1 {{stream id: 2, stream cost: 5, parent stream: 0}}
  %c = tfrt.add.i32 %a, %a
  // expected-remark@+1 {{stream id: 1, stream cost: 10, parent stream: 0}}
  %d = tfrt.add.i32 %x, %a
  // expected-remark@+1 {{stream id: 1, stream cost: 10, parent stream: 0}}
  %e = tfrt.add.i32 %d, %x
  // expected-remark@+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  tfrt.return %b : i32
}

// A cost may stand at an op with operands of any type.
// expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
func.func @chained(%ch: !tfrt.chain) -> i32 {
  // expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
  %a = tfrt_test.test_cost %ch {id = 0 : i64, _tfrt_cost = 6 : i64} : !tfrt.chain
  // expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
  tfrt.return %a : i32
}

// A region is a function of its own, of which nothing is said; nor of one without a body.
// expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
func.func @region(%n: i32, %x: i32) -> i32 {
  // expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    tfrt.return %y : i32
  }
  // expected-remark@+1 {{stream id: 0, stream cost: 8, parent stream: -1}}
  tfrt.return %r : i32
}
func.func private @native(i32) -> i32 attributes {tfrt.native}

}
