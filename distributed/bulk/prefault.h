// SPDX-License-Identifier: Apache-2.0
//
// Memory that is about to be written. The first touch of a page costs the system clearing it, many
// times what copying into it costs where the machine is a virtual one; whoever must not be kept
// waits for that elsewhere.
//
// Thread rule: thread-safe. Failure rule: none fails; a system that can't do it leaves it to the
// first touch.
#ifndef TFRT_DISTRIBUTED_BULK_PREFAULT_H_
#define TFRT_DISTRIBUTED_BULK_PREFAULT_H_

#include <stddef.h>

// Has the system give the whole pages of the |size| bytes at |begin| before it returns. What is in
// them stays, and other threads may read and write it meanwhile. Thread-safe.
void tfrt_prefault(void* begin, size_t size);

#endif  // TFRT_DISTRIBUTED_BULK_PREFAULT_H_
