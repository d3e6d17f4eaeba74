// SPDX-License-Identifier: Apache-2.0
//
// The host that reports an error without an origin: this one, by its rank in a job.
#ifndef TFRT_DISTRIBUTED_VALUE_VALUE_HOST_H_
#define TFRT_DISTRIBUTED_VALUE_VALUE_HOST_H_

#include "distributed/domain/job.h"
#include "distributed/value/value_item.h"

// This host in |job|. With the node's lock held.
static inline tfrt_value_item_host_t tfrt_value_item_host_of(const tfrt_job_t* job) {
  return (tfrt_value_item_host_t){.rank = job->rank, .incarnation = job->node->incarnation};
}

#endif  // TFRT_DISTRIBUTED_VALUE_VALUE_HOST_H_
