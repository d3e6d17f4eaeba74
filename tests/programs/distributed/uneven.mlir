// Collectives of rows that are not as many as members, or none: of one member, of some, of all.
func.func @part(%ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %zero = tfrt.constant.i32 0
  %w = tfrt_dist.world
  %all = tfrt_tensor.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %mine = tfrt_tensor.slice %all, %zero, %me
  %g, %c1 = tfrt_dist.all_gather %w, %mine, %ch
  %p1 = tfrt_dht.print_tensor %g, %c1
  %five = tfrt_tensor.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi64>
  %s, %c2 = tfrt_dist.reduce_scatter %w, %five, %p1 {reduction = "sum"}
  %p2 = tfrt_dht.print_tensor %s, %c2
  %one = tfrt.constant.i32 1
  %seven = tfrt_tensor.constant dense<[10, 20]> : tensor<2xi32>
  %x, %c3 = tfrt_dist.all_to_all %w, %seven, %p2
  %p3 = tfrt_dht.print_tensor %x, %c3
  %none = tfrt_tensor.slice %seven, %zero, %zero
  %e, %c4 = tfrt_dist.all_reduce %w, %none, %p3 {reduction = "min"}
  %p4 = tfrt_dht.print_tensor %e, %c4
  %n, %c5 = tfrt_dist.all_gather %w, %none, %p4
  %p5 = tfrt_dht.print_tensor %n, %c5
  %r = "tfrt_test.identity"(%p5, %me) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}
