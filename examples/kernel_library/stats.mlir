// A program for the kernels of libstats.so.

func.func @three_numbers() -> f64 {
  %none = stats.empty
  %a = tfrt.constant.f64 1.0
  %b = tfrt.constant.f64 2.0
  %c = tfrt.constant.f64 6.0
  %one = stats.add %none, %a
  %two = stats.add %one, %b
  %three = stats.add %two, %c
  %mean = stats.mean %three
  tfrt.return %mean : f64
}

// Both files are read at the same time, the second one on host 1, if there are several.
func.func @main() -> (!stats.summary, f64) {
  %start = tfrt.new.chain
  %numbers = stats.read "numbers.txt", %start
  %others = tfrt.call @others(%start) {host = 1 : i32} : (!tfrt.chain) -> (!stats.summary)
  %all = stats.merge %numbers, %others
  %mean = stats.mean %all
  %scaled = stats.scale %mean by 10.0
  tfrt.return %all, %scaled : !stats.summary, f64
}

// A file is missing, and an empty summary stands in for it.
func.func @others(%start: !tfrt.chain) -> !stats.summary {
  // expected-error @+1 {{runtime error: can't open missing.txt: No such file or directory}}
  %missing = stats.read "missing.txt", %start
  %none = stats.empty
  %others = stats.or_else %missing, %none
  tfrt.return %others : !stats.summary
}

// The error has the place of the op that made it.
func.func @no_mean() -> f64 {
  %none = stats.empty
  // expected-error @+1 {{runtime error: no numbers, so no mean}}
  %mean = stats.mean %none
  tfrt.return %mean : f64
}

func.func @tenfold(%number: f64) -> f64 attributes {tfrt.sync} {
  %result = stats.scale %number by 10.0
  tfrt.return %result : f64
}

func.func @synchronous() -> f64 {
  %number = tfrt.constant.f64 4.2
  %result = tfrt.call @tenfold(%number) : (f64) -> (f64)
  tfrt.return %result : f64
}

// What stats_host calls with numbers of its own.
func.func @mean_of(%a: f64, %b: f64) -> f64 {
  %none = stats.empty
  %one = stats.add %none, %a
  %two = stats.add %one, %b
  %mean = stats.mean %two
  tfrt.return %mean : f64
}
