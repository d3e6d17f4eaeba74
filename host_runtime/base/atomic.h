// SPDX-License-Identifier: Apache-2.0
//
// The atomics of C11 under names that C++ knows, too, so that a header with an atomic field can
// be included from both. TFRT_ATOMIC(T) is `_Atomic(T)` in C and `std::atomic<T>` in C++, which
// have one layout with the compilers that are supported. Only what the public headers' inline
// functions use is there; sources in C include <stdatomic.h>.
//
// Thread rule: see <stdatomic.h>. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_ATOMIC_H_
#define TFRT_HOST_RUNTIME_BASE_ATOMIC_H_

#ifdef __cplusplus
#include <atomic>
#include <cstdint>
#define TFRT_ATOMIC(T) std::atomic<T>
using std::atomic_compare_exchange_weak_explicit;
using std::atomic_fetch_add_explicit;
using std::atomic_fetch_sub_explicit;
using std::atomic_load_explicit;
using std::atomic_store_explicit;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
#else
#include <stdatomic.h>
#define TFRT_ATOMIC(T) _Atomic(T)
#endif

#endif  // TFRT_HOST_RUNTIME_BASE_ATOMIC_H_
