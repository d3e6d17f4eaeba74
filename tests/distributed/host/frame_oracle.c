// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/host/frame_oracle.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "distributed/wire/batch.h"
#include "distributed/wire/bulk.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"

#define MAX_PROCESSES 24
#define MAX_KINDS 96
#define MAX_LENT 16
// Above the period of heartbeats, and well below the silence that is death.
#define SILENCE_NS (2 * TFRT_NANOSECONDS_PER_SECOND)

// One call, or Void, on its link.
typedef struct oracle_call_s {
  tfrt_list_link_t link;  // in |open|, until done; then in |over|
  size_t caller;
  size_t callee;
  uint64_t number;
  uint64_t request;
  uint32_t depth;
  bool has_budget;
  uint64_t budget_us;
  uint32_t result_count;
  uint64_t told;  // bit i: result i, of the first 64
  size_t lent_count;
  tfrt_wire_reference_t lent[MAX_LENT];
} oracle_call_t;

typedef struct oracle_want_s {
  bool is_resolved;
  tfrt_wire_object_id_t id;
} oracle_want_t;

// A process, and a value of another process.
typedef struct oracle_grip_key_s {
  size_t holder;
  uint64_t owner;  // incarnation
  tfrt_wire_object_id_t id;
} oracle_grip_key_t;

// The holds that the one has on the other.
typedef struct oracle_grip_s {
  tfrt_hash_node_t by_key;
  oracle_grip_key_t key;
  int64_t holds;
  bool was_sent_on;  // by a forward, or a start: then that covers it, too
} oracle_grip_t;

// A result that its owner was asked to push to a third process.
typedef struct oracle_hint_s {
  size_t owner;
  uint64_t to;  // incarnation
  tfrt_wire_object_id_t id;
} oracle_hint_t;

// One direction between two processes.
typedef struct oracle_way_s {
  uint32_t session;
  bool is_over;  // the session has died
  uint64_t next_seq;
  int64_t heard_ns;  // when the last message came
  bool was_silent;   // for so long that its receiver may have judged its sender dead
  uint64_t last_call;
  uint64_t calls;            // of this session
  uint32_t offered_session;  // by a greeting; in force with its first frames
  uint64_t offered_calls;
  uint64_t offered_wants;
  uint64_t call_limit;
  uint64_t want_limit;
  size_t want_count;  // of this session
  size_t want_capacity;
  oracle_want_t* wants;
  uint64_t open_retains;  // names that have no Retained yet
  uint64_t counts[MAX_KINDS];
  int64_t last_ns[MAX_KINDS];
  uint64_t released;
} oracle_way_t;

struct tfrt_frame_oracle_s {
  tfrt_simulated_network_t* network;
  uint64_t first_incarnation;
  tfrt_list_link_t open;
  tfrt_list_link_t over;
  tfrt_hash_table_t grips;
  oracle_hint_t* hints;
  size_t hint_count;
  size_t hint_capacity;
  oracle_way_t ways[MAX_PROCESSES][MAX_PROCESSES];
  bool is_dead[MAX_PROCESSES];
  bool is_closing;  // a job ends, with all that is under way in it
};

// One frame as it comes.
typedef struct oracle_event_s {
  tfrt_frame_oracle_t* oracle;
  size_t from;
  size_t to;
  oracle_way_t* way;
  const tfrt_wire_frame_t* frame;
  const tfrt_wire_body_t* body;
} oracle_event_t;

static void expect(const oracle_event_t* event, bool condition, const char* format, ...)
    TFRT_PRINTF(3, 4);

static void expect(const oracle_event_t* event, bool condition, const char* format, ...) {
  if (condition) return;
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  ck_abort_msg("%s from %zu to %zu: %s", tfrt_wire_frame_kind_name(event->frame->kind), event->from,
               event->to, text);
}

// --- Grips -------------------------------------------------------------------

static uint64_t hash_grip(const void* data) {
  const oracle_grip_key_t* key = data;
  uint64_t place = ((uint64_t)key->holder << 32) | key->id.index;
  uint64_t name = tfrt_hash_combine(key->id.namer, key->id.number);
  return tfrt_hash_combine(tfrt_hash_combine(key->owner, place), name);
}

