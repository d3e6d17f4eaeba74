// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/fence.h"

#include "distributed/domain/job_attachment.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_life.h"

static tfrt_job_member_t* fence_member(tfrt_job_t* job, const tfrt_peer_t* peer) {
  tfrt_job_member_t* member = tfrt_job_find_incarnation(job, peer->incarnation);
  return member == &job->client ? NULL : member;
}

// The client of |detached|, whose job is not over, is lost or has left.
static void fence_leave_detached(tfrt_detached_job_t* detached) {
  detached->client_has_gone = true;
  tfrt_detached_job_settle(detached);
}

// The client of |job| has left it: a detached job goes on, any other is closed here because of
// |reason| (+0).
static void fence_leave_client(tfrt_job_t* job, tfrt_status_t reason) {
  if (tfrt_job_is_closed(job)) return;
  if (job->detachment.left) {
    fence_leave_detached(job->detachment.left);
    return;
  }
  // A root to which the client's JobOpen never came answers that it has no such job.
  tfrt_peer_t* root = NULL;
  tfrt_status_t status = NULL;
  if (job->detachment.is_detached) {
    status = tfrt_job_reach(job, job->view.members[0].incarnation, &root);
  }
  if (root && root->session) status = tfrt_job_attachment_send(job, root);
  if (!job->detachment.is_detached || status) tfrt_job_close(job, status ? status : reason);
  tfrt_status_release(status);
}

// |peer|, the root of |job|, or its client, is lost to it: no host is left that could end the job
// in order, so it is closed here. A client ends its job itself, and tells the other hosts.
static void fence_lose_root(tfrt_job_t* job, const tfrt_peer_t* peer) {
  if (job->rank == TFRT_WIRE_NO_RANK) return;
  tfrt_status_t lost = tfrt_peer_lost_error(peer, job, NULL, "without which the job can't go on");
  tfrt_job_close(job, lost);
  tfrt_status_release(lost);
}

// The member |member| of |job|, which is |peer|, sends nothing any more.
static void fence_lose_member(tfrt_job_t* job, const tfrt_job_member_t* member, tfrt_peer_t* peer) {
  tfrt_status_t lost =
      tfrt_peer_lost_error(peer, job, NULL, "before it sent what this host waits for");
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_MEMBER_LOST,
                                    .node = job->node,
                                    .peer = peer,
                                    .job = job,
                                    .rank = member->rank,
                                    .reason = lost});
  tfrt_status_release(lost);
}

// The same for what |job| has with |peer|, which lives, but is lost to it because of |reason| (+0).
static void fence_end_job(tfrt_peer_t* peer, tfrt_job_t* job, tfrt_status_t reason) {
  tfrt_owner_end_t end = {.event = TFRT_OWNER_PEER_SILENT,
                          .node = peer->node,
                          .peer = peer,
                          .job = job,
                          .reason = reason};
  tfrt_node_end(&end);
  end.event = TFRT_OWNER_PEER_LOST;
  tfrt_node_end(&end);
}

// |peer|, a member of |job|, has no part in it any more because of |error|, as it says; NULL: it
// says no reason. Changes nothing for a peer that is no member, for a member that is lost already,
// and for a closed job.
static void fence_raise(tfrt_job_t* job, tfrt_peer_t* peer, const tfrt_wire_error_t* error) {
  tfrt_job_member_t* member = fence_member(job, peer);
  if (!member || member->death || tfrt_job_is_closed(job)) return;
  // Before anything is lost: a search for another host must not find this one.
  member->death =
      error ? tfrt_wire_error_to_status(error)
            : tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "it has no part in the job any more");
  member->has_left = true;
  // Its session goes on, so that its calls and wants give their credit back, and ours their
  // numbers.
  fence_end_job(peer, job, member->death);
  fence_lose_member(job, member, peer);
  if (member->rank == 0) fence_lose_root(job, peer);
}

// A JobGone came: the sender will answer nothing of a job.
static tfrt_status_t fence_on_gone(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_job_gone_t* gone = &in->body->job_gone;
  tfrt_job_t* job = tfrt_job_find(in->peer->node, gone->job_id);
  if (job) fence_raise(job, in->peer, gone->error);
  return NULL;
}

// The client |peer| answers nothing of |job| any more: it has closed it, or leaves it, because of
// |error| if it says why.
static void fence_on_client_detach(tfrt_peer_t* peer, tfrt_job_t* job,
                                   const tfrt_wire_error_t* error) {
  tfrt_status_t left = tfrt_status_create(TFRT_STATUS_CANCELLED, "the client has left the job");
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_CLIENT_LEFT,
                                    .node = peer->node,
                                    .peer = peer,
                                    .job = job,
                                    .reason = left});
  tfrt_status_t reason = error ? tfrt_wire_error_to_status(error) : tfrt_status_retain(left);
  fence_leave_client(job, reason);
  tfrt_status_release(reason);
  tfrt_status_release(left);
}

// A JobDetach came: the sender has left that job, as a member or as its client.
static tfrt_status_t fence_on_detach(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_error_t* error = in->body->job_detach.error;
  tfrt_peer_job_t* known = tfrt_job_attachment_retire(peer, in->frame->job);
  if (!known) return NULL;
  known->detached_there = true;
  if (peer->incarnation == known->job->client.incarnation) {
    fence_on_client_detach(peer, known->job, error);
  } else {
    tfrt_job_t* job = known->job;
    fence_raise(job, peer, error);
    tfrt_node_end(&(tfrt_owner_end_t){
        .event = TFRT_OWNER_MEMBER_LEFT, .node = peer->node, .peer = peer, .job = job});
  }
  return NULL;
}

// The peer of |end| is dead: it is lost to all jobs that it concerns, and what can't go on without
// it is closed.
static void fence_on_peer_lost(const tfrt_owner_end_t* end) {
  if (end->job) return;
  tfrt_node_t* node = end->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs;) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    link = link->next;
    tfrt_job_member_t* member = tfrt_job_find_incarnation(job, end->peer->incarnation);
    if (!member || member->death || !tfrt_peer_loss_concerns(end, job)) continue;
    member->death = tfrt_status_retain(end->reason);
    if (member != &job->client) fence_lose_member(job, member, end->peer);
    if (member->rank != 0 && member != &job->client) continue;
    if (member == &job->client && job->detachment.is_detached) {
      fence_leave_client(job, end->reason);
    } else {
      fence_lose_root(job, end->peer);
    }
  }
}

static const tfrt_owner_rule_t tfrt_fence_rules[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_JOBS, fence_on_peer_lost},
};

static const tfrt_frame_handler_t tfrt_fence_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_GONE, fence_on_gone},
    {TFRT_WIRE_FRAME_JOB_DETACH, fence_on_detach},
};

const tfrt_node_part_t tfrt_fence_part = {
    .rules = tfrt_fence_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_fence_rules),
    .handlers = tfrt_fence_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_fence_handlers),
};
