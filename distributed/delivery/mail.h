// SPDX-License-Identifier: Apache-2.0
//
// Values by key: the mailbox of a job on this host (host_runtime/executor/hosts/mailbox.h), where
// what others send meets who receives it. How it gets there from another host: service/sending.h.
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

// Of |mailbox|, that of a job: |value| is received at |site|, which is where it, or an element of
// it, is lost. Thread-safe (the lock is not held).
void tfrt_mail_met(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                   const tfrt_status_origin_t* site);

// Puts |reason| (+0) into the mailbox of |job| in the place of what host |rank| could not send to
// |request| under |key|: who waits for that, now or later, gets it. When memory is out it waits on.
void tfrt_mail_fail(tfrt_job_t* job, uint64_t request, uint32_t rank, tfrt_string_view_t key,
                    tfrt_status_t reason);

// Host |rank| is lost to |job|: who waits for it gets |reason| (+0). With
// TFRT_MAILBOX_ANY_SENDER |job| is over: nothing is left that was sent either.
void tfrt_mail_end(tfrt_job_t* job, uint32_t rank, tfrt_status_t reason);

// Has what waits in mailboxes end with its owners.
void tfrt_mail_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_DELIVERY_MAIL_H_
