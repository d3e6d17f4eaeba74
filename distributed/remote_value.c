// SPDX-License-Identifier: Apache-2.0
#include "distributed/remote_value.h"

#include <stdio.h>
#include <string.h>

#include "distributed/incoming_want.h"
#include "distributed/job.h"
#include "distributed/list_item.h"
#include "distributed/outgoing_retain.h"
#include "distributed/outgoing_want.h"
#include "distributed/recovery.h"
#include "distributed/retried_call.h"

static tfrt_remote_value_t* tfrt_remote_value_of_indirect(tfrt_indirect_value_t* value) {
  return TFRT_CONTAINER_OF(value, tfrt_remote_value_t, base);
}

// --- Asking ------------------------------------------------------------------

static void tfrt_remote_value_ask_again(tfrt_remote_value_t* value);

static void tfrt_remote_value_free_chains(tfrt_remote_value_t* value) {
  for (uint32_t i = 0; i < value->chain_count; ++i) {
    tfrt_action_queue_release(&value->node->actions, value->chains[i]);
  }
  tfrt_allocator_free(value->node->options.allocator, value->chains,
                      value->chain_count * sizeof(*value->chains));
  value->chains = NULL;
  value->chain_count = 0;
  value->chain_next = 0;
}

// Runs when the chain is settled that |value| has waited for.
static void tfrt_remote_value_run_chain_waiter(tfrt_task_t* task) {
  tfrt_remote_value_t* value = TFRT_CONTAINER_OF(task, tfrt_remote_value_t, chain_waiter);
  tfrt_node_t* node = tfrt_node_retain(value->node);
  tfrt_node_lock_tables(node);
  value->awaits_chain = false;
  ++value->chain_next;
  tfrt_remote_value_ask_again(value);
  tfrt_remote_value_release(value);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Waits for the next chain that must come before the payload; true if none is left.
static bool tfrt_remote_value_is_in_order(tfrt_remote_value_t* value) {
  if (value->chain_count == 0) return true;
  if (value->awaits_chain) return false;
  if (value->chain_next == value->chain_count) {
    tfrt_remote_value_free_chains(value);
    return true;
  }
  value->awaits_chain = true;
  tfrt_async_value_retain(&value->base.base);
  tfrt_task_initialize(&value->chain_waiter, tfrt_remote_value_run_chain_waiter);
  tfrt_action_queue_wait(&value->node->actions, value->chains[value->chain_next], TFRT_ACTION_AWAIT,
                         &value->chain_waiter);
  return false;
}

void tfrt_remote_value_order(tfrt_remote_value_t* value, tfrt_async_value_t* const* chains,
                             uint32_t chain_count) {
  if (chain_count == 0 || value->resolved) return;
  size_t size = sizeof(*value->chains);
  tfrt_async_value_t** grown = tfrt_allocator_reallocate(value->node->options.allocator,
                                                         value->chains, value->chain_count * size,
                                                         (value->chain_count + chain_count) * size);
  if (!grown) {
    tfrt_remote_value_fail(value, tfrt_status_out_of_memory());
    return;
  }
  value->chains = grown;
  for (uint32_t i = 0; i < chain_count; ++i) {
    value->chains[value->chain_count++] = tfrt_async_value_retain(chains[i]);
  }
}

// Asks the owner for |value| at |level|, unless a question is open or the answer known.
static void tfrt_remote_value_ask(tfrt_remote_value_t* value, tfrt_wire_want_level_t level) {
  if (value->resolved || value->lost || value->want != 0 || !value->peer) return;
  if (level == TFRT_WIRE_WANT_AVAILABLE && value->available_there) return;
  if (level == TFRT_WIRE_WANT_VALUE && !tfrt_remote_value_is_in_order(value)) return;
  tfrt_outgoing_want_send(value, level);
}

// Asks what is wanted here and not known yet. A result of our own call comes without being
// asked for; only what is there but didn't come, or is elsewhere, must be fetched.
static void tfrt_remote_value_ask_again(tfrt_remote_value_t* value) {
  if (value->result_is_due && !value->available_there && value->forwards == 0) return;
  if (value->demanded) {
    tfrt_remote_value_ask(value, TFRT_WIRE_WANT_VALUE);
  } else if (value->settled) {
    tfrt_remote_value_ask(value, TFRT_WIRE_WANT_AVAILABLE);
  }
}

// Tells who awaited |value| that it is |settled| (consumed): a chain or the error.
static void tfrt_remote_value_settle(tfrt_remote_value_t* value, tfrt_async_value_t* settled) {
  tfrt_action_queue_t* actions = &value->node->actions;
  if (!value->settled || value->settled_known ||
      value->settled->kind != TFRT_ASYNC_VALUE_INDIRECT) {
    tfrt_action_queue_release(actions, settled);
    return;
  }
  value->settled_known = true;
  tfrt_action_queue_forward_take(actions, tfrt_async_value_retain(value->settled), settled);
}

// Runs when what |value| stands for is settled. If it is resolved, so |value| will be, and that
// comes first: an error is looked for there.
static void tfrt_remote_value_run_meaning_waiter(tfrt_task_t* task) {
  tfrt_remote_value_t* value = TFRT_CONTAINER_OF(task, tfrt_remote_value_t, meaning_waiter);
  tfrt_node_t* node = tfrt_node_retain(value->node);
  tfrt_node_lock_tables(node);
  tfrt_async_value_t* target = tfrt_async_value_is_available(value->meaning)
                                   ? tfrt_async_value_retain(&value->base.base)
                                   : tfrt_async_value_ready_chain();
  tfrt_action_queue_forward_take(&node->actions, tfrt_async_value_retain(value->settled), target);
  tfrt_remote_value_release(value);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Those who await |value|, which was forwarded, await its meaning: that is asked in their place, as
// a plain wait for it would ask nobody.
static void tfrt_remote_value_settle_later(tfrt_remote_value_t* value) {
  if (!value->settled || value->settled_known) return;
  value->settled_known = true;
  tfrt_async_value_retain(&value->base.base);
  tfrt_task_initialize(&value->meaning_waiter, tfrt_remote_value_run_meaning_waiter);
  tfrt_action_queue_wait(&value->node->actions, value->meaning, TFRT_ACTION_AWAIT,
                         &value->meaning_waiter);
}

static void tfrt_remote_value_demand(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = tfrt_remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  value->demanded = true;
  tfrt_remote_value_ask_again(value);
  tfrt_node_unlock(node);
}

static tfrt_async_value_t* tfrt_remote_value_settlement(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = tfrt_remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  if (!value->settled) {
    tfrt_indirect_value_t* settled = tfrt_indirect_value_create();
    value->settled = settled ? &settled->base : tfrt_async_value_out_of_memory();
    value->settled_known = !settled;
    if (value->meaning) {
      tfrt_remote_value_settle_later(value);
    } else if (value->resolved) {
      // Its own end may still be on its way; what awaits it comes after that.
      tfrt_remote_value_settle(value, tfrt_async_value_retain(&value->base.base));
    } else if (value->available_there) {
      tfrt_remote_value_settle(value, tfrt_async_value_ready_chain());
    } else {
      tfrt_remote_value_ask_again(value);
    }
  }
  tfrt_async_value_t* settled = value->settled;
  tfrt_node_unlock(node);
  return settled;
}

// --- Life --------------------------------------------------------------------

static void tfrt_remote_value_unlink_peers(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->located);
  tfrt_list_remove(&value->named);
  value->peer = NULL;
}

// Makes the owner of |location| the one who is asked.
static void tfrt_remote_value_locate(tfrt_remote_value_t* value,
                                     const tfrt_wire_reference_t* location) {
  tfrt_list_remove(&value->located);
  value->peer = NULL;
  value->location = *location;
  value->available_there = false;
  tfrt_status_t status = tfrt_job_reach(value->job, location->owner, &value->peer);
  if (status) {
    tfrt_remote_value_lose(value, status);
    tfrt_status_release(status);
    return;
  }
  tfrt_list_push_back(&value->peer->located, &value->located);
  // Whoever gave us the name keeps what it stands for, as long as it lives itself.
  tfrt_peer_t* namer = tfrt_peer_find(value->node, value->name.owner);
  if (namer && namer != value->peer && !tfrt_list_is_linked(&value->named)) {
    tfrt_list_push_back(&namer->named, &value->named);
  }
}

// Gives back what an alias has kept.
static void tfrt_remote_value_end_alias(tfrt_remote_value_t* value) {
  tfrt_object_table_t* objects = &value->node->objects;
  tfrt_action_queue_release(&value->node->actions, value->same_as);
  if (value->exported_as.number == 0) return;
  // The end of a job frees its objects first.
  tfrt_object_t* exported = tfrt_object_table_find(objects, value->exported_as, value->job);
  if (exported) tfrt_object_table_end_loan(objects, exported);
}

// Gives back the hold of |value| on what was called |name|.
static void tfrt_remote_value_release_hold(tfrt_remote_value_t* value,
                                           const tfrt_wire_reference_t* name) {
  tfrt_peer_t* owner = tfrt_peer_find(value->node, name->owner);
  if (owner) tfrt_outgoing_release_add(owner, value->job, &name->id, value->is_large);
}

static void tfrt_remote_value_release_all_holds(tfrt_remote_value_t* value) {
  if (value->held) tfrt_remote_value_release_hold(value, &value->name);
  for (tfrt_remote_value_past_t* past; (past = value->past);) {
    if (past->held) tfrt_remote_value_release_hold(value, &past->name);
    value->past = past->next;
    tfrt_allocator_free(value->node->options.allocator, past, sizeof(*past));
  }
}

// Lets go of the cover of a list, and of the one that an element lives by.
static void tfrt_remote_value_leave_covers(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->in_cover);
  if (value->cover) value->cover->is_orphan = true;
  if (value->cover) tfrt_remote_value_release(value->cover);
  if (value->within) tfrt_remote_value_release(value->within);
}

