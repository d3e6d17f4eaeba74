// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/sync.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/processor_set.h"

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(tfrt_mutex_t), "a mutex fits");
_Static_assert(_Alignof(pthread_mutex_t) <= _Alignof(tfrt_mutex_t), "a mutex is aligned");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(tfrt_condition_t), "a condition fits");
_Static_assert(_Alignof(pthread_cond_t) <= _Alignof(tfrt_condition_t), "a condition is aligned");
_Static_assert(sizeof(pthread_t) <= sizeof(tfrt_thread_t), "a thread fits");
_Static_assert(sizeof(pthread_once_t) == sizeof(tfrt_once_t), "a once fits");
_Static_assert(PTHREAD_ONCE_INIT == 0, "a zeroed once is one that has not run");

// These calls only fail when their caller is wrong (a lock that is not held, storage
// that is no mutex): there is nothing to go on with.
static void check(int error, const char* what) {
  if (TFRT_LIKELY(error == 0)) return;
  fprintf(stderr, "tfrt: %s: %s\n", what, strerror(error));
  abort();
}

static pthread_mutex_t* system_mutex(tfrt_mutex_t* mutex) { return (void*)mutex->storage; }
static pthread_cond_t* system_condition(tfrt_condition_t* condition) {
  return (void*)condition->storage;
}

void tfrt_mutex_initialize(tfrt_mutex_t* mutex) {
  check(pthread_mutex_init(system_mutex(mutex), NULL), "mutex init");
}

void tfrt_mutex_initialize_spinning(tfrt_mutex_t* mutex) {
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
  pthread_mutexattr_t attributes;
  check(pthread_mutexattr_init(&attributes), "mutex attributes");
  check(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP), "mutex type");
  check(pthread_mutex_init(system_mutex(mutex), &attributes), "mutex init");
  check(pthread_mutexattr_destroy(&attributes), "mutex attributes");
#else
  tfrt_mutex_initialize(mutex);
#endif
}

void tfrt_mutex_deinitialize(tfrt_mutex_t* mutex) {
  check(pthread_mutex_destroy(system_mutex(mutex)), "mutex destroy");
}

void tfrt_mutex_lock(tfrt_mutex_t* mutex) {
  check(pthread_mutex_lock(system_mutex(mutex)), "mutex lock");
}

void tfrt_mutex_unlock(tfrt_mutex_t* mutex) {
  check(pthread_mutex_unlock(system_mutex(mutex)), "mutex unlock");
}

void tfrt_condition_initialize(tfrt_condition_t* condition) {
  pthread_condattr_t attributes;
  check(pthread_condattr_init(&attributes), "condition attributes");
  check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), "condition clock");
  check(pthread_cond_init(system_condition(condition), &attributes), "condition init");
  check(pthread_condattr_destroy(&attributes), "condition attributes");
}

void tfrt_condition_deinitialize(tfrt_condition_t* condition) {
  check(pthread_cond_destroy(system_condition(condition)), "condition destroy");
}

void tfrt_condition_wait(tfrt_condition_t* condition, tfrt_mutex_t* mutex) {
  check(pthread_cond_wait(system_condition(condition), system_mutex(mutex)), "condition wait");
}

bool tfrt_condition_wait_until(tfrt_condition_t* condition, tfrt_mutex_t* mutex,
                               int64_t deadline_ns) {
  if (deadline_ns < 0) deadline_ns = 0;
  struct timespec deadline = {
      .tv_sec = (time_t)(deadline_ns / 1000000000),
      .tv_nsec = (long)(deadline_ns % 1000000000),
  };
  int error = pthread_cond_timedwait(system_condition(condition), system_mutex(mutex), &deadline);
  if (error == ETIMEDOUT) return false;
  check(error, "condition wait");
  return true;
}

void tfrt_condition_signal(tfrt_condition_t* condition) {
  check(pthread_cond_signal(system_condition(condition)), "condition signal");
}

void tfrt_condition_broadcast(tfrt_condition_t* condition) {
  check(pthread_cond_broadcast(system_condition(condition)), "condition broadcast");
}

// The arguments of a new thread, which frees them.
typedef struct thread_start_s {
  char name[16];
  tfrt_thread_fn_t run;
  void* argument;
} thread_start_t;

// The processors of the process, from before any thread was bound to one of them.
static struct {
  tfrt_once_t once;
  _Atomic bool is_known;  // something was pinned: new threads have to be freed
  tfrt_processor_set_t set;
} processors = {.once = TFRT_ONCE_INITIALIZER};

