func.func @inc(%c: !test.atomic.i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %o = tfrt.call @inc2(%c, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %o : !tfrt.chain
}
func.func @inc2(%c: !test.atomic.i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %n = tfrt.constant.i32 3
  %o:2 = tfrt.repeat.i32 %n, %ch, %c : !tfrt.chain, !test.atomic.i32 {
    %o = "tfrt_test.atomic.inc.i32"(%c, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %o, %c : !tfrt.chain, !test.atomic.i32
  }
  tfrt.return %ch : !tfrt.chain
}
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %ch = tfrt.new.chain
  %o = tfrt.call @inc(%a, %ch) {host = 2 : i32} : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %o : !tfrt.chain
}
