// Where a function runs, and calls to hosts that are known only at run time: a line goes once
// around all hosts and comes back.
func.func @step(%value: i32, %chain: !tfrt.chain) -> (i32, !tfrt.chain) {
  %me = tfrt_dist.rank
  %hundred = tfrt.constant.i32 100
  %added = tfrt.add.i32 %hundred, %me
  %sum = tfrt.add.i32 %value, %added
  %printed = tfrt.print.i32 %sum, %chain
  tfrt.return %sum, %printed : i32, !tfrt.chain
}

func.func @main() -> (i32, i32, i32) {
  %chain = tfrt.new.chain
  %me = tfrt_dist.rank
  %n = tfrt_dist.num_hosts
  %one = tfrt.constant.i32 1
  %next = tfrt.constant.i32 0
  %total = tfrt.constant.i32 0
  %end:4 = tfrt.repeat.i32 %n, %next, %total, %one, %chain : i32, i32, i32, !tfrt.chain {
    %h = tfrt_dist.host %next
    %new_total, %new_chain = tfrt_dist.call %h @step(%total, %chain) : (!tfrt_dist.host, i32, !tfrt.chain) -> (i32, !tfrt.chain)
    %after = tfrt.add.i32 %next, %one
    tfrt.return %after, %new_total, %one, %new_chain : i32, i32, i32, !tfrt.chain
  }
  %printed = tfrt.print.i32 %end#1, %end#3
  tfrt.return %me, %n, %end#1 : i32, i32, i32
}
