// An error of one element stays with it until somebody uses it; a sum of all is one who does.
func.func @ten_over(%x: i32) -> i32 {
  %ten = tfrt.constant.i32 10
  %me = tfrt_dist.rank
  %q, %r = tfrt.div.i32 %ten, %me
  tfrt.return %q : i32
}

func.func @mine() -> !tfrt_dist.host {
  %me = tfrt_dist.rank
  %h = tfrt_dist.host %me
  tfrt.return %h : !tfrt_dist.host
}

func.func @length(%rank: i32) -> !tfrt_tensor.tensor {
  %me = tfrt_dist.rank
  %t = tfrt_tensor.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %zero = tfrt.constant.i32 0
  %part = tfrt_tensor.slice %t, %zero, %me
  tfrt.return %part : !tfrt_tensor.tensor
}

func.func @main() -> (i32, i32, i32, i32, !tfrt_dist.host, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_dist.host, !tfrt_dist.host, i32, !tfrt_tensor.tensor) {
  %minus = tfrt.constant.i32 -1
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %big = tfrt.constant.i32 1000
  %quotients = tfrt_dist.call_all @ten_over(%one) : (i32) -> (!tfrt_dist.list)
  %first = tfrt_dist.list.get %quotients, %zero : i32
  %second = tfrt_dist.list.get %quotients, %one : i32
  %sum = tfrt_dist.list.sum %quotients : i32
  %third = tfrt_dist.list.get %quotients, %big : i32

  %hosts = tfrt_dist.call_all @mine() : () -> (!tfrt_dist.list)
  %host = tfrt_dist.list.get %hosts, %one : !tfrt_dist.host
  %no_sum = tfrt_dist.list.sum %hosts : !tfrt_tensor.tensor

  %parts = tfrt_dist.call_all @length(%one) : (i32) -> (!tfrt_dist.list)
  %whole = tfrt_dist.list.concat %parts
  %none = tfrt_dist.list.sum %parts : !tfrt_tensor.tensor
  %below = tfrt_dist.host %minus
  %beyond = tfrt_dist.host %big

  // Said to be a number, it is a tensor: whoever reads it as a number is refused.
  %wrong = tfrt_dist.list.get %parts, %one : i32
  %wrong_sum = tfrt.add.i32 %wrong, %one
  tfrt.return %first, %second, %sum, %third, %host, %no_sum, %whole, %below, %beyond, %wrong_sum, %none : i32, i32, i32, i32, !tfrt_dist.host, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_dist.host, !tfrt_dist.host, i32, !tfrt_tensor.tensor
}
