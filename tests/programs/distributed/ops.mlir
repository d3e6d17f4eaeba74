// Single ops that a kernel runs by their names, on any host.

// What the last host makes is an argument on the one in the middle, and the sum of both an argument
// here.
func.func @main() -> (i32, i32, i32, !tfrt_tensor.tensor, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %count = tfrt_dist.num_hosts
  %last = "tfrt.minus.i32"(%count, %one) : (i32, i32) -> i32
  %middle, %rest = tfrt.div.i32 %last, %two
  %rank = "tfrt_test.run_op_on"(%last) {op = "tfrt_dist.rank"} : (i32) -> (i32)
  %a = "tfrt_test.sum_on"(%last) {count = 100 : i32} : (i32) -> (i32)
  %b = "tfrt_test.run_op_on"(%middle, %a, %rank) {op = "tfrt.add.i32"} : (i32, i32, i32) -> (i32)
  %c = "tfrt_test.run_op_on"(%zero, %a, %b) {op = "tfrt.add.i32"} : (i32, i32, i32) -> (i32)
  %t = tfrt_tensor.constant dense<[[1.0, -2.0], [-3.0, 4.0]]> : tensor<2x2xf32>
  %p = "tfrt_test.run_op_on"(%middle, %t, %t) {op = "tfrt_tensor.matmul"} : (i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor)
  %q = "tfrt_test.run_op_on"(%last, %p) {op = "tfrt_tensor.relu"} : (i32, !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor)
  %ch = tfrt.new.chain
  %printed = tfrt_dht.print_tensor %q, %ch
  %unheard = "tfrt_test.run_op_on"(%last) {op = "tfrt_test.unheard"} : (i32) -> (i32)
  tfrt.return %a, %b, %c, %q, %unheard : i32, i32, i32, !tfrt_tensor.tensor, i32
}
