// SPDX-License-Identifier: Apache-2.0
//
// Values by key: the mailbox of a job on this host (host_runtime/executor/hosts/mailbox.h), where a
// message meets its receiver. service/sending.h brings messages of other hosts there.
//
//   sender --value under a key--> mailbox <-- receiver
//   sender lost, or never sent --> error ------^
//
// Life: the mailbox is the job's; what waits in it ends with the sender's host, the request it
// belongs to, or the job.
//
// Thread rule: needs the node's lock, but for what says otherwise.
// Failure rule: without memory, a receiver waits until its job is over.
#ifndef TFRT_DISTRIBUTED_DELIVERY_MAIL_H_
#define TFRT_DISTRIBUTED_DELIVERY_MAIL_H_

#include "distributed/domain/job.h"

// For |mailbox|, that of a job: |value| is received at |site|. If the value, or an element of it,
// is lost, the error names that place. Thread-safe (the lock is not held).
void tfrt_mail_met(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                   const tfrt_status_origin_t* site);

// Puts |reason| (+0) into the mailbox of |job| in the place of the message that host |rank| could
// not send to |request| under |key|. A receiver that waits for it, now or later, gets |reason|.
// When memory is out, the receiver waits on.
void tfrt_mail_fail(tfrt_job_t* job, uint64_t request, uint32_t rank, tfrt_string_view_t key,
                    tfrt_status_t reason);

// Host |rank| is lost to |job|: receivers that wait for it get |reason| (+0). With
// TFRT_MAILBOX_ANY_SENDER |job| is over: the messages in the mailbox go, too.
void tfrt_mail_end(tfrt_job_t* job, uint32_t rank, tfrt_status_t reason);

// Has what waits in mailboxes end with its owners.
void tfrt_mail_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_DELIVERY_MAIL_H_
