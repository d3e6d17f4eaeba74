// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --print-dependence-stats --verify-diagnostics %s

// expected-remark @+1 {{function '@counted': 4 chains put in, 4 needed at least, 1 merges}}
func.func @counted() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht.fill_tensor_with_constant.f32 %t 1.0 : f32
  %u = tfrt_tensor.relu %t
  tfrt_dht.print_tensor %t
  tfrt_dht.fill_tensor_with_constant.f32 %t 2.0 : f32
  tfrt.return
}
