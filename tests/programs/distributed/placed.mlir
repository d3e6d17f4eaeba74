// Each host makes a tensor on the device that it was placed on; the last one's goes to host 0, whose
// own memory it reaches.

func.func @make(%ch0: !tfrt.chain) -> !tfrt_gpu.tensor {
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %value = tfrt.add.i32 %me, %one
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %shape = ts.build_shape [2 : i64, 2 : i64]
  %tensor = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch1
  tfrt.return %tensor : !tfrt_gpu.tensor
}

func.func @look(%tensor: !tfrt_gpu.tensor, %ch0: !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain) {
  %host = tfrt_gpu.tensor.to_host %tensor, %ch0
  tfrt.return %host, %ch0 : !tfrt_tensor.tensor, !tfrt.chain
}

func.func @main() {
  %ch = tfrt.new.chain
  %parts = tfrt_dist.call_all @make(%ch) {device = "cpu:0"} : (!tfrt.chain) -> (!tfrt_dist.list)
  %count = tfrt_dist.list.size %parts
  %minus = tfrt.constant.i32 -1
  %last = tfrt.add.i32 %count, %minus
  %tensor = tfrt_dist.list.get %parts, %last : !tfrt_gpu.tensor
  %host = tfrt_gpu.tensor.to_host %tensor, %ch
  %ch1 = tfrt_dht.print_tensor %host, %ch
  %same, %ch2 = tfrt.call @look(%tensor, %ch1) {host = 0 : i32, device = "cpu:0"} : (!tfrt_gpu.tensor, !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain)
  %ch3 = tfrt_dht.print_tensor %same, %ch2
  tfrt.return
}
