// SPDX-License-Identifier: Apache-2.0
//
// The fixture of the tests of eager execution: a host with all kernel rooms and a few kernels of
// its own, a request, and programs that come from text.
//
//   eager.late i32 -> i32: its result comes with eager_fixture_resolve_late()
//   eager.fail_late i32 -> i32: the same, as an error at the kernel's place
//   eager.pass any -> i1: was the operand (passed) available?
//   eager.wait any -> !tfrt.chain: awaits its operand
//   eager.unique any -> i1: has the kernel the only reference to its operand?
//   eager.sum i32... -> i32
//   eager.settings {count: i32 = 7, flag: i1 = true, ratio: f32 = 0.5} -> i32, i1, f32
//   eager.record {one attribute of each kind}: keeps their bytes, in eager_fixture_recorded
//   eager.dense {value: dense}: does nothing
//
// Life: set up and torn down around each test; a leak of a value fails it.
// Thread rule: thread-compatible. Failure rule: what goes wrong here fails the test.
#ifndef TFRT_TESTS_HOST_RUNTIME_EAGER_EAGER_FIXTURE_H_
#define TFRT_TESTS_HOST_RUNTIME_EAGER_EAGER_FIXTURE_H_

#include "host_runtime/eager/eager_op.h"
#include "host_runtime/host_context.h"

extern tfrt_host_context_t* eager_fixture_host;
extern tfrt_request_context_t* eager_fixture_request;
extern tfrt_execution_context_t eager_fixture_context;

// The bytes of all attributes of the last eager.record that ran, each behind the last.
extern tfrt_string_builder_t eager_fixture_recorded;

// Sets up with an inline work queue, or with |threads| threads if that isn't 0.
void eager_fixture_set_up_with_threads(int threads);
void eager_fixture_set_up(void);
void eager_fixture_tear_down(void);

// Replaces the request by one with |options|.
void eager_fixture_use_request(const tfrt_request_options_t* options);

// A program (+1) of |text|.
tfrt_program_t* eager_fixture_load(const char* text);

// A handle (+1) of the op |name| without attributes, standing at "here.c", line 7, in @caller.
tfrt_eager_op_t* eager_fixture_op(const char* name);

// Resolves what the last eager.late or eager.fail_late has handed out.
void eager_fixture_resolve_late(void);

// Fails the test unless |status| (consumed) is an error with |code| and |message|.
void eager_fixture_expect(tfrt_status_t status, tfrt_status_code_t code, const char* message);

// Fails the test unless |value| (consumed) is that error.
void eager_fixture_expect_error(tfrt_async_value_t* value, tfrt_status_code_t code,
                                const char* message);

// The number, or truth, in |value| (consumed), which must be available.
int32_t eager_fixture_take_i32(tfrt_async_value_t* value);
bool eager_fixture_take_i1(tfrt_async_value_t* value);

#endif  // TFRT_TESTS_HOST_RUNTIME_EAGER_EAGER_FIXTURE_H_