static bool has_grip_key(const tfrt_hash_node_t* node, const void* data) {
  const oracle_grip_key_t* key = data;
  const oracle_grip_t* grip = TFRT_CONTAINER_OF(node, oracle_grip_t, by_key);
  return grip->key.holder == key->holder && grip->key.owner == key->owner &&
         tfrt_wire_object_id_equal(grip->key.id, key->id);
}

static const tfrt_hash_table_vtable_t grip_vtable = {.hash = hash_grip, .equal = has_grip_key};

static oracle_grip_t* grip_of(tfrt_frame_oracle_t* oracle, size_t holder, uint64_t owner,
                              tfrt_wire_object_id_t id) {
  const oracle_grip_key_t key = {.holder = holder, .owner = owner, .id = id};
  tfrt_hash_node_t* found = tfrt_hash_table_find(&oracle->grips, &key);
  if (found) return TFRT_CONTAINER_OF(found, oracle_grip_t, by_key);
  oracle_grip_t* grip = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*grip));
  grip->key = key;
  tfrt_hash_table_insert(&oracle->grips, &key, &grip->by_key);
  return grip;
}

static void free_grips(tfrt_frame_oracle_t* oracle) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&oracle->grips); node;) {
    oracle_grip_t* grip = TFRT_CONTAINER_OF(node, oracle_grip_t, by_key);
    node = tfrt_hash_table_next(&oracle->grips, node);
    tfrt_allocator_free(tfrt_allocator_system(), grip, sizeof(*grip));
  }
  tfrt_hash_table_deinitialize(&oracle->grips);
}

// |item|, which |event| brings, may name something that its receiver has by other ways than calls.
static void note_item(const oracle_event_t* event, const tfrt_wire_item_t* item) {
  if (item->kind == TFRT_WIRE_ITEM_LIST) {
    for (size_t i = 0; i < item->list.element_count; ++i) note_item(event, &item->list.elements[i]);
    return;
  }
  if (item->kind != TFRT_WIRE_ITEM_REFERENCE) return;
  grip_of(event->oracle, event->to, item->reference.owner, item->reference.id)->was_sent_on = true;
}

// --- Calls -------------------------------------------------------------------

static oracle_call_t* find_call(tfrt_frame_oracle_t* oracle, size_t caller, size_t callee,
                                uint64_t number) {
  for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
    oracle_call_t* call = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    if (call->number == number && call->caller == caller && call->callee == callee) return call;
  }
  return NULL;
}

static void end_call(tfrt_frame_oracle_t* oracle, oracle_call_t* call) {
  tfrt_list_remove(&call->link);
  tfrt_list_push_back(&oracle->over, &call->link);
}

static void free_calls(tfrt_list_link_t* list) {
  while (!tfrt_list_is_empty(list)) {
    oracle_call_t* call = TFRT_CONTAINER_OF(list->next, oracle_call_t, link);
    tfrt_list_remove(&call->link);
    tfrt_allocator_free(tfrt_allocator_system(), call, sizeof(*call));
  }
}

// Ends all calls between |a| and |b|: their session is dead.
static void end_calls_between(tfrt_frame_oracle_t* oracle, size_t a, size_t b) {
  for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open;) {
    oracle_call_t* call = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    link = link->next;
    bool is_theirs =
        (call->caller == a && call->callee == b) || (call->caller == b && call->callee == a);
    if (is_theirs) end_call(oracle, call);
  }
}

// True if |a| may have judged |b| dead by now: it has heard nothing of it for long.
static bool is_silent(const tfrt_frame_oracle_t* oracle, size_t a, size_t b) {
  int64_t now_ns = tfrt_clock_now_ns(tfrt_simulated_network_clock(oracle->network));
  const oracle_way_t* way = &oracle->ways[b][a];
  return oracle->is_dead[b] || way->was_silent || now_ns - way->heard_ns > SILENCE_NS;
}

static void take_number(const oracle_event_t* event, uint64_t number) {
  oracle_way_t* way = event->way;
  // Calls that were named for a session that died are never seen; their numbers are used up.
  bool is_next = number == way->last_call + 1;
  expect(event, is_next || (way->calls == 0 && number > way->last_call),
         "the call %llu comes after %llu", (unsigned long long)number,
         (unsigned long long)way->last_call);
  way->last_call = number;
  ++way->calls;
}

