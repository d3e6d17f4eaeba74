// SPDX-License-Identifier: Apache-2.0
//
// Looks at the tables of all nodes of a world at once, as nobody can who is one of them, and
// fails the test if they don't fit together:
//
//   no object has a name that its namer has not given
//   what somebody waits for at another host is in that host's table, or is promised to come
//   a remote value is in the lists of the host that is asked, and its want in that table
//   what is put off is not asked for, and pushes are within their limits
//   the counts of a node are those of its tables
//
// Life: asked after each step of the network, when no task of a host waits.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_HOST_TABLE_ORACLE_H_
#define TFRT_TESTS_DISTRIBUTED_HOST_TABLE_ORACLE_H_

#include <stdbool.h>
#include <stddef.h>

#include "distributed/host/node.h"

// Checks the |count| nodes; those that are dead are NULL. |any_death|: a session has died; a
// borrower of a dead host may wait in vain, and learns of the death. Thread-compatible.
void tfrt_table_oracle_check(tfrt_node_t* const* nodes, size_t count, bool any_death);

#endif  // TFRT_TESTS_DISTRIBUTED_HOST_TABLE_ORACLE_H_
