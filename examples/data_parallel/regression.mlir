// SPDX-License-Identifier: Apache-2.0
//
// Fits a plane through 12 points by gradient descent, on all hosts that there are, up to 12.
//
//   tfrt run examples/data_parallel/regression.mlir --local 4
//
// Each host has its share of the points and the same weights. In each step it computes the
// gradient of its own points; an all_reduce adds those of all hosts, and each takes the same step.
//
//   host 0: points 0 .. 2  -- gradient --+              +-- the same step
//   host 1: points 3 .. 5  -- gradient --+-- all_reduce-+-- the same step
//   host 3: points 9 .. 11 -- gradient --+              +-- the same step

func.func @main() -> !tfrt_tensor.tensor {
  %zero = tfrt.constant.i32 0
  %fitted = tfrt_dist.call_all @fit() : () -> (!tfrt_dist.list)
  %weights = tfrt_dist.list.get %fitted, %zero : !tfrt_tensor.tensor

  // Each host has the same ones, to the last bit.
  tfrt_dht.print_tensor %weights
  tfrt.return %weights : !tfrt_tensor.tensor
}

// The weights [3, 1] after 400 steps. All begin with those of host 0, as if only it had read them
// from a file.
func.func @fit() -> !tfrt_tensor.tensor {
  %world = tfrt_dist.world
  %points, %wanted = tfrt.call @share() : () -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %first = tfrt_tensor.constant dense<[[0.0], [0.0], [0.0]]> : tensor<3x1xf32>
  %weights = tfrt_dist.broadcast %world, %first {root = 0 : i32}
  %steps = tfrt.constant.i32 400
  %last:4 = tfrt.repeat.i32 %steps, %world, %points, %wanted, %weights : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor {
    %own = tfrt.call @gradient(%points, %wanted, %weights) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
    // The compiler puts a chain in, which orders this step's all_reduce behind the one before.
    %all = tfrt_dist.all_reduce %world, %own {reduction = "sum"}
    %rate = tfrt.constant.f32 -0.025
    %change = tfrt_tensor.scale %all, %rate
    %changed = tfrt_tensor.add %weights, %change
    tfrt.return %world, %points, %wanted, %changed : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
  }
  tfrt.return %last#3 : !tfrt_tensor.tensor
}

// The gradient [3, 1] of half of the squared errors of these points.
func.func @gradient(%points: !tfrt_tensor.tensor, %wanted: !tfrt_tensor.tensor, %weights: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %minus = tfrt.constant.f32 -1.0
  %found = tfrt_tensor.matmul %points, %weights
  %unwanted = tfrt_tensor.scale %wanted, %minus
  %errors = tfrt_tensor.add %found, %unwanted
  // A column is a row with other lengths, so no matrix has to be turned round.
  %row = tfrt_tensor.reshape %errors [1, -1]
  %gradient = tfrt_tensor.matmul %row, %points
  %column = tfrt_tensor.reshape %gradient [3, 1]
  tfrt.return %column : !tfrt_tensor.tensor
}

// This host's points and what they should give: 2 a - 3 b + 1. From rank * 12 / n up to
// (rank + 1) * 12 / n, so parts differ by one point at most.
func.func @share() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {
  %points = tfrt_tensor.constant dense<[[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [2.0, 2.0, 1.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 1.0], [-1.0, -1.0, 1.0]]> : tensor<12x3xf32>
  %wanted = tfrt_tensor.constant dense<[[1.0], [3.0], [-2.0], [0.0], [5.0], [-5.0], [2.0], [-3.0], [-1.0], [-1.0], [4.0], [2.0]]> : tensor<12x1xf32>
  %me = tfrt_dist.rank
  %n = tfrt_dist.num_hosts
  %one = tfrt.constant.i32 1
  %minus_one = tfrt.constant.i32 -1
  %twelve = tfrt.constant.i32 12
  %after_me = tfrt.add.i32 %me, %one
  %scaled_first = tfrt.mul.i32 %me, %twelve
  %scaled_end = tfrt.mul.i32 %after_me, %twelve
  %first, %rest0 = tfrt.div.i32 %scaled_first, %n
  %end, %rest1 = tfrt.div.i32 %scaled_end, %n
  %minus_first = tfrt.mul.i32 %first, %minus_one
  %count = tfrt.add.i32 %end, %minus_first
  %my_points = tfrt_tensor.slice %points, %first, %count
  %my_wanted = tfrt_tensor.slice %wanted, %first, %count
  tfrt.return %my_points, %my_wanted : !tfrt_tensor.tensor, !tfrt_tensor.tensor
}
