// SPDX-License-Identifier: Apache-2.0
//
// The requests of a job that its root has cancelled: no kernel of them starts on this host any
// more, also where a call comes after that.
//
//   root      a start is cancelled ---CancelRequest 7--> every member           (job_start.h)
//   member    calls of request 7 are cancelled; a *tombstone* refuses those that come later, until
//             the request, or the job, is over
//
// The authority is the Cancel that follows each call on its own link; this is quicker, and
// overtakes calls on other links. So the tombstones have a bound: the oldest is dropped, and
// nothing is wrong.
//
// Life: zeroed; filled and emptied by messages; freed with the job.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory there is no tombstone.
#ifndef TFRT_DISTRIBUTED_DOMAIN_CANCELLED_REQUESTS_H_
#define TFRT_DISTRIBUTED_DOMAIN_CANCELLED_REQUESTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_cancelled_request_s {
  uint64_t request;
  tfrt_status_t reason;  // +1
} tfrt_cancelled_request_t;

typedef struct tfrt_cancelled_requests_s {
  tfrt_cancelled_request_t* entries;  // oldest first
  uint32_t count;
  uint32_t capacity;
} tfrt_cancelled_requests_t;

// Remembers that |request| is cancelled because of |reason| (+0). False if it was so already.
bool tfrt_cancelled_requests_add(tfrt_cancelled_requests_t* table, uint64_t request,
                                 tfrt_status_t reason, tfrt_allocator_t allocator);

// The reason (+0) for which |request| is cancelled, or OK.
tfrt_status_t tfrt_cancelled_requests_find(const tfrt_cancelled_requests_t* table,
                                           uint64_t request);

// Nothing of |request| is under way any more.
void tfrt_cancelled_requests_remove(tfrt_cancelled_requests_t* table, uint64_t request);

// Forgets all.
void tfrt_cancelled_requests_free(tfrt_cancelled_requests_t* table, tfrt_allocator_t allocator);

#endif  // TFRT_DISTRIBUTED_DOMAIN_CANCELLED_REQUESTS_H_
