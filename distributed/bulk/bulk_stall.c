// SPDX-License-Identifier: Apache-2.0
//
// Whether bytes of payloads arrive. Where the network passes small packets only, channels can be
// had, their first small chunk passes, and the next ones never do. The system may take twice the
// limit to notice that, so a timer looks.
//
//   since        + a third of the limit    + two thirds     + the limit
//     |--- no report --> the channel is broken, -----> ... -----> once more: the borrower resumes,
//                        another one gets a chance                and hears of the error
//
// A machine that stood still, as one that is suspended, has lost time, not bytes: what has come
// meanwhile is read first, and all waits begin anew.
//
// Bytes of a channel arrive in order, so the transfer that has waited for longest tells about all.
// It waits from when a report was asked for; or the channel takes no byte more. Without reports (no
// pace) only the loss of channels tells.
#include "distributed/bulk/bulk_impl.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

// --- One transfer ------------------------------------------------------------

// The report that is waited for is waited for from now on only.
static void begin_anew(tfrt_bulk_stall_t* stall, int64_t now_ns) {
  stall->since_ns = now_ns;
  stall->is_fresh = true;
  if (stall->waits_ns != TFRT_TIME_INFINITE) stall->waits_ns = now_ns;
}

static void note_window(tfrt_bulk_outgoing_t* outgoing) {
  outgoing->stall.since_ns = TFRT_TIME_INFINITE;
  if (!tfrt_list_is_linked(&outgoing->stall.link)) return;
  begin_anew(&outgoing->stall, tfrt_bulk_manager_now_ns(outgoing->manager));
}

// The channel in use can't bring |outgoing| any more.
static void leave_channel(tfrt_bulk_outgoing_t* outgoing) {
  tfrt_bulk_stall_t* stall = &outgoing->stall;
  const bool was_asked =
      !tfrt_list_is_linked(&stall->link) || stall->waits_ns != TFRT_TIME_INFINITE;
  // Nobody has waited for what may have come long ago, or be lost just now.
  if (!was_asked && stall->is_fresh) begin_anew(stall, tfrt_bulk_manager_now_ns(outgoing->manager));
  stall->is_fresh = false;
  tfrt_list_remove(&stall->link);
}

// Whether the timer of |peer| is later than half a silence: nothing ran here meanwhile.
static bool has_slept(const tfrt_bulk_peer_t* peer, int64_t now_ns) {
  return now_ns - peer->timer_ns > peer->manager->options.stall_ns / 6;
}

static tfrt_status_t check(tfrt_bulk_outgoing_t* outgoing) {
  const int64_t limit_ns = outgoing->manager->options.stall_ns;
  if (outgoing->stall.since_ns == TFRT_TIME_INFINITE) return NULL;
  const int64_t now_ns = tfrt_bulk_manager_now_ns(outgoing->manager);
  const int64_t stalled_ns = now_ns - outgoing->stall.since_ns;
  if (stalled_ns < limit_ns) return NULL;
  if (outgoing->peer->has_timer && has_slept(outgoing->peer, now_ns)) {
    begin_anew(&outgoing->stall, now_ns);
    return NULL;
  }
  return tfrt_status_create(
      TFRT_STATUS_UNAVAILABLE,
      "the network loses its payload: %llu of %zu bytes came, and none for %.1f s; the limit is "
      "%.1f s, three times --silence-ms (does the path pass packets of full size?)",
      (unsigned long long)outgoing->stall.arrived, outgoing->encoding.body_size,
      (double)stalled_ns / (double)TFRT_NANOSECONDS_PER_SECOND,
      (double)limit_ns / (double)TFRT_NANOSECONDS_PER_SECOND);
}

tfrt_status_t tfrt_bulk_stall_note_lost(tfrt_bulk_outgoing_t* outgoing) {
  leave_channel(outgoing);
  const int64_t held_since_ns = outgoing->peer->held_since_ns;
  const bool could_send = !outgoing->was_written && !outgoing->is_interrupted &&
                          !outgoing->failure && tfrt_list_is_linked(&outgoing->link);
  if (!could_send || held_since_ns == TFRT_TIME_INFINITE) return NULL;
  outgoing->stall.since_ns = earlier(outgoing->stall.since_ns, held_since_ns);
  // The borrower resumes one that has begun, and hears of the failure then.
  return outgoing->is_described ? NULL : check(outgoing);
}

