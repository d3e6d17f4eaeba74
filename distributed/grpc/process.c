// SPDX-License-Identifier: Apache-2.0
#include "distributed/grpc/process.h"

#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "distributed/grpc/refused_handshake.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

// For how long the last one to leave waits for gRPC's own stragglers.
#define PATIENCE_NS (200 * TFRT_NANOSECONDS_PER_MILLISECOND)

#ifdef __SANITIZE_THREAD__
// A thread of gRPC's timers that has ended is joined by the next one, or by nobody.
__attribute__((visibility("default"))) const char* __tsan_default_suppressions(void);
const char* __tsan_default_suppressions(void) { return "thread:grpc_core::Thread::Thread\n"; }
#endif

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
static uint32_t users;    // guarded by |mutex|
static bool is_prepared;  // guarded by |mutex|
static bool is_shared;    // guarded by |mutex|: somebody else in this process uses gRPC

// At gRPC's level DEBUG there is nothing for each message, and that a handshake was refused.
static void forward_log(gpr_log_func_args* line) {
  char reason[256];
  if (tfrt_grpc_refused_handshake_find(line->file, line->message, reason, sizeof(reason))) {
    tfrt_grpc_refused_handshake_log(reason);
  }
  if (line->severity == GPR_LOG_SEVERITY_DEBUG) return;
  tfrt_log(TFRT_LOG_DEBUG, NULL, "gRPC: %s (%s:%d)", line->message, line->file, line->line);
}

// gRPC's mutexes look for cycles at each lock where absl was built with that, as Debian's is: a
// tenth of a small message's time. The function that ends it has the name of absl's version.
static void stop_looking_for_cycles(void) {
  static const char kName[] =
      "_ZN4absl7debian329SetMutexDeadlockDetectionModeENS0_15OnDeadlockCycleE";
  void (*set_mode)(int) = NULL;
  *(void**)&set_mode = dlsym(RTLD_DEFAULT, kName);
  if (set_mode) set_mode(0);  // ignore
}

void tfrt_grpc_process_enter(void) {
  tfrt_mutex_lock(&mutex);
  // Whoever asks gRPC to talk gets its own words, on standard error.
  if (!is_prepared && !getenv("GRPC_VERBOSITY")) {
    gpr_set_log_function(forward_log);
    gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  }
  if (!is_prepared) stop_looking_for_cycles();
  is_prepared = true;
  if (users++ == 0) is_shared = grpc_is_initialized() != 0;
  grpc_init();
  tfrt_mutex_unlock(&mutex);
}

void tfrt_grpc_process_leave(void) {
  tfrt_mutex_lock(&mutex);
  grpc_shutdown_blocking();
  // A channel may let go of its last pieces on a thread of gRPC's a moment later, and gRPC
  // shuts down when that has happened. It tells nobody.
  if (--users == 0 && !is_shared) {
    tfrt_clock_t clock = tfrt_clock_system();
    int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(clock), PATIENCE_NS);
    while (grpc_is_initialized() && tfrt_clock_now_ns(clock) < deadline_ns) tfrt_thread_yield();
  }
  tfrt_mutex_unlock(&mutex);
}
