// SPDX-License-Identifier: Apache-2.0
//
// The ending of a noun that a message counts, so that "1 host" reads as well as "2 hosts":
//
//   tfrt_status_create(code, "the job has %u host%s", count, tfrt_plural(count));
//
// Thread rule: thread-safe. Failure rule: it doesn't fail.
#ifndef TFRT_HOST_RUNTIME_BASE_PLURAL_H_
#define TFRT_HOST_RUNTIME_BASE_PLURAL_H_

#include <stdint.h>

// Returns "" for one and "s" for any other |count|, none included; static. Thread-safe.
static inline const char* tfrt_plural(uint64_t count) { return count == 1 ? "" : "s"; }

#endif  // TFRT_HOST_RUNTIME_BASE_PLURAL_H_
