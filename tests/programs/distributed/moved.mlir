// Values that are moved before they are used; every host ends up with its neighbour's tensor.
func.func @make() -> !tfrt_tensor.tensor {
  %me = tfrt_dist.rank
  %list = tfrt_tensor.constant dense<[10, 20, 30, 40, 50, 60, 70, 80]> : tensor<8xi32>
  %two = tfrt.constant.i32 2
  %part = tfrt_tensor.slice %list, %me, %two
  tfrt.return %part : !tfrt_tensor.tensor
}

func.func @show(%tensor: !tfrt_tensor.tensor, %chain: !tfrt.chain) -> !tfrt.chain {
  %printed = tfrt_dht.print_tensor %tensor, %chain
  tfrt.return %printed : !tfrt.chain
}

func.func @main() -> (i32, i32, !tfrt.chain) {
  %start = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %n = tfrt_dist.num_hosts
  %tensors = tfrt_dist.call_all @make() : () -> (!tfrt_dist.list)
  %end:3 = tfrt.repeat.i32 %n, %zero, %tensors, %start : i32, !tfrt_dist.list, !tfrt.chain {
    %i = tfrt.constant.i32 1
    %size = tfrt_dist.num_hosts
    %after = tfrt.add.i32 %zero, %i
    %quotient, %next = tfrt.div.i32 %after, %size
    %h = tfrt_dist.host %next
    %tensor = tfrt_dist.list.get %tensors, %zero : !tfrt_tensor.tensor
    %there = tfrt_dist.copy_to %h, %tensor : !tfrt_tensor.tensor
    %ahead = tfrt_dist.prefetch %h, %tensor
    %before = tfrt.merge.chains %start, %ahead : !tfrt.chain, !tfrt.chain
    %also = tfrt_dist.call %h @show(%tensor, %before) : (!tfrt_dist.host, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain)
    %shown = tfrt_dist.call %h @show(%there, %also) : (!tfrt_dist.host, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain)
    tfrt.return %after, %tensors, %shown : i32, !tfrt_dist.list, !tfrt.chain
  }
  %h0 = tfrt_dist.host %zero
  %a, %b = tfrt_dist.copy_to %h0, %n, %one : i32, i32
  tfrt.return %a, %b, %end#2 : i32, i32, !tfrt.chain
}
