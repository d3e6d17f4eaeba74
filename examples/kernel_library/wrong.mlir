// A program with a mistake: a summary where stats.add takes a number.
func.func @main() -> !stats.summary {
  %none = stats.empty
  %sum = stats.add %none, %none
  tfrt.return %sum : !stats.summary
}
