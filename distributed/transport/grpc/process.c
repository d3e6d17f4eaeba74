// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/process.h"

#include <errno.h>
#include <grpc/grpc.h>
#include <grpc/support/cpu.h>
#include <grpc/support/log.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "distributed/transport/grpc/library_text.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

// Descriptors and threads that gRPC needs to start, and a little more. The descriptors wake its
// threads. Four threads run closures and timers, two are for more timers, and its event engine has
// one per processor within bounds. Source: gRPC 1.51, lib/iomgr/{executor, timer_manager}.cc and
// lib/event_engine/thread_pool.h.
#define NEEDED_DESCRIPTORS 8
#define NEEDED_OTHER_THREADS 6
#define MIN_ENGINE_THREADS 2
#define MAX_ENGINE_THREADS 32
#define MAX_NEEDED_THREADS (NEEDED_OTHER_THREADS + MAX_ENGINE_THREADS)

#ifdef __SANITIZE_THREAD__
// A thread of gRPC's timers that has ended is joined by the next one, or by nobody.
__attribute__((visibility("default"))) const char* __tsan_default_suppressions(void);
const char* __tsan_default_suppressions(void) { return "thread:grpc_core::Thread::Thread\n"; }
#endif

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
static uint32_t users;    // guarded by |mutex|
static bool is_prepared;  // guarded by |mutex|
static bool is_shared;    // guarded by |mutex|: somebody else in this process uses gRPC

static tfrt_mutex_t watch_mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_list_link_t watches = {&watches, &watches};  // guarded by |watch_mutex|

void tfrt_grpc_process_watch_accepting(tfrt_grpc_accept_watch_t* watch,
                                       tfrt_grpc_accept_watch_fn_t on_no_descriptor) {
  watch->on_no_descriptor = on_no_descriptor;
  tfrt_list_initialize(&watch->link);
  tfrt_mutex_lock(&watch_mutex);
  tfrt_list_push_back(&watches, &watch->link);
  tfrt_mutex_unlock(&watch_mutex);
}

void tfrt_grpc_process_unwatch_accepting(tfrt_grpc_accept_watch_t* watch) {
  tfrt_mutex_lock(&watch_mutex);
  tfrt_list_remove(&watch->link);
  tfrt_mutex_unlock(&watch_mutex);
}

static void tell_watches(void) {
  tfrt_mutex_lock(&watch_mutex);
  for (tfrt_list_link_t* link = watches.next; link != &watches; link = link->next) {
    tfrt_grpc_accept_watch_t* watch = TFRT_CONTAINER_OF(link, tfrt_grpc_accept_watch_t, link);
    watch->on_no_descriptor(watch);
  }
  tfrt_mutex_unlock(&watch_mutex);
}

static void look_at_log(const gpr_log_func_args* line) {
  char reason[256];
  tfrt_string_view_t words;
  tfrt_grpc_log_text_t text = tfrt_grpc_library_text_of_log(line->file, line->message, &words);
  if (text == TFRT_GRPC_LOG_TEXT_DEAF) {
    tell_watches();
  } else if (text != TFRT_GRPC_LOG_TEXT_OTHER) {
    tfrt_grpc_refused_handshake_describe(text, words, reason, sizeof(reason));
    tfrt_grpc_refused_handshake_log(reason);
  }
}

// At gRPC's level DEBUG there is nothing for each message, and that a handshake was refused.
static void forward_log(gpr_log_func_args* line) {
  look_at_log(line);
  if (line->severity == GPR_LOG_SEVERITY_DEBUG) return;
  tfrt_log(TFRT_LOG_DEBUG, NULL, "gRPC: %s (%s:%d)", line->message, line->file, line->line);
}

static void print_log(gpr_log_func_args* line) {
  look_at_log(line);
  fprintf(stderr, "gRPC: %s: %s (%s:%d)\n", gpr_log_severity_string(line->severity), line->message,
          line->file, line->line);
}

// --- Room --------------------------------------------------------------------

