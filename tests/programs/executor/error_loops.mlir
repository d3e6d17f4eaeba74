// Loops that carry errors. One that can only carry them on ends at once; one in which something
// still happens takes all its turns.
func.func @error() -> i32 {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %quotient, %rest = tfrt.div.i32 %one, %zero
  tfrt.return %quotient : i32
}

func.func @other_error() -> i32 {
  %two = tfrt.constant.i32 2
  %zero = tfrt.constant.i32 0
  %quotient, %rest = tfrt.div.i32 %two, %zero
  tfrt.return %rest : i32
}

func.func @more(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}

func.func @an_error_alone() -> i32 {
  %count = tfrt.constant.i32 2000000000
  %e = tfrt.call @error() : () -> i32
  %r = tfrt.repeat.i32 %count, %e : i32 {
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %e, %one
    %same = tfrt.call @more(%next) : (i32) -> i32
    tfrt.return %same : i32
  }
  tfrt.return %r : i32
}

// A turn makes the error itself.
func.func @an_error_of_a_turn() -> i32 {
  %count = tfrt.constant.i32 2000000000
  %x = tfrt.constant.i32 40
  %r = tfrt.repeat.i32 %count, %x : i32 {
    %minus = tfrt.constant.i32 -1
    %less = tfrt.add.i32 %x, %minus
    %quotient, %rest = tfrt.div.i32 %x, %less
    %zero = tfrt.mul.i32 %rest, %minus
    %next = tfrt.add.i32 %less, %zero
    %last = tfrt.add.i32 %next, %rest
    tfrt.return %last : i32
  }
  tfrt.return %r : i32
}

func.func @beside_what_stays_the_same() -> (i32, i32, i32) {
  %count = tfrt.constant.i32 2000000000
  %e = tfrt.call @error() : () -> i32
  %x = tfrt.constant.i32 7
  %r:3 = tfrt.repeat.i32 %count, %e, %x, %count : i32, i32, i32 {
    %next = tfrt.add.i32 %e, %x
    %five = tfrt.constant.i32 5
    tfrt.return %next, %x, %five : i32, i32, i32
  }
  tfrt.return %r#0, %r#1, %r#2 : i32, i32, i32
}

func.func @in_branches_and_loops() -> (i32, i32) {
  %count = tfrt.constant.i32 2000000000
  %e = tfrt.call @error() : () -> i32
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.repeat.i32 %count, %e, %count : i32, i32 {
    %inner = tfrt.repeat.i32 %count, %e : i32 {
      %next = tfrt.call @more(%e) : (i32) -> i32
      tfrt.return %next : i32
    }
    %go = tfrt.constant.i1 false
    %branch = tfrt.if %go, %inner : (i32) -> (i32) {
      %next = tfrt.add.i32 %inner, %inner
      tfrt.return %next : i32
    } else {
      tfrt.return %inner : i32
    }
    tfrt.return %branch, %count : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

func.func @carry_on(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %next = tfrt.call @more(%x) : (i32) -> i32
  %yes = tfrt.constant.i1 true
  tfrt.return %next, %ch, %yes : i32, !tfrt.chain, i1
}

// Without its error it would go on for ever.
func.func @a_while() -> i32 {
  %e = tfrt.call @error() : () -> i32
  %yes = tfrt.constant.i1 true
  %ch = tfrt.new.chain
  %r:2 = tfrt.while %yes @carry_on(%e, %ch) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0 : i32
}

func.func @beside_a_counter() -> (i32, i32) {
  %count = tfrt.constant.i32 100000
  %e = tfrt.call @error() : () -> i32
  %zero = tfrt.constant.i32 0
  %r:2 = tfrt.repeat.i32 %count, %e, %zero : i32, i32 {
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %e, %one
    %n = tfrt.add.i32 %zero, %one
    tfrt.return %next, %n : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

// Prints that wait for no error: all of them come.
func.func @with_prints() -> i32 {
  %count = tfrt.constant.i32 70
  %e = tfrt.call @error() : () -> i32
  %r = tfrt.repeat.i32 %count, %e : i32 {
    %next = tfrt.call @more(%e) : (i32) -> i32
    %one = tfrt.constant.i32 1
    %ch0 = tfrt.new.chain
    %ch1 = tfrt.print.i32 %one, %ch0
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}

func.func @prints_below() -> !tfrt.chain {
  %two = tfrt.constant.i32 2
  %ch0 = tfrt.new.chain
  %ch1 = tfrt.print.i32 %two, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

func.func @with_prints_of_a_function() -> i32 {
  %count = tfrt.constant.i32 70
  %e = tfrt.call @error() : () -> i32
  %r = tfrt.repeat.i32 %count, %e : i32 {
    %next = tfrt.call @more(%e) : (i32) -> i32
    %ch = tfrt.call @prints_below() : () -> !tfrt.chain
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}

// Behind an odd number of turns they have changed places.
func.func @errors_that_change_places() -> (i32, i32) {
  %count = tfrt.constant.i32 100001
  %e = tfrt.call @error() : () -> i32
  %f = tfrt.call @other_error() : () -> i32
  %r:2 = tfrt.repeat.i32 %count, %e, %f : i32, i32 {
    tfrt.return %f, %e : i32, i32
  }
  %x = tfrt.add.i32 %r#0, %r#1
  tfrt.return %r#0, %x : i32, i32
}

// What is given when it has first been called is no error.
func.func @first(%x: i32) -> i32 {
  %three = tfrt.constant.i32 3
  tfrt.return %three : i32
}

func.func @with_a_function_that_runs_once() -> (i32, i32) {
  %count = tfrt.constant.i32 1000
  %e = tfrt.call @error() : () -> i32
  %zero = tfrt.constant.i32 0
  %r:2 = tfrt.repeat.i32 %count, %e, %zero : i32, i32 {
    %three = tfrt.once @first(%e) : (i32) -> (i32)
    %n = tfrt.add.i32 %zero, %three
    tfrt.return %e, %n : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}
