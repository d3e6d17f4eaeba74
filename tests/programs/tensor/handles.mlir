// SPDX-License-Identifier: Apache-2.0
//
// Handles of tensors and handlers of ops, as programs for TFRT's core runtime make them.

func.func @handlers() -> !corert.ophandler {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %ch = corert.register_op_handler %cpu "cpu"
  %found = corert.get_op_handler %ch "cpu"
  tfrt.return %found : !corert.ophandler
}

func.func @unknown_handler() -> !corert.ophandler {
  %ch = tfrt.new.chain
  %found = corert.get_op_handler %ch "gpu"
  tfrt.return %found : !corert.ophandler
}

func.func @handler_twice() -> !tfrt.chain {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %ch = corert.register_op_handler %null "cpu"
  tfrt.return %ch : !tfrt.chain
}

func.func @constants() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c0 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %s = corert.const_string_tensor {shape = [1, 2], value = ["const", "string"]}
  %c1 = "corert.print_tensorhandle"(%s, %c0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %shape = "corert.tensorhandle_to_shape"(%a) : (!corert.tensorhandle) -> !ts.shape
  %c2 = ts.print_shape %shape, %c1
  %t = "corert.tensorhandle_to_ht"(%a) : (!corert.tensorhandle) -> !tfrt_tensor.tensor
  %c3 = tfrt_dht.print_tensor %t, %c2
  %b = "corert.ht_to_tensorhandle"(%t, %c3) : (!tfrt_tensor.tensor, !tfrt.chain) -> !corert.tensorhandle
  %c4 = "corert.print_tensorhandle"(%b) : (!corert.tensorhandle) -> !tfrt.chain
  tfrt.return %c4 : !tfrt.chain
}

func.func @wrong_count() -> !corert.tensorhandle {
  %s = corert.const_string_tensor {shape = [3], value = ["const", "string"]}
  tfrt.return %s : !corert.tensorhandle
}
