// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of two sorts, which must not be mixed up:
//  - tfrt_random_t is *deterministic*: the same seed gives the same numbers on every
//    machine, for ever. Tests, the simulated network and jitter use it. Whoever sees
//    some of its numbers can guess the rest.
//  - tfrt_random_entropy() is *secret*: bytes from the system that nobody can guess.
//    Incarnation numbers, keys and nonces come from there.
//
// Life of a generator:
//  1. Initialised with a seed, in the owner's storage.
//  2. Asked for numbers. It holds nothing to give back.
//
// Thread rule: a generator is thread-compatible; tfrt_random_entropy() is
// thread-safe.
// Failure rule: none fails. A system without any source of entropy ends the process,
// because going on with guessable secrets would be worse.
#ifndef TFRT_HOST_RUNTIME_BASE_RANDOM_H_
#define TFRT_HOST_RUNTIME_BASE_RANDOM_H_

#include <stddef.h>
#include <stdint.h>

// The state of xoshiro256**, a generator with the period 2^256 - 1.
typedef struct tfrt_random_s {
  uint64_t state[4];  // never all zero
} tfrt_random_t;

// Starts |random| at |seed|; any seed is good, also 0. Thread-compatible.
void tfrt_random_initialize(tfrt_random_t* random, uint64_t seed);

// The next number, any of 0 to 2^64 - 1, equally likely. Thread-compatible.
uint64_t tfrt_random_next(tfrt_random_t* random);

// The next number below |limit|, which must not be 0; all are equally likely.
// Thread-compatible.
uint64_t tfrt_random_below(tfrt_random_t* random, uint64_t limit);

// The next number of [0, 1), a multiple of 2^-53. Thread-compatible.
double tfrt_random_unit(tfrt_random_t* random);

// Fills |size| bytes at |out_bytes| with bytes that nobody can guess; may wait, early
// after the machine's start. Thread-safe.
void tfrt_random_entropy(void* out_bytes, size_t size);

#endif  // TFRT_HOST_RUNTIME_BASE_RANDOM_H_
