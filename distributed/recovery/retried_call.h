// SPDX-License-Identifier: Apache-2.0
//
// A call that runs again elsewhere when a host is lost: it has `retries`, and is pure, or surely
// has not run. Each run is an outgoing call of its own, with a number of its own; the results stay
// the same remote values, which get another name.
//
//   run on host 2 --result lost--> run on host 3 --result lost--> ... no retries left: error
//        |                              |
//        '------- all results here, or not used any more, or the frame that made it over: closed
//
// The next run is on the next living host by rank, round to the own host, where the call is a plain
// one. It takes the same arguments, which are kept for it. An argument that was lost with the host
// may be the result of such a call itself: then that call runs again at the same time.
//
// Life:
//  1. Started once; each result that it names is *adopted*.
//  2. A result is *forgotten* when it is resolved here, or nobody uses it. The last one closes the
//     call.
//  3. A result is *lost* when the host dies that has it. If the frame that made the call still
//     runs, the call runs again, once the lock is open; the scope of that frame is entered
//     meanwhile, so it stays so. The callee of a pure call may report the loss of another host, as
//     an error from calls further down: that is a loss, too. The run also makes results that are
//     not lost yet. Those are kept until they are resolved: lost later, they need no run of their
//     own.
//  4. Closed with that frame, too: a user that gets its results afterwards has to call again.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory the call is started once, and not again.
#ifndef TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_
#define TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_

#include "distributed/call/outgoing_call.h"
#include "distributed/domain/node_part.h"

// Has calls end with their owners.
extern const tfrt_node_part_t tfrt_retried_call_part;

#endif  // TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_