static void tfrt_remote_value_destroy(tfrt_indirect_value_t* indirect) {
  tfrt_remote_value_t* value = tfrt_remote_value_of_indirect(indirect);
  tfrt_node_t* node = value->node;
  tfrt_node_lock_tables(node);
  if (value->retried) tfrt_retried_call_forget(value);
  tfrt_remote_value_release_all_holds(value);
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_free_chains(value);
  tfrt_action_queue_release(&node->actions, value->settled);
  tfrt_action_queue_release(&node->actions, value->meaning);
  tfrt_remote_value_end_alias(value);
  tfrt_remote_value_leave_covers(value);
  if (value->registered) tfrt_action_queue_release(&node->actions, &value->registered->base);
  --node->counts.remote_values;
  tfrt_job_t* job = value->job;
  tfrt_list_remove(&value->in_job);
  tfrt_allocator_free(node->options.allocator, value, sizeof(*value));
  tfrt_job_release(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static const tfrt_resolver_vtable_t tfrt_remote_value_resolver = {
    .destroy = tfrt_remote_value_destroy,
    .demand = tfrt_remote_value_demand,
    .settlement = tfrt_remote_value_settlement,
};

static tfrt_remote_value_t* tfrt_remote_value_create_from(tfrt_node_t* node, tfrt_job_t* job,
                                                          const tfrt_wire_reference_t* reference,
                                                          bool held, uint64_t lender) {
  tfrt_remote_value_t* value =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*value));
  if (!value) return NULL;
  tfrt_indirect_value_initialize(&value->base, &tfrt_remote_value_resolver);
  value->node = tfrt_node_retain(node);
  value->job = tfrt_job_retain(job);
  value->name = *reference;
  value->held = held;
  value->given = *reference;
  value->lender = lender;
  value->since_ns = node->objects.tick_ns;
  tfrt_list_push_back(&job->remote_values, &value->in_job);
  tfrt_list_initialize(&value->located);
  tfrt_list_initialize(&value->named);
  tfrt_list_initialize(&value->retaining);
  tfrt_list_initialize(&value->in_cover);
  tfrt_list_initialize(&value->elements);
  ++node->counts.remote_values;
  tfrt_remote_value_locate(value, reference);
  return value;
}

