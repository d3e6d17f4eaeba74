// Work for a device that a library brings: memory of the device is filled, copied there, and copied
// back. That is the same on each device; a kernel would change nothing on one that computes nothing.
func.func @there_and_back(%ch0: !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain) {
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 16
  %first = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %second = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %three = tfrt.constant.f32 3.0
  %ch1 = tfrt_gpu.mem.set %first, %three, %stream, %ch0 : !tfrt_gpu.buffer, f32
  %ch2 = tfrt_gpu.mem.copy %second, %first, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %tensor = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %bytes, %ch3 = tfrt_dht.get_buffer %tensor, %ch2
  %ch4 = tfrt_gpu.mem.copy %bytes, %second, %stream, %ch3 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4
  tfrt.return %tensor, %ch5 : !tfrt_tensor.tensor, !tfrt.chain
}

// On the device of host 1; on one host, there.
func.func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %tensor, %ch1 = tfrt.call @there_and_back(%ch0) {host = 1 : i32, device = "null:0"} : (!tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain)
  %ch2 = tfrt_dht.print_tensor %tensor, %ch1
  tfrt.return %ch2 : !tfrt.chain
}
