// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt %s | FileCheck %s
// RUN: tfrt_opt %s | tfrt_opt | FileCheck %s
// RUN: tfrt_opt --mlir-print-op-generic %s | tfrt_opt | FileCheck %s
// RUN: tfrt_opt --lower-async %s | FileCheck --check-prefix=LOW %s

// Work of devices, and of the host on memory, in its custom forms.

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

// CHECK: module attributes {gpu.container_module} {
// CHECK-NEXT:   gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = "a\22\0Ab">]
// CHECK-NEXT:   func.func @main(%arg0: index, %arg1: f32, %arg2: memref<?xf32>, %arg3: i32) -> !async.value<!gpu.async.token> {
// CHECK-NEXT:     %0 = arith.constant 1 : index
// CHECK-NEXT:     %1 = gpu.wait async
// CHECK-NEXT:     %2:2 = gpu.alloc async [%1] (%arg0) : memref<?xf32>
// CHECK-NEXT:     %3 = gpu.alloc () : memref<16xf32, 1>
// CHECK-NEXT:     %4 = gpu.alloc host_shared () : memref<16xf32>
// CHECK-NEXT:     %5 = gpu.memcpy async [%2#1] %2#0, %arg2 : memref<?xf32>, memref<?xf32>
// CHECK-NEXT:     %6 = gpu.memset async [%5] %2#0, %arg1 : memref<?xf32>, f32
// CHECK-NEXT:     gpu.memcpy %2#0, %arg2 : memref<?xf32>, memref<?xf32>
// CHECK-NEXT:     %7 = gpu.launch_func async [%6, %5] @kernels::@k blocks in (%0, %0, %arg0) threads in (%0, %arg0, %0) dynamic_shared_memory_size %arg3 args(%2#0 : memref<?xf32>, %arg1 : f32)
// CHECK-NEXT:     gpu.launch_func @kernels::@k clusters in (%arg0, %0, %0) blocks in (%0, %arg0, %0) threads in (%0, %0, %arg0)
// CHECK-NEXT:     gpu.launch_func @kernels::@k blocks in (%arg3, %arg3, %arg3) threads in (%arg3, %arg3, %arg3) : i32
// CHECK-NEXT:     %8 = gpu.dealloc async [%7] %2#0 : memref<?xf32>
// CHECK-NEXT:     gpu.dealloc %3 : memref<16xf32, 1>
// CHECK-NEXT:     gpu.wait [%8]
// CHECK-NEXT:     %9 = gpu.wait async [%8, %7]
// CHECK-NEXT:     linalg.fill ins(%arg1 : f32) outs(%arg2 : memref<?xf32>)
// CHECK-NEXT:     %10:2 = async.execute -> !async.value<!gpu.async.token> {
// CHECK-NEXT:       %11 = gpu.wait async [%9]
// CHECK-NEXT:       async.yield %11 : !gpu.async.token
// CHECK-NEXT:     }
// CHECK-NEXT:     return %10#1 : !async.value<!gpu.async.token>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// A token of the same block is its stream, one of several an event for each, one for others an event.
// LOW-NOT: gpu.binary
// LOW: [[STREAM:%.*]] = tfrt_gpu.stream.create
// LOW: [[OWN:%.*]] = tfrt_gpu.stream.create
// LOW: tfrt_gpu.mem.set {{%.*}}, {{%.*}}, [[STREAM]], {{%.*}} :
// LOW: [[JOINED:%.*]] = tfrt_gpu.stream.create
// LOW: [[RECORDED:%.*]] = tfrt_gpu.event.record [[EVENT:%.*]], [[STREAM]],
// LOW: tfrt_gpu.stream.wait [[JOINED]], [[EVENT]], [[RECORDED]]
// LOW: tfrt_gpu.module.load {{%.*}} {data = "a\22\0Ab"}
// LOW: tfrt_gpu.function.launch [[JOINED]],
// LOW: tfrt_gpu.function.launch.cluster [[OWN]],
// LOW: tfrt_gpu.stream.synchronize [[OWN]],
// LOW: tfrt_gpu.stream.synchronize [[JOINED]],
// LOW: tfrt_async.execute
// LOW: func.func @main.region0.body(%arg0: !tfrt.chain, [[TOKEN:%.*]]: !tfrt_gpu.event) -> (!tfrt.chain, !tfrt_gpu.event) {
// LOW: [[LAST:%.*]] = tfrt_gpu.stream.create
// LOW: tfrt_gpu.stream.wait [[LAST]], [[TOKEN]],
// LOW: [[DONE:%.*]] = tfrt_gpu.event.create
// LOW: [[AFTER:%.*]] = tfrt_gpu.event.record [[DONE]], [[LAST]],
// LOW: [[GIVEN:%.*]] = "tfrt.alias.value"([[AFTER]], [[DONE]])
// LOW: tfrt.return [[AFTER]], [[GIVEN]] :