tfrt_remote_value_t* tfrt_remote_value_create(tfrt_node_t* node, tfrt_job_t* job,
                                              const tfrt_wire_reference_t* reference, bool held) {
  return tfrt_remote_value_create_from(node, job, reference, held, 0);
}

tfrt_remote_value_t* tfrt_remote_value_create_lent(tfrt_node_t* node, tfrt_job_t* job,
                                                   const tfrt_wire_reference_t* reference,
                                                   uint64_t lender) {
  return tfrt_remote_value_create_from(node, job, reference, false, lender);
}

// Makes |value| live by |cover|.
static void tfrt_remote_value_enter(tfrt_remote_value_t* value, tfrt_remote_value_t* cover) {
  tfrt_async_value_retain(&cover->base.base);
  value->within = cover;
  tfrt_list_push_back(&cover->elements, &value->in_cover);
}

tfrt_remote_value_t* tfrt_remote_value_make_cover(tfrt_remote_value_t* value) {
  tfrt_remote_value_t* cover =
      tfrt_remote_value_create(value->node, value->job, &value->name, value->held);
  if (!cover) return NULL;
  if (!cover->resolved) tfrt_remote_value_locate(cover, &value->location);
  cover->is_cover = true;
  cover->available_there = true;
  cover->told = value->told;
  cover->is_told = value->is_told;
  if (value->within) tfrt_remote_value_enter(cover, value->within);
  value->held = false;
  value->cover = cover;
  return cover;
}

