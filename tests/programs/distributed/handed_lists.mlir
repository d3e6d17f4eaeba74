// Lists that leave their host: as arguments, as results, within each other, and by key. Hosts that
// use an element fetch it from where it is.
func.func @square() -> i32 {
  %me = tfrt_dist.rank
  %two = tfrt.constant.i32 2
  %more = tfrt.add.i32 %me, %two
  %square = tfrt.mul.i32 %more, %more
  tfrt.return %square : i32
}

func.func @row() -> !tfrt_tensor.tensor {
  %t = tfrt_tensor.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  tfrt.return %t : !tfrt_tensor.tensor
}

func.func @squares() -> !tfrt_dist.list {
  %l = tfrt_dist.call_all @square() : () -> (!tfrt_dist.list)
  tfrt.return %l : !tfrt_dist.list
}

func.func @sum(%l: !tfrt_dist.list) -> i32 {
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}

func.func @sum_of(%lists: !tfrt_dist.list, %i: i32) -> i32 {
  %l = tfrt_dist.list.get %lists, %i : !tfrt_dist.list
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}

func.func @show(%rows: !tfrt_dist.list, %chain: !tfrt.chain) -> !tfrt.chain {
  %all = tfrt_dist.list.concat %rows
  %printed = tfrt_dht.print_tensor %all, %chain
  tfrt.return %printed : !tfrt.chain
}

func.func @give(%l: !tfrt_dist.list, %chain: !tfrt.chain) -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %h = tfrt_dist.host %zero
  %key = tfrt_dist.key "squares"
  %sent = tfrt_dist.send %h, %key, %l, %chain
  tfrt.return %sent : !tfrt.chain
}

func.func @main() -> (i32, i32, i32, i32, !tfrt.chain) {
  %chain = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %minus = tfrt.constant.i32 -1
  %n = tfrt_dist.num_hosts
  %last_rank = tfrt.add.i32 %n, %minus
  %last = tfrt_dist.host %last_rank

  // Made here, summed there; made there, summed here.
  %here = tfrt_dist.call_all @square() : () -> (!tfrt_dist.list)
  %a = tfrt_dist.call %last @sum(%here) : (!tfrt_dist.host, !tfrt_dist.list) -> (i32)
  %there = tfrt_dist.call %last @squares() : (!tfrt_dist.host) -> (!tfrt_dist.list)
  %b = tfrt_dist.list.sum %there : i32

  // A list of the lists that all hosts make.
  %lists = tfrt_dist.call_all @squares() : () -> (!tfrt_dist.list)
  %c = tfrt_dist.call %last @sum_of(%lists, %zero) : (!tfrt_dist.host, !tfrt_dist.list, i32) -> (i32)

  // The last host sends the list back by key.
  %given = tfrt_dist.call %last @give(%there, %chain) : (!tfrt_dist.host, !tfrt_dist.list, !tfrt.chain) -> (!tfrt.chain)
  %key = tfrt_dist.key "squares"
  %back, %received = tfrt_dist.recv %last, %key, %given : !tfrt_dist.list
  %d = tfrt_dist.list.sum %back : i32

  %rows = tfrt_dist.call_all @row() : () -> (!tfrt_dist.list)
  %shown = tfrt_dist.call %last @show(%rows, %received) : (!tfrt_dist.host, !tfrt_dist.list, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %a, %b, %c, %d, %shown : i32, i32, i32, i32, !tfrt.chain
}
