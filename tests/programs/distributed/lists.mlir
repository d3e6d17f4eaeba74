// One call on each host, and what is made of the results.
func.func @twice(%x: i32) -> i32 {
  %me = tfrt_dist.rank
  %sum = tfrt.add.i32 %x, %me
  %twice = tfrt.add.i32 %sum, %sum
  tfrt.return %twice : i32
}

func.func @half(%x: f32) -> f32 {
  %half = tfrt.constant.f32 0.5
  %y = "tfrt.multiply.f32"(%x, %half) : (f32, f32) -> f32
  tfrt.return %y : f32
}

func.func @row() -> !tfrt_tensor.tensor {
  %t = tfrt_tensor.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  tfrt.return %t : !tfrt_tensor.tensor
}

func.func @main() -> (i32, i32, i32, f32, !tfrt.chain) {
  %chain = tfrt.new.chain
  %ten = tfrt.constant.i32 10
  %zero = tfrt.constant.i32 0
  %twos = tfrt_dist.call_all @twice(%ten) : (i32) -> (!tfrt_dist.list)
  %size = tfrt_dist.list.size %twos
  %first = tfrt_dist.list.get %twos, %zero : i32
  %sum = tfrt_dist.list.sum %twos : i32

  %x = tfrt.constant.f32 3.0
  %halves = tfrt_dist.call_all @half(%x) : (f32) -> (!tfrt_dist.list)
  %one_and_a_half = tfrt_dist.list.get %halves, %zero : f32

  %rows = tfrt_dist.call_all @row() : () -> (!tfrt_dist.list)
  %all = tfrt_dist.list.concat %rows
  %added = tfrt_dist.list.sum %rows : !tfrt_tensor.tensor
  %printed_all = tfrt_dht.print_tensor %all, %chain
  %printed = tfrt_dht.print_tensor %added, %printed_all
  tfrt.return %size, %first, %sum, %one_and_a_half, %printed : i32, i32, i32, f32, !tfrt.chain
}
