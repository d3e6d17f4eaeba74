// What hosts do together with tensors of their devices: each result is on the device that the
// operand is on. Each host has [rank + 1, rank + 1, rank + 1].

func.func @make(%ch0: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %value = tfrt.add.i32 %me, %one
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 12
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %shape = ts.build_shape [3 : i64]
  %tensor = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch1
  tfrt.return %tensor, %ch1 : !tfrt_gpu.tensor, !tfrt.chain
}

// The sum of all, of which every member gets a part, which all get from each other again, and
// exchange in the end.
func.func @part(%ch: !tfrt.chain) -> !tfrt_tensor.tensor {
  %world = tfrt_dist.world
  %own, %c0 = tfrt.call @make(%ch) : (!tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)
  %sum, %c1 = tfrt_dist.all_reduce %world, %own, %c0 {reduction = "sum"}
  %mine, %c2 = tfrt_dist.reduce_scatter %world, %sum, %c1 {reduction = "sum"}
  %all, %c3 = tfrt_dist.all_gather %world, %mine, %c2
  %most, %c4 = tfrt_dist.reduce %world, %all, %c3 {reduction = "max", root = 0 : i32}
  %same, %c5 = tfrt_dist.broadcast %world, %own, %c4 {root = 0 : i32}
  %both, %c6 = tfrt_dist.all_to_all %world, %same, %c5
  %a = tfrt_gpu.tensor.to_host %most, %c6
  %b = tfrt_gpu.tensor.to_host %both, %c6
  %results = tfrt_tensor.concat %a, %b
  tfrt.return %results : !tfrt_tensor.tensor
}

func.func @main() {
  %ch = tfrt.new.chain
  %parts = tfrt_dist.call_all @part(%ch) {device = "cpu:0"} : (!tfrt.chain) -> (!tfrt_dist.list)
  %results = tfrt_dist.list.concat %parts
  %ch1 = tfrt_dht.print_tensor %results, %ch
  tfrt.return
}
