// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/object_table.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"

// --- States --------------------------------------------------------------------

#define TFRT_REMOTE_VALUE_BIT(name) (1u << TFRT_REMOTE_VALUE_##name)

// The states that may follow each state.
static const uint32_t tfrt_remote_value_next_states[] = {
    [TFRT_REMOTE_VALUE_UNKNOWN] =
        TFRT_REMOTE_VALUE_BIT(UNKNOWN) | TFRT_REMOTE_VALUE_BIT(AWAITING_PUSH) |
        TFRT_REMOTE_VALUE_BIT(THERE) | TFRT_REMOTE_VALUE_BIT(COMING_HOME) |
        TFRT_REMOTE_VALUE_BIT(LOST) | TFRT_REMOTE_VALUE_BIT(RESOLVED),
    [TFRT_REMOTE_VALUE_AWAITING_PUSH] =
        TFRT_REMOTE_VALUE_BIT(UNKNOWN) | TFRT_REMOTE_VALUE_BIT(RESOLVED),
    [TFRT_REMOTE_VALUE_THERE] = TFRT_REMOTE_VALUE_BIT(UNKNOWN) | TFRT_REMOTE_VALUE_BIT(THERE) |
                                TFRT_REMOTE_VALUE_BIT(COMING_HOME) | TFRT_REMOTE_VALUE_BIT(LOST) |
                                TFRT_REMOTE_VALUE_BIT(RESOLVED),
    [TFRT_REMOTE_VALUE_COMING_HOME] = TFRT_REMOTE_VALUE_BIT(UNKNOWN) | TFRT_REMOTE_VALUE_BIT(LOST) |
                                      TFRT_REMOTE_VALUE_BIT(RESOLVED),
    [TFRT_REMOTE_VALUE_LOST] = TFRT_REMOTE_VALUE_BIT(LOST) | TFRT_REMOTE_VALUE_BIT(UNKNOWN) |
                               TFRT_REMOTE_VALUE_BIT(RESOLVED),
    [TFRT_REMOTE_VALUE_RESOLVED] = 0,
};

void tfrt_remote_value_set_state(tfrt_remote_value_t* value, tfrt_remote_value_state_t state) {
  const uint32_t next_states = tfrt_remote_value_next_states[value->state];
  assert(next_states & (1u << state));
  (void)next_states;  // without assertions nothing else reads it
  value->state = state;
}

static tfrt_remote_value_t* remote_value_of_indirect(tfrt_indirect_value_t* value) {
  return TFRT_CONTAINER_OF(value, tfrt_remote_value_t, base);
}

// --- Asking ------------------------------------------------------------------

struct tfrt_remote_value_order_s {
  tfrt_remote_value_t* value;   // +0; its owner
  tfrt_async_value_t** chains;  // +1 each
  uint32_t count;
  uint32_t next;       // those before it have come
  tfrt_task_t waiter;  // for the next one
  bool is_waiting;     // then it keeps |value|
};

static void remote_value_free_order(tfrt_remote_value_t* value) {
  tfrt_remote_value_order_t* order = value->order;
  if (!order) return;
  value->order = NULL;
  tfrt_allocator_t allocator = value->node->options.allocator;
  for (uint32_t i = 0; i < order->count; ++i) {
    tfrt_action_queue_release(&value->node->actions, order->chains[i]);
  }
  tfrt_allocator_free(allocator, order->chains, order->count * sizeof(*order->chains));
  tfrt_allocator_free(allocator, order, sizeof(*order));
}

