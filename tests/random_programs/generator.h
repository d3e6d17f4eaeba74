// SPDX-License-Identifier: Apache-2.0
//
// Makes random programs that are well typed, end, and have one meaning: whatever the order in
// which ready kernels run, the results are the same.
//
// These rules make it so although programs have effects:
//  - Loops and recursion count down from small numbers.
//  - A counter is read only behind the chain of all additions to it.
//  - A cancel waits for every other value of the main function, and everything that follows
//    waits for the cancel, wherever in a function or a loop that stands.
//  - `tfrt.once` stands in the main function only, for a function of its own.
//
// Life: one call per program. Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_H_

#include "tests/random_programs/model.h"

// Sets |out_model| to the program number |seed|, which has at most |max_steps| steps: the same
// one each time. Thread-safe.
void tfrt_model_generate(uint64_t seed, uint32_t max_steps, tfrt_model_t* out_model);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_H_
