// Ranges in parallel: each block runs once, and the chain waits for all of them.
func.func @parallel_for() -> i32 {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 10
  %block = tfrt.constant.i32 1
  %ch0 = tfrt.new.chain
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %done = tfrt.parallel_for.i32 %start to %end fixed %block, %sum : !test.atomic.i32 {
    %ch = tfrt.new.chain
    %added = "tfrt_test.atomic.add.i32"(%sum, %start, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %added : !tfrt.chain
  }
  %r, %ch1 = "tfrt_test.atomic.get.i32"(%sum, %done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
func.func @add_end(%start: i32, %end: i32, %sum: !test.atomic.i32) -> !tfrt.chain {
  %one = tfrt.constant.i32 0
  %late = "tfrt_test.async_add.i32"(%end, %one) : (i32, i32) -> i32
  %ch = tfrt.new.chain
  %added = "tfrt_test.atomic.add.i32"(%sum, %late, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %added : !tfrt.chain
}
func.func @parallel_call() -> i32 {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 10
  %block = tfrt.constant.i32 3
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %done = tfrt.parallel_call.i32 %start to %end fixed %block @add_end(%sum) : !test.atomic.i32
  %r, %ch1 = "tfrt_test.atomic.get.i32"(%sum, %done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
func.func @empty_range() -> !tfrt.chain {
  %start = tfrt.constant.i32 5
  %block = tfrt.constant.i32 1
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %done = tfrt.parallel_call.i32 %start to %start fixed %block @add_end(%sum) : !test.atomic.i32
  tfrt.return %done : !tfrt.chain
}
func.func @no_block_size() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 5
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %done = tfrt.parallel_call.i32 %start to %end fixed %start @add_end(%sum) : !test.atomic.i32
  tfrt.return %done : !tfrt.chain
}
// 1,000 bodies in the queue, joined by one chain.
func.func @joined() -> i32 {
  %ch0 = tfrt.new.chain
  %n = tfrt.constant.i32 1000
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %end, %s = tfrt.repeat.i32 %n, %ch0, %sum : !tfrt.chain, !test.atomic.i32 {
    %done = tfrt_test.do.async %sum : (!test.atomic.i32) -> (!tfrt.chain) {
      %ch = tfrt.new.chain
      %added = "tfrt_test.atomic.inc.i32"(%sum, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
      tfrt.return %added : !tfrt.chain
    }
    %both = tfrt.merge.chains %done, %ch0 : !tfrt.chain, !tfrt.chain
    tfrt.return %both, %sum : !tfrt.chain, !test.atomic.i32
  }
  %r, %ch1 = "tfrt_test.atomic.get.i32"(%s, %end) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
