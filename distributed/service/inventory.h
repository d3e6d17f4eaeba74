// SPDX-License-Identifier: Apache-2.0
//
// The things that live on a host because of others: a HostPart; for each job a JobPart, then its
// members, starts, calls, values and mail; and the kernels that threads are in. The job of the
// client that asks is left out. At most TFRT_INVENTORY_MAX_PARTS of each kind are listed; a
// MorePart has the number of the others.
//
// The work under the lock doesn't grow with what lives on the host: a call knows the execution that
// it is made for, and the lock is opened between the kinds.
//
// proto/service.proto describes the parts.
//
// Thread rule: takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_

#include "distributed/service/answerer.h"

extern const tfrt_answerer_t tfrt_inventory_answerer;

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
