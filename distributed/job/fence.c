// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/fence.h"

#include "distributed/call/failed_call.h"
#include "distributed/call/incoming_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/service/sending.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/recovery.h"
#include "distributed/value/remote_value.h"

static tfrt_job_member_t* tfrt_fence_member(tfrt_job_t* job, const tfrt_peer_t* peer) {
  tfrt_job_member_t* member = tfrt_job_find_incarnation(job, peer->incarnation);
  return member == &job->client ? NULL : member;
}

bool tfrt_fence_is_raised(tfrt_job_t* job, const tfrt_peer_t* peer) {
  const tfrt_job_member_t* member = tfrt_fence_member(job, peer);
  return member && member->death;
}

void tfrt_fence_raise(tfrt_job_t* job, tfrt_peer_t* peer, const tfrt_wire_error_t* error) {
  tfrt_job_member_t* member = tfrt_fence_member(job, peer);
  if (!member || member->death || job->closed) return;
  // Before anything is lost: who looks for another host must not find this one.
  member->death =
      error ? tfrt_wire_error_to_status(error)
            : tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "it has no part in the job any more");
  // Who has lost the root, or leaves, is itself as lost as that.
  member->has_ended = tfrt_status_code(member->death) != TFRT_STATUS_UNAVAILABLE;
  tfrt_status_t lost =
      tfrt_peer_lost_error(peer, job, NULL, "before it sent what this host waits for");
  // Its session goes on, so that its calls and wants give their credit back, and ours their
  // numbers.
  tfrt_outgoing_call_bury_all(peer, job);
  tfrt_incoming_call_lose_all(peer, job);
  tfrt_object_table_drop_holder(&job->node->objects, peer->incarnation, job);
  tfrt_failed_call_drop_peer(peer, job);
  tfrt_remote_value_bury_all(peer, job);
  tfrt_outgoing_retain_end_all(peer, job);
  tfrt_incoming_want_bury_all(peer, job);
  tfrt_recovery_drop(job, peer->incarnation);
  tfrt_sending_end(job, member->rank, lost);
  tfrt_status_release(lost);
  if (member->rank == 0) tfrt_job_lose_root(job, peer);
}

void tfrt_fence_on_gone(tfrt_peer_t* peer, const tfrt_wire_job_gone_t* gone) {
  tfrt_job_t* job = tfrt_job_find(peer->node, gone->job_id);
  if (job) tfrt_fence_raise(job, peer, gone->error);
}
