// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --lower-async --split-input-file --verify-diagnostics %s

func.func private @elsewhere(i64)
func.func @main(%x: i64) {
  // expected-error@+1 {{calls '@elsewhere', which has no body and is none of the functions that print}}
  call @elsewhere(%x) : (i64) -> ()
  return
}

// -----

func.func @wide(%x: i128) {
  // expected-error@+1 {{is lowered for i1, i8, i16, i32, i64, index, f32 and f64, not for 'i128'}}
  %0 = arith.addi %x, %x : i128
  return
}

// -----

// expected-error@+1 {{is synchronous, so it can't wait or have several blocks}}
func.func @sync(%t: !async.token) attributes {tfrt.sync} {
  async.await %t : !async.token
  return
}

// -----

func.func @inside(%c: i1, %t: !async.token) {
  tfrt.if %c, %t : (!async.token) -> () {
    // expected-error@+1 {{stands in a region of 'tfrt.if', which is no op of the language}}
    async.await %t : !async.token
    tfrt.return
  }
  return
}

// -----

func.func @no_binary(%n: index) {
  // expected-error@+1 {{launches a kernel of '@kernels', which is no 'gpu.binary' of the module: mlir-opt --gpu-module-to-binary makes one}}
  gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}

// -----

// expected-error@+1 {{needs an object with code, as in [#gpu.object<#nvvm.target, assembly = "...">]}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">>]
func.func @no_code(%n: index) {
  gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}

// -----

func.func @no_size() {
  // expected-error@+1 {{gives memory of no size that is known here: 'memref<2x!a.b>'}}
  %m = gpu.alloc () : memref<2x!a.b>
  return
}
