// Each host sends its rank once around the ring: everybody adds up what comes by.
func.func @around(%n: i32) -> i32 {
  %start = tfrt.new.chain
  %me = tfrt_dist.rank
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %minus_one = tfrt.constant.i32 -1
  %up = tfrt.add.i32 %me, %one
  %q0, %after = tfrt.div.i32 %up, %n
  %back = tfrt.add.i32 %n, %minus_one
  %down = tfrt.add.i32 %me, %back
  %q1, %before = tfrt.div.i32 %down, %n
  %to = tfrt_dist.host %after
  %from = tfrt_dist.host %before
  %key = tfrt_dist.key "ring"
  %end:6 = tfrt.repeat.i32 %n, %me, %zero, %to, %from, %key, %start : i32, i32, !tfrt_dist.host, !tfrt_dist.host, !tfrt.string, !tfrt.chain {
    %sent = tfrt_dist.send %to, %key, %me, %start
    %got, %received = tfrt_dist.recv %from, %key, %sent : i32
    %sum = tfrt.add.i32 %zero, %got
    tfrt.return %got, %sum, %to, %from, %key, %received : i32, i32, !tfrt_dist.host, !tfrt_dist.host, !tfrt.string, !tfrt.chain
  }
  tfrt.return %end#1 : i32
}

func.func @main() -> (i32, i32) {
  %n = tfrt_dist.num_hosts
  %sums = tfrt_dist.call_all @around(%n) : (i32) -> (!tfrt_dist.list)
  %zero = tfrt.constant.i32 0
  %first = tfrt_dist.list.get %sums, %zero : i32
  %all = tfrt_dist.list.sum %sums : i32
  tfrt.return %first, %all : i32, i32
}
