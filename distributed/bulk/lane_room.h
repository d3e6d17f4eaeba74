// SPDX-License-Identifier: Apache-2.0
//
// Memory for a large payload, made ready ahead of its bytes. The first touch of a page can take
// longer than all other work on its bytes. The thread that copies also reads for the whole process,
// so calls would wait behind it. So another thread touches the pages, and the owner is granted no
// byte whose page is not there.
//
//   body   [ received | granted | ready ....... | not there ]
//                               `-- at most TFRT_LANE_ROOM_WINDOWS windows before the received
//
// The first window needs no room: its bytes were granted before there was a buffer.
//
// Life: begins with a grant to a transfer that is large enough; ends when all is ready or the
// transfer is over. While the thread works, the transfer's buffer stays.
//
// Thread rule: thread-compatible under the node's lock.
// Failure rule: without a thread that makes memory ready, all memory counts as ready.
#ifndef TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_
#define TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_

#include "distributed/bulk/lane_impl.h"

// Windows that are made ready ahead of what was received; a step of it is half a window.
#define TFRT_LANE_ROOM_WINDOWS 16

// Returns the offset up to which bytes of |incoming| may be granted, when |stored| bytes are
// stored; UINT64_MAX when no byte waits for room. Begins to make more memory ready, if it is time.
uint64_t tfrt_lane_room_reserve(tfrt_lane_incoming_t* incoming, uint64_t stored);

#endif  // TFRT_DISTRIBUTED_BULK_LANE_ROOM_H_
