// SPDX-License-Identifier: Apache-2.0
//
// Calls what was compiled from squares.mlir.
#include <inttypes.h>
#include <stdio.h>

int64_t sum_of_squares(int64_t n);

int main(void) {
  for (int64_t n = 10; n <= 100000; n *= 10) {
    printf("below %" PRId64 ": %" PRId64 "\n", n, sum_of_squares(n));
  }
  return 0;
}
