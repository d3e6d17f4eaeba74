// What the members of a group do together.

// Row 0 of host r is [r, r + 1], and it has as many rows as the hosts before it and itself.
func.func @rows(%me: i32) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %all = tfrt_tensor.constant dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8], [8, 9], [9, 10]]> : tensor<10x2xi32>
  %row = tfrt_tensor.slice %all, %me, %one
  %count = tfrt.add.i32 %me, %one
  %rows = tfrt_tensor.slice %all, %zero, %count
  tfrt.return %row, %rows : !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

// Each collective after the one before it: by its chain.
func.func @part(%ch: !tfrt.chain) -> !tfrt_dist.group {
  %me = tfrt_dist.rank
  %world = tfrt_dist.world
  %row, %rows = tfrt.call @rows(%me) : (i32) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %c0 = tfrt_dist.barrier %world, %ch
  %sum, %c1 = tfrt_dist.all_reduce %world, %row, %c0 {reduction = "sum"}
  %p1 = tfrt_dht.print_tensor %sum, %c1
  %mean, %c2 = tfrt_dist.all_reduce %world, %row, %p1 {reduction = "mean"}
  %p2 = tfrt_dht.print_tensor %mean, %c2
  %most, %c3 = tfrt_dist.reduce %world, %row, %p2 {reduction = "max", root = 0 : i32}
  %p3 = tfrt_dht.print_tensor %most, %c3
  %gathered, %c4 = tfrt_dist.all_gather %world, %rows, %p3
  %p4 = tfrt_dht.print_tensor %gathered, %c4
  %scattered, %c5 = tfrt_dist.reduce_scatter %world, %gathered, %p4 {reduction = "prod"}
  %p5 = tfrt_dht.print_tensor %scattered, %c5
  %same, %c6 = tfrt_dist.broadcast %world, %rows, %p5 {root = 0 : i32}
  %p6 = tfrt_dht.print_tensor %same, %c6
  %exchanged, %c7 = tfrt_dist.all_to_all %world, %gathered, %p6
  %p7 = tfrt_dht.print_tensor %exchanged, %c7
  %done = "tfrt_test.identity"(%p7, %world) : (!tfrt.chain, !tfrt_dist.group) -> !tfrt_dist.group
  tfrt.return %done : !tfrt_dist.group
}

// A group of one has nobody to wait for; one of a host that there isn't is an error, and so is
// one that names a host twice, or none.
func.func @main() -> (!tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %parts = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %first = tfrt_dist.list.get %parts, %zero : !tfrt_dist.group
  %alone = tfrt_dist.group [0] {name = "alone"}
  %row, %rows = tfrt.call @rows(%zero) : (i32) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %own, %c1 = tfrt_dist.all_reduce %alone, %row, %ch {reduction = "mean"}
  %printed = tfrt_dht.print_tensor %own, %c1
  %nowhere = tfrt_dist.group [0, 99]
  %twice = tfrt_dist.group [0, 0]
  %nobody = tfrt_dist.group []
  tfrt.return %first, %alone, %nowhere, %twice, %nobody : !tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group, !tfrt_dist.group
}
