// SPDX-License-Identifier: Apache-2.0
//
// The processors that a thread may run on. Threads and processes that a thread starts may run where
// it may; so a process gets the set that its starting thread is bound to.
//
// Thread rule: each function says its own.
// Failure rule: where the system does not tell, or refuses, a set is empty, or nothing changes.
#ifndef TFRT_HOST_RUNTIME_BASE_PROCESSOR_SET_H_
#define TFRT_HOST_RUNTIME_BASE_PROCESSOR_SET_H_

#include <stdbool.h>
#include <stdint.h>

// Processors are numbered by the system; a machine with more of them has sets that are empty.
#define TFRT_PROCESSOR_SET_MAX 1024

typedef struct tfrt_processor_set_s {
  uint64_t bits[TFRT_PROCESSOR_SET_MAX / 64];  // processor i is bit i % 64 of word i / 64
} tfrt_processor_set_t;

// The processors that the calling thread may run on; none if the system does not tell.
// Thread-safe.
tfrt_processor_set_t tfrt_processor_set_of_thread(void);

// How many processors |set| has. Thread-compatible.
int tfrt_processor_set_count(const tfrt_processor_set_t* set);

// The |index|-th of |count| shares of |set|, counted round and round: neighbours, one more or less
// than in the others; with more shares than processors one each, in turn. |count| is at least 1.
// Thread-compatible.
tfrt_processor_set_t tfrt_processor_set_share(const tfrt_processor_set_t* set, uint32_t index,
                                              uint32_t count);

// Lets the calling thread run on the processors of |set| alone. False if the system refuses, as it
// does if there are none; then nothing has changed. Thread-safe.
bool tfrt_processor_set_bind(const tfrt_processor_set_t* set);

#endif  // TFRT_HOST_RUNTIME_BASE_PROCESSOR_SET_H_
