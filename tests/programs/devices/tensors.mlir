// Tensors of a device, what is printed of them, and numbers that the host looks at.

func.func @metadata() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 64
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.print_metadata %buffer, %ch0
  %shape = ts.build_shape [2 : i64, 4 : i64]
  %tensor = tfrt_gpu.tensor.make.f64 %buffer, %shape, %ch1
  %ch2 = tfrt_gpu.tensor.print_metadata %tensor, %ch1
  %long_shape = ts.build_shape [16 : i64]
  %numbers = tfrt_gpu.tensor.make.i32 %buffer, %long_shape, %ch2
  %ch3 = tfrt_gpu.tensor.print_metadata %numbers, %ch2
  tfrt.return
}

func.func @too_small() -> !tfrt_gpu.tensor {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 64
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %shape = ts.build_shape [3 : i64, 3 : i64]
  // expected-error @+1 {{a buffer of 64 bytes is no tensor of i64 with shape [3, 3]}}
  %tensor = tfrt_gpu.tensor.make.i64 %buffer, %shape, %ch0
  tfrt.return %tensor : !tfrt_gpu.tensor
}

// What a stream has made is copied to pinned memory, where the host looks at it.
func.func @load() -> (i32, i1) {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 4
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %value = tfrt.constant.i32 1077
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %host = tfrt_gpu.mem.allocate_host %context, %size, %ch1
  %ch2 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.stream.synchronize %stream, %ch2
  %there = tfrt_gpu.alias %host, %ch3 : !tfrt_gpu.buffer
  %number = tfrt_gpu.mem.load %there, %ch3 : i32
  %zero = tfrt.constant.ui64 0
  %one = tfrt.constant.ui64 1
  %byte = tfrt_gpu.mem.view %host, %zero, %one
  %truth = tfrt_gpu.mem.load %byte, %ch3 : i1
  tfrt.return %number, %truth : i32, i1
}

func.func @load_from_the_device() -> i32 {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 4
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  // expected-error @+1 {{the host can't look at memory of}}
  %number = tfrt_gpu.mem.load %buffer, %ch0 : i32
  tfrt.return %number : i32
}

func.func @load_what_is_no_number() -> i32 {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %size = tfrt.constant.i64 12
  %host = tfrt_gpu.mem.allocate_host %context, %size, %ch0
  // expected-error @+1 {{a buffer of 12 bytes holds neither an i1 nor an i32}}
  %number = tfrt_gpu.mem.load %host, %ch0 : i32
  tfrt.return %number : i32
}

// --- Placed functions ---

func.func private @make(%value: i32, %ch0: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {
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

// A call without options stays on its caller's device.
func.func private @make_deeper(%value: i32, %ch0: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {
  %tensor, %ch1 = tfrt.call @make(%value, %ch0) : (i32, !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)
  tfrt.return %tensor, %ch1 : !tfrt_gpu.tensor, !tfrt.chain
}

func.func @placed() {
  %ch0 = tfrt.new.chain
  %value = tfrt.constant.i32 7
  %tensor, %ch1 = tfrt.call @make_deeper(%value, %ch0) {device = "cpu:0"} : (i32, !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)
  %host = tfrt_gpu.tensor.to_host %tensor, %ch1
  %ch2 = tfrt_dht.print_tensor %host, %ch1
  tfrt.return
}

func.func @nowhere() -> !tfrt_gpu.device {
  // expected-error @+1 {{no call has placed this function on a device}}
  %device = tfrt_gpu.device.current
  tfrt.return %device : !tfrt_gpu.device
}
