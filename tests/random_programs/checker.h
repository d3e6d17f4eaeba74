// SPDX-License-Identifier: Apache-2.0
//
// Runs random programs in each kind of work queue and compares their results with the
// interpreter's: values, and errors with their places. After each run it checks that the call was
// over when it said so, and that nothing is left of it.
//
// Life:
//  1. Allocated: makes one host per queue.
//  2. Checks any number of programs.
//  3. Freed.
//
// Thread rule: thread-compatible. Failure rule: what can't be set up ends the process with a
// message; what is wrong with a program is reported to the standard output.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_CHECKER_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_CHECKER_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct tfrt_model_checker_s tfrt_model_checker_t;

// The inline queue, one that shuffles its tasks, and pools of 1, 2 and 4 threads.
// Thread-compatible.
tfrt_model_checker_t* tfrt_model_checker_allocate(void);

// Gives back |checker|. Thread-compatible.
void tfrt_model_checker_free(tfrt_model_checker_t* checker);

// Makes program |seed| and runs it in each queue. Returns false, having told seed, program,
// expected and actual results, if one of them differs. Thread-compatible.
bool tfrt_model_checker_check(tfrt_model_checker_t* checker, uint64_t seed);

// The number of ops that programs so far consisted of, as the interpreter ran them.
// Thread-compatible.
uint64_t tfrt_model_checker_steps(const tfrt_model_checker_t* checker);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_CHECKER_H_
