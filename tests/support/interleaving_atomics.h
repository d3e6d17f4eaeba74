// SPDX-License-Identifier: Apache-2.0
//
// Makes each atomic operation of what is compiled behind it a point of interleaving.h. The
// threads there are coroutines of one thread, so plain accesses will do; each is made whole,
// which is sequential consistency, whatever order the operation asks for.
//
//   #include "tests/support/interleaving_atomics.h"
//   #include "host_runtime/async/async_value.c"  // the code under test
//
// Thread rule: none. Failure rule: none fails.
#ifndef TFRT_TESTS_SUPPORT_INTERLEAVING_ATOMICS_H_
#define TFRT_TESTS_SUPPORT_INTERLEAVING_ATOMICS_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "tests/support/interleaving.h"

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit

// The type of the value in |object|, without _Atomic.
#define INTERLEAVING_VALUE(object) __typeof__(((void)0, *(object)))

// Replaces the value |old| in |object| by |new_value|, and is |old|.
#define INTERLEAVING_REPLACE(object, old, new_value)     \
  __extension__({                                        \
    interleaving_point(object);                          \
    INTERLEAVING_VALUE(object) old = *(object);          \
    *(object) = (INTERLEAVING_VALUE(object))(new_value); \
    old;                                                 \
  })

#define atomic_load_explicit(object, order) (interleaving_point(object), (void)(order), *(object))
#define atomic_store_explicit(object, value, order) \
  ((void)INTERLEAVING_REPLACE(object, interleaving_old, value), (void)(order))
#define atomic_exchange_explicit(object, value, order) \
  INTERLEAVING_REPLACE(object, interleaving_old, value)
#define atomic_fetch_add_explicit(object, value, order) \
  INTERLEAVING_REPLACE(object, interleaving_old, interleaving_old + (value))
#define atomic_fetch_sub_explicit(object, value, order) \
  INTERLEAVING_REPLACE(object, interleaving_old, interleaving_old - (value))
#define atomic_fetch_or_explicit(object, value, order) \
  INTERLEAVING_REPLACE(object, interleaving_old, interleaving_old | (value))
#define atomic_fetch_and_explicit(object, value, order) \
  INTERLEAVING_REPLACE(object, interleaving_old, interleaving_old&(value))
#define atomic_compare_exchange_strong_explicit(object, expected, desired, success, failure) \
  __extension__({                                                                            \
    interleaving_point(object);                                                              \
    INTERLEAVING_VALUE(object) interleaving_seen = *(object);                                \
    bool interleaving_equal = interleaving_seen == *(expected);                              \
    if (interleaving_equal) {                                                                \
      *(object) = (desired);                                                                 \
    } else {                                                                                 \
      *(expected) = interleaving_seen;                                                       \
    }                                                                                        \
    interleaving_equal;                                                                      \
  })
// A weak exchange may fail for no reason; its loop then tries again, which shows nothing new.
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit

#endif  // TFRT_TESTS_SUPPORT_INTERLEAVING_ATOMICS_H_
