// SPDX-License-Identifier: Apache-2.0
//
// *Mail* is values that a program itself sends to other hosts, by key: the mailbox of a job on this
// host (host_runtime/executor/hosts/mailbox.h), where a message meets its receiver.
// service/builtin.c brings messages of other hosts there.
//
//   sender --value under a key--> mailbox <-- receiver
//   sender lost, or never sent --> error ------^
//
// Life: the mailbox is the job's; what waits in it ends with the sender's host, the request it
// belongs to, or the job.
//
// Thread rule: everything here needs the node's lock, but for what says otherwise.
// Failure rule: without memory, a receiver waits until its job is over.
#ifndef TFRT_DISTRIBUTED_DELIVERY_MAIL_H_
#define TFRT_DISTRIBUTED_DELIVERY_MAIL_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/request/call_router.h"

// Puts |message|, of a request on this host to this host, into the mailbox of |job|. As
// tfrt_mailbox_send(). Thread-safe (the lock is not held).
tfrt_status_t tfrt_mail_send_here(tfrt_job_t* job, const tfrt_routed_message_t* message)
    TFRT_MUST_USE;

// Puts |reason| (+0) into the mailbox of |job| in the place of the message that host |rank| could
// not send to |request| under |key|. A receiver that waits for it, now or later, gets |reason|.
// When memory is out, the receiver waits on.
void tfrt_mail_fail(tfrt_job_t* job, uint64_t request, uint32_t rank, tfrt_string_view_t key,
                    tfrt_status_t reason);

// Host |rank| is lost to |job|: receivers that wait for it get |reason| (+0). With
// TFRT_MAILBOX_ANY_SENDER |job| is over: the messages in the mailbox go, too.
void tfrt_mail_end(tfrt_job_t* job, uint32_t rank, tfrt_status_t reason);

// Has jobs have mailboxes, and what waits in those end with its owners.
extern const tfrt_node_part_t tfrt_mail_part;

#endif  // TFRT_DISTRIBUTED_DELIVERY_MAIL_H_
