// Memory of a device: made, filled, copied both ways, viewed, freed.

// A buffer is filled there and comes back.
func.func @fill_and_copy() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 32
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %value = tfrt.constant.i32 13
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch2 = tfrt_dht.get_buffer %tensor, %ch1
  %ch3 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch2 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch4 = tfrt_gpu.mem.deallocate %buffer, %stream, %ch3
  %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4
  %ch6 = tfrt_dht.print_tensor %tensor, %ch5
  tfrt.return
}

// There and back again, through a second stream that waits for the first one.
func.func @there_and_back() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.create %device
  %stream = tfrt_gpu.stream.create %context
  %same = tfrt_gpu.stream.get_context %stream
  %other = tfrt_gpu.stream.create %same
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 32
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %from = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %from, %ch0 [1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32, 7 : i32, 8 : i32]
  %from_buffer, %ch2 = tfrt_dht.get_buffer %from, %ch1
  %ch3 = tfrt_gpu.mem.copy %buffer, %from_buffer, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %event = tfrt_gpu.event.create %context
  %ch4 = tfrt_gpu.event.record %event, %stream, %ch3
  %ch5 = tfrt_gpu.stream.wait %other, %event, %ch4
  // The last four numbers.
  %offset = tfrt.constant.ui64 16
  %half = tfrt.constant.ui64 16
  %view = tfrt_gpu.mem.view %buffer, %offset, %half
  %to = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %to_buffer, %ch6 = tfrt_dht.get_buffer %to, %ch5
  %pinned = tfrt_gpu.mem.register %context, %to_buffer
  %ch7 = tfrt_gpu.mem.copy %pinned, %view, %other, %ch6 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %done = tfrt_gpu.event.create %context
  %ch8 = tfrt_gpu.event.record %done, %other, %ch7
  %ch9 = tfrt_gpu.event.synchronize %done, %ch8
  %ch10 = tfrt_dht.print_tensor %to, %ch9
  tfrt.return
}

func.func @freed_twice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 32
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.deallocate %buffer, %stream, %ch0
  // expected-error @+1 {{freed twice}}
  %ch2 = tfrt_gpu.mem.deallocate %buffer, %stream, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func.func @no_such_device() -> !tfrt_gpu.device {
  %ordinal = tfrt.constant.i32 -1
  // expected-error @+1 {{there is no device}}
  %device = tfrt_gpu.device.get CPU, %ordinal
  tfrt.return %device : !tfrt_gpu.device
}

func.func @no_such_driver() -> !tfrt_gpu.device {
  %ordinal = tfrt.constant.i32 0
  // expected-error @+1 {{this host has no devices of 'ROCm', only of: cpu, cuda}}
  %device = tfrt_gpu.device.get ROCm, %ordinal
  tfrt.return %device : !tfrt_gpu.device
}
