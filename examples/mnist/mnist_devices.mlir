// SPDX-License-Identifier: Apache-2.0
//
// Classifies handwritten digits on three hosts, each on its first GPU:
//
//   tfrt run examples/mnist/mnist_devices.mlir --local 3 --arg images=FILE --arg labels=FILE \
//       --arg has_libraries=true
//
// It is mnist.mlir with the network on a device. Layers are those of cuDNN and cuBLAS or, with
// has_libraries=false, the kernels of kernels.cu. With "cpu:0" for "cuda:0" it is the same program on
// hosts without a GPU. Each host also makes the logits itself, and counts those of the device that
// are no further away than 1/1000.
//
//   digits, padded to batches of 50 --> GPU: conv, pool, conv, pool, dense, dense --> logits

func.func @main(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor, %has_libraries: i1) -> (i64, i64, i64) {
  %start = tfrt.new.chain
  %read, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4 = tfrt_tensor.read_btf "weights/mnist.btf", %start : () -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor)

  // Part h has (N + 2 - h) / 3 digits: equal parts, the first ones longer by one.
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %n = tfrt_tensor.common_dim %images, %labels axis 0
  %n_plus_1 = tfrt.add.i32 %n, %one
  %n_plus_2 = tfrt.add.i32 %n, %two
  %count0, %unused0 = tfrt.div.i32 %n_plus_2, %three
  %count1, %unused1 = tfrt.div.i32 %n_plus_1, %three
  %count2, %unused2 = tfrt.div.i32 %n, %three
  %start2 = tfrt.add.i32 %count0, %count1
  %images0 = tfrt_tensor.slice %images, %zero, %count0
  %labels0 = tfrt_tensor.slice %labels, %zero, %count0
  %right0, %close0, %all0 = tfrt.call @classify(%images0, %labels0, %has_libraries, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 0 : i32, device = "cuda:0"} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, i1, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64, i64)
  %images1 = tfrt_tensor.slice %images, %count0, %count1
  %labels1 = tfrt_tensor.slice %labels, %count0, %count1
  %right1, %close1, %all1 = tfrt.call @classify(%images1, %labels1, %has_libraries, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 1 : i32, device = "cuda:0"} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, i1, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64, i64)
  %images2 = tfrt_tensor.slice %images, %start2, %count2
  %labels2 = tfrt_tensor.slice %labels, %start2, %count2
  %right2, %close2, %all2 = tfrt.call @classify(%images2, %labels2, %has_libraries, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 2 : i32, device = "cuda:0"} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, i1, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64, i64)
  %right01 = tfrt.add.i64 %right0, %right1
  %right = tfrt.add.i64 %right01, %right2
  %close01 = tfrt.add.i64 %close0, %close1
  %close = tfrt.add.i64 %close01, %close2
  %all01 = tfrt.add.i64 %all0, %all1
  %all = tfrt.add.i64 %all01, %all2
  %ten = tfrt.constant.i64 10
  %logits = tfrt.mul.i64 %all, %ten
  %line0 = tfrt.print_text %start "host 0: %d digits, %d right" (%all0, %right0) : i64, i64
  %line1 = tfrt.print_text %line0 "host 1: %d digits, %d right" (%all1, %right1) : i64, i64
  %line2 = tfrt.print_text %line1 "host 2: %d digits, %d right" (%all2, %right2) : i64, i64
  %line3 = tfrt.print_text %line2 "%d of %d digits are right, and %d of %d logits as the host makes them" (%right, %all, %close, %logits) : i64, i64, i64, i64
  tfrt.return %right, %close, %all : i64, i64, i64
}

