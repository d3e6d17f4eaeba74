module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = "a\22\0Ab">]
  func.func @main(%n: index, %v: f32, %host: memref<?xf32>, %s: i32) -> !async.value<!gpu.async.token> {
    %c1 = arith.constant 1 : index
    %t0 = gpu.wait async
    %m, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %m2 = gpu.alloc () : memref<16xf32, 1>
    %m3 = gpu.alloc host_shared () : memref<16xf32>
    %t2 = gpu.memcpy async [%t1] %m, %host : memref<?xf32>, memref<?xf32>
    %t3 = gpu.memset async [%t2] %m, %v : memref<?xf32>, f32
    gpu.memcpy %m, %host : memref<?xf32>, memref<?xf32>
    %t4 = gpu.launch_func async [%t3, %t2] @kernels::@k blocks in (%c1, %c1, %n) threads in (%c1, %n, %c1) dynamic_shared_memory_size %s args(%m : memref<?xf32>, %v : f32)
    gpu.launch_func @kernels::@k clusters in (%n, %c1, %c1) blocks in (%c1, %n, %c1) threads in (%c1, %c1, %n)
    gpu.launch_func @kernels::@k blocks in (%s, %s, %s) threads in (%s, %s, %s) : i32
    %t5 = gpu.dealloc async [%t4] %m : memref<?xf32>
    gpu.dealloc %m2 : memref<16xf32, 1>
    gpu.wait [%t5]
    %a = gpu.wait async [%t5, %t4]
    linalg.fill ins(%v : f32) outs(%host : memref<?xf32>)
    %tok, %val = async.execute -> !async.value<!gpu.async.token> {
      %w = gpu.wait async [%a]
      async.yield %w : !gpu.async.token
    }
    return %val : !async.value<!gpu.async.token>
  }
}
