// Regions and functions on other hosts: tokens and values are remote values like any other.
async.func @triple(%x: !async.value<i64>) -> (!async.token, !async.value<i64>) {
  %c3 = arith.constant 3 : i64
  %v = await %x : !async.value<i64>
  %r = arith.muli %v, %c3 : i64
  return %r : i64
}
async.func @fib(%n: i64) -> !async.value<i64> {
  %c2 = arith.constant 2 : i64
  %c1 = arith.constant 1 : i64
  %small = arith.cmpi slt, %n, %c2 : i64
  cf.cond_br %small, ^end(%n : i64), ^more
^more:
  %a = arith.subi %n, %c1 : i64
  %b = arith.subi %n, %c2 : i64
  %x = async.call @fib(%a) {host = 1 : i32} : (i64) -> !async.value<i64>
  %y = async.call @fib(%b) {host = 2 : i32} : (i64) -> !async.value<i64>
  %u = await %x : !async.value<i64>
  %v = await %y : !async.value<i64>
  %s = arith.addi %u, %v : i64
  cf.br ^end(%s : i64)
^end(%r: i64):
  return %r : i64
}
func.func @main() -> i64 {
  %c5 = arith.constant 5 : i64
  %t, %v = async.execute -> !async.value<i64> attributes {host = 1 : i32} {
    %ti, %vi = async.execute -> !async.value<i64> attributes {host = 2 : i32} {
      %s = arith.addi %c5, %c5 : i64
      vector.print %s : i64
      async.yield %s : i64
    }
    %w = async.await %vi : !async.value<i64>
    vector.print %w : i64
    async.yield %w : i64
  }
  %t2, %r = async.call @triple(%v) {host = 2 : i32} : (!async.value<i64>) -> (!async.token, !async.value<i64>)
  %t3, %q = async.execute [%t, %t2] (%r as %x: !async.value<i64>) -> !async.value<i64> attributes {host = 0 : i32} {
    %z = arith.addi %x, %c5 : i64
    async.yield %z : i64
  }
  %a = async.await %q : !async.value<i64>
  vector.print %a : i64
  %n = arith.constant 7 : i64
  %f = async.call @fib(%n) : (i64) -> !async.value<i64>
  %fv = async.await %f : !async.value<i64>
  vector.print %fv : i64
  %false = arith.constant false
  %t4 = async.execute attributes {host = 2 : i32} {
    cf.assert %false, "remote"
    async.yield
  }
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  %rank = async.add_to_group %t4, %g : !async.token
  async.runtime.await %g : !async.group
  %e = async.runtime.is_error %t4 : !async.token
  vector.print %e : i1
  return %a : i64
}
