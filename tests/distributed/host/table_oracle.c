// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/host/table_oracle.h"

#include <check.h>
#include <string.h>

#include "distributed/delivery/push_inbox.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/value/object_name.h"
#include "distributed/value/remote_value.h"

// All of this is looked at after each step of the network, and an assert of libcheck's that holds
// writes to a file.
#define EXPECT(condition, ...)                   \
  do {                                           \
    if (!(condition)) ck_abort_msg(__VA_ARGS__); \
  } while (0)

typedef struct nodes_s {
  tfrt_node_t* const* nodes;
  size_t count;
} nodes_t;

static tfrt_node_t* find_node(const nodes_t* all, uint64_t incarnation) {
  for (size_t i = 0; i < all->count; ++i) {
    if (all->nodes[i] && all->nodes[i]->incarnation == incarnation) return all->nodes[i];
  }
  return NULL;
}

// The job of |id| on |node|, if it is open there.
static tfrt_job_t* find_open_job(tfrt_node_t* node, const uint8_t* id) {
  tfrt_job_t* job =
      tfrt_job_find(node, tfrt_string_view_make((const char*)id, TFRT_WIRE_JOB_ID_SIZE));
  return job && !tfrt_job_is_closed(job) ? job : NULL;
}

// Names of |node|'s objects are given by those who are said to have given them.
static void check_objects(const nodes_t* all, tfrt_node_t* node) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->objects->by_id); found;
       found = tfrt_hash_table_next(&node->objects->by_id, found)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(found, tfrt_object_t, by_id);
    EXPECT(object->holders || object->loans > 0, "nobody holds an object");
    tfrt_node_t* namer = find_node(all, object->id.namer);
    if (!namer || namer == node) continue;
    const tfrt_peer_t* peer = tfrt_peer_find(namer, node->incarnation);
    if (!peer || !peer->session) continue;
    EXPECT(object->id.number < tfrt_session_next_call(peer->session),
           "an object has a name of a call that was never made");
  }
}

// The owner of |value| on |node| has the object that |value| stands for, or will have it.
static void check_value(const nodes_t* all, tfrt_node_t* node, const tfrt_remote_value_t* value) {
  EXPECT(!tfrt_remote_value_is_resolved(value), "a resolved value is said to be elsewhere");
  // If a result was said to be an argument, this host knows only its name and forwards requests.
  bool is_asked_for = value->demanded || (value->settlement.value && !value->settlement.is_known);
  if (!is_asked_for) return;
  const tfrt_wire_reference_t* at = &value->location;
  tfrt_node_t* owner = find_node(all, at->owner);
  if (!owner || owner->closed || node->closed || tfrt_job_is_closed(value->job)) return;
  tfrt_job_t* job = find_open_job(owner, value->job->identity.id);
  if (!job || tfrt_object_table_find(owner->objects, at->id, job)) return;
  if (tfrt_object_name_find_failed(job, at->id)) return;
  const tfrt_peer_t* namer = tfrt_peer_find(owner, at->id.namer);
  bool is_promised = at->id.namer != owner->incarnation &&
                     (!namer || !namer->session || at->id.number > namer->watermark);
  EXPECT(is_promised, "%llx needs %llx.%llu.%u of %llx, which has let go of it",
         (unsigned long long)node->incarnation, (unsigned long long)at->id.namer,
         (unsigned long long)at->id.number, at->id.index, (unsigned long long)at->owner);
}

// The counts of what |peer| is to push, and of its early pushes, are right.
static void check_pushes(const tfrt_peer_t* peer) {
  if (!peer->pushes) return;
  const tfrt_list_link_t* lists[] = {&peer->pushes->put_off, &peer->pushes->asked};
  size_t expected = 0;
  for (size_t i = 0; i < 2; ++i) {
    for (tfrt_list_link_t* link = lists[i]->next; link != lists[i]; link = link->next) {
      const tfrt_remote_value_t* value =
          TFRT_CONTAINER_OF(link, tfrt_remote_value_t, push.expected);
      EXPECT(value->peer == peer && (value->state == TFRT_REMOTE_VALUE_AWAITING_PUSH) == (i == 0),
             "a value is expected of another peer");
      EXPECT(!tfrt_remote_value_is_resolved(value) && (i != 0 || value->question.want == 0),
             "a value that is put off is asked for");
      ++expected;
    }
  }
  size_t early = 0;
  for (tfrt_list_link_t* link = peer->pushes->early.next; link != &peer->pushes->early;
       link = link->next) {
    ++early;
  }
  EXPECT(expected == peer->pushes->expected_count && early == peer->pushes->early_count,
         "pushes are miscounted");
  EXPECT(expected <= TFRT_PUSH_INBOX_MAX_EXPECTED && early <= TFRT_PUSH_INBOX_MAX_EARLY,
         "there are too many pushes");
}

static void check_peer(const nodes_t* all, tfrt_node_t* node, const tfrt_peer_t* peer,
                       bool any_death) {
  for (tfrt_list_link_t* link = peer->located.next; link != &peer->located; link = link->next) {
    const tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    EXPECT(value->peer == peer, "a value is in the list of another peer");
    if (!any_death) check_value(all, node, value);
  }
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&peer->wants); found;
       found = tfrt_hash_table_next(&peer->wants, found)) {
    const tfrt_remote_value_t* value =
        TFRT_CONTAINER_OF(found, tfrt_remote_value_t, question.by_want);
    EXPECT(
        !tfrt_remote_value_is_resolved(value) && value->peer == peer && value->question.want != 0,
        "a want is of nothing");
  }
  check_pushes(peer);
  if (peer->session) return;
  bool is_empty =
      tfrt_hash_table_count(&peer->outgoing_calls) == 0 &&
      tfrt_hash_table_count(&peer->incoming_calls) == 0 &&
      tfrt_hash_table_count(&peer->failed_calls) == 0 &&
      tfrt_hash_table_count(&peer->gone_handles) == 0 &&
      tfrt_hash_table_count(&peer->incoming_wants) == 0 &&
      tfrt_list_is_empty(&peer->held_requests) && tfrt_list_is_empty(&peer->outgoing_pushes) &&
      peer->outgoing_push_count == 0 &&
      (!peer->pushes || (peer->pushes->expected_count == 0 && peer->pushes->early_count == 0));
  EXPECT(is_empty, "a peer without a session has calls, wants or requests");
}

static void check_node(const nodes_t* all, tfrt_node_t* node, bool any_death) {
  uint64_t outgoing = 0;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    const tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    check_peer(all, node, peer, any_death);
    outgoing += tfrt_hash_table_count(&peer->outgoing_calls);
  }
  EXPECT(outgoing == node->counts.outgoing_calls, "outgoing calls are miscounted");
  check_objects(all, node);
}

void tfrt_table_oracle_check(tfrt_node_t* const* nodes, size_t count, bool any_death) {
  const nodes_t all = {.nodes = nodes, .count = count};
  for (size_t i = 0; i < count; ++i) {
    if (nodes[i]) check_node(&all, nodes[i], any_death);
  }
}
