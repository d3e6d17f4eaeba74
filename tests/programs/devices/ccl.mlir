// Groups of devices: each function is one of two members, which share a device here. What is added
// to a handle happens when it is executed, and waits for the other member.

// Both have [rank + 1, 10]; each gets the sums.
func.func @sum(%rank: i32, %count: i32, %id: !tfrt_gpu.ccl.id) -> (!tfrt.chain, !tfrt_tensor.tensor) {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %one = tfrt.constant.i32 1
  %number = tfrt.add.i32 %rank, %one
  %size = tfrt.constant.i64 8
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.set %buffer, %number, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %ccl = tfrt_gpu.ccl.create %context, %rank, %count, %id
  %ch2 = tfrt_gpu.ccl.all_reduce %ccl, %buffer, %buffer, ncclInt32, ncclSum, %ch1
  %ch3 = tfrt_gpu.ccl.execute %stream, %ccl, %ch2
  // The sum of the sums.
  %ch4 = tfrt_gpu.ccl.all_reduce %ccl, %buffer, %buffer, ncclInt32, ncclSum, %ch3
  %ch5 = tfrt_gpu.ccl.execute %stream, %ccl, %ch4
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %bytes, %ch6 = tfrt_dht.get_buffer %tensor, %ch5
  %ch7 = tfrt_gpu.mem.copy %bytes, %buffer, %stream, %ch6 : !ht.host_buffer, !tfrt_gpu.buffer
  tfrt.return %ch7, %tensor : !tfrt.chain, !tfrt_tensor.tensor
}

func.func @sums() {
  %count = tfrt.constant.i32 2
  %rank0 = tfrt.constant.i32 0
  %rank1 = tfrt.constant.i32 1
  %id = tfrt_gpu.ccl.unique_id CPU
  %ch0, %t0 = tfrt.call @sum(%rank0, %count, %id) : (i32, i32, !tfrt_gpu.ccl.id) -> (!tfrt.chain, !tfrt_tensor.tensor)
  %ch1, %t1 = tfrt.call @sum(%rank1, %count, %id) : (i32, i32, !tfrt_gpu.ccl.id) -> (!tfrt.chain, !tfrt_tensor.tensor)
  %ch2 = tfrt_dht.print_tensor %t0, %ch0
  %ch3 = tfrt.merge.chains %ch1, %ch2 : !tfrt.chain, !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %t1, %ch3
  tfrt.return
}

// All else in one list: member 0 has [1, 2], member 1 has [3, 4].
func.func @exchange(%rank: i32, %peer: i32, %count: i32, %id: !tfrt_gpu.ccl.id, %in: !tfrt_tensor.tensor, %ch: !tfrt.chain) -> (!tfrt.chain, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %four = tfrt.constant.i64 4
  %eight = tfrt.constant.i64 8
  %sixteen = tfrt.constant.i64 16
  %input = tfrt_gpu.mem.allocate %allocator, %stream, %eight, %ch
  %gathered = tfrt_gpu.mem.allocate %allocator, %stream, %sixteen, %ch
  %greatest = tfrt_gpu.mem.allocate %allocator, %stream, %four, %ch
  %turned = tfrt_gpu.mem.allocate %allocator, %stream, %eight, %ch
  %received = tfrt_gpu.mem.allocate %allocator, %stream, %eight, %ch
  %bytes, %ch0 = tfrt_dht.get_buffer %in, %ch
  %ch1 = tfrt_gpu.mem.copy %input, %bytes, %stream, %ch0 : !tfrt_gpu.buffer, !ht.host_buffer
  %ccl = tfrt_gpu.ccl.create %context, %rank, %count, %id
  %ch2 = tfrt_gpu.ccl.all_gather %ccl, %input, %gathered, ncclInt32, %ch1
  %ch3 = tfrt_gpu.ccl.reduce_scatter %ccl, %input, %greatest, ncclInt32, ncclMax, %ch2
  %ch4 = tfrt_gpu.ccl.all_to_all %ccl, %input, %turned, ncclInt32, %ch3
  %ch5 = tfrt_gpu.ccl.send %ccl, %input, %peer, ncclInt32, %ch4
  %ch6 = tfrt_gpu.ccl.recv %ccl, %received, %peer, ncclInt32, %ch5
  %ch7 = tfrt_gpu.ccl.execute %stream, %ccl, %ch6
  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %t1 = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %t2 = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %t3 = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %b0, %ch8 = tfrt_dht.get_buffer %t0, %ch7
  %b1, %ch9 = tfrt_dht.get_buffer %t1, %ch8
  %b2, %ch10 = tfrt_dht.get_buffer %t2, %ch9
  %b3, %ch11 = tfrt_dht.get_buffer %t3, %ch10
  %ch12 = tfrt_gpu.mem.copy %b0, %gathered, %stream, %ch11 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch13 = tfrt_gpu.mem.copy %b1, %greatest, %stream, %ch12 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch14 = tfrt_gpu.mem.copy %b2, %turned, %stream, %ch13 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch15 = tfrt_gpu.mem.copy %b3, %received, %stream, %ch14 : !ht.host_buffer, !tfrt_gpu.buffer
  tfrt.return %ch15, %t0, %t1, %t2, %t3 : !tfrt.chain, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
}

