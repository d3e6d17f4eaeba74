// SPDX-License-Identifier: Apache-2.0
//
// Logs the events of sessions and jobs for the operators of the process: one line per event.
//
//    info     connected to worker-2:4000 at 10.0.0.2:4000
//    info     tfrt run has connected
//    warning  refused who dialled: wrong cluster key, or none; use the cluster key that ...
//    info     opened by tfrt run, as host 1 of 3 [job=7]
//    info     closed [job=7]
//    warning  host 2 (worker-2:4000) is lost: no sign of life for 5.0 s
//    info     host 1 (worker-1:4000) has shut down: shutting down
//
// For daemons. A coordinator reports the loss of a host itself, with what was lost with it.
//
// Thread rule: the node's lock is held. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_
#define TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_

#include "distributed/domain/job.h"
#include "distributed/session/session.h"

// |session| is OPEN for the first time. Thread-compatible (the node's lock is held).
void tfrt_event_log_session_opened(const tfrt_session_t* session);

// A connection was refused because of |status| (+0), and |untold| others since the last such line.
// Thread-compatible (the node's lock is held).
void tfrt_event_log_refused(tfrt_status_t status, uint64_t untold);

// The peer takes no new jobs. Thread-compatible (the node's lock is held).
void tfrt_event_log_session_draining(const tfrt_session_t* session);

// The peer is silent, or speaks again. Thread-compatible (the node's lock is held).
void tfrt_event_log_session_suspected(const tfrt_session_t* session, bool is_suspected);

// A session is DEAD because of |death|, which |status| describes: a warning, unless it was
// closed in order. Thread-compatible (the node's lock is held).
void tfrt_event_log_session_dead(const tfrt_session_t* session, tfrt_session_death_t death,
                                 tfrt_status_t status);

// A thread of this host is since |age_ns|, which is long, in the kernel at |place|.
// Thread-compatible (the node's lock is held).
void tfrt_event_log_kernel_stuck(const tfrt_status_origin_t* place, int64_t age_ns);

// The peer of |session| lives, and a thread of it is in |kernel| for long; NULL: no more.
// Thread-compatible (the node's lock is held).
void tfrt_event_log_session_stuck(const tfrt_session_t* session,
                                  const tfrt_wire_running_kernel_t* kernel);

// |job| was opened here by |client|. Thread-compatible (the node's lock is held).
void tfrt_event_log_job_opened(const tfrt_job_t* job, const tfrt_session_t* client);

// The job that |client| wanted to open here was refused because of |reason| (+0). Thread-compatible
// (the node's lock is held).
void tfrt_event_log_job_refused(const tfrt_session_t* client, tfrt_status_t reason);

// |job| is closed because of |reason|, OK when it is finished. Thread-compatible (the node's
// lock is held).
void tfrt_event_log_job_closed(const tfrt_job_t* job, tfrt_status_t reason);

// A call, number |call| of the process |caller|, begins here, of |function| ("" if that is not
// known yet); and is done, cancelled because of |cancelled| or OK. For debugging: only such lines
// are written at that level. Thread-compatible (the node's lock is held).
void tfrt_event_log_call_begun(const tfrt_job_t* job, uint64_t call, uint64_t caller,
                               const char* function);
void tfrt_event_log_call_ended(const tfrt_job_t* job, uint64_t call, tfrt_status_t cancelled);

#endif  // TFRT_DISTRIBUTED_DOMAIN_EVENT_LOG_H_
