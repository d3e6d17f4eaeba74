// SPDX-License-Identifier: Apache-2.0
//
// The router sends the calls and the printed lines of a job's requests from this host to others.
//
//   tfrt.call {host = 2} --router--> outgoing call to rank 2, or here if that is us
//   tfrt.print_*         --output--> the built-in print of the client
//
// Life: both are embedded in a job and live as long as it.
//
// Thread rule: the hooks are called from any thread, with no lock held.
// Failure rule: what can't be routed has errors as results.
#ifndef TFRT_DISTRIBUTED_CALL_ROUTER_H_
#define TFRT_DISTRIBUTED_CALL_ROUTER_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"

// Has jobs get their router, output and mailbox.
extern const tfrt_node_part_t tfrt_router_part;

#endif  // TFRT_DISTRIBUTED_CALL_ROUTER_H_
