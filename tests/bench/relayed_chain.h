// SPDX-License-Identifier: Apache-2.0
//
// The messages of a chain of calls over several hosts, each on the result of the one before, as
// the protocol between hosts sends them, with nothing behind them but a number: what a chain costs
// on bare streams. A caller and |n| relays, each a process of its own; relay i is the i-th callee.
//
//   caller     Invoke -> each relay, all at once
//   relay i    Push -> relay i + 1, or              when it is invoked and has its own result,
//              Result -> caller from the last one   which is that of relay i - 1 and one
//
// These are 2 n messages, and n + 1 of them follow each other: in a loop of such chains the Results
// of the others go together, many chains at a time. Once, before all that:
//
//   relay i    Next -> relay i - 1                  so that this knows where it is
#ifndef TFRT_TESTS_BENCH_RELAYED_CHAIN_H_
#define TFRT_TESTS_BENCH_RELAYED_CHAIN_H_

#include <stdint.h>

#include "tests/bench/bench_stream.h"

typedef enum tfrt_bench_relayed_kind_e {
  TFRT_BENCH_RELAYED_INVOKE = 1,  // |value|: the argument, of the first one
  TFRT_BENCH_RELAYED_NEXT = 2,
  TFRT_BENCH_RELAYED_PUSH = 3,    // |value|: a relay's result, likewise below
  TFRT_BENCH_RELAYED_RESULT = 4,  // |value|: the last relay's result
} tfrt_bench_relayed_kind_t;

typedef struct tfrt_bench_relayed_s {
  int64_t kind;
  int64_t value;
  int64_t is_last;  // of an Invoke: to the last relay
  char rest[TFRT_BENCH_STREAM_MESSAGE_SIZE - 3 * sizeof(int64_t)];
} tfrt_bench_relayed_t;

_Static_assert(sizeof(tfrt_bench_relayed_t) == TFRT_BENCH_STREAM_MESSAGE_SIZE,
               "one message, without holes");

#endif  // TFRT_TESTS_BENCH_RELAYED_CHAIN_H_