// True if |process| may have lost the root or the client, and have closed the job for that.
static bool has_lost_any(const tfrt_frame_oracle_t* oracle, size_t process) {
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    bool has_met = oracle->ways[i][process].heard_ns > 0;
    // If messages go only one way, the end that hears nothing reports that to the other.
    if (has_met && (is_silent(oracle, process, i) || is_silent(oracle, i, process))) return true;
  }
  return false;
}

// Returns true if one of the calls in |list|, which may have made |call|, has as much time. Sets
// |*out_most_us| to the most that one of them has, and stays at 0 without any.
static bool has_time_above(const tfrt_list_link_t* list, const oracle_call_t* call,
                           uint64_t* out_most_us) {
  *out_most_us = 0;
  for (const tfrt_list_link_t* link = list->next; link != list; link = link->next) {
    const oracle_call_t* above = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    bool is_above = above->callee == call->caller && above->request == call->request &&
                    above->depth + 1 == call->depth;
    if (!is_above) continue;
    if (!above->has_budget || (call->has_budget && call->budget_us <= above->budget_us))
      return true;
    if (above->budget_us > *out_most_us) *out_most_us = above->budget_us;
  }
  return false;
}

// A call may have no more time than those that may have made it. A call that ends early, as it is
// cancelled or its host gives up, may be over before the calls that it has made come here. The
// calls that are over are many, so they are asked last.
static void check_budget(const oracle_event_t* event, const oracle_call_t* call) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  uint64_t most_us = 0;
  uint64_t over_us = 0;
  if (has_time_above(&oracle->open, call, &most_us)) return;
  // The call that made it is not seen any more if its own caller is lost.
  if (most_us == 0 || call->request == 0 || has_lost_any(oracle, event->from)) return;
  expect(event, has_time_above(&oracle->over, call, &over_us), "it has %llu us, above it %llu",
         (unsigned long long)call->budget_us,
         (unsigned long long)(most_us > over_us ? most_us : over_us));
}

static void note_hint(const oracle_event_t* event, const tfrt_wire_push_to_t* push_to) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  if (oracle->hint_count == oracle->hint_capacity) {
    size_t capacity = 2 * oracle->hint_capacity + 16;
    oracle_hint_t* hints =
        tfrt_allocator_allocate(tfrt_allocator_system(), capacity * sizeof(*hints));
    if (oracle->hints) memcpy(hints, oracle->hints, oracle->hint_count * sizeof(*hints));
    tfrt_allocator_free(tfrt_allocator_system(), oracle->hints,
                        oracle->hint_capacity * sizeof(*hints));
    oracle->hints = hints;
    oracle->hint_capacity = capacity;
  }
  oracle->hints[oracle->hint_count++] =
      (oracle_hint_t){.owner = event->to,
                      .to = push_to->to,
                      .id = {.namer = oracle->first_incarnation + event->from,
                             .number = event->body->invoke.call,
                             .index = push_to->result}};
}

// The caller holds each of the results that it has named by |call|, whatever becomes of them.
static void hold_results(const oracle_event_t* event, uint64_t call, uint32_t count) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_wire_object_id_t id = {
        .namer = oracle->first_incarnation + event->from, .number = call, .index = i};
    ++grip_of(oracle, event->from, oracle->first_incarnation + event->to, id)->holds;
  }
}

static void on_invoke(const oracle_event_t* event) {
  const tfrt_wire_invoke_t* invoke = &event->body->invoke;
  take_number(event, invoke->call);
  expect(event, event->way->calls <= event->way->call_limit, "%llu calls, and credit for %llu",
         (unsigned long long)event->way->calls, (unsigned long long)event->way->call_limit);
  oracle_call_t* call = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*call));
  call->caller = event->from;
  call->callee = event->to;
  call->number = invoke->call;
  call->request = event->frame->request;
  call->depth = invoke->depth;
  call->has_budget = event->frame->has_budget;
  call->budget_us = event->frame->budget_us;
  call->result_count = invoke->result_count;
  for (size_t i = 0; i < invoke->argument_count && call->lent_count < MAX_LENT; ++i) {
    if (invoke->arguments[i].kind != TFRT_WIRE_ITEM_REFERENCE) continue;
    call->lent[call->lent_count++] = invoke->arguments[i].reference;
  }
  hold_results(event, invoke->call, invoke->result_count);
  for (size_t i = 0; i < invoke->push_to_count; ++i) note_hint(event, &invoke->push_to[i]);
  // A value that others wait for is sent even if the call that owes it has failed.
  bool is_send = invoke->program == 0 && invoke->function == TFRT_WIRE_BUILTIN_SEND;
  if (!is_send) check_budget(event, call);
  tfrt_list_push_back(&event->oracle->open, &call->link);
}

