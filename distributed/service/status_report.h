// SPDX-License-Identifier: Apache-2.0
//
// The state of a host in a few numbers: a HostPart with counts, and a PeerPart for each session
// (proto/service.proto). The work under the lock doesn't grow with what lives on the host: counts
// are kept.
//
// Thread rule: takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
#define TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_

#include "distributed/service/answerer.h"

extern const tfrt_answerer_t tfrt_status_answerer;

#endif  // TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
