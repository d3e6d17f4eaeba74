// SPDX-License-Identifier: Apache-2.0
//
// Random functions with tokens: control-flow graphs with loops, block arguments, tasks that
// capture, regions that borrow, calls. Every value dominates its uses. The same seed gives the same
// text.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: fails the test.
#ifndef TFRT_TESTS_COMPILER_PASSES_RANDOM_FLOW_H_
#define TFRT_TESTS_COMPILER_PASSES_RANDOM_FLOW_H_

#include "host_runtime/base/string_builder.h"

// A source of random numbers.
typedef struct test_random_s {
  uint64_t state;
} test_random_t;

// A number below |limit|, which isn't 0. Thread-compatible (caller synchronises).
uint32_t test_random_below(test_random_t* random, uint32_t limit);

// Appends a module whose function `@f` the |seed| gives. |always_ends|: from every block that can
// be reached, a path leads to a return. Thread-compatible (caller synchronises).
void test_random_flow(uint64_t seed, bool always_ends, tfrt_string_builder_t* text);

#endif  // TFRT_TESTS_COMPILER_PASSES_RANDOM_FLOW_H_
