// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --split-input-file --verify-diagnostics %s

func.func @operands(%t: !async.token, %v: !async.value<f32>) {
  // expected-error@+1 {{operand #0 must be a token, not '!async.value<f32>'}}
  %a = "async.execute"(%v) ({
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 1, 0>} : (!async.value<f32>) -> !async.token
  // expected-error@+1 {{the arguments of its region must be of the types inside of its values}}
  %b = "async.execute"(%v) ({
  ^bb0(%x: i32):
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 0, 1>} : (!async.value<f32>) -> !async.token
  // expected-error@+1 {{needs an 'operandSegmentSizes' that fits}}
  %c = "async.execute"(%t) ({
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 0, 0>} : (!async.token) -> !async.token
  return
}

// -----

func.func @yields(%x: f32) {
  %t, %v = async.execute -> !async.value<i32> {
    // expected-error@+1 {{must hand on values of the types inside of the asynchronous results}}
    async.yield %x : f32
  }
  // expected-error@+1 {{region 'body' must have a single block}}
  %u, %w = async.execute -> !async.value<i32> {
  }
  // expected-error@+1 {{region 'body' must end in async.yield}}
  %y, %z = async.execute -> !async.value<f32> {
    %s = arith.addf %x, %x : f32
  }
  // expected-error@+2 {{must be the last operation in the parent block}}
  // expected-error@+1 {{expects parent op 'async.execute'}}
  async.yield
  return
}

// -----

func.func @waits(%t: !async.token, %v: !async.value<f32>, %g: !async.group) {
  // expected-error@+1 {{waits for a token and gives nothing, or for a value}}
  %a = "async.await"(%t) : (!async.token) -> i32
  // expected-error@+1 {{waits for a token and gives nothing, or for a value}}
  "async.await"(%g) : (!async.group) -> ()
  // expected-error@+1 {{operand #0 must be a token or a value, not '!async.group'}}
  %b = "async.add_to_group"(%g, %g) : (!async.group, !async.group) -> index
  return
}

// -----

async.func @f(%x: f32) -> (!async.token, !async.value<f32>) {
  return %x : f32
}
// expected-error@+1 {{result #1 must be a value !async.value<T>, not '!async.token'}}
async.func @tokens() -> (!async.token, !async.token) {
  return
}
// expected-error@+1 {{'async.func' op needs a result, a token or values, by which its callers learn that it has ended; write '-> !async.token'}}
async.func @without(%x: f32) {
  return
}
// expected-error@+1 {{'async.func' op needs a result}}
async.func private @without_body(f32)
// expected-error@+1 {{result #0 must be a value !async.value<T> or a token, not 'f32'}}
async.func private @plain() -> f32
async.func @wrong(%x: f32) -> !async.value<i32> {
  // expected-error@+1 {{must hand on values of the types inside of the asynchronous results}}
  return %x : f32
}
func.func @g(%x: f32) {
  // expected-error@+1 {{calls '@f', which is called by async.call}}
  %t, %v = call @f(%x) : (f32) -> (!async.token, !async.value<f32>)
  // expected-error@+1 {{calls '@g', which is called by func.call}}
  async.call @g(%x) : (f32) -> ()
  // expected-error@+1 {{operand type mismatch}}
  %u, %w = "async.call"(%v) {callee = @f} : (!async.value<f32>) -> (!async.token, !async.value<f32>)
  return
}

// -----

func.func @structured(%c: i1, %x: f32, %n: index) {
  // expected-error@+1 {{must hand on the results of scf.if}}
  %a = scf.if %c -> (f32) {
  } else {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @loops(%c: i1, %x: f32, %n: index, %i: i32) {
  scf.for %k = %n to %n step %n {
    // expected-error@+1 {{must hand on what the loop carries}}
    scf.yield %x : f32
  }
  // expected-error@+1 {{bounds, step and variable must be of one type}}
  "scf.for"(%n, %n, %i) ({
  ^bb0(%k: index):
    "scf.yield"() : () -> ()
  }) : (index, index, i32) -> ()
  // expected-error@+1 {{has results, so it needs an 'else' region}}
  %r = "scf.if"(%c) ({
    "scf.yield"(%x) : (f32) -> ()
  }, {
  }) : (i1) -> f32
  return
}

// -----

func.func @scalars(%x: f32, %i: i32, %m: memref<4xf32>, %n: index) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %a = "arith.addf"(%x, %i) : (f32, i32) -> f32
  // expected-error@+1 {{needs an attribute 'value' of the result's type}}
  %b = "arith.constant"() {value = 1 : i64} : () -> i32
  // expected-error@+1 {{needs a memref and an index for each dimension}}
  %c = "memref.load"(%m) : (memref<4xf32>) -> f32
  // expected-error@+1 {{stores an element of its memref}}
  "memref.store"(%i, %m, %n) : (i32, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @what(%x: f32) {
  // expected-error@+1 {{expected a comparison such as 'slt'}}
  %a = arith.cmpi olt, %x, %x : f32
  return
}

// -----

func.func @count_of_zero(%t: !async.token) {
  // expected-error@+1 {{'async.runtime.add_ref' op needs a 'count' from 1 to 2147483647, not 0}}
  async.runtime.add_ref %t {count = 0 : i64} : !async.token
  return
}

// -----

func.func @count_is_missing(%t: !async.token) {
  // expected-error@+1 {{requires attribute 'count'}}
  async.runtime.drop_ref %t : !async.token
  return
}

// -----

func.func @count_of_number(%x: i32) {
  // expected-error@+1 {{operand #0 must be a token or a value or a group, not 'i32'}}
  async.runtime.drop_ref %x {count = 1 : i64} : i32
  return
}

// -----

func.func @creates_number() {
  // expected-error@+1 {{takes or makes a token or a value, not a 'i32'}}
  %x = async.runtime.create : i32
  return
}

// -----

func.func @loads_token(%t: !async.token) {
  // expected-error@+1 {{expected a type !async.value<T>, or <T>}}
  %x = async.runtime.load %t : !async.token
  return
}

// -----

func.func @stores_other(%v: !async.value<i32>, %x: i64) {
  // expected-error@+1 {{needs a value !async.value<T> and a payload T, not '!async.value<i32>' and 'i64'}}
  "async.runtime.store"(%x, %v) : (i64, !async.value<i32>) -> ()
  return
}

// -----

func.func @suspends(%s: !async.coro.state) {
  // expected-error@+1 {{needs 3 successors, and has 1}}
  "async.coro.suspend"(%s)[^next] : (!async.coro.state) -> ()
^next:
  return
}

// -----

func.func @copies_less(%m: memref<4xf32>, %n: memref<4xi32>) {
  // expected-error@+1 {{has operands, results or sizes of segments that don't fit: tokens of type '!gpu.async.token' first, and memory of known rank}}
  gpu.memcpy %m, %n : memref<4xf32>, memref<4xi32>
  return
}

// -----

func.func @launches_less(%n: index) {
  // expected-error@+1 {{has operands, results or sizes of segments that don't fit}}
  "gpu.launch_func"(%n) <{kernel = @a::@b, operandSegmentSizes = array<i32: 0, 1, 1>}> : (index) -> ()
  return
}

// -----

func.func @two_axes(%n: index) {
  // expected-error@+1 {{expected three sizes}}
  gpu.launch_func @a::@b blocks in (%n, %n) threads in (%n, %n, %n)
  return
}

// -----

func.func @fills_other(%m: memref<4xf32>, %x: f64) {
  // expected-error@+1 {{takes a value and a memref of such elements, each of which becomes the value}}
  linalg.fill ins(%x : f64) outs(%m : memref<4xf32>)
  return
}
