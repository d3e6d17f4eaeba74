// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --keep-value-names --insert-chains %s | FileCheck %s
// RUN: tfrt_opt --lower-async %s | FileCheck %s --check-prefix=LOWERED
// RUN: tfrt_opt --insert-chains --check-chains --verify-diagnostics %s

// A function of several blocks is lowered first. A block begins when the chain of the one before is
// there, so each begins with its chain and ends with all that it did.
// CHECK-LABEL: func.func @blocks.body.bb0
// CHECK-SAME: (%[[START:[^:]*]]: !tfrt.chain, %[[T:[^:]*]]: !tfrt_tensor.tensor
// CHECK: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %[[T]], %[[START]]
// CHECK: %[[RELU:.*]] = tfrt_tensor.relu %[[T]], %[[FILL]]
// CHECK: tfrt.merge.chains %[[RELU]]
// CHECK-LABEL: func.func @blocks.body.bb1
// CHECK-SAME: (%[[START:[^:]*]]: !tfrt.chain, %[[U:[^:]*]]: !tfrt_tensor.tensor
// CHECK: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %[[U]], %[[START]]
// CHECK: tfrt_dht.print_tensor %[[U]], %[[FILL]]
// LOWERED: tfrt_dht.print_tensor
func.func @blocks(%t: !tfrt_tensor.tensor, %again: i1) {
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  %r = tfrt_tensor.relu %t
  cf.br ^bb1(%t : !tfrt_tensor.tensor)
^bb1(%u: !tfrt_tensor.tensor):
  tfrt_dht.fill_tensor_with_constant.f32 %u 2.0 : f32
  tfrt_dht.print_tensor %u
  cf.cond_br %again, ^bb1(%r : !tfrt_tensor.tensor), ^bb2
^bb2:
  return
}

// A task is handed the chains of what it uses, as a call is; the two tasks read at the same time.
// CHECK-LABEL: func.func @tasks.body
// CHECK: %[[FILL:.*]] = tfrt_dht.fill_tensor_with_constant.f32 %[[X:.*]], %{{.*}} 3.000000e+00
// CHECK: %[[ONE:.*]]:3 = "tfrt_async.execute"(%{{.*}}, %[[X]], %[[FILL]])
// CHECK: %[[TWO:.*]]:3 = "tfrt_async.execute"(%{{.*}}, %[[X]], %[[FILL]])
// CHECK: %[[BOTH:.*]] = tfrt.merge.chains %[[ONE]]#2, %[[TWO]]#2
// CHECK: tfrt_dht.fill_tensor_with_constant.f32 %[[X]], %[[BOTH]] 4.000000e+00
func.func @tasks(%x: !tfrt_tensor.tensor) {
  tfrt_dht.fill_tensor_with_constant.f32 %x 3.0 : f32
  %t0, %v0 = async.execute -> !async.value<!tfrt_tensor.tensor> {
    %r = tfrt_tensor.relu %x
    async.yield %r : !tfrt_tensor.tensor
  }
  %t1, %v1 = async.execute -> !async.value<!tfrt_tensor.tensor> {
    %r = tfrt_tensor.relu %x
    async.yield %r : !tfrt_tensor.tensor
  }
  tfrt_dht.fill_tensor_with_constant.f32 %x 4.0 : f32
  return
}

// An op waits for what its block has awaited, too.
// CHECK-LABEL: func.func @awaits.body
// CHECK: %[[AWAITED:.*]] = tfrt.merge.chains %{{.*}}, %{{.*}} : !tfrt.chain, !tfrt.chain
// CHECK-NEXT: %[[DONE:.*]] = tfrt.merge.chains %{{.*}}, %[[AWAITED]] : !tfrt.chain, !tfrt.chain
// CHECK-NEXT: tfrt_dht.fill_tensor_with_constant.f32 %{{.*}}, %[[DONE]] 5.000000e+00
func.func @awaits(%x: !tfrt_tensor.tensor, %t: !async.token) {
  async.await %t : !async.token
  tfrt_dht.fill_tensor_with_constant.f32 %x 5.0 : f32
  return
}
