// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_release.h"

#include <string.h>

#include "distributed/call/failed_call.h"

// What is done of a frame.
typedef struct tfrt_incoming_release_s {
  tfrt_peer_t* peer;        // live while the lock is held
  tfrt_session_t* session;  // +1
  tfrt_job_t* job;          // +1
  bool has_slices;          // the lock may be opened before the end
} tfrt_incoming_release_t;

static uint64_t tfrt_incoming_release_count(const tfrt_wire_release_t* release) {
  uint64_t count = 0;
  for (size_t i = 0; i < release->range_count; ++i) {
    count += (uint64_t)release->ranges[i].number_count * release->ranges[i].index_count;
  }
  return count;
}

// Opens the lock for a moment. False if nothing of the frame is left to do then.
static bool tfrt_incoming_release_give_way(tfrt_incoming_release_t* self) {
  tfrt_node_t* node = self->job->node;
  self->peer->names_looked_for = 0;
  tfrt_node_lock_give_way(&node->lock);
  return tfrt_session_user_data(self->session) == self->peer && !self->job->closed;
}

// Counts a name that was looked for; false as above. Of a short frame only one that is not there
// counts: what there is was made by a call, which takes longer than to give it back.
static bool tfrt_incoming_release_note(tfrt_incoming_release_t* self, bool was_there) {
  if (!self->has_slices) {
    self->peer->names_looked_for += !was_there;
    return true;
  }
  ++self->peer->names_looked_for;
  return self->peer->names_looked_for < TFRT_INCOMING_RELEASE_SLICE ||
         tfrt_incoming_release_give_way(self);
}

// The names of |range| with |number|; false as above.
static bool tfrt_incoming_release_number(tfrt_incoming_release_t* self,
                                         const tfrt_wire_object_range_t* range, uint64_t number) {
  tfrt_object_table_t* objects = &self->job->node->objects;
  const uint64_t holder = self->peer->incarnation;
  bool is_own = range->namer == holder;
  if (is_own && tfrt_failed_call_release(self->peer, self->job, number, range->index_count)) {
    return tfrt_incoming_release_note(self, true);
  }
  for (uint32_t i = 0; i < range->index_count; ++i) {
    tfrt_wire_object_id_t id = {
        .namer = range->namer, .number = number, .index = range->first_index + i};
    tfrt_object_t* object = tfrt_object_table_find(objects, id, self->job);
    if (object) tfrt_object_table_end_hold(objects, object, holder);
    if (!tfrt_incoming_release_note(self, object != NULL)) return false;
  }
  return true;
}

static void tfrt_incoming_release_ranges(tfrt_incoming_release_t* self,
                                         const tfrt_wire_object_range_t* ranges, size_t count) {
  for (size_t r = 0; r < count; ++r) {
    for (uint32_t n = 0; n < ranges[r].number_count; ++n) {
      if (!tfrt_incoming_release_number(self, &ranges[r], ranges[r].first_number + n)) return;
    }
  }
  bool is_tired = self->peer->names_looked_for >= TFRT_INCOMING_RELEASE_SLICE;
  if (is_tired) (void)tfrt_incoming_release_give_way(self);
}

void tfrt_incoming_release_on_release(tfrt_peer_t* peer, tfrt_job_t* job,
                                      const tfrt_wire_release_t* release) {
  if (!job || !peer->session) return;
  tfrt_node_t* node = job->node;
  const tfrt_allocator_t allocator = node->options.allocator;
  const size_t size = release->range_count * sizeof(*release->ranges);
  // What the frame was decoded into is not ours when the lock was open.
  tfrt_wire_object_range_t* copy = NULL;
  if (tfrt_incoming_release_count(release) > TFRT_INCOMING_RELEASE_SLICE) {
    copy = tfrt_allocator_allocate(allocator, size);
  }
  if (copy) memcpy(copy, release->ranges, size);
  tfrt_incoming_release_t self = {.peer = peer,
                                  .session = tfrt_session_retain(peer->session),
                                  .job = tfrt_job_retain(job),
                                  .has_slices = copy != NULL};
  tfrt_incoming_release_ranges(&self, copy ? copy : release->ranges, release->range_count);
  if (copy) tfrt_allocator_free(allocator, copy, size);
  tfrt_session_release(self.session);
  tfrt_job_release(job);
}
