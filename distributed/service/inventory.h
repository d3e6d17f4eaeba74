// SPDX-License-Identifier: Apache-2.0
//
// The inventory of a host: everything that lives there because of others. It is a HostPart; for
// each job a JobPart, then its members, starts, calls, values and mail; and the kernels that
// threads are in (proto/service.proto). The job of the client that asks is left out.
//
// Thread rule: takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_

#include "distributed/call/execution.h"

// Appends the parts for the call that |execution| is to |out|. Thread-safe (the lock is not held).
tfrt_status_t tfrt_inventory_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
