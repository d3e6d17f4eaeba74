// SPDX-License-Identifier: Apache-2.0
//
// Two producers with values, a join of both, and a consumer with two results.
//
// OUTPUT: 440 42 42
func.func private @printI64(i64)
func.func private @printNewline()

func.func @line(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @main() {
  %t1, %v1 = async.execute -> !async.value<i64> {
    %c = arith.constant 20 : i64
    async.yield %c : i64
  }
  %t2, %v2 = async.execute -> !async.value<i64> {
    %c = arith.constant 22 : i64
    async.yield %c : i64
  }
  %join = async.execute [%t1, %t2] {
    async.yield
  }
  %t3, %r:2 = async.execute [%join] (%v1 as %a: !async.value<i64>, %v2 as %b: !async.value<i64>)
      -> (!async.value<i64>, !async.value<f64>) {
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %a, %b : i64
    %float = arith.sitofp %sum : i64 to f64
    async.yield %product, %float : i64, f64
  }
  async.await %t3 : !async.token
  %x = async.await %r#0 : !async.value<i64>
  %f = async.await %r#1 : !async.value<f64>
  %y = arith.fptosi %f : f64 to i64
  %again = async.await %r#1 : !async.value<f64>
  %z = arith.fptosi %again : f64 to i64
  call @line(%x) : (i64) -> ()
  call @line(%y) : (i64) -> ()
  call @line(%z) : (i64) -> ()
  return
}
