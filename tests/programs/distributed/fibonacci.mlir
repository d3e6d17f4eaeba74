// Calls that call each other to and fro, each of two others, on the next host and on the one behind it.
func.func @fib(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %small = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %small, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %m1 = tfrt.constant.i32 -1
    %m2 = tfrt.constant.i32 -2
    %o = tfrt.constant.i32 1
    %t = tfrt.constant.i32 2
    %me = tfrt_dist.rank
    %k = tfrt_dist.num_hosts
    %p = tfrt.add.i32 %me, %o
    %q = tfrt.add.i32 %me, %t
    %d0, %a = tfrt.div.i32 %p, %k
    %d1, %b = tfrt.div.i32 %q, %k
    %ha = tfrt_dist.host %a
    %hb = tfrt_dist.host %b
    %n1 = tfrt.add.i32 %n, %m1
    %n2 = tfrt.add.i32 %n, %m2
    %f1 = tfrt_dist.call %ha @fib(%n1) : (!tfrt_dist.host, i32) -> (i32)
    %f2 = tfrt_dist.call %hb @fib(%n2) : (!tfrt_dist.host, i32) -> (i32)
    %s = tfrt.add.i32 %f1, %f2
    tfrt.return %s : i32
  }
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %n = tfrt.constant.i32 11
  %zero = tfrt.constant.i32 0
  %h = tfrt_dist.host %zero
  %r = tfrt_dist.call %h @fib(%n) : (!tfrt_dist.host, i32) -> (i32)
  tfrt.return %r : i32
}
