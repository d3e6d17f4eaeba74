// Each host fills memory of its own device with its rank and one, and prints what comes back.

func.func @fill(%ch0: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %value = tfrt.add.i32 %me, %one
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %host, %ch2 = tfrt_dht.get_buffer %tensor, %ch1
  %ch3 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch2 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch4 = tfrt_gpu.stream.synchronize %stream, %ch3
  %ch5 = tfrt_dht.print_tensor %tensor, %ch4
  %printed = "tfrt_test.identity"(%ch5, %value) : (!tfrt.chain, i32) -> i32
  tfrt.return %printed : i32
}

func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %parts = tfrt_dist.call_all @fill(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %sum = tfrt_dist.list.sum %parts : i32
  tfrt.return %sum : i32
}
