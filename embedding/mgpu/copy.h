// SPDX-License-Identifier: Apache-2.0
//
// Copies between addresses of compiled programs. Memory that the program has from the device, or
// has pinned, is copied by the stream. A driver reaches no other memory of the host: that goes
// through pinned memory, piece by piece:
//
//   host to device   host --now--> pinned --in the stream--> device
//   device to host   device --in the stream--> pinned --when the stream has come so far--> host
//
// So a copy to the host's own memory returns when it is done.
//
// Thread rule: thread-safe. Failure rule: as devices/device_stream.h.
#ifndef TFRT_EMBEDDING_MGPU_COPY_H_
#define TFRT_EMBEDDING_MGPU_COPY_H_

#include "embedding/mgpu/session.h"

// The most bytes of pinned memory that a copy uses at once.
#define TFRT_MGPU_COPY_PIECE ((size_t)8 << 20)

// Copies |size| > 0 bytes behind the work of |stream|. Thread-safe.
tfrt_status_t tfrt_mgpu_copy(tfrt_device_stream_t* stream, void* target, void* source, size_t size)
    TFRT_MUST_USE;

// Waits on the host for |chain| (+1, released), and returns the error that it became. Thread-safe.
tfrt_status_t tfrt_mgpu_wait_take(tfrt_async_value_t* chain) TFRT_MUST_USE;

#endif  // TFRT_EMBEDDING_MGPU_COPY_H_