// When the last call of |request| and |depth| on |callee| is done, none below may be open.
static void check_children(const oracle_event_t* event, size_t callee, uint64_t request,
                           uint32_t depth) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  if (request == 0 || oracle->is_closing || has_lost_any(oracle, callee)) return;
  const oracle_call_t* child = NULL;
  for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
    const oracle_call_t* call = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    if (call->request != request) continue;
    if (call->callee == callee && call->depth == depth) return;
    bool is_below = call->caller == callee && call->depth == depth + 1;
    if (is_below && !is_silent(oracle, callee, call->callee)) child = call;
  }
  expect(event, !child, "a call is done, and call %llu below it is not",
         (unsigned long long)(child ? child->number : 0));
}

// True if another process waits until |process| holds a value for it. The holds that |process|
// takes in turn serve that request, not a call that |process| runs.
static bool is_asked_to_hold(const tfrt_frame_oracle_t* oracle, size_t process) {
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    if (oracle->ways[i][process].open_retains > 0) return true;
  }
  return false;
}

// The |call| has asked for nothing to be kept that was not acknowledged.
static void check_retained(const oracle_event_t* event, const oracle_call_t* call) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  // The value that it would keep may be an error by now.
  if (is_asked_to_hold(oracle, call->callee) || has_lost_any(oracle, call->callee)) return;
  for (size_t i = 0; i < call->lent_count && !oracle->is_closing; ++i) {
    uint64_t owner = call->lent[i].owner - oracle->first_incarnation;
    if (owner >= MAX_PROCESSES || oracle->is_dead[owner]) continue;
    bool is_only = true;
    for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
      const oracle_call_t* other = TFRT_CONTAINER_OF(link, oracle_call_t, link);
      if (other != call && other->callee == call->callee) is_only = false;
    }
    expect(event, !is_only || oracle->ways[call->callee][owner].open_retains == 0,
           "call %llu is done before what it keeps is acknowledged",
           (unsigned long long)call->number);
  }
}

static void on_void(const oracle_event_t* event) {
  const tfrt_wire_void_call_t* call = &event->body->void_call;
  take_number(event, call->call);
  hold_results(event, call->call, call->result_count);
}

static void on_result(const oracle_event_t* event) {
  const tfrt_wire_result_t* result = &event->body->result;
  tfrt_frame_oracle_t* oracle = event->oracle;
  oracle_call_t* call = find_call(oracle, event->to, event->from, result->call);
  expect(event, call, "call %llu is not open", (unsigned long long)result->call);
  for (size_t i = 0; i < result->result_count; ++i) {
    uint32_t index = result->results[i].index;
    note_item(event, &result->results[i].item);
    expect(event, index < call->result_count, "call %llu has no result %u",
           (unsigned long long)result->call, index);
    if (index >= 64) continue;
    expect(event, !(call->told >> index & 1), "result %u of call %llu comes again", index,
           (unsigned long long)result->call);
    call->told |= UINT64_C(1) << index;
  }
  if (!result->done) return;
  check_retained(event, call);
  uint64_t request = call->request;
  uint32_t depth = call->depth;
  end_call(event->oracle, call);
  check_children(event, event->from, request, depth);
}

// --- Values ------------------------------------------------------------------

static void on_want(const oracle_event_t* event) {
  oracle_way_t* way = event->way;
  const tfrt_wire_want_t* want = &event->body->want;
  expect(event, want->want == way->want_count + 1, "want %llu comes after %zu",
         (unsigned long long)want->want, way->want_count);
  expect(event, want->want <= way->want_limit, "want %llu, and credit for %llu",
         (unsigned long long)want->want, (unsigned long long)way->want_limit);
  if (way->want_count == way->want_capacity) {
    size_t capacity = 2 * way->want_capacity + 16;
    oracle_want_t* wants =
        tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), capacity * sizeof(*wants));
    if (way->wants) memcpy(wants, way->wants, way->want_count * sizeof(*wants));
    tfrt_allocator_free(tfrt_allocator_system(), way->wants,
                        way->want_capacity * sizeof(*way->wants));
    way->wants = wants;
    way->want_capacity = capacity;
  }
  way->wants[way->want_count++] = (oracle_want_t){.id = want->id};
}

