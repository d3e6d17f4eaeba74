// SPDX-License-Identifier: Apache-2.0
//
// How `tfrt` ends. The numbers are stable: scripts rely on them.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_TOOLS_COORDINATOR_EXIT_CODE_H_
#define TFRT_TOOLS_COORDINATOR_EXIT_CODE_H_

#include "host_runtime/base/status.h"

typedef enum tfrt_exit_code_e {
  TFRT_EXIT_SUCCESS = 0,
  TFRT_EXIT_PROGRAM_ERROR = 1,  // a result is an error
  TFRT_EXIT_USAGE = 2,          // flags, files, the program's text
  TFRT_EXIT_CLUSTER = 3,        // the cluster could not form
  TFRT_EXIT_HOST_LOST = 4,
  TFRT_EXIT_CANCELLED = 5,
  TFRT_EXIT_DEADLINE = 6,
  TFRT_EXIT_PROTOCOL = 7,  // protocol or version
  TFRT_EXIT_AUTHENTICATION = 8,
  TFRT_EXIT_RACE = 9,  // no error, but --check_races has found accesses without order
} tfrt_exit_code_t;

// The exit code for the loss of a host, which |status| says: it died, or it can't be talked to
// (any more). Thread-safe.
static inline tfrt_exit_code_t tfrt_exit_code_of_loss(tfrt_status_t status) {
  switch (tfrt_status_code(status)) {
    case TFRT_STATUS_ABORTED:
      return TFRT_EXIT_PROTOCOL;
    case TFRT_STATUS_UNAUTHENTICATED:
      return TFRT_EXIT_AUTHENTICATION;
    default:
      return TFRT_EXIT_HOST_LOST;
  }
}

// The exit code for a run whose result is the error |status|, which is the program's or the
// user's. Thread-safe.
static inline tfrt_exit_code_t tfrt_exit_code_of_result(tfrt_status_t status) {
  switch (tfrt_status_code(status)) {
    case TFRT_STATUS_OK:
      return TFRT_EXIT_SUCCESS;
    case TFRT_STATUS_CANCELLED:
      return TFRT_EXIT_CANCELLED;
    case TFRT_STATUS_DEADLINE_EXCEEDED:
      return TFRT_EXIT_DEADLINE;
    default:
      return TFRT_EXIT_PROGRAM_ERROR;
  }
}

// The exit code for a run whose cluster could not form because of the error |status|: the table
// in distributed/client/client.h. Thread-safe.
static inline tfrt_exit_code_t tfrt_exit_code_of_cluster(tfrt_status_t status) {
  switch (tfrt_status_code(status)) {
    case TFRT_STATUS_INVALID_ARGUMENT:
      return TFRT_EXIT_USAGE;
    case TFRT_STATUS_CANCELLED:
      return TFRT_EXIT_CANCELLED;
    case TFRT_STATUS_DEADLINE_EXCEEDED:
      return TFRT_EXIT_DEADLINE;
    case TFRT_STATUS_ABORTED:
      return TFRT_EXIT_PROTOCOL;
    case TFRT_STATUS_UNAUTHENTICATED:
      return TFRT_EXIT_AUTHENTICATION;
    default:
      return TFRT_EXIT_CLUSTER;
  }
}

#endif  // TFRT_TOOLS_COORDINATOR_EXIT_CODE_H_
