// SPDX-License-Identifier: Apache-2.0
//
// The state of a host in a few numbers: a HostPart with counts, and a PeerPart for each session
// (proto/service.proto). The work under the lock doesn't grow with what lives on the host: counts
// are kept.
//
// Thread rule: takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
#define TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_

#include "distributed/call/execution.h"

// Appends the parts for the call that |execution| is to |out|. Thread-safe (the lock is not held).
tfrt_status_t tfrt_status_report_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
