// SPDX-License-Identifier: Apache-2.0
//
// Calls of an execution whose results this host doesn't need. Only calls on other hosts use them,
// and get them from the callee; this host waits for the end alone. An execution that makes such
// calls again and again, as a loop does, becomes *patient*: their Results wait for company
// (Invoke.results_can_wait). So a host in the middle of a chain of calls writes one message for
// each turn of the loop instead of two, and the loop's own host reads one instead of one of each
// call.
//
//   turn 1, 2   Invoke a, b, c         c's result decides about the next turn; Results of all
//   turn 3 ...  Invoke a, b, c         Results of c; those of a and b come by the dozen
//   over        Hurry a, b             nothing else is under way, so their end is waited for
//
// A Hurry and its answer cost two messages for each host, and a Result that waits saves one. So the
// execution is not patient before it has seen twice as many of these calls end as were under way at
// once: what is called once, or all at once, is never hurried.
//
// Nobody awaits the end of a collective's sends, so their Results wait from the first one on. A
// host that begins another collective hears of the end with the next message.
//
// There are two scopes (call_scope.h), one inside of the other: that of the execution, with its
// frames and all other calls; and the one here, with the calls whose Results wait, and one until
// the first is over. The execution is over when this one is.
//
// Life:
//  1. Initialised with the task to run when it is over.
//  2. Joined by calls, each until it has ENDED.
//  3. Ended once, by the execution, when its own scope is left for the last time: hurries the calls
//     that are left. Over at once if there is none, else with the last one.
//
// Thread rule: everything here needs the node's lock, but the scope, which is thread-safe.
// Failure rule: none fails. A call that can't be hurried, as memory is out, ends a little later by
// itself.
#ifndef TFRT_DISTRIBUTED_CALL_PATIENCE_H_
#define TFRT_DISTRIBUTED_CALL_PATIENCE_H_

#include <stdbool.h>

#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_patience_s {
  tfrt_call_scope_t scope;
  tfrt_list_link_t waiting;  // of tfrt_outgoing_call_t: those whose Results wait
  uint32_t open;             // calls whose Results don't wait, and that have not ENDED
  uint32_t most_open;
  uint64_t ended;  // and those that have
} tfrt_patience_t;

// Makes |patience|, in the caller's storage, one without calls, that runs |over|.
void tfrt_patience_initialize(tfrt_patience_t* patience, tfrt_task_t* over);

// True if the Results of the next call may wait.
bool tfrt_patience_has_come(const tfrt_patience_t* patience);

// A call whose Results don't wait, and could, has begun; has ENDED.
void tfrt_patience_note_begun(tfrt_patience_t* patience);
void tfrt_patience_note_ended(tfrt_patience_t* patience);

#endif  // TFRT_DISTRIBUTED_CALL_PATIENCE_H_
