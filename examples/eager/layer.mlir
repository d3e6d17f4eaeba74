// SPDX-License-Identifier: Apache-2.0
//
// A dense layer as one function, which eager.c runs as if it were an op.

func.func @layer(%input: !tfrt_tensor.tensor, %weights: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %product = tfrt_tensor.matmul %input, %weights
  %positive = tfrt_tensor.relu %product
  %result = tfrt_tensor.softmax %positive
  tfrt.return %result : !tfrt_tensor.tensor
}