func.func @exchanges() {
  %ch = tfrt.new.chain
  %count = tfrt.constant.i32 2
  %rank0 = tfrt.constant.i32 0
  %rank1 = tfrt.constant.i32 1
  %id = tfrt_gpu.ccl.unique_id CPU
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %cha = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch [1 : i32, 2 : i32]
  %chb = tfrt_dht.set_tensor_with_constant_values.i32 %b, %ch [3 : i32, 4 : i32]
  %ch0, %a0, %a1, %a2, %a3 = tfrt.call @exchange(%rank0, %rank1, %count, %id, %a, %cha) : (i32, i32, i32, !tfrt_gpu.ccl.id, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %ch1, %b0, %b1, %b2, %b3 = tfrt.call @exchange(%rank1, %rank0, %count, %id, %b, %chb) : (i32, i32, i32, !tfrt_gpu.ccl.id, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %c0 = tfrt_dht.print_tensor %a0, %ch0
  %c1 = tfrt_dht.print_tensor %a1, %c0
  %c2 = tfrt_dht.print_tensor %a2, %c1
  %c3 = tfrt_dht.print_tensor %a3, %c2
  %c4 = tfrt.merge.chains %ch1, %c3 : !tfrt.chain, !tfrt.chain
  %c5 = tfrt_dht.print_tensor %b0, %c4
  %c6 = tfrt_dht.print_tensor %b1, %c5
  %c7 = tfrt_dht.print_tensor %b2, %c6
  %c8 = tfrt_dht.print_tensor %b3, %c7
  tfrt.return
}

func.func @no_such_member() -> !tfrt_gpu.ccl.handle {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %count = tfrt.constant.i32 2
  %id = tfrt_gpu.ccl.unique_id CPU
  // expected-error @+1 {{there is no member 2 of a group of 2: ranks count from 0}}
  %ccl = tfrt_gpu.ccl.create %context, %count, %count, %id
  tfrt.return %ccl : !tfrt_gpu.ccl.handle
}

func.func @sizes_that_do_not_go_together() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %rank = tfrt.constant.i32 0
  %count = tfrt.constant.i32 1
  %device = tfrt_gpu.device.get CPU, %rank
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %eight = tfrt.constant.i64 8
  %sixteen = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %allocator, %stream, %eight, %ch0
  %b = tfrt_gpu.mem.allocate %allocator, %stream, %sixteen, %ch0
  %id = tfrt_gpu.ccl.unique_id CPU
  %ccl = tfrt_gpu.ccl.create %context, %rank, %count, %id
  // expected-error @+1 {{an input of 8 bytes doesn't go with an output of 16 in a group of 1}}
  %ch1 = tfrt_gpu.ccl.all_gather %ccl, %a, %b, ncclFloat32, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

func.func @a_type_that_is_none() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %rank = tfrt.constant.i32 0
  %count = tfrt.constant.i32 1
  %device = tfrt_gpu.device.get CPU, %rank
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %eight = tfrt.constant.i64 8
  %a = tfrt_gpu.mem.allocate %allocator, %stream, %eight, %ch0
  %id = tfrt_gpu.ccl.unique_id CPU
  %ccl = tfrt_gpu.ccl.create %context, %rank, %count, %id
  // expected-error @+1 {{'CUDA_R_32F' is no type of elements, which is one of: ncclInt8}}
  %ch1 = tfrt_gpu.ccl.send %ccl, %a, %rank, CUDA_R_32F, %ch0
  tfrt.return %ch1 : !tfrt.chain
}
