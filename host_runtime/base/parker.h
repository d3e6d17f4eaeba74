// SPDX-License-Identifier: Apache-2.0
//
// A place where one thread sleeps until another one wakes it. Less than a condition with its mutex:
// waking is one exchange and, if somebody sleeps, one system call; who is woken takes no lock, and
// need not wait for the one who woke it to give one back.
//
//   EMPTY -- wait --> PARKED -- wake --> NOTIFIED -- wait returns --> EMPTY
//     \------------- wake ----------------^
//   EMPTY <-- the time is over -- PARKED
//
// Life:
//  1. Zeroed, it is EMPTY. One thread, its owner, waits; any other one wakes.
//  2. A wake before the wait is not lost: the wait returns at once. Two are one.
//  3. The owner may give the storage back as soon as a wait has returned and nobody will wake
//  again,
//     also while the waking thread is still in the system call: that only names the address, and
//     whoever sleeps on it by then, for another reason, sees for himself whether that holds.
//
// Thread rule: wait by the owner, wake by anybody. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_PARKER_H_
#define TFRT_HOST_RUNTIME_BASE_PARKER_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

typedef struct tfrt_parker_s {
  _Atomic uint32_t state;
} tfrt_parker_t;

// Returns when there was a wake since the last wait. The woken thread sees all that the waking
// thread did before. Owner only.
void tfrt_parker_wait(tfrt_parker_t* parker);

// The same, but returns false if no wake came within |timeout_ns|. Owner only.
bool tfrt_parker_wait_for(tfrt_parker_t* parker, int64_t timeout_ns) TFRT_MUST_USE;

// Lets a wait return, this one or the next. Thread-safe.
void tfrt_parker_wake(tfrt_parker_t* parker);

// Lets other threads run, as somebody who is about to wait may do before he looks once more:
// sleeping and being woken takes longer. Returns false if the caller should not look again: this
// call took long, since other threads want the processor, or an earlier call did. Later calls make
// up for that time: they let no thread run and return false at once. Thread-safe.
bool tfrt_parker_linger(void);

#endif  // TFRT_HOST_RUNTIME_BASE_PARKER_H_
