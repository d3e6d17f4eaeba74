// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt %s | FileCheck %s
// RUN: tfrt_opt %s | tfrt_opt | FileCheck %s
// RUN: tfrt_opt --mlir-print-op-generic %s | tfrt_opt | FileCheck %s
// RUN: tfrt_opt --keep-value-names %s | FileCheck --check-prefix=NAMES %s

// The ops of MLIR that asynchronous programs are made of, in their custom forms.

func.func private @printI64(i64)
async.func @af(%v: !async.value<f32>, %n: i32) -> (!async.token, !async.value<f32>) {
  %0 = async.await %v : !async.value<f32>
  async.return %0 : f32
}
func.func @main(%tok: !async.token, %val: !async.value<f32>, %m: memref<4xf32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %c = arith.constant true
  %f = arith.constant 1.5 : f32
  %i = arith.constant 3 : i32
  %l = arith.constant 3 : i64
  %s0 = arith.addi %i, %i overflow<nsw> : i32
  %s1 = arith.addi %i, %i : i32
  %s2 = arith.divsi %i, %i : i32
  %s3 = arith.shli %i, %i : i32
  %s4 = arith.addf %f, %f fastmath<fast> : f32
  %s5 = arith.cmpi slt, %i, %i : i32
  %s6 = arith.cmpf olt, %f, %f : f32
  %s7 = arith.select %c, %i, %i : i32
  %s8 = arith.extsi %i : i32 to i64
  %s9 = arith.trunci %l : i64 to i32
  %s10 = arith.sitofp %i : i32 to f32
  %s11 = arith.fptosi %f : f32 to i32
  %s12 = arith.extf %f : f32 to f64
  %s13 = arith.truncf %s12 : f64 to f32
  %s14 = arith.index_cast %i0 : index to i64
  %s15 = arith.negf %f : f32
  %s16 = math.sqrt %f : f32
  %s17 = arith.extui %i : i32 to i64
  %s18 = arith.bitcast %i : i32 to f32
  %s19 = math.powf %f, %f : f32
  %s20 = math.fma %f, %f, %f : f32
  %s21 = arith.maximumf %f, %f : f32
  %s22 = arith.shrsi %i, %i : i32
  %s23 = math.absi %i : i32
  %s24 = arith.uitofp %i : i32 to f32
  call @printI64(%l) : (i64) -> ()
  vector.print %f : f32
  vector.print str "x\n"
  vector.print punctuation <newline>
  vector.print %i : i32 punctuation <comma>
  %t0 = async.execute { async.yield }
  %t1, %v1 = async.execute [%tok, %t0] (%val as %u: !async.value<f32>) -> !async.value<f32> {
    async.yield %u : f32
  }
  %t2, %v2:2 = async.execute -> (!async.value<f32>, !async.value<i32>) { async.yield %f, %i : f32, i32 }
  %t3 = async.execute [%tok] attributes {host = 2 : i32} { async.yield }
  async.await %t1 : !async.token
  %x = async.await %v1 : !async.value<f32>
  %g = async.create_group %i1 : !async.group
  %r = async.add_to_group %t1, %g : !async.token
  %r2 = async.add_to_group %v1, %g : !async.value<f32>
  async.await_all %g
  %q:2 = async.call @af(%val, %i) : (!async.value<f32>, i32) -> (!async.token, !async.value<f32>)
  %e = async.runtime.is_error %t1 : !async.token
  async.runtime.await %t1 : !async.token
  %y = scf.if %c -> (f32) { scf.yield %f : f32 } else { scf.yield %x : f32 }
  scf.if %c { }
  %z = scf.for %k = %i0 to %i1 step %i1 iter_args(%acc = %f) -> (f32) { scf.yield %acc : f32 }
  scf.for %k = %i0 to %i1 step %i1 { }
  scf.for %k = %i to %i step %i : i32 { }
  %w = scf.while (%a = %f) : (f32) -> f32 { scf.condition(%c) %a : f32 } do { ^bb0(%b: f32): scf.yield %b : f32 }
  scf.parallel (%a, %b) = (%i0, %i0) to (%i1, %i1) step (%i1, %i1) { scf.reduce }
  %mm = memref.alloc() : memref<4xf32>
  %ma = memref.alloc(%i1) : memref<?xf32>
  %md = memref.dim %ma, %i0 : memref<?xf32>
  memref.store %f, %mm[%i0] : memref<4xf32>
  %ld = memref.load %mm[%i0] : memref<4xf32>
  memref.dealloc %mm : memref<4xf32>
  %cc = memref.cast %mm : memref<4xf32> to memref<?xf32>
  %al = memref.alloca() : memref<f32>
  return
}