tfrt_remote_value_t* tfrt_remote_value_create_element(tfrt_remote_value_t* cover,
                                                      const tfrt_wire_reference_t* reference,
                                                      uint64_t lender) {
  tfrt_remote_value_t* element =
      tfrt_remote_value_create_lent(cover->node, cover->job, reference, lender);
  if (element) tfrt_remote_value_enter(element, cover);
  return element;
}

// True if |value|, a list that came, is not all that has the list.
static bool tfrt_remote_value_shares_list(tfrt_remote_value_t* value) {
  if (!tfrt_async_value_is_available(&value->base.base)) return true;
  const tfrt_async_value_t* list = tfrt_async_value_resolved(&value->base.base);
  tfrt_async_value_t* settled = value->settled;
  bool is_settled = settled && tfrt_async_value_is_available(settled) &&
                    tfrt_async_value_resolved(settled) == list;
  // Acquire: pairs with the releases of others' references.
  return atomic_load_explicit(&list->count, memory_order_acquire) > (is_settled ? 2u : 1u);
}

// True if |element|, which lives by a cover, may be used by others than its list.
static bool tfrt_remote_value_is_used_element(tfrt_remote_value_t* element) {
  // The elements of a list that is one are seen with that, if it is there.
  if (element->is_cover) return element->is_orphan;
  // Acquire: as above.
  if (atomic_load_explicit(&element->base.base.count, memory_order_acquire) > 1) return true;
  if (!element->cover) return false;
  // One whose last reference is gone has no list any more, and its elements may be used.
  if (!tfrt_async_value_try_retain(&element->base.base)) return true;
  bool is_used = tfrt_remote_value_has_used_elements(element);
  tfrt_remote_value_release(element);
  return is_used;
}

bool tfrt_remote_value_has_used_elements(tfrt_remote_value_t* value) {
  if (!value->cover) return false;
  if (tfrt_remote_value_shares_list(value)) return true;
  const tfrt_list_link_t* head = &value->cover->elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_cover);
    if (tfrt_remote_value_is_used_element(element)) return true;
  }
  return false;
}

