// SPDX-License-Identifier: Apache-2.0
//
// Programs for the fuzz targets of the passes of reference counts: text in, and a program that is
// parsed, checked, and checked again behind a pass.
//
// Thread rule: fuzzer's thread only. Failure rule: a program that a pass breaks ends the process.
#ifndef TFRT_TESTS_COMPILER_REF_COUNTS_FUZZ_H_
#define TFRT_TESTS_COMPILER_REF_COUNTS_FUZZ_H_

#include "compiler/parser/parser.h"

typedef struct fuzzed_program_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_ir_operation_t* module;  // NULL: the text is no program
} fuzzed_program_t;

// Parses and checks the |size| bytes of text at |data|. Fuzzer's thread only.
void fuzzed_program_open(fuzzed_program_t* program, const uint8_t* data, size_t size);

// Checks |program| again: it must be right. Fuzzer's thread only.
void fuzzed_program_check(fuzzed_program_t* program);

// Fuzzer's thread only.
void fuzzed_program_close(fuzzed_program_t* program);

#endif  // TFRT_TESTS_COMPILER_REF_COUNTS_FUZZ_H_
