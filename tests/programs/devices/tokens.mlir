// Work of devices as MLIR's dialect `gpu` writes it, with tokens inside of tasks.

// The PTX is that of kernels/device/cuda/standard_kernels.ptx.
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_70">, assembly = ".version 6.4\0A.target sm_70\0A.address_size 64\0A.visible .entry tfrt_fill_f32(\0A.param .u64 tfrt_fill_f32_param_0,\0A.param .f32 tfrt_fill_f32_param_1,\0A.param .u32 tfrt_fill_f32_param_2\0A)\0A{\0A.reg .pred %p<3>;\0A.reg .f32 %f<2>;\0A.reg .b32 %r<5>;\0A.reg .b64 %rd<15>;\0Ald.param.u64 %rd8, [tfrt_fill_f32_param_0];\0Ald.param.f32 %f1, [tfrt_fill_f32_param_1];\0Ald.param.u32 %rd3, [tfrt_fill_f32_param_2];\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Acvt.u64.u32 %rd1, %r2;\0Amul.wide.u32 %rd9, %r1, %r2;\0Amov.u32 %r3, %tid.x;\0Acvt.u64.u32 %rd10, %r3;\0Aadd.s64 %rd14, %rd9, %rd10;\0Asetp.ge.u64 %p1, %rd14, %rd3;\0A@%p1 bra $L__BB0_3;\0Amov.u32 %r4, %nctaid.x;\0Acvt.u64.u32 %rd11, %r4;\0Amul.lo.s64 %rd4, %rd11, %rd1;\0Acvta.to.global.u64 %rd5, %rd8;\0A$L__BB0_2:\0Ashl.b64 %rd12, %rd14, 2;\0Aadd.s64 %rd13, %rd5, %rd12;\0Ast.global.f32 [%rd13], %f1;\0Aadd.s64 %rd14, %rd14, %rd4;\0Asetp.lt.u64 %p2, %rd14, %rd3;\0A@%p2 bra $L__BB0_2;\0A$L__BB0_3:\0Aret;\0A}\0A.visible .entry tfrt_multiply_f32(\0A.param .u64 tfrt_multiply_f32_param_0,\0A.param .u64 tfrt_multiply_f32_param_1,\0A.param .u64 tfrt_multiply_f32_param_2,\0A.param .u32 tfrt_multiply_f32_param_3\0A)\0A{\0A.reg .pred %p<3>;\0A.reg .f32 %f<4>;\0A.reg .b32 %r<5>;\0A.reg .b64 %rd<21>;\0Ald.param.u64 %rd10, [tfrt_multiply_f32_param_0];\0Ald.param.u64 %rd11, [tfrt_multiply_f32_param_1];\0Ald.param.u64 %rd12, [tfrt_multiply_f32_param_2];\0Ald.param.u32 %rd3, [tfrt_multiply_f32_param_3];\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Acvt.u64.u32 %rd1, %r2;\0Amul.wide.u32 %rd13, %r1, %r2;\0Amov.u32 %r3, %tid.x;\0Acvt.u64.u32 %rd14, %r3;\0Aadd.s64 %rd20, %rd13, %rd14;\0Asetp.ge.u64 %p1, %rd20, %rd3;\0A@%p1 bra $L__BB3_3;\0Amov.u32 %r4, %nctaid.x;\0Acvt.u64.u32 %rd15, %r4;\0Amul.lo.s64 %rd4, %rd15, %rd1;\0Acvta.to.global.u64 %rd5, %rd10;\0Acvta.to.global.u64 %rd6, %rd11;\0Acvta.to.global.u64 %rd7, %rd12;\0A$L__BB3_2:\0Ashl.b64 %rd16, %rd20, 2;\0Aadd.s64 %rd17, %rd6, %rd16;\0Ald.global.f32 %f1, [%rd17];\0Aadd.s64 %rd18, %rd5, %rd16;\0Ald.global.f32 %f2, [%rd18];\0Amul.f32 %f3, %f2, %f1;\0Aadd.s64 %rd19, %rd7, %rd16;\0Ast.global.f32 [%rd19], %f3;\0Aadd.s64 %rd20, %rd20, %rd4;\0Asetp.lt.u64 %p2, %rd20, %rd3;\0A@%p2 bra $L__BB3_2;\0A$L__BB3_3:\0Aret;\0A}\0A">]

