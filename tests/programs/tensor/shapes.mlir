// Shapes: whole ones, those with a fixed rank, and those that are only partly known.

func.func @shapes() {
  %c0 = tfrt.new.chain
  %a = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %c1 = ts.print_shape %a, %c0
  %b = ts.build_shape []
  %c2 = ts.print_shape %b, %c1
  %c = ts.build_shape [0 : i64, 1 : i64, 2 : i64, 3 : i64, 4 : i64, 5 : i64, 6 : i64, 7 : i64, 8 : i64, 9 : i64]
  %c3 = ts.print_shape %c, %c2
  %count_a = ts.get_num_elements %a
  %c4 = tfrt.print.i64 %count_a, %c3
  %count_b = ts.get_num_elements %b
  %c5 = tfrt.print.i64 %count_b, %c4
  %count_c = ts.get_num_elements %c
  %c6 = tfrt.print.i64 %count_c, %c5
  %two = tfrt.constant.i32 2
  %last = ts.get_dimension %a, %two
  %c7 = tfrt.print.i64 %last, %c6
  tfrt.return
}

// No tensor could have these shapes; they are shapes all the same.
func.func @shapes_of_any_size() -> i64 {
  %c0 = tfrt.new.chain
  %a = ts.build_shape [65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64]
  %c1 = ts.print_shape %a, %c0
  %b = ts.build_shape [65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65536 : i64]
  %c2 = ts.print_shape %b, %c1
  %c = ts.build_shape [4294967295 : i64, 4294967295 : i64, 4294967295 : i64, 65536 : i64]
  %c3 = ts.print_shape %c, %c2
  %same = ts.equal_shape %a, %a
  %c4 = tfrt.print.i1 %same, %c3
  %different = ts.equal_shape %a, %b
  %c5 = tfrt.print.i1 %different, %c4
  %count = ts.get_num_elements %a
  tfrt.return %count : i64
}

func.func @fixed_ranks() -> !ts.fixed_rank_shape.2 {
  %c0 = tfrt.new.chain
  %a = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %b = ts.as_fixed_rank_shape.3 %a
  %c1 = ts.print_fixed_rank_shape.3 %b, %c0
  %c = ts.build_shape []
  %d = ts.as_fixed_rank_shape.0 %c
  %c2 = ts.print_fixed_rank_shape.0 %d, %c1
  %wrong = ts.as_fixed_rank_shape.2 %a
  tfrt.return %wrong : !ts.fixed_rank_shape.2
}

func.func @partial_shapes() -> (!ts.partial_shape, !ts.shape, !ts.shape) {
  %c0 = tfrt.new.chain
  %a = ts.build_partial_shape [-1 : i64, 57 : i64, -1 : i64]
  %c1 = ts.print_partial_shape %a, %c0
  %b = ts.build_unranked_partial_shape
  %c2 = ts.print_partial_shape %b, %c1
  %c = "ts.build_partial_shape"() {value = [1 : i64, 57 : i64, 92 : i64]} : () -> !ts.partial_shape
  %d = ts.to_shape %c
  %c3 = ts.print_shape %d, %c2
  %e = ts.to_partial_shape %d
  %c4 = ts.print_partial_shape %e, %c3
  %unknown = ts.to_shape %a
  %unranked = ts.to_shape %b
  tfrt.return %a, %unknown, %unranked : !ts.partial_shape, !ts.shape, !ts.shape
}
