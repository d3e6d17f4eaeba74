// SPDX-License-Identifier: Apache-2.0
//
// A machine that runs a function with tokens, with a real count for each object, and knows nothing
// of the passes: it is their oracle. Conditions are random. A task runs when the machine likes to,
// at the latest when the function has ended, with the references that it was given.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: a mistake in the counts, as a
// text.
#ifndef TFRT_TESTS_COMPILER_PASSES_COUNT_MACHINE_H_
#define TFRT_TESTS_COMPILER_PASSES_COUNT_MACHINE_H_

#include "compiler/ir/ir.h"
#include "tests/compiler/passes/random_flow.h"

// Runs |function| once; returns NULL, or what is wrong with the counts. A run that takes too long
// is right as far as it went. Uses scratch words. Thread-compatible (caller synchronises).
const char* test_count_machine_run(tfrt_ir_operation_t* function, test_random_t* random);

#endif  // TFRT_TESTS_COMPILER_PASSES_COUNT_MACHINE_H_