// How many of the digits the network gets right on the current device, how many logits are those of
// the host, and how many digits there are.
func.func @classify(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor, %has_libraries: i1, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> (i64, i64, i64) {
  %start = tfrt.new.chain
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %w1_size = tfrt.constant.i64 1600
  %w1_there = tfrt_gpu.mem.allocate %allocator, %stream, %w1_size, %start
  %w1_here, %w1_read = tfrt_dht.get_buffer %w1, %start
  %w1_copied = tfrt_gpu.mem.copy %w1_there, %w1_here, %stream, %w1_read : !tfrt_gpu.buffer, !ht.host_buffer
  %b1_size = tfrt.constant.i64 64
  %b1_there = tfrt_gpu.mem.allocate %allocator, %stream, %b1_size, %start
  %b1_here, %b1_read = tfrt_dht.get_buffer %b1, %start
  %b1_copied = tfrt_gpu.mem.copy %b1_there, %b1_here, %stream, %b1_read : !tfrt_gpu.buffer, !ht.host_buffer
  %w2_size = tfrt.constant.i64 51200
  %w2_there = tfrt_gpu.mem.allocate %allocator, %stream, %w2_size, %start
  %w2_here, %w2_read = tfrt_dht.get_buffer %w2, %start
  %w2_copied = tfrt_gpu.mem.copy %w2_there, %w2_here, %stream, %w2_read : !tfrt_gpu.buffer, !ht.host_buffer
  %b2_size = tfrt.constant.i64 128
  %b2_there = tfrt_gpu.mem.allocate %allocator, %stream, %b2_size, %start
  %b2_here, %b2_read = tfrt_dht.get_buffer %b2, %start
  %b2_copied = tfrt_gpu.mem.copy %b2_there, %b2_here, %stream, %b2_read : !tfrt_gpu.buffer, !ht.host_buffer
  %w3_size = tfrt.constant.i64 262144
  %w3_there = tfrt_gpu.mem.allocate %allocator, %stream, %w3_size, %start
  %w3_here, %w3_read = tfrt_dht.get_buffer %w3, %start
  %w3_copied = tfrt_gpu.mem.copy %w3_there, %w3_here, %stream, %w3_read : !tfrt_gpu.buffer, !ht.host_buffer
  %b3_size = tfrt.constant.i64 512
  %b3_there = tfrt_gpu.mem.allocate %allocator, %stream, %b3_size, %start
  %b3_here, %b3_read = tfrt_dht.get_buffer %b3, %start
  %b3_copied = tfrt_gpu.mem.copy %b3_there, %b3_here, %stream, %b3_read : !tfrt_gpu.buffer, !ht.host_buffer
  %w4_size = tfrt.constant.i64 5120
  %w4_there = tfrt_gpu.mem.allocate %allocator, %stream, %w4_size, %start
  %w4_here, %w4_read = tfrt_dht.get_buffer %w4, %start
  %w4_copied = tfrt_gpu.mem.copy %w4_there, %w4_here, %stream, %w4_read : !tfrt_gpu.buffer, !ht.host_buffer
  %b4_size = tfrt.constant.i64 40
  %b4_there = tfrt_gpu.mem.allocate %allocator, %stream, %b4_size, %start
  %b4_here, %b4_read = tfrt_dht.get_buffer %b4, %start
  %b4_copied = tfrt_gpu.mem.copy %b4_there, %b4_here, %stream, %b4_read : !tfrt_gpu.buffer, !ht.host_buffer
  %copied = tfrt.merge.chains %w1_copied, %b1_copied, %w2_copied, %b2_copied, %w3_copied, %b3_copied, %w4_copied, %b4_copied : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain

  // Batches are whole: zeros follow the last digits, and what is made of them is cut off.
  %per_byte = tfrt.constant.f32 0.00392156886  // 1 / 255: pixels from 0 to 1
  %floats = tfrt_tensor.cast %images to f32
  %pixels = tfrt_tensor.scale %floats, %per_byte
  %padding = tfrt_tensor.zeros #corert.shape<50x28x28> of f32
  %padded = tfrt_tensor.concat %pixels, %padding
  %batch = tfrt.constant.i32 50
  %round_up = tfrt.constant.i32 49
  %n = tfrt_tensor.dim %images axis 0
  %sum = tfrt.add.i32 %n, %round_up
  %batches, %unused = tfrt.div.i32 %sum, %batch
  %none = tfrt_tensor.zeros #corert.shape<1x10> of f32
  %index = tfrt.constant.i32 0
  %made = tfrt_tensor.zeros #corert.shape<1x10> of f32
  %done:16 = tfrt.repeat.i32 %batches, %index, %made, %padded, %batch, %stream, %allocator, %has_libraries, %copied, %w1_there, %b1_there, %w2_there, %b2_there, %w3_there, %b3_there, %w4_there, %b4_there : i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, i32, !tfrt_gpu.stream, !tfrt_gpu.allocator, i1, !tfrt.chain, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer {
    %some = tfrt_tensor.batch %padded, %index, %batch
    %some_logits = tfrt.cond %has_libraries @by_libraries @by_kernels (%stream, %allocator, %some, %copied, %w1_there, %b1_there, %w2_there, %b2_there, %w3_there, %b3_there, %w4_there, %b4_there) : (!tfrt_gpu.stream, !tfrt_gpu.allocator, !tfrt_tensor.tensor, !tfrt.chain, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> (!tfrt_tensor.tensor)
    %more = tfrt_tensor.concat %made, %some_logits
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %index, %one
    tfrt.return %next, %more, %padded, %batch, %stream, %allocator, %has_libraries, %copied, %w1_there, %b1_there, %w2_there, %b2_there, %w3_there, %b3_there, %w4_there, %b4_there : i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, i32, !tfrt_gpu.stream, !tfrt_gpu.allocator, i1, !tfrt.chain, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  }

  %first = tfrt.constant.i32 1
  %logits = tfrt_tensor.slice %done#1, %first, %n
  %digits = tfrt_tensor.argmax %logits axis 1
  %expected = tfrt_tensor.cast %labels to i64
  %right = tfrt_tensor.count_equal %digits, %expected

  // A thousand times the difference from what the host makes of the same digits, without its fraction.
  %here = tfrt.call @model(%pixels, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %nothing = tfrt.constant.f32 0.0
  %thousand = tfrt.constant.f32 1000.0
  %minus_thousand = tfrt.constant.f32 -1000.0
  %theirs = tfrt_tensor.scale %logits, %thousand
  %ours = tfrt_tensor.scale %here, %minus_thousand
  %difference = tfrt_tensor.add %theirs, %ours
  %whole = tfrt_tensor.cast %difference to i64
  %nothing_f32 = tfrt_tensor.scale %difference, %nothing
  %same = tfrt_tensor.cast %nothing_f32 to i64
  %close = tfrt_tensor.count_equal %whole, %same

  %shape = tfrt_dht.get_tensor_shape %labels
  %all = ts.get_num_elements %shape
  tfrt.return %right, %close, %all : i64, i64, i64
}

// The network by the host: ten scores for each image, as mnist.mlir has it.
func.func @model(%pixels: !tfrt_tensor.tensor, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %x = tfrt_tensor.reshape %pixels [-1 : i64, 1 : i64, 28 : i64, 28 : i64]

  %conv1 = tfrt_tensor.conv2d %x, %w1, %b1 {relu = true}
  %pool1 = tfrt_tensor.max_pool2d %conv1 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 : i64]}
  %conv2 = tfrt_tensor.conv2d %pool1, %w2, %b2 {relu = true}
  %pool2 = tfrt_tensor.max_pool2d %conv2 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 : i64]}

  %flat = tfrt_tensor.reshape %pool2 [-1 : i64, 512 : i64]
  %dense1 = tfrt_tensor.linear %flat, %w3, %b3 {relu = true}
  %logits = tfrt_tensor.linear %dense1, %w4, %b4
  tfrt.return %logits : !tfrt_tensor.tensor
}

