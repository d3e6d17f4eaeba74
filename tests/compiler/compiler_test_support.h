// SPDX-License-Identifier: Apache-2.0
//
// Text in, text and errors out: for the tests of lexer, parser, printer and verifier.
//
// Life: a program is parsed (and, if asked for, verified); looked at; freed.
//
// Thread rule: test thread only. Failure rule: what isn't expected fails the test.
#ifndef TFRT_TESTS_COMPILER_COMPILER_TEST_SUPPORT_H_
#define TFRT_TESTS_COMPILER_COMPILER_TEST_SUPPORT_H_

#include "compiler/parser/parser.h"
#include "compiler/printer/printer.h"

typedef struct test_program_s {
  tfrt_ir_context_t* context;
  tfrt_ir_operation_t* module;  // NULL: there were errors
  tfrt_diagnostics_t diagnostics;
  tfrt_string_builder_t errors;  // rendered
} test_program_t;

// Parses |text| as the file "t.mlir", with the op tables of all rooms. Test thread only.
void test_program_parse(test_program_t* program, const char* text);
void test_program_parse_view(test_program_t* program, tfrt_string_view_t text);

// The same, and verifies it: |module| is NULL after an error of either. Test thread only.
void test_program_verify(test_program_t* program, const char* text);

// Frees what |program| holds. Test thread only.
void test_program_free(test_program_t* program);

// Fails unless |text| gives exactly the errors |expected|: their texts from the line number
// on, `1:2: error: ...`, each on a line, without source lines. Test thread only.
void test_expect_errors(const char* text, const char* expected);

// The same for errors that |text| gives only once it is verified. Test thread only.
void test_expect_verifier_errors(const char* text, const char* expected);

// Fails unless |text| is printed as |expected|, and that, in custom and generic form, is
// read and printed as the same again. |options| may be NULL. Test thread only.
void test_expect_print(const char* text, const char* expected,
                       const tfrt_printer_options_t* options);

#endif  // TFRT_TESTS_COMPILER_COMPILER_TEST_SUPPORT_H_