// Runs when the chain that a value has waited for is settled.
static void remote_value_run_chain_waiter(tfrt_task_t* task) {
  tfrt_remote_value_order_t* order = TFRT_CONTAINER_OF(task, tfrt_remote_value_order_t, waiter);
  tfrt_remote_value_t* value = order->value;
  tfrt_node_t* node = tfrt_node_retain(value->node);
  tfrt_node_lock_tables(node);
  order->is_waiting = false;
  ++order->next;
  tfrt_remote_value_ask_again(value);
  tfrt_remote_value_release(value);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Waits for the next chain that must come before the payload; true if none is left.
static bool remote_value_is_in_order(tfrt_remote_value_t* value) {
  tfrt_remote_value_order_t* order = value->order;
  if (!order) return true;
  if (order->is_waiting) return false;
  if (order->next == order->count) {
    remote_value_free_order(value);
    return true;
  }
  order->is_waiting = true;
  tfrt_async_value_retain(&value->base.base);
  tfrt_task_initialize(&order->waiter, remote_value_run_chain_waiter);
  tfrt_action_queue_wait(&value->node->actions, order->chains[order->next], TFRT_ACTION_AWAIT,
                         &order->waiter);
  return false;
}

// The order of |value|, made if there is none, with room for |count| more chains; NULL when memory
// is out.
static tfrt_remote_value_order_t* remote_value_make_order(tfrt_remote_value_t* value,
                                                          uint32_t count) {
  tfrt_allocator_t allocator = value->node->options.allocator;
  tfrt_remote_value_order_t* order = value->order;
  if (!order) {
    order = tfrt_allocator_allocate_zeroed(allocator, sizeof(*order));
    if (!order) return NULL;
    order->value = value;
    value->order = order;
  }
  size_t size = sizeof(*order->chains);
  tfrt_async_value_t** grown = tfrt_allocator_reallocate(
      allocator, order->chains, order->count * size, (order->count + count) * size);
  if (!grown) return NULL;
  order->chains = grown;
  return order;
}

void tfrt_remote_value_order(tfrt_remote_value_t* value, tfrt_async_value_t* const* chains,
                             uint32_t chain_count) {
  if (chain_count == 0 || tfrt_remote_value_is_resolved(value)) return;
  tfrt_remote_value_order_t* order = remote_value_make_order(value, chain_count);
  if (!order) {
    tfrt_remote_value_fail(value, tfrt_status_out_of_memory());
    return;
  }
  for (uint32_t i = 0; i < chain_count; ++i) {
    order->chains[order->count++] = tfrt_async_value_retain(chains[i]);
  }
}

// Asks the owner for |value| at |level|, unless a question is open or the answer known.
static void remote_value_ask(tfrt_remote_value_t* value, tfrt_wire_want_level_t level) {
  if (tfrt_remote_value_is_resolved(value) || tfrt_remote_value_is_lost(value) ||
      value->question.want != 0 || !value->peer) {
    return;
  }
  if (value->state == TFRT_REMOTE_VALUE_AWAITING_PUSH) return;
  if (level == TFRT_WIRE_WANT_AVAILABLE && tfrt_remote_value_is_there(value)) return;
  if (level == TFRT_WIRE_WANT_VALUE && !remote_value_is_in_order(value)) return;
  tfrt_outgoing_want_send(value, level);
}

void tfrt_remote_value_ask_again(tfrt_remote_value_t* value) {
  if (value->result_is_due && !tfrt_remote_value_is_there(value) && value->forwards == 0) return;
  if (value->demanded) {
    remote_value_ask(value, TFRT_WIRE_WANT_VALUE);
  } else if (value->settlement.value) {
    remote_value_ask(value, TFRT_WIRE_WANT_AVAILABLE);
  }
}

// The users that await |value| get |settled| (consumed).
static void remote_value_settle_now(tfrt_remote_value_t* value, tfrt_async_value_t* settled) {
  tfrt_action_queue_t* actions = &value->node->actions;
  if (!value->settlement.value || value->settlement.is_known ||
      value->settlement.value->kind != TFRT_ASYNC_VALUE_INDIRECT) {
    tfrt_action_queue_release(actions, settled);
    return;
  }
  value->settlement.is_known = true;
  tfrt_action_queue_forward_take(actions, tfrt_async_value_retain(value->settlement.value),
                                 settled);
}

// Runs when the target of |value| is settled. If the target is resolved, |value| will be, too, and
// that comes first: users look for an error there.
static void remote_value_run_meaning_waiter(tfrt_task_t* task) {
  tfrt_remote_value_t* value = TFRT_CONTAINER_OF(task, tfrt_remote_value_t, settlement.waiter);
  tfrt_node_t* node = tfrt_node_retain(value->node);
  tfrt_node_lock_tables(node);
  tfrt_async_value_t* target = tfrt_async_value_is_available(value->settlement.meaning)
                                   ? tfrt_async_value_retain(&value->base.base)
                                   : tfrt_async_value_ready_chain();
  tfrt_action_queue_forward_take(&node->actions, tfrt_async_value_retain(value->settlement.value),
                                 target);
  tfrt_remote_value_release(value);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// The users that await |value|, which was forwarded, await its target from now on. This asks the
// target in their place, as a plain wait would ask nobody.
static void remote_value_settle_later(tfrt_remote_value_t* value) {
  if (!value->settlement.value || value->settlement.is_known) return;
  value->settlement.is_known = true;
  tfrt_async_value_retain(&value->base.base);
  tfrt_task_initialize(&value->settlement.waiter, remote_value_run_meaning_waiter);
  tfrt_action_queue_wait(&value->node->actions, value->settlement.meaning, TFRT_ACTION_AWAIT,
                         &value->settlement.waiter);
}

void tfrt_remote_value_settle(tfrt_remote_value_t* value, tfrt_async_value_t* settled) {
  if (tfrt_async_value_is_available(settled)) {
    remote_value_settle_now(value, settled);
  } else {
    value->settlement.meaning = settled;
    remote_value_settle_later(value);
  }
}

static void remote_value_demand(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  value->demanded = true;
  tfrt_remote_value_ask_again(value);
  tfrt_node_unlock(node);
}

void tfrt_remote_value_await(tfrt_remote_value_t* value) {
  if (value->settlement.value) return;
  tfrt_indirect_value_t* settled = tfrt_indirect_value_create();
  value->settlement.value = settled ? &settled->base : tfrt_async_value_out_of_memory();
  value->settlement.is_known = !settled;
  if (value->settlement.meaning) {
    remote_value_settle_later(value);
  } else if (tfrt_remote_value_is_resolved(value)) {
    // The end of |value| may still be on its way; the users that await it run after that.
    remote_value_settle_now(value, tfrt_async_value_retain(&value->base.base));
  } else if (tfrt_remote_value_is_there(value)) {
    remote_value_settle_now(value, tfrt_async_value_ready_chain());
  } else {
    tfrt_remote_value_ask_again(value);
  }
}

static tfrt_async_value_t* remote_value_settlement(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  tfrt_remote_value_await(value);
  tfrt_async_value_t* settled = value->settlement.value;
  tfrt_node_unlock(node);
  return settled;
}

// --- Life --------------------------------------------------------------------

void tfrt_remote_value_unlink_peers(tfrt_remote_value_t* value) {
  value->node->value_hooks->forget_push(value);
  tfrt_list_remove(&value->located);
  tfrt_list_remove(&value->named);
  value->peer = NULL;
}

// |value| is at |location|, and |peer| is the host to ask.
static void remote_value_locate_at(tfrt_remote_value_t* value, tfrt_peer_t* peer,
                                   const tfrt_wire_reference_t* location) {
  value->location = *location;
  if (!tfrt_remote_value_is_lost(value)) {
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  }
  value->peer = peer;
  tfrt_list_push_back(&peer->located, &value->located);
}

void tfrt_remote_value_locate(tfrt_remote_value_t* value, const tfrt_wire_reference_t* location) {
  value->node->value_hooks->forget_push(value);
  tfrt_list_remove(&value->located);
  value->peer = NULL;
  tfrt_peer_t* peer = NULL;
  tfrt_status_t status = tfrt_job_reach(value->job, location->owner, &peer);
  if (status) {
    value->location = *location;
    tfrt_remote_value_lose(value, status);
    tfrt_status_release(status);
    return;
  }
  remote_value_locate_at(value, peer, location);
  if (value->name.owner == location->owner) return;
  // The host that gave us the name keeps what it stands for, as long as that host lives.
  tfrt_peer_t* namer = tfrt_peer_find(value->node, value->name.owner);
  if (namer && namer != value->peer && !tfrt_list_is_linked(&value->named)) {
    tfrt_list_push_back(&namer->named, &value->named);
  }
}

// Gives back what an alias has kept.
static void remote_value_end_alias(tfrt_remote_value_t* value) {
  tfrt_object_table_t* objects = value->node->objects;
  tfrt_action_queue_release(&value->node->actions, value->alias.same_as);
  if (value->alias.exported_as.number == 0) return;
  // The end of a job frees its objects first.
  tfrt_object_t* exported = tfrt_object_table_find(objects, value->alias.exported_as, value->job);
  if (exported) tfrt_object_table_end_loan(objects, exported);
}

void tfrt_remote_value_release_hold(tfrt_remote_value_t* value, const tfrt_wire_reference_t* name) {
  tfrt_peer_t* owner = tfrt_peer_find(value->node, name->owner);
  if (owner) tfrt_outgoing_hold_give_back(owner, value->job, &name->id, value->bytes.is_large);
}

static void remote_value_release_all_holds(tfrt_remote_value_t* value) {
  if (value->held) tfrt_remote_value_release_hold(value, &value->name);
  for (tfrt_remote_value_past_t* past; (past = value->past);) {
    if (past->held) tfrt_remote_value_release_hold(value, &past->name);
    value->past = past->next;
    tfrt_allocator_free(value->node->options.allocator, past, sizeof(*past));
  }
}

// Releases the cover of a list, and the one that an element lives by.
static void remote_value_leave_covers(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->parts.in_cover);
  if (value->parts.cover) tfrt_remote_value_release(value->parts.cover);
  if (value->parts.within) tfrt_remote_value_release(value->parts.within);
}

static void remote_value_destroy(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&value->borrowing.watches));) {
    TFRT_CONTAINER_OF(link, tfrt_remote_value_watch_t, link)->value = NULL;
  }
  tfrt_remote_value_end_homecoming(value);
  if (value->rerun.call) node->value_hooks->forget_call(value);
  remote_value_release_all_holds(value);
  tfrt_remote_value_unlink_peers(value);
  remote_value_free_order(value);
  tfrt_action_queue_release(&node->actions, value->settlement.value);
  tfrt_action_queue_release(&node->actions, value->settlement.meaning);
  remote_value_end_alias(value);
  remote_value_leave_covers(value);
  if (value->retention.registered) {
    tfrt_action_queue_release(&node->actions, &value->retention.registered->base);
  }
  tfrt_status_release(value->place.texts);
  tfrt_status_release(value->borrowing.loss);
  if (value->borrowing.user) tfrt_cached_program_release(value->borrowing.user);
  --node->counts.remote_values;
  tfrt_job_t* job = value->job;
  tfrt_job_budget_set_payload(value, 0);
  tfrt_list_remove(&value->in_job);
  tfrt_allocator_free(node->options.allocator, value, sizeof(*value));
  tfrt_job_release(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static const tfrt_resolver_vtable_t tfrt_remote_value_resolver = {
    .destroy = remote_value_destroy,
    .demand = remote_value_demand,
    .settlement = remote_value_settlement,
};

tfrt_remote_value_t* tfrt_remote_value_create_blank(tfrt_job_t* job,
                                                    const tfrt_wire_reference_t* reference,
                                                    bool held,
                                                    const tfrt_remote_value_loan_t* loan) {
  static const tfrt_remote_value_loan_t tfrt_remote_value_no_loan;
  if (!loan) loan = &tfrt_remote_value_no_loan;
  tfrt_node_t* node = job->node;
  tfrt_remote_value_t* value = tfrt_allocator_allocate(node->options.allocator, sizeof(*value));
  if (!value) return NULL;
  memset(value, 0, sizeof(*value));
  tfrt_indirect_value_initialize(&value->base, &tfrt_remote_value_resolver);
  value->node = tfrt_node_retain(node);
  value->job = tfrt_job_retain(job);
  value->name = *reference;
  value->held = held;
  value->borrowing.given = *reference;
  value->borrowing.lender = loan->lender;
  value->borrowing.user = loan->user ? tfrt_cached_program_retain(loan->user) : NULL;
  value->borrowing.user_function = loan->user_function;
  value->since_ns = node->tick_ns;
  tfrt_list_push_back(&job->remote_values, &value->in_job);
  tfrt_list_initialize(&value->located);
  tfrt_list_initialize(&value->named);
  tfrt_list_initialize(&value->retention.link);
  tfrt_list_initialize(&value->push.expected);
  tfrt_list_initialize(&value->parts.in_cover);
  tfrt_list_initialize(&value->parts.elements);
  tfrt_list_initialize(&value->borrowing.watches);
  ++node->counts.remote_values;
  return value;
}

tfrt_remote_value_t* tfrt_remote_value_create(tfrt_job_t* job,
                                              const tfrt_wire_reference_t* reference,
                                              const tfrt_remote_value_loan_t* loan) {
  tfrt_remote_value_t* value = tfrt_remote_value_create_blank(job, reference, false, loan);
  if (value) tfrt_remote_value_locate(value, reference);
  return value;
}

tfrt_remote_value_t* tfrt_remote_value_create_result(tfrt_job_t* job, tfrt_peer_t* callee,
                                                     const tfrt_wire_reference_t* reference) {
  tfrt_remote_value_t* value = tfrt_remote_value_create_blank(job, reference, true, NULL);
  if (value) remote_value_locate_at(value, callee, reference);
  return value;
}

// --- Watches -----------------------------------------------------------------

void tfrt_remote_value_watch(tfrt_remote_value_t* value, tfrt_remote_value_watch_t* watch) {
  watch->value = value;
  tfrt_list_push_back(&value->borrowing.watches, &watch->link);
}

tfrt_remote_value_t* tfrt_remote_value_watched(const tfrt_remote_value_watch_t* watch) {
  // The last reference may be gone, and the value's end wait for the lock.
  bool is_there = watch->value && tfrt_async_value_try_retain(&watch->value->base.base);
  return is_there ? watch->value : NULL;
}

// --- What a value is known by --------------------------------------------------

void tfrt_remote_value_set_device(tfrt_remote_value_t* value, const char* device) {
  snprintf(value->device, sizeof(value->device), "%s", device);
}

tfrt_remote_value_t* tfrt_remote_value_cast(tfrt_async_value_t* value) {
  if (value->kind != TFRT_ASYNC_VALUE_INDIRECT) return NULL;
  tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)value;
  return indirect->resolver == &tfrt_remote_value_resolver ? remote_value_of_indirect(indirect)
                                                           : NULL;
}