void tfrt_remote_value_set_site(tfrt_remote_value_t* value, const char* function,
                                const tfrt_status_origin_t* site) {
  value->function = function;
  value->result_is_due = true;
  value->site.rank = TFRT_STATUS_NO_RANK;
  if (site) value->site = *site;
}

void tfrt_remote_value_set_device(tfrt_remote_value_t* value, const char* device) {
  snprintf(value->device, sizeof(value->device), "%s", device);
}

tfrt_remote_value_t* tfrt_remote_value_cast(tfrt_async_value_t* value) {
  if (value->kind != TFRT_ASYNC_VALUE_INDIRECT) return NULL;
  tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)value;
  return indirect->resolver == &tfrt_remote_value_resolver ? tfrt_remote_value_of_indirect(indirect)
                                                           : NULL;
}

tfrt_wire_reference_t tfrt_remote_value_tell(tfrt_remote_value_t* value) {
  if (!value->is_told) value->told = value->location;
  value->is_told = true;
  return value->told;
}

void tfrt_remote_value_release(tfrt_remote_value_t* value) {
  tfrt_action_queue_release(&value->node->actions, &value->base.base);
}

tfrt_remote_value_t* tfrt_remote_value_of(tfrt_node_t* node, tfrt_async_value_t* value) {
  // Mostly so, and then there is no reference to be put off giving back.
  if (value->kind != TFRT_ASYNC_VALUE_INDIRECT || tfrt_async_value_is_available(value)) return NULL;
  tfrt_async_value_t* held = tfrt_async_value_retain(value);
  while (held && held->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(held)) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)held;
    bool is_remote = indirect->resolver == &tfrt_remote_value_resolver;
    if (is_remote && !tfrt_remote_value_of_indirect(indirect)->resolved) {
      return tfrt_remote_value_of_indirect(indirect);
    }
    tfrt_async_value_t* target = tfrt_indirect_value_target(indirect);
    tfrt_action_queue_release(&node->actions, held);
    held = target;
  }
  tfrt_action_queue_release(&node->actions, held);
  return NULL;
}

// --- Answers -----------------------------------------------------------------

// The common part of every end: nobody is asked any more. The value is kept across its own
// resolution and that of |settled|, which comes after it.
static void tfrt_remote_value_finish(tfrt_remote_value_t* value) {
  value->resolved = true;
  if (value->lost) tfrt_outgoing_retain_give_up(value);
  value->lost = false;
  if (value->want != 0) tfrt_outgoing_want_end(value);
  tfrt_remote_value_unlink_peers(value);
  if (value->retried) tfrt_retried_call_forget(value);
  tfrt_recovery_answer_waiting(value);
}

// |status| (+1) with a place in the program: that of the call whose result |value| is, if it has
// none. What a host finds wrong that runs no kernel for it has only the host's number.
static tfrt_status_t tfrt_remote_value_place_error(const tfrt_remote_value_t* value,
                                                   tfrt_status_t status) {
  bool is_called = value->function && (value->site.function || value->site.file);
  return is_called ? tfrt_status_with_origin(status, &value->site) : tfrt_status_retain(status);
}

// Has |end| end, because of |status| (+0), what lives by |cover| alone. A value whose last
// reference is gone stays in the list until it takes itself out.
static void tfrt_remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
                                           void (*end)(tfrt_remote_value_t*, tfrt_status_t)) {
  const tfrt_list_link_t* head = &cover->elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_cover);
    bool is_over = element->resolved || element->held;
    if (is_over || !tfrt_async_value_try_retain(&element->base.base)) continue;
    end(element, status);
    tfrt_remote_value_release(element);
  }
}

static void tfrt_remote_value_fail_alone(tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_async_value_t* self = &value->base.base;
  tfrt_status_t located = tfrt_remote_value_place_error(value, status);
  tfrt_async_value_retain_n(self, 2);
  tfrt_remote_value_finish(value);
  tfrt_action_queue_fail_take(&value->node->actions, self, located);
  tfrt_remote_value_settle(value, tfrt_async_value_create_error(located));
  tfrt_action_queue_release(&value->node->actions, self);
  tfrt_status_release(located);
}

