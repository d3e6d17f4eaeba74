#loc3 = loc("deep"(#loc1))
!ty = tensor<2x?xf32>
#at = [1 : i32, "x"]
module @top attributes {tfrt.cost_threshold = 1 : i64} {
  func.func private @native(i32, !tfrt.chain) -> (i32 {x.y}, !tfrt.chain) attributes {tfrt.native}
  module @k attributes {tfrt.compiled} {
    func.func @main(%a: memref<2xf32>) { return }
  }
  func.func @f(%a: i32 {tfrt.arg = "x"} loc("p.py":3:4), %b: !ty) -> (i32, i1) {
    %0:3 = tfrt_test.count3.i32 %a loc("a.py":1:2)
    %1 = "someop"(%0#1, %0#0) {a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, b = dense<1.5> : tensor<3xf16>, c = #corert.shape<2x?x3>, d = #corert.shape<*>, e = [1, -2 : i8, [true, unit], {z = 1.0 : bf16, a = i32}], f = @k::@main, g = 0x7FC00000 : f32, h = (i32, !t<a b>) -> (), "odd key!" = #at, i = array<i64: 1, -2>, j = array<i1: true>, k = affine_map<(d0) -> (d0)>, l = dense<"0x01020304"> : tensor<4xi8>, m = sparse<[[0,0],[1,2]], [1,5]> : tensor<3x4xi32>, n = dense<["a", "b"]> : tensor<2x!tfrt.string>, o = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>, p = loc("zz":1:2), q = "typed" : !tfrt.string, r = 0xFFFFFFFFFFFFFFFF : i64, s = 255 : ui8, t = 3 : index, u = vector<4x[8]xf32>, v= memref<2x?xf32, strided<[?, 1]>, 1>, w = dense<> : tensor<0xi32>, x = 1.0e-320, y = 0.1 : f32} : (i32, i32) -> i1 loc(#loc1)
    "region.op"() ({
      %2 = "inner"(%a) : (i32) -> i32
      "cf.br"(%2)[^bb1] : (i32) -> ()
    ^bb1(%x: i32):
      "back"(%x, %x)[^bb1, ^bb2] : (i32, i32) -> ()
    ^bb2:
      "x"() : () -> ()
    }, {}) : () -> () loc(fused<"m">["a", callsite("c" at "f":1:2), unknown])
    %late = tfrt.constant.i32 -0
    tfrt_test.benchmark "n"(%a : i32, %late : i32) duration_secs = 1, max_count = 100 {
      tfrt.return %a : i32
    }
    tfrt_test.benchmark "n"(%a : i32) max_count = 100, num_warmup_runs = 5, duration_secs = 1 {
      tfrt.return %a : i32
    }
    %c = tfrt.constant.i1 1
    tfrt.if %c, %a : (i32) -> () { tfrt.return }
    tfrt.if %c : () -> () { tfrt.return } else { 
      %ch = tfrt.new.chain
      tfrt.return }
    %done = tfrt.parallel_for.i32 %a to %late fixed %0#2, %c : i1 { tfrt.return }
    %done2 = tfrt.parallel_for.i32 %a to %late fixed %0#2 { %k = tfrt.constant.i32 3 
 %ch = tfrt.new.chain
 tfrt.return %ch : !tfrt.chain }
    %d3 = tfrt.parallel_call.i32 %a to %late fixed %0#2 @body() 
    %t = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 1 : i64} : i32
    %r:2 = tfrt.call @g(%a) {host = 2 : i32, deadline_ms = 5 : i32, pure} : (i32) -> (i32, i32)
    tfrt.call @g(%r#1) : (i32) -> (i32, i32)
    tfrt.return %r#1, %1 : i32, i1
  } loc(#loc3)
  func.func @g(%x: i32) -> (i32, i32) { tfrt.return %x, %x : i32, i32 }
  func.func @body(%x: i32, %y: i32) { tfrt.return }
}
#loc1 = loc("late.py":7:8)