static void on_resolve(const oracle_event_t* event) {
  const oracle_way_t* back = &event->oracle->ways[event->to][event->from];
  uint64_t want = event->body->resolve.want;
  expect(event, want >= 1 && want <= back->want_count, "there is no want %llu",
         (unsigned long long)want);
  expect(event, !back->wants[want - 1].is_resolved, "want %llu is answered twice",
         (unsigned long long)want);
  back->wants[want - 1].is_resolved = true;
  note_item(event, &event->body->resolve.item);
}

// True if |process| has |lent| by way of a call that it runs.
static bool is_lent_to(const tfrt_frame_oracle_t* oracle, size_t process,
                       const tfrt_wire_reference_t* lent) {
  for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
    const oracle_call_t* call = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    for (size_t i = 0; i < call->lent_count && call->callee == process; ++i) {
      bool is_it = call->lent[i].owner == lent->owner &&
                   tfrt_wire_object_id_equal(call->lent[i].id, lent->id);
      if (is_it) return true;
    }
  }
  return false;
}

// The sender of |event| has no hold left on |released|: no unfinished call of the sender lends it,
// unless others keep it for the sender.
static void check_released(const oracle_event_t* event, const tfrt_wire_reference_t* released) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  if (is_lent_to(oracle, event->from, released) || has_lost_any(oracle, event->from)) return;
  for (tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
    const oracle_call_t* call = TFRT_CONTAINER_OF(link, oracle_call_t, link);
    if (call->caller != event->from || is_silent(oracle, call->caller, call->callee)) continue;
    for (size_t i = 0; i < call->lent_count; ++i) {
      bool is_it = call->lent[i].owner == released->owner &&
                   tfrt_wire_object_id_equal(call->lent[i].id, released->id);
      expect(event, !is_it, "an argument of call %llu to %zu is let go of, and that is not done",
             (unsigned long long)call->number, call->callee);
    }
  }
}

static void on_released(const oracle_event_t* event, const tfrt_wire_reference_t* released) {
  oracle_grip_t* grip = grip_of(event->oracle, event->from, released->owner, released->id);
  ++event->way->released;
  --grip->holds;
  if (grip->holds <= 0 && !grip->was_sent_on && !event->oracle->is_closing) {
    check_released(event, released);
  }
}

static void on_release(const oracle_event_t* event) {
  const tfrt_wire_release_t* release = &event->body->release;
  for (size_t r = 0; r < release->range_count; ++r) {
    const tfrt_wire_object_range_t* range = &release->ranges[r];
    for (uint64_t n = 0; n < (uint64_t)range->number_count * range->index_count; ++n) {
      const tfrt_wire_reference_t released = {
          .owner = event->oracle->first_incarnation + event->to,
          .id = {.namer = range->namer,
                 .number = range->first_number + n / range->index_count,
                 .index = range->first_index + (uint32_t)(n % range->index_count)}};
      on_released(event, &released);
    }
  }
}

static void on_retained(const oracle_event_t* event) {
  oracle_way_t* back = &event->oracle->ways[event->to][event->from];
  size_t count = event->body->retained.item_count;
  expect(event, count <= back->open_retains, "%zu answers for %llu names", count,
         (unsigned long long)back->open_retains);
  back->open_retains -= count;
  for (size_t i = 0; i < count; ++i) {
    const tfrt_wire_retained_item_t* retained = &event->body->retained.items[i];
    if (retained->item.kind != TFRT_WIRE_ITEM_HELD) continue;
    ++grip_of(event->oracle, event->to, event->oracle->first_incarnation + event->from,
              retained->id)
          ->holds;
  }
}

