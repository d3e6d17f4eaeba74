// SPDX-License-Identifier: Apache-2.0
//
// The one function that a fuzz target defines.
//
// A fuzz target takes any bytes, as from a stranger, and hands them to one door of the runtime (a
// verifier, a decoder). It is built twice by tfrt_fuzz_test (bazel/defs.bzl):
//
//   1. as a test: fuzz_replay_main.c feeds it each file of its committed corpus, once;
//   2. as a libFuzzer program, with --config=fuzz: libFuzzer feeds it what it invents.
//
// An input that was found to be bad is added to the corpus, so that the test keeps it fixed.
//
// Threads: one. Failure: a target never returns a failure; a wrong result is an abort().

#ifndef TFRT_TESTS_SUPPORT_FUZZ_TARGET_H_
#define TFRT_TESTS_SUPPORT_FUZZ_TARGET_H_

#include <stddef.h>
#include <stdint.h>

// Defined by the fuzz target: tries one input of `size` bytes (+0, gone after the call).
// Returns 0, always. *Thread-compatible: called from one thread.*
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif  // TFRT_TESTS_SUPPORT_FUZZ_TARGET_H_
