// Elements of every kind: numbers have sums, of which integers wrap around; the others are got.
func.func @ui32() -> ui32 {
  %x = tfrt.constant.ui32 3000000000
  tfrt.return %x : ui32
}
func.func @ui64() -> ui64 {
  %x = tfrt.constant.ui64 10000000000000000000
  tfrt.return %x : ui64
}
func.func @i64(%far: i64) -> i64 {
  %x = tfrt.constant.i64 5000000000
  tfrt.return %x : i64
}
func.func @f32() -> f32 {
  %x = tfrt.constant.f32 0.25
  tfrt.return %x : f32
}
func.func @f64() -> f64 {
  %x = tfrt.constant.f64 0.125
  tfrt.return %x : f64
}
func.func @flag() -> i1 {
  %x = tfrt.constant.i1 true
  tfrt.return %x : i1
}
func.func @text() -> !tfrt.string {
  %x = "tfrt_test.get_string"() {value = "a text"} : () -> !tfrt.string
  tfrt.return %x : !tfrt.string
}
func.func @chain() -> !tfrt.chain {
  %x = tfrt.new.chain
  tfrt.return %x : !tfrt.chain
}
func.func @group() -> !tfrt_dist.group {
  %x = tfrt_dist.world
  tfrt.return %x : !tfrt_dist.group
}
func.func @floats() -> !tfrt_tensor.tensor {
  %x = tfrt_tensor.constant dense<[0.5, 1.5]> : tensor<2xbf16>
  tfrt.return %x : !tfrt_tensor.tensor
}
func.func @none() -> !tfrt_tensor.tensor {
  %x = tfrt_tensor.constant dense<[1, 2]> : tensor<2xi64>
  %zero = tfrt.constant.i32 0
  %y = tfrt_tensor.slice %x, %zero, %zero
  tfrt.return %y : !tfrt_tensor.tensor
}
func.func @inner() -> !tfrt_dist.list {
  %x = tfrt_dist.call_all @flag() : () -> (!tfrt_dist.list)
  tfrt.return %x : !tfrt_dist.list
}

func.func @main() -> (ui32, ui64, i64, f32, f64, i1, i32, !tfrt.string, i32, !tfrt.chain, !tfrt_dist.group, i32, i1, !tfrt.chain) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %far = tfrt.constant.i64 7
  %lu32 = tfrt_dist.call_all @ui32() : () -> (!tfrt_dist.list)
  %su32 = tfrt_dist.list.sum %lu32 : ui32
  %lu64 = tfrt_dist.call_all @ui64() : () -> (!tfrt_dist.list)
  %su64 = tfrt_dist.list.sum %lu64 : ui64
  %l64 = tfrt_dist.call_all @i64(%far) : (i64) -> (!tfrt_dist.list)
  %s64 = tfrt_dist.list.sum %l64 : i64
  %lf32 = tfrt_dist.call_all @f32() : () -> (!tfrt_dist.list)
  %sf32 = tfrt_dist.list.sum %lf32 : f32
  %lf64 = tfrt_dist.call_all @f64() : () -> (!tfrt_dist.list)
  %sf64 = tfrt_dist.list.sum %lf64 : f64
  %flags = tfrt_dist.call_all @flag() : () -> (!tfrt_dist.list)
  %flag = tfrt_dist.list.get %flags, %zero : i1
  %no_sum = tfrt_dist.list.sum %flags : i32
  %texts = tfrt_dist.call_all @text() : () -> (!tfrt_dist.list)
  %text = tfrt_dist.list.get %texts, %zero : !tfrt.string
  %no_text = tfrt_dist.list.sum %texts : i32
  %chains = tfrt_dist.call_all @chain() : () -> (!tfrt_dist.list)
  %chain = tfrt_dist.list.get %chains, %zero : !tfrt.chain
  %groups = tfrt_dist.call_all @group() : () -> (!tfrt_dist.list)
  %group = tfrt_dist.list.get %groups, %zero : !tfrt_dist.group
  // A list of lists: each is where it was made, and the one of this host can be looked into.
  %lists = tfrt_dist.call_all @inner() : () -> (!tfrt_dist.list)
  %list = tfrt_dist.list.get %lists, %zero : !tfrt_dist.list
  %size = tfrt_dist.list.size %list
  %inside = tfrt_dist.list.get %list, %zero : i1
  %lfloats = tfrt_dist.call_all @floats() : () -> (!tfrt_dist.list)
  %floats = tfrt_dist.list.sum %lfloats : !tfrt_tensor.tensor
  %p1 = tfrt_dht.print_tensor %floats, %ch
  %lnone = tfrt_dist.call_all @none() : () -> (!tfrt_dist.list)
  %none = tfrt_dist.list.concat %lnone
  %p2 = tfrt_dht.print_tensor %none, %p1
  %nothing = tfrt_dist.list.sum %lnone : !tfrt_tensor.tensor
  %p3 = tfrt_dht.print_tensor %nothing, %p2
  tfrt.return %su32, %su64, %s64, %sf32, %sf64, %flag, %no_sum, %text, %no_text, %chain, %group, %size, %inside, %p3 : ui32, ui64, i64, f32, f64, i1, i32, !tfrt.string, i32, !tfrt.chain, !tfrt_dist.group, i32, i1, !tfrt.chain
}