static void on_push(const oracle_event_t* event) {
  tfrt_frame_oracle_t* oracle = event->oracle;
  const tfrt_wire_push_t* push = &event->body->push;
  note_item(event, &push->item);
  for (size_t i = oracle->hint_count; i-- > 0;) {
    oracle_hint_t* hint = &oracle->hints[i];
    bool is_it = hint->owner == event->from && hint->to == oracle->first_incarnation + event->to &&
                 tfrt_wire_object_id_equal(hint->id, push->id);
    if (!is_it) continue;
    *hint = oracle->hints[--oracle->hint_count];
    return;
  }
  // Frames of a dead process may still come: the oracle doesn't check them, but the hosts process
  // them.
  uint64_t namer = push->id.namer - oracle->first_incarnation;
  expect(event, namer < MAX_PROCESSES && oracle->is_dead[namer],
         "its namer has not asked for that");
}

// If the sender owns the value, it holds the value for the receiver.
static void on_replace(const oracle_event_t* event) {
  const tfrt_wire_item_t* item = &event->body->replace.item;
  note_item(event, item);
  uint64_t sender = event->oracle->first_incarnation + event->from;
  if (item->kind != TFRT_WIRE_ITEM_REFERENCE || item->reference.owner != sender) return;
  ++grip_of(event->oracle, event->to, sender, item->reference.id)->holds;
}

// --- Frames ------------------------------------------------------------------

static void on_job_body(const oracle_event_t* event) {
  switch (event->frame->kind) {
    case TFRT_WIRE_FRAME_JOB_START:
      // Lent until the end of the start.
      for (size_t i = 0; i < event->body->job_start.argument_count; ++i) {
        note_item(event, &event->body->job_start.arguments[i]);
      }
      break;
    case TFRT_WIRE_FRAME_JOB_END:
      check_children(event, event->from, event->body->job_end.request, UINT32_MAX);
      break;
    case TFRT_WIRE_FRAME_JOB_CLOSE:
    case TFRT_WIRE_FRAME_JOB_DETACH:
    case TFRT_WIRE_FRAME_JOB_GONE:
      event->oracle->is_closing = true;
      break;
    case TFRT_WIRE_FRAME_JOB_OPEN:
      event->oracle->is_closing = false;
      break;
    default:
      break;
  }
}

static void on_body(const oracle_event_t* event) {
  switch (event->frame->kind) {
    case TFRT_WIRE_FRAME_INVOKE:
      on_invoke(event);
      break;
    case TFRT_WIRE_FRAME_VOID:
      on_void(event);
      break;
    case TFRT_WIRE_FRAME_RESULT:
      on_result(event);
      break;
    case TFRT_WIRE_FRAME_WANT:
      on_want(event);
      break;
    case TFRT_WIRE_FRAME_RESOLVE:
      on_resolve(event);
      break;
    case TFRT_WIRE_FRAME_RELEASE:
      on_release(event);
      break;
    case TFRT_WIRE_FRAME_RETAIN:
      event->way->open_retains += event->body->retain.id_count;
      break;
    case TFRT_WIRE_FRAME_RETAINED:
      on_retained(event);
      break;
    case TFRT_WIRE_FRAME_REPLACE:
      on_replace(event);
      break;
    case TFRT_WIRE_FRAME_PUSH:
      on_push(event);
      break;
    default:
      on_job_body(event);
      break;
  }
}

static void bury_way(tfrt_frame_oracle_t* oracle, size_t a, size_t b) {
  oracle->ways[a][b].is_over = true;
  oracle->ways[b][a].is_over = true;
  oracle->ways[a][b].open_retains = 0;
  oracle->ways[b][a].open_retains = 0;
  end_calls_between(oracle, a, b);
}

// The frames of the session itself; true if |event| is not one of the numbered frames of a job.
static bool on_session_frame(const oracle_event_t* event) {
  switch (event->frame->kind) {
    case TFRT_WIRE_FRAME_HELLO:
    case TFRT_WIRE_FRAME_WELCOME:
      return true;
    case TFRT_WIRE_FRAME_REFUSE:
      if (event->body->refuse.reason != TFRT_WIRE_REFUSE_CROSSED) {
        bury_way(event->oracle, event->from, event->to);
      }
      return true;
    case TFRT_WIRE_FRAME_GOODBYE:
      if (event->body->goodbye.reason != TFRT_WIRE_GOODBYE_DRAIN) {
        bury_way(event->oracle, event->from, event->to);
      }
      return true;
    default:
      return false;
  }
}