void tfrt_remote_value_fail(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->resolved) return;
  tfrt_remote_value_end_elements(value, status, tfrt_remote_value_fail);
  tfrt_remote_value_fail_alone(value, status);
}

void tfrt_remote_value_forward(tfrt_remote_value_t* value, tfrt_async_value_t* target) {
  if (value->resolved) return;
  tfrt_async_value_t* self = &value->base.base;
  tfrt_async_value_retain_n(self, 2);
  tfrt_remote_value_finish(value);
  tfrt_action_queue_forward_take(&value->node->actions, self, tfrt_async_value_retain(target));
  if (tfrt_async_value_is_available(target)) {
    if (value->settled) tfrt_remote_value_settle(value, tfrt_async_value_retain(target));
  } else {
    value->meaning = tfrt_async_value_retain(target);
    tfrt_remote_value_settle_later(value);
  }
  tfrt_action_queue_release(&value->node->actions, self);
}

// The same, but consumes |target|, which is resolved and may be an error. It is let go of first:
// who looks at what comes of the forward counts who has a list.
static void tfrt_remote_value_forward_resolved_take(tfrt_remote_value_t* value,
                                                    tfrt_async_value_t* target) {
  tfrt_action_queue_release(&value->node->actions, target);
  if (tfrt_async_value_is_error(target)) {
    tfrt_remote_value_fail(value, tfrt_async_value_error(target));
  } else {
    tfrt_remote_value_forward(value, target);
  }
}

// The owner has the value; here is only the news.
static void tfrt_remote_value_on_available(tfrt_remote_value_t* value,
                                           const tfrt_wire_available_t* available) {
  if (value->name.is_chain) {
    tfrt_remote_value_forward(value, tfrt_async_value_ready_chain());
    return;
  }
  value->available_there = true;
  value->size_there = available->size;
  tfrt_remote_value_settle(value, tfrt_async_value_ready_chain());
}

// We are sent on to |reference|, which may be a value of our own.
static void tfrt_remote_value_follow(tfrt_remote_value_t* value,
                                     const tfrt_wire_reference_t* reference) {
  if (++value->forwards > TFRT_WIRE_MAX_FORWARDS) {
    tfrt_status_t status =
        tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                           "a value was forwarded %u times and still isn't found", value->forwards);
    tfrt_remote_value_fail(value, status);
    tfrt_status_release(status);
    return;
  }
  if (reference->owner != value->node->incarnation) {
    if (reference->is_recoverable && value->peer) {
      value->lender = value->peer->incarnation;
      value->given = *reference;
    }
    tfrt_remote_value_locate(value, reference);
    return;
  }
  // It came home, or will: what our own name stands for is known here.
  tfrt_async_value_t* own = tfrt_incoming_want_own_value(value->job, reference);
  tfrt_remote_value_forward(value, own);
  tfrt_action_queue_release(&value->node->actions, own);
}

// Others were told that something is elsewhere, and are sent on from there to |target|: the name
// by which it was lent to us must stay, also when we have a copy by now.
static void tfrt_remote_value_note_sent_on(tfrt_async_value_t* target) {
  for (tfrt_remote_value_t* remote; target; target = remote->same_as) {
    remote = tfrt_remote_value_cast(target);
    if (!remote) return;
    tfrt_remote_value_t* holding = tfrt_remote_value_holding(remote);
    holding->told = holding->name;
    holding->is_told = true;
  }
}

void tfrt_remote_value_alias(tfrt_remote_value_t* value, tfrt_async_value_t* target,
                             tfrt_object_t* exported) {
  value->same_as = tfrt_async_value_retain(target);
  if (value->is_told) tfrt_remote_value_note_sent_on(target);
  if (exported) {
    value->exported_as = exported->id;
    ++exported->loans;
  }
  tfrt_remote_value_forward(value, target);
}

