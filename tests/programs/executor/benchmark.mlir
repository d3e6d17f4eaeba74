// What a benchmark prints: eleven lines each, whose times are masked in benchmark.out. The turns
// that warm up don't count.
func.func @add() {
  %a = tfrt.constant.i32 3
  tfrt_test.benchmark "add"(%a : i32) duration_secs = 60, max_count = 20, num_warmup_runs = 5 {
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  }
  tfrt.return
}
func.func @nothing() -> !tfrt.chain {
  %done = tfrt_test.benchmark "nothing"() duration_secs = 60, max_count = 3 {
    %c = tfrt.new.chain
    tfrt.return %c : !tfrt.chain
  }
  tfrt.return %done : !tfrt.chain
}
// A turn that ends later ends before the next one begins.
func.func @late() -> i32 {
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %done = tfrt_test.benchmark "late"(%counter : !test.atomic.i32)
      duration_secs = 60, max_count = 4, num_warmup_runs = 2 {
    %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
    %c = tfrt.new.chain
    %added = "tfrt_test.atomic.add.i32"(%counter, %one, %c)
      : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %added : !tfrt.chain
  }
  %sum, %read = "tfrt_test.atomic.get.i32"(%counter, %done)
    : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %sum : i32
}
func.func @fails() -> !tfrt.chain {
  %done = tfrt_test.benchmark "fails"() duration_secs = 60, max_count = 3 {
    %b = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
    tfrt.return %b : i32
  }
  tfrt.return %done : !tfrt.chain
}
func.func @half(%a: i32) attributes {tfrt.sync} {
  %two = tfrt.constant.i32 2
  %q, %r = tfrt.div.i32 %a, %two
  tfrt.return
}
func.func @sync() attributes {tfrt.sync} {
  %a = tfrt.constant.i32 7
  tfrt_test.sync_benchmark @half(%a : i32) duration_secs = 60, max_count = 6
  tfrt.return
}