static void on_frame(tfrt_frame_oracle_t* oracle, size_t from, size_t to,
                     const tfrt_wire_frame_t* frame) {
  oracle_way_t* way = &oracle->ways[from][to];
  if (frame->kind < MAX_KINDS) {
    ++way->counts[frame->kind];
    way->last_ns[frame->kind] = tfrt_clock_now_ns(tfrt_simulated_network_clock(oracle->network));
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  tfrt_status_t status = tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body);
  // Tests that send nonsense on purpose have the receiver judge it.
  if (!status) {
    oracle_event_t event = {
        .oracle = oracle, .from = from, .to = to, .way = way, .frame = frame, .body = &body};
    if (!on_session_frame(&event) && !way->is_over) on_body(&event);
  }
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

static void begin_session(tfrt_frame_oracle_t* oracle, size_t from, size_t to, uint32_t session) {
  if (oracle->ways[from][to].session != 0) bury_way(oracle, from, to);
  for (int i = 0; i < 2; ++i) {
    oracle_way_t* way = i == 0 ? &oracle->ways[from][to] : &oracle->ways[to][from];
    way->session = session;
    way->is_over = false;
    way->next_seq = 1;
    way->calls = 0;
    bool has_offer = way->offered_session == session;
    way->call_limit = has_offer ? way->offered_calls : 0;
    way->want_limit = has_offer ? way->offered_wants : 0;
    way->want_count = 0;
  }
}

// |batch|, which came the other way, says what may go on |way|.
static void take_credit(oracle_way_t* way, const tfrt_wire_batch_t* batch) {
  if (batch->session > way->session) {
    way->offered_session = batch->session;
    way->offered_calls = batch->call_limit;
    way->offered_wants = batch->want_limit;
    return;
  }
  if (batch->call_limit > way->call_limit) way->call_limit = batch->call_limit;
  if (batch->want_limit > way->want_limit) way->want_limit = batch->want_limit;
}

static void on_batch(tfrt_frame_oracle_t* oracle, const tfrt_simulated_message_t* message,
                     const tfrt_wire_batch_t* batch) {
  size_t from = message->from;
  size_t to = message->to;
  oracle_way_t* way = &oracle->ways[from][to];
  // A number that a Hello proposes is not in force before frames come under it.
  bool is_greeting = batch->first_seq == 0 && batch->frame_count > 0;
  if (batch->session > way->session && !is_greeting) {
    begin_session(oracle, from, to, batch->session);
  }
  if (batch->session < way->session) return;
  int64_t now_ns = tfrt_clock_now_ns(tfrt_simulated_network_clock(oracle->network));
  if (way->heard_ns > 0 && now_ns - way->heard_ns > SILENCE_NS) way->was_silent = true;
  way->heard_ns = now_ns;
  take_credit(&oracle->ways[to][from], batch);
  for (size_t i = 0; i < batch->frame_count; ++i) {
    if (batch->first_seq != 0) {
      if (batch->first_seq + i != way->next_seq) continue;
      ++way->next_seq;
    }
    on_frame(oracle, from, to, &batch->frames[i]);
  }
}

static void on_chunk(const tfrt_frame_oracle_t* oracle, const tfrt_simulated_message_t* message,
                     const tfrt_wire_chunk_t* chunk) {
  const oracle_way_t* way = &oracle->ways[message->to][message->from];
  if (way->is_over) return;
  ck_assert_msg(chunk->want >= 1 && chunk->want <= way->want_count,
                "a chunk from %zu to %zu: there is no want %llu", message->from, message->to,
                (unsigned long long)chunk->want);
}

static void on_bulk(const tfrt_frame_oracle_t* oracle, const tfrt_simulated_message_t* message,
                    tfrt_arena_t* arena) {
  tfrt_status_t status = NULL;
  if (message->is_from_dialler) {
    tfrt_wire_bulk_t up;
    status = tfrt_wire_bulk_decode(message->bytes, true, arena, &up);
    if (!status && up.kind == TFRT_WIRE_BULK_CHUNK) on_chunk(oracle, message, &up.chunk);
  } else {
    tfrt_wire_bulk_t down;
    status = tfrt_wire_bulk_decode(message->bytes, false, arena, &down);
    if (!status && down.kind == TFRT_WIRE_BULK_CHUNK) on_chunk(oracle, message, &down.chunk);
  }
  tfrt_status_release(status);
}

static void look(void* argument, const tfrt_simulated_message_t* message) {
  tfrt_frame_oracle_t* oracle = argument;
  if (message->from >= MAX_PROCESSES || message->to >= MAX_PROCESSES) return;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  if (message->kind == TFRT_TRANSPORT_BULK) {
    on_bulk(oracle, message, &arena);
  } else {
    tfrt_wire_batch_t batch;
    tfrt_status_t status = tfrt_wire_batch_decode(message->bytes, &arena, &batch);
    if (!status) on_batch(oracle, message, &batch);
    tfrt_status_release(status);
  }
  tfrt_arena_deinitialize(&arena);
}

// --- Life --------------------------------------------------------------------

tfrt_frame_oracle_t* tfrt_frame_oracle_allocate(tfrt_simulated_network_t* network,
                                                uint64_t first_incarnation) {
  tfrt_frame_oracle_t* oracle =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*oracle));
  oracle->network = network;
  oracle->first_incarnation = first_incarnation;
  tfrt_list_initialize(&oracle->open);
  tfrt_list_initialize(&oracle->over);
  tfrt_hash_table_initialize(&oracle->grips, &grip_vtable, tfrt_allocator_system());
  tfrt_simulated_network_set_tap(network, look, oracle);
  return oracle;
}

