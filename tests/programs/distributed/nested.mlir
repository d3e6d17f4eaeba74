// Hosts as arguments and results, calls within calls, results that go from host to host.
func.func @after(%h: !tfrt_dist.host, %depth: i32) -> (!tfrt_dist.host, i32) {
  %one = tfrt.constant.i32 1
  %me = tfrt_dist.rank
  %n = tfrt_dist.num_hosts
  %next = tfrt.add.i32 %me, %one
  %rest, %turns = tfrt.div.i32 %next, %n
  %host = tfrt_dist.host %turns
  %zero = tfrt.constant.i32 0
  %done = "tfrt.equal.i32"(%depth, %zero) : (i32, i32) -> i1
  %end, %sum = tfrt.if %done, %host, %depth, %me : (!tfrt_dist.host, i32, i32) -> (!tfrt_dist.host, i32) {
    tfrt.return %host, %me : !tfrt_dist.host, i32
  } else {
    %minus = tfrt.constant.i32 -1
    %less = tfrt.add.i32 %depth, %minus
    %there, %value = tfrt_dist.call %host @after(%host, %less) {deadline_ms = 30000 : i32} : (!tfrt_dist.host, !tfrt_dist.host, i32) -> (!tfrt_dist.host, i32)
    %new = tfrt.add.i32 %value, %me
    tfrt.return %there, %new : !tfrt_dist.host, i32
  }
  tfrt.return %end, %sum : !tfrt_dist.host, i32
}

func.func @everywhere(%x: i32) -> i32 {
  %list = tfrt_dist.call_all @add(%x) : (i32) -> (!tfrt_dist.list)
  %sum = tfrt_dist.list.sum %list : i32
  tfrt.return %sum : i32
}

func.func @add(%x: i32) -> i32 {
  %me = tfrt_dist.rank
  %sum = tfrt.add.i32 %x, %me
  tfrt.return %sum : i32
}

func.func @main() -> (!tfrt_dist.host, i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %hundred = tfrt.constant.i32 100
  %five = tfrt.constant.i32 5
  %h = tfrt_dist.host %zero
  %last, %sum = tfrt_dist.call %h @after(%h, %five) : (!tfrt_dist.host, !tfrt_dist.host, i32) -> (!tfrt_dist.host, i32)
  %there = tfrt_dist.call %last @add(%hundred) : (!tfrt_dist.host, i32) -> (i32)
  %lists = tfrt_dist.call_all @everywhere(%there) : (i32) -> (!tfrt_dist.list)
  %total = tfrt_dist.list.sum %lists : i32
  %here, %here2 = tfrt_dist.fetch %there, %total : i32, i32
  tfrt.return %last, %sum, %there, %here, %here2 : !tfrt_dist.host, i32, i32, i32, i32
}