void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload) {
  tfrt_remote_value_forward_resolved_take(value, tfrt_async_value_retain(payload));
}

void tfrt_remote_value_on_item(tfrt_remote_value_t* value, const tfrt_wire_item_t* item) {
  if (value->resolved) return;
  switch (item->kind) {
    case TFRT_WIRE_ITEM_INLINE:
      value->is_large = item->value.body.size > TFRT_WIRE_DEFAULT_INLINE_SIZE;
      tfrt_remote_value_forward_resolved_take(
          value, tfrt_value_item_decode(&item->value, value->node->options.host->allocator));
      break;
    case TFRT_WIRE_ITEM_LIST:
      tfrt_remote_value_forward_resolved_take(value, tfrt_list_item_decode(value, &item->list));
      break;
    case TFRT_WIRE_ITEM_ERROR:
      tfrt_remote_value_forward_resolved_take(value, tfrt_value_item_decode_error(item->error));
      break;
    case TFRT_WIRE_ITEM_AVAILABLE:
      tfrt_remote_value_on_available(value, &item->available);
      break;
    case TFRT_WIRE_ITEM_REFERENCE:
      tfrt_remote_value_follow(value, &item->reference);
      break;
    default:
      break;
  }
  if (!value->resolved && value->want == 0) tfrt_remote_value_ask_again(value);
}

void tfrt_remote_value_on_starved(tfrt_peer_t* peer, uint64_t want) {
  tfrt_remote_value_t* value = tfrt_outgoing_want_find(peer, want);
  if (!value) return;
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                         "host %u has given no credit for a value that is wanted from it",
                         tfrt_job_rank_of(value->job, peer->incarnation));
  tfrt_remote_value_fail(value, status);
  tfrt_status_release(status);
}

void tfrt_remote_value_lose(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->resolved) return;
  // Who was asked for another owner is lost, too.
  if (value->lost) value->lender = 0;
  if (value->want != 0) tfrt_outgoing_want_end(value);
  tfrt_remote_value_unlink_peers(value);
  value->lost = true;
  value->available_there = false;
  value->size_there = 0;
  value->forwards = 0;
  if (tfrt_recovery_ask(value)) {
    tfrt_outgoing_retain_postpone(value);
    return;
  }
  if (value->retried && tfrt_retried_call_lose(value, status)) return;
  // Another owner may be known of those.
  tfrt_remote_value_end_elements(value, status, tfrt_remote_value_lose);
  tfrt_remote_value_fail_alone(value, status);
}

// Remembers what |value| is called, and where it was.
static void tfrt_remote_value_add_past(tfrt_remote_value_t* value) {
  tfrt_remote_value_past_t* past =
      tfrt_allocator_allocate(value->node->options.allocator, sizeof(*past));
  // Without memory for that, who knows it by this name is told that it is lost.
  if (!past) return;
  *past = (tfrt_remote_value_past_t){
      .next = value->past, .name = value->name, .location = value->location, .held = value->held};
  value->past = past;
}

void tfrt_remote_value_move(tfrt_remote_value_t* value, const tfrt_wire_reference_t* reference,
                            bool held) {
  tfrt_remote_value_add_past(value);
  tfrt_remote_value_unlink_peers(value);
  value->lost = false;
  value->name = *reference;
  value->given = *reference;
  value->held = held;
  if (value->is_told) value->told = *reference;
  if (reference->owner == value->node->incarnation) {
    // It came home: nobody else need hold it for us.
    tfrt_outgoing_retain_give_up(value);
    tfrt_async_value_t* own = tfrt_incoming_want_own_value(value->job, reference);
    tfrt_remote_value_forward(value, own);
    tfrt_action_queue_release(&value->node->actions, own);
    return;
  }
  tfrt_remote_value_locate(value, reference);
  if (value->lost || value->resolved) return;
  tfrt_outgoing_retain_again(value);
  tfrt_recovery_answer_waiting(value);
  tfrt_remote_value_ask_again(value);
}

