// SPDX-License-Identifier: Apache-2.0
//
// The kernel that each thread is in right now, and its request: for a look at a process that seems
// to stand still. Always on; it costs the executor a store per kernel.
//
//   executor's thread   enter(request) -> mark(site) -> kernel -> mark(next site) -> ... -> leave
//   any other thread    list: addresses for each; meaningless, until
//   who keeps a program tfrt_program_find_site() says that it is one of its kernels
//
// The marks are addresses that nobody but the owners of program and request may follow: these may
// be freed right after they were listed.
//
// Life: a thread is listed from its first mark to its end.
//
// Thread rule: as each function says. Failure rule: a thread that can't be listed is not seen.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_RUNNING_KERNEL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_RUNNING_KERNEL_H_

#include <stdatomic.h>
#include <stddef.h>

#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/program/program.h"

// The record of one thread. Its own; only what is atomic is read by others.
typedef struct tfrt_running_kernel_s {
  _Atomic(const void*) site;     // NULL: it runs no kernel
  _Atomic(const void*) request;  // of the call that it is in
  _Atomic uint64_t calls;        // how often it has begun or gone on with a call
  bool is_listed;
  tfrt_list_link_t link;
  tfrt_thread_exit_hook_t hook;
} tfrt_running_kernel_t;

extern _Thread_local tfrt_running_kernel_t tfrt_running_kernel;

// Lists the calling thread. Thread-safe.
void tfrt_running_kernel_list_thread(void);

// The calling thread is about to run what a program calls |site|, or NULL: nothing any more.
// Thread-safe.
static inline void tfrt_running_kernel_mark(const void* site) {
  if (!TFRT_COUNTERS) return;
  // Relaxed: readers want an address, and nothing that was written before.
  atomic_store_explicit(&tfrt_running_kernel.site, site, memory_order_relaxed);
}

// The kernel that a thread was in before, and goes back to.
typedef struct tfrt_running_kernel_outer_s {
  const void* site;
  const void* request;
} tfrt_running_kernel_outer_t;

// The calling thread begins or goes on with a call of |request|. Returns what it is in, for
// tfrt_running_kernel_leave(); lists the thread if it is new. Thread-safe.
static inline tfrt_running_kernel_outer_t tfrt_running_kernel_enter(const void* request) {
  tfrt_running_kernel_outer_t outer = {NULL, NULL};
  if (!TFRT_COUNTERS) return outer;
  if (TFRT_UNLIKELY(!tfrt_running_kernel.is_listed)) tfrt_running_kernel_list_thread();
  // Relaxed, all: nobody else writes it, and readers want to know whether it changes.
  uint64_t calls = atomic_load_explicit(&tfrt_running_kernel.calls, memory_order_relaxed);
  atomic_store_explicit(&tfrt_running_kernel.calls, calls + 1, memory_order_relaxed);
  outer.site = atomic_load_explicit(&tfrt_running_kernel.site, memory_order_relaxed);
  outer.request = atomic_load_explicit(&tfrt_running_kernel.request, memory_order_relaxed);
  atomic_store_explicit(&tfrt_running_kernel.request, request, memory_order_relaxed);
  return outer;
}

// The calling thread goes back to |outer|. Thread-safe.
static inline void tfrt_running_kernel_leave(tfrt_running_kernel_outer_t outer) {
  if (!TFRT_COUNTERS) return;
  tfrt_running_kernel_mark(outer.site);
  atomic_store_explicit(&tfrt_running_kernel.request, outer.request, memory_order_relaxed);
}

// A thread that is in a kernel. A call runs each of its kernels once: a thread with the same |site|
// and the same |calls| as before has not come out of the kernel since.
typedef struct tfrt_running_kernel_thread_s {
  const void* thread;  // tells it from others that live
  const void* site;
  const void* request;  // what |site| was marked in; of another one while that changes
  uint64_t calls;
} tfrt_running_kernel_thread_t;

// Copies up to |capacity| threads that are in a kernel to |out_threads| and returns how many that
// were. Thread-safe.
size_t tfrt_running_kernel_list(tfrt_running_kernel_thread_t* out_threads, size_t capacity);

// The kernel of |program| that was marked as |site|, or NULL if it is none of it. Follows no
// address but those of |program|. Thread-safe.
const tfrt_kernel_site_t* tfrt_program_find_site(const tfrt_program_t* program, const void* site);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_RUNNING_KERNEL_H_
