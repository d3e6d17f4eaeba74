// SPDX-License-Identifier: Apache-2.0
//
// Checks as many random programs as wanted: random_programs --seed=FIRST --count=N
#include <stdio.h>

#include "tests/random_programs/checker.h"

int main(int argc, char** argv) {
  unsigned long long seed = 0;
  unsigned long long count = 1000;
  for (int i = 1; i < argc; ++i) {
    char rest = '\0';
    if (sscanf(argv[i], "--seed=%llu%c", &seed, &rest) == 1) continue;
    if (sscanf(argv[i], "--count=%llu%c", &count, &rest) == 1) continue;
    fprintf(stderr, "usage: random_programs [--seed=FIRST] [--count=N]\n");
    return 2;
  }
  tfrt_model_checker_t* checker = tfrt_model_checker_allocate();
  unsigned long long differ = 0;
  for (unsigned long long i = 0; i < count; ++i) {
    differ += !tfrt_model_checker_check(checker, seed + i);
  }
  printf("%llu programs of %llu ops, %llu differ\n", count,
         (unsigned long long)tfrt_model_checker_steps(checker), differ);
  tfrt_model_checker_free(checker);
  return differ ? 1 : 0;
}
