// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --insert-chains --check-chains --keep-value-names %s 2> %t | FileCheck %s
// RUN: FileCheck --allow-empty --check-prefix=WARN %s < %t
// WARN-NOT: warning

// What a launch only reads, two streams read at the same time; the next writer waits for both.
// CHECK-LABEL: func.func @readers
// CHECK: %[[SET:.*]] = tfrt_gpu.mem.set %a,
// CHECK-NEXT: %[[X:.*]] = tfrt_gpu.function.launch %s, %f, {{.*}}, %[[SET]], args(%a, %x) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [0]}
// CHECK-NEXT: %[[Y:.*]] = tfrt_gpu.function.launch.cooperative %t, %f, {{.*}}, %[[SET]], args(%a, %y)
// CHECK-NEXT: %[[Z:.*]] = tfrt_gpu.function.launch.priority %u, %f, {{.*}}, %[[SET]], args(%z, %a)
// CHECK-NEXT: %[[BOTH:.*]] = tfrt.merge.chains %[[X]], %[[Y]], %[[Z]]
// CHECK-NEXT: tfrt_gpu.mem.set %a, %{{.*}}, %s, %[[BOTH]]
func.func @readers(%s: !tfrt_gpu.stream, %t: !tfrt_gpu.stream, %u: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %a: !tfrt_gpu.buffer, %x: !tfrt_gpu.buffer, %y: !tfrt_gpu.buffer, %z: !tfrt_gpu.buffer, %n: ui32, %zero: f32, %p: i32) {
  tfrt_gpu.mem.set %a, %zero, %s : !tfrt_gpu.buffer, f32
  tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %x) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [0]}
  tfrt_gpu.function.launch.cooperative %t, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %y) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [0]}
  tfrt_gpu.function.launch.priority %u, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), priority %p, %n, args(%z, %a) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [1]}
  tfrt_gpu.mem.set %a, %zero, %s : !tfrt_gpu.buffer, f32
  tfrt.return
}

// Without a word, a launch may write to all its buffers: one waits for the other.
// CHECK-LABEL: func.func @writers
// CHECK: %[[X:.*]] = tfrt_gpu.function.launch %s,
// CHECK-NEXT: tfrt_gpu.function.launch %t, %f, {{.*}}, %[[X]], args(%a, %y)
func.func @writers(%s: !tfrt_gpu.stream, %t: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %a: !tfrt_gpu.buffer, %x: !tfrt_gpu.buffer, %y: !tfrt_gpu.buffer, %n: ui32) {
  tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %x) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer)
  tfrt_gpu.function.launch %t, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %y) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer)
  tfrt.return
}

// A buffer that is given twice, once to be read, is written to.
// CHECK-LABEL: func.func @twice
// CHECK: %[[X:.*]] = tfrt_gpu.function.launch %s,
// CHECK-NEXT: tfrt_gpu.function.launch %t, %f, {{.*}}, %[[X]], args(%a, %a)
func.func @twice(%s: !tfrt_gpu.stream, %t: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %a: !tfrt_gpu.buffer, %x: !tfrt_gpu.buffer, %n: ui32) {
  tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %x) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [0]}
  tfrt_gpu.function.launch %t, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %n, args(%a, %a) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {tfrt.reads = [0]}
  tfrt.return
}
