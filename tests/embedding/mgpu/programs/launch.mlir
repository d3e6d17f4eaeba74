// SPDX-License-Identifier: Apache-2.0
//
// Two regions with device work, one of which depends on the other: the first fills and copies, the
// second runs a kernel and copies back. Kernels get bare pointers.
//
// OUTPUT: 2.5 3.5 1002.5
module attributes {gpu.container_module} {
  func.func private @printF64(f64)
  func.func private @printNewline()

  gpu.binary @kernels [#gpu.object<#nvvm.target, assembly =
      ".version 6.4\0A.target sm_70\0A.address_size 64\0A.visible .entry tfrt_add_f32(.param .u64 a, .param .u64 b, .param .u64 target, .param .u32 count) { ret; }">]

  func.func @line(%x: f32) {
    %y = arith.extf %x : f32 to f64
    call @printF64(%y) : (f64) -> ()
    call @printNewline() : () -> ()
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %n = arith.constant 1001 : index
    %n32 = arith.constant 1001 : i32
    %last = arith.constant 1000 : index
    %offset = arith.constant 2.5 : f32
    %host = memref.alloc() : memref<1001xf32>
    scf.for %i = %c0 to %n step %c1 {
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      memref.store %f, %host[%i] : memref<1001xf32>
    }
    %t0, %device:3 = async.execute -> (!async.value<memref<1001xf32>>,
        !async.value<memref<1001xf32>>, !async.value<memref<1001xf32>>) {
      %a = gpu.alloc() : memref<1001xf32>
      %b = gpu.alloc() : memref<1001xf32>
      %c = gpu.alloc() : memref<1001xf32>
      gpu.memcpy %a, %host : memref<1001xf32>, memref<1001xf32>
      gpu.memset %b, %offset : memref<1001xf32>, f32
      async.yield %a, %b, %c : memref<1001xf32>, memref<1001xf32>, memref<1001xf32>
    }
    %t1 = async.execute [%t0] (%device#0 as %a: !async.value<memref<1001xf32>>,
        %device#1 as %b: !async.value<memref<1001xf32>>,
        %device#2 as %c: !async.value<memref<1001xf32>>) {
      gpu.launch_func @kernels::@tfrt_add_f32 blocks in (%c4, %c1, %c1)
          threads in (%c256, %c1, %c1)
          args(%a : memref<1001xf32>, %b : memref<1001xf32>, %c : memref<1001xf32>, %n32 : i32)
      gpu.memcpy %host, %c : memref<1001xf32>, memref<1001xf32>
      gpu.dealloc %a : memref<1001xf32>
      gpu.dealloc %b : memref<1001xf32>
      gpu.dealloc %c : memref<1001xf32>
      async.yield
    }
    async.await %t1 : !async.token
    %x = memref.load %host[%c0] : memref<1001xf32>
    %y = memref.load %host[%c1] : memref<1001xf32>
    %z = memref.load %host[%last] : memref<1001xf32>
    call @line(%x) : (f32) -> ()
    call @line(%y) : (f32) -> ()
    call @line(%z) : (f32) -> ()
    memref.dealloc %host : memref<1001xf32>
    return
  }
}
