// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/async_value_misuse.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_runtime/async/async_value.h"

static _Atomic(tfrt_async_value_place_fn_t) describe_place;

void tfrt_async_value_misuse_set_place(tfrt_async_value_place_fn_t describe) {
  // Release: what |describe| reads; pairs with the load below.
  atomic_store_explicit(&describe_place, describe, memory_order_release);
}

// The mistake, and the rule, by tfrt_async_value_misuse_t.
static const struct {
  const char* mistake;
  const char* rule;
} texts[] = {
    [TFRT_ASYNC_VALUE_RELEASED_TOO_OFTEN] = {"more references were released than were taken",
                                             "a kernel retains an argument that it returns or "
                                             "keeps, and releases only what it retained"},
    [TFRT_ASYNC_VALUE_RETURNED_UNRETAINED] =
        {"a kernel returned its argument without a reference for the result",
         "a kernel retains an argument that it returns (tfrt_async_value_retain())"},
    [TFRT_ASYNC_VALUE_USED_AFTER_END] = {"it was used after its last reference was released",
                                         "a kernel retains an argument that it returns or keeps, "
                                         "and releases only what it retained"},
    [TFRT_ASYNC_VALUE_RESOLVED_TWICE] = {"it was resolved twice",
                                         "only the producer resolves a value, once"},
    [TFRT_ASYNC_VALUE_READ_UNRESOLVED] =
        {"its payload was read before it was available",
         "wait with tfrt_async_value_and_then() before reading a payload"},
    [TFRT_ASYNC_VALUE_READ_ERROR] = {"its payload was read, but it is an error",
                                     "ask tfrt_async_value_is_error() before reading a payload"},
    [TFRT_ASYNC_VALUE_READ_INDIRECT] =
        {"its payload was read, but it forwards to another value",
         "take tfrt_async_value_resolved() before reading a payload, or tfrt_async_value_get()"},
    [TFRT_ASYNC_VALUE_FORWARDED_IN_A_CIRCLE] =
        {"it was forwarded to a value that forwards to it",
         "a target must not depend on the value that forwards to it"},
    [TFRT_ASYNC_VALUE_RELEASED_WITH_WAITER] =
        {"its last reference was released while a task waited for it",
         "keep a reference until the task that waits has run"},
};

void tfrt_async_value_abort_misuse(const tfrt_async_value_t* value,
                                   tfrt_async_value_misuse_t misuse) {
  char place[512] = "";
  // Acquire: pairs with the store above.
  tfrt_async_value_place_fn_t describe =
      atomic_load_explicit(&describe_place, memory_order_acquire);
  if (describe) describe(place, sizeof(place));
  // A freed value keeps its type, until its storage goes back to the system.
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  fprintf(stderr, "tfrt: mistake with an AsyncValue (%s at %p): %s%s%s; %s\n",
          type && type->name ? type->name : "of no type", (const void*)value, texts[misuse].mistake,
          place[0] ? ", found in " : "", place, texts[misuse].rule);
  abort();
}

static uint32_t count_of(tfrt_async_value_t* value) {
  if (tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_IMMORTAL) return UINT32_MAX;
  return atomic_load_explicit(&value->count, memory_order_relaxed);
}

static void require_one(tfrt_async_value_t* value) {
  if (count_of(value) == 0) {
    tfrt_async_value_abort_misuse(value, TFRT_ASYNC_VALUE_RELEASED_TOO_OFTEN);
  }
}

void tfrt_async_value_require_kept(tfrt_async_value_t* const* borrowed, uint32_t count,
                                   tfrt_async_value_t* const* results, uint32_t result_count) {
  for (uint32_t i = 0; i < result_count; ++i) {
    if (results[i]) require_one(results[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    require_one(borrowed[i]);
    if (count_of(borrowed[i]) > 1) continue;
    for (uint32_t j = 0; j < result_count; ++j) {
      if (results[j] != borrowed[i]) continue;
      tfrt_async_value_abort_misuse(borrowed[i], TFRT_ASYNC_VALUE_RETURNED_UNRETAINED);
    }
  }
}