tfrt_status_t tfrt_bulk_stall_note_resumed(tfrt_bulk_outgoing_t* outgoing, uint64_t offset,
                                           uint64_t limit) {
  // The channel that the borrower has lost may still be in use here.
  leave_channel(outgoing);
  // The first chunk of a pace is small: where packets of full size are lost, it may pass on each
  // channel, and is no progress. Nor are bytes that came before those that were lost, and about
  // which no report was asked for. A borrower that gives no credit has all that it asked for.
  // Where more than before has come, and all that was given, nothing was lost: what is missing is
  // not read from its device yet.
  const bool all_came = offset > outgoing->stall.arrived && offset >= outgoing->offset;
  if (all_came || offset > outgoing->stall.arrived + outgoing->stall.unasked || offset >= limit) {
    outgoing->stall.arrived = offset;
    outgoing->stall.since_ns = TFRT_TIME_INFINITE;
    return NULL;
  }
  if (offset > outgoing->stall.arrived) outgoing->stall.arrived = offset;
  return check(outgoing);
}

// --- All of a channel ----------------------------------------------------------

static tfrt_bulk_outgoing_t* first_under_way(const tfrt_bulk_peer_t* peer) {
  if (tfrt_list_is_empty(&peer->under_way)) return NULL;
  return TFRT_CONTAINER_OF(peer->under_way.next, tfrt_bulk_outgoing_t, stall.link);
}

// Puts |stall| where its mark belongs.
static void insert(tfrt_bulk_peer_t* peer, tfrt_bulk_stall_t* stall) {
  tfrt_list_link_t* before = peer->under_way.previous;
  while (before != &peer->under_way &&
         TFRT_CONTAINER_OF(before, tfrt_bulk_stall_t, link)->mark > stall->mark) {
    before = before->previous;
  }
  tfrt_list_insert_after(before, &stall->link);
}

// A report about all bytes under way is asked for. The last transfers in the list are those about
// which none was asked for before.
static void note_asked(tfrt_bulk_peer_t* peer, int64_t now_ns) {
  for (tfrt_list_link_t* l = peer->under_way.previous; l != &peer->under_way; l = l->previous) {
    tfrt_bulk_stall_t* stall = TFRT_CONTAINER_OF(l, tfrt_bulk_stall_t, link);
    if (stall->waits_ns != TFRT_TIME_INFINITE) break;
    stall->waits_ns = now_ns;
    if (stall->is_fresh) stall->since_ns = now_ns;
  }
}

static void note_sent(tfrt_bulk_outgoing_t* outgoing) {
  tfrt_bulk_stall_t* stall = &outgoing->stall;
  const tfrt_bulk_channel_t* channel = outgoing->peer->channel;
  if (stall->since_ns == TFRT_TIME_INFINITE) {
    stall->since_ns = tfrt_bulk_manager_now_ns(outgoing->manager);
    stall->is_fresh = true;
  }
  if (!outgoing->peer->session.is_paced || channel->chunk.payload.size == 0) return;
  stall->last_mark = channel->pace.sent;
  stall->unasked = channel->pace.unasked;
  if (!tfrt_list_is_linked(&stall->link)) {
    stall->mark = channel->pace.sent;
    stall->waits_ns = TFRT_TIME_INFINITE;
    insert(outgoing->peer, stall);
  }
  if (channel->chunk.asks_received) {
    note_asked(outgoing->peer, tfrt_bulk_manager_now_ns(outgoing->manager));
  }
}

// The first chunk that is waited for has arrived.
static void note_arrived(tfrt_bulk_outgoing_t* outgoing, const tfrt_bulk_pace_t* pace) {
  tfrt_bulk_stall_t* stall = &outgoing->stall;
  const int64_t now_ns = tfrt_bulk_manager_now_ns(outgoing->manager);
  const bool is_asked = stall->last_mark <= pace->asked;
  // The first chunk of a channel is no progress; see tfrt_bulk_stall_note_resumed().
  if (stall->mark > TFRT_TUNING_PACE_LEAST_CHUNK) {
    // At most, all bytes under way are its own.
    const uint64_t under_way = pace->sent - pace->arrived;
    const uint64_t arrived = outgoing->offset > under_way ? outgoing->offset - under_way : 0;
    if (arrived > stall->arrived) stall->arrived = arrived;
    stall->since_ns = TFRT_TIME_INFINITE;
  }
  if (stall->last_mark <= pace->arrived) return;
  stall->mark = stall->last_mark;
  stall->waits_ns = is_asked ? now_ns : TFRT_TIME_INFINITE;
  if (stall->since_ns == TFRT_TIME_INFINITE) begin_anew(stall, now_ns);
  insert(outgoing->peer, stall);
}

static void note_report(tfrt_bulk_peer_t* peer) {
  const tfrt_bulk_pace_t* pace = &peer->channel->pace;
  for (tfrt_bulk_outgoing_t* outgoing;
       (outgoing = first_under_way(peer)) && outgoing->stall.mark <= pace->arrived;) {
    tfrt_list_remove(&outgoing->stall.link);
    note_arrived(outgoing, pace);
  }
}

