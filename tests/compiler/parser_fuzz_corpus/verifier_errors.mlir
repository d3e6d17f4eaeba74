func.func @f(%a: i32) -> i32 {
  tfrt.return
}
func.func @f(%a: i32) -> i32 {
  %c = "tfrt.add.i32"(%a) : (i32) -> i64
  tfrt.return %c : i64
}
func.func @g(%cond: i1, %v1: i32) -> i32 {
  tfrt.if %cond, %v1 : (i32) -> () {
    tfrt.return %v1 : i32
  }
  %x = tfrt.call @nope(%v1) : (i32) -> i32
  %y = tfrt.call @f(%cond) {host = -1 : i32, foo = 3 : i32} : (i1) -> i32
  %z = tfrt.add.i32 %v1, %w
  %w = tfrt.constant.i32 3
  "tfrt.constant.i32"() {value = 1 : i64} : () -> i32
  "tfrt.constant.i32"() : () -> i32
  tfrt.return %v1 : i32
  tfrt.return %v1 : i32
}
func.func private @ext(i32)
func.func @nothing() { }
