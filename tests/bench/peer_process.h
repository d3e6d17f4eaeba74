// SPDX-License-Identifier: Apache-2.0
//
// The process at the other end of a benchmark: it prints the address where it listens, and ends
// when its standard input does (bench_cluster.h starts it and stops it).
//
// Thread rule: thread-compatible. Failure rule: none fails.
#ifndef TFRT_TESTS_BENCH_PEER_PROCESS_H_
#define TFRT_TESTS_BENCH_PEER_PROCESS_H_

#include "host_runtime/base/status.h"

// Says that the program |name| listens at |address|, or why not, if there is a |status| (+1).
// Returns the exit status. Thread-compatible.
int tfrt_bench_peer_say(const char* name, const char* address, tfrt_status_t status);

// Returns when standard input has ended. Thread-compatible.
void tfrt_bench_peer_await_end(void);

#endif  // TFRT_TESTS_BENCH_PEER_PROCESS_H_
