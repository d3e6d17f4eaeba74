// SPDX-License-Identifier: Apache-2.0
//
// Threads and what they wait with: the only door to the system's threads. Hot paths
// use atomics; these are for the edges: a queue's idle threads, tables, shutdown.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: mutexes and conditions don't fail (misuse aborts); making a thread
// may, with RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_BASE_SYNC_H_
#define TFRT_HOST_RUNTIME_BASE_SYNC_H_

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

// Storage big enough for the system's own types; checked where these are known.
typedef struct tfrt_mutex_s {
  alignas(8) unsigned char storage[40];
} tfrt_mutex_t;
typedef struct tfrt_condition_s {
  alignas(8) unsigned char storage[48];
} tfrt_condition_t;
typedef struct tfrt_thread_s {
  alignas(8) unsigned char storage[8];
} tfrt_thread_t;
typedef struct tfrt_once_s {
  int storage;
} tfrt_once_t;
#define TFRT_ONCE_INITIALIZER \
  { 0 }
// For a mutex with static storage, which needs no initialisation.
#define TFRT_MUTEX_INITIALIZER \
  {                            \
    { 0 }                      \
  }

// Makes |mutex| an unlocked one; not recursive. Thread-compatible.
void tfrt_mutex_initialize(tfrt_mutex_t* mutex);
// The same for one that is held for less time than it takes to put a thread to sleep and wake it:
// who finds it locked looks again for a while before it sleeps. Thread-compatible.
void tfrt_mutex_initialize_spinning(tfrt_mutex_t* mutex);
// Gives back |mutex|, which nobody holds. Thread-compatible.
void tfrt_mutex_deinitialize(tfrt_mutex_t* mutex);
// Locks and unlocks. Thread-safe.
void tfrt_mutex_lock(tfrt_mutex_t* mutex);
void tfrt_mutex_unlock(tfrt_mutex_t* mutex);

// Makes |condition| one that nobody waits for; its clock is the monotonic one.
// Thread-compatible.
void tfrt_condition_initialize(tfrt_condition_t* condition);
// Gives back |condition|, for which nobody waits. Thread-compatible.
void tfrt_condition_deinitialize(tfrt_condition_t* condition);
// Waits, with |mutex| held, until somebody signals; may wake for nothing. Thread-safe.
void tfrt_condition_wait(tfrt_condition_t* condition, tfrt_mutex_t* mutex);
// The same until |deadline_ns| of the monotonic clock at most; false if that has
// passed. Thread-safe.
bool tfrt_condition_wait_until(tfrt_condition_t* condition, tfrt_mutex_t* mutex,
                               int64_t deadline_ns);
// Wakes one, or all, who wait. Thread-safe.
void tfrt_condition_signal(tfrt_condition_t* condition);
void tfrt_condition_broadcast(tfrt_condition_t* condition);

typedef void (*tfrt_thread_fn_t)(void* argument);

// Starts a thread named |name| (cut to 15 bytes) that calls |run| with |argument|;
// signals of the process are blocked in it. It must be joined. Thread-safe.
tfrt_status_t tfrt_thread_create(const char* name, tfrt_thread_fn_t run, void* argument,
                                 tfrt_thread_t* out_thread) TFRT_MUST_USE;
// Returns when |thread| has ended. Thread-safe, once per thread.
void tfrt_thread_join(tfrt_thread_t* thread);
// Binds the calling thread to the |index|-th of the processors that the process may use,
// counted round and round. False if the system refuses; then nothing has changed. Threads
// that it starts are not bound. Thread-safe.
bool tfrt_thread_pin(int index);
// Lets other threads run. Thread-safe.
void tfrt_thread_yield(void);
// Lets the calling thread's waits with a deadline end at it, as far as the system can; else it may
// add 50 us to each, to wake several threads at once. Thread-safe.
void tfrt_thread_wake_in_time(void);

// Work of a thread at its end; in storage that lives that long, such as the thread's own. Runs also
// when the thread was not made here, but not when the process ends.
typedef struct tfrt_thread_exit_hook_s {
  struct tfrt_thread_exit_hook_s* next;  // belongs to the thread
  void (*run)(struct tfrt_thread_exit_hook_s* hook);
} tfrt_thread_exit_hook_t;

// Lets |hook|, which is not waiting already, run once when the calling thread ends, the last
// one first. A hook may add hooks. Returns false if the system can't do it. Thread-safe.
bool tfrt_thread_at_exit(tfrt_thread_exit_hook_t* hook) TFRT_MUST_USE;

// Calls |run| unless some thread has called it for |once| before; returns when that
// call has returned. Thread-safe.
void tfrt_once_run(tfrt_once_t* once, void (*run)(void));

// The number of processors that the process may use; at least 1. Thread-safe.
int tfrt_processor_count(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_SYNC_H_