static bool tfrt_remote_value_same(const tfrt_wire_reference_t* a, const tfrt_wire_reference_t* b) {
  return a->owner == b->owner && tfrt_wire_object_id_equal(a->id, b->id);
}

bool tfrt_remote_value_is_known_as(const tfrt_remote_value_t* value,
                                   const tfrt_wire_reference_t* reference) {
  if (tfrt_remote_value_same(&value->name, reference)) return true;
  if (tfrt_remote_value_same(&value->location, reference)) return true;
  for (const tfrt_remote_value_past_t* past = value->past; past; past = past->next) {
    if (tfrt_remote_value_same(&past->name, reference)) return true;
    if (tfrt_remote_value_same(&past->location, reference)) return true;
  }
  return value->is_told && tfrt_remote_value_same(&value->told, reference);
}

// The error of |value| now that |peer| is dead.
static tfrt_status_t tfrt_remote_value_lost_error(const tfrt_remote_value_t* value,
                                                  const tfrt_peer_t* peer) {
  if (!value->function) {
    return tfrt_peer_lost_error(peer, value->job, NULL, "while a value of it was needed");
  }
  return tfrt_peer_lost_error(peer, value->job, &value->site, "which had a result of %s%s",
                              value->function[0] ? "@" : "a function", value->function);
}

// Moves the values of |job| (NULL: of all jobs) that |head| leads to into |out_list|: the end of
// one may take others out.
static void tfrt_remote_value_take_list(const tfrt_job_t* job, tfrt_list_link_t* head,
                                        size_t offset, tfrt_list_link_t* out_list) {
  tfrt_list_initialize(out_list);
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_list_link_t* found = link;
    link = link->next;
    if (job && ((tfrt_remote_value_t*)((char*)found - offset))->job != job) continue;
    tfrt_list_remove(found);
    tfrt_list_push_back(out_list, found);
  }
}

// Loses the values of |job| (NULL: of all jobs) that |head| leads to. A value whose last reference
// is gone already has only its storage left, and takes itself out.
static void tfrt_remote_value_lose_list(tfrt_peer_t* peer, const tfrt_job_t* job,
                                        tfrt_list_link_t* head, size_t offset) {
  tfrt_list_link_t lost;
  tfrt_remote_value_take_list(job, head, offset, &lost);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&lost));) {
    tfrt_remote_value_t* value = (tfrt_remote_value_t*)((char*)link - offset);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_status_t status = tfrt_remote_value_lost_error(value, peer);
    tfrt_remote_value_lose(value, status);
    tfrt_status_release(status);
    tfrt_remote_value_release(value);
  }
}

void tfrt_remote_value_bury_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  tfrt_remote_value_lose_list(peer, job, &peer->located, offsetof(tfrt_remote_value_t, located));
  tfrt_remote_value_lose_list(peer, job, &peer->named, offsetof(tfrt_remote_value_t, named));
}

void tfrt_remote_value_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job, tfrt_status_t reason) {
  tfrt_list_link_t ended;
  tfrt_remote_value_take_list(job, &peer->located, offsetof(tfrt_remote_value_t, located), &ended);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&ended));) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_fail(value, reason);
    tfrt_remote_value_release(value);
  }
}

bool tfrt_remote_value_on_resolve(tfrt_peer_t* peer, const tfrt_wire_resolve_t* resolve) {
  tfrt_remote_value_t* value = tfrt_outgoing_want_find(peer, resolve->want);
  if (!value) return resolve->want < tfrt_session_next_want(peer->session);  // late, and legal
  if (resolve->item.kind == TFRT_WIRE_ITEM_ON_BULK) {
    if (value->want_level != TFRT_WIRE_WANT_VALUE) return false;
    tfrt_lane_manager_need(value->node->lanes, peer->incarnation);
    return true;
  }
  tfrt_outgoing_want_close(value);
  tfrt_remote_value_on_item(value, &resolve->item);
  return true;
}