static void remember_processors(void) {
  processors.set = tfrt_processor_set_of_thread();
  // Release: the set; pairs with the acquire in unpin_new_thread().
  atomic_store_explicit(&processors.is_known, true, memory_order_release);
}

// A thread starts on the processors of the one that made it.
static void unpin_new_thread(void) {
  // Acquire: pairs with the release in remember_processors().
  if (!atomic_load_explicit(&processors.is_known, memory_order_acquire)) return;
  // If it fails the thread works as well, on fewer processors.
  (void)tfrt_processor_set_bind(&processors.set);
}

bool tfrt_thread_pin(int index) {
  tfrt_once_run(&processors.once, remember_processors);
  const int count = tfrt_processor_set_count(&processors.set);
  if (count == 0) return false;
  const tfrt_processor_set_t one =
      tfrt_processor_set_share(&processors.set, (uint32_t)index, (uint32_t)count);
  return tfrt_processor_set_bind(&one);
}

static void* run_thread(void* argument) {
  thread_start_t start = *(thread_start_t*)argument;
  tfrt_allocator_free(tfrt_allocator_system(), argument, sizeof start);
  // A name helps in a debugger; a thread without one works as well.
  (void)pthread_setname_np(pthread_self(), start.name);
  unpin_new_thread();
  start.run(start.argument);
  return NULL;
}

// The signals that the process is sent: all but those that a thread's own mistake
// raises, which have to be delivered where that happens, and a profiler's.
static void fill_blocked_signals(sigset_t* set) {
  static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF};
  sigfillset(set);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(own_signals); ++i) sigdelset(set, own_signals[i]);
}

tfrt_status_t tfrt_thread_create(const char* name, tfrt_thread_fn_t run, void* argument,
                                 tfrt_thread_t* out_thread) {
  *out_thread = (tfrt_thread_t){{0}};
  thread_start_t* start = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof *start);
  if (!start) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "can't start thread '%s': memory is out", name);
  }
  *start = (thread_start_t){.run = run, .argument = argument};
  strncpy(start->name, name, sizeof start->name - 1);
  // A thread inherits the mask of its creator: set before, so that there is no moment
  // at which a signal could be delivered in the new thread.
  sigset_t blocked;
  sigset_t previous;
  fill_blocked_signals(&blocked);
  check(pthread_sigmask(SIG_BLOCK, &blocked, &previous), "signal mask");
  int error = pthread_create((pthread_t*)(void*)out_thread->storage, NULL, run_thread, start);
  check(pthread_sigmask(SIG_SETMASK, &previous, NULL), "signal mask");
  if (error == 0) return NULL;
  tfrt_allocator_free(tfrt_allocator_system(), start, sizeof *start);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "can't start thread '%s': %s; raise the limits of processes and of "
                            "memory (ulimit -u, ulimit -v)",
                            name, strerrordesc_np(error));
}

void tfrt_thread_join(tfrt_thread_t* thread) {
  pthread_t system_thread;
  memcpy(&system_thread, thread->storage, sizeof system_thread);
  check(pthread_join(system_thread, NULL), "thread join");
}

void tfrt_thread_yield(void) { sched_yield(); }

// 1 ns is the least: 0 stands for the default.
void tfrt_thread_wake_in_time(void) { prctl(PR_SET_TIMERSLACK, 1UL); }

// The hooks of a thread are a list that this key leads to.
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_exit_key;

static void run_exit_hooks(void* hooks) {
  tfrt_thread_exit_hook_t* hook = hooks;
  while (hook) {
    tfrt_thread_exit_hook_t* next = hook->next;
    hook->run(hook);
    hook = next;
  }
}

static void create_exit_key(void) {
  has_exit_key = pthread_key_create(&exit_key, run_exit_hooks) == 0;
}

bool tfrt_thread_at_exit(tfrt_thread_exit_hook_t* hook) {
  check(pthread_once(&exit_once, create_exit_key), "once");
  if (!has_exit_key) return false;
  hook->next = pthread_getspecific(exit_key);
  return pthread_setspecific(exit_key, hook) == 0;
}

void tfrt_once_run(tfrt_once_t* once, void (*run)(void)) {
  check(pthread_once((pthread_once_t*)&once->storage, run), "once");
}

int tfrt_processor_count(void) {
  const tfrt_processor_set_t set = tfrt_processor_set_of_thread();
  const int count = tfrt_processor_set_count(&set);
  return count > 0 ? count : 1;
}