// CHECK: func.func private @printI64(i64)
// CHECK-NEXT: async.func @af(%arg0: !async.value<f32>, %arg1: i32) -> (!async.token, !async.value<f32>) {
// CHECK-NEXT:   %0 = await %arg0 : !async.value<f32>
// CHECK-NEXT:   return %0 : f32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @main(%arg0: !async.token, %arg1: !async.value<f32>, %arg2: memref<4xf32>) {
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 1 : index
// CHECK-NEXT:   %2 = arith.constant true
// CHECK-NEXT:   %3 = arith.constant 1.500000e+00 : f32
// CHECK-NEXT:   %4 = arith.constant 3 : i32
// CHECK-NEXT:   %5 = arith.constant 3 : i64
// CHECK-NEXT:   %6 = arith.addi %4, %4 overflow<nsw> : i32
// CHECK-NEXT:   %7 = arith.addi %4, %4 : i32
// CHECK-NEXT:   %8 = arith.divsi %4, %4 : i32
// CHECK-NEXT:   %9 = arith.shli %4, %4 : i32
// CHECK-NEXT:   %10 = arith.addf %3, %3 fastmath<fast> : f32
// CHECK-NEXT:   %11 = arith.cmpi slt, %4, %4 : i32
// CHECK-NEXT:   %12 = arith.cmpf olt, %3, %3 : f32
// CHECK-NEXT:   %13 = arith.select %2, %4, %4 : i32
// CHECK-NEXT:   %14 = arith.extsi %4 : i32 to i64
// CHECK-NEXT:   %15 = arith.trunci %5 : i64 to i32
// CHECK-NEXT:   %16 = arith.sitofp %4 : i32 to f32
// CHECK-NEXT:   %17 = arith.fptosi %3 : f32 to i32
// CHECK-NEXT:   %18 = arith.extf %3 : f32 to f64
// CHECK-NEXT:   %19 = arith.truncf %18 : f64 to f32
// CHECK-NEXT:   %20 = arith.index_cast %0 : index to i64
// CHECK-NEXT:   %21 = arith.negf %3 : f32
// CHECK-NEXT:   %22 = math.sqrt %3 : f32
// CHECK-NEXT:   %23 = arith.extui %4 : i32 to i64
// CHECK-NEXT:   %24 = arith.bitcast %4 : i32 to f32
// CHECK-NEXT:   %25 = math.powf %3, %3 : f32
// CHECK-NEXT:   %26 = math.fma %3, %3, %3 : f32
// CHECK-NEXT:   %27 = arith.maximumf %3, %3 : f32
// CHECK-NEXT:   %28 = arith.shrsi %4, %4 : i32
// CHECK-NEXT:   %29 = math.absi %4 : i32
// CHECK-NEXT:   %30 = arith.uitofp %4 : i32 to f32
// CHECK-NEXT:   call @printI64(%5) : (i64) -> ()
// CHECK-NEXT:   vector.print %3 : f32
// CHECK-NEXT:   vector.print str "x\0A"
// CHECK-NEXT:   vector.print punctuation <newline>
// CHECK-NEXT:   vector.print %4 : i32 punctuation <comma>
// CHECK-NEXT:   %31 = async.execute {
// CHECK-NEXT:     async.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %32:2 = async.execute [%arg0, %31] (%arg1 as %arg3: !async.value<f32>) -> !async.value<f32> {
// CHECK-NEXT:     async.yield %arg3 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %33:3 = async.execute -> (!async.value<f32>, !async.value<i32>) {
// CHECK-NEXT:     async.yield %3, %4 : f32, i32
// CHECK-NEXT:   }
// CHECK-NEXT:   %34 = async.execute [%arg0] attributes {host = 2 : i32} {
// CHECK-NEXT:     async.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   async.await %32#0 : !async.token
// CHECK-NEXT:   %35 = async.await %32#1 : !async.value<f32>
// CHECK-NEXT:   %36 = async.create_group %1 : !async.group
// CHECK-NEXT:   %37 = async.add_to_group %32#0, %36 : !async.token
// CHECK-NEXT:   %38 = async.add_to_group %32#1, %36 : !async.value<f32>
// CHECK-NEXT:   async.await_all %36
// CHECK-NEXT:   %39:2 = async.call @af(%arg1, %4) : (!async.value<f32>, i32) -> (!async.token, !async.value<f32>)
// CHECK-NEXT:   %40 = async.runtime.is_error %32#0 : !async.token
// CHECK-NEXT:   async.runtime.await %32#0 : !async.token
// CHECK-NEXT:   %41 = scf.if %2 -> (f32) {
// CHECK-NEXT:     scf.yield %3 : f32
// CHECK-NEXT:   } else {
// CHECK-NEXT:     scf.yield %35 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.if %2 {
// CHECK-NEXT:   }
// CHECK-NEXT:   %42 = scf.for %arg4 = %0 to %1 step %1 iter_args(%arg5 = %3) -> (f32) {
// CHECK-NEXT:     scf.yield %arg5 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.for %arg6 = %0 to %1 step %1 {
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.for %arg7 = %4 to %4 step %4 : i32 {
// CHECK-NEXT:   }
// CHECK-NEXT:   %43 = scf.while (%arg8 = %3) : (f32) -> (f32) {
// CHECK-NEXT:     scf.condition(%2) %arg8 : f32
// CHECK-NEXT:   } do {
// CHECK-NEXT:   ^bb0(%arg9: f32):
// CHECK-NEXT:     scf.yield %arg9 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.parallel (%arg10, %arg11) = (%0, %0) to (%1, %1) step (%1, %1) {
// CHECK-NEXT:     scf.reduce
// CHECK-NEXT:   }
// CHECK-NEXT:   %44 = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   %45 = memref.alloc(%1) : memref<?xf32>
// CHECK-NEXT:   %46 = memref.dim %45, %0 : memref<?xf32>
// CHECK-NEXT:   memref.store %3, %44[%0] : memref<4xf32>
// CHECK-NEXT:   %47 = memref.load %44[%0] : memref<4xf32>
// CHECK-NEXT:   memref.dealloc %44 : memref<4xf32>
// CHECK-NEXT:   %48 = memref.cast %44 : memref<4xf32> to memref<?xf32>
// CHECK-NEXT:   %49 = memref.alloca() : memref<f32>
// CHECK-NEXT:   return
// CHECK-NEXT: }

// Results whose names the text has, some of them together.
// NAMES-LABEL: func.func @named
func.func @named(%f: f32) -> (f32, f32) {
  // NAMES-NEXT: %t, %v:2, %w = async.execute
  %t, %v:2, %w = async.execute -> (!async.value<f32>, !async.value<f32>, !async.value<f32>) {
    async.yield %f, %f, %f : f32, f32, f32
  }
  // NAMES: %x = async.await %v#1
  %x = async.await %v#1 : !async.value<f32>
  // NAMES: %y = async.await %w
  %y = async.await %w : !async.value<f32>
  return %x, %y : f32, f32
}
