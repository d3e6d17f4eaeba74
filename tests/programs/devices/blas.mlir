// Linear algebra: vectors, products, batches of products, triangular systems. Matrices lie column
// by column.

func.func @add() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %blas = tfrt_gpu.blas.create %context
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %y = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %bytes:2 = tfrt_dht.get_buffer %host, %ch0
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch2 = tfrt_gpu.mem.copy %x, %bytes#0, %stream, %ch1 : !tfrt_gpu.buffer, !ht.host_buffer
  %ch3 = tfrt_gpu.stream.synchronize %stream, %ch2
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch3 [2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32]
  %ch5 = tfrt_gpu.mem.copy %y, %bytes#0, %stream, %ch4 : !tfrt_gpu.buffer, !ht.host_buffer
  %n = tfrt.constant.i32 4
  %one = tfrt.constant.i32 1
  %alpha = tfrt.constant.f32 1.0
  %ch6 = tfrt_gpu.blas.axpy %blas, %stream, %n, %alpha, CUDA_R_32F,
    %x, CUDA_R_32F, %one, %y, CUDA_R_32F, %one, CUDA_R_32F, %ch5
  %ch7 = tfrt_gpu.mem.copy %bytes#0, %y, %stream, %ch6 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch8 = tfrt_dht.print_tensor %host, %ch7
  // Every other element, halved.
  %two = tfrt.constant.i32 2
  %half = tfrt.constant.f32 0.5
  %ch9 = tfrt_gpu.blas.scal %blas, %stream, %two, %half, CUDA_R_32F,
    %y, CUDA_R_32F, %two, CUDA_R_32F, %ch8
  %ch10 = tfrt_gpu.mem.copy %bytes#0, %y, %stream, %ch9 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch11 = tfrt_dht.print_tensor %host, %ch10
  tfrt.return
}

// [1 3; 2 4] times [1 3; 2 4], then [1 2; 3 4] times it, on top of what is there.
func.func @multiply() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %blas = tfrt_gpu.blas.create %context
  %size = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %c = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %host, %ch1 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch3 = tfrt_gpu.mem.copy %a, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %ch4 = tfrt_gpu.stream.synchronize %stream, %ch3
  %two = tfrt.constant.i32 2
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  %ch5 = tfrt_gpu.blas.gemm %blas, %stream, CUBLAS_OP_N, CUBLAS_OP_N,
    %two, %two, %two, %one, %a, CUDA_R_32F, %two, %a, CUDA_R_32F, %two,
    %zero, %c, CUDA_R_32F, %two, CUBLAS_COMPUTE_32F, %algo, %ch4
  %ch6 = tfrt_gpu.mem.copy %bytes, %c, %stream, %ch5 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch7 = tfrt_dht.print_tensor %host, %ch6
  %ch8 = tfrt_gpu.blas.gemm %blas, %stream, CUBLAS_OP_T, CUBLAS_OP_N,
    %two, %two, %two, %one, %a, CUDA_R_32F, %two, %a, CUDA_R_32F, %two,
    %one, %c, CUDA_R_32F, %two, CUBLAS_COMPUTE_32F, %algo, %ch7
  %ch9 = tfrt_gpu.mem.copy %bytes, %c, %stream, %ch8 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_dht.print_tensor %host, %ch9
  tfrt.return
}

// Three products of numbers, as matrices of one element: 2 * 2, 3 * 3 and 4 * 4; then 4 x = 8,
// 9 x = 18 and 16 x = 48.
func.func @batches() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %blas = tfrt_gpu.blas.create %context
  %size = tfrt.constant.i64 24
  %a = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %c = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %host = tfrt_dht.create_uninitialized_tensor.f64.1 [3 : i64]
  %bytes, %ch1 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f64 %host, %ch1 [2.0 : f64, 3.0 : f64, 4.0 : f64]
  %ch3 = tfrt_gpu.mem.copy %a, %bytes, %stream, %ch2 : !tfrt_gpu.buffer, !ht.host_buffer
  %ch4 = tfrt_gpu.stream.synchronize %stream, %ch3
  %one = tfrt.constant.i32 1
  %count = tfrt.constant.i32 3
  %next = tfrt.constant.i64 1
  %alpha = tfrt.constant.f64 1.0
  %beta = tfrt.constant.f64 0.0
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_ALGO0
  %ch5 = tfrt_gpu.blas.gemm.batch %blas, %stream, CUBLAS_OP_N, CUBLAS_OP_N,
    %one, %one, %one, %alpha, %a, CUDA_R_64F, %one, %next, %a, CUDA_R_64F, %one, %next,
    %beta, %c, CUDA_R_64F, %one, %next, %count, CUBLAS_COMPUTE_64F, %algo, %ch4
  %ch6 = tfrt_gpu.mem.copy %bytes, %c, %stream, %ch5 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch7 = tfrt_dht.print_tensor %host, %ch6
  %ch8 = tfrt_dht.set_tensor_with_constant_values.f64 %host, %ch7 [8.0 : f64, 18.0 : f64, 48.0 : f64]
  %ch9 = tfrt_gpu.mem.copy %a, %bytes, %stream, %ch8 : !tfrt_gpu.buffer, !ht.host_buffer
  %ch10 = tfrt_gpu.stream.synchronize %stream, %ch9
  %ch11 = tfrt_gpu.blas.trsm.batch %blas, %stream, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
    CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, %one, %one, CUDA_R_64F, %alpha, %c, %one, %a, %one,
    %count, %ch10
  %ch12 = tfrt_gpu.mem.copy %bytes, %a, %stream, %ch11 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch13 = tfrt_dht.print_tensor %host, %ch12
  tfrt.return
}

func.func @too_many_elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %blas = tfrt_gpu.blas.create %context
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %n = tfrt.constant.i32 5
  %one = tfrt.constant.i32 1
  %alpha = tfrt.constant.f32 1.0
  // expected-error @+1 {{20 bytes from byte 0 on are beyond a buffer of 16 bytes}}
  %ch1 = tfrt_gpu.blas.axpy %blas, %stream, %n, %alpha, CUDA_R_32F,
    %x, CUDA_R_32F, %one, %x, CUDA_R_32F, %one, CUDA_R_32F, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

func.func @no_such_type() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %blas = tfrt_gpu.blas.create %context
  %size = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %one = tfrt.constant.i32 1
  %alpha = tfrt.constant.f32 1.0
  // expected-error @+1 {{'CUDA_C_32F' is no type of elements, which is one of: CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F}}
  %ch1 = tfrt_gpu.blas.scal %blas, %stream, %one, %alpha, CUDA_R_32F,
    %x, CUDA_C_32F, %one, CUDA_R_32F, %ch0
  tfrt.return %ch1 : !tfrt.chain
}