tfrt_wire_reference_t tfrt_remote_value_whereabouts(const tfrt_remote_value_t* value) {
  tfrt_wire_reference_t reference = value->location;
  if (value->rerun.call) reference.is_recoverable = true;
  return reference;
}

tfrt_wire_reference_t tfrt_remote_value_tell(tfrt_remote_value_t* value) {
  if (!value->telling.is_told) value->telling.as = tfrt_remote_value_whereabouts(value);
  value->telling.is_told = true;
  return value->telling.as;
}

void tfrt_remote_value_release(tfrt_remote_value_t* value) {
  tfrt_action_queue_release(&value->node->actions, &value->base.base);
}

tfrt_remote_value_t* tfrt_remote_value_of(tfrt_node_t* node, tfrt_async_value_t* value) {
  // Most values end here, and need no put-off release of a reference.
  if (value->kind != TFRT_ASYNC_VALUE_INDIRECT || tfrt_async_value_is_available(value)) return NULL;
  tfrt_async_value_t* held = tfrt_async_value_retain(value);
  while (held && held->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(held)) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)held;
    bool is_remote = indirect->resolver == &tfrt_remote_value_resolver;
    if (is_remote && !tfrt_remote_value_is_resolved(remote_value_of_indirect(indirect))) {
      return remote_value_of_indirect(indirect);
    }
    tfrt_async_value_t* target = tfrt_indirect_value_target(indirect);
    tfrt_action_queue_release(&node->actions, held);
    held = target;
  }
  tfrt_action_queue_release(&node->actions, held);
  return NULL;
}
