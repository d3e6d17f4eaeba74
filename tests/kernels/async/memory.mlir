// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s

// Parts of a region's head may be empty, and the end of a loop's region left out.
// CHECK-LABEL: --- Running 'forms'
func.func @forms() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %m = memref.alloc() : memref<3xi32>
  %t0 = async.execute [] () -> () { async.yield }
  %t1 = async.execute [%t0] () -> () { }
  %t2 = async.execute () { async.yield }
  scf.parallel (%i) = (%zero) to (%three) step (%one) {
    %n = arith.index_cast %i : index to i32
    memref.store %n, %m[%i] : memref<3xi32>
  }
  async.await %t1 : !async.token
  async.await %t2 : !async.token
  %u = memref.cast %m : memref<3xi32> to memref<*xi32>
  // CHECK: Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 1 offset = 0 sizes = [3] strides = [1] data =
  // CHECK-NEXT: [0,  1,  2]
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

// CHECK-LABEL: --- Running 'fills'
func.func @fills() {
  %zero = arith.constant 0 : index
  %half = arith.constant 0.5 : f64
  %m = memref.alloc() : memref<2x2xf64>
  linalg.fill ins(%half : f64) outs(%m : memref<2x2xf64>)
  memref.store %half, %m[%zero, %zero] : memref<2x2xf64>
  %x = memref.load %m[%zero, %zero] : memref<2x2xf64>
  %u = memref.cast %m : memref<2x2xf64> to memref<*xf64>
  // CHECK: [0.5,{{ +}}0.5]
  // CHECK-NEXT: [0.5,{{ +}}0.5]
  call @printMemrefF64(%u) : (memref<*xf64>) -> ()
  // A region captures it by the type that it was cast to.
  // CHECK: [0.5,{{ +}}0.5]
  // CHECK-NEXT: [0.5,{{ +}}0.5]
  %t = async.execute {
    func.call @printMemrefF64(%u) : (memref<*xf64>) -> ()
    async.yield
  }
  async.await %t : !async.token
  return
}
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(memref<*xf64>) attributes {llvm.emit_c_interface}

// Memory goes from region to region as a value, and from a function to its caller.
async.func @made(%x: f64) -> !async.value<memref<f64>> {
  %m = memref.alloc() : memref<f64>
  memref.store %x, %m[] : memref<f64>
  return %m : memref<f64>
}
async.func @doubled(%v: !async.value<memref<f64>>) -> !async.token {
  %t = async.execute (%v as %m: !async.value<memref<f64>>) {
    %x = memref.load %m[] : memref<f64>
    %y = arith.addf %x, %x : f64
    memref.store %y, %m[] : memref<f64>
    async.yield
  }
  async.await %t : !async.token
  return
}
// CHECK-LABEL: --- Running 'handed_on'
func.func @handed_on() {
  %x = arith.constant 0.25 : f64
  %v = async.call @made(%x) : (f64) -> !async.value<memref<f64>>
  %t = async.call @doubled(%v) : (!async.value<memref<f64>>) -> !async.token
  async.await %t : !async.token
  %m = async.await %v : !async.value<memref<f64>>
  %u = memref.cast %m : memref<f64> to memref<*xf64>
  // CHECK: rank = 0 offset = 0 sizes = [] strides = [] data =
  // CHECK-NEXT: [0.5]
  call @printMemrefF64(%u) : (memref<*xf64>) -> ()
  return
}

// CHECK-LABEL: --- Running 'three_dimensions'
func.func @three_dimensions() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %m = memref.alloc() : memref<2x3x2xf32>
  scf.parallel (%i, %j, %k) = (%zero, %zero, %zero) to (%two, %three, %two) step (%one, %one, %one) {
    %a = arith.muli %i, %three : index
    %b = arith.addi %a, %j : index
    %c = arith.muli %b, %two : index
    %d = arith.addi %c, %k : index
    %e = arith.index_cast %d : index to i32
    %f = arith.sitofp %e : i32 to f32
    memref.store %f, %m[%i, %j, %k] : memref<2x3x2xf32>
  }
  %u = memref.cast %m : memref<2x3x2xf32> to memref<*xf32>
  // CHECK: rank = 3 offset = 0 sizes = [2, 3, 2] strides = [6, 2, 1] data =
  // CHECK-NEXT: {{\[\[\[}}0,    1],
  // CHECK-NEXT:   [2,    3],
  // CHECK-NEXT:   [4,    5]],
  // CHECK-NEXT:  {{\[\[}}6,    7],
  // CHECK-NEXT:   [8,    9],
  // CHECK-NEXT:   [10,    11]]]
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
