// SPDX-License-Identifier: Apache-2.0
//
// Memory that is about to be written. At the first touch of a page the system clears it. On a
// virtual machine that costs many times more than copying into the page, so a thread that must not
// be delayed has another one touch its pages first.
//
// Thread rule: thread-safe. Failure rule: if the system can't do it, the first touch does.
#ifndef TFRT_DISTRIBUTED_BULK_PREFAULT_H_
#define TFRT_DISTRIBUTED_BULK_PREFAULT_H_

#include <stddef.h>

// Has the system provide all whole pages of the |size| bytes at |begin| before it returns. The
// contents stay, and other threads may read and write them meanwhile. Thread-safe.
void tfrt_prefault(void* begin, size_t size);

#endif  // TFRT_DISTRIBUTED_BULK_PREFAULT_H_
