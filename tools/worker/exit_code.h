// SPDX-License-Identifier: Apache-2.0
//
// How `tfrt_worker` ends. The numbers are stable: who starts workers relies on them.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_TOOLS_WORKER_EXIT_CODE_H_
#define TFRT_TOOLS_WORKER_EXIT_CODE_H_

#include "host_runtime/base/status.h"

typedef enum tfrt_worker_exit_e {
  TFRT_WORKER_EXIT_STOPPED = 0,  // it was asked to stop
  TFRT_WORKER_EXIT_SYSTEM = 1,   // the system refused something, or kernels did not end
  TFRT_WORKER_EXIT_USAGE = 2,    // flags, and files that they name
  TFRT_WORKER_EXIT_RACE = 9,     // it was asked to stop, and --check_races had found a race
} tfrt_worker_exit_t;

// The exit code for a worker that can't listen because of the error |status|. Thread-safe.
static inline tfrt_worker_exit_t tfrt_worker_exit_of_listening(tfrt_status_t status) {
  return tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT ? TFRT_WORKER_EXIT_USAGE
                                                                  : TFRT_WORKER_EXIT_SYSTEM;
}

#endif  // TFRT_TOOLS_WORKER_EXIT_CODE_H_
