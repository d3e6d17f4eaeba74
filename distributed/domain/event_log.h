// SPDX-License-Identifier: Apache-2.0
//
// The words that all lines of the log about peers, jobs and calls share. Each line stands where its
// event is seen: those about sessions in host/, those about jobs in job/, those about calls in
// call/. They are written only if the node's |logs_events| says so.
//
// Thread rule: thread-compatible (the node's lock is held).
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_
#define TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_

#include "distributed/domain/job.h"
#include "distributed/session/session.h"
#include "distributed/transport/transport.h"
#include "host_runtime/base/log.h"

// Room for a peer's name, which the wire limits to 255 bytes.
#define TFRT_EVENT_LOG_NAME_SIZE (TFRT_TRANSPORT_ADDRESS_SIZE + 256)

// Writes what people call the peer: its name, else its address, else its incarnation.
void tfrt_event_log_peer_name(const tfrt_session_t* session,
                              char out_name[TFRT_EVENT_LOG_NAME_SIZE]);

// The beginning of a line about |job|: its local number; with |call|, that of the call on its
// link, too.
tfrt_log_context_t tfrt_event_log_context(const tfrt_job_t* job, uint64_t call);

#endif  // TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_
