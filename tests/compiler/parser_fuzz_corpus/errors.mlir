func.func @f(%a: i32) -> i32 {
  %b = tfrt.adf.i32 %a, %a
  %c = tfrt.add.i32 %b, %b
  %d = tfrt.add.i64 %c, %c
  %e = tfrt.add.i32 %a
  %g = tfrt.constant.i32 99999999999
  %h = tfrt.lessequal.i32 %a, %a
  %i = my.op %a
  %a = tfrt.constant.i32 1
  %x = tfrt.constant.f32 1
  %y = tfrt.constant.i1 2
  %z = tfrt.constant.i32 "foo
  %q, %r = tfrt.add.i32 %a, %zz
  tfrt.return %q : i32
}
func.func @g() {
  %n = tfrt.constant.i32 3
  %r = tfrt.repeat.i32 %n, %n, %n : i32, i32 {
    tfrt.return %n, %n : i32, i32
  }
  $
  tfrt.call @f(%n) {host = } : (i32) -> i32
  tfrt.return
}
func.func @h(i32) -> i32 {
}
}
