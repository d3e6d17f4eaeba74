// SPDX-License-Identifier: Apache-2.0
//
// A clock that stands still until a test moves it.
//
// Life:
//  1. Initialised with the time that it shows first.
//  2. Handed around as a tfrt_clock_t; moved by the test.
//
// Thread rule: thread-safe after initialisation. Failure rule: none fails.
#ifndef TFRT_TESTS_FAKES_FAKE_CLOCK_H_
#define TFRT_TESTS_FAKES_FAKE_CLOCK_H_

#include <stdatomic.h>
#include <stdint.h>

#include "host_runtime/base/clock.h"

typedef struct tfrt_fake_clock_s {
  _Atomic int64_t now_ns;
} tfrt_fake_clock_t;

// Makes |clock| show |now_ns|. Thread-compatible.
void tfrt_fake_clock_initialize(tfrt_fake_clock_t* clock, int64_t now_ns);

// The interface to |clock|, which must outlive its users. Thread-safe.
tfrt_clock_t tfrt_fake_clock_interface(tfrt_fake_clock_t* clock);

// Moves |clock| on by |duration_ns|, which is not negative. Thread-safe.
void tfrt_fake_clock_advance(tfrt_fake_clock_t* clock, int64_t duration_ns);

// Moves |clock| on to |now_ns|; a time that has passed changes nothing. Thread-safe.
void tfrt_fake_clock_advance_to(tfrt_fake_clock_t* clock, int64_t now_ns);

#endif  // TFRT_TESTS_FAKES_FAKE_CLOCK_H_
