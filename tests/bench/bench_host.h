// SPDX-License-Identifier: Apache-2.0
//
// A process that can run programs, for benchmarks: work queue, kernels of all rooms, and a
// program that came from text.
//
// Life: opened with the text of a program; @main is called any number of times; closed.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: closing also works on a host that is half open after an error.
#ifndef TFRT_TESTS_BENCH_BENCH_HOST_H_
#define TFRT_TESTS_BENCH_BENCH_HOST_H_

#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"

typedef struct tfrt_bench_host_s {
  tfrt_host_context_t* host;
  tfrt_program_t* program;
  tfrt_request_context_t* request;
  const tfrt_function_t* main;
} tfrt_bench_host_t;

// Sets |*out_queue| to a new queue with |threads| threads; 0: the inline one.
// Thread-compatible.
tfrt_status_t tfrt_bench_queue_create(int threads, tfrt_work_queue_t** out_queue) TFRT_MUST_USE;

// Translates |text|; sets |*out_bytes| to |*out_size| bytes of BEF from the system's
// allocator. Thread-compatible.
tfrt_status_t tfrt_bench_translate(tfrt_string_view_t text, void** out_bytes, size_t* out_size)
    TFRT_MUST_USE;

// Opens |host| with a queue of |threads| threads and the program |text|, which has a
// function @main; an empty |text|: no program. Thread-compatible.
tfrt_status_t tfrt_bench_host_open(tfrt_bench_host_t* host, int threads, tfrt_string_view_t text)
    TFRT_MUST_USE;

// Calls @main with |arguments| (+0) and waits until its |count| results (+1) are there and
// the queue is quiescent. Thread-compatible.
void tfrt_bench_host_call(tfrt_bench_host_t* host, tfrt_async_value_t* const* arguments,
                          tfrt_async_value_t** results, size_t count);

// Gives back what |host| holds. Thread-compatible.
void tfrt_bench_host_close(tfrt_bench_host_t* host);

#endif  // TFRT_TESTS_BENCH_BENCH_HOST_H_