void tfrt_bulk_stall_note(tfrt_bulk_peer_t* peer, tfrt_bulk_outgoing_t* outgoing,
                          tfrt_bulk_stall_event_t event) {
  switch (event) {
    case TFRT_BULK_STALL_SENT:
      note_sent(outgoing);
      break;
    case TFRT_BULK_STALL_WINDOW:
      note_window(outgoing);
      break;
    case TFRT_BULK_STALL_REPORT:
      note_report(peer);
      break;
  }
}

// Small chunks may pass where large ones get lost.
static void limit_chunks(tfrt_bulk_peer_t* peer, int64_t now_ns) {
  const uint64_t half = peer->channel->largest / 2;
  peer->chunks.bytes = half > TFRT_TUNING_PACE_LEAST_CHUNK ? half : TFRT_TUNING_PACE_LEAST_CHUNK;
  peer->chunks.since_ns = now_ns;
}

// Returns true if a payload to here could go on: the owner may send, and this side has stored what
// has come.
static bool is_payload_awaited(const tfrt_bulk_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming); node;
       node = tfrt_hash_table_next(&peer->incoming, node)) {
    const tfrt_bulk_incoming_t* incoming = TFRT_CONTAINER_OF(node, tfrt_bulk_incoming_t, by_want);
    const bool is_idle = incoming->state == TFRT_BULK_INCOMING_RECEIVING && !incoming->is_busy &&
                         incoming->interruption == TFRT_BULK_NOT_INTERRUPTED &&
                         incoming->borrowing == TFRT_BULK_NOT_BORROWING;
    if (is_idle && incoming->received < incoming->granted) return true;
  }
  return false;
}

// When this side, which can dial, gives up a channel that should bring bytes: later than the owner,
// whose loss of the channel may not be seen here.
static int64_t incoming_due_ns(const tfrt_bulk_peer_t* peer) {
  const bool is_waited_for =
      tfrt_hash_table_count(&peer->incoming) > 0 && peer->session.address.size > 0;
  if (!is_waited_for) return TFRT_TIME_INFINITE;
  return tfrt_deadline_after(peer->channel->heard_ns, peer->manager->options.stall_ns / 15 * 8);
}

static int64_t outgoing_due_ns(const tfrt_bulk_peer_t* peer) {
  const int64_t limit_ns = peer->manager->options.stall_ns;
  const tfrt_bulk_channel_t* channel = peer->channel;
  const tfrt_bulk_outgoing_t* first = first_under_way(peer);
  int64_t due_ns = TFRT_TIME_INFINITE;
  if (peer->session.is_paced && channel->is_writing && channel->sending) {
    due_ns = tfrt_deadline_after(channel->writing_ns, limit_ns / 3);
  }
  if (!first || first->stall.waits_ns == TFRT_TIME_INFINITE) return due_ns;
  due_ns = earlier(due_ns, tfrt_deadline_after(first->stall.waits_ns, limit_ns / 3));
  return earlier(due_ns, tfrt_deadline_after(first->stall.since_ns, limit_ns));
}

static bool is_open(const tfrt_bulk_peer_t* peer) {
  return peer->channel && peer->channel->state == TFRT_BULK_CHANNEL_OPEN;
}

int64_t tfrt_bulk_stall_due_ns(const tfrt_bulk_peer_t* peer) {
  if (!is_open(peer)) return TFRT_TIME_INFINITE;
  return earlier(incoming_due_ns(peer), outgoing_due_ns(peer));
}

// All that |peer| waits for is waited for from now on only.
static void begin_all_anew(tfrt_bulk_peer_t* peer, int64_t now_ns) {
  peer->channel->heard_ns = now_ns;
  peer->channel->writing_ns = now_ns;
  for (tfrt_list_link_t* l = peer->under_way.next; l != &peer->under_way; l = l->next) {
    begin_anew(TFRT_CONTAINER_OF(l, tfrt_bulk_stall_t, link), now_ns);
  }
}

void tfrt_bulk_stall_break_late(tfrt_bulk_peer_t* peer) {
  const int64_t now_ns = tfrt_bulk_manager_now_ns(peer->manager);
  if (!is_open(peer) || now_ns < tfrt_bulk_stall_due_ns(peer)) return;
  if (has_slept(peer, now_ns)) {
    begin_all_anew(peer, now_ns);
    return;
  }
  if (now_ns < outgoing_due_ns(peer) && !is_payload_awaited(peer)) {
    // The owner waits for this side.
    peer->channel->heard_ns = now_ns;
    return;
  }
  if (now_ns >= outgoing_due_ns(peer)) limit_chunks(peer, now_ns);
  tfrt_log(TFRT_LOG_DEBUG, NULL, "a connection for payloads brings nothing and is broken");
  tfrt_bulk_channel_give_up(peer->channel);
}
