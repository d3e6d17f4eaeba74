// SPDX-License-Identifier: Apache-2.0
//
// Small programs for the executor's tests, written down as tables of kernels and turned into
// BEF: one function `main` whose arguments are the first registers, and, if the table wants
// one, a native function.
//
// Life: make a program, run it, release it; the host and the registry live as long as the
// fixture. Thread rule: thread-compatible. Failure rule: a mistake in a table fails the test.
#ifndef TFRT_TESTS_HOST_RUNTIME_EXECUTOR_SMALL_PROGRAM_H_
#define TFRT_TESTS_HOST_RUNTIME_EXECUTOR_SMALL_PROGRAM_H_

#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"

#define SMALL_PROGRAM_MAX 4

// One kernel: its registers, and the number of its one i32 attribute, if it has one.
typedef struct small_kernel_s {
  const char* name;
  uint32_t arguments[SMALL_PROGRAM_MAX];
  uint32_t argument_count;
  uint32_t results[SMALL_PROGRAM_MAX];
  uint32_t result_count;
  bool has_attribute;
  int32_t attribute;
  bool calls_main;    // its one function is `main` itself
  bool calls_native;  // its one function is the native one
  uint32_t stream;
} small_kernel_t;

typedef struct small_program_s {
  tfrt_bef_function_kind_t kind;                  // of main
  const char* argument_types[SMALL_PROGRAM_MAX];  // ends with NULL
  const small_kernel_t* kernels;
  uint32_t kernel_count;
  uint32_t register_count;
  uint32_t results[SMALL_PROGRAM_MAX];
  uint32_t result_count;
  const char* native;          // name of a native function, or NULL
  uint32_t native_arguments;   // how many, all i32
  const char* native_results;  // the type of its one result; NULL: it has none
} small_program_t;

// A host with an inline queue and a registry with the kernels below, for all tests.
//   test.constant {value: i32} -> i32      test.add i32, i32 -> i32
//   test.cheap_add i32, i32 -> i32: as test.add, but its table entry says that it is pure and cheap
//   test.late i32 -> i32: resolved by small_program_resolve_late()
//   test.fail -> i32                       test.call any... -> any...: calls its function
//   test.negative i32 -> i1                test.wait any -> !tfrt.chain
//   test.forget -> i32: doesn't set its result
//   test.unique any -> i1: has the kernel the only reference?
//   test.lie -> i32: gives an i1           test.twice -> i32: sets its result twice
//   test.when any -> any: waits itself, and hands its argument on
//   test.follows_schedule any -> i1: takes its argument in any state; does its call follow a
//   schedule?
// All but cheap_add, late, wait, unique, lie, when and follows_schedule have synchronous forms.
// Native functions: `plus` i32, i32 -> i32 and `nothing` any... -> nothing.
extern tfrt_host_context_t* small_program_host;

// Sets up and tears down |small_program_host|: a checked fixture.
void small_program_set_up(void);
void small_program_tear_down(void);

// Makes a program (+1) of |table|. The error of tfrt_program_create() comes back (+1).
tfrt_status_t small_program_make(const small_program_t* table, tfrt_program_t** out_program);

// How many test.when have run before their argument was there, since the fixture was set up.
extern int small_program_early_count;

// Resolves what the last test.late that ran has handed out as its argument.
void small_program_resolve_late(void);

#endif  // TFRT_TESTS_HOST_RUNTIME_EXECUTOR_SMALL_PROGRAM_H_
