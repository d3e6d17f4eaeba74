// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/outgoing_release.h"

#include "distributed/domain/release_ranges.h"
#include "distributed/tuning/tuning.h"

static tfrt_wire_object_range_t tfrt_outgoing_release_range(const tfrt_wire_object_id_t* id) {
  return (tfrt_wire_object_range_t){.namer = id->namer,
                                    .first_number = id->number,
                                    .number_count = 1,
                                    .first_index = id->index,
                                    .index_count = 1};
}

// Appends a Release of |ranges|. |after_call|: as in session.h.
static void tfrt_outgoing_release_send(tfrt_peer_t* peer, tfrt_job_t* job,
                                       const tfrt_wire_object_range_t* ranges, size_t count,
                                       uint64_t after_call, bool is_urgent) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RELEASE,
                           .release = {.ranges = ranges, .range_count = count}};
  tfrt_peer_frame_t frame = {.job = job, .after_call = after_call, .can_wait = !is_urgent};
  tfrt_peer_send(peer, &frame, &body);
}

static void tfrt_outgoing_release_flush_job(tfrt_peer_t* peer, tfrt_peer_job_t* known,
                                            bool is_urgent) {
  tfrt_release_ranges_t* released = &known->released;
  if (released->name_count == 0) return;
  // The end of a job gives all of its names back anyway.
  if (known->job && !tfrt_job_is_over(known->job)) {
    tfrt_outgoing_release_send(peer, known->job, released->ranges, released->range_count, 0,
                               is_urgent);
  }
  released->range_count = 0;
  released->name_count = 0;
}

void tfrt_outgoing_release_add(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_object_id_t* id,
                               bool is_urgent) {
  if (tfrt_job_is_over(job) || !peer->session) return;
  tfrt_wire_object_range_t range = tfrt_outgoing_release_range(id);
  tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  // A Release that may wait for credit, behind its call, must not hold up others.
  bool is_promised = id->namer == job->node->incarnation;
  bool must_wait = is_promised && !tfrt_session_call_was_written(peer->session, id->number);
  if (!known || must_wait) {
    tfrt_outgoing_release_send(peer, job, &range, 1, is_promised ? id->number : 0, is_urgent);
    return;
  }
  tfrt_release_ranges_t* released = &known->released;
  if (released->name_count == 0) tfrt_session_request_flush(peer->session);
  tfrt_release_ranges_add(released, &range);
  bool is_full = released->range_count == TFRT_ARRAY_SIZE(released->ranges) ||
                 released->name_count == TFRT_OUTGOING_RELEASE_MAX_NAMES;
  if (is_urgent || is_full) tfrt_outgoing_release_flush_job(peer, known, true);
}

void tfrt_outgoing_release_flush(tfrt_peer_t* peer) {
  for (tfrt_list_link_t* link = peer->jobs.next; link != &peer->jobs; link = link->next) {
    tfrt_peer_job_t* known = TFRT_CONTAINER_OF(link, tfrt_peer_job_t, link);
    tfrt_outgoing_release_flush_job(peer, known, false);
  }
}
