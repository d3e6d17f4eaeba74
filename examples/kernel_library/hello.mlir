func.func @main() -> f64 {
  %number = tfrt.constant.f64 21.0
  %result = hello.twice %number
  tfrt.return %result : f64
}
