// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --verify-async-ref-counts --verify-diagnostics %s
// RUN: tfrt_opt --async-ref-counting --verify-async-ref-counts %s

// The output of MLIR 22's `mlir-opt --async-to-async-runtime --async-runtime-ref-counting` for a task
// with a token and a value to wait for, the latter from a task that fails. The paths of an error drop
// the task's own token and value, which it still returns.
module {
  func.func @main() {
    %false = arith.constant false
    %0:2 = call @async_execute_fn() : () -> (!async.token, !async.value<i64>)
    async.runtime.drop_ref %0#0 {count = 1 : i64} : !async.token
    %1 = call @async_execute_fn_0() : () -> !async.token
    async.runtime.add_ref %0#1 {count = 1 : i64} : !async.value<i64>
    async.runtime.add_ref %1 {count = 1 : i64} : !async.token
    %2:2 = call @async_execute_fn_1(%1, %0#1) : (!async.token, !async.value<i64>) -> (!async.token, !async.value<i64>)
    async.runtime.drop_ref %2#1 {count = 1 : i64} : !async.value<i64>
    async.runtime.drop_ref %1 {count = 1 : i64} : !async.token
    async.runtime.drop_ref %0#1 {count = 1 : i64} : !async.value<i64>
    async.runtime.await %2#0 : !async.token
    %3 = async.runtime.is_error %2#0 : !async.token
    async.runtime.drop_ref %2#0 {count = 1 : i64} : !async.token
    %true = arith.constant true
    %4 = arith.xori %3, %true : i1
    cf.assert %4, "Awaited async operand is in error state"
    return
  }
  func.func private @async_execute_fn() -> (!async.token, !async.value<i64>) attributes {passthrough = ["presplitcoroutine"]} {
    %0 = async.runtime.create : !async.token
    %1 = async.runtime.create : !async.value<i64>
    %2 = async.coro.id
    %3 = async.coro.begin %2
    %4 = async.coro.save %3
    async.runtime.resume %3
    async.coro.suspend %4, ^bb6, ^bb1, ^bb5
  ^bb1:
    %false = arith.constant false
    cf.cond_br %false, ^bb2, ^bb3
  ^bb2:
    %c1_i64 = arith.constant 1 : i64
    async.runtime.store %c1_i64, %1 : <i64>
    async.runtime.set_available %1 : !async.value<i64>
    async.runtime.set_available %0 : !async.token
    cf.br ^bb4
  ^bb3:
    async.runtime.set_error %0 : !async.token
    async.runtime.set_error %1 : !async.value<i64>
    cf.br ^bb4
  ^bb4:
    async.coro.free %2, %3
    cf.br ^bb6
  ^bb5:
    async.coro.free %2, %3
    cf.br ^bb6
  ^bb6:
    async.coro.end %3
    return %0, %1 : !async.token, !async.value<i64>
  }
  func.func private @async_execute_fn_0() -> !async.token attributes {passthrough = ["presplitcoroutine"]} {
    %0 = async.runtime.create : !async.token
    %1 = async.coro.id
    %2 = async.coro.begin %1
    %3 = async.coro.save %2
    async.runtime.resume %2
    async.coro.suspend %3, ^bb4, ^bb1, ^bb3
  ^bb1:
    async.runtime.set_available %0 : !async.token
    cf.br ^bb2
  ^bb2:
    async.coro.free %1, %2
    cf.br ^bb4
  ^bb3:
    async.coro.free %1, %2
    cf.br ^bb4
  ^bb4:
    async.coro.end %2
    return %0 : !async.token
  }
  func.func private @async_execute_fn_1(%arg0: !async.token, %arg1: !async.value<i64>) -> (!async.token, !async.value<i64>) attributes {passthrough = ["presplitcoroutine"]} {
    %0 = async.runtime.create : !async.token
    %1 = async.runtime.create : !async.value<i64>
    %2 = async.coro.id
    %3 = async.coro.begin %2
    %4 = async.coro.save %3
    async.runtime.resume %3
    async.coro.suspend %4, ^bb11, ^bb1, ^bb10
  ^bb1:
    %5 = async.coro.save %3
    async.runtime.await_and_resume %arg0, %3 : !async.token
    async.coro.suspend %5, ^bb11, ^bb2, ^bb10
  ^bb2:
    %6 = async.runtime.is_error %arg0 : !async.token
    async.runtime.drop_ref %arg0 {count = 1 : i64} : !async.token
    cf.cond_br %6, ^bb6, ^bb3
  ^bb3:
    %7 = async.coro.save %3
    async.runtime.await_and_resume %arg1, %3 : !async.value<i64>
    async.coro.suspend %7, ^bb11, ^bb4, ^bb10
  ^bb4:
    %8 = async.runtime.is_error %arg1 : !async.value<i64>
    cf.cond_br %8, ^bb7, ^bb5
  ^bb5:
    %9 = async.runtime.load %arg1 : <i64>
    async.runtime.drop_ref %arg1 {count = 1 : i64} : !async.value<i64>
    async.runtime.store %9, %1 : <i64>
    async.runtime.set_available %1 : !async.value<i64>
    async.runtime.set_available %0 : !async.token
    cf.br ^bb9
  ^bb6:
    // expected-note@+1 {{the last reference is given away here}}
    async.runtime.drop_ref %1 {count = 1 : i64} : !async.value<i64>
    // expected-note@+1 {{the last reference is given away here}}
    async.runtime.drop_ref %0 {count = 1 : i64} : !async.token
    async.runtime.drop_ref %arg1 {count = 1 : i64} : !async.value<i64>
    cf.br ^bb8
  ^bb7:
    async.runtime.drop_ref %1 {count = 1 : i64} : !async.value<i64>
    async.runtime.drop_ref %0 {count = 1 : i64} : !async.token
    async.runtime.drop_ref %arg1 {count = 1 : i64} : !async.value<i64>
    cf.br ^bb8
  ^bb8:
    async.runtime.set_error %0 : !async.token
    async.runtime.set_error %1 : !async.value<i64>
    cf.br ^bb9
  ^bb9:
    async.coro.free %2, %3
    cf.br ^bb11
  ^bb10:
    async.coro.free %2, %3
    cf.br ^bb11
  ^bb11:
    async.coro.end %3
    // expected-error@+2 {{'%0' is handed on with 1 reference when 0 are left, on the path ^bb0, ^bb1, ^bb2, ^bb6, ^bb8, ^bb9, ^bb11}}
    // expected-error@+1 {{'%1' is handed on with 1 reference when 0 are left, on the path ^bb0, ^bb1, ^bb2, ^bb6, ^bb8, ^bb9, ^bb11}}
    return %0, %1 : !async.token, !async.value<i64>
  }
}
