// Tensors that are sparse, of strings, of one number, and empty: made on each host, printed by its neighbour.
func.func @sparse() -> !tfrt_tensor.tensor {
  %dense = tfrt_tensor.constant dense<[[0, 5, 0], [7, 0, 0]]> : tensor<2x3xi32>
  %type = "tfrt_test.get_static_tensor_type"() {tensor_type = "CooHost"} : () -> !tfrt.tensor_type
  %sparse = tfrt_tensor.convert %dense, %type
  tfrt.return %sparse : !tfrt_tensor.tensor
}

func.func @strings() -> !tfrt_tensor.tensor {
  %strings = "tfrt_sht.create_tensor"() {shape = [2 : i64, 2 : i64], values = ["one", "", "three words here", "4"]} : () -> !tfrt_tensor.tensor
  tfrt.return %strings : !tfrt_tensor.tensor
}

func.func @scalar() -> !tfrt_tensor.tensor {
  %dense = tfrt_tensor.constant dense<0.5> : tensor<f64>
  tfrt.return %dense : !tfrt_tensor.tensor
}

func.func @empty() -> !tfrt_tensor.tensor {
  %none = tfrt_tensor.constant dense<[]> : tensor<0xi64>
  tfrt.return %none : !tfrt_tensor.tensor
}

func.func @show(%a: !tfrt_tensor.tensor, %b: !tfrt_tensor.tensor, %c: !tfrt_tensor.tensor, %d: !tfrt_tensor.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c1 = tfrt_dht.print_tensor %a, %ch
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c3 = tfrt_dht.print_tensor %c, %c2
  %c4 = tfrt_dht.print_tensor %d, %c3
  tfrt.return %c4 : !tfrt.chain
}

func.func @main() -> !tfrt.chain {
  %start = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %n = tfrt_dist.num_hosts
  %q0, %first = tfrt.div.i32 %one, %n
  %h1 = tfrt_dist.host %first
  %two = tfrt.constant.i32 2
  %q1, %second = tfrt.div.i32 %two, %n
  %h2 = tfrt_dist.host %second
  %a = tfrt_dist.call %h1 @sparse() : (!tfrt_dist.host) -> (!tfrt_tensor.tensor)
  %b = tfrt_dist.call %h1 @strings() : (!tfrt_dist.host) -> (!tfrt_tensor.tensor)
  %c = tfrt_dist.call %h1 @scalar() : (!tfrt_dist.host) -> (!tfrt_tensor.tensor)
  %d = tfrt_dist.call %h1 @empty() : (!tfrt_dist.host) -> (!tfrt_tensor.tensor)
  %c1 = tfrt_dist.call %h2 @show(%a, %b, %c, %d, %start) : (!tfrt_dist.host, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain)
  %c2 = tfrt.call @show(%a, %b, %c, %d, %c1) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
