// SPDX-License-Identifier: Apache-2.0
//
// Recovery of a lent value. When the value's owner dies, or reports a host-lost error as the value,
// the borrower asks its lender for another owner.
//
//   borrower                              lender
//     Lost x@B     --------------------->   it waits for another owner, too, or for the same news
//                  <---------------------   Replace x@B: y@E, which the loan covers as it did x
//                                           or: z@lender, held for the borrower; or an error
//
// A reference says whether that may help (is_recoverable): the call that made the value may run
// again (retried_call.h), at the lender or at the host from which the lender has it. A lender that
// has a copy gives that.
//
// Life of a question here: asked when a value is lost; answered when the value here has another
// owner, or is here, or is an error. It ends with the asker or the job. It is answered with an
// error when the loan is over, or when this host still hears from the owner that the asker has
// lost.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't be answered is an error.
#ifndef TFRT_DISTRIBUTED_RECOVERY_RECOVERY_H_
#define TFRT_DISTRIBUTED_RECOVERY_RECOVERY_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/remote_value.h"

// Has questions end with their owners.
extern const tfrt_node_part_t tfrt_recovery_part;

#endif  // TFRT_DISTRIBUTED_RECOVERY_RECOVERY_H_