// The logits of 50 images, by the kernels of kernels.cu.
func.func @by_kernels(%stream: !tfrt_gpu.stream, %allocator: !tfrt_gpu.allocator, %images: !tfrt_tensor.tensor, %start: !tfrt.chain, %w1: !tfrt_gpu.buffer, %b1: !tfrt_gpu.buffer, %w2: !tfrt_gpu.buffer, %b2: !tfrt_gpu.buffer, %w3: !tfrt_gpu.buffer, %b3: !tfrt_gpu.buffer, %w4: !tfrt_gpu.buffer, %b4: !tfrt_gpu.buffer) -> !tfrt_tensor.tensor {
  %context = tfrt_gpu.stream.get_context %stream
  %x_size = tfrt.constant.i64 156800
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %x_size, %start
  %c1_size = tfrt.constant.i64 1843200
  %c1 = tfrt_gpu.mem.allocate %allocator, %stream, %c1_size, %start
  %p1_size = tfrt.constant.i64 460800
  %p1 = tfrt_gpu.mem.allocate %allocator, %stream, %p1_size, %start
  %c2_size = tfrt.constant.i64 409600
  %c2 = tfrt_gpu.mem.allocate %allocator, %stream, %c2_size, %start
  %p2_size = tfrt.constant.i64 102400
  %p2 = tfrt_gpu.mem.allocate %allocator, %stream, %p2_size, %start
  %d1_size = tfrt.constant.i64 25600
  %d1 = tfrt_gpu.mem.allocate %allocator, %stream, %d1_size, %start
  %y_size = tfrt.constant.i64 2000
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %y_size, %start
  %pixels, %ch0 = tfrt_dht.get_buffer %images, %start
  %ch1 = tfrt_gpu.mem.copy %x, %pixels, %stream, %ch0 : !tfrt_gpu.buffer, !ht.host_buffer
  %module = tfrt_gpu.module.load_file %context {path = "kernels.ptx"}
  %n0 = tfrt.constant.ui32 0
  %n1 = tfrt.constant.ui32 1
  %n2 = tfrt.constant.ui32 2
  %n5 = tfrt.constant.ui32 5
  %n8 = tfrt.constant.ui32 8
  %n10 = tfrt.constant.ui32 10
  %n12 = tfrt.constant.ui32 12
  %n16 = tfrt.constant.ui32 16
  %n24 = tfrt.constant.ui32 24
  %n28 = tfrt.constant.ui32 28
  %n32 = tfrt.constant.ui32 32
  %n50 = tfrt.constant.ui32 50
  %n128 = tfrt.constant.ui32 128
  %n512 = tfrt.constant.ui32 512
  %n800 = tfrt.constant.ui32 800
  %n1600 = tfrt.constant.ui32 1600
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %threads = tfrt.constant.ui32 256
  %blocks = tfrt.constant.ui32 264
  %conv2d = tfrt_gpu.module.get_function %module {name = "tfrt_conv2d_f32"}
  %max_pool2d = tfrt_gpu.module.get_function %module {name = "tfrt_max_pool2d_f32"}
  %linear = tfrt_gpu.module.get_function %module {name = "tfrt_linear_f32"}
  %ch2 = tfrt_gpu.function.launch %stream, %conv2d,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch1,
             args(%x, %w1, %b1, %c1, %n50, %n1, %n28, %n28, %n16, %n5, %n1) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32, ui32, ui32, ui32) {tfrt.reads = [0, 1, 2]}
  %ch3 = tfrt_gpu.function.launch %stream, %max_pool2d,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch2,
             args(%c1, %p1, %n800, %n24, %n24, %n2) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32) {tfrt.reads = [0]}
  %ch4 = tfrt_gpu.function.launch %stream, %conv2d,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch3,
             args(%p1, %w2, %b2, %c2, %n50, %n16, %n12, %n12, %n32, %n5, %n1) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32, ui32, ui32, ui32) {tfrt.reads = [0, 1, 2]}
  %ch5 = tfrt_gpu.function.launch %stream, %max_pool2d,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch4,
             args(%c2, %p2, %n1600, %n8, %n8, %n2) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32) {tfrt.reads = [0]}
  %ch6 = tfrt_gpu.function.launch %stream, %linear,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch5,
             args(%p2, %w3, %b3, %d1, %n50, %n512, %n128, %n1) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32) {tfrt.reads = [0, 1, 2]}
  %ch7 = tfrt_gpu.function.launch %stream, %linear,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch6,
             args(%d1, %w4, %b4, %y, %n50, %n128, %n10, %n0) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32, ui32) {tfrt.reads = [0, 1, 2]}
  %shape = ts.build_shape [50 : i64, 10 : i64]
  %there = tfrt_gpu.tensor.make.f32 %y, %shape, %ch7
  %logits = tfrt_gpu.tensor.to_host %there, %ch7
  tfrt.return %logits : !tfrt_tensor.tensor
}

