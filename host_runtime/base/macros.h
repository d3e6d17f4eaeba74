// SPDX-License-Identifier: Apache-2.0
//
// The few macros of the project. None of them hides control flow, but for
// TFRT_RETURN_IF_ERROR, whose name says what it does.
#ifndef TFRT_HOST_RUNTIME_BASE_MACROS_H_
#define TFRT_HOST_RUNTIME_BASE_MACROS_H_

#include <stddef.h>

// The result of the function must be looked at.
#define TFRT_MUST_USE __attribute__((warn_unused_result))

// The function takes a printf format at argument |format_index| and its values
// from argument |first_index| on.
#define TFRT_PRINTF(format_index, first_index) \
  __attribute__((format(printf, format_index, first_index)))

// The symbol is part of the public interface of a shared library.
#define TFRT_EXPORT __attribute__((visibility("default")))

// Around the declarations of a public header: they are C's, also for C++, and their symbols are
// part of the public interface of libtfrt. Everything else is hidden in it.
#ifdef __cplusplus
#define TFRT_API_BEGIN \
  extern "C" {         \
  _Pragma("GCC visibility push(default)")
#define TFRT_API_END            \
  _Pragma("GCC visibility pop") \
  }
#else
#define TFRT_API_BEGIN _Pragma("GCC visibility push(default)")
#define TFRT_API_END _Pragma("GCC visibility pop")
#endif

// The object of type |type| whose member |member| lies at |pointer|.
#define TFRT_CONTAINER_OF(pointer, type, member) \
  ((type*)(void*)((char*)(pointer)-offsetof(type, member)))

// The number of elements of an array (not of a pointer).
#define TFRT_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

// The function is called seldom, and from a hot path, which stays short without it.
#define TFRT_COLD __attribute__((cold, noinline))

// The same for one that isn't called seldom enough to be made small instead of fast.
#define TFRT_NO_INLINE __attribute__((noinline))

// The function becomes part of each caller: what it is given there, as the length of a literal, is
// known when the program is compiled.
#define TFRT_ALWAYS_INLINE static inline __attribute__((always_inline))

// 0 in builds that measure what it costs to note always which kernel runs, and to count calls and
// frames (tests/bench/counters.py); nothing that reads these works there.
#ifndef TFRT_COUNTERS
#define TFRT_COUNTERS 1
#endif

// Branch hints for hot paths whose profile is known.
#define TFRT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TFRT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif  // TFRT_HOST_RUNTIME_BASE_MACROS_H_
