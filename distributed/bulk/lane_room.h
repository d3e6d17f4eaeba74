// SPDX-License-Identifier: Apache-2.0
//
// Memory for a large payload, made ready ahead of its bytes. The first touch of a page can take
// longer than all else that is done with what goes there, and the thread that copies reads for
// the whole process: calls would wait behind it. So another thread touches the pages, and the
// owner is granted no byte whose page is not there.
//
//   body   [ received | granted | ready ....... | not there ]
//                               `-- at most TFRT_LANE_ROOM_WINDOWS windows before the received
//
// The first window is not waited for: its bytes were granted before there was a buffer.
//
// Life: begins with a grant to a transfer that is large enough; ends when all is ready or the
// transfer is over. While the thread is at it, the transfer's buffer stays.
//
// Thread rule: thread-compatible under the node's lock.
// Failure rule: none fails; without a thread that can do it all counts as ready.
#ifndef TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_
#define TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_

#include "distributed/bulk/lane_impl.h"

// Windows that are made ready ahead of what was received; a step of it is half a window.
#define TFRT_LANE_ROOM_WINDOWS 16

// The offset up to which bytes of |incoming| may be granted, |stored| of which are there;
// UINT64_MAX when none waits for room. Begins to make more ready, if it is time.
uint64_t tfrt_lane_room_reserve(tfrt_lane_incoming_t* incoming, uint64_t stored);

#endif  // TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_