// The same by cuDNN and cuBLAS. Matrices lie row by row, which the library takes for their
// transposes: so the weights come first.
func.func @by_libraries(%stream: !tfrt_gpu.stream, %allocator: !tfrt_gpu.allocator, %images: !tfrt_tensor.tensor, %start: !tfrt.chain, %w1: !tfrt_gpu.buffer, %b1: !tfrt_gpu.buffer, %w2: !tfrt_gpu.buffer, %b2: !tfrt_gpu.buffer, %w3: !tfrt_gpu.buffer, %b3: !tfrt_gpu.buffer, %w4: !tfrt_gpu.buffer, %b4: !tfrt_gpu.buffer) -> !tfrt_tensor.tensor {
  %context = tfrt_gpu.stream.get_context %stream
  %x_size = tfrt.constant.i64 156800
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %x_size, %start
  %c1_size = tfrt.constant.i64 1843200
  %c1 = tfrt_gpu.mem.allocate %allocator, %stream, %c1_size, %start
  %p1_size = tfrt.constant.i64 460800
  %p1 = tfrt_gpu.mem.allocate %allocator, %stream, %p1_size, %start
  %c2_size = tfrt.constant.i64 409600
  %c2 = tfrt_gpu.mem.allocate %allocator, %stream, %c2_size, %start
  %p2_size = tfrt.constant.i64 102400
  %p2 = tfrt_gpu.mem.allocate %allocator, %stream, %p2_size, %start
  %d1_size = tfrt.constant.i64 25600
  %d1 = tfrt_gpu.mem.allocate %allocator, %stream, %d1_size, %start
  %y_size = tfrt.constant.i64 2000
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %y_size, %start
  %pixels, %ch0 = tfrt_dht.get_buffer %images, %start
  %ch1 = tfrt_gpu.mem.copy %x, %pixels, %stream, %ch0 : !tfrt_gpu.buffer, !ht.host_buffer
  %module = tfrt_gpu.module.load_file %context {path = "kernels.ptx"}
  %n0 = tfrt.constant.ui32 0
  %n1 = tfrt.constant.ui32 1
  %n10 = tfrt.constant.ui32 10
  %n50 = tfrt.constant.ui32 50
  %n128 = tfrt.constant.ui32 128
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %threads = tfrt.constant.ui32 256
  %blocks = tfrt.constant.ui32 264
  %add_row = tfrt_gpu.module.get_function %module {name = "tfrt_add_row_f32"}
  %dnn = tfrt_gpu.dnn.create %context
  %blas = tfrt_gpu.blas.create %context
  %space_size = tfrt.constant.i64 4194304
  %space = tfrt_gpu.mem.allocate %allocator, %stream, %space_size, %start
  %f0 = tfrt.constant.f32 0.0
  %f1 = tfrt.constant.f32 1.0
  %limit = tfrt.constant.f64 0.0
  %relu = tfrt_gpu.dnn.create_activation_descriptor %limit, CUDNN_ACTIVATION_RELU, false
  %conv = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT,
    CUDNN_CROSS_CORRELATION, CUDNN_FMA_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %conv_algo = tfrt_gpu.dnn.convolution_forward_algorithm 1
  %pooling = tfrt_gpu.dnn.create_pooling_descriptor %context, %zero, %zero,
    [2 : i32, 2 : i32], [0 : i32, 0 : i32], [2 : i32, 2 : i32]
  %x_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [50 : i32, 1 : i32, 28 : i32, 28 : i32], [784 : i32, 784 : i32, 28 : i32, 1 : i32]
  %c1_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [50 : i32, 16 : i32, 24 : i32, 24 : i32], [9216 : i32, 576 : i32, 24 : i32, 1 : i32]
  %p1_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [50 : i32, 16 : i32, 12 : i32, 12 : i32], [2304 : i32, 144 : i32, 12 : i32, 1 : i32]
  %c2_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [50 : i32, 32 : i32, 8 : i32, 8 : i32], [2048 : i32, 64 : i32, 8 : i32, 1 : i32]
  %p2_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [50 : i32, 32 : i32, 4 : i32, 4 : i32], [512 : i32, 16 : i32, 4 : i32, 1 : i32]
  %b1_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 16 : i32, 1 : i32, 1 : i32], [16 : i32, 1 : i32, 1 : i32, 1 : i32]
  %b2_form = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 32 : i32, 1 : i32, 1 : i32], [32 : i32, 1 : i32, 1 : i32, 1 : i32]
  %w1_form = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [16 : i32, 1 : i32, 5 : i32, 5 : i32]
  %w2_form = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [32 : i32, 16 : i32, 5 : i32, 5 : i32]
  %ch2 = tfrt_gpu.dnn.convolution_bias_activation_forward %dnn, %stream, CUDNN_DATA_FLOAT,
    %f1, %x_form, %x, %w1_form, %w1, %conv, %conv_algo, %space, %f0, %c1_form, %c1, %b1_form, %b1,
    %relu, %c1_form, %c1, %ch1
  %ch3 = tfrt_gpu.dnn.pooling_forward %dnn, %stream, %pooling, %f1, %c1_form, %c1, %f0, %p1_form, %p1, %ch2
  %ch4 = tfrt_gpu.dnn.convolution_bias_activation_forward %dnn, %stream, CUDNN_DATA_FLOAT,
    %f1, %p1_form, %p1, %w2_form, %w2, %conv, %conv_algo, %space, %f0, %c2_form, %c2, %b2_form, %b2,
    %relu, %c2_form, %c2, %ch3
  %ch5 = tfrt_gpu.dnn.pooling_forward %dnn, %stream, %pooling, %f1, %c2_form, %c2, %f0, %p2_form, %p2, %ch4
  %gemm_algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  %i10 = tfrt.constant.i32 10
  %i50 = tfrt.constant.i32 50
  %i128 = tfrt.constant.i32 128
  %i512 = tfrt.constant.i32 512
  %ch6 = tfrt_gpu.blas.gemm %blas, %stream, CUBLAS_OP_N, CUBLAS_OP_N, %i128, %i50, %i512, %f1,
    %w3, CUDA_R_32F, %i128, %p2, CUDA_R_32F, %i512, %f0, %d1, CUDA_R_32F, %i128,
    CUBLAS_COMPUTE_32F, %gemm_algo, %ch5
  %ch7 = tfrt_gpu.function.launch %stream, %add_row,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch6,
             args(%b3, %d1, %n50, %n128, %n1) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32) {tfrt.reads = [0]}
  %ch8 = tfrt_gpu.blas.gemm %blas, %stream, CUBLAS_OP_N, CUBLAS_OP_N, %i10, %i50, %i128, %f1,
    %w4, CUDA_R_32F, %i10, %d1, CUDA_R_32F, %i128, %f0, %y, CUDA_R_32F, %i10,
    CUBLAS_COMPUTE_32F, %gemm_algo, %ch7
  %ch9 = tfrt_gpu.function.launch %stream, %add_row,
             blocks in (%blocks, %one, %one), threads in (%threads, %one, %one), %zero, %ch8,
             args(%b4, %y, %n50, %n10, %n0) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32, ui32, ui32) {tfrt.reads = [0]}
  %shape = ts.build_shape [50 : i64, 10 : i64]
  %there = tfrt_gpu.tensor.make.f32 %y, %shape, %ch9
  %logits = tfrt_gpu.tensor.to_host %there, %ch9
  tfrt.return %logits : !tfrt_tensor.tensor
}
