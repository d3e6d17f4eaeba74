// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --work_queue_type=mstd:4 - | FileCheck %s
// RUN: tfrt_opt %s | tfrt_opt | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s
// RUN: tfrt_opt --mlir-print-op-generic %s | tfrt_translate -mlir-to-bef | bef_executor - | FileCheck %s

// Tasks that change one element at the same time: no change is lost.
// CHECK-LABEL: --- Running 'sum'
func.func @sum() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 200 : index
  %zero = arith.constant 0 : i64
  %least = arith.constant 1.0e9 : f64
  %sum = memref.alloc() : memref<1xi64>
  %low = memref.alloc() : memref<f64>
  memref.store %zero, %sum[%c0] : memref<1xi64>
  memref.store %least, %low[] : memref<f64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = arith.index_cast %i : index to i64
    %f = arith.sitofp %x : i64 to f64
    %old = memref.atomic_rmw addi %x, %sum[%c0] : (i64, memref<1xi64>) -> i64
    %before = memref.atomic_rmw minimumf %f, %low[] : (f64, memref<f64>) -> f64
    scf.reduce
  }
  %r = memref.load %sum[%c0] : memref<1xi64>
  // CHECK-NEXT: 19900
  vector.print %r : i64
  %l = memref.load %low[] : memref<f64>
  // CHECK-NEXT: 0
  vector.print %l : f64
  return
}

// Each change gives the element before it.
// CHECK-LABEL: --- Running 'kinds'
func.func @kinds() {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<1xi8>
  %a = arith.constant -2 : i8
  %b = arith.constant 3 : i8
  %0 = memref.atomic_rmw assign %a, %m[%c0] : (i8, memref<1xi8>) -> i8
  // CHECK-NEXT: -2
  %1 = memref.atomic_rmw maxs %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %1 : i8
  // CHECK-NEXT: 3
  %2 = memref.atomic_rmw maxu %a, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %2 : i8
  // CHECK-NEXT: -2
  %3 = memref.atomic_rmw mins %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %3 : i8
  // CHECK-NEXT: -2
  %4 = memref.atomic_rmw minu %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %4 : i8
  // CHECK-NEXT: 3
  %5 = memref.atomic_rmw muli %a, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %5 : i8
  // CHECK-NEXT: -6
  %6 = memref.atomic_rmw andi %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %6 : i8
  // CHECK-NEXT: 2
  %7 = memref.atomic_rmw ori %a, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %7 : i8
  // CHECK-NEXT: -2
  %8 = memref.atomic_rmw xori %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %8 : i8
  // CHECK-NEXT: -3
  %9 = memref.atomic_rmw addi %b, %m[%c0] : (i8, memref<1xi8>) -> i8
  vector.print %9 : i8
  // CHECK-NEXT: 0
  %10 = memref.load %m[%c0] : memref<1xi8>
  vector.print %10 : i8
  return
}

// CHECK-LABEL: --- Running 'floats'
func.func @floats() {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<2xf32>
  %a = arith.constant 1.5 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %0 = memref.atomic_rmw addf %a, %m[%c0] : (f32, memref<2xf32>) -> f32
  // CHECK-NEXT: 1.5
  %1 = memref.atomic_rmw mulf %a, %m[%c0] : (f32, memref<2xf32>) -> f32
  vector.print %1 : f32
  // CHECK-NEXT: 2.25
  %2 = memref.atomic_rmw maxnumf %nan, %m[%c0] : (f32, memref<2xf32>) -> f32
  vector.print %2 : f32
  // CHECK-NEXT: 2.25
  %3 = memref.atomic_rmw minnumf %a, %m[%c0] : (f32, memref<2xf32>) -> f32
  vector.print %3 : f32
  // CHECK-NEXT: 1.5
  %4 = memref.atomic_rmw maximumf %nan, %m[%c0] : (f32, memref<2xf32>) -> f32
  vector.print %4 : f32
  // CHECK-NEXT: nan
  %5 = memref.load %m[%c0] : memref<2xf32>
  vector.print %5 : f32
  return
}
