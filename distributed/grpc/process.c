// SPDX-License-Identifier: Apache-2.0
#include "distributed/grpc/process.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <stdlib.h>

#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

static tfrt_once_t prepared = TFRT_ONCE_INITIALIZER;

static void forward_log(gpr_log_func_args* line) {
  tfrt_log(TFRT_LOG_DEBUG, NULL, "gRPC: %s (%s:%d)", line->message, line->file, line->line);
}

static void prepare(void) {
  // Whoever asks gRPC to talk gets its own words, on standard error.
  if (!getenv("GRPC_VERBOSITY")) gpr_set_log_function(forward_log);
}

void tfrt_grpc_process_enter(void) {
  tfrt_once_run(&prepared, prepare);
  grpc_init();
}

void tfrt_grpc_process_leave(void) { grpc_shutdown_blocking(); }
