// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_release.h"

#include "distributed/value/failed_call.h"
#include "distributed/value/object_table.h"

// |peer| gives back those of |range| with |number|.
static void tfrt_incoming_release_number(tfrt_peer_t* peer, const tfrt_job_t* job,
                                         const tfrt_wire_object_range_t* range, uint64_t number) {
  bool is_own = range->namer == peer->incarnation;
  if (is_own && tfrt_failed_call_release(peer, job, number, range->index_count)) return;
  for (uint32_t i = 0; i < range->index_count; ++i) {
    tfrt_wire_object_id_t id = {
        .namer = range->namer, .number = number, .index = range->first_index + i};
    tfrt_object_t* object = tfrt_object_table_find(peer->node->objects, id, job);
    if (object) tfrt_object_table_end_hold(peer->node->objects, object, peer->incarnation);
  }
}

void tfrt_incoming_release_on_release(tfrt_peer_t* peer, const tfrt_job_t* job,
                                      const tfrt_wire_release_t* release) {
  for (size_t r = 0; r < release->range_count && job; ++r) {
    const tfrt_wire_object_range_t* range = &release->ranges[r];
    for (uint32_t n = 0; n < range->number_count; ++n) {
      tfrt_incoming_release_number(peer, job, range, range->first_number + n);
    }
  }
}
