// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/failing_malloc.h"

#include <stdbool.h>
#include <stddef.h>

static _Thread_local bool is_armed;
static _Thread_local int64_t remaining_successes;
static _Thread_local int64_t failure_count;

// The names that the linker gives to the two sides of a wrapped symbol.
void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);

void* __wrap_malloc(size_t size) {
  if (is_armed && remaining_successes-- <= 0) {
    ++failure_count;
    return NULL;
  }
  return __real_malloc(size);
}

void tfrt_failing_malloc_arm(int64_t successes) {
  remaining_successes = successes;
  failure_count = 0;
  is_armed = true;
}

int64_t tfrt_failing_malloc_disarm(void) {
  is_armed = false;
  return failure_count;
}
