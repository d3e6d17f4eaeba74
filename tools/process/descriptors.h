// SPDX-License-Identifier: Apache-2.0
//
// The file descriptors of a process, where they are few (`ulimit -n`, containers).
//
// Thread rule: thread-safe. Failure rule: RESOURCE_EXHAUSTED with the limit and the fix.
#ifndef TFRT_TOOLS_PROCESS_DESCRIPTORS_H_
#define TFRT_TOOLS_PROCESS_DESCRIPTORS_H_

#include "host_runtime/base/status.h"

// Checks that the system gives what an event loop, signals and the first file need. libuv ends the
// process without a word where it gets none, so this comes before it is first called. Thread-safe.
tfrt_status_t tfrt_descriptors_check(void) TFRT_MUST_USE;

// The most descriptors that this process may have. Thread-safe.
unsigned long long tfrt_descriptors_limit(void);

#endif  // TFRT_TOOLS_PROCESS_DESCRIPTORS_H_
