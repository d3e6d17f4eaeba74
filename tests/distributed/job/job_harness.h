// SPDX-License-Identifier: Apache-2.0
//
// Jobs on a world of nodes (node_harness.h): clients that come, go, and are refused.
//
// Life: open a client in the place of the world's, wait for its answer, drop it.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_JOB_JOB_HARNESS_H_
#define TFRT_TESTS_DISTRIBUTED_JOB_JOB_HARNESS_H_

#include "tests/distributed/host/node_harness.h"

// @main(x) calls @f on host 1, which doubles x. Thread-safe.
extern const char tfrt_job_simple_program[];

// Closes and releases the world's client. Thread-compatible.
void tfrt_job_drop_client(tfrt_node_world_t* world);

// Makes the world's client one of the |count| hosts at |addresses|, or of all hosts if that is
// NULL, with |deadline_ns| of the world's clock. Thread-compatible.
void tfrt_job_open_client(tfrt_node_world_t* world, const char* const* addresses, uint32_t count,
                          int64_t deadline_ns);

// Lets time pass until the job is open, or can't be; returns the error (+0), or OK.
// Thread-compatible.
tfrt_status_t tfrt_job_await_open(tfrt_node_world_t* world);

// Checks that |status| has |code| and that its text has |part|. Thread-compatible.
void tfrt_job_expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* part);

// Starts |text| with the argument |x|; and waits for its first result, which must be |right|.
// Thread-compatible.
void tfrt_job_start(tfrt_node_world_t* world, const char* text, int32_t x);
void tfrt_job_expect(tfrt_node_world_t* world, const char* text, int32_t x, int32_t right);

// Lets time pass until each living node has |count| jobs; with 0, until nothing at all of
// jobs is left on it. Thread-compatible.
void tfrt_job_await_count(tfrt_node_world_t* world, size_t count);

#endif  // TFRT_TESTS_DISTRIBUTED_JOB_JOB_HARNESS_H_
