// Functions that are called often, as graphs of their device work.

// Moves all numbers of a buffer by one place, and puts %value before them.
func.func @push(%ch0: !tfrt.chain, %stream: !tfrt_gpu.stream, %value: i32,
                %first: !tfrt_gpu.buffer, %front: !tfrt_gpu.buffer, %back: !tfrt_gpu.buffer,
                %moved: !tfrt_gpu.buffer) -> !tfrt.chain {
  %ch1 = tfrt_gpu.mem.copy %moved, %front, %stream, %ch0 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.mem.copy %back, %moved, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.mem.set %first, %value, %stream, %ch2 : !tfrt_gpu.buffer, i32
  tfrt.return %ch3 : !tfrt.chain
}

// The first call is a plain one, the second and the fifth are captured, the others launched.
func.func @same_and_other_arguments() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 32
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %less = tfrt.constant.i64 28
  %moved = tfrt_gpu.mem.allocate %allocator, %stream, %less, %ch0
  %zero = tfrt.constant.ui64 0
  %four = tfrt.constant.ui64 4
  %most = tfrt.constant.ui64 28
  %first = tfrt_gpu.mem.view %buffer, %zero, %four
  %front = tfrt_gpu.mem.view %buffer, %zero, %most
  %back = tfrt_gpu.mem.view %buffer, %four, %most
  %nothing = tfrt.constant.i32 0
  %ch1 = tfrt_gpu.mem.set %buffer, %nothing, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %graph = tfrt_gpu.graph.create {plain_calls = 1 : i32}
  %ch2 = tfrt_gpu.graph.call %graph, @push(%ch1, %stream, %one, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.graph.call %graph, @push(%ch2, %stream, %one, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch4 = tfrt_gpu.graph.call %graph, @push(%ch3, %stream, %one, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch5 = tfrt_gpu.graph.call %graph, @push(%ch4, %stream, %one, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch6 = tfrt_gpu.graph.call %graph, @push(%ch5, %stream, %two, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch7 = tfrt_gpu.graph.call %graph, @push(%ch6, %stream, %two, %first, %front, %back, %moved) : !tfrt.chain, !tfrt_gpu.stream, i32, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch8 = tfrt_dht.get_buffer %tensor, %ch7
  %ch9 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch8 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_dht.print_tensor %tensor, %ch9
  tfrt.return
}

// Memory of its own can't be captured: all calls are plain ones. Where there are graphs, that is
// found out by an error.
func.func @fill(%ch0: !tfrt.chain, %stream: !tfrt_gpu.stream, %allocator: !tfrt_gpu.allocator,
                %target: !tfrt_gpu.buffer) -> !tfrt.chain {
  %size = tfrt.constant.i64 16
  %value = tfrt.constant.i32 7
  // on-cuda-error @+1 {{new memory can't be part of a graph}}
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %ch2 = tfrt_gpu.mem.copy %target, %buffer, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  tfrt.return %ch2 : !tfrt.chain
}

func.func @what_can_not_be_captured() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %graph = tfrt_gpu.graph.create {plain_calls = 0 : i32}
  %ch1 = tfrt_gpu.graph.call %graph, @fill(%ch0, %stream, %allocator, %buffer) : !tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.allocator, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.graph.call %graph, @fill(%ch1, %stream, %allocator, %buffer) : !tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.allocator, !tfrt_gpu.buffer
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %host, %ch3 = tfrt_dht.get_buffer %tensor, %ch2
  %ch4 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch3 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch5 = tfrt_dht.print_tensor %tensor, %ch4
  tfrt.return
}

// No work can't be captured, either.
func.func @idle(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

func.func @nothing_to_capture() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %graph = tfrt_gpu.graph.create {plain_calls = 0 : i32}
  %ch1 = tfrt_gpu.graph.call %graph, @idle(%ch0, %stream) : !tfrt.chain, !tfrt_gpu.stream
  %ch2 = tfrt_gpu.graph.call %graph, @idle(%ch1, %stream) : !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %ch2 : !tfrt.chain
}

func.func @another_function(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

func.func @graph_of_another_function() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %graph = tfrt_gpu.graph.create
  %ch1 = tfrt_gpu.graph.call %graph, @idle(%ch0, %stream) : !tfrt.chain, !tfrt_gpu.stream
  // expected-error @+1 {{a graph of another function is called as 'another_function'}}
  %ch2 = tfrt_gpu.graph.call %graph, @another_function(%ch1, %stream) : !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %ch2 : !tfrt.chain
}

func.func @nothing(%ch: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

func.func @without_a_stream() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %graph = tfrt_gpu.graph.create
  // expected-error @+1 {{function 'nothing' can be no graph: its first two arguments are not a chain and a stream}}
  %ch1 = tfrt_gpu.graph.call %graph, @nothing(%ch0) : !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