void tfrt_frame_oracle_free(tfrt_frame_oracle_t* oracle) {
  tfrt_simulated_network_set_tap(oracle->network, NULL, NULL);
  free_calls(&oracle->open);
  free_calls(&oracle->over);
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    for (size_t j = 0; j < MAX_PROCESSES; ++j) {
      oracle_way_t* way = &oracle->ways[i][j];
      tfrt_allocator_free(tfrt_allocator_system(), way->wants,
                          way->want_capacity * sizeof(*way->wants));
    }
  }
  free_grips(oracle);
  tfrt_allocator_free(tfrt_allocator_system(), oracle->hints,
                      oracle->hint_capacity * sizeof(*oracle->hints));
  tfrt_allocator_free(tfrt_allocator_system(), oracle, sizeof(*oracle));
}

uint64_t tfrt_frame_oracle_count(const tfrt_frame_oracle_t* oracle, size_t from, size_t to,
                                 tfrt_wire_frame_kind_t kind) {
  return oracle->ways[from][to].counts[kind];
}

uint64_t tfrt_frame_oracle_count_all(const tfrt_frame_oracle_t* oracle,
                                     tfrt_wire_frame_kind_t kind) {
  uint64_t sum = 0;
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    for (size_t j = 0; j < MAX_PROCESSES; ++j) sum += oracle->ways[i][j].counts[kind];
  }
  return sum;
}

int64_t tfrt_frame_oracle_last_ns(const tfrt_frame_oracle_t* oracle, size_t from, size_t to,
                                  tfrt_wire_frame_kind_t kind) {
  return oracle->ways[from][to].last_ns[kind];
}

uint64_t tfrt_frame_oracle_released(const tfrt_frame_oracle_t* oracle, size_t from, size_t to) {
  return oracle->ways[from][to].released;
}

size_t tfrt_frame_oracle_open_calls(const tfrt_frame_oracle_t* oracle) {
  size_t count = 0;
  for (const tfrt_list_link_t* link = oracle->open.next; link != &oracle->open; link = link->next) {
    ++count;
  }
  return count;
}

void tfrt_frame_oracle_reset_counts(tfrt_frame_oracle_t* oracle) {
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    for (size_t j = 0; j < MAX_PROCESSES; ++j) {
      oracle_way_t* way = &oracle->ways[i][j];
      memset(way->counts, 0, sizeof(way->counts));
      way->released = 0;
    }
  }
}

void tfrt_frame_oracle_expect_end(tfrt_frame_oracle_t* oracle) { oracle->is_closing = true; }

void tfrt_frame_oracle_bury(tfrt_frame_oracle_t* oracle, size_t index) {
  oracle->is_dead[index] = true;
  for (size_t i = 0; i < MAX_PROCESSES; ++i) {
    if (i != index) bury_way(oracle, i, index);
  }
}
