// Host 0 sends a tensor to the next host, writes to it behind the chain of that, and sends it again:
// the next host, which receives neither before it is told so, has both as they were. Of 16 bytes
// and of 1 MiB.
func.func @take(%from: !tfrt_dist.host, %chain: !tfrt.chain) -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %two = tfrt.constant.i32 2
  %go = tfrt_dist.key "go"
  %key = tfrt_dist.key "tensor"
  %x, %c1 = tfrt_dist.recv %from, %go, %chain : i32
  %first, %c2 = tfrt_dist.recv %from, %key, %c1 : !tfrt_tensor.tensor
  %second, %c3 = tfrt_dist.recv %from, %key, %c2 : !tfrt_tensor.tensor
  %part = tfrt_tensor.slice %first, %zero, %two
  %c4 = tfrt_dht.print_tensor %part, %c3
  %part2 = tfrt_tensor.slice %second, %zero, %two
  %c5 = tfrt_dht.print_tensor %part2, %c4
  tfrt.return %c5 : !tfrt.chain
}

func.func @give(%tensor: !tfrt_tensor.tensor, %start: !tfrt.chain) -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %me = tfrt_dist.rank
  %here = tfrt_dist.host %me
  %n = tfrt_dist.num_hosts
  %quotient, %next = tfrt.div.i32 %one, %n
  %to = tfrt_dist.host %next
  %go = tfrt_dist.key "go"
  %key = tfrt_dist.key "tensor"
  %taken = tfrt_dist.call %to @take(%here, %start) : (!tfrt_dist.host, !tfrt_dist.host, !tfrt.chain) -> (!tfrt.chain)
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %start 1 : i32
  %c2 = tfrt_dist.send %to, %key, %tensor, %c1
  %c3 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %c2 2 : i32
  %c4 = tfrt_dist.send %to, %key, %tensor, %c3
  %c5 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %c4 3 : i32
  %c6 = tfrt_dist.send %to, %go, %one, %c5
  tfrt.return %taken : !tfrt.chain
}

func.func @main() -> !tfrt.chain {
  %start = tfrt.new.chain
  %small = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c1 = tfrt.call @give(%small, %start) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %large = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]
  %c2 = tfrt.call @give(%large, %c1) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