// A token goes from task to task: the second one multiplies and the third one copies, each behind
// the work of the one before, for which no host waits.
func.func @tokens() {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 8 : i32
  %three = arith.constant 3.0 : f32
  %host = memref.alloc() : memref<8xf32>
  %t0, %made, %a0, %b0 = async.execute -> (!async.value<!gpu.async.token>, !async.value<memref<8xf32>>, !async.value<memref<8xf32>>) attributes {device = "cpu:0"} {
    %start = gpu.wait async
    %a, %ta = gpu.alloc async [%start] () : memref<8xf32>
    %b, %tb = gpu.alloc async [%ta] () : memref<8xf32>
    %filled = gpu.launch_func async [%tb] @kernels::@tfrt_fill_f32 blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%a : memref<8xf32>, %three : f32, %n : i32)
    async.yield %filled, %a, %b : !gpu.async.token, memref<8xf32>, memref<8xf32>
  }
  %t1, %multiplied = async.execute [%t0] (%made as %token: !async.value<!gpu.async.token>, %a0 as %a: !async.value<memref<8xf32>>, %b0 as %b: !async.value<memref<8xf32>>) -> !async.value<!gpu.async.token> attributes {device = "cpu:0"} {
    %done = gpu.launch_func async [%token] @kernels::@tfrt_multiply_f32 blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%a : memref<8xf32>, %a : memref<8xf32>, %b : memref<8xf32>, %n : i32)
    async.yield %done : !gpu.async.token
  }
  %t2 = async.execute [%t1] (%multiplied as %token: !async.value<!gpu.async.token>, %b0 as %b: !async.value<memref<8xf32>>) attributes {device = "cpu:0"} {
    %copied = gpu.memcpy async [%token] %host, %b : memref<8xf32>, memref<8xf32>
    gpu.wait [%copied]
    async.yield
  }
  async.await %t2 : !async.token
  %x = memref.load %host[%c1] : memref<8xf32>
  vector.print %x : f32
  return
}

// Two devices fill memory of their own; a third task waits for both tokens.
func.func @two_devices() {
  %c0 = arith.constant 0 : index
  %n = arith.constant 2 : index
  %one = arith.constant 1.5 : f32
  %two = arith.constant 2.5 : f32
  %left = memref.alloc() : memref<2xf32>
  %right = memref.alloc() : memref<2xf32>
  %t0, %e0, %m0 = async.execute -> (!async.value<!gpu.async.token>, !async.value<memref<?xf32>>) attributes {device = "cpu:0"} {
    %m, %t = gpu.alloc async (%n) : memref<?xf32>
    %set = gpu.memset async [%t] %m, %one : memref<?xf32>, f32
    async.yield %set, %m : !gpu.async.token, memref<?xf32>
  }
  %t1, %e1, %m1 = async.execute -> (!async.value<!gpu.async.token>, !async.value<memref<?xf32>>) attributes {device = "cpu:0"} {  // another device
    %m, %t = gpu.alloc async (%n) : memref<?xf32>
    %set = gpu.memset async [%t] %m, %two : memref<?xf32>, f32
    async.yield %set, %m : !gpu.async.token, memref<?xf32>
  }
  %t2 = async.execute (%e0 as %a: !async.value<!gpu.async.token>, %m0 as %x: !async.value<memref<?xf32>>, %e1 as %b: !async.value<!gpu.async.token>, %m1 as %y: !async.value<memref<?xf32>>) attributes {device = "cpu:0"} {
    %both = gpu.wait async [%a, %b]
    %here, %made = gpu.alloc async [%both] (%n) : memref<?xf32>
    %moved = gpu.memcpy async [%made] %here, %y : memref<?xf32>, memref<?xf32>
    %l = memref.cast %left : memref<2xf32> to memref<?xf32>
    %r = memref.cast %right : memref<2xf32> to memref<?xf32>
    %first = gpu.memcpy async [%moved] %l, %x : memref<?xf32>, memref<?xf32>
    %second = gpu.memcpy async [%first] %r, %here : memref<?xf32>, memref<?xf32>
    %freed = gpu.dealloc async [%second] %x : memref<?xf32>
    gpu.wait [%freed]
    async.yield
  }
  async.await %t2 : !async.token
  %v = memref.load %left[%c0] : memref<2xf32>
  %w = memref.load %right[%c0] : memref<2xf32>
  vector.print %v : f32
  vector.print %w : f32
  return
}

// Without tokens the host sees what the device did, and the device what the host did.
func.func @without_tokens() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %host = memref.alloc() : memref<2xf32>
  %t = async.execute attributes {device = "cpu:0"} {
    %m = gpu.alloc () : memref<2xf32>
    gpu.memset %m, %half : memref<2xf32>, f32
    gpu.memcpy %host, %m : memref<2xf32>, memref<2xf32>
    %x = memref.load %host[%c0] : memref<2xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %host[%c1] : memref<2xf32>
    gpu.memcpy %m, %host : memref<2xf32>, memref<2xf32>
    memref.store %half, %host[%c1] : memref<2xf32>
    gpu.memcpy %host, %m : memref<2xf32>, memref<2xf32>
    gpu.dealloc %m : memref<2xf32>
    async.yield
  }
  async.await %t : !async.token
  %z = memref.load %host[%c1] : memref<2xf32>
  vector.print %z : f32
  return
}

// Memory of the host is no device's: its error is the token's, and that of all behind it.
func.func @memory_of_the_host() {
  %half = arith.constant 0.5 : f32
  %host = memref.alloc() : memref<2xf32>
  %t, %e = async.execute -> !async.value<!gpu.async.token> attributes {device = "cpu:0"} {
    // expected-error@+1 {{this memory is no device's: allocate it with gpu.alloc}}
    %set = gpu.memset async %host, %half : memref<2xf32>, f32
    async.yield %set : !gpu.async.token
  }
  %t1 = async.execute (%e as %token: !async.value<!gpu.async.token>) attributes {device = "cpu:0"} {
    gpu.wait [%token]
    async.yield
  }
  async.runtime.await %t1 : !async.token
  %failed = async.runtime.is_error %t1 : !async.token
  vector.print %failed : i1
  return
}
