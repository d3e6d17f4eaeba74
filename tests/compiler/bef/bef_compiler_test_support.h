// SPDX-License-Identifier: Apache-2.0
//
// Text to BEF and back in one call, for the tests of emitter and importer.
//
// Thread rule: test thread only. Failure rule: what goes wrong fails the test.
#ifndef TFRT_TESTS_COMPILER_BEF_BEF_COMPILER_TEST_SUPPORT_H_
#define TFRT_TESTS_COMPILER_BEF_BEF_COMPILER_TEST_SUPPORT_H_

#include "compiler/bef/bef_emitter.h"
#include "compiler/parser/parser.h"

// The output of a translation.
typedef struct test_image_s {
  void* bytes;  // NULL: it failed
  size_t size;
  char errors[4096];  // the rendered diagnostics
} test_image_t;

// The op tables of the kernels that the programs use.
const tfrt_op_tables_t* test_tables(void);

// Parses |text|, which comes from |file|, and emits it. Freed by test_image_free().
test_image_t test_emit(const char* file, tfrt_string_view_t text,
                       const tfrt_bef_emitter_options_t* options);
void test_image_free(test_image_t* image);

// Calls |visit| with the path of each tests/programs/ file that ends in |suffix|, and returns how
// many there are.
size_t test_for_each_program_path(const char* suffix, void (*visit)(const char* path));

#endif  // TFRT_TESTS_COMPILER_BEF_BEF_COMPILER_TEST_SUPPORT_H_
