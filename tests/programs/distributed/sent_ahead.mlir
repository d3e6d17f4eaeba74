// A tensor is sent ahead to the next host, and written to before it is shown there: what is shown
// is what the chain stands for. Of 16 bytes and of 1 MiB.
func.func @show(%tensor: !tfrt_tensor.tensor, %chain: !tfrt.chain) -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %two = tfrt.constant.i32 2
  %written = "tfrt_test.identity"(%chain, %tensor) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %part = tfrt_tensor.slice %written, %zero, %two
  %printed = tfrt_dht.print_tensor %part, %chain
  tfrt.return %printed : !tfrt.chain
}

func.func @show_after(%tensor: !tfrt_tensor.tensor, %start: !tfrt.chain) -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %n = tfrt_dist.num_hosts
  %quotient, %next = tfrt.div.i32 %one, %n
  %h = tfrt_dist.host %next
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %start 1 : i32
  %ahead = tfrt_dist.prefetch %h, %tensor
  %before = tfrt.merge.chains %c1, %ahead : !tfrt.chain, !tfrt.chain
  %c2 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %before 2 : i32
  %shown = tfrt_dist.call %h @show(%tensor, %c2) : (!tfrt_dist.host, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %shown : !tfrt.chain
}

func.func @main() -> !tfrt.chain {
  %start = tfrt.new.chain
  %small = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c1 = tfrt.call @show_after(%small, %start) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %large = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]
  %c2 = tfrt.call @show_after(%large, %c1) : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
