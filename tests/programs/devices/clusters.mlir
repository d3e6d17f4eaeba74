// Launches in clusters of blocks, for devices that have them.

// Blocks in clusters of two; then in some that the grid is not made of.
func.func @clusters() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %module = tfrt_gpu.module.load_file %context {path = "fill.ptx"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %two = tfrt.constant.ui32 2
  %count = tfrt.constant.ui32 4
  %value = tfrt.constant.f32 0.25
  %ch1 = tfrt_gpu.function.launch.cluster %stream, %fill,
             blocks in (%two, %one, %one), threads in (%two, %one, %one), clusters in (%two, %one, %one),
             %zero, %ch0,
             args(%buffer, %value, %count) : (!tfrt_gpu.buffer, f32, ui32)
  %shape = ts.build_shape [4 : i64]
  %numbers = tfrt_gpu.tensor.make.f32 %buffer, %shape, %ch1
  %tensor = tfrt_gpu.tensor.to_host %numbers, %ch1
  %ch2 = tfrt_dht.print_tensor %tensor, %ch1
  // expected-error @+1 {{can't run tfrt_fill_f32 with grid (1, 1, 1), block (2, 1, 1), cluster (2, 1, 1), 0 shared bytes}}
  %ch3 = tfrt_gpu.function.launch.cluster %stream, %fill,
             blocks in (%one, %one, %one), threads in (%two, %one, %one), clusters in (%two, %one, %one),
             %zero, %ch2,
             args(%buffer, %value, %count) : (!tfrt_gpu.buffer, f32, ui32)
  tfrt.return %ch3 : !tfrt.chain
}