// gRPC ends the process if it gets no descriptor, and if it gets no thread it waits for ever, as
// it shuts down, for one that never ran. So this checks, before gRPC starts, that the system has
// enough of both.

static tfrt_status_t check_descriptors(void) {
  int files[NEEDED_DESCRIPTORS];
  int count = 0;
  while (count < NEEDED_DESCRIPTORS && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0) ++count;
  const int error = errno;
  for (int i = 0; i < count; ++i) close(files[i]);
  if (count == NEEDED_DESCRIPTORS) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "gRPC needs %d file descriptors to start, and the system gives %d: %s; "
                            "raise the limit (ulimit -n)",
                            NEEDED_DESCRIPTORS, count, strerror(error));
}

// Takes as much of the address space as a thread of gRPC's does: a heap of its own besides the
// stack. Lives until |gate| is open.
static void run_probe(void* gate) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 1), 1);
  tfrt_mutex_lock(gate);
  tfrt_mutex_unlock(gate);
}

static unsigned needed_threads(void) {
  const unsigned processors = gpr_cpu_num_cores();
  if (processors < MIN_ENGINE_THREADS) return NEEDED_OTHER_THREADS + MIN_ENGINE_THREADS;
  if (processors > MAX_ENGINE_THREADS) return NEEDED_OTHER_THREADS + MAX_ENGINE_THREADS;
  return NEEDED_OTHER_THREADS + processors;
}

static tfrt_status_t check_threads(void) {
  tfrt_mutex_t gate = TFRT_MUTEX_INITIALIZER;
  tfrt_thread_t threads[MAX_NEEDED_THREADS];
  const unsigned needed = needed_threads();
  unsigned count = 0;
  tfrt_status_t error = NULL;
  tfrt_mutex_lock(&gate);
  while (count < needed && !error) {
    error = tfrt_thread_create("grpc-probe", run_probe, &gate, &threads[count]);
    if (!error) ++count;
  }
  tfrt_mutex_unlock(&gate);
  for (unsigned i = 0; i < count; ++i) tfrt_thread_join(&threads[i]);
  if (!error) return NULL;
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_RESOURCE_EXHAUSTED, "gRPC needs %u threads to start, and the system gives %u: %s",
      needed, count, tfrt_status_message(error));
  tfrt_status_release(error);
  return status;
}

static tfrt_status_t check_room(void) {
  TFRT_RETURN_IF_ERROR(check_descriptors());
  return check_threads();
}

// --- Users -------------------------------------------------------------------

// With the lock held.
static void start(void) {
  // A user who asks gRPC to talk gets its own words, on standard error.
  const bool is_talkative = getenv("GRPC_VERBOSITY") != NULL;
  if (!is_prepared) gpr_set_log_function(is_talkative ? print_log : forward_log);
  if (!is_prepared && !is_talkative) gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  // By default gRPC asks the DNS server by itself, also for names that the system's files have, and
  // waits for it where that is dead. The system's own look-up is the one of --listen.
  if (!is_prepared) setenv("GRPC_DNS_RESOLVER", "native", 0);
  is_prepared = true;
  is_shared = grpc_is_initialized() != 0;
}

tfrt_status_t tfrt_grpc_process_enter(void) {
  tfrt_mutex_lock(&mutex);
  tfrt_status_t status = users > 0 ? NULL : check_room();
  if (!status) {
    if (users++ == 0) start();
    grpc_init();
  }
  tfrt_mutex_unlock(&mutex);
  return status;
}

void tfrt_grpc_process_leave(void) {
  tfrt_mutex_lock(&mutex);
  grpc_shutdown_blocking();
  // A thread of gRPC's may free the last pieces of a channel a moment later. gRPC shuts down only
  // after that, and without a callback.
  if (--users == 0 && !is_shared) {
    tfrt_clock_t clock = tfrt_clock_system();
    int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(clock), TFRT_TUNING_GRPC_LEAVE_NS);
    while (grpc_is_initialized() && tfrt_clock_now_ns(clock) < deadline_ns) tfrt_thread_yield();
  }
  tfrt_mutex_unlock(&mutex);
}
