// SPDX-License-Identifier: Apache-2.0
//
// Looks at every frame that crosses a simulated network of nodes, as a third party that knows
// the protocol and nothing of the nodes; and counts them, by link and kind. It fails the test at
// the first one that breaks a rule:
//
//   a call's number is one above the last one on its link, and no call has two Invokes
//   each result of a call, each Want and each name of a Retain is answered at most once
//   done comes once, nothing of the call comes after it
//   done comes when every call below it has ended, and what it has retained is acknowledged
//   a lent value is not released before the call that it was lent for is done
//   a budget is at most that of the call above
//   no Invoke or Want goes beyond the credit that was granted
//   a chunk goes only to a host that asked its owner for it
//   a result is pushed only by its owner, once for each request of its namer
//
// A frame counts when its receiver would process it: the next of its session, once. The
// oracle ignores the frames of a session that has died.
//
// Life: allocated for a network before messages go; asked for counts; freed before the network.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_HOST_FRAME_ORACLE_H_
#define TFRT_TESTS_DISTRIBUTED_HOST_FRAME_ORACLE_H_

#include "distributed/wire/batch.h"
#include "tests/distributed/simulated/network.h"

typedef struct tfrt_frame_oracle_s tfrt_frame_oracle_t;

// Watches |network|, whose process number n, from 0, has the incarnation |first_incarnation| + n.
// Thread-compatible.
tfrt_frame_oracle_t* tfrt_frame_oracle_allocate(tfrt_simulated_network_t* network,
                                                uint64_t first_incarnation);

// Ends that. Thread-compatible.
void tfrt_frame_oracle_free(tfrt_frame_oracle_t* oracle);

// The frames of |kind| that |to| got from |from| so far, that all got from all, and when the last
// one came to |to| from |from|, by the network's clock; 0: none did. Thread-compatible.
uint64_t tfrt_frame_oracle_count(const tfrt_frame_oracle_t* oracle, size_t from, size_t to,
                                 tfrt_wire_frame_kind_t kind);
uint64_t tfrt_frame_oracle_count_all(const tfrt_frame_oracle_t* oracle,
                                     tfrt_wire_frame_kind_t kind);
int64_t tfrt_frame_oracle_last_ns(const tfrt_frame_oracle_t* oracle, size_t from, size_t to,
                                  tfrt_wire_frame_kind_t kind);

// The names that Releases from |from| to |to| gave back so far. Thread-compatible.
uint64_t tfrt_frame_oracle_released(const tfrt_frame_oracle_t* oracle, size_t from, size_t to);

// The calls that have begun and are not done, where both sides live. Thread-compatible.
size_t tfrt_frame_oracle_open_calls(const tfrt_frame_oracle_t* oracle);

// Forgets the counts, not the calls. Thread-compatible.
void tfrt_frame_oracle_reset_counts(tfrt_frame_oracle_t* oracle);

// A job is about to end, with all that is under way in it, before a frame says so.
// Thread-compatible.
void tfrt_frame_oracle_expect_end(tfrt_frame_oracle_t* oracle);

// Process |index| is dead: nothing of it is waited for. Thread-compatible.
void tfrt_frame_oracle_bury(tfrt_frame_oracle_t* oracle, size_t index);

#endif  // TFRT_TESTS_DISTRIBUTED_HOST_FRAME_ORACLE_H_
