// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

async.func @square(%x: i64) -> !async.value<i64> {
  %r = arith.muli %x, %x : i64
  return %r : i64
}
async.func @both(%a: i64, %b: i64) -> (!async.token, !async.value<i64>) {
  %x = async.call @square(%a) : (i64) -> !async.value<i64>
  %y = async.call @square(%b) : (i64) -> !async.value<i64>
  %u = await %x : !async.value<i64>
  %v = await %y : !async.value<i64>
  %s = arith.addi %u, %v : i64
  return %s : i64
}
async.func @fails() -> !async.token {
  %false = arith.constant 0 : i1
  // expected-error@+1 {{no}}
  cf.assert %false, "no"
  return
}
async.func @fib(%n: i64) -> !async.value<i64> {
  %c2 = arith.constant 2 : i64
  %c1 = arith.constant 1 : i64
  %small = arith.cmpi slt, %n, %c2 : i64
  cf.cond_br %small, ^end(%n : i64), ^more
^more:
  %a = arith.subi %n, %c1 : i64
  %b = arith.subi %n, %c2 : i64
  %x = async.call @fib(%a) : (i64) -> !async.value<i64>
  %y = async.call @fib(%b) : (i64) -> !async.value<i64>
  %u = await %x : !async.value<i64>
  %v = await %y : !async.value<i64>
  %s = arith.addi %u, %v : i64
  cf.br ^end(%s : i64)
^end(%r: i64):
  return %r : i64
}
func.func private @printI64(i64)
func.func private @printNewline()
func.func private @mlirAsyncRuntimePrintCurrentThreadId()
func.func @main() {
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %t, %v = async.call @both(%c3, %c4) : (i64, i64) -> (!async.token, !async.value<i64>)
  async.await %t : !async.token
  %r = async.await %v : !async.value<i64>
  call @printI64(%r) : (i64) -> ()
  call @printNewline() : () -> ()
  %f = async.call @fails() : () -> !async.token
  async.runtime.await %f : !async.token
  %e = async.runtime.is_error %f : !async.token
  vector.print %e : i1
  %n = arith.constant 12 : i64
  %q = async.call @fib(%n) : (i64) -> !async.value<i64>
  %w = async.await %q : !async.value<i64>
  vector.print %w : i64
  call @mlirAsyncRuntimePrintCurrentThreadId() : () -> ()
  return
}

// CHECK: Running 'main'
// CHECK-NEXT: {{^}}25{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}144{{$}}
// CHECK-NEXT: Current thread id: {{[1-9][0-9]*$}}
