// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor - | FileCheck %s

// What arith and math compute, at the edges of their types.
func.func @main() {
  %a = arith.constant -7 : i32
  %b = arith.constant 2 : i32
  %0 = arith.divsi %a, %b : i32
  vector.print %0 : i32
  %1 = arith.remsi %a, %b : i32
  vector.print %1 : i32
  %2 = arith.floordivsi %a, %b : i32
  vector.print %2 : i32
  %3 = arith.ceildivsi %a, %b : i32
  vector.print %3 : i32
  %4 = arith.divui %a, %b : i32
  vector.print %4 : i32
  %5 = arith.shrsi %a, %b : i32
  vector.print %5 : i32
  %6 = arith.shrui %a, %b : i32
  vector.print %6 : i32
  %7 = arith.extui %a : i32 to i64
  vector.print %7 : i64
  %8 = arith.trunci %7 : i64 to i8
  vector.print %8 : i8
  %9 = arith.cmpi ult, %a, %b : i32
  vector.print %9 : i1
  %10 = arith.minsi %a, %b : i32
  vector.print %10 : i32
  %11 = arith.xori %a, %b : i32
  vector.print %11 : i32
  %m = arith.constant -2147483648 : i32
  %n = arith.constant -1 : i32
  %12 = arith.divsi %m, %n : i32
  vector.print %12 : i32
  %x = arith.constant 1.5 : f32
  %y = arith.constant -0.25 : f32
  %13 = arith.mulf %x, %y : f32
  vector.print %13 : f32
  %14 = math.fma %x, %y, %x : f32
  vector.print %14 : f32
  %15 = math.absf %y : f32
  %16 = math.sqrt %15 : f32
  vector.print %16 : f32
  %17 = arith.fptosi %x : f32 to i32
  vector.print %17 : i32
  %18 = arith.bitcast %x : f32 to i32
  vector.print %18 : i32
  %nan = arith.constant 0x7FC00000 : f32
  %19 = arith.cmpf une, %nan, %nan : f32
  vector.print %19 : i1
  %20 = arith.maxnumf %nan, %x : f32
  vector.print %20 : f32
  %21 = arith.cmpf ogt, %nan, %x : f32
  vector.print %21 : i1
  %s = arith.constant 300 : i16
  %22 = arith.extsi %s : i16 to i32
  vector.print %22 : i32
  vector.print str "pieces: "
  vector.print %22 : i32 punctuation <comma>
  vector.print %0 : i32 punctuation <no_punctuation>
  return
}
// CHECK: Running 'main'
// CHECK-NEXT: {{^}}-3{{$}}
// CHECK-NEXT: {{^}}-1{{$}}
// CHECK-NEXT: {{^}}-4{{$}}
// CHECK-NEXT: {{^}}-3{{$}}
// CHECK-NEXT: {{^}}2147483644{{$}}
// CHECK-NEXT: {{^}}-2{{$}}
// CHECK-NEXT: {{^}}1073741822{{$}}
// CHECK-NEXT: {{^}}4294967289{{$}}
// CHECK-NEXT: {{^}}-7{{$}}
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}-7{{$}}
// CHECK-NEXT: {{^}}-5{{$}}
// CHECK-NEXT: {{^}}-2147483648{{$}}
// CHECK-NEXT: {{^}}-0.375{{$}}
// CHECK-NEXT: {{^}}1.125{{$}}
// CHECK-NEXT: {{^}}0.5{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1069547520{{$}}
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}1.5{{$}}
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}300{{$}}
// CHECK-NEXT: {{^}}pieces: 300, -3{{$}}
